"""The synthesized audit when something fails: what it costs, what is named, and what a rerun does again."""

import pytest

from cloud_simulator.faults import Fault
from plimsoll_service.config import ServiceConfig

from .audits import by_command, by_machine, run_audit
from .deployment import deployed
from .fleets import a_small_organization
from .troubles import Trouble

pytestmark = pytest.mark.once

ONE = {"account": "222222222222", "region": "us-east-1"}
OTHER = {"account": "333333333333", "region": "us-east-1"}
A_WEEK = {"lookback_days": 7}
FEW_ATTEMPTS = {"PLIMSOLL_MAX_ATTEMPTS": "2"}


def in_place(place):
    """Chooses the events that are about a batch of a target, or about its account."""

    def is_meant(event):
        items = [event["account"]] if "account" in event else event.get("lot", {}).get("batches", [])
        return any(all(item[key] == value for key, value in place.items() if key in item) for item in items)

    return is_meant


@pytest.fixture(scope="module")
def fleet():
    return a_small_organization()


@pytest.fixture(scope="module")
def warm(templates, fleet, tmp_path_factory):
    config = ServiceConfig(accounts=fleet.accounts, regions=fleet.regions, policy=A_WEEK)
    folder = tmp_path_factory.mktemp("service")
    with deployed(templates, fleet, folder, config=config, variables=FEW_ATTEMPTS) as service:
        yield service


@pytest.fixture
def service(warm):
    """The same service for all these tests, so that its processes stay warm; each has a run of its own."""
    yield warm
    warm.account.front.troubles.clear()


def invoked(service, function, run_id):
    """What a function was told of a run."""
    events = service.account.front.invoked.get(function, [])
    return [
        event
        for event in events
        if run_id in {event.get("run_id"), event.get("name"), event.get("input", {}).get("run_id")}
    ]


def rerun(service, run_id):
    """Goes on with a run, and gives its end and how often each function was invoked and asked for metrics."""
    service.account.front.troubles.clear()
    service.account.front.invoked.clear()
    service.account.front.calls.clear()
    service.pass_the_time_of_locks()
    ended = run_audit(service, f"{run_id}-again", run_id=run_id)
    return ended, service.account.front.calls["audit_batch", "GetMetricData"]


def is_whole(service, run_id, folder):
    """Whether a run has found all that the command line finds."""
    found, expected = by_machine(service, run_id), by_command(service, run_id, folder)
    return found.recommendations == expected.recommendations and found.told == expected.told


@pytest.mark.release
def test_a_crash_of_lambda_is_tried_again(service, tmp_path):
    service.account.front.troubles += [
        Trouble(function="audit_batch", of=in_place(ONE)),
        Trouble(function="take_inventory", operation="PutObject", of=in_place(OTHER)),
    ]
    ended = run_audit(service, "crash")

    assert ended.output["status"] == "complete"
    assert len(invoked(service, "audit_batch", "crash")) == 2, "the small targets share a function"
    assert len(invoked(service, "take_inventory", "crash")) == 4
    assert is_whole(service, "crash", tmp_path)


@pytest.mark.release
def test_a_batch_that_keeps_crashing_fails_by_name_and_a_rerun_asks_for_it_alone(service, tmp_path):
    service.account.front.troubles.append(
        Trouble(function="audit_batch", operation="GetMetricData", times=None, of=in_place(ONE))
    )
    ended = run_audit(service, "keeps")
    found = by_machine(service, "keeps")

    assert (ended.status, ended.output["status"]) == ("SUCCEEDED", "partial")
    (place,) = found.run["failures"]["volumes"]
    assert place == "222222222222/us-east-1"
    (reason,) = found.run["failures"]["volumes"][place]
    assert "Runtime.ExitError" in reason or "signal: killed" in reason
    assert {volume[:2] for volume in found.recommendations} == {
        (volume.account, volume.region) for volume in service.account.organization.fleet.volumes
    } - {tuple(ONE.values())}

    again, metric_calls = rerun(service, "keeps")
    assert again.output["status"] == "complete"
    (lot,) = [event["lot"] for event in invoked(service, "audit_batch", "keeps")]
    assert lot == {"batches": [{**ONE, "batch": 0}], "sharing": 1}
    assert invoked(service, "take_inventory", "keeps") == []
    assert metric_calls > 0
    assert is_whole(service, "keeps", tmp_path)


