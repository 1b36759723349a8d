"""Days: what a volume did on each day (UTC), before its window and in it.

A cloud's sums add up, so that they are the same however finely a day was read.

Trend: whether what a volume does in its busiest hours rises so fast that a reduction would soon be outgrown.

Hours are compared, which no minute decides. The slope is that of Theil and Sen (lib/rule.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from plimsoll.demand.demand import ALL, Demand
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S, HOUR_S, MIB
from plimsoll.model.volume import Volume
from plimsoll.reading.window import Window

Totals = npt.NDArray[np.float64]
"""Two rows, operations and bytes, one column a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySums:
    """Operations and bytes of consecutive days from `start_s` on (a midnight in epoch seconds), NaN where not known."""

    start_s: int
    totals: Totals

    @property
    def end_s(self) -> int:
        """When the last day ends."""
        return self.start_s + len(self.totals[0]) * DAY_S

    @property
    def starts_s(self) -> IntArray:
        """When each day begins."""
        return np.arange(self.start_s, self.end_s, DAY_S, dtype=np.int64)

    @property
    def known_days(self) -> BoolArray:
        """The days that are known."""
        unknown: BoolArray = np.isnan(self.totals[0])
        return ~unknown

    def mark_whole_days(self, window: Window) -> BoolArray:
        """The known days that are wholly in a window."""
        inside, starts_s = self.known_days, self.starts_s
        inside &= starts_s >= window.start_s
        inside &= starts_s + DAY_S <= window.end_s
        return inside

    def append(self, later: "DaySums") -> "DaySums":
        """The days of this and of later sums, in one; the days between are not known."""
        between = np.full((2, (later.start_s - self.end_s) // DAY_S), np.nan)
        return DaySums(start_s=self.start_s, totals=np.concatenate([self.totals, between, later.totals], axis=1))

    def as_history(self, volume: Volume, policy: Policy) -> "DaySums":
        """The days that are the workload's own: neither those in which the volume was filled, nor a day on which it
        was attached to a host."""
        out = (self.starts_s < policy.filled_s(volume.created)) | np.isin(self.starts_s, days_of_moves(volume))
        return DaySums(start_s=self.start_s, totals=np.where(out, np.nan, self.totals))


def days_of_moves(volume: Volume) -> list[int]:
    """The days (their midnights in epoch seconds) on which a volume was attached to a host that it has now."""
    moved = [attachment.since for attachment in volume.attachments if not attachment.at_start]
    return [int(when.timestamp()) // DAY_S * DAY_S for when in moved]


def sums_by_day(window: Window, rows: Sequence[tuple[IntArray, FloatArray, BoolArray]]) -> DaySums:
    """The sums of the whole days of a window, of a row of operations and one of bytes.

    Each row has when its buckets begin (none lasts beyond its day), what was done in each, and whether the cloud has a
    point of it. A day without any point is not known.
    """
    start_s, end_s = -(-window.start_s // DAY_S) * DAY_S, window.end_s // DAY_S * DAY_S
    days = max(0, (end_s - start_s) // DAY_S)
    totals, seen = np.zeros((2, days)), np.zeros(days, dtype=np.bool_)
    for row, (starts_s, done, present) in enumerate(rows):
        inside = present & (starts_s >= start_s) & (starts_s < end_s)
        day = (starts_s[inside] - start_s) // DAY_S
        totals[row] = np.bincount(day, weights=done[inside], minlength=days)
        seen[day] = True
    return DaySums(start_s=start_s, totals=np.where(seen, totals, np.nan))


def sums_of_demand(demand: Demand) -> DaySums:
    """The days of a demand."""
    starts_s = demand.starts_s
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), starts_s.shape)
    window = Window(start_s=int(starts_s[0]), end_s=int(starts_s[-1] + lengths_s[-1]))
    done = demand.rates[:, ALL] * np.array([[1], [MIB]]) * lengths_s
    return sums_by_day(window, [(starts_s, row, demand.observed) for row in done])


LONG_DAYS: Final = 14

SHORT_DAYS: Final = 7

EARLIER_DAYS: Final = 56
"""A line of 7 days is held against those that ended up to so many days before."""

AUDIT_DAYS: Final = 7
"""An audit is taken to be made every week."""

LEAST_KNOWN: Final = 6
"""Of 7 earlier days so many have to be known."""

LEAST_RISING: Final = 4

RISING: Final = 0.6
"""So many pairs of days rise, and that share of those that rise or fall."""

SAME: Final = 0.02
"""Days that differ by that share of the highest neither rise nor fall."""

ROUNDING: Final = 1e-9
"""Lines and limits that differ by that share are the same."""

USUAL_TIMES: Final = 1.2
"""The headroom of 20 % that the rule was tried with."""

Rows = npt.NDArray[np.float64]
"""Two rows, IOPS and MiB/s, one column a day."""


class Rise(Enum):
    """The verdicts of a trend on an offer: carried, outgrown, or a thing to read first."""

    CARRIED = auto()
    OUTGROWN = auto()
    IN_HOURS = auto()
    IN_PEAK = auto()
    IN_EARLIER_DAYS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyHours:
    """The mean of the busiest hour of each day (UTC), at least and at most; NaN where less than half is known."""

    start_s: int
    least: Rows
    most: Rows

    @property
    def end_s(self) -> int:
        """When the last day ends."""
        return self.start_s + len(self.least[0]) * DAY_S

    def last(self, days: int) -> tuple[Rows, Rows]:
        """The same of the last days."""
        return self.least[:, -days:], self.most[:, -days:]


NEVER: Final = BusyHours(start_s=0, least=np.zeros((2, 0)), most=np.zeros((2, 0)))
"""No day before the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """The figures that an offer's rise is judged by, each for IOPS and MiB/s.

    `offer` is the offer's ceiling, infinite where it is no less than today's. `least_peak` and `most_peak` are the
    least and the most that the demand's peak can be.
    """

    offer: Sequence[float]
    least_peak: Sequence[float]
    most_peak: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The trend of a volume's busiest hours, by the days of its window and those before it (`earlier`; None: not read).

    `look_days` is how far it is followed, `times` the headroom on it.
    """

    days: BusyHours
    earlier: BusyHours | None
    look_days: float
    times: float

    def judge(self, ceilings: Ceilings) -> Rise:
        """The verdict on an offer: the worse of its two sides. OUTGROWN goes before what is still to be read."""
        verdicts = {self._judge_side(side, ceilings) for side in (0, 1)}
        order = (Rise.OUTGROWN, Rise.IN_HOURS, Rise.IN_EARLIER_DAYS, Rise.IN_PEAK)
        return next((rise for rise in order if rise in verdicts), Rise.CARRIED)

    def reach(self, side: int) -> float:
        """The factor on the highest busiest hour of two weeks that the trend reaches; 0 without a rise.

        All hours of these days must be known. `side` is 0 for IOPS, 1 for MiB/s.
        """
        days = self.days.least[side, -LONG_DAYS:]
        slow, fast = slope(days), slope(days[-SHORT_DAYS:])
        return self._reach(days, days, max(slow, 0.0 if self._was_as_steep(side, fast) else fast))

    def _judge_side(self, side: int, ceilings: Ceilings) -> Rise:
        """The verdict on one side of an offer: carried if even the steepest line stays under the limit."""
        limit, low, high = (figures[side] for figures in (ceilings.offer, ceilings.least_peak, ceilings.most_peak))
        least, most = (rows[side] for rows in self.days.last(LONG_DAYS))
        if self.times * high * self._reach(least, most, steepest(least, most)) <= limit:
            return Rise.CARRIED
        if not np.array_equal(least, most, equal_nan=True):
            return Rise.IN_HOURS
        slow, fast = slope(least), slope(least[-SHORT_DAYS:])
        by_slow, by_fast = (self.times * self._reach(least, least, rise) for rise in (slow, max(slow, fast)))
        if by_slow * low > limit:
            return Rise.OUTGROWN
        if by_fast > by_slow and self._was_as_steep(side, fast):
            by_fast = by_slow
        elif by_fast > by_slow and self.earlier is None and by_fast * high > limit:
            return Rise.IN_EARLIER_DAYS
        if by_fast * high <= limit:
            return Rise.CARRIED
        return Rise.OUTGROWN if by_fast * low > limit else Rise.IN_PEAK

    def _reach(self, least: FloatArray, most: FloatArray, rise: float) -> float:
        """The factor on the highest busiest hour that a rise a day reaches in the days to look at; 0 without a rise."""
        last, highest = _highest(most[-SHORT_DAYS:]), _highest(least)
        return (last + rise * self.look_days) / highest if rise > 0 and highest > 0 else 0.0

    def _was_as_steep(self, side: int, fast: float) -> bool:
        """True if any earlier 7 days rose as fast."""
        days = self.days.least[side]
        if self.earlier is not None:
            days = np.concatenate([self.earlier.least[side], days])
        for ago in range(SHORT_DAYS, EARLIER_DAYS + 1):
            week = days[max(0, len(days) - ago - SHORT_DAYS) : max(0, len(days) - ago)]
            if (~np.isnan(week)).sum() >= LEAST_KNOWN and slope(week) >= fast * (1 - ROUNDING):
                return True
        return False


@dataclass(frozen=True, slots=True)
class Trends:
    """The trends of one volume, kept for its cases that differ in memory and risk alone.

    Keys are by identity, so that each value holds what its key names.
    """

    days: dict[int, tuple[BusyHours, Demand]] = field(default_factory=dict)
    rises: dict[tuple[Ceiling, float, int, int], tuple[Rise, Demand, BusyHours | None]] = field(default_factory=dict)


def slope(days: FloatArray) -> float:
    """The rise of a figure a day: the median over all pairs of known days. 0 if it falls, or too few pairs rise."""
    known = np.flatnonzero(~np.isnan(days))
    if len(known) < 2:
        return 0.0
    earlier, later = (known[at] for at in _pairs(len(known)))
    change, same = days[later] - days[earlier], SAME * _highest(days)
    rising, falling = int((change > same).sum()), int((change < -same).sum())
    if rising < LEAST_RISING or rising < RISING * (rising + falling):
        return 0.0
    return max(0.0, _median(change / (later - earlier)))


def steepest(least: FloatArray, most: FloatArray) -> float:
    """The most that any line through the last days can rise by, whatever their hours had."""
    return max(_steepest(least[-days:], most[-days:]) for days in (LONG_DAYS, SHORT_DAYS))


def _steepest(least: FloatArray, most: FloatArray) -> float:
    """The steepest rise a day: the median over all pairs, from the earlier day's least to the later day's most.

    0 if it falls, or with fewer than two known days.
    """
    known = np.flatnonzero(~np.isnan(least))
    if len(known) < 2:
        return 0.0
    earlier, later = (known[at] for at in _pairs(len(known)))
    return max(0.0, _median((most[later] - least[earlier]) / (later - earlier)))


@cache
def _pairs(count: int) -> tuple[IntArray, IntArray]:
    """The places of the earlier and of the later day of each pair of `count` days."""
    earlier, later = np.triu_indices(count, 1)
    return earlier, later


def _median(figures: FloatArray) -> float:
    """The median of some figures, none of them NaN: for so few, most of np.median's time is its checks."""
    ranked = np.sort(figures)
    return float((ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2)


def _highest(days: FloatArray) -> float:
    known = days[~np.isnan(days)]
    return float(known.max(initial=0.0))


def busy_hours(demand: Demand, counts_from_s: float, held_back: BoolArray) -> BusyHours:
    """The busiest hours of the whole days of a demand that begin at `counts_from_s` or later.

    NaN for a day of which less than half is known, and for one with `held_back` buckets: a limit that was raised since
    held demand back in them.
    """
    start_s = -(-demand.start_s // DAY_S) * DAY_S
    days = max(0, (demand.start_s + demand.window_s) // DAY_S - start_s // DAY_S)
    begins_s = demand.starts_s - start_s
    rows = [_side(demand, begins_s, days, side) for side in (0, 1)]
    observed = observed_hours(demand)[(start_s - demand.start_s) // HOUR_S :][: days * 24].reshape(days, 24)
    starts_s = start_s + DAY_S * np.arange(days)
    out = ~half_known(observed) | (starts_s < counts_from_s)
    out |= np.isin(np.arange(days), begins_s[held_back] // DAY_S)
    least, most = (np.where(out, np.nan, np.stack([row[place] for row in rows])) for place in (0, 1))
    return BusyHours(start_s=start_s, least=least, most=most)


def _side(demand: Demand, begins_s: IntArray, days: int, side: int) -> tuple[FloatArray, FloatArray]:
    """The least and the most that the busiest hour of each day had of operations, or of MiB."""
    done, most = demand.rates[side, ALL] * demand.lengths_s, demand.most[side, ALL]
    span_s = np.broadcast_to(np.asarray(demand.lengths_s), done.shape)
    if demand.spread is not None:
        firsts = np.flatnonzero(demand.spread.begins[side])
        begins_s, most = begins_s[firsts], np.maximum.reduceat(most, firsts)
        done, span_s = np.add.reduceat(done, firsts), np.add.reduceat(span_s, firsts)
    return busiest_of_spans((begins_s, span_s, done, most), days)


def busiest_of_spans(
    spans: tuple[IntArray, IntArray, FloatArray, FloatArray], days: int
) -> tuple[FloatArray, FloatArray]:
    """The busiest hour of each day, at least and at most, from spans in order; figures a second.

    A span is when it begins (seconds after the first day), its length, what was done in it and the highest rate in it.
    It is not known in which hour the work of a span longer than an hour was done.
    """
    first, end = np.searchsorted(spans[0], (0, days * DAY_S))
    begins_s, span_s, done, most = (part[first:end] for part in spans)
    long = np.flatnonzero(span_s > HOUR_S)
    by_hours = done if len(long) == 0 else np.where(span_s > HOUR_S, 0.0, done)
    hours = np.bincount(begins_s // HOUR_S, weights=by_hours, minlength=days * 24)[: days * 24] / HOUR_S
    least = hours.reshape(days, 24).max(axis=1, initial=0.0)
    highest = least.copy()
    for at in long[done[long] > 0]:
        first, last = int(begins_s[at] // DAY_S), int((begins_s[at] + span_s[at] - 1) // DAY_S)
        for day in range(first, min(last, days - 1) + 1):
            least[day] = max(least[day], done[at] / span_s[at] if first == last else 0.0)
            highest[day] = max(highest[day], min(most[at], done[at] / HOUR_S))
    return least, highest


def half_known(hours: BoolArray) -> BoolArray:
    """Marks the days whose 24 hours (columns) are known by half or more."""
    marked: BoolArray = hours.sum(axis=1) >= 12
    return marked


def observed_hours(demand: Demand) -> BoolArray:
    """Marks the clock hours of a demand's window that have an observed bucket."""
    starts_s, zero = demand.starts_s, demand.start_s // HOUR_S
    ends_s = starts_s + np.broadcast_to(np.asarray(demand.lengths_s), starts_s.shape)
    edges = np.zeros(int(-(-int(ends_s[-1]) // HOUR_S)) - zero + 1, dtype=np.int64)
    np.add.at(edges, starts_s[demand.observed] // HOUR_S - zero, 1)
    np.add.at(edges, -(-ends_s[demand.observed] // HOUR_S) - zero, -1)
    observed: BoolArray = np.cumsum(edges[:-1]) > 0
    return observed
