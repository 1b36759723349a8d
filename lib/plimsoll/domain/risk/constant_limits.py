"""Throttled minutes of many volumes under constant limits, IOPS and MiB/s.

It is the queue of `domain.demand.replay`, for all volumes of a batch at once. Rates are arrays of (volumes, 2, buckets)
in the order of `Resource`. Of a bucket that is longer than a minute its mean is all that is known, so that each minute
in it asks for that: a queue that drains in the next bucket counts for the minutes until it is gone.
"""

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.replay import TOLERANCE, backlog_behind, minutes_above
from plimsoll.domain.units import MINUTE_S


def count_throttled(rates: FloatArray, limits: FloatArray, period_s: int) -> tuple[FloatArray, FloatArray]:
    """Counts each volume's minutes throttled on either resource by its limits (volumes, 2), and its longest wait in
    seconds.

    Buckets that were not observed have to be 0: nothing is known to have waited.
    """
    minutes, longest_s = np.zeros(len(rates)), np.zeros(len(rates))
    above = (rates > limits[:, :, None] * (1 + TOLERANCE)).any(axis=(1, 2))
    if above.any():
        carried = limits[above][:, :, None]
        excess = rates[above] - carried
        waiting, resolution_s = backlog_behind(excess, period_s), min(period_s, MINUTE_S)
        least = carried * resolution_s * TOLERANCE
        # Both queues of a bucket wait from its beginning on, or to its end: the longer one has all its minutes.
        late = minutes_above(least, waiting, excess, period_s, resolution_s, 0.0)
        minutes[above] = late.max(axis=1).sum(axis=1)
        waits = np.divide(waiting, carried, out=np.zeros_like(waiting), where=waiting > least)
        longest_s[above] = waits.max(axis=(1, 2))
    return minutes, longest_s


def highest_rates(rates: FloatArray) -> FloatArray:
    """The highest rate of each volume and resource: (volumes, 2)."""
    highest: FloatArray = rates.max(axis=2, initial=0.0)
    return highest


def highest_but(rates: FloatArray, skipped: int) -> FloatArray:
    """The highest rate of each volume and resource after the `skipped` highest buckets: (volumes, 2)."""
    buckets = rates.shape[2]
    if skipped >= buckets:
        return np.zeros(rates.shape[:2])
    place = buckets - 1 - skipped
    rate: FloatArray = np.partition(rates, place, axis=2)[:, :, place]
    return rate
