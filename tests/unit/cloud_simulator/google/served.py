"""Projects served inside the tests' own process, and Google's clients of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from cloud_simulator.faults import Fault, Faults
from cloud_simulator.google.fleet import GoogleFleet, SimulatedDisk
from cloud_simulator.google.serving import Cloud, serve
from plimsoll.model.arrays import FloatArray
from plimsoll_google.clients import Clients

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
END = NOW.replace(minute=0)
SHOP = "plimsoll-sim-shop"
MAX, SUM = 11, 14
PREFIX = "compute.googleapis.com/instance/disk/"

Figures = dict[tuple[str, str], dict[int, int]]
"""Of each instance and device: values by the end of their bucket, in epoch seconds."""


@contextmanager
def served(fleet: GoogleFleet, *faults: Fault) -> Iterator[Clients]:
    """Clients of the projects; time stands at the fleet's own."""
    cloud = Cloud(fleet, Faults(faults), clock=fleet.now.timestamp)
    with serve(cloud) as (port, monitoring_port):
        clients = Clients(url=f"http://127.0.0.1:{port}", monitoring=f"127.0.0.1:{monitoring_port}", attempts=1)
        try:
            yield clients
        finally:
            clients.close()


def asking(metric: str, *, hours: float = 24, period_s: int = 3600, aligner: int = SUM, **more: Any) -> dict[str, Any]:
    """A request for a metric's series, until the last full hour before now unless it says otherwise."""
    text = f'metric.type = "{PREFIX}{metric}" AND resource.type = "gce_instance"'
    end = more.pop("end", END)
    asked = {
        "name": f"projects/{more.pop('project', SHOP)}",
        "filter": f"{text} AND {more.pop('only')}" if "only" in more else text,
        "interval": {"start_time": end - timedelta(hours=hours), "end_time": end},
        **more,
    }
    if aligner:
        asked["aggregation"] = {"alignment_period": {"seconds": period_s}, "per_series_aligner": aligner}
    return asked


def figures(clients: Clients, request: Mapping[str, Any]) -> Figures:
    """Every point that is told, page by page; each is told once, newest first."""
    found: Figures = {}
    for one in clients.metrics.list_time_series(request=request):
        plain = type(one).pb(one)  # a tenth of the time
        kept = found.setdefault((plain.resource.labels["instance_id"], plain.metric.labels["device_name"]), {})
        for point in plain.points:
            end_s = point.interval.end_time.seconds
            assert end_s < min(kept, default=10**10), "newest first, none twice"
            kept[end_s] = point.value.int64_value
    return found


def folded(minutes: FloatArray, start_s: int, period_s: int, how: str) -> dict[int, int]:
    """The buckets of some minutes from `start_s` on, by their ends, without those that have no minute."""
    found: dict[int, int] = {}
    for begin in range(0, len(minutes), period_s // 60):
        part = minutes[begin : begin + period_s // 60]
        part = part[~np.isnan(part)]
        if len(part):
            found[start_s + begin * 60 + period_s] = int(part.sum() if how == "Sum" else part.max())
    return found


def named(disks: Sequence[SimulatedDisk], name: str) -> SimulatedDisk:
    """The disk of that name; a claim's by its first part."""
    return next(disk for disk in disks if disk.name == name or disk.name.startswith(f"{name}-0d3b-"))
