"""What every implementation of the Bench port promises, in memory, on AWS and on Google Cloud."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import boto3
import pytest

from cloud_simulator.running import running
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.model.errors import BadInput, CloudError
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import ScratchOrder, Task, TaskEnd, TaskMode
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Bench, BenchHost, Target
from plimsoll_measure.aws.bench import AwsBench
from tests.builders import NOW, TYPES, a_host, a_spec
from tests.contract.aws_bench import HOME, served
from tests.contract.google_bench import google_bench
from tests.in_memory.answer import AsPublished
from tests.in_memory.bench import MemoryBench
from tests.in_memory.ports import MemoryClock

LOOKS = 1000
GP3, LARGE_GP3 = a_spec("gp3", 100, iops=4000, throughput_mib_s=250), a_spec("gp3", 16_384)
BENCH_TAG = TagMatch(tag="plimsoll:bench", value="true")


@dataclass(frozen=True, kw_only=True)
class AuditPorts:
    """A bench in a target, a host of one zone that is ready and has the bench's tag, one that is not ready, a volume
    that is nobody's scratch volume, the name of the test's validations, and what scratch volumes and copies of that
    volume are made as."""

    bench: Bench
    home: Target
    zone: str
    ready: str
    not_ready: str
    production: str
    name: str = ""
    spec: VolumeSpec = GP3
    copy: VolumeSpec = LARGE_GP3


@contextmanager
def in_memory() -> Iterator[AuditPorts]:
    """The reference."""
    ready, not_ready = (
        BenchHost(
            host=replace(a_host(id=name), tags=(("plimsoll:bench", "true"),)),
            account=HOME.account,
            region=HOME.region,
            zone="us-east-1a",
            ready=not why_not,
            not_ready=why_not,
        )
        for name, why_not in (("i-1", ""), ("i-2", "i-2 is not managed by SSM: name another with --bench-host."))
    )
    bench = MemoryBench(
        given=[ready, not_ready],
        measure=AsPublished(types=TYPES),
        clock=MemoryClock(time=NOW),
        fleet={"vol-1": a_spec("gp2", 100)},
    )
    yield AuditPorts(bench=bench, home=HOME, zone="us-east-1a", ready="i-1", not_ready="i-2", production="vol-1")


@contextmanager
def aws() -> Iterator[AuditPorts]:
    """The AWS adapter over moto."""
    with served() as found:
        ec2 = boto3.Session().client("ec2", region_name=HOME.region)
        production = ec2.create_volume(AvailabilityZone=found.zone, Size=100, VolumeType="gp2")["VolumeId"]
        yield AuditPorts(
            bench=found.bench,
            home=HOME,
            zone=found.zone,
            ready=found.host_id,
            not_ready=found.unmanaged_id,
            production=production,
        )


@contextmanager
def simulated() -> Iterator[AuditPorts]:
    """The AWS adapter over the simulated organization."""
    with running(NOW, pace_s=0.05, plain_files=True) as organization:
        before = dict(os.environ)
        os.environ.update(organization.environment)
        try:
            sessions = Sessions(attempts=2, connections=4)
            sessions.sign_in([Credential()])
            assert not sessions.failed
            fleet = organization.fleet
            home = Target(account=fleet.accounts[0], region=fleet.regions[0])
            bench = AwsBench(sessions=sessions)
            ready = bench.hosts(home, [BENCH_TAG], [])[0]
            used = [one for one in AwsInventory(sessions=sessions).volumes(home) if one.hosts]
            ids = sorted({host.id for volume in used for host in volume.hosts})
            not_ready = next(found.host.id for found in bench.hosts(home, [], ids) if not found.ready)
            production = next(volume.id for volume in used if volume.zone == ready.zone)
            yield AuditPorts(
                bench=bench,
                home=home,
                zone=ready.zone,
                ready=ready.host.id,
                not_ready=not_ready,
                production=production,
            )
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def google() -> Iterator[AuditPorts]:
    """The Google adapter over the simulated projects."""
    with google_bench() as found:
        home, fleet = found.home, found.cloud.fleet
        here = [one for one in fleet.disks(home.account) if one.region == home.region and len(one.zones) == 1]
        production = next(one for one in here if one.attached and not one.attached[0].vm.stopped)
        (zone,) = production.zones
        ready = next(host for host in found.bench.hosts(home, [BENCH_TAG], []) if host.zone == zone)
        yield AuditPorts(
            bench=found.bench,
            home=home,
            zone=zone,
            ready=ready.host.id,
            not_ready=production.attached[0].vm.id,
            production=production.id,
            spec=a_spec("hyperdisk-balanced", 100, iops=4000, throughput_mib_s=250),
            copy=production.spec,
        )


@pytest.fixture(scope="module", params=[in_memory, aws, simulated, google], ids=lambda made: made.__name__)
def account(request):
    with request.param() as found:
        yield found


@pytest.fixture
def ports(account):
    """The account, under a name of this test's own; what it leaves behind is swept by the bench itself."""
    yield replace(account, name=uuid4().hex)
    until(lambda: swept(account))


