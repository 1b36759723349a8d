"""A trial: what of the required demand an offer would have held back.

Work waits: what a ceiling does not carry in one bucket is carried later, so that required demand queues. What was
lifted is not known work, so it does not queue: a lifted bucket above the ceiling is one throttled minute, and no more.
So are rates that are known by the second. An offer passes where few enough minutes are throttled and nothing waits too
long (docs/decision.md, section 4).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, Accounting, Ceiling, Resource
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.rates import IOPS
from plimsoll.domain.demand.replay import (
    NOWHERE,
    TOLERANCE,
    HeldBack,
    backlog_behind,
    minutes_above,
    most_held_back,
    never_spent,
    spent,
)
from plimsoll.domain.units import DAY_S, MINUTE_S

MONTH_DAYS = 30
"""The days that a budget of throttled minutes is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """What an offer has to carry: `work` queues, `short` are rates that are held against the ceiling directly.

    Both are demands over the same buckets; of `short` only rates count, where they are above `work` (None: nowhere).
    Of what was read in part a trial shows the least that is held back, however the rest came, or, `harmful`, the most.
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
            unread = self.work.at_most if self.harmful else self.work.surely
            demands = [each for each in (self.work, self.short, unread) if each is not None]
            counted = [
                demand.count(accounting).max(axis=1, initial=0.0)
                for demand in {id(each): each for each in demands}.values()
            ]
            self._peaks[accounting] = np.max(counted, axis=0).tolist()
        return self._peaks[accounting]

    @property
    def at_most(self) -> "Required":
        """The same, of which a trial shows the most that can be held back."""
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

    def passes(self, *, budget_minutes: float, max_wait_s: float) -> bool:
        """Whether few enough minutes are throttled, and nothing waits too long."""
        return self.throttled_minutes <= budget_minutes and self.longest_wait_s <= max_wait_s


def worst(trials: Iterable[Trial]) -> Trial:
    """The most minutes that any of some throttled, and the longest wait behind any of them."""
    found = list(trials)
    if len(found) == 1:
        return found[0]
    return Trial(
        throttled_minutes=max(one.throttled_minutes for one in found),
        longest_wait_s=max(one.longest_wait_s for one in found),
    )


def budget_of(minutes_a_month: float, window_s: float) -> float:
    """A budget of throttled minutes in 30 days, for a window of that length."""
    return minutes_a_month * window_s / (MONTH_DAYS * DAY_S)


def never_held_back(required: Required, ceiling: Ceiling, resource: Resource) -> bool:
    """Whether a ceiling always carries the highest rate of what is required of a resource, its credits spent or not."""
    peak = required.peaks(ceiling.accounting)[resource.side]
    return peak <= ceiling.limit(resource) and all(
        peak <= bucket.sustained_rate and not bucket.least_charge_mib
        for bucket in ceiling.buckets
        if bucket.resource is resource
    )


def held_back(required: Required, ceiling: Ceiling, resource: Resource) -> HeldBack:
    """What a ceiling would have throttled on one resource: minutes in each bucket, and the longest wait in seconds."""
    demand, spread, side = required.work, required.work.spread, resource.side
    above = ceiling.limit(resource) * (1 + TOLERANCE)
    if never_held_back(required, ceiling, resource):
        return _nothing(len(demand.observed))
    if spread is not None and required.harmful:
        most = most_held_back(demand, spread, ceiling, resource)
        if required.short is None:
            return most
        short = required.short.count(ceiling.accounting)[side] > above
        return replace(most, minutes=np.maximum(most.minutes, np.where(short, _minutes(demand), 0.0)))
    minutes, longest_s = _waiting(demand, ceiling, resource)
    for direct in (required.short, demand.surely):
        if direct is not None:
            minutes = np.where(direct.count(ceiling.accounting)[side] > above, _minutes(demand), minutes)
    return HeldBack(minutes, longest_s, NOWHERE)


def trial(required: Required, ceiling: Ceiling) -> Trial:
    """What a ceiling would have held back of what is required."""
    if ceiling not in required.trials:  # what is worked out of it is kept beside it
        required.trials[ceiling] = _trial(required, ceiling)
    return required.trials[ceiling]


def _trial(required: Required, ceiling: Ceiling) -> Trial:
    iops, throughput = (held_back(required, ceiling, resource) for resource in RESOURCES)
    if iops is throughput:
        return Trial(throttled_minutes=0.0, longest_wait_s=0.0)
    return Trial(
        throttled_minutes=required.minutes(iops.minutes, throughput.minutes),
        longest_wait_s=max(iops.longest_wait_s, throughput.longest_wait_s),
    )


def _minutes(demand: Demand) -> FloatArray:
    """How many minutes each bucket is."""
    return np.broadcast_to(np.asarray(demand.lengths_s) / MINUTE_S, demand.observed.shape)


def _waiting(demand: Demand, ceiling: Ceiling, resource: Resource) -> tuple[FloatArray, float]:
    """The minutes of each bucket at whose end work surely waits, and for how long any does."""
    lengths_s, longest_s, limit = demand.lengths_s, 0.0, ceiling.limit(resource)
    work = demand.count(ceiling.accounting)[resource.side]
    minutes = np.where(work > limit * (1 + TOLERANCE), _minutes(demand), 0.0)
    queued = _queued(demand, work, resource, ceiling)
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
            charged = _where_read(demand, whole, queued)
        if never_spent(charged, bucket, lengths_s):
            continue
        backlog = spent(charged, bucket, lengths_s)
        excess = np.maximum(0.0, charged - bucket.free_rate) - bucket.refill_rate
        least = bucket.capacity + TOLERANCE * bucket.sustained_rate * demand.resolution_s
        above = minutes_above(least, backlog, excess, lengths_s, demand.resolution_s, bucket.spent_at_start)
        minutes = np.maximum(minutes, _sure(demand, above, backlog > least))
        longest_s = max(longest_s, (float(backlog.max(initial=0.0)) - bucket.capacity) / bucket.sustained_rate)
    return minutes, longest_s


def _sure(demand: Demand, minutes: FloatArray, waits: BoolArray) -> FloatArray:
    """The minutes of each bucket without those that were not read and at whose spans' ends nothing `waits`: their work
    may have come when what waited before had been carried."""
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


def _queued(demand: Demand, charged: FloatArray, resource: Resource, ceiling: Ceiling) -> FloatArray:
    """What surely queues of a rate: where it counts two series that were not both read finely, one of them."""
    if demand.spread is None or resource is Resource.THROUGHPUT or ceiling.io_kib is None:
        return charged
    return _where_read(demand, charged, demand.count(ceiling.accounting.by_operation)[IOPS])


def _where_read(demand: Demand, exact: FloatArray, otherwise: FloatArray) -> FloatArray:
    return exact if demand.spread is None else np.where(demand.spread.any_unread, otherwise, exact)
