"""Highest minutes: what a cloud's own series of rates says of the highest minute of a bucket that was not read finely.

Some clouds publish each minute's mean IOPS and throughput as a series of its own, so that the highest minute of a day
is one datapoint. It is held against the counters: the sum of the series, times a minute, is all the work of the bucket.
What is missing in that sum may have been done in one minute, so that no minute of the bucket had more than the highest
one published, or than all that is missing. Where the series has more than the counters, or a minute that was read had
more than it says, it is not the rate of these minutes, and is not used.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.metrics.grid import Grid
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.metrics.series import HIGHEST, NAMES, PER_UNIT, RATE_ROUNDING, WORK_OF
from plimsoll.domain.metrics.track import Track, zero_if_absent
from plimsoll.domain.units import HOUR_S, MINUTE_S

LATE_S: Final = 3 * HOUR_S
"""Points at the end of the window may still come in while it is read, so that one series can be ahead of the other."""

COMPLETE: Final = 0.01
"""The series is complete enough to say that some minute had its highest rate where it has all work but this share."""


@dataclass(frozen=True, slots=True)
class Highest:
    """Of each bucket of a demand: what no minute of it was above, and what some minute of it reached at least (0 where
    that is not known, or was in a bucket that was read). `disagrees`: the series is not used, and says nothing."""

    most: FloatArray
    least: FloatArray
    disagrees: bool = False


def highest(side: Resource, knowledge: Knowledge, grid: Grid, rates: FloatArray, unread: BoolArray) -> Highest | None:
    """The highest minutes of the buckets of a grid, by the published rates of a side; None where there are none.

    `rates` are the mean rates of the buckets, and `unread` those that could be read more finely.
    """
    group, work_group = HIGHEST[side], WORK_OF[side]
    if group not in knowledge.tracks:
        return None
    track, unit = knowledge.tracks[group], 1 / PER_UNIT[side]
    peaks, sums = (track.series[name] for name in NAMES[group])
    if np.isnan(peaks).all():
        return None
    rounding = RATE_ROUNDING[side]
    missing = _missing(knowledge.tracks[work_group], NAMES[work_group], unit, track, sums)
    at, firsts = grid.within(track.starts_s), grid.firsts(track.starts_s)
    absent = np.isnan(peaks)
    wrong = missing.work < -missing.tolerance
    wrong |= ~absent & (np.maximum.reduceat(rates, firsts) > zero_if_absent(peaks) + rounding + missing.rate)
    if wrong[track.starts_s + track.lengths_s <= knowledge.window.end_s - LATE_S].any():
        return Highest(most=np.full(len(rates), np.inf), least=np.zeros(len(rates)), disagrees=True)
    most = np.where(wrong | absent, np.inf, np.maximum(zero_if_absent(peaks) + rounding, missing.rate))
    read = np.maximum.reduceat(np.where(unread, 0.0, rates), firsts)
    least = np.where(missing.few & ~wrong, zero_if_absent(peaks) - rounding, 0.0)
    least[(least <= 0) | (read >= least)] = 0.0
    return Highest(most=most[at], least=_once(least, at, unread))


@dataclass(frozen=True, slots=True)
class _Missing:
    """Of each bucket of a series of rates: the work that its sum lacks, the rate that this would be in one minute,
    the rounding that the sum may have, and whether hardly any is missing."""

    work: FloatArray
    rate: FloatArray
    tolerance: FloatArray
    few: BoolArray


def _missing(work: Track, names: tuple[str, ...], unit: float, track: Track, sums: FloatArray) -> _Missing:
    """Told over the spans that both have buckets for."""
    starts_s = np.intersect1d(work.starts_s, track.starts_s, assume_unique=True)
    own, other = np.searchsorted(track.starts_s, starts_s), np.searchsorted(work.starts_s, starts_s)
    done = np.add.reduceat(sum(zero_if_absent(work.series[name]) for name in names) * unit, other)
    told = np.add.reduceat(zero_if_absent(sums), own) * MINUTE_S
    lengths_s = np.add.reduceat(track.lengths_s, own).astype(np.float64)
    rounding = 1.0 if unit == 1 else 1.0 / 1024
    span = np.repeat(np.arange(len(own)), np.diff(np.append(own, len(track.starts_s))))
    lacking = done - told
    return _Missing(
        work=lacking[span],
        rate=np.maximum(lacking, 0.0)[span] / MINUTE_S,
        tolerance=(rounding * lengths_s + 1e-6 * done)[span],
        few=(np.abs(lacking) <= COMPLETE * done)[span],
    )


def _once(least: FloatArray, at: IntArray, unread: BoolArray) -> FloatArray:
    """A figure of each bucket of the series, at the first bucket of the demand inside it that was not read."""
    found = np.zeros(len(at))
    places = np.flatnonzero(unread)
    if len(places):
        _, first = np.unique(at[places], return_index=True)
        found[places[first]] = least[at[places[first]]]
    return found
