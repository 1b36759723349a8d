"""Backtests of small fleets: promises hold where past and future are alike, and nothing that is judged was learned."""

import gc
import json
import re
import tracemalloc

import numpy as np
import pytest

from plimsoll.backtesting import run
from plimsoll.backtesting.earlier_cuts import LEAST_CUTS, folds_of, learned_from
from plimsoll.backtesting.fleet import Fleet
from plimsoll.backtesting.judging import judged_cuts
from plimsoll.backtesting.learn import learn
from plimsoll.backtesting.outcome import most_missed
from plimsoll.backtesting.page import outcome_page, picture_rows
from plimsoll.backtesting.rules import CHANGE_OF_TYPE, DROP_IN, LEARNED, MAX_AND_20, ONE_FACTOR
from plimsoll.backtesting.run import backtest
from plimsoll.backtesting.scenario import Cut
from plimsoll.backtesting.shown import rule_cells
from plimsoll.domain.errors import BadInput
from plimsoll.reports.charts.backtest_rules import tradeoff_spec
from plimsoll.reports.charts.theme import LIGHT
from tests.unit.backtesting.fleets import a_scenario, bursty, write_fleet
from tests.unit.reports.charts.valid import check


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backtest")
    fleet = Fleet(write_fleet(folder / "alike.npz", bursty(300, 56)), 32)
    return backtest(fleet, a_scenario(), folder / "kept")


def rule(outcome, name, promised_pct=None):
    return next(one for one in outcome.rules if (one.rule, one.promised_pct) == (name, promised_pct))


def test_promises_hold_where_weeks_are_alike(outcome):
    promised = [one for one in outcome.reliability if one.promised_pct in {5.0, 10.0, 20.0}]
    assert len(promised) == 6
    assert all(one.holds and one.volumes > 100 for one in promised)


def test_less_risk_saves_less_and_throttles_less(outcome):
    for name in (LEARNED, ONE_FACTOR):
        curve = [rule(outcome, name, level) for level in (2.0, 5.0, 10.0, 20.0, 50.0)]
        assert [one.saving_pct for one in curve] == sorted(one.saving_pct for one in curve)
        assert [one.throttled_minutes for one in curve] == sorted(one.throttled_minutes for one in curve)


def test_a_drop_in_throttles_nothing_and_a_bare_change_saves_most(outcome):
    assert rule(outcome, DROP_IN).throttled_minutes == 0
    assert rule(outcome, CHANGE_OF_TYPE).saving_pct == pytest.approx(100 * (1 - 40 / 140), abs=0.01)
    assert rule(outcome, CHANGE_OF_TYPE).throttled_minutes > rule(outcome, MAX_AND_20).throttled_minutes > 0


def test_a_constant_demand_is_never_throttled_and_needs_no_more_than_it_does(tmp_path):
    fleet = Fleet(write_fleet(tmp_path / "flat.npz", np.full((150, 40 * 24), 6_000.0)), 32)
    found = backtest(fleet, a_scenario(), tmp_path / "kept")
    for level_pct in (5.0, 10.0):
        one = rule(found, LEARNED, level_pct)
        assert one.throttled_minutes == 0
        # 3,000 IOPS above what is free cost $15 a month. Nothing is saved of the part that is used.
        assert one.saving_pct == pytest.approx(100 * (1 - 55 / 140), abs=1)


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    fleet = Fleet(write_fleet(tmp_path / "fleet.npz", bursty(30, 50)), 32)
    first = backtest(fleet, a_scenario(), tmp_path / "kept")
    monkeypatch.setattr(run, "known_at", None)
    assert backtest(fleet, a_scenario(), tmp_path / "kept").as_json() == first.as_json()
    with pytest.raises(BadInput, match="something else"):
        backtest(fleet, a_scenario(times=(2.0,)), tmp_path / "kept")


def test_the_outcome_is_plain_json(outcome):
    written = json.loads(json.dumps(outcome.as_json(), allow_nan=False))
    assert written["about"]["volumes"] == 300
    assert len(written["rules"]) == len(outcome.rules)


