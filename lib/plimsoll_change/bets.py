"""Bets: capital that grows where hours lie above a line more often than in weeks without a change.

For each line a gambler stakes a share f of the capital on the next hour with evidence being above it. The chance p of
that was learned on placebos for the gambler's state: whether the last hour was above, how many hours of the last 24
have evidence, and which share of them was above. Capital becomes 1 + f(1-p)/p times itself, or 1 - f times. The
statistic is the logarithm of the average capital over lines and stakes.

This is no test by itself: hours are no independent witnesses, so its threshold is the highest value that whole weeks of
unchanged volumes reach (`plimsoll_change.thresholds`).
"""

from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from pydantic import PlainValidator

from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll_change.watch import WEEK_H

BET_STAKES: Final = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7])
DAY_H: Final = 24
BANDS: Final = 6
BAND_H: Final = DAY_H // BANDS

_KNOWN_EDGES: Final = np.array([1, 3, 7, 16])  # hours of the last 24: none, 1-2, 3-6, 7-15, 16-24
_SHARE_EDGES: Final = np.array([1e-9, 0.25, 0.5, 0.75])
BET_STATES: Final = (2, len(_KNOWN_EDGES) + 1, len(_SHARE_EDGES) + 1)
_CHUNK: Final = 512
"""Series that are played at once: memory stays small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BetTable:
    """The chances of an hour above each line, [line, state], as learned on volumes that were not changed."""

    lines: tuple[float, ...]
    chances: Annotated[FloatArray, PlainValidator(np.array)]
    scale: float = 1.0  # the 98 % quantile of the highest statistic on the volumes that it was learned on


def play_bets(table: BetTable, series: FloatArray) -> FloatArray:
    """The statistic after each hour of the watch, in units of the table's scale, [..., hour]."""
    rows = series.reshape(-1, series.shape[-1])
    parts = [_play(table, rows[first : first + _CHUNK]) for first in range(0, len(rows), _CHUNK)]
    hours = series.shape[-1] - WEEK_H
    played = np.concatenate(parts) if parts else np.empty((0, hours))
    return np.asarray((played / table.scale).reshape(*series.shape[:-1], hours))


def highest_of(statistic: FloatArray) -> FloatArray:
    """The highest value that a statistic reached; 0 for a watch without hours."""
    return np.asarray(np.max(statistic, axis=-1, initial=0.0))


def split_bands(series: FloatArray, first_hour: int) -> FloatArray:
    """The series by 4-hour bands of the day, [..., band, hour]: NaN outside of the band."""
    band = (first_hour + np.arange(series.shape[-1])) % DAY_H // BAND_H
    inside = band == np.arange(BANDS)[:, np.newaxis]
    return np.where(inside, series[..., np.newaxis, :], np.nan)


def _play(table: BetTable, series: FloatArray) -> FloatArray:
    known = ~np.isnan(series[..., WEEK_H:])
    capitals = np.zeros((len(table.lines) * len(BET_STAKES), *known.shape))
    for place, line in enumerate(table.lines):
        above, state = find_states(series, line)
        chance = table.chances[place][state[..., WEEK_H:]]
        for number, stake in enumerate(BET_STAKES):
            won = np.log1p(stake * (1 - chance) / chance)
            growth = np.where(above[..., WEEK_H:] > 0, won, np.log1p(-stake))
            at = place * len(BET_STAKES) + number
            np.cumsum(np.where(known, growth, 0.0), axis=-1, out=capitals[at])
    most = capitals.max(axis=0)
    return np.asarray(most + np.log(np.exp(capitals - most).mean(axis=0)))


def find_states(series: FloatArray, line: float) -> tuple[FloatArray, IntArray]:
    """Marks the hours above a line, 1.0 there, and gives the gambler's state before each hour."""
    known = ~np.isnan(series)
    with np.errstate(invalid="ignore"):
        above = (series > np.log(line)).astype(np.float64)
    hours, hits = _count_last_day(known.astype(np.float64)), _count_last_day(above)
    place = np.where(known, np.arange(series.shape[-1]), -1)
    latest = np.maximum.accumulate(place, axis=-1)
    before = np.concatenate([np.full((*place.shape[:-1], 1), -1), latest[..., :-1]], axis=-1)
    last = np.where(before >= 0, np.take_along_axis(above, np.maximum(before, 0), axis=-1), 0.0)
    share = np.divide(hits, hours, out=np.zeros_like(hits), where=hours > 0)
    by_known = np.searchsorted(_KNOWN_EDGES, hours, side="right")
    by_share = np.searchsorted(_SHARE_EDGES, share, side="right")
    state = (last.astype(np.int64) * BET_STATES[1] + by_known) * BET_STATES[2] + by_share
    return above, state


def _count_last_day(counts: FloatArray) -> FloatArray:
    """The sum over the 24 hours before each hour."""
    total = np.cumsum(counts, axis=-1)
    before = np.concatenate([np.zeros((*counts.shape[:-1], 1)), total[..., :-1]], axis=-1)
    earlier = np.concatenate([np.zeros((*counts.shape[:-1], DAY_H)), before[..., :-DAY_H]], axis=-1)
    return np.asarray(before - earlier)
