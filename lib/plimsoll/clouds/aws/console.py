"""The console: links to a volume's demand in CloudWatch, by the same formulas, and to a file in S3."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from plimsoll.clouds.aws.queries import COUNTERS, NAMESPACE
from plimsoll.clouds.cloud import ShownVolume
from plimsoll.domain.period import iops_expression, throughput_expression
from plimsoll.domain.sums import Window
from plimsoll.domain.units import MINUTE_S

_CONSOLES: Final[Mapping[str, str]] = {
    "aws": "console.aws.amazon.com",
    "aws-cn": "console.amazonaws.cn",
    "aws-us-gov": "console.amazonaws-us-gov.com",
}
"""Where the console of each partition is, behind a region's name."""


def metric_math(region: str, volume_id: str, window: Window, period_s: int = MINUTE_S) -> dict[str, Any]:
    """A CloudWatch graph of the volume's IOPS and MiB/s: raw sums hidden, the PERIOD expressions shown."""
    ids = dict(zip(COUNTERS, ("m1", "m2", "m3", "m4"), strict=True))
    sums: list[list[Any]] = [
        [NAMESPACE, metric, "VolumeId", volume_id, {"id": ids[series], "visible": False}]
        for series, metric in COUNTERS.items()
    ]
    iops = iops_expression(ids["read_ops"], ids["write_ops"], period_s=period_s)
    throughput = throughput_expression(ids["read_bytes"], ids["write_bytes"], period_s=period_s)
    return {
        "metrics": [
            [{"expression": iops, "label": "IOPS", "id": "e1"}],
            [{"expression": throughput, "label": "MiB/s", "id": "e2", "yAxis": "right"}],
            *sums,
        ],
        "view": "timeSeries",
        "stat": "Sum",
        "period": period_s,
        "region": region,
        "title": f"Demand of {volume_id}",
        "start": datetime.fromtimestamp(window.start_s, UTC).isoformat(),
        "end": datetime.fromtimestamp(window.end_s, UTC).isoformat(),
    }


def console_link(region: str, volume_id: str, window: Window, period_s: int = MINUTE_S) -> str:
    """The address of that graph in the CloudWatch console."""
    graph = quote(json.dumps(metric_math(region, volume_id, window, period_s), separators=(",", ":")), safe="")
    host = f"https://{region}.console.aws.amazon.com/cloudwatch/home"
    return f"{host}?region={region}#metricsV2?graph={graph}"


def volume_link(volume: ShownVolume, window: Window, period_s: int) -> str:
    """The address of that graph for a volume as it is reported."""
    return console_link(volume.region, volume.volume_id, window, period_s)


def object_link(region: str, bucket: str, key: str, *, partition: str = "aws") -> str | None:
    """The address of an object's page in the S3 console, for those who are signed in; None where no console is known.

    It is the address that the console itself shows for an object (November 2026); AWS documents none.
    """
    host = _CONSOLES.get(partition)
    if host is None:
        return None
    return f"https://{region}.{host}/s3/object/{quote(bucket, safe='')}?{urlencode({'region': region, 'prefix': key})}"
