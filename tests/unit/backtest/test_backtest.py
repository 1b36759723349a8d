"""Backtests of small fleets: promises hold where past and future are alike, and nothing that is judged was learned."""

import gc
import json
import re
import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pytest

from plimsoll.model.errors import BadInput
from plimsoll.model.policy import MOST_FACTOR
from plimsoll.reports.charts.backtest_rules import tradeoff_spec
from plimsoll.reports.charts.theme import LIGHT
from plimsoll_backtest import run
from plimsoll_backtest.aims import targets_of
from plimsoll_backtest.findings import Reliability, SameSaving
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.judging import Tally, judged_cuts
from plimsoll_backtest.learn import learn
from plimsoll_backtest.other_cuts import LEAST_CUTS, folds_of, source_cuts
from plimsoll_backtest.page import outcome_page, picture_rows
from plimsoll_backtest.resampled import interpolate_saving, observed_pct, resample_fleets, spread_of, sums_of
from plimsoll_backtest.rules import CHANGE_OF_TYPE, DROP_IN, LEARNED, MAX_AND_20, ONE_FACTOR
from plimsoll_backtest.run import run_backtest
from plimsoll_backtest.scenario import Cut
from plimsoll_backtest.shown import rule_cells
from tests.unit.backtest.fleets import a_scenario, bursty, write_fleet
from tests.unit.reports.charts.valid import check


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backtest")
    fleet = Fleet(write_fleet(folder / "alike.npz", bursty(300, 56)), 32)
    return run_backtest(fleet, a_scenario(), folder / "kept")


def rule(outcome, name, promised_pct=None):
    return next(one for one in outcome.rules if (one.rule, one.promised_pct) == (name, promised_pct))


def test_promises_hold_where_weeks_are_alike(outcome):
    promised = [one for one in outcome.reliability if one.promised_pct in {5.0, 10.0, 20.0}]
    assert len(promised) == 6
    assert all(one.is_kept and one.volumes > 100 for one in promised)


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
    found = run_backtest(fleet, a_scenario(), tmp_path / "kept")
    for level_pct in (5.0, 10.0):
        one = rule(found, LEARNED, level_pct)
        assert one.throttled_minutes == 0
        # 3,000 IOPS above what is free cost $15 a month. Nothing is saved of the part that is used.
        assert one.saving_pct == pytest.approx(100 * (1 - 55 / 140), abs=1)


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    fleet = Fleet(write_fleet(tmp_path / "fleet.npz", bursty(30, 50)), 32)
    first = run_backtest(fleet, a_scenario(), tmp_path / "kept")
    monkeypatch.setattr(run, "knowledge_at", None)
    assert run_backtest(fleet, a_scenario(), tmp_path / "kept").as_json() == first.as_json()
    with pytest.raises(BadInput, match="something else"):
        run_backtest(fleet, a_scenario(times=(2.0,)), tmp_path / "kept")


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
    alone = run_backtest(Fleet(write_fleet(tmp_path / "one.npz", bursty(1, 50)), 32), a_scenario(), tmp_path / "one")
    assert all(one.observed_pct is None for one in alone.reliability)
    assert rule(alone, LEARNED, 5.0).reduced == 0
    with pytest.raises(BadInput, match=r"has 7\.0 days"):
        run_backtest(Fleet(write_fleet(tmp_path / "week.npz", bursty(5, 7)), 32), a_scenario(), tmp_path / "week")
    with pytest.raises(BadInput, match="too short to learn"):
        learn([Fleet(tmp_path / "week.npz", 32)], a_scenario(), tmp_path / "learned", on="2026-11-23", public=False)


def test_a_cut_is_learned_from_what_was_over_by_then_unless_all_of_that_overlaps():
    scenario = a_scenario(memories_days=(14.0, 28.0))
    cuts = scenario.cuts(91)
    assert {one.memory_days for one in cuts} == {7, 14, 28}
    assert judged_cuts(cuts, scenario) == [one for one in cuts if one.memory_days in {14, 28}]
    for cut in judged_cuts(cuts, scenario):
        source = source_cuts(cut, cuts, scenario.days)
        same = [one for one in cuts if one.memory_days == cut.memory_days and one.day != cut.day]
        over = [one for one in same if one.day + scenario.days <= cut.day]
        assert source == (over if len(over) >= LEAST_CUTS else same)  # they are as far apart as their days are long


