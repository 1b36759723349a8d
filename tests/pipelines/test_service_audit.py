"""The audit in parts answers as `plimsoll audit` does, whatever is parted, stopped, denied, throttled or crashed.

`tests/machines/test_audit.py` compares the whole run: each record, the sums and the tables.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS, organization
from cloud_simulator.faults import Fault
from plimsoll.model.policy import Policy
from tests.service_loop import Loop, a_service, files, records, run_json

from .in_process import audited
from .organization_here import a_config, aws_places, served_here

pytestmark = pytest.mark.once

NOW = datetime.now(UTC)
POLICY = Policy(lookback_days=2)


@pytest.fixture(scope="module")
def fleet():
    """Every fourth volume of the organization, and the one that nothing is known of."""
    whole = organization(NOW)
    volumes = [one for number, one in enumerate(whole.volumes) if number % 4 == 0 or one.spec.type == "gp9"]
    return replace(whole, volumes=tuple(volumes))


@pytest.fixture(scope="module")
def whole(fleet, tmp_path_factory):
    """What the command line answers, and how often it asks for metrics."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with served_here(fleet) as (there, _front):
        audited(there, folder, NOW, POLICY)
    return folder


def a_loop(fleet, folder, *, regions=AWS_REGIONS, **fields):
    config = a_config(fleet, regions=regions)
    return Loop(service=a_service(config, aws_places(fleet, config), folder, NOW), now=NOW, **fields)


def in_region(folder, region):
    """The recommendations of one region; each target is answered for itself."""
    return {name: one for name, one in records(folder).items() if one["region"] == region}


def test_small_batches_that_stop_on_the_way_answer_the_same(fleet, whole, tmp_path):
    with served_here(fleet):
        loop = a_loop(fleet, tmp_path, regions=AWS_REGIONS[1:], batch_volumes=6, slice_volumes=2, slices=1)
        loop.run()
    assert loop.rounds > 2
    assert records(files(loop.service, "first")) == in_region(whole, AWS_REGIONS[1])


def test_what_is_denied_throttled_or_locked_is_named_as_the_command_line_names_it(fleet, tmp_path):
    denied, throttled, locked = (
        f"{ACCOUNTS[0]}/{AWS_REGIONS[1]}",
        f"{ACCOUNTS[2]}/{AWS_REGIONS[0]}",
        f"{ACCOUNTS[1]}:role",
    )
    faults = (
        Fault(code="UnauthorizedOperation", operation="DescribeVolumes", account=ACCOUNTS[0], region=AWS_REGIONS[1]),
        Fault(code="RequestLimitExceeded", operation="DescribeVolumes", account=ACCOUNTS[2], region=AWS_REGIONS[0]),
        Fault(code="AccessDenied", operation="GetCallerIdentity", account=ACCOUNTS[1], status=403),
    )
    with served_here(fleet, *faults) as (there, _front):
        audited(there, tmp_path / "whole", NOW, POLICY)
    with served_here(fleet, *faults):
        loop = a_loop(fleet, tmp_path)
        reported = loop.run()
    folder = files(loop.service, "first")
    assert reported.status == "partial"
    failed = run_json(folder)["failures"]["targets"]
    assert failed == run_json(tmp_path / "whole")["failures"]["targets"]
    assert all(any(name in key for key in failed) for name in (denied, throttled, locked))
    assert records(folder) == records(tmp_path / "whole")


def test_after_a_crash_a_rerun_asks_only_for_what_is_missing(fleet, whole, tmp_path):
    def crash(_item):
        if len(broken.audited) == 3:
            raise RuntimeError("the machine is gone")

    small = {"regions": AWS_REGIONS[1:], "batch_volumes": 2}
    with served_here(fleet) as (_there, front):
        broken = a_loop(fleet, tmp_path, crash=crash, **small)
        with pytest.raises(RuntimeError):
            broken.run()
        listed = front.calls["DescribeVolumes"]
        rerun = a_loop(fleet, tmp_path, **small)
        rerun.run("second", run_id="first")
        parted = front.calls["GetMetricData"]
        assert front.calls["DescribeVolumes"] == listed
        a_loop(fleet, tmp_path / "straight", **small).run()
        straight = front.calls["GetMetricData"] - parted
    assert parted == straight
    assert not {str(item) for item in broken.audited[:2]} & {str(item) for item in rerun.audited}
    assert records(files(rerun.service, "first")) == in_region(whole, AWS_REGIONS[1])


def with_nodes_of_a_group(fleet, count):
    """The organization with so many nodes of one launch template, each of which boots from 40 GiB."""
    first = next(volume for volume in fleet.volumes if ("Name", "worker-root") in volume.tags)
    nodes = [
        replace(
            first,
            id=f"vol-{number:017x}",
            spec=replace(first.spec, size_gib=40),
            hosts=tuple(
                replace(host, id=f"i-{number:017x}", tags=(("aws:ec2launchtemplate:id", "lt-0123456789abcdef0"),))
                for host in first.hosts
            ),
            workload=replace(first.workload, low_iops=20, high_iops=80, seed=number),
        )
        for number in range(count)
    ]
    return replace(fleet, volumes=tuple(nodes))


def test_the_volumes_of_a_template_are_one_change_however_many_batches_they_are_in(fleet, tmp_path):
    nodes = with_nodes_of_a_group(fleet, 12)
    with served_here(nodes) as (there, _front):
        audited(there, tmp_path / "whole", NOW, POLICY)
    with served_here(nodes):
        loop = a_loop(nodes, tmp_path / "parts", batch_volumes=5, slice_volumes=2, slices=1)
        loop.run()
    assert loop.rounds > 2
    (change,) = run_json(tmp_path / "whole")["templates"]
    assert change["volumes_too_small_alone"] == 12
    assert run_json(files(loop.service, "first"))["templates"] == [change]
