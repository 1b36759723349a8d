"""`plimsoll audit --plan` and what run.json keeps of it, through the real command line."""

import json

import pytest

from cloud_simulator.faults import Fault
from cloud_simulator.running import running
from plimsoll.model.policy import Policy
from tests.builders import NOW
from tests.pipelines.commands import IN_PART, REGIONS, TWO_DAYS, plimsoll, roles
from tests.pipelines.in_process import audited

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def organization():
    with running(NOW) as found:
        yield found


def test_a_plan_reads_no_metric_and_the_run_holds_what_it_took_beside_it(organization, tmp_path):
    words = ["audit", *roles(organization), *IN_PART, *TWO_DAYS]
    planned = plimsoll(organization, tmp_path, *words, "--plan")
    assert planned.returncode == 0
    assert not (tmp_path / "plimsoll-runs").exists() or not list((tmp_path / "plimsoll-runs").glob("*/run.json"))
    done = plimsoll(organization, tmp_path, *words, "--out", "run")
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert done.returncode == 0
    plan, usage = run["plan"], run["usage"]
    for figure in (plan["calls"], plan["metrics"], plan["datapoints"]):
        assert f"{figure:,}" in planned.stdout
    assert plan["least_datapoints"] <= usage["datapoints"] < plan["most_datapoints"]
    assert usage["estimated_usd"] > 0


@pytest.mark.release
def test_every_minute_gives_the_same_answers_and_promises_with_exact_peaks(organization, tmp_path):
    answers = []
    for folder, every_minute in (("part", False), ("whole", True)):
        run = audited(organization, tmp_path / folder, NOW, Policy(), every_minute=every_minute)
        found = json.loads((tmp_path / folder / "recommendations.json").read_text())
        answers.append({one["volume_id"]: one for one in found})
        read, most = run["usage"]["datapoints"], run["plan"]["most_datapoints"]
        assert (most <= read <= 1.05 * most) == every_minute  # what has gaps is asked for once more, its past too
    part, whole = answers
    assert part.keys() == whole.keys()
    for volume_id, exact in whole.items():
        same = ("action", "target", "monthly_usd_then", "monthly_usd_saved", "drop_in", "replay", "blockers", "change")
        assert {key: part[volume_id][key] for key in same} == {key: exact[key] for key in same}
        risks = [one["risk"] and {**one["risk"], "left_pct": None} for one in (part[volume_id], exact)]
        assert risks[0] == risks[1]
        assert not exact["risk"] or part[volume_id]["risk"]["left_pct"] <= exact["risk"]["left_pct"]
        if exact["demand"]:
            demand = part[volume_id]["demand"]
            assert exact["demand"]["least_peak_iops"] == exact["demand"]["peak_iops"]
            assert demand["least_peak_iops"] <= exact["demand"]["peak_iops"] <= demand["peak_iops"]


def test_a_target_that_cannot_be_listed_is_named_in_the_plan(tmp_path):
    fault = Fault(code="UnauthorizedOperation", operation="DescribeVolumes", account="222222222222", status=403)
    with running(NOW, faults=[fault]) as organization:
        done = plimsoll(organization, tmp_path, "audit", *roles(organization), *REGIONS, "--plan")
    assert done.returncode == 3
    assert "failed 222222222222/us-east-1" in done.stdout


@pytest.mark.parametrize(
    "words", [["--plan", "--resume", "x"], ["--plan", "--record", "x"], ["--resume", "x", "--every-minute"]]
)
def test_what_does_not_go_together_is_said(organization, tmp_path, words):
    done = plimsoll(organization, tmp_path, "audit", *words)
    assert done.returncode == 2
    assert "leave out" in done.stderr
