"""Memory: the work of a volume before the window, as far as it speaks against a reduction (docs/decision.md, 8).

Every bucket that the cloud still keeps has a mean, and what the mean requires an offer has to carry. Days are read
first, so that a year is 365 datapoints a series. Of each bucket two rates are known: some bucket of the kept period
inside it had `least`, and none had more than `most`. What is chosen with `least` is the answer of the whole memory as
soon as it carries `most` as well: what is cheaper fails already, and more could only refuse more of it. An event is
what an offer would not have carried of it, by its date.

The past as it was received: doubts about series that lack points or disagree.

Reads and writes have a count in every bucket in which a volume was attached. Operations move bytes. A highest minute is
not below the mean of its day, nor nothing where something was done. What is read finely adds up to what was read
coarsely before. What disagrees, or is absent, is asked once more, and is disputed where it still disagrees: it may be
what speaks against a reduction.

The trend of a volume's days: the growth of its weekly work, and the days on which it did nothing.

(docs/decision.md, section 8.) The slope is that of Theil and Sen: the median over all pairs of weeks, which no single
week decides (Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63, 1968). Weeks are held
against one another only where the volume and its hosts were the same, but for what speaks against a reduction.

A day counts as idle if the cloud has points of it, and they are zero. What was not received proves nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import numpy as np

from plimsoll.demand.days import BusyHours, DaySums, busiest_of_spans, half_known, sums_by_day
from plimsoll.demand.demand import CountedRates
from plimsoll.demand.epochs import epochs_of
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import RESOURCES, Ceiling, Need
from plimsoll.model.policy import MOST_GROWTH_TIMES, Growth, Headroom, Policy
from plimsoll.model.series import BYTES, NAMES, OPERATIONS, PAST_RATES, PER_UNIT, RATE_ROUNDING, WORK_OF
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.model.volume import Volume
from plimsoll.reading.known import EXACT, FEW_IOPS, Look, buckets_without_series, find_spans, zero_if_absent
from plimsoll.reading.signals import fill_gaps
from plimsoll.reading.window import Doubt, Segment, Window


@dataclass(frozen=True, slots=True)
class Side:
    """The counters (`group`) of a rate, the `unit` that one of them is, and the `rounding` of its highest minute."""

    group: str
    unit: float
    rounding: float


SIDES: Final = tuple(Side(WORK_OF[side], 1 / PER_UNIT[side], RATE_ROUNDING[side]) for side in RESOURCES)
"""IOPS, and MiB/s."""

LEAST_PART: Final = 0.5
"""A highest minute that begins in one bucket and ends in the next has at least this part in one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The earlier knowledge of the buckets of a look.

    `highest` is the highest minute of each one's day, IOPS and MiB/s (NaN: not known). `counts` says which are asked
    for. `holder` is the bucket so far that each lies in, `held_s` how long that is, and `mean` what was read in it
    (NaN: nothing was).
    """

    highest: FloatArray
    counts: BoolArray
    holder: IntArray
    held_s: IntArray
    mean: FloatArray


def is_whole(series: Mapping[str, FloatArray], witness: Witness) -> bool:
    """No bucket that counts lacks a point of a series that is published."""
    return not any(bool((np.isnan(values) & witness.counts).any()) for values in series.values())


def find_past_doubts(look: Look, by_name: Mapping[str, FloatArray], witness: Witness) -> Iterator[Doubt]:
    """Yields the spans in which the series of a look disagree or lack points."""
    highest = witness.highest
    if PAST_RATES in look.groups:
        rates = [by_name.get(name, np.full(highest.shape[1], np.nan)) for name in NAMES[PAST_RATES]]
        for name, rate, other in zip(NAMES[PAST_RATES], rates, reversed(rates), strict=True):
            yield from _spans(name, look, np.isnan(rate) & ~np.isnan(other) & witness.counts)
        highest = np.stack(rates)
    if OPERATIONS not in look.groups:
        return
    yield from _absent(look, by_name, witness)
    for row, side in enumerate(SIDES):
        series = [by_name[name] for name in NAMES[side.group] if name in by_name]
        if not series:
            continue
        mean = np.sum([zero_if_absent(values) for values in series], axis=0) * side.unit / look.period_s
        above = mean > highest[row] * (1 + EXACT) + side.rounding
        yield from _spans(NAMES[PAST_RATES][row], look, above & witness.counts)
        finer = witness.held_s > look.period_s
        differs = np.abs(_combine_in_holder(np.add, mean, witness) - witness.mean[row]) > EXACT * (
            1 + witness.mean[row]
        )
        minutes = look.period_s / MINUTE_S * _combine_in_holder(np.maximum, mean, witness)
        lost = (witness.held_s >= DAY_S) & (minutes < LEAST_PART * highest[row] - side.rounding)
        yield from _spans(NAMES[side.group][0], look, ((finer & differs) | lost) & witness.counts)


def _absent(look: Look, series: Mapping[str, FloatArray], witness: Witness) -> Iterator[Doubt]:
    """Yields the spans in which a count is absent beside the other one, or operations and bytes disagree."""
    none = np.full(len(witness.counts), np.nan)
    counts = [series.get(name, none) for name in NAMES[OPERATIONS]]
    sizes = [series.get(name, none) for name in NAMES[BYTES]]
    for place, (name, bytes_name) in enumerate(zip(NAMES[OPERATIONS], NAMES[BYTES], strict=True)):
        ops, size = zero_if_absent(counts[place]), zero_if_absent(sizes[place])
        lone = np.isnan(counts[place]) & ~np.isnan(counts[1 - place])
        yield from _spans(name, look, (lone | ((size > 0) & (ops == 0))) & witness.counts)
        yield from _spans(bytes_name, look, (size == 0) & (ops > FEW_IOPS * look.period_s) & witness.counts)


def _combine_in_holder(add_up: np.ufunc, mean: FloatArray, witness: Witness) -> FloatArray:
    """The mean (np.add) or the highest (np.maximum) of all buckets that lie in the same bucket so far."""
    at = np.flatnonzero(np.diff(witness.holder, prepend=-1))
    counts = np.diff(np.append(at, len(mean)))
    totals = add_up.reduceat(mean, at)
    return np.repeat(totals / counts if add_up is np.add else totals, counts)


def _spans(series: str, look: Look, where: BoolArray) -> Iterator[Doubt]:
    starts_s = np.arange(look.window.start_s, look.window.end_s, look.period_s, dtype=np.int64)
    return find_spans(series, buckets_without_series(starts_s, np.full(len(starts_s), look.period_s)), where)


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
        """The number of days that have any point, as far as they were read."""
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
        """The facts so far that a look at the past is held against."""
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
        """Learns the operations and bytes of each day; nothing if the window is not of whole days."""
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


WEEKS: Final = 8
"""The last weeks that are held against one another."""

WEEK_DAYS: Final = 7

LEAST_WEEK_DAYS: Final = 6
"""A week with fewer known days does not count."""

LEAST_PAIRS: Final = 6
"""The pairs inside epochs that are looked at, as many as four weeks of one epoch have."""

LEAST_RISING_PAIRS: Final = 4

RISING_SHARE: Final = 0.8
"""Demand grows where so many pairs rise, and that share of those that rise or fall."""

RELIEF: Final = 1 / 3
"""The part of the days that relief keeps room for: it is asked for again in a week, while an outgrown reduction
throttles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idleness:
    """A volume that did nothing on its last `days` whole days (UTC), nor around the end of the last quarter.

    `quarter` is the last day of that quarter, None if the volume was made later.
    """

    days: int
    quarter: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weeks:
    """The weeks that count, oldest first: operations and bytes a day of each (two rows), its epoch and its number."""

    a_day: FloatArray
    epoch: IntArray
    number: IntArray