def swept(ports: AuditPorts) -> bool:
    """Detaches and deletes every scratch volume, as far as a look allows; whether none was left."""
    left = ports.bench.scratch(ports.home)
    for found in left:
        if found.attached_to:
            ports.bench.detach(ports.home, found.id)
        elif found.state == "available":
            ports.bench.delete(ports.home, found.id)
    return not left


def an_order(ports: AuditPorts, **fields) -> ScratchOrder:
    return ScratchOrder(
        **{
            "validation_id": ports.name,
            "account": ports.home.account,
            "region": ports.home.region,
            "zone": ports.zone,
            "spec": ports.spec,
            "deadline": datetime(2026, 11, 20, 14, tzinfo=UTC),
            **fields,
        }
    )


def elsewhere(ports: AuditPorts) -> Target:
    """A region where there is nothing."""
    return Target(account=ports.home.account, region="mx-central-1")


def until(holds: Callable[[], object]) -> object:
    """What holds in the end; the test fails where it never does."""
    for look in range(LOOKS):
        if found := holds():
            return found
        time.sleep(0 if look < 50 else 0.1)
    pytest.fail("it never came")


def look(ports: AuditPorts, volume_id: str):
    found = ports.bench.scratch(ports.home, volume_id=volume_id)
    return found[0] if found else None


def available(ports: AuditPorts, **fields) -> str:
    made = ports.bench.create(an_order(ports, **fields))
    until(lambda: (found := look(ports, made)) and found.state == "available")
    return made


def attached(ports: AuditPorts, **fields) -> str:
    made = available(ports, **fields)
    ports.bench.attach(ports.home, made, ports.ready)
    until(lambda: look(ports, made).attachment == "attached")
    return made


def test_hosts_are_found_by_tag_and_by_id_and_once(ports):
    by_tag = ports.bench.hosts(ports.home, [BENCH_TAG], [])
    assert ports.ready in {found.host.id for found in by_tag}
    both = ports.bench.hosts(ports.home, [BENCH_TAG, TagMatch(tag="plimsoll:bench")], [ports.ready])
    assert len(both) == len(by_tag)
    (by_id,) = ports.bench.hosts(ports.home, [], [ports.ready])
    assert (by_id.host.id, by_id.zone, by_id.account) == (ports.ready, ports.zone, ports.home.account)
    assert ports.bench.hosts(ports.home, [], []) == []


def test_a_tag_with_another_value_or_in_another_region_finds_none(ports):
    assert ports.bench.hosts(ports.home, [TagMatch(tag="plimsoll:bench", value="t*")], []) == []
    assert ports.bench.hosts(elsewhere(ports), [BENCH_TAG], []) == []


def test_hosts_bring_their_ebs_limits(ports):
    for found in ports.bench.hosts(ports.home, [BENCH_TAG], []):
        assert found.host.limits.baseline_iops > 0


def test_a_host_that_cannot_run_commands_says_why_and_what_to_do(ports):
    by_id = {found.host.id: found for found in ports.bench.hosts(ports.home, [], [ports.ready, ports.not_ready])}
    assert by_id[ports.ready].ready
    assert not by_id[ports.not_ready].ready
    assert "--bench-host" in by_id[ports.not_ready].not_ready


def test_an_id_that_is_no_instance_is_refused_by_name(ports):
    with pytest.raises(CloudError, match="i-0123456789abcdef0"):
        ports.bench.hosts(ports.home, [], [ports.ready, "i-0123456789abcdef0"])


