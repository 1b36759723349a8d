"""`plimsoll validate` as a user runs it: simulated volumes that the kernel holds to their limits, measured by real fio,
and nothing left behind but what was measured."""

import json
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import boto3
import duckdb
import pytest

from cloud_simulator.running import running
from plimsoll.model.task import SCRATCH_TAG

from .busy import busy_cpus, starved_fio
from .commands import ROOM, plimsoll

pytestmark = pytest.mark.needs("fio", "loop")

HOME = "111111111111"
REGION = ("--region", "us-east-1")
ANY_LATENCY = ("--set", "max_p99_latency_us=60000000", "--set", "latency_slack_pct=10000")
TWO_DAYS = ("--set", "lookback_days=2")
TERMS = (*REGION, *TWO_DAYS, *ANY_LATENCY)
FAST = {
    "PLIMSOLL_BENCHMARK_RUNTIME_S": "1",
    "PLIMSOLL_BENCHMARK_RAMP_S": "0",
    "PLIMSOLL_POLL_S": "0.1",
    "PLIMSOLL_IN_PLACE_FILE_MIB": "16",
}


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=120, pace_s=0.1) as found:
        yield found


@pytest.fixture(scope="module")
def audited(organization, tmp_path_factory):
    """The folder of a run; what changes it works on a copy."""
    folder = tmp_path_factory.mktemp("audited")
    plimsoll(organization, folder, "audit", "--out", "run", *TERMS, "--set", "risk_pct=100")
    return folder


def run(organization, folder, *words):
    return plimsoll(organization, folder, *words, **FAST)


LONG_ENOUGH = {**FAST, "PLIMSOLL_BENCHMARK_RUNTIME_S": "11"}
"""Seconds from which on a run can be evidence A."""


def named(organization, name):
    (found,) = [one for one in organization.fleet.at(HOME, "us-east-1") if dict(one.tags).get("Name") == name]
    return found.id


def verdicts(folder):
    book = folder / "plimsoll-runs" / "measured" / "validations.jsonl"
    return [json.loads(line) for line in book.read_text(encoding="utf-8").splitlines()] if book.exists() else []


