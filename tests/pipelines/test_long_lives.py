"""Volumes that did before the last two weeks what they did not do in them, audited over HTTP."""

import json

import pytest

from cloud_simulator.aws.organization import Mix
from cloud_simulator.running import running
from plimsoll.model.policy import ANY_RISK_PCT, Policy
from plimsoll.past.memory import memory_segments
from plimsoll.reading.window import Window
from plimsoll.reports.promises import lessons_of, own_table
from plimsoll.reports.record import RecommendationRecord
from tests.oracle.compare import differences
from tests.pipelines.in_process import audited
from tests.pipelines.test_truth import NOW, oracle_answers

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The records by name, with the memory and without, what reading took, and the fleet."""
    found = []
    with running(NOW, mix=Mix.LONG_LIVES) as organization:
        for days in (455, 0):
            folder = tmp_path_factory.mktemp("runs") / "lives"
            run = audited(organization, folder, NOW, Policy(memory_days=days, risk_pct=ANY_RISK_PCT))
            records = json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))
            found.append(({one["name"]: one for one in records}, run["usage"]))
    return *found, organization.fleet


@pytest.mark.parametrize(
    ("name", "iops", "day", "rhythm"),
    [
        ("ledger-close", 10_300, "2026-09-30", "at the end of a month"),  # the highest of them
        ("quarterly-report", 13_100, "2026-09-30", "at the end of a quarter"),
        ("migration-of-march", 13_500, "2026-03-25", None),
        ("job-of-last-month", 6000, "2026-10-18", None),
        ("old-host-job", 6800, "2026-10-06", None),
    ],
)
def test_what_a_life_did_before_speaks_against_less_and_is_named_by_its_day(runs, name, iops, day, rhythm):
    (remembering, _), (forgetting, _), _ = runs
    found = remembering[name]
    assert forgetting[name]["target"]["iops"] == 3000
    assert iops <= found["target"]["iops"] <= 1.08 * iops
    assert found["memory"]["instead_of"] == forgetting[name]["target"]
    assert found["memory"]["event"]["start"].startswith(day)
    assert found["memory"]["event"]["rhythm"] == rhythm


def test_what_was_read_of_the_past_is_what_headroom_is_learned_of(runs):
    (remembering, _), _, _ = runs
    busiest = {name: one["memory"]["peaks"]["iops"] for name, one in remembering.items() if one["memory"]}
    highest = {name: [block and block[0] for block in blocks] for name, blocks in busiest.items()}
    assert highest["ledger-close"] == pytest.approx([8990] * 14, rel=0.01)
    assert [one > 10_000 for one in highest["quarterly-report"]].count(True) == 5
    assert highest["old-shop"] == pytest.approx([100] * 2 + [5999] * 12, rel=0.01)
    assert highest["old-host-job"] == [None] * 14  # Such a host publishes no highest minute.
    records = [RecommendationRecord.model_validate(one) for one in remembering.values()]
    lessons = lessons_of(records)
    assert lessons.volumes == 9
    assert own_table(lessons, NOW, Policy(risk_pct=5), {}, None) is None
    assert own_table(lessons, NOW, Policy(risk_pct=50), {}, None) is not None


def test_a_service_that_was_turned_off_is_still_remembered(runs):
    (remembering, _), _, _ = runs
    assert remembering["old-shop"]["target"]["iops"] >= 6000
    assert remembering["old-shop"]["memory"]["event"] is not None


def test_what_grows_is_given_room_for_that_and_says_how_fast(runs):
    (remembering, _), (forgetting, _), _ = runs
    for name in ("logs-growing", "orders-outgrown"):
        found, alone = remembering[name], forgetting[name]
        assert alone["growth"] is None
        assert found["growth"]["weeks"] == 8
        assert 0.2 <= found["growth"]["iops_pct_a_day"] <= 0.6
        assert found["growth"]["headroom_pct"] > 1.1 * 20
        assert found["target"]["iops"] >= alone["target"]["iops"]
    assert remembering["logs-growing"]["target"]["iops"] > forgetting["logs-growing"]["target"]["iops"]
    assert remembering["orders-outgrown"]["action"] == "upgrade"


def test_a_job_whose_lower_ceiling_was_before_the_window_is_not_raised_again(runs):
    (remembering, _), (forgetting, _), _ = runs
    assert forgetting["nightly-export"]["action"] == "upgrade"
    assert remembering["nightly-export"]["action"] == "keep"


@pytest.mark.parametrize("name", ["backup-target", "always-calm", "events-growing"])
def test_what_the_window_has_seen_needs_no_memory(runs, name):
    (remembering, _), (forgetting, _), _ = runs
    assert remembering[name]["target"] == forgetting[name]["target"]
    assert remembering[name]["memory"]["event"] is None


def test_the_oracle_finds_the_same_hour_by_hour(runs):
    (remembering, _), _, fleet = runs
    answers = oracle_answers(fleet, Window.before(NOW, days=14), risk_pct=ANY_RISK_PCT)
    by_id = {one["volume_id"]: one for one in remembering.values()}
    assert answers.keys() == by_id.keys()
    others = {name: list(differences(by_id[name], one)) for name, one in answers.items()}
    assert not any(others.values()), others


def test_a_year_of_them_is_a_small_part_of_all_its_hours(runs):
    (_, remembering), (_, forgetting), fleet = runs
    retention_days = {300: 63, 3600: 455}
    segments = memory_segments(Window.before(NOW, days=14).start_s, 455, retention_days, NOW.timestamp())
    whole = 4 * sum(one.window.buckets(one.period_s) for one in segments)
    more = remembering["datapoints"] - forgetting["datapoints"]
    assert more <= 0.1 * whole * len(fleet.volumes)
    assert remembering["calls"] - forgetting["calls"] <= 100