def test_the_page_has_every_figure_and_a_picture_of_each_memory(outcome):
    page = outcome_page(outcome)
    assert page.count("<svg") == 1
    for one in outcome.rules:
        for cell in rule_cells(one):
            assert f"<td>{cell}</td>" in page
    for one in outcome.reliability:
        if one.observed_pct is not None:
            assert f"<td>{one.observed_pct:.1f} %</td>" in page
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)


def test_the_picture_is_what_vega_lite_allows(outcome):
    rows = picture_rows(outcome.rules)
    assert {row["rule"] for row in rows if row["is_curve"]} == {LEARNED, ONE_FACTOR}
    check(tradeoff_spec(rows, LIGHT, 800, title="14 days of memory"))


def test_one_volume_promises_nothing_and_a_week_is_refused_in_words(tmp_path):
    alone = backtest(Fleet(write_fleet(tmp_path / "one.npz", bursty(1, 50)), 32), a_scenario(), tmp_path / "one")
    assert all(one.observed_pct is None for one in alone.reliability)
    assert rule(alone, LEARNED, 5.0).reduced == 0
    with pytest.raises(BadInput, match=r"has 7\.0 days"):
        backtest(Fleet(write_fleet(tmp_path / "week.npz", bursty(5, 7)), 32), a_scenario(), tmp_path / "week")
    with pytest.raises(BadInput, match="too short to learn"):
        learn([Fleet(tmp_path / "week.npz", 32)], a_scenario(), tmp_path / "learned", on="2026-11-23", public=False)


def test_a_cut_is_learned_from_what_was_over_by_then_with_the_longest_memory_that_has_enough():
    scenario = a_scenario(memories_days=(14.0, 28.0))
    cuts = scenario.cuts(91)
    assert {one.memory_days for one in cuts} == {7, 14, 28}
    judged = judged_cuts(cuts, scenario)
    assert {one.memory_days for one in judged} == {14, 28}
    for cut in judged:
        source = learned_from(cut, cuts, scenario.days)
        over = [one for one in cuts if one.day + scenario.days <= cut.day]
        assert len({one.memory_days for one in source}) == 1
        assert set(source) <= set(over)
        counts = {memory: sum(one.memory_days == memory for one in over) for memory in (7, 14, 28)}
        enough = [memory for memory, count in counts.items() if count >= LEAST_CUTS and memory <= cut.memory_days]
        assert source[0].memory_days == max(enough)
    assert [cut.day for cut in cuts if cut.memory_days == 14 and cut not in judged] == [14]
    assert learned_from(Cut(memory_days=7, day=7, number=0), cuts, 7) == []


def test_folds_are_by_name_alone():
    names = [f"vol-{at}" for at in range(500)]
    found = dict(zip(names, folds_of(names, 5), strict=True))
    assert dict(zip(reversed(names), folds_of(names[::-1], 5), strict=True)) == found
    assert min(np.bincount(list(found.values()))) > 50


@pytest.mark.parametrize(("volumes", "chance"), [(20, 0.05), (100, 0.01), (125, 0.1), (3, 0.5)])
def test_the_band_is_the_binomial_quantile(volumes, chance):
    draws = np.random.default_rng(5).binomial(volumes, chance, 400_000)
    assert most_missed(volumes, chance) == np.quantile(draws, 0.95)


def test_memory_does_not_grow_with_the_fleet(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll.backtesting.fleet._BATCH_BYTES", 20 * 16 * 50 * 24)
    peaks = []
    for volumes in (40, 400):
        fleet = Fleet(write_fleet(tmp_path / f"{volumes}.npz", bursty(volumes, 50)), 32)
        assert fleet.batch_volumes == 20
        scenario = a_scenario(levels_pct=(5.0,))
        gc.collect()
        tracemalloc.start()
        for batch in fleet.batches():
            run._scored(batch, fleet, scenario)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]  # the demand of 360 volumes more would be three times as much
