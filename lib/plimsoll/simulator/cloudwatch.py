"""CloudWatch: GetMetricData over the fleet's workloads, with the real one's limits, paging and rounding."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import numpy as np

from plimsoll.domain.period import FloatArray
from plimsoll.domain.units import DAY_S, MINUTE_S
from plimsoll.simulator.fleet import Fleet, SimulatedVolume, served_minutes

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_PAGE: Final = 100_800
KEPT_DAYS: Final = ((60, 15), (300, 63), (3600, 455))
"""How many days data of each period lives, finest first."""

_METRICS: Final = {
    "VolumeReadOps": "read_ops",
    "VolumeWriteOps": "write_ops",
    "VolumeReadBytes": "read_bytes",
    "VolumeWriteBytes": "write_bytes",
    "VolumeIdleTime": "idle_s",
    "BurstBalance": "burst_balance_pct",
    "VolumeIOPSExceededCheck": "iops_exceeded",
    "VolumeThroughputExceededCheck": "throughput_exceeded",
}
_FOLDS: Final[dict[str, Any]] = {"Sum": np.nansum, "Maximum": np.nanmax, "Minimum": np.nanmin, "Average": np.nanmean}
_CACHED_VOLUMES: Final = 32


class Refused(Exception):
    """What the service would answer with an error code."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


@dataclass(slots=True)
class CloudWatch:
    """Answers GetMetricData for a fleet. `broken` metrics answer with that status code the given number of times."""

    fleet: Fleet
    broken: dict[str, tuple[str, int]] = field(default_factory=dict)
    _minutes: Callable[[str, int, int], dict[str, FloatArray]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._minutes = lru_cache(maxsize=_CACHED_VOLUMES)(self._served)

    def get_metric_data(self, request: Mapping[str, Any], account: str, region: str) -> dict[str, Any]:
        """One page: values as arrays, timestamps as arrays of epoch seconds."""
        queries: Sequence[Mapping[str, Any]] = request["MetricDataQueries"]
        if len(queries) > QUERIES_A_CALL:
            raise Refused(
                "ValidationError", f"The collection MetricDataQueries must not have more than {QUERIES_A_CALL}."
            )
        skip_query, skip_points = _token(request.get("NextToken"))
        room = min(int(request.get("MaxDatapoints", DATAPOINTS_A_PAGE)), DATAPOINTS_A_PAGE)
        results: list[dict[str, Any]] = []
        for number, query in enumerate(queries[skip_query:], start=skip_query):
            stamps, values, status = self._series(query, request, account, region)
            begin = skip_points if number == skip_query else 0
            page = slice(begin, begin + room)
            results.append(
                {
                    "Id": query["Id"],
                    "Label": query["MetricStat"]["Metric"]["MetricName"],
                    "Timestamps": stamps[page],
                    "Values": values[page],
                    "StatusCode": "PartialData" if begin + room < len(values) else status,
                }
            )
            room -= len(values[page])
            if begin + len(values[page]) < len(values):
                return {
                    "MetricDataResults": results,
                    "Messages": [],
                    "NextToken": _seal(number, begin + len(values[page])),
                }
            if room <= 0 and number + 1 < len(queries):
                return {"MetricDataResults": results, "Messages": [], "NextToken": _seal(number + 1, 0)}
        return {"MetricDataResults": results, "Messages": []}

    def _series(
        self, query: Mapping[str, Any], request: Mapping[str, Any], account: str, region: str
    ) -> tuple[FloatArray, FloatArray, str]:
        if "MetricStat" not in query:
            raise Refused("ValidationError", "The simulated CloudWatch evaluates no expressions: ask for MetricStat.")
        stat = query["MetricStat"]
        metric, period_s = stat["Metric"], int(stat["Period"])
        status = self._status(metric["MetricName"])
        start_s, end_s = _epoch(request["StartTime"]), _epoch(request["EndTime"])
        usable = _allowed(start_s, period_s, self.fleet.now.timestamp())
        series = _METRICS.get(metric["MetricName"])
        found = {part["Name"]: part["Value"] for part in metric["Dimensions"]}
        volume = self.fleet.volume(found.get("VolumeId", ""))
        empty = np.empty(0)
        if volume is None or series is None or not usable or status != "Complete":
            return empty, empty, status
        known = volume.account == account and volume.region == region and volume.workload is not None
        if not known or not volume.publishes(series, found.get("InstanceId")):
            return empty, empty, status
        stamps, buckets = self._buckets(volume, series, start_s, end_s, period_s)
        values = _fold(buckets, stat["Stat"]) if len(buckets) else empty
        if request.get("ScanBy", "TimestampDescending") == "TimestampDescending":
            stamps, values = stamps[::-1], values[::-1]
        return stamps, values, status

    def _buckets(
        self, volume: SimulatedVolume, series: str, start_s: int, end_s: int, period_s: int
    ) -> tuple[FloatArray, FloatArray]:
        """The minutes of each bucket of the period that holds any, with the buckets' start times."""
        width = period_s // MINUTE_S
        count = max(0, (end_s - start_s) // MINUTE_S) // width * width
        if not count:
            return np.empty(0), np.empty((0, width))
        buckets = self._minutes(volume.id, start_s // MINUTE_S, count)[series].reshape(-1, width)
        present = ~np.isnan(buckets).all(axis=1)
        stamps = np.asarray(start_s + np.arange(len(buckets)) * float(period_s), dtype=np.float64)
        return stamps[present], buckets[present]

    def _served(self, volume_id: str, first_minute: int, count: int) -> dict[str, FloatArray]:
        volume = self.fleet.volume(volume_id)
        if volume is None:
            raise Refused("InvalidParameterValue", f"There is no volume {volume_id}.")
        return served_minutes(volume, first_minute, count)

    def _status(self, metric: str) -> str:
        status, times = self.broken.get(metric, ("Complete", 0))
        if times <= 0:
            return "Complete"
        self.broken[metric] = (status, times - 1)
        return status


def _fold(buckets: FloatArray, stat: str) -> FloatArray:
    """One figure for each bucket of minutes, none of which is empty."""
    if stat == "SampleCount":
        return np.asarray((~np.isnan(buckets)).sum(axis=1), dtype=np.float64)
    fold = _FOLDS.get(stat)
    if fold is None:
        raise Refused("InvalidParameterValue", f"The simulated CloudWatch has no statistic {stat}.")
    return np.asarray(fold(buckets, axis=1), dtype=np.float64)


def _allowed(start_s: float, period_s: int, now_s: float) -> bool:
    """Whether data of the period still lives at the start, and the period is one that is kept for it."""
    age_days = (now_s - start_s) / DAY_S
    for finest_s, days in KEPT_DAYS:
        if age_days <= days:
            return period_s % finest_s == 0
    return False


def _epoch(time: object) -> int:
    seconds = time.timestamp() if isinstance(time, datetime) else float(str(time))
    return int(seconds) // MINUTE_S * MINUTE_S


def _seal(query: int, points: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([query, points]).encode()).decode()


def _token(token: str | None) -> tuple[int, int]:
    if token is None:
        return 0, 0
    query, points = json.loads(base64.urlsafe_b64decode(token))
    return int(query), int(points)
