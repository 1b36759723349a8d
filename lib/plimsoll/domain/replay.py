"""Replay: push a demand through a ceiling and see what would have had to wait.

What a ceiling does not carry in one bucket waits for the next. The work waiting behind a constant rate c is a Lindley
recursion, W = max(0, W + (demand - c) * s), which has the closed form W = S - min(0, min S) over the running sum S of
(demand - c) * s. A token bucket is a greedy shaper: with capacity K and refill r it admits at most K + r * t in any
span t, so what waits behind it is max(0, V - K), V being the work waiting behind the constant rate r. Behind several
such limits on one resource waits the largest of their backlogs, because min-plus convolution distributes over the
minimum (Le Boudec and Thiran, Network Calculus, 2001, sections 1.2 and 1.5). So no loop over minutes is needed.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource, TokenBucket
from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import BoolArray, IntArray
from plimsoll.domain.period import FloatArray

TOLERANCE: Final = 1e-6
"""Backlogs under this share of what a ceiling carries in one bucket are rounding, not waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Minutes at whose end work was still waiting, and the longest that any of it would have waited."""

    throttled_minutes: float
    worst_delay_s: float


def replay(demand: Demand, ceiling: Ceiling, *, scale: float = 1.0, whole_ios: bool = False) -> Replay:
    """What `demand` times `scale` would have met behind `ceiling`, starting with full buckets.

    `whole_ios` charges each operation at least the bucket's `least_charge_mib` (an offer must stand random I/O);
    without it a throughput bucket is charged the bytes alone (what a present volume is known to have moved).
    """
    waiting = np.zeros(len(demand.iops), dtype=np.bool_)
    worst_delay_s = 0.0
    rates = {
        Resource.IOPS: demand.counted_iops(ceiling.accounting) * scale,
        Resource.THROUGHPUT: demand.counted_throughput_mib_s(ceiling.accounting) * scale,
    }
    for resource, limit in ((Resource.IOPS, ceiling.iops), (Resource.THROUGHPUT, ceiling.throughput_mib_s)):
        if rates[resource].max(initial=0.0) > limit:
            backlog = backlog_behind(rates[resource] - limit, demand.lengths_s)
            waiting |= _waits(backlog, limit, demand.resolution_s)
            worst_delay_s = max(worst_delay_s, float(backlog.max()) / limit)
    for bucket in ceiling.buckets:
        charged = rates[bucket.resource]
        if whole_ios and bucket.least_charge_mib:
            charged = np.maximum(charged, demand.iops * scale * bucket.least_charge_mib)
        if never_spent(charged, bucket, demand.lengths_s):
            continue
        backlog = np.maximum(0.0, spent(charged, bucket, demand.lengths_s) - bucket.capacity)
        waiting |= _waits(backlog, bucket.sustained_rate, demand.resolution_s)
        worst_delay_s = max(worst_delay_s, float(backlog.max(initial=0.0)) / bucket.sustained_rate)
    return Replay(
        throttled_minutes=demand.minutes(waiting),
        worst_delay_s=worst_delay_s,
    )


def spent(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> FloatArray:
    """Credits spent and not yet refilled after each bucket of time, without regard to the capacity."""
    return backlog_behind(np.maximum(0.0, rate - bucket.free_rate) - bucket.refill_rate, lengths_s)


def never_spent(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> bool:
    """Whether the rate is never above what refills, or all the work together takes fewer credits than there are."""
    if rate.max(initial=0.0) <= bucket.sustained_rate:
        return True
    return not bucket.free_rate and float((rate * lengths_s).sum()) <= bucket.capacity


def backlog_behind(excess: FloatArray, lengths_s: IntArray | int) -> FloatArray:
    """Work waiting at the end of each bucket, from demand minus rate (may be negative) in each."""
    total = np.cumsum(excess * lengths_s)
    return total - np.minimum(np.minimum.accumulate(total), 0.0)


def _waits(backlog: FloatArray, rate: float, resolution_s: int) -> BoolArray:
    return backlog > TOLERANCE * rate * resolution_s
