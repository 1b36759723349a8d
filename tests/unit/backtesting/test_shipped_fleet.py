"""What the shipped fleet shows: promises hold, and docs/backtest.md has the figures."""

import re
from pathlib import Path

import numpy as np
import pytest

from plimsoll.backtesting.fleet import Fleet
from plimsoll.backtesting.rules import LEARNED, MAX_AND_20
from plimsoll.backtesting.run import backtest, learned_scores
from plimsoll.learned_table import load_table
from tests.unit.backtesting.fleets import a_scenario

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "backtest.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    fleet = Fleet(ROOT / "benchmarks" / "fleets" / "bitbrains-rnd-250.npz", 32)
    scenario = a_scenario(times=(10.0, 40.0), memories_days=(30.0, 60.0), days=30.0, budget_min=15.0)
    return backtest(fleet, scenario, tmp_path_factory.mktemp("shipped"))


def test_every_promise_holds_and_one_in_ten_is_near(outcome):
    made = [one for one in outcome.reliability if one.observed_pct is not None]
    assert {(one.memory_days, one.times) for one in made} == {(m, t) for m in (30, 60) for t in (10, 40, None)}
    assert [one for one in made if not one.holds] == []
    tenth = [one for one in made if one.promised_pct == 10 and one.times is None]
    assert len(tenth) == 4
    assert max(one.observed_pct for one in tenth) <= 15


def test_a_long_memory_throttles_a_third_fewer_minutes_at_the_same_saving(outcome):
    found = [one for one in outcome.same_saving if (one.rule, one.other) == (LEARNED, MAX_AND_20)]
    assert len(found) == 4
    for one in found:
        assert one.throttled_minutes < one.other_throttled_minutes * (2 / 3 if one.memory_days == 60 else 1)


def test_the_page_has_these_figures(outcome):
    rows = re.findall(r"\| (learned|one factor) \| (\d+) days \| (\d+) % \| ([\d.]+) % \| (\d+) \| ([\d.]+) % \|", PAGE)
    assert len(rows) == 10
    for rule, memory, promised, observed, volumes, most in rows:
        one = next(
            one
            for one in outcome.reliability
            if (one.rule, one.memory_days, one.promised_pct, one.times) == (rule, int(memory), int(promised), None)
        )
        figures = f"{one.observed_pct:.1f}", str(one.volumes), f"{one.most_pct:.1f}"
        assert figures == (observed, volumes, most)
    pattern = r"\| (\d+) days \| times (\d+) \| ([\d.]+) % \| ([\d,]+) instead of ([\d,]+) \| (\d+) instead of (\d+) \|"
    same = re.findall(pattern, PAGE)
    assert len(same) == 4
    for memory, times, saving, *figures in same:
        one = next(
            one
            for one in outcome.same_saving
            if (one.rule, one.other, one.memory_days, one.times) == (LEARNED, MAX_AND_20, int(memory), int(times))
        )
        assert f"{one.saving_pct:.1f}" == saving
        assert [int(figure.replace(",", "")) for figure in figures] == [
            round(one.throttled_minutes),
            round(one.other_throttled_minutes),
            round(one.over_budget_volumes),
            one.other_over_budget_volumes,
        ]


def test_quiet_volumes_are_not_outgrown_more_often_than_what_they_are_left_promises(tmp_path):
    """Those that what is free carries with a fifth to spare, by the shipped table and the demand as it is, too."""
    fleet = Fleet(ROOT / "benchmarks" / "fleets" / "bitbrains-rnd-250.npz", 32)
    scenario = a_scenario(times=(1.0, 10.0, 40.0), memories_days=(14.0, 30.0), days=30.0, budget_min=15.0)
    for memory_days, scores in learned_scores(fleet, scenario, tmp_path).items():
        known = load_table().band(memory_days).known
        quiet = (scores.above_free * 1.2 <= 1) & (scores.of_present < 1)
        left = np.minimum(1 / np.maximum(scores.above_free[quiet], 1e-9), 50)
        promised, missed = np.array([known.promised_pct(one) or 100 for one in left]), scores.score[quiet] > 0
        levels = [level for level in np.unique(promised) if (promised == level).sum() >= 50]
        assert len(levels) >= 4
        for level in levels:
            assert 100 * missed[promised == level].mean() <= level