def test_cuts_that_all_overlap_teach_each_other_and_a_shorter_memory_stands_in_where_one_has_too_few():
    scenario = a_scenario(memories_days=(14.0, 30.0, 60.0), days=30.0)
    cuts = scenario.cuts(92)
    found = {(cut.memory_days, cut.day): source_cuts(cut, cuts, 30.0) for cut in judged_cuts(cuts, scenario)}
    assert {memory: [day for one, day in found if one == memory] for memory in (14, 30, 60)} == {
        14: [20, 27, 34, 41, 48, 55, 62],
        30: [34, 41, 48, 55, 62],
        60: [62],
    }
    for (memory, day), source in found.items():
        assert {one.memory_days for one in source} == {min(memory, 30)}
        assert day not in {one.day for one in source}
        assert len(source) == {14: 6, 30: 4, 60: 4}[memory]
    alone = Cut(memory_days=7, day=7, number=0)
    assert source_cuts(alone, [alone], 7) == []


def test_folds_are_by_name_alone():
    names = [f"vol-{at}" for at in range(500)]
    found = dict(zip(names, folds_of(names, 5), strict=True))
    assert dict(zip(reversed(names), folds_of(names[::-1], 5), strict=True)) == found
    assert min(np.bincount(list(found.values()))) > 50


def a_tally(**sums) -> Tally:
    volumes = len(next(iter(sums.values())))
    return Tally(**{one.name: np.array(sums.get(one.name, np.zeros(volumes)), dtype=float) for one in fields(Tally)})


def test_resampled_fleets_show_what_one_drawn_by_hand_shows():
    rng = np.random.default_rng(4)
    minutes, then, counted = rng.integers(0, 99, 30), rng.uniform(1, 9, 30), rng.integers(0, 3, 30)
    tally = a_tally(
        minutes=minutes,
        usd_month_now=np.full(30, 10.0),
        usd_month_then=then,
        over_budget=minutes > 50,
        counted=counted,
        missed=np.minimum(counted, minutes > 80),
    )
    fleets = resample_fleets(30)
    assert (fleets.sum(axis=1) == 30).all()
    drawn = np.repeat(np.arange(30), fleets[7].astype(int))
    sums, there = sums_of(tally, fleets), drawn[counted[drawn] > 0]
    assert sums.minutes[7] == minutes[drawn].sum()
    assert sums.over_budget[7] == (minutes[drawn] > 50).sum()
    assert sums.saving_pct[7] == pytest.approx(100 * (1 - then[drawn].sum() / 300))
    shares = [min(counted[one], minutes[one] > 80) / counted[one] for one in there]
    assert observed_pct(tally, fleets)[7] == pytest.approx(100 * np.mean(shares))


def test_the_spread_is_what_chance_shows_of_the_mean_and_none_where_all_are_alike():
    draws = np.random.default_rng(2).binomial(1, 0.3, 400)
    spread = spread_of(observed_pct(a_tally(counted=np.ones(400), missed=draws), resample_fleets(400)))
    wide = 1.645 * np.sqrt(draws.mean() * (1 - draws.mean()) / 400)
    assert spread.low == pytest.approx(100 * (draws.mean() - wide), abs=1.2)
    assert spread.high == pytest.approx(100 * (draws.mean() + wide), abs=1.2)
    alike = spread_of(observed_pct(a_tally(counted=np.ones(50), missed=np.ones(50)), resample_fleets(50)))
    assert alike == (100, 100)


def test_between_two_levels_lies_what_saves_as_much_and_nothing_beyond_them():
    one = np.ones((1, 1))
    levels = [
        sums_of(a_tally(usd_month_now=[10], usd_month_then=[usd], minutes=[minutes], over_budget=[over]), one)
        for usd, minutes, over in ((5, 100, 4), (9, 0, 0))
    ]
    found = [interpolate_saving(levels, np.array([saving])) for saving in (11.0, 30.0, 49.0, 51.0, 9.0)]
    assert [(minutes[0], over[0]) for minutes, over in found[:3]] == [
        pytest.approx(figures) for figures in ((2.5, 0.1), (50, 2), (97.5, 3.9))
    ]
    assert all(np.isnan(minutes[0]) and np.isnan(over[0]) for minutes, over in found[3:])