KILLED = {
    "plan": (Trouble(function="plan", operation="PutObject"), "FAILED", 3, 1),
    "take-inventory": (
        Trouble(function="take_inventory", operation="PutObject", call=3, of=in_place(ONE)),
        "partial",
        1,
        1,
    ),
    "find-pending": (Trouble(function="find_pending", operation="PutObject"), "FAILED", 0, 1),
    "audit-batch-reading": (
        Trouble(function="audit_batch", operation="GetMetricData", call=3, of=in_place(ONE)),
        "partial",
        0,
        1,
    ),
    "audit-batch-keeping": (
        Trouble(function="audit_batch", operation="PutObject", call=2, of=in_place(ONE)),
        "partial",
        0,
        1,
    ),
    "audit-batch-concluding": (
        Trouble(function="audit_batch", operation="PutObject", call=6, of=in_place(ONE)),
        "partial",
        0,
        1,
    ),
    "summarize": (Trouble(function="summarize", operation="PutObject", call=2), "FAILED", 0, 0),
    "report": (Trouble(function="report", operation="PutObject", call=3), "FAILED", 0, 0),
    "report-telling": (Trouble(function="report", operation="PutEvents"), "FAILED", 0, 0),
}
"""What is killed and in which call, how the run ends, and how many accounts and lots of batches a rerun takes again."""


@pytest.mark.release
@pytest.mark.parametrize("run_id", KILLED)
def test_whichever_function_is_killed_a_rerun_completes_without_repeating_what_is_done(service, tmp_path, run_id):
    trouble, ends, accounts, lots = KILLED[run_id]
    trouble.stays = True
    service.account.front.troubles.append(trouble)
    ended = run_audit(service, run_id)
    assert (ended.output["status"] if ended.output else ended.status) == ends

    again, metric_calls = rerun(service, run_id)
    assert again.output["status"] == "complete"
    assert len(invoked(service, "take_inventory", run_id)) == accounts
    assert len(invoked(service, "audit_batch", run_id)) == lots
    if not lots:
        assert metric_calls == 0
    assert is_whole(service, run_id, tmp_path)


@pytest.mark.release
def test_a_target_whose_failure_cannot_even_be_noted_is_not_missing_in_silence(service, tmp_path):
    service.account.front.troubles += [
        Trouble(function="take_inventory", operation="PutObject", call=2, stays=True, of=in_place(ONE)),
        Trouble(function="note_failure", operation="PutObject", stays=True),
    ]
    ended = run_audit(service, "silent")

    assert ended.output["status"] == "partial"
    assert "222222222222/us-east-1" in str(by_machine(service, "silent").run["failures"]["targets"])
    again, _ = rerun(service, "silent")
    assert again.output["status"] == "complete"
    assert is_whole(service, "silent", tmp_path)


@pytest.mark.release
def test_a_denied_target_and_one_throttled_for_ever_cost_themselves_alone(templates, fleet, tmp_path):
    faults = [
        Fault(operation="DescribeVolumes", code="UnauthorizedOperation", status=403, **ONE),
        Fault(operation="DescribeVolumes", code="RequestLimitExceeded", status=503, **OTHER),
    ]
    config = ServiceConfig(accounts=fleet.accounts, regions=fleet.regions, policy=A_WEEK)
    with deployed(templates, fleet, tmp_path, faults=faults, config=config, variables=FEW_ATTEMPTS) as service:
        ended = run_audit(service, "faults")
        found = by_machine(service, "faults")
        tries = [event["account"]["account"] for event in invoked(service, "take_inventory", "faults")]

        assert ended.output["status"] == "partial"
        failed = found.run["failures"]["targets"]
        assert set(failed) == {"222222222222/us-east-1", "333333333333/us-east-1"}
        assert "ec2:DescribeVolumes" in failed["222222222222/us-east-1"]
        assert tries.count(ONE["account"]) == 1
        assert tries.count(OTHER["account"]) == 7
        places = {(volume.account, volume.region) for volume in fleet.volumes}
        assert {volume[:2] for volume in found.recommendations} == places - {tuple(ONE.values()), tuple(OTHER.values())}
        assert is_whole(service, "faults", tmp_path / "run")
