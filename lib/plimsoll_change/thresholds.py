"""Thresholds: what whole weeks of unchanged volumes reach, shipped or learned from an account's own placebos.

A placebo is a volume's week in which nobody changed it, judged as if somebody had. T(a) is the ceil((1-a)(n+1))-th
smallest of the highest statistics that n placebos reach: then a change without effect is told worse with a chance of at
most a.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_change.bets import (
    LINES,
    BetTable,
    highest_of,
    learn_bets,
    play_bets,
    split_bands,
)
from plimsoll_change.evidence import (
    FACTOR_3,
    WEEK_H,
    Deviations,
    align,
    deviations_of,
    own_spread,
    running_mean,
    weigh_restless,
)
from plimsoll_change.watch import ChangeWatch

ALARM_LEVELS: Final = (0.01, 0.05, 0.2)
ENOUGH_PLACEBOS: Final = {0.01: 199, 0.05: 99, 0.2: 19}
LEAST_OF_SHIPPED: Final = 0.25
"""An account whose volumes never vary has no levels of zero: an hour that is a little slower would be worse there."""
DAYS: Final = 7
GROUP_SIZES: Final = (3, 10, 30, 100)
_DIGITS: Final = 4


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
    is_own: bool = False

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
    slack: FloatArray
    placebo_weeks: int
    observed_weeks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """All that a verdict is held against. `slack` is the error of a volume's mean after 1 to 7 days of evidence, in
    units of its own spread."""

    slower: SideThresholds
    faster: SideThresholds
    slack: FloatArray
    groups: tuple[GroupThresholds, ...]

    def group_of(self, members: int, *, has_controls: bool) -> GroupThresholds:
        """The row of the largest group that is no larger, and the smallest row for fewer members."""
        rows = [row for row in self.groups if row.has_controls is has_controls]
        fitting = [row for row in rows if row.size <= members] or rows[:1]
        return max(fitting, key=lambda row: row.size)


def conformal_level(highest: FloatArray, level: float) -> float:
    """The value that one more like these passes with a chance of at most `level`; the highest if they are too few."""
    ordered = np.sort(highest)
    place = math.ceil((1 - level) * (len(ordered) + 1))
    return float(ordered[min(place, len(ordered)) - 1])


def negate(deviations: Deviations) -> Deviations:
    """The same deviations the other way round: faster is above the lines."""
    return replace(deviations, mean=-deviations.mean, highest=-deviations.highest)


def learn_side(learned: Deviations, judged: Deviations, first_hour: int) -> SideThresholds:
    """Learns bets on some placebos, and levels on others. `first_hour` is that of the first deviation of all."""
    learned = weigh_restless(learned)
    side = SideThresholds(
        mean=learn_bets(learned.mean, LINES),
        highest=learn_bets(learned.highest, LINES),
        band=_learn_band_bets(learned.mean, first_hour),
        levels={},
        observed={},
        placebo_weeks=len(judged.mean),
        observed_weeks=0,
    )
    highest = highest_of(side.play(judged, first_hour))
    return replace(side, levels={level: conformal_level(highest, level) for level in ALARM_LEVELS})


def learn_slack(series: FloatArray) -> FloatArray:
    """The errors that the means after 1 to 7 days pass in 5 % of placebos, in units of spread.

    `series` are deviations, [placebo, hour], from a week before the watch on.
    """
    means, hours = running_mean(np.clip(series[..., WEEK_H:], -FACTOR_3, FACTOR_3))
    errors = np.full((len(series), DAYS), np.nan)
    for day in range(DAYS):
        reached = hours >= (day + 1) * 24
        rows = np.flatnonzero(reached.any(axis=-1))
        errors[rows, day] = -means[rows, np.argmax(reached[rows], axis=-1)]
    errors /= own_spread(series)
    if np.isnan(errors[:, 0]).all():
        return np.full(DAYS, np.inf)
    quantiles = np.array([_high_quantile(errors[:, day]) for day in range(DAYS)])
    quantiles = np.where(np.isnan(quantiles), np.nanmax(quantiles), quantiles)
    worst = np.where(np.isnan(errors), -np.inf, errors / quantiles).max(axis=-1)
    return np.asarray(quantiles * max(1.0, conformal_level(worst[np.isfinite(worst)], 0.05)))


def scale_of_members(members: FloatArray, table: BetTable) -> float:
    """The 98 % quantile of the highest mean bet of a group's members, [group, member, hour]."""
    highest = highest_of(play_bets(table, members).mean(axis=-2))
    return max(0.02, float(np.quantile(highest, 0.98)))


def own_thresholds(placebos: Sequence[ChangeWatch], shipped: Thresholds) -> Thresholds:
    """The thresholds of an account: its own levels from enough placebos, else the higher of both.

    Enough are 199 for 1 %, and 99 for 5 %. Placebos are watches of volumes, or of weeks, without a change.
    """
    if not placebos:
        return shipped
    return replace(
        shipped, slower=_own_side(placebos, shipped.slower, 1), faster=_own_side(placebos, shipped.faster, -1)
    )


