"""Requests for time series: what is asked for, refused where the real Cloud Monitoring refuses it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.units import MINUTE_S

PREFIX: Final = "compute.googleapis.com/instance/disk/"
DISK_METRICS: Final = {
    f"{PREFIX}{most}{way}_{what}_count": f"{'peak_' if most else ''}{way}_{what}"
    for most in ("", "max_")
    for way in ("read", "write")
    for what in ("ops", "bytes")
}
"""The series of each metric."""

SIGNALS: Final = {
    f"{PREFIX}average_io_latency": "latency_us",
    f"{PREFIX}average_io_queue_depth": "queue",
    f"{PREFIX}performance_status": "health",
}
"""What follows from those series, as gauges of doubles."""

MOST_POINTS: Final = 100_000
"""Of a page (google-cloud-monitoring 2.32, ListTimeSeriesRequest.page_size)."""

_STATS: Final = {11: "Maximum", 12: "Average", 14: "Sum", 17: "Average"}
"""The statistic of each aligner: ALIGN_MAX, ALIGN_MEAN, ALIGN_SUM and ALIGN_FRACTION_TRUE."""

_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_CLAUSE: Final = re.compile(rf"([a-z_.]+) = (?:({_STRING})|one_of\(({_STRING}(?:,{_STRING})*)\))(?: AND |$)")
_LABELS: Final = frozenset(
    {
        "metric.type",
        "resource.type",
        "resource.labels.project_id",
        "resource.labels.instance_id",
        "resource.labels.zone",
        "metric.labels.device_name",
        "metric.labels.performance_status",
    }
)
"""What a filter can compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPoints:
    """Points of one metric in (start_s, end_s], aligned by `stat` to `period_s`.

    `wanted` are the values of each label that a series must have. `first` is the number of the series to go on with,
    `skip` how many of its points were given before.
    """

    project: str
    metric: str
    wanted: Mapping[str, frozenset[str]]
    start_s: float
    end_s: float
    stat: str
    period_s: int
    room: int
    first: int
    skip: int
    seal: str

    @property
    def series(self) -> str:
        """The series of the metric."""
        return DISK_METRICS.get(self.metric) or SIGNALS[self.metric]

    @property
    def peaks(self) -> bool:
        """The series is a gauge of the busiest second, and no count."""
        return self.series.startswith("peak_") or self.metric in SIGNALS

    def token(self, number: int, skip: int) -> str:
        """The page token of the rest, from a point of a series on."""
        return f"{self.seal}.{number}.{skip}"


def parse_list_request(request: Any) -> AskedPoints:
    """The checked ListTimeSeriesRequest. Raises Refused, as Cloud Monitoring does, if it breaks a rule."""
    place = re.fullmatch(r"projects/([^/]+)", request.name)
    if place is None:
        raise Refused("INVALID_ARGUMENT", f"Name must begin with 'projects/', got: {request.name!r}.")
    if request.order_by or request.view:
        raise Refused("INVALID_ARGUMENT", "The simulated Cloud Monitoring gives full series, newest first.")
    if request.page_size < 0:
        raise Refused("INVALID_ARGUMENT", "Field page_size must not be negative.")
    stat, period_s = _alignment(request)
    start_s, end_s = _interval(request.interval)
    seal, wanted = _seal(request), _parse_filter(request.filter)
    first, skip = _parse_token(request.page_token, seal)
    return AskedPoints(
        project=place[1],
        metric=_metric(wanted),
        wanted=wanted,
        start_s=start_s,
        end_s=end_s,
        stat=stat,
        period_s=period_s,
        room=min(request.page_size or MOST_POINTS, MOST_POINTS),
        first=first,
        skip=skip,
        seal=seal,
    )


def _parse_filter(text: str) -> dict[str, frozenset[str]]:
    """A filter's values by label: clauses `LABEL = "VALUE"` or `LABEL = one_of("VALUE","VALUE")`, joined by AND."""
    wanted: dict[str, frozenset[str]] = {}
    at = 0
    while clause := _CLAUSE.match(text, at):
        label, single, several = clause.groups()
        if label not in _LABELS or label in wanted:
            break
        wanted[label] = frozenset(json.loads(f"[{single or several}]"))
        at = clause.end()
    if at < len(text) or not text or text.endswith(" AND "):
        raise Refused(
            "INVALID_ARGUMENT",
            f"Field filter had an invalid value of {text[:200]!r}: the simulated Cloud Monitoring knows "
            f'`LABEL = "VALUE"` and `LABEL = one_of("VALUE","VALUE")`, joined by AND, once for each of '
            f"{', '.join(sorted(_LABELS))}.",
        )
    return wanted


def _metric(wanted: Mapping[str, frozenset[str]]) -> str:
    types = wanted.get("metric.type", frozenset())
    if len(types) != 1:
        raise Refused("INVALID_ARGUMENT", "Field filter must specify exactly one metric type.")
    (metric,) = types
    if metric not in DISK_METRICS and metric not in SIGNALS:
        raise Refused("NOT_FOUND", f'Cannot find metric(s) that match type = "{metric}".')
    return metric


def _interval(interval: Any) -> tuple[float, float]:
    if not interval.HasField("end_time"):
        raise Refused("INVALID_ARGUMENT", "Field interval.end_time is required.")
    end_s = interval.end_time.seconds + interval.end_time.nanos / 1e9
    begin = interval.start_time if interval.HasField("start_time") else interval.end_time
    start_s = begin.seconds + begin.nanos / 1e9
    if start_s > end_s:
        raise Refused("INVALID_ARGUMENT", "Field interval.start_time must not be later than interval.end_time.")
    return start_s, end_s


def _alignment(request: Any) -> tuple[str, int]:
    asked = request.aggregation
    if asked.cross_series_reducer or request.HasField("secondary_aggregation"):
        raise Refused("INVALID_ARGUMENT", "The simulated Cloud Monitoring reduces nothing across series.")
    if asked.per_series_aligner not in _STATS:
        raise Refused(
            "INVALID_ARGUMENT",
            "The simulated Cloud Monitoring aligns by sum, mean, maximum and share alone: it invents nothing in gaps.",
        )
    period_s = asked.alignment_period.seconds
    if period_s < MINUTE_S or period_s % MINUTE_S or asked.alignment_period.nanos:
        raise Refused("INVALID_ARGUMENT", "Field aggregation.alignment_period must be whole minutes, and one at least.")
    return _STATS[asked.per_series_aligner], int(period_s)


def _seal(request: Any) -> str:
    whole = type(request)()
    whole.CopyFrom(request)
    whole.page_token = ""
    return hashlib.sha256(whole.SerializeToString(deterministic=True)).hexdigest()[:16]


def _parse_token(token: str, seal: str) -> tuple[int, int]:
    """The series and point at which to go on. Raises Refused if the token is of another request."""
    if not token:
        return 0, 0
    match = re.fullmatch(r"([0-9a-f]{16})\.(\d+)\.(\d+)", token)
    if match is None or match[1] != seal:
        raise Refused("INVALID_ARGUMENT", "Field page_token is not one of this request.")
    return int(match[2]), int(match[3])
