"""Signals: the latencies, queues and impairments of a volume and its host, beside the demand.

They do not size an offer. They stand beside a recommendation, so that people see what their workload feels today, and
are the baseline that a change is checked against afterwards. They are read by the day, for changes alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll.model.series import SIGNALS
from plimsoll.model.units import DAY_S
from plimsoll.reading.known import Look
from plimsoll.reading.window import Window

_MS_PER_S: Final = 1000.0

MEAN_ROUNDING: Final = 1.01
"""A mean may pass the highest minute by what rounding adds."""

_PAIRS: Final = {
    ("read_time_s", "timed_reads"): "highest_read_latency_ms",
    ("write_time_s", "timed_writes"): "highest_write_latency_ms",
    ("mean_io_latency_ms",): "highest_io_latency_ms",
    ("mean_queue_length",): "highest_queue_length",
}
"""What a mean is made of, and the highest minute of the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalLevel:
    """The mean of a figure over a window, and its highest minute (None: not published)."""

    mean: float
    highest: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The signals of a volume and its host in a window. None: the cloud has no point of it there, or does not publish
    it.

    - Latencies are in milliseconds, and means are over operations; `io_latency_ms` is of reads and writes together,
      where the cloud does not tell them apart, and a mean of minutes. The queue is in operations.
    - `stalled_minutes` are those in which no operation ended, `degraded_minutes` those in which the cloud said that the
      volume was impaired.
    - `host_exceeded_minutes` are those in which more was asked of the host than its maximum.
    - `host_balance_pct` is the least that was left of the credits of a host that bursts.
    - `days_observed` is the number of days of the window that every figure rests on at least.
    """

    window: Window
    days_observed: int = 0
    read_latency_ms: SignalLevel | None = None
    write_latency_ms: SignalLevel | None = None
    io_latency_ms: SignalLevel | None = None
    queue_length: SignalLevel | None = None
    stalled_minutes: float | None = None
    degraded_minutes: float | None = None
    host_iops_exceeded_minutes: float | None = None
    host_throughput_exceeded_minutes: float | None = None
    host_iops_balance_pct: float | None = None
    host_throughput_balance_pct: float | None = None


def look_at_signals(window: Window) -> Look | None:
    """Makes the look that reads the signals of a window by its whole days; None if it has none."""
    start_s, end_s = -(-window.start_s // DAY_S) * DAY_S, window.end_s // DAY_S * DAY_S
    if start_s >= end_s:
        return None
    return Look(window=Window(start_s=start_s, end_s=end_s), period_s=DAY_S, groups=(SIGNALS,))


def make_signals(series: Mapping[str, FloatArray], window: Window) -> Signals | None:
    """Makes the signals from the series of a look, day by day (NaN: no point); None if there are none."""
    days = [int((~np.isnan(values)).sum()) for values in series.values()]
    signals = Signals(
        window=window,
        days_observed=min((count for count in days if count), default=0),
        read_latency_ms=_latency_level(series, "read"),
        write_latency_ms=_latency_level(series, "write"),
        io_latency_ms=_level(series, "mean_io_latency_ms", "highest_io_latency_ms"),
        queue_length=_level(series, "mean_queue_length", "highest_queue_length"),
        stalled_minutes=_sum(series, "stalled_minutes"),
        degraded_minutes=_sum(series, "degraded_minutes"),
        host_iops_exceeded_minutes=_sum(series, "host_iops_exceeded_minutes"),
        host_throughput_exceeded_minutes=_sum(series, "host_throughput_exceeded_minutes"),
        host_iops_balance_pct=_least(series, "host_iops_balance_pct"),
        host_throughput_balance_pct=_least(series, "host_throughput_balance_pct"),
    )
    return None if replace(signals, days_observed=0) == Signals(window=window) else signals


def drop_contradictions(series: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
    """The series without the days on which a mean and the highest minute contradict each other: NaN there.

    A mean above the highest minute (1 % is rounding), or a mean of 0 beside a higher minute.
    """
    kept = dict(series)
    for mean, highest in _PAIRS.items():
        if all(name in kept for name in (*mean, highest)):
            values = [kept[name] for name in mean]
            with np.errstate(divide="ignore", invalid="ignore"):
                rate = values[0] if len(values) == 1 else values[0] / values[1] * _MS_PER_S
            wrong = (rate > MEAN_ROUNDING * kept[highest]) | ((rate == 0) & (kept[highest] > 0))
            kept |= {name: np.where(wrong, np.nan, kept[name]) for name in (*mean, highest)}
    return kept


def has_gaps(series: Mapping[str, FloatArray]) -> bool:
    """A series has no point of some day."""
    return any(bool(np.isnan(values).any()) for values in series.values())


def fill_gaps(first: Mapping[str, FloatArray], again: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
    """The first series, with points of the second reading where the first had none.

    A series that only one reading has is kept.
    """
    return {
        name: np.where(np.isnan(values), again[name], values) if name in again else values
        for name, values in {**again, **first}.items()
    }


def _latency_level(series: Mapping[str, FloatArray], way: str) -> SignalLevel | None:
    """The time that operations took over their number, and the highest minute; None where none were done."""
    seconds, operations = _sum(series, f"{way}_time_s"), _sum(series, f"timed_{way}s")
    if seconds is None or not operations:
        return None
    return SignalLevel(mean=seconds / operations * _MS_PER_S, highest=_highest(series, f"highest_{way}_latency_ms"))


def _level(series: Mapping[str, FloatArray], mean: str, highest: str) -> SignalLevel | None:
    values = _points(series, mean)
    return SignalLevel(mean=float(values.mean()), highest=_highest(series, highest)) if len(values) else None


def _highest(series: Mapping[str, FloatArray], name: str) -> float | None:
    values = _points(series, name)
    return float(values.max()) if len(values) else None


def _least(series: Mapping[str, FloatArray], name: str) -> float | None:
    values = _points(series, name)
    return float(values.min()) if len(values) else None


def _sum(series: Mapping[str, FloatArray], name: str) -> float | None:
    values = _points(series, name)
    return float(values.sum()) if len(values) else None


def _points(series: Mapping[str, FloatArray], name: str) -> FloatArray:
    values = series.get(name)
    return np.empty(0) if values is None else values[~np.isnan(values)]
