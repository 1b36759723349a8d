"""A trial: what of the required demand an offer would have held back.

Work waits: what a ceiling does not carry in one bucket is carried later, so that required demand queues. What was
lifted is not known work, so it does not queue: a lifted bucket above the ceiling is one throttled minute, and no more.
So are rates that are known by the second. An offer passes where few enough minutes are throttled and nothing waits too
long (docs/decision.md, section 4).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand import Demand, scaled
from plimsoll.domain.knowledge import BoolArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.replay import TOLERANCE, backlog_behind, never_spent, spent
from plimsoll.domain.units import DAY_S

MONTH_DAYS = 30
"""The days that a budget of throttled minutes is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """What an offer has to carry: `work` queues, `short` are rates that are held against the ceiling directly.

    Both are demands over the same buckets; of `short` only those buckets count where it is above `work`.
    """

    work: Demand
    short: Demand


def plain(demand: Demand) -> Required:
    """A demand as it is, with nothing above it."""
    return Required(work=demand, short=scaled(demand, 0.0))


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
    return Trial(
        throttled_minutes=max(one.throttled_minutes for one in found),
        longest_wait_s=max(one.longest_wait_s for one in found),
    )


def budget_of(minutes_a_month: float, window_s: float) -> float:
    """A budget of throttled minutes in 30 days, for a window of that length."""
    return minutes_a_month * window_s / (MONTH_DAYS * DAY_S)


def held_back(required: Required, ceiling: Ceiling, resource: Resource) -> tuple[BoolArray, float]:
    """The buckets that a ceiling would have throttled on one resource, and the longest wait in seconds."""
    limit = ceiling.iops if resource is Resource.IOPS else ceiling.throughput_mib_s
    work, short = _rates(required.work, ceiling, resource), _rates(required.short, ceiling, resource)
    waiting = short > limit * (1 + TOLERANCE)
    longest_s = 0.0
    lengths_s = required.work.lengths_s
    if work.max(initial=0.0) > limit:
        backlog = backlog_behind(work - limit, lengths_s)
        waiting |= backlog > TOLERANCE * limit * required.work.resolution_s
        longest_s = float(backlog.max()) / limit
    for bucket in ceiling.buckets:
        if bucket.resource is not resource or never_spent(work, bucket, lengths_s):
            continue
        charged = work
        if bucket.least_charge_mib:
            charged = np.maximum(work, required.work.iops * bucket.least_charge_mib)
        backlog = np.maximum(0.0, spent(charged, bucket, lengths_s) - bucket.capacity)
        waiting |= backlog > TOLERANCE * bucket.sustained_rate * required.work.resolution_s
        longest_s = max(longest_s, float(backlog.max(initial=0.0)) / bucket.sustained_rate)
    return waiting, longest_s


def trial(required: Required, ceiling: Ceiling) -> Trial:
    """What a ceiling would have held back of what is required."""
    (iops, iops_s), (throughput, throughput_s) = (held_back(required, ceiling, resource) for resource in Resource)
    return Trial(throttled_minutes=required.work.minutes(iops | throughput), longest_wait_s=max(iops_s, throughput_s))


def _rates(demand: Demand, ceiling: Ceiling, resource: Resource) -> FloatArray:
    if resource is Resource.IOPS:
        return demand.counted_iops(ceiling.accounting)
    return demand.counted_throughput_mib_s(ceiling.accounting)
