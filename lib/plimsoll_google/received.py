"""Received: one time series of Cloud Monitoring, read into arrays, or refused with its fault.

A point is taken if it can be one of those asked for. It is of that metric, project and device, inside the window, on
its grid and there once. Its value is one that a disk can have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll.model.units import MIB, MIB_PER_GIB
from plimsoll_google.names import LIST_TIME_SERIES
from plimsoll_google.points import points_of
from plimsoll_google.queries import SIGNAL_METRICS, MetricCall

_NUMBERS: Final = {2, 3}
"""google.api.MetricDescriptor.ValueType of integers and of doubles."""

_KINDS: Final = {1, 2}
"""google.api.MetricDescriptor.MetricKind of gauges and deltas. What is cumulative cannot be added up."""

_RESOURCE: Final = "gce_instance"

MOST_OPS_PER_S: Final = 4_000_000
MOST_BYTES_PER_S: Final = 64 * MIB_PER_GIB * MIB
"""No disk does more in one instance: over ten times the largest cap of a machine (500,000 IOPS and 10,000 MiB/s,
data/machines.yaml and data/types.yaml)."""

MOST_DISK_WAITING: Final = 1e10
"""Microseconds, and operations in a queue: nothing waits for hours."""

Identity = tuple[tuple[str, str], ...]
"""The labels of a series, of its metric and of its resource: what tells it from all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The points of one series on one page: when each ends, in epoch seconds, and its value."""

    instance_id: str
    zone: str
    device: str
    identity: Identity
    ends_s: IntArray
    values: FloatArray


def read_series(series: Any, call: MetricCall, project: str, place: str) -> Received:
    """The points of a `TimeSeries` (the protobuf message itself) of an answer. Raises BadAnswer."""
    metric, resource = dict(series.metric.labels), dict(series.resource.labels)
    labels = {**resource, "device_name": metric.get("device_name", "")}
    ends_s, values, wrong = _points(series)
    wrong = _wrong_header(series, labels, call, project) or wrong or _wrong_points(ends_s, values, call)
    if wrong is not None:
        raw = {"metric": series.metric.type, "labels": labels, "points": len(values), "values": values[:50].tolist()}
        raise bad_answer(wrong, raw, call=LIST_TIME_SERIES, place=f"{call.metric.name} in {place}")
    return Received(
        instance_id=labels["instance_id"],
        zone=labels["zone"],
        device=labels["device_name"],
        identity=(*sorted(metric.items()), *sorted(resource.items())),
        ends_s=ends_s,
        values=values,
    )


def _points(series: Any) -> tuple[IntArray, FloatArray, str | None]:
    """The end of each point, its value, and the fault of the points if there is one."""
    ends_s, values, valued = points_of(series)
    if series.value_type not in _NUMBERS:
        return ends_s, values, f"valueType is {series.value_type}, and not that of a number"
    if not valued.all():
        return ends_s, values, "the value of a point is missing, or not of the series' type"
    return ends_s, values, None


def _come_twice(times_s: IntArray) -> bool:
    """True if a time is there twice."""
    ordered = np.sort(times_s)
    return bool((ordered[1:] == ordered[:-1]).any())


def _wrong_header(series: Any, labels: Mapping[str, str], call: MetricCall, project: str) -> str | None:
    """The fault of the series itself. None if there is none."""
    status = series.metric.labels.get("performance_status", "")
    checks = {
        f"metric.type is {series.metric.type!r}": series.metric.type == call.metric.name,
        f"resource.type is {series.resource.type!r}": series.resource.type == _RESOURCE,
        f"metricKind is {series.metric_kind}": series.metric_kind in _KINDS,
        f"unit is {series.unit!r}": not series.unit or (series.unit[:2] == "By") == call.series.endswith("bytes"),
        f"project_id is {labels.get('project_id', '')!r}": labels.get("project_id") == project,
        f"performance_status is {status!r}": not call.metric.statuses or status in call.metric.statuses,
        f"the labels are {dict(labels)}, and nobody asked for these": call.asks_for(
            labels.get("instance_id", ""), labels.get("zone", ""), labels["device_name"]
        ),
    }
    return next((wrong for wrong, holds in checks.items() if not holds), None)


def _wrong_points(ends_s: IntArray, values: FloatArray, call: MetricCall) -> str | None:
    """The fault of the points of a series. None if there is none."""
    window, period_s = call.window, call.period_s
    most: float = MOST_BYTES_PER_S if call.series.endswith("bytes") else MOST_OPS_PER_S
    if call.series in SIGNAL_METRICS:
        most = 1.0 if call.metric.statuses else MOST_DISK_WAITING
    checks = {
        "points is missing": bool(len(values)),
        "a point is outside of the window": bool(((ends_s > window.start_s) & (ends_s <= window.end_s)).all()),
        "a point is not on the grid": not ((window.end_s - ends_s) % period_s).any(),
        "a point came twice": not _come_twice(ends_s),
        "a value is not finite or negative": bool((np.isfinite(values) & (values >= 0)).all()),
        "a value is more than a disk can do": bool((values <= most * (1 if call.metric.peak else period_s)).all()),
    }
    return next((wrong for wrong, holds in checks.items() if not holds), None)


def join_times(before: IntArray, part: Received, call: MetricCall, place: str) -> IntArray:
    """The times of a series that goes on over pages. Raises BadAnswer if a point came on an earlier one."""
    both = np.concatenate([before, part.ends_s])
    if _come_twice(both):
        wrong = "a point came twice, on two pages"
        raise bad_answer(wrong, dict(part.identity), call=LIST_TIME_SERIES, place=f"{call.metric.name} in {place}")
    return both
