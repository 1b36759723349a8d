"""Memory: what a volume did before the window, as far as it speaks against a reduction (docs/decision.md, section 8).

Every bucket that the cloud still keeps has a mean, and what the mean requires an offer has to carry. Days are read
first, so that a year is 365 datapoints a series. Of each bucket two rates are known: some bucket of the kept period
inside it had `least`, and none had more than `most`. What is chosen with `least` is the answer of the whole memory as
soon as it carries `most` as well: what is cheaper fails already, and more could only refuse more of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.highest import ROUNDING
from plimsoll.domain.knowledge import (
    BYTES,
    HIGHEST_IOPS,
    HIGHEST_THROUGHPUT,
    OPERATIONS,
    PAST_RATES,
    SERIES,
    Doubt,
    IntArray,
    Look,
    counted,
)
from plimsoll.domain.need import Need
from plimsoll.domain.past_received import Witness, is_whole, past_doubts
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.query_cost import QueryCost
from plimsoll.domain.signals import filled
from plimsoll.domain.sums import Segment, Window
from plimsoll.domain.units import DAY_S, HOUR_S, MIB, MINUTE_S
from plimsoll.domain.volume import Volume

LEAST_PERIOD_S: Final = 300
"""The finest period of the memory. Minutes live one day longer than the usual window."""

BUDGET_DAYS: Final = 30
"""The days that a budget of throttled minutes is for."""

FIRST_DAYS: Final = 8
"""The days that are read by the hour first."""

UNREAD: Final = 1e9
"""IOPS and MiB/s beyond what anything carries: the most of what was not read."""

TOLERANCE: Final = 1e-6
"""What a requirement may be above a ceiling by rounding, as offers are judged."""

Rates = npt.NDArray[np.float64]
"""Two rows, IOPS and MiB/s, one column a bucket."""

_COUNTERS: Final = ((OPERATIONS, 1.0), (BYTES, 1.0 / MIB))
_ROUNDED: Final = np.array([[ROUNDING[HIGHEST_IOPS]], [ROUNDING[HIGHEST_THROUGHPUT]]])
_SIDES: Final = ("IOPS", "MiB/s")


def memory_segments(
    before_s: int, memory_days: float, retention_days: Mapping[int, float], now_s: float
) -> tuple[Segment, ...]:
    """The memory before a window that begins then (epoch seconds): whole days (UTC), oldest first, each part with the
    period that it is kept in. `retention_days` is how many days data of each period (in seconds) lives."""
    found: list[Segment] = []
    end_s, oldest_s = before_s // DAY_S * DAY_S, now_s - memory_days * DAY_S
    for period_s, days in sorted(retention_days.items()):
        if period_s >= LEAST_PERIOD_S:
            start_s = int(-(-max(oldest_s, now_s - days * DAY_S) // DAY_S)) * DAY_S
            if start_s < end_s:
                found.append(Segment(window=Window(start_s=start_s, end_s=end_s), period_s=period_s))
                end_s = start_s
    return tuple(found[::-1])


def memory_of(volume: Volume, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The part of a memory in which the volume was there."""
    made_s = int(volume.created.timestamp()) // DAY_S * DAY_S
    return tuple(
        Segment(window=Window(start_s=start_s, end_s=one.window.end_s), period_s=one.period_s)
        for one in segments
        if (start_s := max(made_s, one.window.start_s)) < one.window.end_s
    )


