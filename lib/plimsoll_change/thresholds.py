"""Thresholds: what whole weeks of unchanged volumes reach, shipped or learned from an account's own placebos.

A placebo is a volume's week in which nobody changed it, judged as if somebody had. T(a) is the ceil((1-a)(n+1))-th
smallest of the highest statistics that n placebos reach: then a change without effect is told worse with a chance of at
most a.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

import numpy as np
from pydantic import PlainValidator, TypeAdapter

from plimsoll.model.arrays import FloatArray
from plimsoll_change.bets import BetTable, highest_of, play_bets, split_bands
from plimsoll_change.evidence import Deviations, weigh_restless
from plimsoll_change.watch import OwnLevels

ENOUGH_PLACEBOS: Final = {0.01: 199, 0.05: 99, 0.2: 19}
LEAST_OF_SHIPPED: Final = 0.25
"""An account whose volumes never vary has no levels of zero: an hour that is a little slower would be worse there."""
DAYS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class SideThresholds:
    """The bets of one side, slower or faster, and the levels that placebos reach.

    `observed` are the shares of other placebos that reached them; None if nobody counted.
    """

    mean: BetTable
    highest: BetTable
    band: BetTable
    levels: Mapping[float, float]
    observed: Mapping[float, float]
    placebo_weeks: int
    observed_weeks: int
    own_weeks: int = 0

    def is_own(self, level: float) -> bool:
        """True if the account's own weeks are enough for a level."""
        return self.own_weeks >= ENOUGH_PLACEBOS[level]

    def play(self, deviations: Deviations, first_hour: int) -> FloatArray:
        """The statistic after each hour of the watch, [volume, hour]. `first_hour` (since the epoch) is that of the
        first deviation."""
        deviations = weigh_restless(deviations)
        bands = play_bets(self.band, split_bands(deviations.mean, first_hour)).max(axis=-2)
        mean, highest = play_bets(self.mean, deviations.mean), play_bets(self.highest, deviations.highest)
        return np.asarray(np.maximum.reduce([mean, highest, bands]))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupThresholds:
    """The bets and levels of groups of one size.

    `slack` is the error of the mean after 1 to 7 days of evidence, in units of its own spread.
    """

    size: int
    has_controls: bool
    mean: BetTable
    members_scale: float
    levels: Mapping[float, float]
    observed: Mapping[float, float]
    slack: Annotated[FloatArray, PlainValidator(np.array)]
    placebo_weeks: int
    observed_weeks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """All that a verdict is held against. `slack` is the error of a volume's mean after 1 to 7 days of evidence, in
    units of its own spread."""

    slower: SideThresholds
    faster: SideThresholds
    slack: Annotated[FloatArray, PlainValidator(np.array)]
    groups: tuple[GroupThresholds, ...]

    def group_of(self, members: int, *, has_controls: bool) -> GroupThresholds:
        """The row of the largest group that is no larger, and the smallest row for fewer members."""
        rows = [row for row in self.groups if row.has_controls is has_controls]
        fitting = [row for row in rows if row.size <= members] or rows[:1]
        return max(fitting, key=lambda row: row.size)


@cache
def shipped_thresholds() -> Thresholds:
    """The thresholds of the package, learned on public demand (docs/changes.md)."""
    return TypeAdapter(Thresholds).validate_json(files("plimsoll_change").joinpath("data/thresholds.json").read_bytes())


def conformal_level(highest: FloatArray, level: float) -> float:
    """The value that one more like these passes with a chance of at most `level`; the highest if they are too few."""
    ordered = np.sort(highest)
    place = math.ceil((1 - level) * (len(ordered) + 1))
    return float(ordered[min(place, len(ordered)) - 1])


def negate(deviations: Deviations) -> Deviations:
    """The same deviations the other way round: faster is above the lines."""
    return replace(deviations, mean=-deviations.mean, highest=-deviations.highest)


def learn_own_levels(placebos: Deviations, first_hour: int, shipped: Thresholds) -> OwnLevels:
    """The levels of an account's placebos, of those with evidence. `first_hour` is that of their first deviation."""
    at = ~np.isnan(placebos.watched_means).all(axis=-1)
    known = Deviations(mean=placebos.mean[at], highest=placebos.highest[at], is_busy=placebos.is_busy[at])
    slower = highest_of(shipped.slower.play(known, first_hour))
    faster = highest_of(shipped.faster.play(negate(known), first_hour))
    levels = tuple(ENOUGH_PLACEBOS) if at.any() else ()
    return OwnLevels(
        weeks=int(at.sum()),
        slower={level: conformal_level(slower, level) for level in levels},
        faster={level: conformal_level(faster, level) for level in levels},
    )


def own_thresholds(reached: OwnLevels, shipped: Thresholds) -> Thresholds:
    """The thresholds of an account: its own levels by enough weeks, else the larger of both."""
    slower = _own_side(reached.weeks, reached.slower, shipped.slower)
    return replace(shipped, slower=slower, faster=_own_side(reached.weeks, reached.faster, shipped.faster))


def _own_side(weeks: int, reached: Mapping[float, float], shipped: SideThresholds) -> SideThresholds:
    side = replace(shipped, own_weeks=weeks)
    least = {level: (LEAST_OF_SHIPPED if side.is_own(level) else 1.0) * value for level, value in side.levels.items()}
    return replace(side, levels={level: max(value, reached.get(level, 0.0)) for level, value in least.items()})