def find_weeks(days: DaySums, volume: Volume) -> Weeks:
    """Finds the last weeks, counted back from the last day.

    A week counts if one epoch has all of it, and it is known what the volume was in that.
    """
    window = Window(start_s=days.end_s - WEEKS * WEEK_DAYS * DAY_S, end_s=days.end_s)
    epochs = epochs_of(volume, window)
    weeks: list[tuple[FloatArray, int, int]] = []
    for number in range(WEEKS):
        start_s = window.start_s + number * WEEK_DAYS * DAY_S
        week = Window(start_s=start_s, end_s=start_s + WEEK_DAYS * DAY_S)
        inside = days.mark_whole_days(week)
        for place, epoch in enumerate(epochs):
            holds = epoch.window.start_s <= week.start_s and week.end_s <= epoch.window.end_s
            if holds and epoch.spec is not None and inside.sum() >= LEAST_WEEK_DAYS:
                weeks.append((days.totals[:, inside].mean(axis=1), place, number))
    return Weeks(
        a_day=np.array([a_day for a_day, _, _ in weeks]).reshape(-1, 2).T,
        epoch=np.array([place for _, place, _ in weeks], dtype=np.int64),
        number=np.array([number for _, _, number in weeks], dtype=np.int64),
    )


def find_growth(days: DaySums, volume: Volume, policy: Policy, *, reduces: bool = False) -> Growth | None:
    """Measures the growth of what a volume does; None if it does not grow, or the policy keeps no room for it.

    If it `reduces`, weeks of different epochs are held against one another too. What a raised limit has let through
    since counts as growth then, so that this may speak against less, and for nothing else.
    """
    weeks, ahead = find_weeks(days, volume), policy.growth_days * (1 if reduces else RELIEF)
    if reduces:
        weeks = replace(weeks, epoch=np.zeros_like(weeks.epoch))
    iops, throughput = (_slope_a_day(row, weeks) for row in weeks.a_day)
    fastest = max(iops, throughput)
    if not fastest or not policy.growth_days:
        return None
    return Growth(
        iops_pct_a_day=100 * math.expm1(iops),
        throughput_pct_a_day=100 * math.expm1(throughput),
        weeks=len(weeks.number),
        days=ahead,
        times=min(MOST_GROWTH_TIMES, math.exp(min(MOST_GROWTH_TIMES, fastest * ahead))),
    )


