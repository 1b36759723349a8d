"""What else could choose a volume's headroom: each way against "maximum of 14 days plus 20 %" at the same saving.

    python benchmarks/fleets/scales.py

Prints the throttled minutes, and the volumes with more than 15 of them, in the 30 days after a cut, by the code of
`plimsoll backtest`: at the last cut, and on average over all weekly cuts and four random halves of the fleet. Some
lines are no rules, and say where the difference lies:

- "the worst volume": what the other rule throttles of one volume.
- "under what is free": what the other rule throttles of volumes that asked for no more than what is free in their whole
  memory.
- "unused MiB/s taken too": the learned rule, if it took from frequently throttled volumes the throughput that they
  cannot use at their IOPS. It leaves them whole, since an audit raises them.
- "knows this cut": a model of the risk that was fitted to what came after this very cut.
- "hindsight": the fewest volumes that any lines could leave too long at this saving.

The last part says what the promise of 1 in 10 comes to if the scale goes by what volumes did lately as well.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from plimsoll.api.backtests import PRESENT, scenario_of
from plimsoll.backtesting.cuts import Known, clipped, known_at, scores_at, without_initial_load
from plimsoll.backtesting.earlier_cuts import Lessons, folds_of
from plimsoll.backtesting.fleet import Fleet
from plimsoll.backtesting.judging import judged_cuts
from plimsoll.backtesting.rules import LEARNED, MAX_AND_20, SHORT_DAYS, Shop, Sized, learned_sizes, sizes
from plimsoll.backtesting.scenario import Cut, Scenario
from plimsoll.backtesting.splits import spreads
from plimsoll.domain.metrics.knowledge import BoolArray, IntArray
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.risk.constant_limits import throttled
from plimsoll.domain.risk.scores import Scores, least_factors, standing, together
from plimsoll.domain.units import DAY_S

FLEET: Final = Path(__file__).with_name("bitbrains-rnd-250.npz")
TIMES: Final = (10.0, 40.0)
WEEK: Final = 7
LINES: Final = 40
"""The lines that a model of the risk chooses among, from what is free to what there is."""

OTHER_FOLDS: Final = 5
UNUSED: Final = "unused MiB/s taken too"
OTHER_VOLUMES: Final = "risk model, other volumes"
KNOWS: Final = "risk model, knows this cut"

Way = Callable[[float], FloatArray]
"""The factor of each volume at a level: the higher the level, the more headroom."""


class Trial:
    """One cut of the fleet at a scale of its demand."""

    def __init__(self, shop: Shop, cut: Cut, known: Known, period_s: int) -> None:
        self.shop, self.cut, self.known, self.period_s = shop, cut, known, period_s
        in_day, before = DAY_S // period_s, known.before
        self.days = before.reshape(*before.shape[:2], -1, in_day).max(axis=3)
        self.other = dict(sizes(known, shop, period_s))[MAX_AND_20]
        self.above_free, of_present = standing(known.histories.most, shop.scenario.free, shop.scenario.limits)
        self.all_used = 1 / np.maximum(of_present, 1e-9)
        """The factor with which a line is at what the volume can do, and no higher on the other side."""
        self._none_held = replace(known, held=np.zeros_like(known.held))

    @cached_property
    def scores(self) -> Scores:
        """What each volume that is not held would have needed."""
        return scores_at(self.cut, self.known, np.arange(len(self.days)), self.shop.scenario, self.period_s)

    @cached_property
    def usd_by_line(self) -> FloatArray:
        """USD a month of each volume at each line of `lines_of`."""
        return np.stack([self.sized(line / np.maximum(self.above_free, 1e-9)).usd_month for line in lines_of(self)], 1)

    def sized(self, factors: FloatArray) -> Sized:
        """What such factors make of the volumes; NaN leaves one as it is."""
        return learned_sizes(self._none_held, factors, self.shop)

    def saving(self, sized: Sized, who: BoolArray) -> float:
        """What it saves, of what some volumes cost."""
        now = self.shop.present[0]
        return float(1 - np.minimum(sized.usd_month, now)[self.known.judged & who].mean() / now)

    def minutes(self, sized: Sized) -> FloatArray:
        """The throttled minutes of each volume that is made cheaper."""
        cheaper = self.known.judged & (sized.usd_month < self.shop.present[0])
        found = np.zeros(len(cheaper))
        found[cheaper] = throttled(self.known.after[cheaper], sized.lines[cheaper], self.period_s)[0]
        return found

    def at(self, way: Way, saving: float, who: BoolArray) -> Sized:
        """The sizes of a way at the level that saves as much."""
        low, high = -12.0, 12.0
        for _ in range(22):
            middle = (low + high) / 2
            enough = self.saving(self.sized(way(middle)), who) >= saving
            low, high = (middle, high) if enough else (low, middle)
        return self.sized(way(low))

    def fewest(self, saving: float) -> int:
        """The fewest volumes that lines could leave too long that save as much, with those that are held as they are:
        the cheapest are carried first."""
        known, scenario, now = self.known, self.shop.scenario, self.shop.present[0]
        needed = least_factors(known.histories.most, known.after, scenario.free, self.period_s, scenario.budget_min)
        carried = np.minimum(self.sized(np.minimum(needed, self.all_used)).usd_month, now)[known.judged]
        least, held = self.sized(np.zeros(len(needed))).usd_month[known.judged], known.held[known.judged]
        left = (1 - saving) * now * len(carried) - np.where(held, now, least).sum()
        return int((np.cumsum(np.sort((carried - least)[~held])) > left + 1e-6).sum())


def share(figures: FloatArray, of: FloatArray) -> FloatArray:
    """What some figures (volumes, 2) are of the highest, on the side where that is more."""
    found: FloatArray = np.divide(figures, of, out=np.zeros_like(of), where=of > 0).max(axis=1)
    return np.maximum(found, 1 / 16)


def recent_share(days: FloatArray, lately: int) -> FloatArray:
    """The geometric mean of the highest day, the fourth highest and the highest of so many last ones, over the highest;
    `days` are the highest rate of each day, (volumes, 2, days)."""
    most, ordered = days.max(axis=2), np.sort(days, axis=2)
    return np.cbrt(share(ordered[:, :, -4], most) * share(days[:, :, -lately:].max(axis=2), most))


def usual_shares(trial: Trial) -> Mapping[str, FloatArray]:
    """What is usual for each volume, as it is learned, and by what it did lately as well."""
    days = trial.days
    return {
        "usual share, as learned": trial.known.histories.usual,
        "usual, last two weeks": recent_share(days, SHORT_DAYS),
        "usual, last quarter": recent_share(days, days.shape[2] // 4),
    }


def ways_of(trial: Trial) -> Mapping[str, Way]:
    """Each way to choose headroom by the past of a volume alone."""
    days, usual, above_free = trial.days, trial.known.histories.usual, np.maximum(trial.above_free, 1e-9)
    most, ordered = days.max(axis=2), np.sort(days, axis=2)
    weeks = days[:, :, days.shape[2] % WEEK :].reshape(*days.shape[:2], -1, WEEK)
    # A line that the past itself would have passed with 15 throttled minutes: all but the three highest buckets.
    within_budget = np.partition(trial.known.before, -4, axis=2)[:, :, -4]
    fourth, recent = share(ordered[:, :, -4], most), share(days[:, :, -SHORT_DAYS:].max(axis=2), most)
    scales = {
        "one factor": np.ones(len(days)),
        **usual_shares(trial),
        "fourth day, last two weeks": np.sqrt(fourth * recent),
        "fourth day": fourth,
        "same weekday, median": np.sqrt(share(np.median(weeks, axis=2).max(axis=2), most)),
        "fourth five minutes": share(within_budget, most),
        "less for busy volumes": usual * above_free**-0.3,
    }
    found: dict[str, Way] = {name: _scaled(scale) for name, scale in scales.items()}
    found["room, not a factor"] = lambda level: usual * np.exp(min(level, 0.0)) + np.expm1(max(level, 0.0)) / above_free
    found["cut whole or not at all"] = lambda level: np.where(np.exp(level) * usual * above_free > 1, np.nan, 0.0)
    held = trial.known.held
    kept = {name: _with_held(way, held, np.full(len(days), np.nan)) for name, way in found.items()}
    return kept | {UNUSED: _with_held(_scaled(usual), held, trial.all_used)}


def _with_held(way: Way, held: BoolArray, factors: FloatArray) -> Way:
    """A way with such factors for the volumes that are held."""
    return lambda level: np.where(held, factors, way(level))


def _scaled(scale: FloatArray) -> Way:
    return lambda level: np.exp(level) * scale


def lines_of(trial: Trial) -> FloatArray:
    """The lines that a model of the risk chooses among, in times what is free."""
    return np.geomspace(1.0, float((trial.shop.scenario.limits / trial.shop.scenario.free).max()), LINES)


def features(trial: Trial) -> FloatArray:
    """What a model knows of each volume at each line: (volumes, lines, features)."""
    days = (trial.days / trial.shop.scenario.free[:, None]).max(axis=1)
    lines, ordered = lines_of(trial), np.sort(days, axis=1)
    count = days.shape[1]
    levels = {
        "highest": ordered[:, -1],
        "second": ordered[:, -2],
        "fourth": ordered[:, -4],
        "two weeks": days[:, -SHORT_DAYS:].max(axis=1),
        "week": days[:, -WEEK:].max(axis=1),
        "median": np.median(days, axis=1),
    }
    over = {name: np.log(np.maximum(rate, 1e-6)[:, None] / lines) for name, rate in levels.items()}
    above, half = days[:, None] > lines[:, None], days[:, None] > lines[:, None] / 2
    since = np.where(half.any(axis=2), half[:, :, ::-1].argmax(axis=2), count)
    columns = [
        np.ones_like(over["highest"]),
        *(np.clip(one, -4.0, 2.0) for one in over.values()),
        # Whether a line is under what was done before matters more than by how much.
        *(np.clip(over[name], -0.3, 0.05) for name in ("highest", "fourth", "two weeks")),
        *(np.log1p(one.sum(axis=2)) / np.log1p(count) for one in (above, half)),
        np.log1p(since) / 3,
        np.broadcast_to(np.log(lines), over["highest"].shape),
    ]
    return np.stack(columns, axis=2)


@dataclass(frozen=True, slots=True)
class RiskModel:
    """A logistic regression: how likely a volume outgrows a line in the days after a cut."""

    weights: FloatArray

    @classmethod
    def fitted(cls, trials: Sequence[Trial], who: BoolArray) -> "RiskModel":
        """The model of what came after some cuts, of some volumes, by iteratively reweighted least squares."""
        known, outgrown = [], []
        for trial in trials:
            rows = trial.scores.only(who[trial.scores.volume])
            known.append(features(trial)[rows.volume].reshape(-1, features(trial).shape[2]))
            outgrown.append((rows.score * rows.above_free)[:, None] > lines_of(trial) * (1 + 1e-9))
        columns, missed = np.concatenate(known), np.concatenate([one.ravel() for one in outgrown]).astype(np.float64)
        weights, some = np.zeros(columns.shape[1]), 0.1 * LINES * np.eye(columns.shape[1])
        for _ in range(25):
            chance = _logistic(columns @ weights)
            slope = columns.T @ (missed - chance) - some @ weights
            weights = weights + np.linalg.solve((columns.T * (chance * (1 - chance))) @ columns + some, slope)
        return cls(weights)

    def risks(self, trial: Trial) -> FloatArray:
        """The risk of each volume at each line: no higher at a higher line, and none where there is no higher one."""
        found: FloatArray = np.minimum.accumulate(_logistic(features(trial) @ self.weights), axis=1)
        found[:, -1] = 0.0
        return found


def _logistic(figures: FloatArray) -> FloatArray:
    found: FloatArray = 1 / (1 + np.exp(-np.clip(figures, -30.0, 30.0)))
    return found


def by_risk(trial: Trial, risks: FloatArray) -> Way:
    """The line of each volume at which a dollar more would take less risk than the level is worth."""
    lines, above_free = lines_of(trial), np.maximum(trial.above_free, 1e-9)
    least = np.where(trial.known.held, np.nan, 1 / above_free)
    return lambda level: lines[(trial.usd_by_line + np.exp(level) * risks).argmin(axis=1)] * least


def models_of(trial: Trial, taught: Sequence[Trial], folds: IntArray) -> Mapping[str, Way]:
    """The models of the risk: of other volumes at some cuts, whatever came first, and of this cut."""
    risks = np.zeros((len(folds), LINES))
    for fold in range(OTHER_FOLDS):
        here = folds == fold
        risks[here] = RiskModel.fitted(taught, ~here).risks(trial)[here]
    knows = RiskModel.fitted([trial], np.ones(len(folds), dtype=bool)).risks(trial)
    return {OTHER_VOLUMES: by_risk(trial, risks), KNOWS: by_risk(trial, knows)}


def told(name: str, minutes: FloatArray) -> None:
    """Prints a row."""
    sys.stdout.write(f"  {name:28}{minutes.sum():>10,.0f} minutes{(minutes > 15).sum():>6} volumes too long\n")


def show_last(trial: Trial, ways: Mapping[str, Way], times: float) -> None:
    """Prints what each way does at a cut."""
    everyone, minutes = np.ones(len(trial.days), dtype=bool), trial.minutes(trial.other)
    saving = trial.saving(trial.other, everyone)
    sys.stdout.write(f"{trial.cut.memory_days:g} days, demand times {times:g}, saving {100 * saving:.1f} %\n")
    told(MAX_AND_20, minutes)
    told("  of these the worst volume", np.where(minutes == minutes.max(), minutes, 0.0))
    told("  of these under what is free", np.where(trial.above_free <= 1, minutes, 0.0))
    for name, way in ways.items():
        told(name, trial.minutes(trial.at(way, saving, everyone)))
    sys.stdout.write(f"  hindsight{trial.fewest(saving):>43} volumes too long\n")


def compared(trial: Trial, ways: Mapping[str, Way], halves: Sequence[BoolArray]) -> dict[str, list[FloatArray]]:
    """Of each way and each half: volumes too long, those of the other rule, and the minutes of both."""
    found: dict[str, list[FloatArray]] = {}
    other = trial.minutes(trial.other)
    for half in halves:
        saving = trial.saving(trial.other, half)
        for name, way in ways.items():
            pair = [minutes[half] for minutes in (trial.minutes(trial.at(way, saving, half)), other)]
            figures = [(one > 15).sum() for one in pair] + [one.sum() for one in pair]
            found.setdefault(name, []).append(np.array(figures, dtype=np.float64))
    return found


def show_all(found: Mapping[str, Sequence[FloatArray]]) -> None:
    """Prints how many times the other rule's volumes each way leaves too long, and how many times its minutes."""
    sys.stdout.write(
        'All weekly cuts and halves: times the volumes of "max of 14 days + 20 %", and times its minutes\n'
    )
    for name, figures in found.items():
        volumes, other, minutes, other_minutes = np.array(figures).T
        # An hour more on both sides: a cut with next to no throttled minutes does not decide the mean.
        times = np.exp(np.mean(np.log((minutes + 60) / (other_minutes + 60))))
        sys.stdout.write(f"  {name:28}{volumes.sum() / other.sum():>8.2f} volumes{times:>8.2f} minutes\n")


