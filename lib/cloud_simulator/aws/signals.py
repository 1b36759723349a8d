"""Signals: how volumes and hosts answered, minute by minute, made of what the volumes did."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np
from moto.ec2.models.instance_types import INSTANCE_TYPES

from cloud_simulator.aws.fleet import SimulatedHost, SimulatedVolume
from cloud_simulator.metrics.live_minutes import latency_factors
from cloud_simulator.metrics.series import CHECKS
from cloud_simulator.metrics.unrest import Unrest
from cloud_simulator.published import VolumeSpec, instance_limits
from cloud_simulator.units import DAY_S, MIB, MINUTE_S, FloatArray

Each = Callable[[SimulatedVolume, str], FloatArray]
"""The minutes of a series of a volume, over the span that is asked for; NaN where there is no point."""

_USUAL_MS: Final = {"io1": 1.0, "io2": 0.6, "gp2": 1.0, "gp3": 1.0}
"""By the latency that is published of each type: single-digit milliseconds, and less for io2 alone."""

_DISK_MS: Final = 5.0
_HELD_FACTOR: Final = 6.0
"""At its ceiling a volume keeps operations waiting."""

_AT_MOST: Final = 0.95
"""The share of a host's maximum from which on more was asked of it: what is served is a little under what is asked."""


def timed_series(metric: str, volume: SimulatedVolume, instance_id: str | None) -> str | None:
    """The series of a metric of a volume, alone or on an instance. None where none is published."""
    if volume.multi_attach and metric != "VolumeQueueLength":
        return None
    if instance_id is None:
        return _ALONE.get(metric)
    host = next((host for host in volume.hosts if host.id == instance_id), None)
    return _ATTACHED.get(metric) if host is not None and host.nitro else None


def of_host(metric: str, host: SimulatedHost, volumes: Sequence[SimulatedVolume], each: Each) -> FloatArray | None:
    """The minutes of a metric of a host with these volumes, from a midnight (UTC) on; None where none is published.

    Checks have a point in each minute in which any volume had one, balances one in each five minutes.
    """
    limits = _limits(host.type)
    if metric not in _OF_HOST or limits is None or not host.nitro or not volumes:
        return None
    series, share, balance = _OF_HOST[metric]
    baseline, maximum = limits[series]
    names = (f"read_{series}", f"write_{series}")
    done = [each(volume, name) for volume in volumes for name in names]
    ran = ~np.isnan([each(volume, "read_ops") for volume in volumes]).all(axis=0)
    rate: FloatArray = np.nansum(done, axis=0) / MINUTE_S
    if not balance:
        return np.where(ran, (rate >= share * maximum).astype(np.float64), np.nan)
    if maximum <= baseline:
        return None
    return _every_five_minutes(np.where(ran, _balance_pct(rate, baseline, maximum), np.nan))


def timed_minutes(
    volume: SimulatedVolume, first_minute: int, count: int, each: Each, unrest: Unrest | None
) -> dict[str, FloatArray]:
    """The minutes of all series that follow from how long a volume's operations took."""
    reads, writes = each(volume, "read_ops"), each(volume, "write_ops")
    each_ms = _mean_ms(volume, first_minute, reads + writes, each)
    if unrest is not None:
        each_ms = each_ms * unrest.factors(volume.id, volume.zone, first_minute, count)
    read_s, write_s = reads * each_ms / 1000, writes * each_ms / 1000
    return {
        "read_time_s": read_s,
        "write_time_s": write_s,
        "queue_length": (read_s + write_s) / MINUTE_S,
        "read_latency_ms": _latency_ms(reads, read_s),
        "write_latency_ms": _latency_ms(writes, write_s),
        "stalled": 0.0 * reads,
    }