def _slope_a_day(a_day: FloatArray, weeks: Weeks) -> float:
    """The slope a day of a figure's logarithm; 0 if it does not grow."""
    positive = np.flatnonzero(a_day > 0)
    earlier, later = (positive[at] for at in np.triu_indices(len(positive), 1))
    same = weeks.epoch[earlier] == weeks.epoch[later]
    earlier, later = earlier[same], later[same]
    change = np.log(a_day[later] / a_day[earlier])
    rising, falling = int((change > 0).sum()), int((change < 0).sum())
    if len(change) < LEAST_PAIRS or rising < LEAST_RISING_PAIRS or rising < RISING_SHARE * (rising + falling):
        return 0.0
    return max(0.0, float(np.median(change / (WEEK_DAYS * (weeks.number[later] - weeks.number[earlier])))))


AROUND: Final = timedelta(days=5)
"""How long before and after the end of a quarter its work may be done."""


def days_to_know(window: Window, policy: Policy) -> Window:
    """The days before a window that have to be known: those of the policy, and the end of the last quarter."""
    end_s = window.end_s // DAY_S * DAY_S
    since_s = min(end_s - round(policy.idle_days) * DAY_S, _seconds(_last_quarter(end_s) - AROUND))
    return Window(start_s=min(since_s, window.start_s), end_s=window.start_s)


def find_idleness(volume: Volume, days: DaySums, window: Window, policy: Policy) -> Idleness | None:
    """Measures how long a volume has done nothing, the window included; None if less than the policy asks for.

    Days before those that have to be known count for nothing: they may be known by chance.
    """
    nothing = days.totals[0] == 0
    asked = (days.end_s - days_to_know(window, policy).start_s) // DAY_S
    count = min(asked, len(nothing) if nothing.all() else int(np.argmin(nothing[::-1])))
    if not count or count < policy.idle_days:
        return None
    quarter = _last_quarter(days.end_s)
    if volume.created.date() > quarter:
        return Idleness(days=count, quarter=None)
    around = (days.starts_s >= _seconds(quarter - AROUND)) & (days.starts_s <= _seconds(quarter + AROUND))
    whole = int(around.sum()) == 2 * AROUND.days + 1 or days.end_s <= _seconds(quarter + AROUND)
    made = days.starts_s + DAY_S > volume.created.timestamp()
    return Idleness(days=count, quarter=quarter) if whole and nothing[around & made].all() else None


def _last_quarter(end_s: int) -> date:
    """The last day of the last quarter that was over at a time."""
    today = datetime.fromtimestamp(end_s, UTC).date()
    return date(today.year, (today.month - 1) // 3 * 3 + 1, 1) - timedelta(days=1)


def _seconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
