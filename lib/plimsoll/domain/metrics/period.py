"""PERIOD math: rates from the sums of one bucket, as code and as metric math.

A cloud answers with sums over buckets of `period_s` seconds. The formulas here turn them into rates, elementwise
over numpy arrays; the strings are the same formulas in the metric-math grammar of consoles, for dashboards, alarms and
links. A test evaluates the strings and holds both forms equal.
"""

from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.units import KIB, MIB

LEAST_BUSY_S: Final = 1.0
"""Exceeded checks and limits are judged per second, so no rate is concentrated into less than one."""


def iops(read_ops: FloatArray, write_ops: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """The operations a second of a bucket of `period_s` seconds."""
    return (read_ops + write_ops) / period_s


def throughput_mib_s(read_bytes: FloatArray, write_bytes: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """The MiB a second of a bucket of `period_s` seconds."""
    return (read_bytes + write_bytes) / MIB / period_s


def io_size_kib(total_bytes: FloatArray, total_ops: FloatArray) -> FloatArray:
    """The mean KiB of an operation; NaN if there was no operation."""
    size = np.full(np.shape(total_ops), np.nan)
    np.divide(total_bytes / KIB, total_ops, out=size, where=np.asarray(total_ops) > 0)
    return size


def busy_share(idle_s: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """Share of a bucket in which the volume had work, at least one second's worth.

    A rate over the whole bucket divided by this is the rate while busy: it bounds the true rate inside the bucket
    from above as the plain rate does from below (VolumeIdleTime: seconds without a pending operation).
    """
    return np.clip(period_s - idle_s, np.minimum(LEAST_BUSY_S, period_s), period_s) / period_s


def iops_expression(read_ops: str, write_ops: str, *, period_s: int | None = None) -> str:
    """IOPS in metric math from the ids of the two Ops sums; see `throughput_expression` for `period_s`."""
    return f"({_fill(read_ops, period_s)}+{_fill(write_ops, period_s)})/{_period(read_ops, period_s)}"


def throughput_expression(read_bytes: str, write_bytes: str, *, period_s: int | None = None) -> str:
    """MiB/s in metric math from the ids of the two Bytes sums.

    Without `period_s` the bucket is `PERIOD(first id)`, for metrics known to have data. With `period_s` the bucket is
    that literal and absent points count as zero, for metrics of which one may have no data at all.
    """
    total = f"({_fill(read_bytes, period_s)}+{_fill(write_bytes, period_s)})"
    return f"{total}/{MIB}/{_period(read_bytes, period_s)}"


def _fill(metric_id: str, period_s: int | None) -> str:
    return metric_id if period_s is None else f"FILL({metric_id},0)"


def _period(metric_id: str, period_s: int | None) -> str:
    return f"PERIOD({metric_id})" if period_s is None else str(period_s)
