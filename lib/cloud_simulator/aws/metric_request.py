"""The requests of GetMetricData and GetMetricStatistics, checked as CloudWatch checks them."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cloud_simulator.faults import Refused
from cloud_simulator.units import DAY_S, MINUTE_S

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_PAGE: Final = 100_800
DATAPOINTS_OF_STATISTICS: Final = 1440
KEPT_DAYS: Final = ((60, 15), (300, 63), (3600, 455))
"""Each period in seconds and the days for which its data is kept, finest first."""

_ID: Final = re.compile(r"[a-z][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSeries:
    """One query of the request: a statistic of one metric, and the label that its answer bears."""

    id: str
    label: str
    namespace: str
    metric: str
    dimensions: Mapping[str, str]
    period_s: int
    stat: str
    returned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedData:
    """The request: from `start_s` (inclusive) to `end_s` (exclusive), epoch seconds, and where its page begins."""

    series: Sequence[AskedSeries]
    start_s: int
    end_s: int
    room: int
    ascending: bool
    first_series: int
    first_point: int

    @property
    def datapoints(self) -> int:
        """The call's count against the quota: a bucket of each series that is left, at most a page of them."""
        left = sum(_buckets(self, series.period_s) for series in self.series[self.first_series :] if series.returned)
        return max(0, min(self.room, left - self.first_point))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStatistics:
    """The request of GetMetricStatistics: one metric's statistics from `start_s` to `end_s`, as in `AskedData`."""

    series: Sequence[AskedSeries]
    start_s: int
    end_s: int
    unit: str | None


AskedMetrics = AskedData | AskedStatistics


def parse_data(request: Mapping[str, Any], now_s: float) -> AskedData:
    """The checked request. Raises Refused, as CloudWatch does, if it breaks a rule."""
    queries: Sequence[Mapping[str, Any]] = request.get("MetricDataQueries") or ()
    if not queries:
        raise _invalid("The parameter MetricDataQueries is required.")
    if len(queries) > QUERIES_A_CALL:
        raise _invalid(f"The collection MetricDataQueries must not have a size greater than {QUERIES_A_CALL}.")
    series = [_series(query) for query in queries]
    if len({asked.id for asked in series}) < len(series):
        raise _invalid("The values for parameter id in MetricDataQueries are not unique.")
    start_s, end_s = _window(request, now_s, "ValidationError")
    room = int(request.get("MaxDatapoints") or DATAPOINTS_A_PAGE)
    if not 1 <= room <= DATAPOINTS_A_PAGE:
        raise _invalid(f"The parameter MaxDatapoints must be between 1 and {DATAPOINTS_A_PAGE}.")
    first_series, first_point = _open_token(request.get("NextToken"))
    return AskedData(
        series=series,
        start_s=start_s,
        end_s=end_s,
        room=room,
        ascending=request.get("ScanBy") == "TimestampAscending",
        first_series=first_series,
        first_point=first_point,
    )


def parse_statistics(request: Mapping[str, Any], now_s: float) -> AskedStatistics:
    """The checked request of GetMetricStatistics. Raises Refused, as CloudWatch does, if it breaks a rule."""
    start_s, end_s = _window(request, now_s, "InvalidParameterValue")
    stats = request.get("Statistics") or ()
    if not stats:
        raise Refused("InvalidParameterCombination", "The simulated CloudWatch needs Statistics: it has no others.")
    period_s = int(request["Period"])
    if period_s < MINUTE_S or period_s % MINUTE_S:
        raise Refused("InvalidParameterValue", f"The parameter Period must be a multiple of {MINUTE_S}.")
    asked = AskedStatistics(
        series=[_build_series(request, {}, period_s, str(stat)) for stat in stats],
        start_s=start_s,
        end_s=end_s,
        unit=request.get("Unit"),
    )
    count = _buckets(asked, period_s)
    if count > DATAPOINTS_OF_STATISTICS:
        raise Refused(
            "InvalidParameterCombination",
            f"You have requested up to {count:,} datapoints, which exceeds the limit of {DATAPOINTS_OF_STATISTICS:,}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range.",
        )
    return asked


def finest_kept_s(start_s: float, now_s: float) -> int | None:
    """The finest period for which data that old is still kept. None if there is none."""
    age_days = (now_s - start_s) / DAY_S
    return next((finest_s for finest_s, days in KEPT_DAYS if age_days <= days), None)


def seal(series: int, points: int) -> str:
    """A NextToken: the page after this one begins in that series, at that point."""
    return base64.urlsafe_b64encode(json.dumps([series, points]).encode()).decode()


def _series(query: Mapping[str, Any]) -> AskedSeries:
    name = str(query.get("Id", ""))
    if not _ID.fullmatch(name):
        raise _invalid(
            f"The value {name!r} for parameter MetricDataQueries.member.Id is not matching [a-z][a-zA-Z0-9_]*."
        )
    if "MetricStat" not in query:
        raise _invalid(f"{name}: the simulated CloudWatch evaluates no expressions: ask for a MetricStat.")
    asked = query["MetricStat"]
    metric, period_s = asked["Metric"], int(asked["Period"])
    if period_s < MINUTE_S or period_s % MINUTE_S:
        raise _invalid(f"{name}: the period {period_s} is not a multiple of {MINUTE_S}.")
    return _build_series(metric, query, period_s, str(asked.get("Stat")))


def _build_series(metric: Mapping[str, Any], query: Mapping[str, Any], period_s: int, stat: str) -> AskedSeries:
    name = str(metric.get("MetricName"))
    return AskedSeries(
        id=str(query.get("Id", "")),
        label=str(query.get("Label", name)),
        namespace=str(metric.get("Namespace")),
        metric=name,
        dimensions={dimension["Name"]: dimension["Value"] for dimension in metric.get("Dimensions") or ()},
        period_s=period_s,
        stat=stat,
        returned=query.get("ReturnData") is not False,
    )


def _window(request: Mapping[str, Any], now_s: float, code: str) -> tuple[int, int]:
    """Start and end in epoch seconds, rounded as CloudWatch does; Refused with that code for what is no window."""
    start_s, end_s = _epoch(request, "StartTime", code), _epoch(request, "EndTime", code)
    if start_s >= end_s:
        raise Refused(code, "The parameter StartTime must be less than the parameter EndTime.")
    grain_s = finest_kept_s(start_s, now_s) or KEPT_DAYS[-1][0]
    return int(start_s) // grain_s * grain_s, -(-int(end_s) // MINUTE_S) * MINUTE_S


def _buckets(asked: AskedMetrics, period_s: int) -> int:
    """The number of the window's buckets of that period. The last may be cut short."""
    return -(-(asked.end_s - asked.start_s) // period_s)


def _epoch(request: Mapping[str, Any], name: str, code: str) -> float:
    time = request.get(name)
    if time is None:
        raise Refused(code, f"The parameter {name} is required.")
    return time.timestamp() if isinstance(time, datetime) else float(time)


def _open_token(token: str | None) -> tuple[int, int]:
    if not token:
        return 0, 0
    try:
        series, points = json.loads(base64.urlsafe_b64decode(token))
        return int(series), int(points)
    except (TypeError, ValueError) as error:
        raise Refused("InvalidNextToken", "The next token specified is invalid.") from error


def _invalid(message: str) -> Refused:
    return Refused("ValidationError", message)
