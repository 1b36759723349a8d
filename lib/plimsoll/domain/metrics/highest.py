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
class HighestMinutes:
    """The highest minutes of each bucket of a demand."""

    most: FloatArray
    """No minute of the bucket was above this."""
    least: FloatArray
    """A minute of the bucket reached this; 0 if that is not known, or was in a bucket that was read."""
    disagrees: bool = False
    """The series is not used, and says nothing."""


def find_highest_minutes(
    side: Resource, knowledge: Knowledge, grid: Grid, rates: FloatArray, unread: BoolArray
) -> HighestMinutes | None:
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
    missing = _find_missing(knowledge.tracks[work_group], NAMES[work_group], unit, track, sums)
    at, firsts = grid.within(track.starts_s), grid.firsts(track.starts_s)
    absent = np.isnan(peaks)
    wrong = missing.work < -missing.tolerance
    wrong |= ~absent & (np.maximum.reduceat(rates, firsts) > zero_if_absent(peaks) + rounding + missing.rate)
    if wrong[track.starts_s + track.lengths_s <= knowledge.window.end_s - LATE_S].any():
        return HighestMinutes(most=np.full(len(rates), np.inf), least=np.zeros(len(rates)), disagrees=True)
    most = np.where(wrong | absent, np.inf, np.maximum(zero_if_absent(peaks) + rounding, missing.rate))
    read = np.maximum.reduceat(np.where(unread, 0.0, rates), firsts)
    least = np.where(missing.few & ~wrong, zero_if_absent(peaks) - rounding, 0.0)
    least[(least <= 0) | (read >= least)] = 0.0
    return HighestMinutes(most=most[at], least=_place_once(least, at, unread))


@dataclass(frozen=True, slots=True)
class _Missing:
    """The work that a series of rates lacks, by its buckets."""

    work: FloatArray
    rate: FloatArray
    """The missing work as the rate of one minute."""
    tolerance: FloatArray
    """The rounding that the sum may have."""
    few: BoolArray
    """Hardly any work is missing."""


def _find_missing(work: Track, names: tuple[str, ...], unit: float, track: Track, sums: FloatArray) -> _Missing:
    """The missing work over the spans that both have buckets for."""
    starts_s = np.intersect1d(work.starts_s, track.starts_s, assume_unique=True)
    of_rates, of_work = np.searchsorted(track.starts_s, starts_s), np.searchsorted(work.starts_s, starts_s)
    done = np.add.reduceat(sum(zero_if_absent(work.series[name]) for name in names) * unit, of_work)
    published = np.add.reduceat(zero_if_absent(sums), of_rates) * MINUTE_S
    lengths_s = np.add.reduceat(track.lengths_s, of_rates).astype(np.float64)
    rounding = 1.0 if unit == 1 else 1.0 / 1024
    span = np.repeat(np.arange(len(of_rates)), np.diff(np.append(of_rates, len(track.starts_s))))
    lacking = done - published
    return _Missing(
        work=lacking[span],
        rate=np.maximum(lacking, 0.0)[span] / MINUTE_S,
        tolerance=(rounding * lengths_s + 1e-6 * done)[span],
        few=(np.abs(lacking) <= COMPLETE * done)[span],
    )


def _place_once(least: FloatArray, at: IntArray, unread: BoolArray) -> FloatArray:
    """A figure of each bucket of the series, at the first bucket of the demand inside it that was not read."""
    once = np.zeros(len(at))
    places = np.flatnonzero(unread)
    if len(places):
        _, first = np.unique(at[places], return_index=True)
        once[places[first]] = least[at[places[first]]]
    return once
