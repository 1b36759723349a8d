"""Google's bench: which hosts are ready, what is refused before it is measured, and what an agent's silence means."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cloud_simulator.faults import Effect, Fault
from cloud_simulator.google.bench_agents import VmKey
from plimsoll.model.errors import AccessDenied, CloudError, NotMeasured
from plimsoll.model.policy import BENCH_TAG
from plimsoll.model.task import ScratchOrder, Task, TaskEnd, TaskMode
from plimsoll_google.bench import GoogleBench
from plimsoll_google.permissions import GOOGLE_VALIDATION
from plimsoll_google.scratch_disks import find_disk
from plimsoll_measure.bench.agent import TASK_KEY
from plimsoll_measure.validation.proposing import choose_host
from tests.builders import TYPES, a_spec
from tests.contract.google_bench import google_bench


@pytest.fixture(scope="module")
def here():
    with google_bench() as found:
        yield found


@pytest.fixture(autouse=True)
def without_faults(here):
    yield
    strike(here)
    for disk in here.bench.scratch(here.home):
        here.bench.detach(here.home, disk.id)
        here.bench.delete(here.home, disk.id)


def strike(here, *faults):
    here.cloud.faults.given = faults
    here.cloud.faults._struck.clear()


def a_host(here, letter="a"):
    (host,) = here.bench.hosts(here.home, [], [f"bench-{here.home.region}-{letter}"])
    return host


def an_order(here, name="v-1", **changes):
    return ScratchOrder(
        **{
            "validation_id": name,
            "account": here.home.account,
            "region": here.home.region,
            "zone": f"{here.home.region}-a",
            "spec": a_spec("pd-ssd", 100),
            "deadline": datetime(2026, 11, 22, 14, tzinfo=UTC),
            **changes,
        }
    )


def test_a_host_without_the_agent_is_told_how_to_get_it(here):
    other = next(vm for vm in here.cloud.fleet.vms(here.home.account) if vm.name == "shop-db")
    (host,) = here.bench.hosts(here.home, [], [other.id])
    assert not host.ready
    assert host.not_ready.startswith(f"shop-db ({other.id}) in {here.home.account}/{other.zone} does not run")
    assert "`plimsoll bench-agent >agent.sh`" in host.not_ready
    assert "enable-guest-attributes=TRUE --metadata-from-file startup-script=agent.sh" in host.not_ready


def test_tags_are_labels_of_a_disk_in_what_labels_may_hold(here):
    bench = replace(here.bench, tags={"Cost-Center": "R&D 42", "42": "x" * 70, "team": "storage"})
    disk = find_disk(here.clients, here.home, bench.create(an_order(here, "v-labels")))
    assert {key: value for key, value in disk.labels.items() if key != "plimsoll-deadline"} == {
        "plimsoll-scratch": "v-labels",
        "cost-center": "r_d_42",
        "tag-42": "x" * 63,
        "team": "storage",
    }


def test_an_agent_that_has_fallen_silent_is_to_be_started_again(here):
    later = GoogleBench(clients=here.clients, now=lambda: datetime.now(UTC) + timedelta(minutes=10))
    host = later.hosts(here.home, [BENCH_TAG], [])[0]
    assert "was last heard 10 minutes ago: start the VM again" in host.not_ready
    assert "gcloud compute instances reset bench-" in host.not_ready


def test_the_agent_of_another_version_is_not_asked(here, monkeypatch):
    monkeypatch.setattr("plimsoll_google.bench_hosts.agent_version", lambda: "another")
    assert "runs the agent of another version of Plimsoll" in a_host(here).not_ready


def test_a_stopped_instance_is_refused_by_its_state(here):
    stopped = next(vm for project in here.cloud.fleet.accounts for vm in here.cloud.fleet.vms(project) if vm.stopped)
    target = type(here.home)(account=stopped.project, region=stopped.zone.rpartition("-")[0], provider="google")
    with pytest.raises(CloudError, match=f"cannot measure on {stopped.id} in .*: it is TERMINATED. Start it"):
        here.bench.hosts(target, [], [stopped.id])


def test_a_second_disk_of_a_pooled_type_is_refused_on_the_same_host(here):
    host = a_host(here)
    one, other = (here.bench.create(an_order(here, name)) for name in ("v-1", "v-2"))
    here.bench.attach(here.home, one, host.host.id)
    with pytest.raises(CloudError, match="has another disk of pd-ssd, and a VM's disks of one such type share"):
        here.bench.attach(here.home, other, host.host.id)
    assert a_host(here).shares == ("pd-ssd",)
    ceiling = TYPES["gp3"].ceiling(a_spec("gp3", 100))
    with pytest.raises(NotMeasured, match="has a volume of pd-ssd already"):
        choose_host([a_host(here)], a_spec("pd-ssd", 100), ceiling, [host.zone], lambda _host: True)


def test_a_host_whose_machine_type_takes_no_such_disk_is_refused(here):
    ceiling = TYPES["gp3"].ceiling(a_spec("gp3", 100))
    with pytest.raises(NotMeasured, match="takes no volume of hyperdisk-throughput"):
        choose_host(
            [a_host(here)], a_spec("hyperdisk-throughput", 2048), ceiling, [a_host(here).zone], lambda _host: True
        )


def test_a_copy_as_another_type_is_refused_before_anything_is_made(here):
    disk = next(one for one in here.cloud.fleet.disks(here.home.account) if one.spec.type == "pd-ssd")
    order = an_order(here, source=disk.id, zone=disk.zones[0], spec=a_spec("pd-balanced", 200))
    before = here.cloud.front.calls.get("disks.insert", 0)
    with pytest.raises(CloudError, match=r"Google clones a disk only to its own type in its own zone.*--mode canary"):
        here.bench.create(order)
    assert here.cloud.front.calls.get("disks.insert", 0) == before


def test_a_missing_permission_is_named_with_the_project(here):
    strike(here, Fault(operation="disks.insert", code="PERMISSION_DENIED"))
    with pytest.raises(
        AccessDenied, match=f"cannot create a scratch disk .* for compute.disks.create in {here.home.account}"
    ):
        here.bench.create(an_order(here))


def test_a_task_that_nobody_begins_counts_as_undelivered_after_two_minutes(here):
    strike(here, Fault(operation="instances.setMetadata", effect=Effect.UNDELIVERED))
    host = a_host(here)
    command = here.bench.send(here.home, host.host.id, Task(mode=TaskMode.INSPECT))
    assert here.bench.outcome(here.home, host.host.id, command) is None
    later = GoogleBench(clients=here.clients, now=lambda: datetime.now(UTC) + timedelta(seconds=121))
    outcome = later.outcome(here.home, host.host.id, command)
    assert outcome.end is TaskEnd.UNDELIVERED
    assert "did not begin it within 120 s" in outcome.reason


def test_metadata_of_others_stay_and_changes_of_others_meanwhile_are_kept(here):
    host = a_host(here)
    key = VmKey(here.home.account, host.zone, f"bench-{host.zone}")
    metadata = here.writes.agents.metadata
    metadata.set(key, {"ssh-keys": "a"}, metadata.of(key).fingerprint)
    strike(here, Fault(operation="instances.setMetadata", code="FAILED_PRECONDITION", times=2))
    here.bench.send(here.home, host.host.id, Task(mode=TaskMode.INSPECT))
    assert metadata.of(key).metadata["ssh-keys"] == "a"
    assert "Mode=inspect" in metadata.of(key).metadata[TASK_KEY]


def test_a_task_with_an_alarm_is_refused_because_nothing_would_heed_it(here):
    with pytest.raises(CloudError, match="Measure without bench_alarm"):
        here.bench.send(here.home, a_host(here).host.id, Task(mode=TaskMode.INSPECT, alarm="busy"))


def test_a_command_that_fails_without_a_word_says_its_exit_code(here):
    strike(here, Fault(operation="instances.setMetadata", effect=Effect.FAILS))
    host = a_host(here)
    command = here.bench.send(here.home, host.host.id, Task(mode=TaskMode.INSPECT))
    outcome = here.bench.outcome(here.home, host.host.id, command)
    assert (outcome.end, outcome.reason) == (TaskEnd.FAILED, "ended with exit code 1")


def test_the_role_has_what_each_call_takes(here):
    calls = {
        *("disks.insert", "disks.delete", "disks.get", "instances.attachDisk", "instances.detachDisk"),
        *("instances.setMetadata", "instances.getGuestAttributes", "instances.get", "zoneOperations.get"),
    }
    names = {call.replace("insert", "create") for call in calls}
    assert {f"compute.{name}" for name in names} <= GOOGLE_VALIDATION


def test_a_zone_that_does_not_answer_is_an_error_and_not_an_empty_list(here):
    strike(here, Fault(operation="disks.aggregatedList", code="UNAVAILABLE", region=f"{here.home.region}-a"))
    with pytest.raises(CloudError, match="cannot list scratch disks in"):
        here.bench.scratch(here.home)
