"""Replay: what of a demand would have had to wait behind a limit.

What a ceiling does not carry in one bucket waits for the next. The work waiting behind a constant rate c is a Lindley
recursion, W = max(0, W + (demand - c) * s), which has the closed form W = S - min(0, min S) over the running sum S of
(demand - c) * s. A token bucket is a greedy shaper: with capacity K and refill r it admits at most K + r * t in any
span t, so what waits behind it is max(0, V - K), V being the work waiting behind the constant rate r. Behind several
such limits on one resource waits the largest of their backlogs, because min-plus convolution distributes over the
minimum (Le Boudec and Thiran, Network Calculus, 2001, sections 1.2 and 1.5). So no loop over minutes is needed.
"""

from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray, IntArray
from plimsoll.domain.ceiling import TokenBucket
from plimsoll.domain.units import MINUTE_S

TOLERANCE: Final = 1e-6
"""Backlogs under this share of what a ceiling carries in one bucket are rounding, not waiting."""


def spent(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> FloatArray:
    """Credits spent and not yet refilled after each bucket of time, without regard to the capacity."""
    excess = np.maximum(0.0, rate - bucket.free_rate) - bucket.refill_rate
    return backlog_behind(excess, lengths_s, at_start=bucket.spent_at_start)


def never_spent(rate: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> bool:
    """Whether the rate is never above what refills, or all the work together takes fewer credits than there are."""
    if rate.max(initial=0.0) <= bucket.sustained_rate:
        return True
    there = bucket.capacity - bucket.spent_at_start
    return not bucket.free_rate and float((rate * lengths_s).sum()) <= there


def backlog_behind(excess: FloatArray, lengths_s: IntArray | int, *, at_start: float = 0.0) -> FloatArray:
    """Work waiting at the end of each bucket, from demand minus rate (may be negative) in each; buckets are along the
    last axis."""
    total = np.cumsum(excess * lengths_s, axis=-1) + at_start
    found: FloatArray = total - np.minimum(np.minimum.accumulate(total, axis=-1), 0.0)
    return found


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
    before = np.concatenate([[bucket.spent_at_start], spent(rate, bucket, lengths_s)[:-1]])
    if before.max(initial=0.0) <= bucket.capacity:
        return bucket.capacity - before
    change = ((np.maximum(0.0, rate - bucket.free_rate) - bucket.refill_rate) * lengths_s).tolist()
    missing, found = bucket.spent_at_start, []
    for more in change:
        found.append(bucket.capacity - missing)
        missing = min(bucket.capacity, max(0.0, missing + more))
    return np.asarray(found)
