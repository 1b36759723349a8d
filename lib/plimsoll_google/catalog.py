"""The published part of Google Cloud: the types that it sells, how a change is made, and the cost of reading.

Nothing here imports Google's libraries.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlencode

from plimsoll.clouds.cloud import Published, ShownVolume
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import GOOGLE
from plimsoll.decide.answer import ChangeSteps
from plimsoll.model.market import VolumeType
from plimsoll.model.volume import Volume, VolumeSpec
from plimsoll.reading.cost import Closer, QueryCost
from plimsoll.reading.window import Window
from plimsoll.settings import Settings
from plimsoll_google.change import disk_change_steps
from plimsoll_google.machines import machine_cap
from plimsoll_google.queries import SERIES_METRICS

_CONSOLE: Final = "https://console.cloud.google.com"
_AXES: Final = {"ops": "Y1", "bytes": "Y2"}
"""The axis of a peak by its unit: operations at the left, bytes at the right."""


def disk_link(volume: ShownVolume, window: Window, period_s: int) -> str:
    """The address of a chart of a disk's peaks per second in Metrics Explorer, for signed-in users.

    It draws the most of each bucket, and no line where nothing was measured. Series have a device's name, which often
    is the disk's and need not be: of an attached disk, all devices of its hosts are drawn, apart by name (Persistent
    Disks of a VM share a ceiling); of another, the device of its name. The address is the one that the console itself
    shows (November 2026). Google does not document it.
    """
    whose = (
        f"resource.label.{_one_of('instance_id', volume.hosts)}"
        if volume.hosts
        else f"metric.label.{_one_of('device_name', [volume.name or volume.volume_id])}"
    )
    where = f"resource.label.{_one_of('zone', volume.zone.split('+'))}"
    drawn = [
        {
            "timeSeriesFilter": {
                "filter": f'metric.type="{metric.name}" resource.type="gce_instance" {where} {whose}',
                "minAlignmentPeriod": f"{period_s}s",
                "aggregations": [{"perSeriesAligner": "ALIGN_MAX", "alignmentPeriod": f"{period_s}s"}],
            },
            "targetAxis": _AXES[series.rpartition("_")[2]],
            "plotType": "LINE",
        }
        for series, metric in SERIES_METRICS.items()
        if metric.peak
    ]
    times = {"timeRange": "custom", "start": _time(window.start_s), "end": _time(window.end_s)}
    state = json.dumps({"xyChart": {"dataSets": drawn}, "timeSelection": times}, separators=(",", ":"))
    query = urlencode({"pageState": state, "project": volume.account}, quote_via=quote)
    return f"{_CONSOLE}/monitoring/metrics-explorer?{query}"


def _one_of(label: str, values: Sequence[str]) -> str:
    """A filter's term: the label is one of these values."""
    quoted = [json.dumps(value, ensure_ascii=False) for value in values]
    return f'"{label}"={quoted[0]}' if len(quoted) == 1 else f'"{label}"=one_of({",".join(quoted)})'


def _time(epoch_s: int) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


POINTS_PER_S: Final = 300_000.0
"""Points a second that one process takes in (measured on 2 cores, 2026-11-22). Google publishes no quota of points."""

GOOGLE_CLOSER: Final = Closer(datapoints=0.1, queries=0.6, queries_a_call=4)
"""The cost in the simulated projects of 600 disks (benchmarks/speed). Busier fleets take more, idle ones less."""


@dataclass(frozen=True, slots=True)
class GoogleCatalog:
    """Persistent Disk and Hyperdisk as they are published."""

    provider: str = GOOGLE

    @property
    def types(self) -> Mapping[str, VolumeType]:
        """Every published type of either."""
        return volume_types(GOOGLE)

    def change(self, volume: Volume, target: VolumeSpec) -> ChangeSteps:
        """The steps by which the disk's owner makes the change, and takes it back."""
        return disk_change_steps(volume, target, self.types)


def query_cost(settings: Settings) -> QueryCost:
    """The cost of reading Cloud Monitoring: each page is billed by the series that it returns."""
    return QueryCost(
        usd_query=settings.google_usd_per_1000_series / 1000,
        calls_per_s=settings.google_calls_per_s,
        datapoints_per_s=POINTS_PER_S,
        usd_hour_waited=settings.usd_hour_waited,
        closer=GOOGLE_CLOSER,
        calls_scarce=True,
    )


PUBLISHED_FACTS: Final = Published(
    catalog=GoogleCatalog(), query_cost=query_cost, console_link=disk_link, host_cap=machine_cap
)