def _mean_ms(volume: SimulatedVolume, first_minute: int, ops: FloatArray, each: Each) -> FloatArray:
    """The mean time of an operation in each minute, under the configuration then in force."""
    held = np.maximum.reduce([each(volume, check) for check in CHECKS])
    held = np.maximum(held, each(volume, "idle_s") == 0)
    usual_ms = np.full(len(ops), _usual_ms(volume.lived[0].before if volume.lived else volume.spec))
    for modification in volume.lived:
        if not modification.is_failed:
            moved = max(0, math.ceil(modification.moved_s / MINUTE_S) - first_minute)
            usual_ms[moved:] = _usual_ms(modification.after)
    mean_ms = np.where(held > 0, np.maximum(_DISK_MS, _HELD_FACTOR * usual_ms), usual_ms)
    if volume.life is not None and (volume.lived or volume.disturbances):
        mean_ms = mean_ms * latency_factors(volume.life, ops, held, first_minute)
    return mean_ms


def _usual_ms(spec: VolumeSpec) -> float:
    return _USUAL_MS.get(spec.type, _DISK_MS)


def _latency_ms(operations: FloatArray, seconds: FloatArray) -> FloatArray:
    """The mean latency of each minute, 0 without operations."""
    mean = np.divide(seconds, operations, out=np.zeros_like(seconds), where=operations > 0)
    return np.where(np.isnan(operations), np.nan, 1000 * mean)


_ALONE: Final = {
    "VolumeTotalReadTime": "read_time_s",
    "VolumeTotalWriteTime": "write_time_s",
    "VolumeQueueLength": "queue_length",
}
_ATTACHED: Final = {
    "VolumeAvgReadLatency": "read_latency_ms",
    "VolumeAvgWriteLatency": "write_latency_ms",
    "VolumeStalledIOCheck": "stalled",
}
TIMED_STATS: Final = {
    "read_time_s": "Sum",
    "write_time_s": "Sum",
    "queue_length": "Average",
    "read_latency_ms": "Maximum",
    "write_latency_ms": "Maximum",
    "stalled": "Sum",
}
"""The statistic that is usually asked of each series of time."""

UNEVEN_TIMES: Final = frozenset({"read_time_s", "write_time_s", "queue_length"})
_OF_HOST: Final = {
    "InstanceEBSIOPSExceededCheck": ("ops", _AT_MOST, False),
    "InstanceEBSThroughputExceededCheck": ("bytes", _AT_MOST, False),
    "EBSIOBalance%": ("ops", 1.0, True),
    "EBSByteBalance%": ("bytes", 1.0, True),
}
BALANCE_MINUTES: Final = 5
"""Minutes between points of a host's balances, with basic monitoring alone (Amazon EC2 User Guide, "CloudWatch metrics
that are available for your instances", read 2026-11-23)."""

METRICS: Final = frozenset({*_ALONE, *_ATTACHED, *_OF_HOST})
OF_HOSTS: Final = frozenset(_OF_HOST)


@cache
def _limits(type_name: str) -> dict[str, tuple[float, float]] | None:
    """A type's baseline and maximum, of operations and of bytes a second."""
    described = INSTANCE_TYPES.get(type_name)
    limits = None if described is None else instance_limits(described)
    if limits is None:
        return None
    return {
        "ops": (limits.baseline_iops, limits.maximum_iops),
        "bytes": (limits.baseline_throughput_mib_s * MIB, limits.maximum_throughput_mib_s * MIB),
    }


def _every_five_minutes(values: FloatArray) -> FloatArray:
    """The least of each five minutes, at the first of them, and no point at the others."""
    padded = np.concatenate([values, np.full(-len(values) % BALANCE_MINUTES, np.nan)]).reshape(-1, BALANCE_MINUTES)
    published = np.full_like(padded, np.nan)
    published[:, 0] = np.fmin.reduce(padded, axis=1)
    least: FloatArray = published.reshape(-1)[: len(values)]
    return least


def _balance_pct(rate: FloatArray, baseline: float, maximum: float) -> FloatArray:
    """The share that is left of 30 minutes at the maximum. Every day begins with all of it."""
    capacity, day = (maximum - baseline) * 30 * MINUTE_S, DAY_S // MINUTE_S
    spent = np.maximum(0.0, rate - baseline) * MINUTE_S
    padded = np.concatenate([spent, np.zeros(-len(spent) % day)]).reshape(-1, day)
    left: FloatArray = 100 * np.maximum(0.0, 1 - np.cumsum(padded, axis=1) / capacity).reshape(-1)[: len(spent)]
    return left
