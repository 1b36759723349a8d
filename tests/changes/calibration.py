"""Calibration: bets, levels and errors learned on placebos, and the thresholds that ship as plain values."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_change.bets import BET_STATES, BetTable, find_states, highest_of, play_bets, split_bands
from plimsoll_change.evidence import FACTOR_3, Deviations, own_spread, running_mean, weigh_restless
from plimsoll_change.thresholds import DAYS, SideThresholds, Thresholds, conformal_level
from plimsoll_change.watch import WEEK_H

ALARM_LEVELS: Final = (0.01, 0.05, 0.2)
LINES: Final = (1.25, 1.5, 2.0, 3.0, 6.0)
GROUP_LINES: Final = (1.1, 1.25, 1.5, 2.0)
GROUP_SIZES: Final = (3, 10, 30, 100)
DIGITS: Final = 4
PRIOR_HOURS: Final = 30.0
LEAST_CHANCE, MOST_CHANCE = 0.01, 0.98


def learn_bets(series: FloatArray, lines: tuple[float, ...]) -> BetTable:
    """Learns the chances of placebos, [volume, hour]: a week before the watch, then the watch. NaN: no evidence."""
    chances = np.empty((len(lines), int(np.prod(BET_STATES))))
    for place, line in enumerate(lines):
        above, state = find_states(series, line)
        known = ~np.isnan(series)
        known[..., :WEEK_H] = False
        hours = np.bincount(state[known], minlength=chances.shape[1])
        hits = np.bincount(state[known], weights=above[known], minlength=chances.shape[1])
        overall = hits.sum() / max(1, hours.sum())
        chances[place] = (hits + PRIOR_HOURS * overall) / (hours + PRIOR_HOURS)
    table = BetTable(lines=lines, chances=np.clip(chances, LEAST_CHANCE, MOST_CHANCE))
    highest = highest_of(play_bets(table, series))
    return BetTable(lines=lines, chances=table.chances, scale=max(1.0, float(np.quantile(highest, 0.98))))


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


def _learn_band_bets(mean: FloatArray, first_hour: int) -> BetTable:
    bands = split_bands(mean, first_hour)
    table = learn_bets(bands.reshape(-1, mean.shape[-1]), LINES)
    highest = highest_of(play_bets(replace(table, scale=1.0), bands).max(axis=-2))
    return replace(table, scale=max(1.0, float(np.quantile(highest, 0.98))))


def _high_quantile(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return max(0.01, float(np.quantile(known, 0.95))) if len(known) else math.nan


def write_thresholds(thresholds: Thresholds) -> dict[str, Any]:
    """The thresholds as the plain values that ship."""
    plain: dict[str, Any] = _as_plain(thresholds)
    return plain


def _as_plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _as_plain(getattr(value, each.name)) for each in fields(value) if each.name not in _OWN}
    match value:
        case np.ndarray():
            return np.round(value, DIGITS).tolist()
        case Mapping():
            return {str(level): _as_plain(share) for level, share in value.items()}
        case tuple():
            return [_as_plain(each) for each in value]
        case float():
            return round(value, DIGITS)
        case _:
            return value


_OWN: Final = {"own_weeks"}
"""The fields of an account's own, which do not ship."""
