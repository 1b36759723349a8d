"""Carrying: what a volume serves of the work that is asked of it, minute by minute, under limits that change.

Work above the limit waits. Each day begins with nothing waiting and with full credits, so that any day is made by
itself, whichever window is asked.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from cloud_simulator.metrics.series import IOPS, THROUGHPUT
from cloud_simulator.published import TokenBucket
from cloud_simulator.units import DAY_S, KIB_PER_MIB, MINUTE_S, FloatArray

_DAY_MINUTES: Final = DAY_S // MINUTE_S
WAITS_MINUTES: Final = 1
"""Minutes after which work that still waits is given up, but for a job's."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of the minutes of whole days, in operations of the workload's size a second.

    `buckets` are the credits in force, each from a minute on (None: none).
    """

    by_side: Mapping[str, FloatArray]
    buckets: Sequence[tuple[int, TokenBucket | None]]
    operation_kib: float
    units_an_operation: float

    @property
    def most(self) -> FloatArray:
        """The operations a second that each minute carries with credits."""
        lowest: FloatArray = np.minimum(self.by_side[IOPS], self.by_side[THROUGHPUT])
        return lowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The operations served in each minute, the minutes that kept work waiting, by side and at all, and the credits."""

    ops: FloatArray
    above: Mapping[str, Flags]
    held: Flags
    balance_pct: FloatArray


def carry(asked_ops: FloatArray, peak: FloatArray, limits: Limits, *, is_job: bool) -> Carried:
    """Carries whole days of work. `peak` is each minute's busiest second over its mean; a job's work never ends."""
    most_ops = np.floor(limits.most * MINUTE_S)
    ops = asked_ops.copy()
    short, balance_pct = np.zeros(len(ops), dtype=np.bool_), np.full(len(ops), 100.0)
    for day in range(0, len(ops), _DAY_MINUTES):
        minutes = slice(day, day + _DAY_MINUTES)
        if _is_pressed(asked_ops[minutes], most_ops[minutes], limits.buckets):
            made = _carry_day(day, asked_ops[minutes], most_ops[minutes], limits, is_job=is_job)
            ops[minutes], short[minutes], balance_pct[minutes] = made
    above = {
        side: (asked_ops * peak > limit * MINUTE_S) | (short & (ops >= np.floor(limit * MINUTE_S)))
        for side, limit in limits.by_side.items()
    }
    return Carried(ops=ops, above=above, held=short | above[IOPS] | above[THROUGHPUT], balance_pct=balance_pct)


def _is_pressed(asked_ops: FloatArray, most_ops: FloatArray, buckets: Sequence[tuple[int, TokenBucket | None]]) -> bool:
    """True for a day that may keep work waiting, or spend credits."""
    return bool((asked_ops > most_ops).any()) or any(bucket is not None for _, bucket in buckets)


def _carry_day(
    first: int, asked_ops: FloatArray, most_ops: FloatArray, limits: Limits, *, is_job: bool
) -> tuple[list[float], list[bool], list[float]]:
    """The operations served, whether some waited, and the balance of each minute of a day."""
    served, short, balance = [], [], []
    bucket, free, refill, capacity = _bucket_at(first, limits)
    starts = {minute for minute, _ in limits.buckets}
    waiting, credits_left = 0.0, capacity
    for minute, (asked, most) in enumerate(zip(asked_ops.tolist(), most_ops.tolist(), strict=True), start=first):
        if minute in starts:
            bucket, free, refill, capacity = _bucket_at(minute, limits)
            credits_left = capacity
        carried = most if bucket is None else min(most, math.floor(free + refill + credits_left))
        want = asked + waiting
        done = min(want, carried)
        credits_left = min(capacity, credits_left + refill - max(0.0, done - free))
        waiting = want - done if is_job else min(want - done, WAITS_MINUTES * carried)
        served.append(done)
        short.append(want > carried)
        balance.append(100.0 if bucket is None else 100 * max(0.0, credits_left) / capacity)
    return served, short, balance


def _bucket_at(minute: int, limits: Limits) -> tuple[TokenBucket | None, float, float, float]:
    """The bucket in force in a minute, with its free rate, refill and capacity in operations a minute."""
    bucket = next((each for begins, each in reversed(limits.buckets) if begins <= minute), None)
    if bucket is None:
        return None, 0.0, 0.0, 1.0
    unit = limits.units_an_operation if bucket.resource == IOPS else limits.operation_kib / KIB_PER_MIB
    return (
        bucket,
        bucket.free_rate * MINUTE_S / unit,
        bucket.refill_rate * MINUTE_S / unit,
        bucket.capacity / unit,
    )
