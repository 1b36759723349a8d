"""`plimsoll compare` against a simulated Compute Optimizer: each volume is explained, and what fails is a sentence."""

import json
from datetime import UTC, datetime

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.running import running

from .commands import IN_PART, REGIONS, TWO_DAYS, plimsoll

pytestmark = pytest.mark.once

HOME, OPTED_OUT = "111111111111", "333333333333"
DENIAL = Fault(
    code="AccessDeniedException",
    operation="GetEBSVolumeRecommendations",
    account=HOME,
    region="us-east-1",
    status=400,
)


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1, faults=[DENIAL]) as found:
        yield found


@pytest.fixture(scope="module")
def folder(organization, tmp_path_factory):
    """A folder with a run of a place that answers, and one with a place that denies and one that has not opted in."""
    place = tmp_path_factory.mktemp("compared")
    plimsoll(organization, place, "audit", "--out", "own", *TWO_DAYS, *IN_PART)
    role = f"arn:aws:iam::{OPTED_OUT}:role/plimsoll-audit"
    plimsoll(organization, place, "audit", "--out", "all", *TWO_DAYS, *REGIONS, "--role-arn", role)
    return place


def volumes_of(folder, run):
    return {one["volume_id"]: one for one in json.loads((folder / run / "recommendations.json").read_text())}


def test_each_volume_of_the_run_is_compared_once_and_explained(organization, folder):
    done = plimsoll(organization, folder, "compare", "own", "--format", "json")
    assert done.returncode == 0, done.stderr
    data, records = json.loads(done.stdout), volumes_of(folder, "own")
    assert data["failed"] == {}
    assert {volume["volume_id"] for volume in data["volumes"]} >= set(records)
    assert "would-throttle" in data["verdicts"]
    for volume in data["volumes"]:
        assert bool(volume["why"]) == (volume["verdict"] != "same")
        if volume["verdict"] == "same":
            record = records[volume["volume_id"]]
            assert volume["theirs"] == (record["target"] or record["current"])


def test_what_refuses_is_one_sentence_a_place_and_the_rest_is_compared(organization, folder):
    done = plimsoll(organization, folder, "compare", "all")
    assert done.returncode == 3
    denied, opted_out = sorted(line for line in done.stdout.splitlines() if line.startswith("not compared"))
    assert f"{HOME}/us-east-1" in denied
    assert "permissions --for compare" in denied
    assert f"{OPTED_OUT}/us-east-1" in opted_out
    assert "OptInRequiredException" in opted_out
    markdown = plimsoll(organization, folder, "compare", "all", "--format", "md")
    assert (markdown.returncode, "OptInRequiredException" in markdown.stdout) == (3, True)
    data = json.loads(plimsoll(organization, folder, "compare", "all", "--format", "json").stdout)
    assert sorted(data["failed"]) == [f"{HOME}/us-east-1", f"{OPTED_OUT}/us-east-1"]
    verdicts = {(volume["account"], volume["region"]): set() for volume in data["volumes"]}
    for volume in data["volumes"]:
        verdicts[volume["account"], volume["region"]].add(volume["verdict"])
    assert verdicts[HOME, "us-east-1"] | verdicts[OPTED_OUT, "us-east-1"] == {"theirs-none", "ours-none"}
    assert len(verdicts[HOME, "eu-west-1"]) > 2


@pytest.mark.parametrize(
    ("words", "told"),
    [(("compare", "own", "--format", "xml"), "it must be one of text, json, md"), (("compare", "none"), "no run.json")],
)
def test_what_cannot_be_used_is_said(organization, folder, words, told):
    done = plimsoll(organization, folder, *words)
    assert (done.returncode, told in done.stderr) == (2, True)
