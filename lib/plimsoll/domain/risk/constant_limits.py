"""Many volumes against constant limits, IOPS and MiB/s: which minutes they would have throttled.

It is the queue of `domain.demand.replay`, for all volumes of a batch at once. Rates are arrays of (volumes, 2, buckets)
in the order of `Resource`.
"""

import numpy as np

from plimsoll.domain.demand.replay import TOLERANCE, backlog_behind
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.units import MINUTE_S


def throttled(rates: FloatArray, limits: FloatArray, period_s: int) -> tuple[FloatArray, FloatArray]:
    """The minutes that each volume's limits (volumes, 2) would have throttled on either resource, and the longest wait
    in seconds. What was not observed has to be 0: nothing is known to have waited."""
    minutes, longest_s = np.zeros(len(rates)), np.zeros(len(rates))
    above = (rates > limits[:, :, None] * (1 + TOLERANCE)).any(axis=(1, 2))
    if above.any():
        carried = limits[above][:, :, None]
        waiting = backlog_behind(rates[above] - carried, period_s)
        late = waiting > carried * period_s * TOLERANCE
        minutes[above] = late.any(axis=1).sum(axis=1) * period_s / MINUTE_S
        longest_s[above] = np.divide(waiting, carried, out=np.zeros_like(waiting), where=late).max(axis=(1, 2))
    return minutes, longest_s


def peaks(rates: FloatArray) -> FloatArray:
    """The highest rate of each volume and resource: (volumes, 2)."""
    found: FloatArray = rates.max(axis=2, initial=0.0)
    return found


def highest_but(rates: FloatArray, skipped: int) -> FloatArray:
    """The highest rate of each volume and resource when so many higher buckets are let go: (volumes, 2)."""
    buckets = rates.shape[2]
    if skipped >= buckets:
        return np.zeros(rates.shape[:2])
    place = buckets - 1 - skipped
    found: FloatArray = np.partition(rates, place, axis=2)[:, :, place]
    return found
