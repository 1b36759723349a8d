"""Monitoring: ListTimeSeries over what the fleet's disks did, with the real one's intervals, alignment and paging.

What is not published for certain and chosen here: the oldest bucket has what points of it are asked for, and a sum of
deltas stays a delta.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from google.api import metric_pb2, monitored_resource_pb2
from google.cloud.monitoring_v3 import ListTimeSeriesRequest, TimeSeries

from cloud_simulator.faults import Faults, Refused
from cloud_simulator.google.fleet import (
    SERIES_FOLDS,
    Attachment,
    GoogleFleet,
    Measured,
    SimulatedDisk,
    measured_minutes,
)
from cloud_simulator.google.http_front import GLOBAL
from cloud_simulator.google.time_series_request import AskedPoints, parse_list_request
from cloud_simulator.metrics.history import History, fold
from cloud_simulator.units import DAY_S, MINUTE_S, FloatArray

IntArray = npt.NDArray[np.int64]

POINTS_KEPT_DAYS: Final = 42
"""Days for which points are kept: six weeks, which is not sure (facts, 2026-11)."""

LAG_S: Final = 240
"""Seconds after its minute at which a point can be read at the latest (Compute Engine's metrics list, read
2026-11-22)."""

LISTED: Final = "ListTimeSeries"
"""The operation's name to faults; with a slash and one of the series' names, that of its calls for that series."""

Request: Final = ListTimeSeriesRequest.pb(ListTimeSeriesRequest())
_TimeSeries: Final = type(TimeSeries.pb(TimeSeries()))
_NONE: Final = np.empty(0, np.int64)


@dataclass(slots=True)
class Monitoring:
    """Answers for the metrics of a fleet. `clock` None: time passes from the fleet's own `now` on."""

    fleet: GoogleFleet
    faults: Faults = field(default_factory=Faults)
    clock: Callable[[], float] | None = None
    latency_s: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)
    _history: History[Measured] = field(default_factory=lambda: History(measured_minutes, SERIES_FOLDS), repr=False)
    _measured: dict[str, list[Measured]] = field(init=False, repr=False)
    _started: float = field(default_factory=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        together: dict[tuple[str, ...], list[tuple[SimulatedDisk, Attachment]]] = {}
        for disk, attachment in self.fleet.measured_attachments():
            key = (disk.project, attachment.vm.id, attachment.device, disk.spec.type)
            together.setdefault(key, []).append((disk, attachment))
        self._measured = {project: [] for project in self.fleet.accounts}
        for (project, *_), attachments in sorted(together.items()):
            self._measured[project].append(Measured(attachments=tuple(attachments)))

    def list_time_series(self, request: Any) -> bytes:
        """A page of the points that a ListTimeSeriesRequest asks for, as a serialized response."""
        time.sleep(self.latency_s)
        project = request.name.removeprefix("projects/")
        self.calls[LISTED] = self.calls.get(LISTED, 0) + 1
        self.faults.meet(LISTED, project, GLOBAL)
        asked = parse_list_request(request)
        if project not in self._measured:
            denied = f"Permission monitoring.timeSeries.list denied (or the resource may not exist) for {request.name}."
            raise Refused("PERMISSION_DENIED", denied)
        self.faults.meet(f"{LISTED}/{asked.series}", project, GLOBAL)
        return self._page(asked)

    def _page(self, asked: AskedPoints) -> bytes:
        messages: list[bytes] = []
        room, skip = asked.room, asked.skip
        matched = [
            measured for measured in self._measured[asked.project] if _matches_filter(_labels(measured, asked), asked)
        ]
        for number in range(asked.first, len(matched)):
            starts_s, ends_s, values = self._points(matched[number], asked)
            if not len(values):
                continue
            if room <= 0:
                return b"".join(messages) + _next(asked.token(number, 0))
            header = _header(matched[number], asked)
            part = slice(skip, skip + room)
            messages.append(series(header, points(starts_s[part], ends_s[part], values[part])))
            if skip + room < len(values):
                return b"".join(messages) + _next(asked.token(number, skip + room))
            room, skip = room - (len(values) - skip), 0
        return b"".join(messages)

    def _points(self, measured: Measured, asked: AskedPoints) -> tuple[IntArray, IntArray, IntArray | FloatArray]:
        """Starts, ends and values of the present points, newest first."""
        now_s = self._now_s()
        begin_s = _minute(max(asked.start_s, now_s - POINTS_KEPT_DAYS * DAY_S))
        end_s, known_s = _minute(asked.end_s), _minute(min(asked.end_s, now_s - LAG_S))
        if known_s <= begin_s or not _was_attached(measured, begin_s, known_s):
            return _NONE, _NONE, _NONE
        values, first_s = self._align(measured, asked, begin_s, end_s, known_s)
        present = np.flatnonzero(~np.isnan(values))[::-1]
        ends_s = first_s + (present + 1) * asked.period_s + int(asked.end_s) - end_s
        starts_s = ends_s if asked.peaks else ends_s - asked.period_s
        figures = values[present]
        return starts_s, ends_s, figures if asked.series in _SIGNALS else figures.astype(np.int64)

    def _align(
        self, measured: Measured, asked: AskedPoints, begin_s: int, end_s: int, known_s: int
    ) -> tuple[FloatArray, int]:
        """A figure for each bucket, counted back from the end of what is asked; and where the first begins."""
        rest_s = (end_s - begin_s) % asked.period_s
        whole_s = begin_s + rest_s
        count = max(0, known_s - whole_s) // MINUTE_S
        values = np.empty(0)
        if count:
            values = self._buckets(measured, asked, whole_s, count, asked.period_s)
        if rest_s:
            minutes = min(whole_s, known_s) - begin_s
            part = self._buckets(measured, asked, begin_s, minutes // MINUTE_S, rest_s)
            values = np.concatenate([part[:1], values])
            whole_s -= asked.period_s
        return values, whole_s

    def _buckets(self, measured: Measured, asked: AskedPoints, start_s: int, count: int, period_s: int) -> FloatArray:
        """A statistic of some minutes of a series, or of what follows from several, by buckets."""
        if asked.series in SERIES_FOLDS:
            return self._history.buckets(measured, asked.series, asked.stat, start_s, count, period_s)

        def each(name: str) -> FloatArray:
            return self._history.buckets(measured, name, SERIES_FOLDS[name], start_s, count, MINUTE_S)

        made = _SIGNALS[asked.series](each("read_ops") + each("write_ops"))
        width = period_s // MINUTE_S
        return fold(np.concatenate([made, np.full(-count % width, np.nan)]).reshape(-1, width), asked.stat)

    def _now_s(self) -> float:
        if self.clock is not None:
            return self.clock()
        return self.fleet.now.timestamp() + time.monotonic() - self._started


def _minute(at_s: float) -> int:
    return int(at_s // MINUTE_S) * MINUTE_S


def _was_attached(measured: Measured, begin_s: int, end_s: int) -> bool:
    """A disk was attached at some time in a span."""
    spans = [attachment.span_s for _, attachment in measured.attachments]
    return any(since_s < end_s and until_s > begin_s for since_s, until_s in spans)


def _matches_filter(labels: Mapping[str, str], asked: AskedPoints) -> bool:
    return all(labels.get(name) in values for name, values in asked.wanted.items())


def _labels(measured: Measured, asked: AskedPoints) -> dict[str, str]:
    """The labels that a filter compares."""
    _, attachment = measured.attachments[0]
    resource = {f"resource.labels.{name}": value for name, value in _resource_labels(measured).items()}
    types = {"metric.type": asked.metric, "resource.type": "gce_instance"}
    status = {"metric.labels.performance_status": HEALTHY} if asked.series == "health" else {}
    return {**types, **resource, **status, "metric.labels.device_name": attachment.device}


def _metric_labels(measured: Measured, asked: AskedPoints) -> dict[str, str]:
    disk, attachment = measured.attachments[0]
    labels = {"device_name": attachment.device, "storage_type": disk.spec.type, "device_type": "permanent"}
    return labels if asked.peaks else {**labels, "instance_name": attachment.vm.name}


def _resource_labels(measured: Measured) -> dict[str, str]:
    vm = measured.attachments[0][1].vm
    return {"project_id": vm.project, "zone": vm.zone, "instance_id": vm.id}


def _header(measured: Measured, asked: AskedPoints) -> Any:
    kinds = metric_pb2.MetricDescriptor
    return _TimeSeries(
        metric=metric_pb2.Metric(type=asked.metric, labels=_metric_labels(measured, asked)),
        resource=monitored_resource_pb2.MonitoredResource(type="gce_instance", labels=_resource_labels(measured)),
        metric_kind=kinds.GAUGE if asked.peaks else kinds.DELTA,
        value_type=kinds.DOUBLE if asked.series in _SIGNALS else kinds.INT64,
    )


def _next(token: str) -> bytes:
    written = token.encode()
    return b"\x12" + len(written).to_bytes(1, "big") + written


_SECONDS_BYTES: Final = 5
"""Of the number of a second, until the year 3058."""

HEALTHY: Final = "Healthy"
"""The status of every disk here."""

_LATENCY_US: Final = 800.0
_SIGNALS: Final[Mapping[str, Callable[[FloatArray], FloatArray]]] = {
    "latency_us": lambda ops: np.where(ops > 0, _LATENCY_US, np.where(np.isnan(ops), np.nan, 0.0)),
    "queue": lambda ops: ops / MINUTE_S * _LATENCY_US / 1e6,
    "health": lambda ops: np.where(np.isnan(ops), np.nan, 1.0),
}
"""What follows from the operations of a minute: their latency, how many are under way, and that all is well."""

_VALUE_BYTES: Final = 8
"""Of a value below 2^56: 834 GiB/s for a day."""

_TIME: Final = (1 + _SECONDS_BYTES).to_bytes(1, "big") + b"\x08"
_INTERVAL: Final = 2 * (2 + 1 + _SECONDS_BYTES)
_VALUE: Final = 1 + _VALUE_BYTES
_POINT: Final = 2 + _INTERVAL + 2 + _VALUE


def points(starts_s: IntArray, ends_s: IntArray, values: IntArray | FloatArray) -> bytes:
    """The field `points` of a TimeSeries, in the order given; times are in epoch seconds.

    Making each point as a message takes most of an answer's time, so they are written in protobuf's wire format, all of
    the same length, a column of bytes after the other. Numbers of fields are those of google.monitoring.v3 (package
    google-cloud-monitoring 2.32): Point has interval 1 and value 2, TimeInterval start_time 1 and end_time 2,
    TypedValue int64_value 2 and double_value 3, TimeSeries points 5, ListTimeSeriesResponse time_series 1 and
    next_page_token 2.
    """
    parts: Sequence[bytes | npt.NDArray[np.uint8]] = (
        b"\x2a" + _POINT.to_bytes(1, "big") + b"\x0a" + _INTERVAL.to_bytes(1, "big") + b"\x0a" + _TIME,
        _varints(starts_s, _SECONDS_BYTES),
        b"\x12" + _TIME,
        _varints(ends_s, _SECONDS_BYTES),
        b"\x12" + _VALUE.to_bytes(1, "big") + (b"\x10" if values.dtype == np.int64 else b"\x19"),
        _to_bytes(values),
    )
    rows = [
        np.broadcast_to(np.frombuffer(p, np.uint8), (len(values), len(p))) if isinstance(p, bytes) else p for p in parts
    ]
    return np.concatenate(rows, axis=1).tobytes()


def _to_bytes(values: IntArray | FloatArray) -> npt.NDArray[np.uint8]:
    """Each whole number as one, and every other one in the eight bytes of a double."""
    if values.dtype == np.int64:
        return _varints(values.astype(np.int64), _VALUE_BYTES)
    return np.ascontiguousarray(values, dtype="<f8").view(np.uint8).reshape(-1, _VALUE_BYTES)


def _varints(numbers: IntArray, size: int) -> npt.NDArray[np.uint8]:
    """Each number as a varint of `size` bytes. Bytes that it does not need are zeros with a continuation bit."""
    shifts = np.arange(size, dtype=np.int64) * 7
    groups = ((numbers[:, np.newaxis] >> shifts) & 0x7F).astype(np.uint8)
    groups[:, :-1] |= 0x80
    return groups


def series(header: Any, written: bytes) -> bytes:
    """The field `time_series` of a response: a TimeSeries message without points, and its points as written."""
    head: bytes = header.SerializeToString()
    made = head + written
    return b"\x0a" + _length(len(made)) + made


def _length(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)
