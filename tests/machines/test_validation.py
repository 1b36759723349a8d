"""The synthesized validation, executed with real fio on simulated volumes: what it measures, and what it leaves."""

import json

import pytest

from plimsoll.model.task import DEADLINE_TAG, SCRATCH_TAG
from plimsoll_service.config import ServiceConfig

from .deployment import deployed
from .fleets import a_small_organization
from .troubles import Trouble

pytestmark = [pytest.mark.once, pytest.mark.needs("fio")]

MACHINE = "plimsoll-main-validation"
SWEEP = "plimsoll-main-sweep"
ANY_LATENCY = {"lookback_days": 2, "max_p99_latency_us": 60_000_000, "latency_slack_pct": 10_000}
FAST = {
    "PLIMSOLL_BENCHMARK_RUNTIME_S": "1",
    "PLIMSOLL_BENCHMARK_RAMP_S": "0",
    "PLIMSOLL_IN_PLACE_FILE_MIB": "16",
    "PLIMSOLL_MAX_ATTEMPTS": "2",
}


@pytest.fixture(scope="module")
def warm(templates, tmp_path_factory):
    fleet = a_small_organization()
    config = ServiceConfig(accounts=fleet.accounts[:1], regions=fleet.regions, policy=ANY_LATENCY)
    folder = tmp_path_factory.mktemp("service")
    with deployed(templates, fleet, folder, config=config, variables=FAST, plain_files=True) as service:
        yield service


@pytest.fixture
def service(warm):
    """The same service for all these tests, so that its processes stay warm."""
    yield warm
    warm.account.front.troubles.clear()


def a_volume_of(service):
    return service.account.organization.fleet.volumes[0].id


def verdicts(service):
    keys = service.keys("measured/validations/")
    return [json.loads(line) for key in keys for line in service.content(key).splitlines()]


def left(service):
    """The scratch volumes that are there, and the claims that are held."""
    tagged = [{"Name": "tag-key", "Values": [SCRATCH_TAG]}]
    volumes = service.account.client("ec2").describe_volumes(Filters=tagged)["Volumes"]
    items = service.account.client("dynamodb").scan(TableName=service.variables["PLIMSOLL_COORDINATION_TABLE"])["Items"]
    return [
        *(one["VolumeId"] for one in volumes if one["State"] not in {"deleting", "deleted"}),
        *(item["id"]["S"] for item in items if item["id"]["S"].startswith("claim#")),
    ]


def item_of(service, validation):
    return json.loads(service.content(f"validations/{validation}/0.json"))


def before_a_release(*case):
    return pytest.param(*case, marks=pytest.mark.release)


@pytest.mark.parametrize(
    ("function", "operation", "call"),
    [
        before_a_release("propose", "DescribeVolumes", 1),
        before_a_release("create_scratch", "CreateVolume", 1),
        before_a_release("check_job", "DescribeVolumes", 1),
        before_a_release("attach_scratch", "AttachVolume", 1),
        ("send_command", "SendCommand", 1),
        before_a_release("check_job", "GetCommandInvocation", 1),
        before_a_release("conclude", "PutObject", 1),
    ],
)
def test_whichever_state_fails_the_clean_up_leaves_nothing(service, function, operation, call):
    before = len(verdicts(service))
    service.account.front.troubles.append(Trouble(function=function, operation=operation, call=call, times=None))
    name = f"fails-{function}-{operation}".replace("_", "-")
    ended = service.account.run(MACHINE, name, {"volume_id": a_volume_of(service)})

    assert ended.status == "SUCCEEDED"
    assert any(trouble.struck for trouble in service.account.front.troubles)
    # A command that may have been sent is not sent again: the later attempts find it in progress.
    assert service.account.front.invoked["clean_up"][-1]["error"]["Error"] in {
        "Runtime.ExitError",
        "IdempotencyAlreadyInProgressError",
    }
    assert left(service) == []
    assert len(verdicts(service)) == before


def test_a_volume_is_measured_for_and_its_recommendation_stands_on_that(service):
    ended = service.account.run(MACHINE, "first", {"volume_id": a_volume_of(service)})

    assert (ended.status, ended.cause) == ("SUCCEEDED", None)
    (line,) = verdicts(service)
    assert line["passed"]
    assert left(service) == []
    assert service.account.front.calls["send_command", "SendCommand"] >= 1
    assert service.keys("scratch/") == ["scratch/111111111111/us-east-1.json"], "the sweep knows where to look"


def test_the_sweep_deletes_what_is_past_its_deadline_and_finds_it_everywhere_once_a_week(service):
    tags = {SCRATCH_TAG: "v-0", DEADLINE_TAG: "2026-01-01T00:00:00+00:00"}
    named = [{"ResourceType": "volume", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]
    made = {"AvailabilityZone": "us-east-1a", "Size": 1, "VolumeType": "gp3", "TagSpecifications": named}
    for key in service.keys("scratch/"):
        service.account.client("s3").delete_object(Bucket=service.bucket, Key=key)
    volume = service.account.client("ec2").create_volume(**made)["VolumeId"]
    often = service.account.run(SWEEP, "often", {})
    assert (often.status, often.cause, left(service)) == ("SUCCEEDED", None, [volume]), "no ledger points there"
    everywhere = service.account.run(SWEEP, "everywhere", {"everywhere": True})
    assert (everywhere.status, everywhere.output["deleted"], left(service)) == ("SUCCEEDED", 1, [])
    assert [event["account"]["account"] for event in service.account.front.invoked["sweep"]] == ["111111111111"]


def test_a_volume_in_use_is_measured_in_place_and_no_scratch_volume_is_made(service):
    service.account.front.calls.clear()
    ended = service.account.run(
        MACHINE, "in-place", {"volume_id": service.account.organization.fleet.volumes[1].id, "mode": "in-place"}
    )

    assert ended.status == "SUCCEEDED"
    assert item_of(service, "in-place")
    assert service.account.front.calls["create_scratch", "CreateVolume"] == 0
    assert left(service) == []


def test_the_machine_says_what_cannot_be_validated(service):
    ended = service.account.run(MACHINE, "nonsense", {"volume_id": "vol-1", "run_id": "x"})

    assert (ended.status, ended.error) == ("FAILED", "BadInput")
