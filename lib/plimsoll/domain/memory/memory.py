"""Memory: the work of a volume before the window, as far as it speaks against a reduction (docs/decision.md, 8).

Every bucket that the cloud still keeps has a mean, and what the mean requires an offer has to carry. Days are read
first, so that a year is 365 datapoints a series. Of each bucket two rates are known: some bucket of the kept period
inside it had `least`, and none had more than `most`. What is chosen with `least` is the answer of the whole memory as
soon as it carries `most` as well: what is cheaper fails already, and more could only refuse more of it. An event is
what an offer would not have carried of it, by its date.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import Ceiling, Need
from plimsoll.domain.demand.days import DaySums, sums_by_day
from plimsoll.domain.demand.rates import CountedRates
from plimsoll.domain.demand.trend import BusyHours, busiest_of_spans, half_known
from plimsoll.domain.headroom import Headroom
from plimsoll.domain.memory.past_received import SIDES, Witness, find_past_doubts, is_whole
from plimsoll.domain.metrics.series import NAMES, OPERATIONS, PAST_RATES
from plimsoll.domain.metrics.signals import fill_gaps
from plimsoll.domain.metrics.sums import Doubt, Segment, Window
from plimsoll.domain.metrics.track import Look, zero_if_absent
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.domain.volume import Volume

LEAST_MEMORY_PERIOD_S: Final = 300
"""The finest period of the memory. Minutes live one day longer than the usual window."""

BUDGET_DAYS: Final = 30
"""The days that a budget of throttled minutes is for."""

UNREAD_RATE: Final = 1e9
"""IOPS and MiB/s beyond what anything carries: the most of what was not read."""

ROUNDING_TOLERANCE: Final = 1e-6
"""What a requirement may be above a ceiling by rounding, as offers are judged."""

_COUNTERS: Final = tuple(side.group for side in SIDES)

_UNITS: Final = np.array([[side.unit] for side in SIDES])

_ROUNDED: Final = np.array([[side.rounding] for side in SIDES])


def memory_segments(
    before_s: int, memory_days: float, retention_days: Mapping[int, float], now_s: float
) -> tuple[Segment, ...]:
    """The memory before a window: whole days (UTC), oldest first, each part with the period that it is kept in.

    The window begins at `before_s` (epoch seconds). `retention_days` has the days for which data of each period (in
    seconds) lives.
    """
    segments: list[Segment] = []
    end_s, oldest_s = before_s // DAY_S * DAY_S, now_s - memory_days * DAY_S
    for period_s, days in sorted(retention_days.items()):
        if period_s >= LEAST_MEMORY_PERIOD_S:
            start_s = int(-(-max(oldest_s, now_s - days * DAY_S) // DAY_S)) * DAY_S
            if start_s < end_s:
                segments.append(Segment(window=Window(start_s=start_s, end_s=end_s), period_s=period_s))
                end_s = start_s
    return tuple(segments[::-1])


def clip_memory(volume: Volume, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The part of a memory in which the volume existed."""
    made_s = int(volume.created.timestamp()) // DAY_S * DAY_S
    return tuple(
        Segment(window=Window(start_s=start_s, end_s=segment.window.end_s), period_s=segment.period_s)
        for segment in segments
        if (start_s := max(made_s, segment.window.start_s)) < segment.window.end_s
    )


