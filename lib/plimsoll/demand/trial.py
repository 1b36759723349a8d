"""A trial: what of the required demand an offer would have held back.

Work waits: what a ceiling does not carry in one bucket is carried later, so that required demand queues. What was
lifted is not known work, so it does not queue: a lifted bucket above the ceiling is one throttled minute, and no more.
So are rates that are known by the second. An offer passes where few enough minutes are throttled and nothing waits too
long (docs/decision.md, section 4).

Replay: what of a demand would have had to wait behind a limit.

What a ceiling does not carry in one bucket waits for the next. The work waiting behind a constant rate c is a Lindley
recursion, W = max(0, W + (demand - c) * s), which has the closed form W = S - min(0, min S) over the running sum S of
(demand - c) * s. A token bucket is a greedy shaper: with capacity K and refill r it admits at most K + r * t in any
span t, so what waits behind it is max(0, V - K), V being the work waiting behind the constant rate r. Behind several
such limits on one resource waits the largest of their backlogs, because min-plus convolution distributes over the
minimum (Le Boudec and Thiran, Network Calculus, 2001, sections 1.2 and 1.5). So no loop over minutes is needed.

The rest of this page is about a demand that is partly read.

The argument, in one place. It is what lets an audit leave minutes unread and still give the answer of every minute.

What is known. A bucket that was not read finely has so much work S in a time L, and no minute in it was above a rate
m: the highest minute that the cloud publishes, or all of S in one minute. When inside the bucket the work came is not
known. An *arrangement* is any way in which it may have come. Behind a limit r a trial counts the minutes at whose end
work waits, and the longest wait.

The least, over all arrangements. Work that is spread evenly leaves no more waiting at the end of its bucket than any
other: max(0, U + S - rL), where U waits at its beginning, and that much any arrangement leaves. So a trial of the
demand with its unread buckets spread evenly (`trial`) shows a wait that is no longer than the true one. It counts
every minute that was read and is throttled, and one for all unread buckets together if any of them is: its mean is
above the limit, or something waits at its end. What waits inside it for no longer than that may have been carried
before its work came. What was published as the highest minute is held against the ceiling as such a minute,
too. Where operations and bytes were read in different buckets and a limit counts both, only operations queue there:
any arrangement asks for at least those.

The most. Nothing waits at the end of an unread bucket that is above max(U + S - rL, H (1 - r/m)), 0 at the least: the
first is work that begins to wait at once, the second work that all came last, as fast as it can. H is the work that
can be above r: no more than S, and none where m is at most r. Within the bucket waits U + H (1 - r/m) at the most,
and at no more than (U + S) / r seconds the limit is fully used, which it is in every throttled minute. A token bucket
of capacity K that refills at r lets wait what waits behind r alone beyond K.

Why that decides. Let a choice be made on the least. Every cheaper configuration fails there, so it fails in truth. If
the chosen one passes on the most as well, it passes in truth: it is the answer of every minute. So much for offers.
What else an answer says has to be the same in both views:

- The minutes that a volume was saturated in. They are when no unread bucket can have reached the share of its epoch's
  ceiling that counts, no check was raised in one and no balance spent. Of a saturated minute both operations and
  bytes are read, because it is lifted along its size of I/O. What an epoch's edge cuts is read finely, because either
  side counts by itself.
- What the host let through, and where it was the limit. Its traffic is known where the most that all its volumes can
  have done, with headroom, stays under what it always carries. There it cuts nothing and spends no credits. What was
  measured of it is read to its minutes where it says more than this: each raised check with the work of all its
  volumes, a check that is not raised where they reached its maximum, a balance where it was spent or where the replay
  says so. Elsewhere no check is raised, none can take back what the replay does not say, and either view of the
  credits leaves all of them.
- What a host would let through if none of its volumes was held back by itself: where one is to be relieved, and any was
  held back, all of them are read if together, with headroom, they would do more than it always carries.
- Where a host was the limit before it was resized, or another host: by the traffic of all its volumes where it is
  the host of today, held against what it always carried as it was then, from the window's beginning to the change.
- The trial of the present configuration, and whether relief halves it: where the least and the most are one.
- The need, as far as evidence is told by it: the least and the most have the same.
- The promise: what is promised of the least need is promised of the most. Only how much is left free is then said
  as the least that it can be.
- Busiest seconds, where a cloud publishes them: a bucket of which they were not read stays under every ceiling that
  they are held against, those of all volumes of a pool taken as the same seconds.

`refine` names the buckets for which any of this is open. Every round reads one of them more finely, so that it ends,
at the latest when all was read. What is left open when no bucket is named (an arrangement that no single bucket
decides) is read whole: that is rare, and costs less than a finer argument. So are volumes that are sized by busy
time, because a bucket may have been busy for one second, and the members of stripe sets. Steps of the frontier with a
larger budget than the policy's are told by the most, and say so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

import numpy as np

from plimsoll.demand.demand import IOPS, CountedRates, Demand, Rates, Spread, weigh_writes
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import RESOURCES, Accounting, Ceiling, Resource, TokenBucket
from plimsoll.model.units import DAY_S, KIB_PER_MIB, MINUTE_S

TOLERANCE: Final = 1e-6
"""Backlogs under this share of what a ceiling carries in one bucket are rounding, not waiting."""


def spend_credits(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> FloatArray:
    """Credits spent and not yet refilled after each bucket of time, without regard to the capacity."""
    excess = np.maximum(0.0, rate - bucket.free_rate) - bucket.refill_rate
    return backlog_behind(excess, lengths_s, at_start=bucket.spent_at_start)


def is_never_spent(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> bool:
    """True if no credits run out: the rate never passes what refills, or all work takes fewer than there are."""
    if rate.max(initial=0.0) <= bucket.sustained_rate:
        return True
    credits_at_start = bucket.capacity - bucket.spent_at_start
    return not bucket.free_rate and float((rate * lengths_s).sum()) <= credits_at_start


def backlog_behind(excess: FloatArray, lengths_s: IntArray | int, *, at_start: float = 0.0) -> FloatArray:
    """Work waiting at the end of each bucket, from demand minus rate (may be negative) in each; buckets are along the
    last axis."""
    total = np.cumsum(excess * lengths_s, axis=-1) + at_start
    backlog: FloatArray = total - np.minimum(np.minimum.accumulate(total, axis=-1), 0.0)
    return backlog


def minutes_above(
    least: FloatArray | float,
    backlog: FloatArray,
    excess: FloatArray,
    lengths_s: IntArray | int,
    resolution_s: int,
    at_start: float,
) -> FloatArray:
    """The minutes in each bucket at whose end more than the least was waiting; within a bucket all was even.

    Of one that is longer than the resolution, and drains what waited before, those until that is gone. Buckets are
    along the last axis.
    """
    minutes = np.where(backlog > least, np.asarray(lengths_s) / MINUTE_S, 0.0)
    first = np.full((*backlog.shape[:-1], 1), at_start)
    waited = np.concatenate([first, backlog[..., :-1]], axis=-1) - least
    drains = (np.asarray(lengths_s) > resolution_s) & (backlog <= least) & (waited > 0) & (excess < 0)
    if drains.any():
        buckets = np.ceil(waited[drains] / (-excess[drains] * resolution_s)) - 1
        minutes[drains] = np.maximum(0.0, buckets) * resolution_s / MINUTE_S
    return minutes


def credits_left(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> FloatArray:
    """Credits at the beginning of each bucket of time, where what found none was dropped and does not wait."""
    before = np.concatenate([[bucket.spent_at_start], spend_credits(rate, bucket, lengths_s)[:-1]])
    if before.max(initial=0.0) <= bucket.capacity:
        return bucket.capacity - before
    change = ((np.maximum(0.0, rate - bucket.free_rate) - bucket.refill_rate) * lengths_s).tolist()
    missing, left = bucket.spent_at_start, []
    for taken in change:
        left.append(bucket.capacity - missing)
        missing = min(bucket.capacity, max(0.0, missing + taken))
    return np.asarray(left)


@dataclass(frozen=True, slots=True)
class HeldBack:
    """The work that a ceiling holds back on one side: `minutes` throttled in each bucket, and the longest wait.

    `reach` is how far each unread bucket can reach toward the limit, [operations or bytes, bucket]; it matters from 1
    on.
    """

    minutes: FloatArray
    longest_wait_s: float
    reach: FloatArray


NOWHERE: Final = np.zeros((2, 0))
"""The reach where the least is told."""


def most_held_back(demand: Demand, spread: Spread, ceiling: Ceiling, resource: Resource) -> HeldBack:
    """The most that a ceiling would have held back of a demand on a resource, however its unread work came."""
    minutes, longest_s, reach = np.zeros(len(demand.observed)), 0.0, np.zeros((2, len(demand.observed)))
    for behind in _limits(ceiling, resource):
        most = _hold_most(demand, spread, behind)
        if most is not None:
            np.maximum(minutes, most.minutes, out=minutes)
            np.maximum(reach, most.reach, out=reach)
            longest_s = max(longest_s, most.longest_wait_s)
    return HeldBack(minutes, longest_s, reach)


@dataclass(frozen=True, slots=True)
class _Limit:
    """A rate a second, and the credits behind it."""

    rate: float
    capacity: float
    at_start: float
    """The credits that are spent in the beginning."""
    free: float
    """Work under this rate counts for nothing."""
    charges: tuple[float, float]
    """The charge of an operation and of a MiB; the higher of both counts."""
    write_costs: FloatArray
    """[side, 1]: the operations, or MiB, that a written one counts as."""

    def charge(self, rates: Rates) -> CountedRates:
        """The rates of both sides as they are charged."""
        charged: CountedRates = weigh_writes(rates, self.write_costs) * np.array(self.charges)[:, np.newaxis]
        return charged


def _limits(ceiling: Ceiling, resource: Resource) -> Iterator[_Limit]:
    """The limits of a resource."""
    per_mib = KIB_PER_MIB / ceiling.io_kib if ceiling.io_kib else 0.0
    on_iops = resource is Resource.IOPS
    costs = (ceiling.write_iops_cost,) * 2 if on_iops else (1.0, ceiling.write_throughput_cost)
    write_costs = np.array(costs)[:, np.newaxis]
    charges = (1.0, per_mib) if on_iops else (0.0, 1.0)
    yield _Limit(ceiling.limit(resource), 0.0, 0.0, 0.0, charges, write_costs)
    for bucket in ceiling.buckets:
        if bucket.resource is resource:
            charged = charges if on_iops else (bucket.least_charge_mib, 1.0)
            at_start, free = bucket.spent_at_start, bucket.free_rate
            yield _Limit(bucket.refill_rate, bucket.capacity, at_start, free, charged, write_costs)


def _hold_most(demand: Demand, spread: Spread, behind: _Limit) -> HeldBack | None:
    """The most that can wait behind one limit, however unread work came; None if no rate can be above it.

    Minutes stand at the first bucket of each span, and the wait is in seconds. The reach is 0 for a bucket that was
    read.
    """
    rates, most = behind.charge(demand.rates), behind.charge(spread.most)
    unread = spread.unread & (most > 0)
    most = np.where(unread, most, rates)
    carried = behind.free + behind.rate
    if most.max(initial=0.0) <= carried:
        return None
    spans = _Spans.from_spread(spread, rates, most.max(axis=0), behind)
    peak, minutes = _queue_behind(spans, behind, demand.resolution_s)
    open_spans = np.repeat(minutes > 0, np.diff(np.append(spans.first, len(demand.observed))))
    by_bucket = np.zeros(len(demand.observed))
    by_bucket[spans.first] = minutes
    hot = np.where(most > carried, most / carried, np.inf if behind.capacity else 1.0)
    return HeldBack(by_bucket, peak / carried, np.where(unread & open_spans, hot, 0.0))


@dataclass(frozen=True, slots=True)
class _Spans:
    """Spans of buckets: each begins where buckets of every charged series begin. `first` is its first bucket.

    `work` is all of each, `hot` what of it can come faster than the limit, `most` the highest rate in it. A span is
    `exact` where it is one bucket that was read finely.
    """

    first: IntArray
    lengths_s: IntArray
    work: FloatArray
    hot: FloatArray
    most: FloatArray
    exact: BoolArray

    @classmethod
    def from_spread(cls, spread: Spread, rates: FloatArray, most: FloatArray, behind: _Limit) -> "_Spans":
        """The spans of a spread behind a limit, from `rates` as charged and the `most` that each bucket can have.

        Work under the limit's free rate is left out.
        """
        is_charged = [side for side, charge in enumerate(behind.charges) if charge]
        first = np.flatnonzero(spread.begins[is_charged].all(axis=0))
        exact = ~np.logical_or.reduceat(spread.unread[is_charged].any(axis=0), first)
        lengths_s = spread.lengths_s
        both = np.add.reduceat(rates.max(axis=0) * lengths_s, first)
        apart = np.add.reduceat(rates.sum(axis=0) * lengths_s, first)
        work, top = np.where(exact, both, apart), np.maximum.reduceat(most, first)
        if behind.free:
            over = np.add.reduceat(np.where(most > behind.free, most, 0.0) * lengths_s, first)
            known = np.add.reduceat(np.maximum(0.0, rates.max(axis=0) - behind.free) * lengths_s, first)
            unknown = np.minimum(work, over) * (1 - behind.free / np.maximum(top, behind.free))
            work, top = np.where(exact, known, unknown), np.maximum(0.0, top - behind.free)
            most = np.maximum(0.0, most - behind.free)
        hot = np.add.reduceat(np.where(most > behind.rate, most, 0.0) * lengths_s, first)
        return cls(
            first=first,
            lengths_s=np.add.reduceat(lengths_s, first),
            work=work,
            hot=np.where(exact, work, np.minimum(work, hot)),
            most=top,
            exact=exact,
        )


def _queue_behind(spans: _Spans, behind: _Limit, resolution_s: int) -> tuple[float, FloatArray]:
    """The most that can wait behind a limit, and the minutes that it can throttle in each span."""
    change = spans.work - behind.rate * spans.lengths_s
    last = spans.hot * (1 - behind.rate / np.maximum(spans.most, behind.rate))
    jump = np.maximum(0.0, np.where(spans.exact, change, last))
    after = _waiting(jump, change, behind.at_start)
    before = np.concatenate([[behind.at_start], after[:-1]])
    peak = np.where(spans.exact, after, np.maximum(before + jump, after)) - behind.capacity
    waits = peak > TOLERANCE * (behind.free + behind.rate) * resolution_s
    seconds = np.where(spans.exact, spans.lengths_s, (before + spans.work) / behind.rate)
    minutes = np.where(waits, np.minimum(spans.lengths_s, seconds), 0.0) / MINUTE_S
    least = behind.capacity + TOLERANCE * (behind.free + behind.rate) * resolution_s
    rates = change / spans.lengths_s
    drained = minutes_above(least, after, rates, spans.lengths_s, resolution_s, behind.at_start)
    minutes = np.where(spans.exact, drained, minutes)
    return float(np.maximum(peak, 0.0).max(initial=0.0)), minutes


def _waiting(jump: FloatArray, change: FloatArray, at_start: float) -> FloatArray:
    """The most that can be waiting at the end of each span: U' = max(jump, U + change), U >= 0, from `at_start` on.

    In closed form: with D the running sum of changes, U' = D + max(U0, 0, running max of jump - D).
    """
    total = np.cumsum(change)
    return np.maximum(0.0, total + np.maximum(np.maximum.accumulate(jump - total), at_start))


MONTH_DAYS = 30
"""The days that a budget of throttled minutes is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """The demand that an offer has to carry: `work` queues, `short` is held against the ceiling directly.

    Both are demands over the same buckets; of `short` only rates count, where they are above `work` (None: nowhere). Of
    what was read in part a trial shows the least that is held back, however the rest came, or, `harmful`, the most.
    `trials` are those that were made, by ceiling.
    """

    work: Demand
    short: Demand | None = None
    harmful: bool = False
    _peaks: dict[Accounting, list[float]] = field(default_factory=dict, init=False, repr=False, compare=False)
    trials: "dict[Ceiling, Trial]" = field(default_factory=dict, init=False, repr=False, compare=False)
    _at_most: "list[Required]" = field(default_factory=list, init=False, repr=False, compare=False)

    def peaks(self, accounting: Accounting) -> Sequence[float]:
        """The highest rate of each side: the least that it can be where it was read in part, or the most."""
        if accounting not in self._peaks:
            unread = self.work.most_demand if self.harmful else self.work.least_demand
            demands = [each for each in (self.work, self.short, unread) if each is not None]
            counted = [
                demand.count(accounting).max(axis=1, initial=0.0)
                for demand in {id(each): each for each in demands}.values()
            ]
            self._peaks[accounting] = np.max(counted, axis=0).tolist()
        return self._peaks[accounting]

    @property
    def as_harmful(self) -> "Required":
        """The same demand, whose trials show the most that can be held back; itself if every bucket was read."""
        if self.harmful or self.work.spread is None:
            return self
        if not self._at_most:
            self._at_most.append(replace(self, harmful=True))
        return self._at_most[0]

    def minutes(self, iops: FloatArray, throughput: FloatArray) -> float:
        """The minutes that are throttled on either side, of those on each in every bucket.

        In a bucket that was not read they need not be the same minutes, or they may all be one.
        """
        spread, either = self.work.spread, np.maximum(iops, throughput)
        if spread is None:
            return float(either.sum())
        unread = spread.any_unread
        surely = float(either[~unread].sum())
        if self.harmful:
            return surely + min(float((iops + throughput)[unread].sum()), self.work.minutes(unread))
        return surely + bool(either[unread].any()) * self.work.resolution_s / MINUTE_S