def begun_s(volume: Volume, policy: Policy, now_s: float) -> int:
    """From which midnight on (epoch seconds) the policy remembers what the volume did: not before it was filled."""
    filled_s = volume.created.timestamp() + policy.settle_days * DAY_S
    return int(-(-max(filled_s, now_s - policy.memory_days * DAY_S) // DAY_S)) * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Consecutive buckets that an offer would not have carried: the highest mean on one `side` ("IOPS" or "MiB/s"),
    from when (epoch seconds) and for how long. `days` are the first seconds of all days that had such."""

    side: str
    rate: float
    start_s: int
    minutes: float
    days: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """A minute inside a longer bucket that an offer would have throttled. `likely`: it is estimated."""

    side: str
    rate: float
    day_s: int
    likely: bool


class Past:
    """What is known of one volume before its window, in whole days (UTC), hours and five minutes.

    Nothing is learned of the days before it has `begun`, or on which it was `moved` to a host.
    """

    __slots__ = (
        "_begun_s",
        "_days_s",
        "_doubted",
        "_finest_s",
        "_highest",
        "_lengths_s",
        "_out",
        "_read",
        "_seen",
        "_starts_s",
        "disputes",
        "least",
        "most",
        "segments",
    )

    def __init__(self, segments: Sequence[Segment], begun_s: int, moved: Sequence[datetime] = ()) -> None:
        self.segments, self._begun_s = tuple(segments), max(begun_s, segments[0].window.start_s)
        days_s = np.arange(self.window.start_s, self.window.end_s, DAY_S, dtype=np.int64)
        self._days_s = days_s
        self._out = np.isin(days_s, [int(when.timestamp()) // DAY_S * DAY_S for when in moved])
        self._out |= days_s < self._begun_s
        self._highest = np.full((2, len(days_s)), np.nan)
        self._starts_s, self._lengths_s = days_s, np.full(len(days_s), DAY_S, dtype=np.int64)
        self._finest_s = np.full(len(days_s), self.segments[-1].period_s, dtype=np.int64)
        for segment in reversed(self.segments[:-1]):
            self._finest_s[days_s < segment.window.end_s] = segment.period_s
        self._seen, self._read = np.zeros(len(days_s), dtype=np.bool_), np.zeros(len(days_s), dtype=np.bool_)
        self._doubted: dict[Look, Mapping[str, FloatArray]] = {}
        self.disputes: tuple[Doubt, ...] = ()
        self.least: Rates = np.zeros((2, len(days_s)))
        self.most: Rates = np.where(self._out, 0.0, np.full((2, len(days_s)), UNREAD))

    @property
    def window(self) -> Window:
        """From when until when."""
        return Window(start_s=self.segments[0].window.start_s, end_s=self.segments[-1].window.end_s)

    @property
    def asked(self) -> Window:
        """The part of it that counts."""
        return Window(start_s=self._begun_s, end_s=self.window.end_s)

    @property
    def days(self) -> int:
        """The days of which the cloud has any point, as far as was read."""
        return int(self._seen.sum())

    def first_looks(self, *, whole: bool = False) -> list[Look]:
        """What to read first: what each day had in all, and its highest minute; with `whole` everything as finely as
        it is kept."""
        if whole:
            return [Look(window=one.window, period_s=one.period_s, groups=_WORK) for one in self.segments]
        return [Look(window=self.asked, period_s=DAY_S, groups=(PAST_RATES, *_WORK))]

    def looks(self, limits: Sequence[float], query_cost: QueryCost) -> list[Look]:
        """What to read next: the buckets that may have had more than the `limits` (IOPS and MiB/s).

        Days by the hour, hours as finely as they are kept. The highest days are read before the others: what they had
        may speak against so much that few others can more.
        """
        over = (self.most / np.maximum(_column(limits), TOLERANCE)).max(axis=0)
        wanted = (self._lengths_s > self._finest_s) & (over > 1)
        if (self._lengths_s == DAY_S).all():
            wanted[np.argsort(-over, kind="stable")[FIRST_DAYS:]] = False
        found: list[Look] = []
        for length_s, period_s in ((DAY_S, HOUR_S), (HOUR_S, LEAST_PERIOD_S)):
            at = wanted & (self._lengths_s == length_s)
            for finest_s in np.unique(self._finest_s[at]).tolist():
                starts_s = self._starts_s[at & (self._finest_s == finest_s)]
                found += _runs(starts_s, length_s, max(period_s, finest_s), query_cost.datapoints_a_query)
        return found

    def learn(self, look: Look, found: Mapping[str, FloatArray]) -> None:
        """Takes in what a look found: series that the cloud publishes, NaN where it has no point.

        What disagrees or is absent is `in_doubt` first, and is taken in when the same look was asked once more.
        """
        witness, before = self._witness(look), self._doubted.pop(look, None)
        found = found if before is None else filled(found, before)
        doubts = tuple(past_doubts(look, found, witness))
        if before is None and (doubts or not is_whole(found, witness)):
            self._doubted[look] = found
            return
        self.disputes += doubts
        if PAST_RATES in look.groups:
            self._learn_rates(look, found)
        if OPERATIONS in look.groups:
            self._learn_work(look, found)

    def in_doubt(self, look: Look) -> bool:
        """Whether what a look found has to be asked once more."""
        return look in self._doubted

    def needs(self, policy: Policy, hosts: Ceiling) -> tuple[Need, Need]:
        """What an offer must carry for sure, and at most, whatever was not read."""
        sure_min = np.minimum(self._finest_s, self._lengths_s) / MINUTE_S
        return (
            self._need(self.least, sure_min, policy, hosts),
            self._need(self.most, self._lengths_s / MINUTE_S, policy, hosts),
        )

    def event(self, limits: Sequence[float]) -> Event | None:
        """The highest that is above the limits (IOPS and MiB/s), beside its limit; None where nothing is for sure."""
        over = self.least / np.maximum(_column(limits), TOLERANCE)
        if over.max(initial=0.0) <= 1:
            return None
        row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
        above, ends_s = over[row] > 1, self._starts_s + self._lengths_s
        apart = np.append(True, ~above[:-1] | (ends_s[:-1] != self._starts_s[1:]))
        first = int(np.flatnonzero(apart[: at + 1])[-1])
        breaks = np.flatnonzero(apart[at + 1 :] | ~above[at + 1 :])
        last = at + int(breaks[0]) if len(breaks) else len(above) - 1
        days = np.unique(self._starts_s[(over > 1).any(axis=0)] // DAY_S) * DAY_S
        return Event(
            side=_SIDES[row],
            rate=float(self.least[row, at]),
            start_s=int(self._starts_s[first]),
            minutes=float(ends_s[last] - self._starts_s[first]) / MINUTE_S,
            days=tuple(days.tolist()),
        )

    def peak(self, ceiling: Ceiling, present: Ceiling, ratios: Sequence[float]) -> Peak | None:
        """The highest minute that a ceiling would have throttled, beside that ceiling; None where there is none.

        It is known of days of which the cloud has the highest minute. Of others it is likely: `ratios` times the mean
        of a bucket, no more than all that was done in it in one minute, or than the `present` ceiling.
        """
        limits = np.array([[ceiling.iops], [ceiling.throughput_mib_s]])
        bound = np.minimum(
            self.least * self._lengths_s / MINUTE_S, np.array([[present.iops], [present.throughput_mib_s]])
        )
        likely = np.minimum(self.least * _column(ratios), bound)
        likely[~np.isnan(self._highest[:, self._day(self._starts_s)])] = 0.0
        for rates, starts_s, estimated in (
            (counted(self._highest), self._days_s, False),
            (likely, self._starts_s, True),
        ):
            over = rates / limits
            if over.max(initial=0.0) > 1 + TOLERANCE:
                row, at = (int(place) for place in np.unravel_index(int(over.argmax()), over.shape))
                day_s = int(starts_s[at]) // DAY_S * DAY_S
                return Peak(side=_SIDES[row], rate=float(rates[row, at]), day_s=day_s, likely=estimated)
        return None

    def _day(self, times_s: Any) -> Any:
        """Which day a time (epoch seconds) is in, or each of an array of them."""
        return (times_s - self.window.start_s) // DAY_S

    def _witness(self, look: Look) -> Witness:
        starts_s = np.arange(look.window.start_s, look.window.end_s, look.period_s, dtype=np.int64)
        day, holder = self._day(starts_s), np.searchsorted(self._starts_s, starts_s, side="right") - 1
        return Witness(
            highest=self._highest[:, day],
            counts=~self._out[day],
            holder=holder,
            held_s=self._lengths_s[holder],
            mean=np.where(self._read[holder], self.least[:, holder], np.nan),
        )

    def _learn_rates(self, look: Look, found: Mapping[str, FloatArray]) -> None:
        """The highest minute of each day, where it is published: no bucket of that day was above it."""
        first = int(self._day(look.window.start_s))
        for row, name in enumerate(SERIES[PAST_RATES]):
            if (highest := found.get(name)) is not None:
                self._highest[row, first:] = np.where(self._out[first:], np.nan, highest)
        self._seen |= ~np.isnan(self._highest).all(axis=0)
        self.most = np.where(np.isnan(self._highest), self.most, self._highest + _ROUNDED)

    def _learn_work(self, look: Look, found: Mapping[str, FloatArray]) -> None:
        """Operations and bytes of consecutive buckets, in the place of the longer ones that they lie in."""
        period_s, start_s = look.period_s, look.window.start_s
        starts_s = np.arange(start_s, look.window.end_s, period_s, dtype=np.int64)
        day = self._day(starts_s)
        rates = np.stack([_rate(found, group, unit, len(starts_s)) for group, unit in _COUNTERS]) / period_s
        present = ~np.isnan(rates).all(axis=0) & ~self._out[day]
        rates = np.where(present, counted(rates), 0.0)
        holder = np.searchsorted(self._starts_s, starts_s, side="right") - 1
        finest_s = self._finest_s[holder]
        taken = self._lengths_s[holder] >= period_s
        most = np.minimum(rates * np.maximum(1.0, period_s / finest_s), np.maximum(rates, self.most[:, holder]))
        inside = (self._starts_s >= start_s) & (self._starts_s < look.window.end_s)
        kept = ~(inside & (self._lengths_s >= period_s))
        at = np.argsort(np.concatenate([self._starts_s[kept], starts_s[taken]]), kind="stable")
        lengths_s = np.full(int(taken.sum()), period_s, dtype=np.int64)
        self._starts_s = np.concatenate([self._starts_s[kept], starts_s[taken]])[at]
        self._lengths_s = np.concatenate([self._lengths_s[kept], lengths_s])[at]
        self._finest_s = np.concatenate([self._finest_s[kept], finest_s[taken]])[at]
        self._read = np.concatenate([self._read[kept], np.ones(len(lengths_s), dtype=np.bool_)])[at]
        self.least = np.concatenate([self.least[:, kept], rates[:, taken]], axis=1)[:, at]
        self.most = np.concatenate([self.most[:, kept], most[:, taken]], axis=1)[:, at]
        self._seen[day[present]] = True

    def _need(self, rates: Rates, minutes: FloatArray, policy: Policy, hosts: Ceiling) -> Need:
        """The highest of some rates with headroom, but for the minutes that each 30 days may be throttled."""
        block = (self.window.end_s - self._starts_s - 1) // (BUDGET_DAYS * DAY_S)
        highest = [_beyond(row, minutes, block, policy.throttle_budget_min) for row in rates]
        times = 1 + policy.headroom_pct / 100
        return Need(
            iops=min(times * highest[0], hosts.iops),
            throughput_mib_s=min(times * highest[1], hosts.throughput_mib_s),
        )


_WORK: Final = (OPERATIONS, BYTES)


def _column(figures: Sequence[float]) -> Rates:
    return np.asarray(figures, dtype=np.float64)[:, np.newaxis]


def _rate(found: Mapping[str, FloatArray], group: str, unit: float, buckets: int) -> FloatArray:
    """Reads and writes together, NaN where there is a point of neither."""
    reads, writes = (found.get(name, np.full(buckets, np.nan)) for name in SERIES[group])
    absent = np.isnan(reads) & np.isnan(writes)
    return np.where(absent, np.nan, counted(reads) + counted(writes)) * unit


def _beyond(rates: FloatArray, minutes: FloatArray, block: IntArray, budget_min: float) -> float:
    """The highest rate; with a budget the highest that any block has without so many of its highest minutes."""
    if budget_min <= 0:
        return float(rates.max(initial=0.0))
    highest = 0.0
    for number in np.unique(block):
        own, lasting = rates[block == number], minutes[block == number]
        order = np.argsort(-own, kind="stable")
        left = np.flatnonzero(np.cumsum(lasting[order]) > budget_min + TOLERANCE)
        highest = max(highest, float(own[order][left[0]]) if len(left) else 0.0)
    return highest


def _runs(starts_s: IntArray, length_s: int, period_s: int, spare: float) -> list[Look]:
    """Looks at buckets of one length; neighbors, and what lies between them, are one where that costs less than a
    query."""
    apart = np.flatnonzero((np.diff(starts_s) - length_s) / period_s > spare) + 1
    return [
        Look(
            window=Window(start_s=int(run[0]), end_s=int(run[-1]) + length_s),
            period_s=period_s,
            groups=_WORK,
        )
        for run in np.split(starts_s, apart)
        if len(run)
    ]
