"""A small version of `make changes`: one split, few weeks, and the promises within what so few can show."""

from typing import Final

import numpy as np
import pytest

from plimsoll_change.bets import LINES, highest_of, learn_bets, play_bets
from plimsoll_change.evidence import PAST_H, WEEK_H
from plimsoll_change.thresholds import (
    conformal_level,
    own_thresholds,
    read_thresholds,
    shipped_thresholds,
    write_thresholds,
)
from plimsoll_change.watch import ChangeWatch, HourlySignal
from tests.canary.test_published import SEVEN_OF_TEN
from tests.canary.watches import REQUESTED_HOUR
from tests.changes.latency import World
from tests.changes.learning import split_machines, with_evidence, world_of
from tests.changes.page import PAGE, QUOTE, quote_figures, read_figures
from tests.changes.rivals import is_higher_by_ranks
from tests.changes.rollouts import PLOTS, roll_out
from tests.changes.singles import DIRECT, HELD, NO_SLOWER, WORSE, judge_split
from tests.changes.waves import SCENES, judge_waves
from tests.changes.weeks import HARMS, UNCHANGED, join_weeks, starts, weeks_of

STOPPED_HARD: Final = "busiest 1 % of minutes stopped"


@pytest.fixture(scope="module")
def world() -> World:
    """Machines of one split."""
    return world_of(split_machines(0).judged[:56], np.random.default_rng(6))


def test_harm_is_found_more_often_the_greater_it_is_and_placebos_rarely() -> None:
    kinds = (UNCHANGED, "latency x1.25", "latency x2", STOPPED_HARD)
    tallies = judge_split(0, kinds, starts_every_h=WEEK_H, learned_each=1).tallies
    shares = [tallies[kind, WORSE].share for kind in kinds]
    assert shares[0] <= 0.04 < shares[1] < shares[2]
    assert tallies[UNCHANGED, HELD].share <= 0.12
    assert tallies[STOPPED_HARD, DIRECT].share > 0.8
    assert tallies["latency x2", NO_SLOWER].share < 0.05 < tallies[UNCHANGED, NO_SLOWER].share


def test_the_test_of_ranks_passes_the_published_canary_that_the_rule_calls_worse() -> None:
    """And calls it worse with one more hour, as the comment in kayenta#780 found."""
    eight_of_ten = [100.0] * 8 + [1.0] * 2
    assert not is_higher_by_ranks(np.ones(10), np.array(SEVEN_OF_TEN))
    assert is_higher_by_ranks(np.ones(10), np.array(eight_of_ten))


def test_a_hold_back_keeps_a_release_from_holding_harmless_waves() -> None:
    scene = "harmless, and a release x1.3"
    with_it, without = judge_waves(0, sizes=(10,), scenes=(scene,), learned_each=1)
    assert with_it.held / with_it.groups + 0.1 < without.held / without.groups


@pytest.mark.release
@pytest.mark.parametrize("plot", ["harmless", "all x1.25"])
def test_a_rollout_ends_harmless_changes_and_stops_harmful_ones(plot: str) -> None:
    outcome = roll_out(0, plot, shipped_thresholds(), split_machines(0).judged)
    assert outcome.stopped is (plot == "all x1.25")


def test_bets_on_what_was_learned_from_reach_their_scale_in_two_of_a_hundred(world: World) -> None:
    weeks = with_evidence(join_weeks([weeks_of(world, int(begin)) for begin in starts(every_h=WEEK_H)]))
    table = learn_bets(weeks.deviations.mean, LINES)
    highest = highest_of(play_bets(table, weeks.deviations.mean))
    assert np.mean(highest > 1.0) == pytest.approx(0.02, abs=0.01)
    assert np.all(np.diff(table.chances.mean(axis=1)) < 0)


def test_no_hour_above_a_line_never_makes_capital() -> None:
    quiet = np.zeros((3, WEEK_H + 48))
    table = shipped_thresholds().slower.mean
    assert np.all(np.diff(play_bets(table, quiet), axis=-1) <= 0)


def test_hours_without_evidence_change_nothing() -> None:
    series = np.zeros((1, WEEK_H + 48))
    series[:, WEEK_H : WEEK_H + 10] = np.log(2.0)
    series[:, WEEK_H + 10 :] = np.nan
    played = play_bets(shipped_thresholds().slower.mean, series)
    assert np.ptp(played[0, 9:]) == 0
    assert played[0, 9] > played[0, 0] > 0


@pytest.mark.parametrize(("count", "level", "place"), [(199, 0.01, 198), (99, 0.05, 95), (50, 0.01, 50)])
def test_the_level_is_a_conformal_quantile(count: int, level: float, place: int) -> None:
    assert conformal_level(np.random.default_rng(0).permutation(count) + 1.0, level) == place


def test_thresholds_survive_being_written() -> None:
    shipped = shipped_thresholds()
    again = read_thresholds(write_thresholds(shipped))
    assert write_thresholds(again) == write_thresholds(shipped)


def a_placebo(noise: float, seed: int) -> ChangeWatch:
    hours = PAST_H + WEEK_H
    latency = np.random.default_rng(seed).lognormal(0, noise, hours)
    signal = HourlySignal(mean_latency_us=latency, highest_latency_us=latency, operations=np.full(hours, 5000.0))
    return ChangeWatch(
        volume_id=f"vol-{seed}",
        start_hour=REQUESTED_HOUR - PAST_H,
        requested_hour=REQUESTED_HOUR,
        completed_hour=REQUESTED_HOUR,
        signal=signal,
        stopped_minutes=np.zeros(hours),
        budget_minutes=15.0,
    )


@pytest.mark.parametrize(
    ("count", "is_own", "lower"), [(199, True, (0.01, 0.05)), (99, False, (0.05,)), (20, False, ())]
)
def test_an_account_with_enough_quiet_weeks_has_lower_levels_of_its_own(
    count: int, is_own: bool, lower: tuple[float, ...]
) -> None:
    shipped = shipped_thresholds()
    own = own_thresholds([a_placebo(0.05, seed) for seed in range(count)], shipped).slower
    assert own.is_own is is_own
    for level in (0.01, 0.05):
        assert (own.levels[level] < shipped.slower.levels[level]) is (level in lower)
    assert own_thresholds([], shipped) is shipped


def test_the_page_has_every_harm_scene_and_plot_of_its_measurements() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in (*HARMS, *SCENES, *PLOTS):
        assert f"| {name} |" in page
    assert f"| {100 * shipped_thresholds().slower.observed[0.01]:.2f} % |" in page


def test_the_guide_quotes_the_figures_of_the_page() -> None:
    assert read_figures(QUOTE) == quote_figures(read_figures(PAGE))