def plain(demand: Demand) -> Required:
    """A demand as it is, with nothing above it."""
    return Required(work=demand)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The minutes that would have been throttled, and the longest wait in seconds."""

    throttled_minutes: float
    longest_wait_s: float

    def is_within(self, *, budget_minutes: float, max_wait_s: float) -> bool:
        """True if no more minutes are throttled than a budget, and nothing waits longer than `max_wait_s`."""
        return self.throttled_minutes <= budget_minutes and self.longest_wait_s <= max_wait_s


def worst(trials: Iterable[Trial]) -> Trial:
    """The most minutes that any of some throttled, and the longest wait behind any of them."""
    listed = list(trials)
    if len(listed) == 1:
        return listed[0]
    return Trial(
        throttled_minutes=max(trial.throttled_minutes for trial in listed),
        longest_wait_s=max(trial.longest_wait_s for trial in listed),
    )


def budget_of(minutes_a_month: float, window_s: float) -> float:
    """A budget of throttled minutes in 30 days, for a window of that length."""
    return minutes_a_month * window_s / (MONTH_DAYS * DAY_S)


def is_never_held_back(required: Required, ceiling: Ceiling, resource: Resource) -> bool:
    """True if a ceiling always carries the highest required rate of a resource, its credits spent or not."""
    peak = required.peaks(ceiling.accounting)[resource.side]
    return peak <= ceiling.limit(resource) and all(
        peak <= bucket.sustained_rate and not bucket.least_charge_mib
        for bucket in ceiling.buckets
        if bucket.resource is resource
    )


def held_back(required: Required, ceiling: Ceiling, resource: Resource) -> HeldBack:
    """The work that a ceiling would have held back on one resource: minutes in each bucket, and the longest wait."""
    demand, spread, side = required.work, required.work.spread, resource.side
    above = ceiling.limit(resource) * (1 + TOLERANCE)
    if is_never_held_back(required, ceiling, resource):
        return _nothing(len(demand.observed))
    if spread is not None and required.harmful:
        most = most_held_back(demand, spread, ceiling, resource)
        if required.short is None:
            return most
        short = required.short.count(ceiling.accounting)[side] > above
        return replace(most, minutes=np.maximum(most.minutes, np.where(short, _minutes(demand), 0.0)))
    minutes, longest_s = _sure_waiting(demand, ceiling, resource)
    for direct in (required.short, demand.least_demand):
        if direct is not None:
            minutes = np.where(direct.count(ceiling.accounting)[side] > above, _minutes(demand), minutes)
    return HeldBack(minutes, longest_s, NOWHERE)


def trial(required: Required, ceiling: Ceiling) -> Trial:
    """The trial of a ceiling: the minutes that it would have throttled of what is required, and the longest wait."""
    if ceiling not in required.trials:  # what is worked out of it is kept beside it
        required.trials[ceiling] = _trial(required, ceiling)
    return required.trials[ceiling]


def _trial(required: Required, ceiling: Ceiling) -> Trial:
    """The trial of both sides; no minute and no wait if neither holds anything back."""
    iops, throughput = (held_back(required, ceiling, resource) for resource in RESOURCES)
    if iops is throughput:
        return Trial(throttled_minutes=0.0, longest_wait_s=0.0)
    return Trial(
        throttled_minutes=required.minutes(iops.minutes, throughput.minutes),
        longest_wait_s=max(iops.longest_wait_s, throughput.longest_wait_s),
    )


def _minutes(demand: Demand) -> FloatArray:
    """The length of each bucket in minutes."""
    return np.broadcast_to(np.asarray(demand.lengths_s) / MINUTE_S, demand.observed.shape)


def _sure_waiting(demand: Demand, ceiling: Ceiling, resource: Resource) -> tuple[FloatArray, float]:
    """The minutes of each bucket at whose end work surely waits, and for how long any does."""
    lengths_s, longest_s, limit = demand.lengths_s, 0.0, ceiling.limit(resource)
    work = demand.count(ceiling.accounting)[resource.side]
    minutes = np.where(work > limit * (1 + TOLERANCE), _minutes(demand), 0.0)
    queued = _queued_rates(demand, work, resource, ceiling)
    if queued.max(initial=0.0) > limit:
        excess, least = queued - limit, TOLERANCE * limit * demand.resolution_s
        backlog = backlog_behind(excess, lengths_s)
        above = minutes_above(least, backlog, excess, lengths_s, demand.resolution_s, 0.0)
        minutes = np.maximum(minutes, _sure(demand, above, backlog > least))
        longest_s = float(backlog.max()) / limit
    for bucket in ceiling.buckets:
        if bucket.resource is not resource:
            continue
        charged = queued
        if bucket.least_charge_mib:
            whole = np.maximum(work, demand.iops * bucket.least_charge_mib)
            charged = _pick_where_read(demand, whole, queued)
        if is_never_spent(charged, bucket, lengths_s):
            continue
        backlog = spend_credits(charged, bucket, lengths_s)
        excess = np.maximum(0.0, charged - bucket.free_rate) - bucket.refill_rate
        least = bucket.capacity + TOLERANCE * bucket.sustained_rate * demand.resolution_s
        above = minutes_above(least, backlog, excess, lengths_s, demand.resolution_s, bucket.spent_at_start)
        minutes = np.maximum(minutes, _sure(demand, above, backlog > least))
        longest_s = max(longest_s, (float(backlog.max(initial=0.0)) - bucket.capacity) / bucket.sustained_rate)
    return minutes, longest_s


def _sure(demand: Demand, minutes: FloatArray, waits: BoolArray) -> FloatArray:
    """The throttled minutes of each bucket that are sure.

    An unread bucket counts only if work `waits` at its span's end: else its work may have come when what waited before
    had been carried.
    """
    spread = demand.spread
    if spread is None or not (unread := spread.any_unread & (minutes > 0)).any():
        return minutes
    begins = spread.joint
    ends = np.append(np.flatnonzero(begins)[1:] - 1, len(begins) - 1)
    at_end = waits[ends][np.cumsum(begins) - 1]
    return np.where(unread & ~at_end, 0.0, minutes)


@lru_cache(maxsize=256)
def _nothing(buckets: int) -> HeldBack:
    """Nothing held back."""
    return HeldBack(np.zeros(buckets), 0.0, np.zeros((2, buckets)))


def _queued_rates(demand: Demand, charged: FloatArray, resource: Resource, ceiling: Ceiling) -> FloatArray:
    """The rate of each bucket that surely queues, of the `charged` rates.

    An operation's charge by its size counts two series. Where these were not both read finely, operations alone queue.
    """
    if demand.spread is None or resource is Resource.THROUGHPUT or ceiling.io_kib is None:
        return charged
    return _pick_where_read(demand, charged, demand.count(ceiling.accounting.per_operation)[IOPS])


def _pick_where_read(demand: Demand, exact: FloatArray, otherwise: FloatArray) -> FloatArray:
    return exact if demand.spread is None else np.where(demand.spread.any_unread, otherwise, exact)
