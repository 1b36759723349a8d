"""The console: links to a disk's demand in Metrics Explorer, by the peaks that it is judged by.

The address is the one that the console itself shows (November 2026). Google does not document it.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from plimsoll.clouds.cloud import ShownVolume
from plimsoll.clouds.google.queries import METRICS
from plimsoll.domain.sums import Window
from plimsoll.domain.units import MINUTE_S

_CONSOLE: Final = "https://console.cloud.google.com"
_AXES: Final = {"ops": "Y1", "bytes": "Y2"}
"""What a peak is drawn on by what it counts: operations at the left, bytes at the right."""


def chart(zone: str, name: str, window: Window, period_s: int = MINUTE_S, hosts: Sequence[str] = ()) -> dict[str, Any]:
    """The state of Metrics Explorer that draws the disk's peaks per second: the most of each bucket, and no line where
    nothing was measured.

    Series have a device's name, which often is the disk's and need not be: with the ids of its `hosts`, all their
    devices are drawn, apart by name (Persistent Disks of a VM share a ceiling); without, the device of the disk's name.
    """
    whose = (
        f"resource.label.{_one_of('instance_id', hosts)}" if hosts else f"metric.label.{_one_of('device_name', [name])}"
    )
    where = f"resource.label.{_one_of('zone', zone.split('+'))}"
    return {
        "xyChart": {
            "dataSets": [
                {
                    "timeSeriesFilter": {
                        "filter": f'metric.type="{metric.name}" resource.type="gce_instance" {where} {whose}',
                        "minAlignmentPeriod": f"{period_s}s",
                        "aggregations": [
                            {"perSeriesAligner": "ALIGN_MAX", "alignmentPeriod": f"{period_s}s"},
                        ],
                    },
                    "targetAxis": _AXES[series.rpartition("_")[2]],
                    "plotType": "LINE",
                }
                for series, metric in METRICS.items()
                if metric.peak
            ],
        },
        "timeSelection": {"timeRange": "custom", "start": _time(window.start_s), "end": _time(window.end_s)},
    }


def console_link(
    project: str, zone: str, name: str, window: Window, period_s: int = MINUTE_S, hosts: Sequence[str] = ()
) -> str:
    """The address of that chart, for those who are signed in; `zone` is a volume's: one, or two joined by "+"."""
    state = json.dumps(chart(zone, name, window, period_s, hosts), separators=(",", ":"))
    query = urlencode({"pageState": state, "project": project}, quote_via=quote)
    return f"{_CONSOLE}/monitoring/metrics-explorer?{query}"


def volume_link(volume: ShownVolume, window: Window, period_s: int) -> str:
    """The address of that chart for a disk as it is reported."""
    name = volume.name or volume.volume_id
    return console_link(volume.account, volume.zone, name, window, period_s, volume.hosts)


def _one_of(label: str, values: Sequence[str]) -> str:
    """A filter's term: the label is one of these values."""
    quoted = [json.dumps(value, ensure_ascii=False) for value in values]
    return f'"{label}"={quoted[0]}' if len(quoted) == 1 else f'"{label}"=one_of({",".join(quoted)})'


def _time(epoch_s: int) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
