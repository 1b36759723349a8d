"""Watches made of arrays: a control's figures as every hour of the past, a canary's as the first hours of the watch."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll_change.watch import PAST_H, ChangeWatch, HourlySignal

REQUESTED_HOUR = 480_000


def a_watch(
    past: FloatArray,
    canary: FloatArray,
    *,
    operations: float | FloatArray = 50_000.0,
    stopped: FloatArray | None = None,
    budget_minutes: float = 15.0,
    siblings: Sequence[HourlySignal] = (),
) -> ChangeWatch:
    """The watch of a volume whose hourly latencies were `past`, repeated over six weeks, and are `canary` since."""
    latency = np.concatenate([np.resize(past, PAST_H), canary])
    return ChangeWatch(
        volume_id="vol-0123456789abcdef0",
        requested_hour=REQUESTED_HOUR,
        completed_hour=REQUESTED_HOUR,
        signal=HourlySignal(
            latency_us=np.stack([latency, latency]),
            operations=np.broadcast_to(np.asarray(operations), latency.shape).astype(np.float64),
        ),
        stopped_minutes=np.zeros(len(latency)) if stopped is None else stopped,
        budget_minutes=budget_minutes,
        siblings=tuple(siblings),
    )
