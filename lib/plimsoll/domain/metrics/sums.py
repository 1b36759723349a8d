"""Sums: what a cloud's metrics answer for one volume, before any division."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.units import DAY_S, HOUR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time in epoch seconds: `start_s` inclusive, `end_s` exclusive."""

    start_s: int
    end_s: int

    def buckets(self, period_s: int) -> int:
        """How many whole buckets of that period it holds."""
        return (self.end_s - self.start_s) // period_s

    @property
    def hours(self) -> float:
        """Its length in hours."""
        return (self.end_s - self.start_s) / HOUR_S

    @classmethod
    def before(cls, now: datetime, *, days: float, visible_after_s: int = 0) -> "Window":
        """The last `days` until the last full hour that was over `visible_after_s` before `now`, from a midnight (UTC)
        on.

        Beginning at midnight lets days be read as one bucket each; that can add up to 23 hours or leave out one, so
        that the oldest minutes are not about to expire.
        """
        end_s = (int(now.timestamp()) - visible_after_s) // HOUR_S * HOUR_S
        return cls(start_s=(end_s + HOUR_S - int(days * DAY_S)) // DAY_S * DAY_S, end_s=end_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a window and the finest period in which its data still lives."""

    window: Window
    period_s: int


def segments(window: Window, resolution_s: int, retention_days: Mapping[int, float], now_s: float) -> list[Segment]:
    """The window cut by age, oldest part first, each with the finest period from `resolution_s` up that is kept.

    `retention_days` is how many days data of each period (in seconds) lives.
    """
    kept = sorted(retention_days)
    periods = [period for period in kept if period >= resolution_s] or kept[-1:]
    found: list[Segment] = []
    end_s = window.end_s
    for period_s, coarser_s in zip(periods, [*periods[1:], periods[-1]], strict=True):
        whole_s = max(coarser_s, HOUR_S)
        oldest_s = math.ceil((now_s - retention_days[period_s] * DAY_S) / whole_s) * whole_s
        start_s = max(math.ceil(window.start_s / period_s) * period_s, min(oldest_s, end_s))
        if start_s < end_s:
            found.append(Segment(window=Window(start_s=start_s, end_s=end_s), period_s=period_s))
            end_s = start_s
    return found[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """One volume's sums over consecutive buckets of `period_s` seconds from `start_s` (epoch seconds).

    Every array has one element a bucket; NaN where the cloud has no point, None where it does not publish the metric
    for this volume. `read_ops`, `write_ops` are counts, `read_bytes`, `write_bytes` bytes, `idle_s` seconds without a
    pending operation; `burst_balance_pct` is the least balance within the bucket; `iops_exceeded` and
    `throughput_exceeded` are above 0 where demand was above what is provisioned in some second of the bucket.
    `peak_read_ops`, `peak_write_ops` (operations), `peak_read_bytes` and `peak_write_bytes` are what each direction did
    in its busiest second of the bucket. `highest_iops` and `highest_throughput_mib_s` are the highest rate of any
    minute in it, `summed_iops` and `summed_throughput_mib_s` the sum of the rates of all its minutes. Those of the
    `host` are of the volume's only one: the minutes in which more was asked of it than its maximum, and the least
    balance of its credits.
    """

    start_s: int
    period_s: int
    read_ops: FloatArray
    write_ops: FloatArray
    read_bytes: FloatArray
    write_bytes: FloatArray
    idle_s: FloatArray | None = None
    burst_balance_pct: FloatArray | None = None
    iops_exceeded: FloatArray | None = None
    throughput_exceeded: FloatArray | None = None
    peak_read_ops: FloatArray | None = None
    peak_write_ops: FloatArray | None = None
    peak_read_bytes: FloatArray | None = None
    peak_write_bytes: FloatArray | None = None
    highest_iops: FloatArray | None = None
    highest_throughput_mib_s: FloatArray | None = None
    summed_iops: FloatArray | None = None
    summed_throughput_mib_s: FloatArray | None = None
    host_iops_exceeded_minutes: FloatArray | None = None
    host_throughput_exceeded_minutes: FloatArray | None = None
    host_iops_balance_pct: FloatArray | None = None
    host_throughput_balance_pct: FloatArray | None = None

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return len(self.read_ops)

    @property
    def counters(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The four sums that demand is made of."""
        return self.read_ops, self.write_ops, self.read_bytes, self.write_bytes

    @property
    def observed(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """The buckets for which the cloud has any of the four sums."""
        present = np.zeros(self.buckets, dtype=np.bool_)
        for counter in self.counters:
            present |= ~np.isnan(counter)
        return present


HIGHEST_SERIES = (
    "iops_exceeded",
    "throughput_exceeded",
    "peak_read_ops",
    "peak_write_ops",
    "peak_read_bytes",
    "peak_write_bytes",
    "highest_iops",
    "highest_throughput_mib_s",
)
"""The series of which a longer bucket has the highest of those in it."""

LEAST_SERIES = ("burst_balance_pct", "host_iops_balance_pct", "host_throughput_balance_pct")
"""The series of which a longer bucket has the least of those in it; of all others it has the sum."""

OPTIONAL_SERIES = (
    "idle_s",
    *LEAST_SERIES,
    *HIGHEST_SERIES,
    "summed_iops",
    "summed_throughput_mib_s",
    "host_iops_exceeded_minutes",
    "host_throughput_exceeded_minutes",
)

COUNTER_SERIES = ("read_ops", "write_ops", "read_bytes", "write_bytes")


def series(sums: Sums) -> Iterator[tuple[str, FloatArray]]:
    """Every series that the cloud published, by name."""
    for name in (*COUNTER_SERIES, *OPTIONAL_SERIES):
        values = getattr(sums, name)
        if values is not None:
            yield name, values
