"""Requests for time series: what is asked for, refused where the real Cloud Monitoring refuses it."""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.google.filters import Matches, parsed
from cloud_simulator.units import MINUTE_S

PREFIX: Final = "compute.googleapis.com/instance/disk/"
METRICS: Final = {
    f"{PREFIX}{most}{way}_{what}_count": f"{'peak_' if most else ''}{way}_{what}"
    for most in ("", "max_")
    for way in ("read", "write")
    for what in ("ops", "bytes")
}
"""The series of each metric."""

MOST_POINTS: Final = 100_000
"""Of a page (google-cloud-monitoring 2.32, ListTimeSeriesRequest.page_size)."""

HEADERS: Final = 1
_STATS: Final = {0: None, 10: "Minimum", 11: "Maximum", 13: "SampleCount", 14: "Sum"}
"""The statistic of each aligner: none, ALIGN_MIN, ALIGN_MAX, ALIGN_COUNT and ALIGN_SUM."""

_TYPE: Final = re.compile(r'metric\.type\s*=\s*"([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Points of one metric in (start_s, end_s], aligned by `stat` to `period_s`, or as they are (None, a minute).

    `first` is the number of the series to go on with, `skip` how many of its points were told before.
    """

    project: str
    metric: str
    matches: Matches
    start_s: float
    end_s: float
    stat: str | None
    period_s: int
    headers_only: bool
    room: int
    first: int
    skip: int
    seal: str

    @property
    def series(self) -> str:
        """The series of the metric."""
        return METRICS[self.metric]

    @property
    def peaks(self) -> bool:
        """Whether it is a gauge of the busiest second rather than a count."""
        return self.series.startswith("peak_")

    def token(self, number: int, skip: int) -> str:
        """What to ask with for the rest, from a point of a series on."""
        return f"{self.seal}.{number}.{skip}"


def parse(request: Any) -> Asked:
    """What a ListTimeSeriesRequest asks for."""
    place = re.fullmatch(r"projects/([^/]+)", request.name)
    if place is None:
        raise Refused("INVALID_ARGUMENT", f"Name must begin with 'projects/', got: {request.name!r}.")
    if request.order_by:
        raise Refused("INVALID_ARGUMENT", "Field order_by is unsupported: must be left blank.")
    if request.page_size < 0:
        raise Refused("INVALID_ARGUMENT", "Field page_size must not be negative.")
    stat, period_s = _alignment(request)
    start_s, end_s = _interval(request.interval)
    seal = _seal(request)
    first, skip = _from(request.page_token, seal)
    return Asked(
        project=place[1],
        metric=_metric(request.filter),
        matches=parsed(request.filter),
        start_s=start_s,
        end_s=end_s,
        stat=stat,
        period_s=period_s,
        headers_only=request.view == HEADERS,
        room=min(request.page_size or MOST_POINTS, MOST_POINTS),
        first=first,
        skip=skip,
        seal=seal,
    )


def _metric(text: str) -> str:
    named = set(_TYPE.findall(text))
    if len(named) != 1:
        raise Refused("INVALID_ARGUMENT", "Field filter must specify exactly one metric type.")
    (metric,) = named
    if metric not in METRICS:
        raise Refused("NOT_FOUND", f'Cannot find metric(s) that match type = "{metric}".')
    return str(metric)


def _interval(interval: Any) -> tuple[float, float]:
    if not interval.HasField("end_time"):
        raise Refused("INVALID_ARGUMENT", "Field interval.end_time is required.")
    end_s = interval.end_time.seconds + interval.end_time.nanos / 1e9
    begin = interval.start_time if interval.HasField("start_time") else interval.end_time
    start_s = begin.seconds + begin.nanos / 1e9
    if start_s > end_s:
        raise Refused("INVALID_ARGUMENT", "Field interval.start_time must not be later than interval.end_time.")
    return start_s, end_s


def _alignment(request: Any) -> tuple[str | None, int]:
    asked = request.aggregation
    if asked.cross_series_reducer or request.HasField("secondary_aggregation"):
        raise Refused("INVALID_ARGUMENT", "The simulated Cloud Monitoring reduces nothing across series.")
    if asked.per_series_aligner not in _STATS:
        raise Refused(
            "INVALID_ARGUMENT",
            "The simulated Cloud Monitoring aligns by ALIGN_SUM, ALIGN_MAX, ALIGN_MIN and ALIGN_COUNT alone: "
            "it invents nothing in gaps.",
        )
    stat = _STATS[asked.per_series_aligner]
    if stat is None:
        return None, MINUTE_S
    period_s = asked.alignment_period.seconds
    if period_s < MINUTE_S or period_s % MINUTE_S or asked.alignment_period.nanos:
        raise Refused("INVALID_ARGUMENT", "Field aggregation.alignment_period must be whole minutes, and one at least.")
    return stat, int(period_s)


def _seal(request: Any) -> str:
    whole = type(request)()
    whole.CopyFrom(request)
    whole.page_token = ""
    return hashlib.sha256(whole.SerializeToString(deterministic=True)).hexdigest()[:16]


def _from(token: str, seal: str) -> tuple[int, int]:
    """Where to go on; a token is good for the very request that it was given for."""
    if not token:
        return 0, 0
    found = re.fullmatch(r"([0-9a-f]{16})\.(\d+)\.(\d+)", token)
    if found is None or found[1] != seal:
        raise Refused("INVALID_ARGUMENT", "Field page_token is not one of this request.")
    return int(found[2]), int(found[3])
