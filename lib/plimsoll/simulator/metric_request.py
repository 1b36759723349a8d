"""GetMetricData's request, checked as CloudWatch checks it."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from plimsoll.domain.units import DAY_S, MINUTE_S
from plimsoll.simulator.faults import Refused

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_PAGE: Final = 100_800
KEPT_DAYS: Final = ((60, 15), (300, 63), (3600, 455))
"""How many days data of each period lives, finest first."""

_ID: Final = re.compile(r"[a-z][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSeries:
    """One query of the request: a statistic of one metric."""

    id: str
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


def parse(request: Mapping[str, Any], now_s: float) -> AskedData:
    """The request as asked; Refused, as CloudWatch would, for one that breaks its rules."""
    queries: Sequence[Mapping[str, Any]] = request.get("MetricDataQueries") or ()
    if not queries:
        raise _invalid("The parameter MetricDataQueries is required.")
    if len(queries) > QUERIES_A_CALL:
        raise _invalid(f"The collection MetricDataQueries must not have a size greater than {QUERIES_A_CALL}.")
    series = [_series(query) for query in queries]
    if len({one.id for one in series}) < len(series):
        raise _invalid("The values for parameter id in MetricDataQueries are not unique.")
    start_s, end_s = _epoch(request, "StartTime"), _epoch(request, "EndTime")
    if start_s >= end_s:
        raise _invalid("The parameter StartTime must be less than the parameter EndTime.")
    room = int(request.get("MaxDatapoints") or DATAPOINTS_A_PAGE)
    if not 1 <= room <= DATAPOINTS_A_PAGE:
        raise _invalid(f"The parameter MaxDatapoints must be between 1 and {DATAPOINTS_A_PAGE}.")
    first_series, first_point = _opened(request.get("NextToken"))
    grain_s = finest_kept_s(start_s, now_s) or KEPT_DAYS[-1][0]
    return AskedData(
        series=series,
        start_s=int(start_s) // grain_s * grain_s,
        end_s=-(-int(end_s) // MINUTE_S) * MINUTE_S,
        room=room,
        ascending=request.get("ScanBy") == "TimestampAscending",
        first_series=first_series,
        first_point=first_point,
    )


def finest_kept_s(start_s: float, now_s: float) -> int | None:
    """The finest period for which data that old still lives; None where none does."""
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
    return AskedSeries(
        id=name,
        namespace=str(metric.get("Namespace")),
        metric=str(metric.get("MetricName")),
        dimensions={one["Name"]: one["Value"] for one in metric.get("Dimensions") or ()},
        period_s=period_s,
        stat=str(asked.get("Stat")),
        returned=query.get("ReturnData") is not False,
    )


def _epoch(request: Mapping[str, Any], name: str) -> float:
    time = request.get(name)
    if time is None:
        raise _invalid(f"The parameter {name} is required.")
    return time.timestamp() if isinstance(time, datetime) else float(time)


def _opened(token: str | None) -> tuple[int, int]:
    if not token:
        return 0, 0
    try:
        series, points = json.loads(base64.urlsafe_b64decode(token))
        return int(series), int(points)
    except (TypeError, ValueError) as error:
        raise Refused("InvalidNextToken", "The next token specified is invalid.") from error


def _invalid(message: str) -> Refused:
    return Refused("ValidationError", message)