def reliability(observed_pct, volumes) -> Reliability:
    return Reliability(
        rule=LEARNED,
        promised_pct=10.0,
        memory_days=30.0,
        times=None,
        volumes=volumes,
        observed_pct=observed_pct,
        low_pct=0.0,
        high_pct=99.0,
    )


@pytest.mark.parametrize(
    ("observed", "volumes", "verdict"),
    [
        (10.0, 40, "reached"),
        (2.5, 40, "reached"),
        (10.1, 100, "missed"),
        (2.4, 100, "missed"),
        (10.1, 39, "too few to tell"),
        (None, 0, "no promise"),
    ],
)
def test_a_promise_is_kept_by_no_more_than_it_and_no_less_than_a_quarter(observed, volumes, verdict):
    (target,) = targets_of([reliability(observed, volumes)], [])
    assert target.verdict == verdict


@pytest.mark.parametrize(("minutes_low", "verdict"), [(-1, "reached"), (0, "reached"), (1, "missed")])
def test_a_curve_may_lie_above_by_no_more_than_resampled_fleets_differ(minutes_low, verdict):
    same = SameSaving(
        rule=LEARNED,
        other=MAX_AND_20,
        memory_days=30.0,
        times=1.0,
        saving_pct=50.0,
        throttled_minutes=500,
        other_throttled_minutes=100.0,
        minutes_low=minutes_low,
        minutes_high=900,
        over_budget_volumes=3.0,
        other_over_budget_volumes=5,
        volumes_low=-4.0,
        volumes_high=-1.0,
        worst="vol-1",
        worst_minutes=400,
        other_worst_minutes=90.0,
    )
    assert [one.verdict for one in targets_of([], [same])] == [verdict, "reached"]
    assert targets_of([], [replace(same, rule=ONE_FACTOR), replace(same, other=DROP_IN)]) == []


def test_the_volume_with_most_minutes_is_named(tmp_path):
    """One volume is quiet for the two weeks that the other rule knows, and busy before and after."""
    rates = bursty(60, 50)
    rates[17] = 14_000.0
    rates[17, 29 * 24 : 43 * 24] = 10.0
    found = run_backtest(Fleet(write_fleet(tmp_path / "fleet.npz", rates), 32), a_scenario(), tmp_path / "kept")
    one = next(one for one in found.same_saving if (one.rule, one.other) == (LEARNED, MAX_AND_20))
    assert one.worst == "vol-0017"
    assert one.other_throttled_minutes >= one.other_worst_minutes >= 7 * 24 * 60
    assert one.minutes_low <= one.throttled_minutes - one.other_throttled_minutes <= one.minutes_high


def test_no_volume_is_cut_with_more_headroom_than_one_may_have_but_to_what_is_free(tmp_path, monkeypatch):
    rates = bursty(120, 50)
    rates[60:] /= 1000
    fleet = Fleet(write_fleet(tmp_path / "fleet.npz", rates), 32)
    found = []
    for most in (MOST_FACTOR, 1.0):
        monkeypatch.setattr("plimsoll_backtest.judging.MOST_FACTOR", most)
        outcome = run_backtest(fleet, a_scenario(), tmp_path / f"at most {most:g}")
        counted = next(one.volumes for one in outcome.reliability if (one.rule, one.promised_pct) == (ONE_FACTOR, 10.0))
        found.append((counted > 0, rule(outcome, ONE_FACTOR, 10.0).reduced / outcome.about["cuts_judged"]["14"]))
    assert found[0][0]
    assert found[0][1] > 60
    # Only the quiet ones then, which what is free carries many times.
    assert not found[1][0]
    assert 0 < found[1][1] <= 60


def test_memory_does_not_grow_with_the_fleet(tmp_path, monkeypatch):
    monkeypatch.setattr("plimsoll_backtest.fleet._BATCH_BYTES", 20 * 16 * 50 * 24)
    peaks = []
    for volumes in (40, 400):
        fleet = Fleet(write_fleet(tmp_path / f"{volumes}.npz", bursty(volumes, 50)), 32)
        assert fleet.batch_volumes == 20
        scenario = a_scenario(levels_pct=(5.0,))
        gc.collect()
        tracemalloc.start()
        for batch in fleet.batches():
            run._score_batch(batch, fleet, scenario)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]  # the demand of 360 volumes more would be three times as much