def show_promises(
    name: str, parts: Mapping[float, Sequence[Scores]], scenario: Scenario, cuts: Sequence[Cut], folds: IntArray
) -> None:
    """Prints what a promise of 1 in 10 comes to, learned from half of the fleet and judged by the other."""
    lessons = Lessons(
        scores={memory: together(found) for memory, found in parts.items()},
        cuts=cuts,
        days=scenario.days,
        folds=folds,
        levels_pct=(10.0,),
    )
    for one in spreads(lessons, judged_cuts(cuts, scenario), (10.0,)):
        if one.rule == LEARNED:
            sys.stdout.write(f"  {name:28}{one.memory_days:g} days: {one.mean_pct:.1f} % of volumes outgrew it\n")


def main() -> None:
    """Tries them all."""
    fleet = Fleet(FLEET, 32.0)
    period_s, rates = fleet.shape.period_s, np.concatenate([batch.rates for batch in fleet.batches()])
    scenario = scenario_of(
        present=PRESENT,
        to="gp3",
        region="us-east-1",
        times=(1.0,),
        memories_days=(30.0, 60.0),
        days=30.0,
        every_days=7.0,
        budget_min=15.0,
        io_kib=32.0,
        policy=None,
        prices=None,
    )
    shop, cuts = Shop(scenario), scenario.cuts(fleet.shape.buckets * period_s / DAY_S)
    folds, volumes = folds_of(fleet.shape.names, OTHER_FOLDS), len(rates)
    halves = [np.random.default_rng(seed).permutation(volumes) % 2 == side for seed in range(2) for side in range(2)]
    promised: dict[str, dict[float, list[Scores]]] = {}
    found: dict[str, list[FloatArray]] = {}
    for times in TIMES:
        let_through = clipped(rates * times, scenario)
        history = without_initial_load(let_through, scenario.policy, period_s)
        trials = [Trial(shop, cut, known_at(cut, let_through, history, scenario, period_s), period_s) for cut in cuts]
        taught = [one for one in trials if one.cut.memory_days == min(scenario.memories_days)]
        for trial in trials:
            memory_days = trial.cut.memory_days
            for name, usual in usual_shares(trial).items():
                scores = replace(trial.scores, usual=usual[trial.scores.volume])
                promised.setdefault(name, {}).setdefault(memory_days, []).append(scores)
            if memory_days not in scenario.memories_days:
                continue
            ways = {**ways_of(trial), **models_of(trial, taught, folds)}
            if trial.cut.day == cuts[-1].day:
                show_last(trial, ways, times)
            for name, figures in compared(trial, ways, halves).items():
                found.setdefault(name, []).extend(figures)
    show_all(found)
    sys.stdout.write("Observed where 10 % was promised, on average over ten random halvings\n")
    for name, parts in promised.items():
        show_promises(name, parts, scenario, cuts, folds)


if __name__ == "__main__":
    main()