def _own_side(placebos: Sequence[ChangeWatch], side: SideThresholds, sign: int) -> SideThresholds:
    highest = []
    for watch in placebos:
        signal, siblings = align(watch)
        deviations = deviations_of(signal, siblings)
        deviations = deviations if sign > 0 else negate(deviations)
        highest.append(float(highest_of(side.play(deviations, watch.requested_hour - WEEK_H))))
    reached = np.array(highest)
    levels = {}
    for level, shipped in side.levels.items():
        is_enough = len(reached) >= ENOUGH_PLACEBOS[level]
        learned = conformal_level(reached, level) if is_enough else max(shipped, float(reached.max()))
        levels[level] = max(learned, LEAST_OF_SHIPPED * shipped)
    is_own = len(reached) >= max(ENOUGH_PLACEBOS.values())
    return replace(side, levels=levels, placebo_weeks=len(reached), is_own=is_own)


def _learn_band_bets(mean: FloatArray, first_hour: int) -> BetTable:
    bands = split_bands(mean, first_hour)
    table = learn_bets(bands.reshape(-1, mean.shape[-1]), LINES)
    highest = highest_of(play_bets(replace(table, scale=1.0), bands).max(axis=-2))
    return replace(table, scale=max(1.0, float(np.quantile(highest, 0.98))))


def _high_quantile(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return max(0.01, float(np.quantile(known, 0.95))) if len(known) else math.nan


@cache
def shipped_thresholds() -> Thresholds:
    """The thresholds of the package, learned on public demand (docs/change.md)."""
    return read_thresholds(json.loads(files("plimsoll_change").joinpath("data/thresholds.json").read_text()))


def write_thresholds(thresholds: Thresholds) -> dict[str, Any]:
    """The thresholds as plain values."""
    return {
        "slower": _side_as_plain(thresholds.slower),
        "faster": _side_as_plain(thresholds.faster),
        "slack": _round(thresholds.slack),
        "groups": [
            {
                "size": row.size,
                "has_controls": row.has_controls,
                "mean": _table_as_plain(row.mean),
                "members_scale": round(row.members_scale, _DIGITS),
                "slack": _round(row.slack),
                **_levels_as_plain(row),
            }
            for row in thresholds.groups
        ],
    }


def read_thresholds(plain: Mapping[str, Any]) -> Thresholds:
    """The thresholds of plain values, as `write_thresholds` gives them."""
    return Thresholds(
        slower=_side_of_plain(plain["slower"]),
        faster=_side_of_plain(plain["faster"]),
        slack=np.array(plain["slack"]),
        groups=tuple(
            GroupThresholds(
                size=row["size"],
                has_controls=row["has_controls"],
                mean=_table_of_plain(row["mean"]),
                members_scale=row["members_scale"],
                slack=np.array(row["slack"]),
                **_levels_of_plain(row),
            )
            for row in plain["groups"]
        ),
    )


def _round(values: FloatArray) -> list[Any]:
    rounded: list[Any] = np.round(values, _DIGITS).tolist()
    return rounded


def _side_as_plain(side: SideThresholds) -> dict[str, Any]:
    tables = {name: _table_as_plain(getattr(side, name)) for name in ("mean", "highest", "band")}
    return {**tables, **_levels_as_plain(side)}


def _side_of_plain(plain: Mapping[str, Any]) -> SideThresholds:
    mean, highest, band = (_table_of_plain(plain[name]) for name in ("mean", "highest", "band"))
    return SideThresholds(mean=mean, highest=highest, band=band, **_levels_of_plain(plain))


def _levels_as_plain(row: SideThresholds | GroupThresholds) -> dict[str, Any]:
    return {
        "levels": {str(level): round(value, _DIGITS) for level, value in row.levels.items()},
        "observed": {str(level): round(value, _DIGITS) for level, value in row.observed.items()},
        "placebo_weeks": row.placebo_weeks,
        "observed_weeks": row.observed_weeks,
    }


def _levels_of_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "levels": {float(level): value for level, value in plain["levels"].items()},
        "observed": {float(level): value for level, value in plain["observed"].items()},
        "placebo_weeks": plain["placebo_weeks"],
        "observed_weeks": plain["observed_weeks"],
    }


def _table_as_plain(table: BetTable) -> dict[str, Any]:
    return {"lines": list(table.lines), "scale": round(table.scale, _DIGITS), "chances": _round(table.chances)}


def _table_of_plain(plain: Mapping[str, Any]) -> BetTable:
    return BetTable(lines=tuple(plain["lines"]), scale=plain["scale"], chances=np.array(plain["chances"]))
