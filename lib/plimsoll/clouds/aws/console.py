"""The console: a link that shows a volume's demand in CloudWatch by the same formulas."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from plimsoll.clouds.aws.queries import COUNTERS, NAMESPACE
from plimsoll.domain.period import iops_expression, throughput_expression
from plimsoll.domain.sums import Window
from plimsoll.domain.units import MINUTE_S


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
