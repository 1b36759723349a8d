"""Latency: a volume's mean, from the time and the number of its operations."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from plimsoll.clouds.aws.errors import MEASURING, attempted
from plimsoll.domain.errors import AccessDenied, Unexpected
from plimsoll.domain.units import HOUR_S
from plimsoll.ports import Target

_PERMISSION: Final = "cloudwatch:GetMetricData"
_TIMES_S: Final = ("VolumeTotalReadTime", "VolumeTotalWriteTime")
_OPERATIONS: Final = ("VolumeReadOps", "VolumeWriteOps")
_US_PER_S: Final = 1e6


def mean_latency_us(cloudwatch: Any, target: Target, volume_id: str, start: datetime, end: datetime) -> float | None:
    """Seconds that operations took over their number, in us, from hourly sums; None where nothing is published or done.

    VolumeTotal*Time sums the time of all operations that completed (Amazon EBS User Guide, "CloudWatch metrics for
    Amazon EBS", read 2026-11-20).
    """
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[_query(name, volume_id) for name in (*_TIMES_S, *_OPERATIONS)],
        StartTime=start.replace(minute=0, second=0, microsecond=0),
        EndTime=end,
    )
    sums: dict[str, list[float]] = {}
    with attempted(f"read the latency of {volume_id} in {target}", _PERMISSION, MEASURING):
        for page in pages:
            for found in page["MetricDataResults"]:
                _check(found, volume_id, target)
                sums.setdefault(found["Id"], []).extend(found["Values"])
    seconds, operations = (
        [value for name in names for value in sums.get(name.lower(), ())] for names in (_TIMES_S, _OPERATIONS)
    )
    done = math.fsum(operations)
    return math.fsum(seconds) / done * _US_PER_S if seconds and done > 0 else None


def _query(name: str, volume_id: str) -> Mapping[str, Any]:
    metric = {"Namespace": "AWS/EBS", "MetricName": name, "Dimensions": [{"Name": "VolumeId", "Value": volume_id}]}
    return {"Id": name.lower(), "MetricStat": {"Metric": metric, "Period": HOUR_S, "Stat": "Sum"}}


def _check(found: Mapping[str, Any], volume_id: str, target: Target) -> None:
    """Complete, or a page of what goes on (PartialData has a next page); anything else says nothing."""
    status = found.get("StatusCode", "Complete")
    if status == "Forbidden":
        raise AccessDenied(
            f"cannot read the latency of {volume_id} in {target}: Forbidden for {_PERMISSION}. {MEASURING.allow}."
        )
    if status not in {"Complete", "PartialData"}:
        raise Unexpected(
            f"cannot read the latency of {volume_id} in {target}: CloudWatch answered {status}. Run again later."
        )
