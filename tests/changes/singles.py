"""Verdicts on single volumes: false alarms on placebo weeks, and what is found of each kind of harm."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll_change.thresholds import Thresholds
from plimsoll_change.verdict import judge_hours
from tests.changes.latency import World
from tests.changes.learning import LEARNED_EACH, learn_thresholds, split_machines, with_evidence, world_of
from tests.changes.rivals import rank_alarm_hours, three_hour_alarms
from tests.changes.weeks import HARMS, UNCHANGED, join_weeks, starts, weeks_of, window_of

WORSE, HELD, DIRECT, NO_SLOWER, BETTER = "worse", "held", "stopped minutes", "no slower", "better"
CANNOT_TELL, RANKS, THREE_HOURS = "cannot tell", "ranks", "three hours"
RANKED: Final = (UNCHANGED, "latency x1.25", "latency x3")
"""Harms that the test of ranks is tried on: it is slow."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """How many of some weeks had a verdict, and after how many hours each."""

    weeks: int = 0
    hours: list[FloatArray] = field(default_factory=list)

    def count(self, alarms: BoolArray) -> None:
        """Adds weeks, [week, hour]."""
        self.weeks += len(alarms)
        self.hours.append(np.argmax(alarms, axis=-1)[alarms.any(axis=-1)] + 1.0)

    def count_hours(self, first: IntArray) -> None:
        """Adds weeks by the hour of their first alarm, 0 for none."""
        self.weeks += len(first)
        self.hours.append(first[first > 0].astype(np.float64))

    @property
    def share(self) -> float:
        return sum(len(hours) for hours in self.hours) / max(1, self.weeks)

    @property
    def median_hour(self) -> float:
        hours = np.concatenate(self.hours) if self.hours else np.empty(0)
        return float(np.median(hours)) if len(hours) else np.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOutcome:
    """The tallies of one split, by harm and verdict."""

    seed: int
    thresholds: Thresholds
    tallies: dict[tuple[str, str], Tally]


def judge_split(
    seed: int, harms: Iterable[str] = tuple(HARMS), *, starts_every_h: int = 96, learned_each: int = LEARNED_EACH
) -> SplitOutcome:
    """Learns from some machines and judges the weeks of others, unchanged and harmed."""
    rng = np.random.default_rng([3, seed])
    split = split_machines(seed)
    thresholds = learn_thresholds(split, rng, sizes=(), each=learned_each)
    world = world_of(split.judged, rng)
    tallies: dict[tuple[str, str], Tally] = {}
    for harm in harms:
        tallies |= _judge_harm(world, harm, thresholds, starts(every_h=starts_every_h))
    return SplitOutcome(seed=seed, thresholds=thresholds, tallies=tallies)


def _judge_harm(
    world: World, harm: str, thresholds: Thresholds, begins: Sequence[int] | IntArray
) -> dict[tuple[str, str], Tally]:
    lots = [weeks_of(world, int(begin), HARMS[harm]) for begin in begins]
    weeks = with_evidence(join_weeks(lots))
    hourly = judge_hours(weeks.deviations, weeks.stopped, weeks.budget, weeks.first_hour, thresholds)
    by_comparison = hourly.statistic >= thresholds.slower.levels[0.01]
    told = hourly.is_worse | hourly.is_better | hourly.is_no_slower
    never = ~told.any(axis=-1)
    tallies = {name: Tally() for name in (WORSE, HELD, DIRECT, NO_SLOWER, BETTER, CANNOT_TELL, THREE_HOURS)}
    tallies[WORSE].count(by_comparison if harm == UNCHANGED else hourly.is_worse)
    tallies[HELD].count((hourly.statistic >= thresholds.slower.levels[0.05]) | hourly.is_direct)
    tallies[DIRECT].count(hourly.is_direct)
    tallies[NO_SLOWER].count(hourly.is_no_slower)
    tallies[BETTER].count(hourly.is_better)
    tallies[CANNOT_TELL].count_hours(np.where(never, 168, 0))
    tallies[THREE_HOURS].count(three_hour_alarms(weeks.deviations.watched_means))
    if harm in RANKED:
        tallies[RANKS] = Tally()
        for begin, lot in zip(begins, lots, strict=True):
            latency, operations = window_of(world, int(begin), HARMS[harm])
            at = lot.has_evidence
            tallies[RANKS].count_hours(rank_alarm_hours(latency[at], operations[at]))
    return {(harm, name): tally for name, tally in tallies.items()}


def merge_tallies(outcomes: Sequence[SplitOutcome]) -> dict[tuple[str, str], Tally]:
    """The tallies of all splits together."""
    merged: dict[tuple[str, str], Tally] = {}
    for outcome in outcomes:
        for key, tally in outcome.tallies.items():
            whole = merged.setdefault(key, Tally())
            whole.weeks += tally.weeks
            whole.hours += tally.hours
    return merged