def scratch(organization):
    keys = {
        "aws_access_key_id": organization.environment["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": "simulated",
        "endpoint_url": organization.endpoint,
    }
    ec2 = boto3.Session().client("ec2", region_name="us-east-1", **keys)
    found = ec2.describe_volumes(Filters=[{"Name": "tag-key", "Values": [SCRATCH_TAG]}])["Volumes"]
    return [one["VolumeId"] for one in found if one["State"] not in {"deleting", "deleted"}]


def left_of(volume_id):
    """The links and loop devices of this machine that still stand for a volume."""
    serial = volume_id.replace("-", "")
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    return [
        *Path("/dev/disk/by-id").glob(f"*{serial}*"),
        *(one for one in backing if volume_id in one.read_text(encoding="utf-8")),
    ]


def test_what_is_provisioned_is_measured_and_proves_the_recommendation_from_then_on(organization, tmp_path):
    volume = named(organization, "stack-data")
    for attempt in range(ROOM):
        tmp_path = tmp_path / str(attempt)
        tmp_path.mkdir()
        done = plimsoll(organization, tmp_path, "validate", volume, "--yes", *TERMS, **LONG_ENOUGH)
        if "passed  " in done.stdout:
            break
    assert done.returncode == 0
    assert f"passed  gp3 400 GiB 3,000 IOPS 125 MiB/s for {volume}" in done.stdout
    assert "simulated:" not in done.stdout
    assert re.search(r"^now +migrate to gp3 400 GiB .*, evidence A$", done.stdout, re.MULTILINE)

    (line,) = verdicts(tmp_path)
    assert line["passed"]
    assert not line["simulated"]
    assert line["shown_iops"] <= 3000 * 1.15
    assert line["shown_throughput_mib_s"] <= 125 * 1.15  # a busy machine gives less, the device never more
    assert scratch(organization) == []
    made = re.findall(r"measuring (vol-[0-9a-f]+) for about", done.stdout)  # one more for each time the bench was busy
    assert made
    assert [left for one in made for left in left_of(one)] == []

    assert "evidence A: IOPS: " in run(organization, tmp_path, "explain", volume, *REGION, *TWO_DAYS).stdout
    assert line["campaign"] in run(organization, tmp_path, "envelopes", "list").stdout


@pytest.mark.release
def test_a_right_target_is_never_refuted_by_a_bench_that_has_no_cpu_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", starved_fio(tmp_path))
    with running(datetime.now(UTC), volumes=120, pace_s=0.1) as starved, busy_cpus():
        done = run(starved, tmp_path, "validate", named(starved, "queue"), "--yes", *TERMS)
        assert scratch(starved) == []
    assert "failed  " not in done.stdout
    assert verdicts(tmp_path) == []
    assert done.returncode == 3, "in a thirtieth of the time no 4,000 IOPS are carried"
    assert "the bench was the limit" in done.stdout


@pytest.mark.release
def test_a_bare_flip_of_a_volume_that_needs_more_fails_with_the_figures(organization, tmp_path):
    volume = named(organization, "queue")
    for attempt in range(ROOM):  # a machine that is busy is the limit itself, and says so
        tmp_path = tmp_path / str(attempt)
        tmp_path.mkdir()
        done = run(organization, tmp_path, "validate", volume, "--target", "flip", "--yes", "--max-runs", "1", *TERMS)
        if "failed  " in done.stdout:
            break
    assert done.returncode == 0
    assert f"failed  gp3 200 GiB 3,000 IOPS 125 MiB/s for {volume}" in done.stdout
    (delivered,) = re.findall(r"delivered only ([\d,]+) IOPS of the 4,\d{3} that are needed", done.stdout)
    assert int(delivered.replace(",", "")) < 3_100, "a volume never carries more than its limit"
    assert re.search(r"^asked +gp3 200 GiB 3,000 IOPS 125 MiB/s$", done.stdout, re.MULTILINE)
    assert re.search(r"^now +upgrade to gp3 200 GiB 4,\d{3} IOPS", done.stdout, re.MULTILINE)
    (line,) = verdicts(tmp_path)
    assert not line["passed"]
    assert line["shown_iops"] == pytest.approx(3000, rel=0.15)
    assert scratch(organization) == []


def test_a_plan_tells_runs_and_cost_and_measures_nothing(organization, audited):
    done = run(organization, audited, "validate", "--recommendation", "run", "--grade", "A", "--plan")
    assert done.returncode == 0
    assert re.search(r"^10 runs, about \d+ min, about \$0\.\d{3} for scratch volumes$", done.stdout, re.MULTILINE)
    assert "stay outside --max-usd and --max-runs" in done.stdout
    assert verdicts(audited) == []


def test_no_money_measures_nothing_and_says_so(organization, audited):
    done = run(organization, audited, "validate", "--recommendation", "run", "--grade", "A", "--max-usd", "0", "--yes")
    assert done.returncode == 0
    assert "0 runs" in done.stdout
    assert "nothing was measured" in done.stdout
    assert verdicts(audited) == []


def test_without_a_terminal_nothing_is_made_unless_that_was_said(organization, audited):
    done = run(organization, audited, "validate", "--recommendation", "run", "--grade", "A")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert verdicts(audited) == []


@pytest.mark.release
def test_one_run_of_a_budget_proves_all_that_its_class_serves(organization, audited, tmp_path):
    shutil.copytree(audited / "run", tmp_path / "run")
    budget = ("--max-usd", "0.004", "--max-runs", "1", "--yes")
    words = ("validate", "--recommendation", "run", "--grade", "A", *budget)
    done = plimsoll(organization, tmp_path, *words, **LONG_ENOUGH)
    assert done.returncode == 0
    (line,) = verdicts(tmp_path)
    assert line["passed"]
    assert len(line["serves"]) > 5
    records = json.loads((tmp_path / "run" / "recommendations.json").read_text(encoding="utf-8"))
    proved = [one["volume_id"] for one in records if one["evidence"] and one["evidence"]["grade"] == "A"]
    assert set(line["serves"]) <= set(proved)
    assert plimsoll(organization, tmp_path, "report", "run", "--format", "parquet").returncode == 0
    table = tmp_path / "run" / "recommendations.parquet"
    found = duckdb.sql(f"select volume_id from '{table}' where evidence.grade = 'A'").fetchall()
    assert sorted(volume_id for (volume_id,) in found) == sorted(proved)
    assert f"decided again: {len(line['serves'])} recommendation" in done.stdout
    assert scratch(organization) == []


def test_in_place_is_no_worse_than_what_its_headroom_left(organization, tmp_path):
    volume = named(organization, "web")
    done = run(organization, tmp_path, "validate", volume, "--mode", "in-place", "--yes", *TERMS)
    assert done.returncode == 0
    assert "beside its own workload: no worse than this" in done.stdout
    (line,) = verdicts(tmp_path)
    assert line["mode"] == "in-place"
    assert line["usd"] is None
    assert line["shown_iops"] < line["ceiling_iops"]
    told = run(organization, tmp_path, "envelopes", "list").stdout
    (roofs,) = [row for row in told.splitlines() if line["campaign"] in row and "gp3 300 GiB" in row]
    assert ">=" in roofs
    assert scratch(organization) == []


def test_in_place_stops_when_the_volume_answers_late(organization, tmp_path):
    volume = named(organization, "web")
    late = ("--set", "in_place_most_latency_us=1")
    done = run(organization, tmp_path, "validate", volume, "--mode", "in-place", "--yes", *TERMS, *late)
    assert done.returncode == 3
    assert "stopped because the volume's latency rose above the policy's limit" in done.stdout
    assert "Use the mode canary or copy" in done.stdout
    assert verdicts(tmp_path) == []


@pytest.mark.parametrize("mode", ["in-place", "copy"])
def test_a_volume_that_is_being_modified_is_not_measured(organization, tmp_path, mode):
    volume = named(organization, "being-changed")
    target = ("--target", "gp3:3000:125") if mode == "copy" else ()
    done = run(organization, tmp_path, "validate", volume, "--mode", mode, *target, "--yes", *TERMS)
    assert done.returncode == 3
    assert f"{volume} is being modified (optimizing): measure it when that is completed." in done.stdout
    assert scratch(organization) == []


@pytest.mark.release
def test_a_copy_is_measured_by_reads_alone(organization, tmp_path):
    volume = named(organization, "worker-root")
    done = run(organization, tmp_path, "validate", volume, "--mode", "copy", "--yes", *TERMS)
    assert done.returncode == 0
    (line,) = verdicts(tmp_path)
    assert (line["mode"], line["passed"]) == ("copy", True)
    shown = run(organization, tmp_path, "envelopes", "show", line["campaign"]).stdout
    assert set(re.findall(r"\b(?:rand)?(?:read|write|rw)\b", shown)) <= {"read", "randread"}
    assert "read" in shown
    assert scratch(organization) == []
