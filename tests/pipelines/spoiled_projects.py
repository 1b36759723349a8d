"""Simulated projects whose answers are spoiled on their way, audited in this process."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from google.cloud.monitoring_v3 import ListTimeSeriesResponse

from cloud_simulator.google.http_front import Front
from cloud_simulator.google.projects import projects_of
from cloud_simulator.google.serving import Cloud, serve
from cloud_simulator.running import RunningProjects

SHOP = "plimsoll-sim-shop"

SpoilJson = Callable[[str, Any], Any]
"""Makes of a request's path and the JSON of its answer what is sent in its place: JSON, or bytes as they are."""

SpoilSeries = Callable[[Any, Any], None]
"""Changes an answer to a ListTimeSeriesRequest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneProject(RunningProjects):
    """Of the running projects, the one that is audited."""

    @property
    def projects(self) -> tuple[str, ...]:
        """That one."""
        return (SHOP,)


@dataclass(slots=True)
class SpoiledFront(Front):
    """A front whose answers are spoiled."""

    spoil: SpoilJson | None = None

    def spoken(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """As it should be, or as `spoil` makes it."""
        status, answered = self.answer(method, target, body)
        sent = answered if self.spoil is None else self.spoil(target.partition("?")[0], dict(answered))
        return status, {"Content-Type": "application/json"}, sent if isinstance(sent, bytes) else _written(sent)


@dataclass(slots=True)
class SpoiledMonitoring:
    """Monitoring whose answers are spoiled."""

    monitoring: Any
    spoil: SpoilSeries

    def list_time_series(self, request: Any) -> bytes:
        """As `spoil` makes it."""
        answer = ListTimeSeriesResponse.pb(ListTimeSeriesResponse())
        answer.ParseFromString(self.monitoring.list_time_series(request))
        self.spoil(request, answer)
        written: bytes = answer.SerializeToString()
        return written


@contextmanager
def spoiled(
    now: datetime, *, answers: SpoilJson | None = None, series: SpoilSeries | None = None
) -> Iterator[OneProject]:
    """The simulated projects, of which one is audited, with answers of REST and of Cloud Monitoring spoiled."""
    fleet = projects_of(now)
    cloud = Cloud(fleet, clock=now.timestamp)
    cloud.front = SpoiledFront(routes=cloud.front.routes, spoil=answers)
    if series is not None:
        cloud.monitoring = SpoiledMonitoring(cloud.monitoring, series)  # type: ignore[assignment]  # it answers alike
    with serve(cloud) as (port, monitoring):
        yield OneProject(url=f"http://127.0.0.1:{port}", monitoring=f"127.0.0.1:{monitoring}", fleet=fleet)


def _written(answer: Any) -> bytes:
    return json.dumps(answer).encode()
