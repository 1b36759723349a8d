"""A graph of a volume's demand in the CloudWatch console, and the link to it."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from plimsoll.clouds.aws.consoles import CONSOLES, partition_of
from plimsoll.clouds.aws.queries import COUNTERS, NAMESPACE
from plimsoll.clouds.cloud import ShownVolume
from plimsoll.model.units import MIB
from plimsoll.reading.window import Window


def metric_math(region: str, volume_id: str, window: Window, period_s: int) -> dict[str, Any]:
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


def volume_link(volume: ShownVolume, window: Window, period_s: int) -> str:
    """The address of that graph in the CloudWatch console, for a volume as it is reported."""
    region = volume.region
    graph = quote(json.dumps(metric_math(region, volume.volume_id, window, period_s), separators=(",", ":")), safe="")
    partition = partition_of(region)
    return f"https://{region}.{CONSOLES[partition]}/cloudwatch/home?region={region}#metricsV2?graph={graph}"


def iops_expression(read_ops: str, write_ops: str, *, period_s: int | None = None) -> str:
    """IOPS in metric math from the ids of the two Ops sums; see `throughput_expression` for `period_s`."""
    return f"({_fill(read_ops, period_s)}+{_fill(write_ops, period_s)})/{_period(read_ops, period_s)}"


def throughput_expression(read_bytes: str, write_bytes: str, *, period_s: int | None = None) -> str:
    """MiB/s in metric math from the ids of the two Bytes sums.

    Without `period_s` the bucket is `PERIOD(first id)`, for metrics known to have data. With `period_s` the bucket is
    that literal and absent points count as zero, for metrics of which one may have no data at all.
    """
    total = f"({_fill(read_bytes, period_s)}+{_fill(write_bytes, period_s)})"
    return f"{total}/{MIB}/{_period(read_bytes, period_s)}"


def _fill(metric_id: str, period_s: int | None) -> str:
    return metric_id if period_s is None else f"FILL({metric_id},0)"


def _period(metric_id: str, period_s: int | None) -> str:
    return f"PERIOD({metric_id})" if period_s is None else str(period_s)