def test_a_scratch_volume_is_listed_with_what_its_order_said(ports):
    order = an_order(ports)
    made = ports.bench.create(order)
    (found,) = ports.bench.scratch(ports.home)
    assert (found.id, found.zone, found.validation_id, found.deadline) == (
        made,
        order.zone,
        ports.name,
        order.deadline,
    )
    assert found.created.tzinfo is not None
    assert found.attached_to is None


def test_the_same_order_gives_the_same_volume_and_another_order_another(ports):
    order = an_order(ports)
    made = ports.bench.create(order)
    assert ports.bench.create(order) == made
    assert ports.bench.create(replace(order, validation_id=f"{ports.name}-2")) != made
    assert len(ports.bench.scratch(ports.home)) == 2


def test_a_copy_is_a_scratch_volume_of_its_own(ports):
    made = available(ports, source=ports.production, spec=ports.copy)
    assert made != ports.production
    assert [found.id for found in ports.bench.scratch(ports.home)] == [made]


def test_only_scratch_volumes_of_the_target_are_listed(ports):
    made = ports.bench.create(an_order(ports))
    assert [found.id for found in ports.bench.scratch(ports.home)] == [made]
    assert ports.bench.scratch(ports.home, volume_id=ports.production) == []
    assert ports.bench.scratch(ports.home, volume_id="vol-0fffffffffffffff0") == []
    assert ports.bench.scratch(elsewhere(ports)) == []


def test_a_volume_goes_on_and_off_a_host_and_away(ports):
    made = attached(ports)
    assert (look(ports, made).attached_to, look(ports, made).state) == (ports.ready, "in-use")
    ports.bench.detach(ports.home, made)
    until(lambda: look(ports, made).state == "available")
    assert look(ports, made).attached_to is None
    ports.bench.delete(ports.home, made)
    until(lambda: not ports.bench.scratch(ports.home))


def test_two_volumes_share_a_host(ports):
    one, other = attached(ports), attached(ports, validation_id=f"{ports.name}-2")
    assert {look(ports, made).attached_to for made in (one, other)} == {ports.ready}


def test_each_step_done_already_is_no_error(ports):
    made = attached(ports)
    ports.bench.attach(ports.home, made, ports.ready)
    for _ in range(2):
        ports.bench.detach(ports.home, made)
    until(lambda: look(ports, made).state == "available")
    ports.bench.detach(ports.home, made, force=True)
    for _ in range(2):
        ports.bench.delete(ports.home, made)
    until(lambda: not ports.bench.scratch(ports.home))
    ports.bench.detach(ports.home, made)
    ports.bench.delete(ports.home, made)


def test_a_volume_that_is_attached_is_not_deleted(ports):
    made = attached(ports)
    with pytest.raises(CloudError, match=made):
        ports.bench.delete(ports.home, made)
    assert look(ports, made).state == "in-use"


def test_a_volume_without_the_scratch_tag_is_left_alone(ports):
    for step in (ports.bench.detach, ports.bench.delete):
        with pytest.raises(BadInput, match=ports.production):
            step(ports.home, ports.production)


def test_a_volume_that_is_gone_cannot_be_attached(ports):
    with pytest.raises(CloudError, match="vol-0fffffffffffffff0"):
        ports.bench.attach(ports.home, "vol-0fffffffffffffff0", ports.ready)


def test_a_task_runs_and_then_has_an_outcome_for_good(ports):
    command = ports.bench.send(ports.home, ports.ready, Task(mode=TaskMode.INSPECT))
    assert ports.bench.outcome(ports.home, ports.ready, command) is None
    outcome = until(lambda: ports.bench.outcome(ports.home, ports.ready, command))
    assert outcome.end is TaskEnd.SUCCESS
    assert ports.bench.outcome(ports.home, ports.ready, command) == outcome


def test_a_task_can_be_cancelled_any_number_of_times(ports):
    command = ports.bench.send(ports.home, ports.ready, Task(mode=TaskMode.INSPECT))
    for _ in range(2):
        ports.bench.cancel(ports.home, ports.ready, command)
    assert until(lambda: ports.bench.outcome(ports.home, ports.ready, command)).end in TaskEnd


def test_a_volume_that_did_nothing_has_no_latency(ports):
    made, end = available(ports), datetime.now(UTC)
    assert ports.bench.mean_latency_us(ports.home, made, end - timedelta(days=1), end) is None