def memory_start_s(volume: Volume, policy: Policy, now_s: float) -> int:
    """The midnight (epoch seconds) from which the policy remembers a volume: not before it was filled."""
    return int(-(-max(policy.filled_s(volume.created), now_s - policy.memory_days * DAY_S) // DAY_S)) * DAY_S


class Past:
    """The known past of one volume before its window, in whole days (UTC), hours and five minutes.

    Nothing is learned of the days before it has `begun`, or on which it was `moved` to a host. `starts_s` is when each
    bucket begins, `lengths_s` how long it is, and `finest_s` the finest period that it is kept in. `highest` is the
    highest minute of each of `days_s`, `done` the operations and bytes of each, NaN where that is not known. `disputes`
    are what disagreed, asked twice.
    """

    __slots__ = (
        "_begun_s",
        "_doubted",
        "_out",
        "_read",
        "_seen",
        "_there",
        "days_s",
        "disputes",
        "done",
        "finest_s",
        "highest",
        "least",
        "lengths_s",
        "most",
        "segments",
        "starts_s",
    )

    def __init__(self, segments: Sequence[Segment], begun_s: int, moved_days_s: Sequence[int] = ()) -> None:
        self.segments, self._begun_s = tuple(segments), max(begun_s, segments[0].window.start_s)
        days_s = np.arange(self.window.start_s, self.window.end_s, DAY_S, dtype=np.int64)
        self.days_s = days_s
        self._out = np.isin(days_s, moved_days_s) | (days_s < self._begun_s)
        self.highest, self.done = np.full((2, len(days_s)), np.nan), np.full((2, len(days_s)), np.nan)
        self.starts_s, self.lengths_s = days_s, np.full(len(days_s), DAY_S, dtype=np.int64)
        self.finest_s = np.full(len(days_s), self.segments[-1].period_s, dtype=np.int64)
        for segment in reversed(self.segments[:-1]):
            self.finest_s[days_s < segment.window.end_s] = segment.period_s
        self._seen, self._read = np.zeros(len(days_s), dtype=np.bool_), np.zeros(len(days_s), dtype=np.bool_)
        self._there = np.zeros(len(days_s), dtype=np.bool_)
        self._doubted: dict[Look, Mapping[str, FloatArray]] = {}
        self.disputes: tuple[Doubt, ...] = ()
        self.least: CountedRates = np.zeros((2, len(days_s)))
        self.most: CountedRates = np.where(self._out, 0.0, np.full((2, len(days_s)), UNREAD_RATE))

    @property
    def window(self) -> Window:
        return Window(start_s=self.segments[0].window.start_s, end_s=self.segments[-1].window.end_s)

    @property
    def counted_window(self) -> Window:
        """The part of the window that counts."""
        return Window(start_s=self._begun_s, end_s=self.window.end_s)

    @property
    def day_sums(self) -> DaySums:
        """The operations and bytes of each day, as far as they were read."""
        return DaySums(start_s=self.window.start_s, totals=self.done)

    @property
    def days(self) -> int:
        """The number of days of which the cloud has any point, as far as they were read."""
        return int(self._seen.sum())

    def learn(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Takes in the series that a look found: those that the cloud publishes, NaN where it has no point.

        Series that disagree or lack points are `is_in_doubt` first, and are taken in when the same look was asked once
        more.
        """
        witness, before = self._witness(look), self._doubted.pop(look, None)
        series = series if before is None else fill_gaps(series, before)
        doubts = tuple(find_past_doubts(look, series, witness))
        if before is None and (doubts or not is_whole(series, witness)):
            self._doubted[look] = series
            return
        self.disputes += doubts
        if PAST_RATES in look.groups:
            self._learn_rates(look, series)
        if OPERATIONS in look.groups:
            self._learn_work(look, series)

    def is_in_doubt(self, look: Look) -> bool:
        """The look has to be asked once more: its series disagreed or lacked points."""
        return look in self._doubted

    def find_needs(self, headroom: Headroom, hosts: Ceiling, budget_min: float) -> tuple[Need, Need]:
        """The needs that an offer must carry for sure, and at most, whatever was not read.

        Each 30 days may throttle a budget of minutes.
        """
        sure_min = np.minimum(self.finest_s, self.lengths_s) / MINUTE_S
        return (
            self._need(self.least, sure_min, headroom, hosts, budget_min),
            self._need(self.most, self.lengths_s / MINUTE_S, headroom, hosts, budget_min),
        )

    def busiest(self, headroom: Headroom, hosts: Ceiling) -> Need:
        """The need of the highest known minutes, with headroom."""
        return _with_headroom(zero_if_absent(self.highest).max(axis=1, initial=0.0).tolist(), headroom, hosts)

    def busy_hours(self, from_s: int) -> BusyHours:
        """The busiest hours of the days from a midnight on; NaN if they were not read by the hour."""
        from_s = max(from_s, self.window.start_s)
        days = (self.window.end_s - from_s) // DAY_S
        short = (self.lengths_s <= HOUR_S) & self._read & (self.starts_s >= from_s)
        present = np.zeros(days * 24, dtype=np.bool_)
        present[(self.starts_s[short & self._there] - from_s) // HOUR_S] = True
        known = half_known(present.reshape(days, 24)) & ~self._out[len(self._out) - days :]
        begins_s, span_s = self.starts_s[short] - from_s, self.lengths_s[short]
        rows = [busiest_of_spans((begins_s, span_s, row[short] * span_s, row[short]), days)[0] for row in self.least]
        highest = np.where(known, np.stack(rows), np.nan)
        return BusyHours(start_s=from_s, least=highest, most=highest)

    def _day(self, times_s: Any) -> Any:
        """The number of the day that a time (epoch seconds) is in, or of each of an array of them."""
        return (times_s - self.window.start_s) // DAY_S

    def _witness(self, look: Look) -> Witness:
        starts_s = np.arange(look.window.start_s, look.window.end_s, look.period_s, dtype=np.int64)
        day, holder = self._day(starts_s), np.searchsorted(self.starts_s, starts_s, side="right") - 1
        return Witness(
            highest=self.highest[:, day],
            counts=~self._out[day],
            holder=holder,
            held_s=self.lengths_s[holder],
            mean=np.where(self._read[holder], self.least[:, holder], np.nan),
        )

    def _learn_rates(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Learns the highest minute of each day, if it is published: no bucket of that day was above it."""
        first = int(self._day(look.window.start_s))
        for row, name in enumerate(NAMES[PAST_RATES]):
            if (highest := series.get(name)) is not None:
                self.highest[row, first:] = np.where(self._out[first:], np.nan, highest)
        self._seen |= ~np.isnan(self.highest).all(axis=0)
        bound = (self.highest + _ROUNDED)[:, self._day(self.starts_s)]
        self.most = np.where(np.isnan(bound), self.most, np.maximum(self.least, np.minimum(self.most, bound)))

    def _learn_work(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Learns the work of consecutive buckets, in the place of the longer ones that they lie in."""
        period_s, start_s = look.period_s, look.window.start_s
        starts_s = np.arange(start_s, look.window.end_s, period_s, dtype=np.int64)
        day = self._day(starts_s)
        done = np.stack([_add_directions(series, group, len(starts_s)) for group in _COUNTERS])
        present = ~np.isnan(done).all(axis=0) & ~self._out[day]
        done = np.where(present, zero_if_absent(done), 0.0)
        self._learn_days(look.window, starts_s, done, present)
        rates = done * _UNITS / period_s
        holder = np.searchsorted(self.starts_s, starts_s, side="right") - 1
        finest_s = self.finest_s[holder]
        taken = self.lengths_s[holder] >= period_s
        most = np.minimum(rates * np.maximum(1.0, period_s / finest_s), np.maximum(rates, self.most[:, holder]))
        inside = (self.starts_s >= start_s) & (self.starts_s < look.window.end_s)
        kept = ~(inside & (self.lengths_s >= period_s))
        at = np.argsort(np.concatenate([self.starts_s[kept], starts_s[taken]]), kind="stable")
        lengths_s = np.full(int(taken.sum()), period_s, dtype=np.int64)
        self._there = np.concatenate([self._there[kept], present[taken]])[at]
        self.starts_s = np.concatenate([self.starts_s[kept], starts_s[taken]])[at]
        self.lengths_s = np.concatenate([self.lengths_s[kept], lengths_s])[at]
        self.finest_s = np.concatenate([self.finest_s[kept], finest_s[taken]])[at]
        self._read = np.concatenate([self._read[kept], np.ones(len(lengths_s), dtype=np.bool_)])[at]
        self.least = np.concatenate([self.least[:, kept], rates[:, taken]], axis=1)[:, at]
        self.most = np.concatenate([self.most[:, kept], most[:, taken]], axis=1)[:, at]
        self._seen[day[present]] = True

    def _learn_days(self, window: Window, starts_s: IntArray, done: CountedRates, present: BoolArray) -> None:
        """Learns the work of each day of which all was read."""
        if window.start_s % DAY_S or window.end_s % DAY_S:
            return
        first, last = self._day(window.start_s), self._day(window.end_s)
        self.done[:, first:last] = sums_by_day(window, [(starts_s, row, present) for row in done]).totals

    def _need(
        self, rates: CountedRates, minutes: FloatArray, headroom: Headroom, hosts: Ceiling, budget_min: float
    ) -> Need:
        """The need of the highest rates with headroom, less the minutes that each 30 days may be throttled."""
        block = (self.window.end_s - self.starts_s - 1) // (BUDGET_DAYS * DAY_S)
        highest = [_rate_over_budget(row, minutes, block, budget_min) for row in rates]
        return _with_headroom(highest, headroom, hosts)


def _with_headroom(highest: Sequence[float], headroom: Headroom, hosts: Ceiling) -> Need:
    return Need(
        iops=min(headroom.factor * highest[0], hosts.iops),
        throughput_mib_s=min(headroom.factor * highest[1], hosts.throughput_mib_s),
    )


def _add_directions(series: Mapping[str, FloatArray], group: str, buckets: int) -> FloatArray:
    """The work of reads and writes together, NaN where there is a point of neither."""
    reads, writes = (series.get(name, np.full(buckets, np.nan)) for name in NAMES[group])
    absent = np.isnan(reads) & np.isnan(writes)
    return np.where(absent, np.nan, zero_if_absent(reads) + zero_if_absent(writes))


def _rate_over_budget(rates: FloatArray, minutes: FloatArray, block: IntArray, budget_min: float) -> float:
    """The highest rate that a budget of minutes leaves in any block of 30 days.

    Without a budget it is the highest of all.
    """
    if budget_min <= 0:
        return float(rates.max(initial=0.0))
    highest = 0.0
    for number in np.unique(block):
        in_block, lasting = rates[block == number], minutes[block == number]
        order = np.argsort(-in_block, kind="stable")
        left = np.flatnonzero(np.cumsum(lasting[order]) > budget_min + ROUNDING_TOLERANCE)
        highest = max(highest, float(in_block[order][left[0]]) if len(left) else 0.0)
    return highest


_SIDES: Final = ("IOPS", "MiB/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Consecutive buckets of one day (UTC) that an offer would not have carried.

    `rate` is their highest mean on `side` ("IOPS" or "MiB/s"), `start_s` the first (epoch seconds) and `minutes` their
    length. `days` are the first seconds of all days with events.
    """

    side: str
    rate: float
    start_s: int
    minutes: float
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottledMinute:
    """A minute inside a longer bucket that an offer would have throttled. `likely`: it is estimated."""

    side: str
    rate: float
    day_s: int
    likely: bool


def find_event(past: Past, limits: Sequence[float]) -> Event | None:
    """Finds the highest event above the limits (IOPS and MiB/s), relative to its limit; None if none is sure."""
    over = past.least / np.maximum(make_column(limits), ROUNDING_TOLERANCE)
    if over.max(initial=0.0) <= 1:
        return None
    row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
    day, ends_s = past.starts_s // DAY_S, past.starts_s + past.lengths_s
    above = (over[row] > 1) & (day == day[at])
    apart = np.append(True, ~above[:-1] | (ends_s[:-1] != past.starts_s[1:]))
    first = int(np.flatnonzero(apart[: at + 1])[-1])
    breaks = np.flatnonzero(apart[at + 1 :] | ~above[at + 1 :])
    last = at + int(breaks[0]) if len(breaks) else len(above) - 1
    days = np.unique(day[(over > 1).any(axis=0)]) * DAY_S
    return Event(
        side=_SIDES[row],
        rate=float(past.least[row, at]),
        start_s=int(past.starts_s[first]),
        minutes=float(ends_s[last] - past.starts_s[first]) / MINUTE_S,
        days=tuple(days.tolist()),
    )


def find_busiest_minute(past: Past, limits: Sequence[float]) -> Event | None:
    """Finds the highest known minute, relative to its limit; None if none is above the limits (IOPS and MiB/s)."""
    over = zero_if_absent(past.highest) / np.maximum(make_column(limits), ROUNDING_TOLERANCE)
    if over.max(initial=0.0) <= 1:
        return None
    row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
    days_s = past.days_s[(over > 1).any(axis=0)]
    return Event(
        side=_SIDES[row],
        rate=float(past.highest[row, at]),
        start_s=int(past.days_s[at]),
        minutes=1.0,
        days=tuple(days_s.tolist()),
    )


def find_throttled_minute(
    past: Past, ceiling: Ceiling, present: Ceiling, ratios: Sequence[float]
) -> ThrottledMinute | None:
    """Finds the highest minute that a ceiling would have throttled, relative to that ceiling; None if there is none.

    It is known of days of which the cloud has the highest minute. Of others it is likely: `ratios` times the mean of a
    bucket, no more than all that was done in it in one minute, or than the `present` ceiling.
    """
    limits = np.array([[ceiling.iops], [ceiling.throughput_mib_s]])
    most = np.array([[present.iops], [present.throughput_mib_s]])
    bound = np.minimum(past.least * past.lengths_s / MINUTE_S, most)
    likely = np.minimum(past.least * make_column(ratios), bound)
    likely[~np.isnan(past.highest[:, (past.starts_s - past.window.start_s) // DAY_S])] = 0.0
    for rates, starts_s, estimated in (
        (zero_if_absent(past.highest), past.days_s, False),
        (likely, past.starts_s, True),
    ):
        over = rates / limits
        if over.max(initial=0.0) > 1 + ROUNDING_TOLERANCE:
            row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
            day_s = int(starts_s[at]) // DAY_S * DAY_S
            return ThrottledMinute(side=_SIDES[row], rate=float(rates[row, at]), day_s=day_s, likely=estimated)
    return None


def make_column(figures: Sequence[float]) -> CountedRates:
    """Turns a figure for IOPS and one for MiB/s into a column beside the two rows of rates."""
    return np.asarray(figures, dtype=np.float64)[:, np.newaxis]
