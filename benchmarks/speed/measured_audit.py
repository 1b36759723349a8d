"""What the benchmarks share: a simulated cloud, audited by the ordinary path, and one table row a figure."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from cloud_simulator.running import Running, RunningProjects
from plimsoll.auditing.audit import run_audit
from plimsoll.auditing.ports import BY_MINUTES_S, AuditPorts
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.registry import GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.decide.answer import Recommendation
from plimsoll.model.errors import CloudError
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume
from plimsoll.outcomes import Answered
from plimsoll.ports import CallLimits, Metrics, Target, Usage
from plimsoll.reading.known import Ask, Found
from plimsoll.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".bench"

Simulated = Running | RunningProjects


@dataclass(frozen=True, kw_only=True)
class Row:
    """One result: what was measured, as text, and its ratio against a target (`at_least`, or else at most)."""

    what: str
    measured: str
    ratio: float
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the target is met, or there is none."""
        if self.target is None:
            return True
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target


@dataclass(slots=True)
class CountedMetrics:
    """Metrics that also count what is asked of each volume."""

    metrics: Metrics
    datapoints: dict[str, int] = field(default_factory=dict)
    queries: dict[str, int] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """What has been asked so far."""
        return self.metrics.usage

    @property
    def retention_days(self) -> Mapping[int, float]:
        """As the metrics have it."""
        return self.metrics.retention_days

    @property
    def memory_days(self) -> float:
        """As the metrics have it."""
        return self.metrics.memory_days

    @property
    def visible_after_s(self) -> int:
        """As the metrics have it."""
        return self.metrics.visible_after_s

    @property
    def call_limits(self) -> CallLimits:
        """As the metrics have them."""
        return self.metrics.call_limits

    def series(self, volume: Volume) -> int:
        """As the metrics have it."""
        return self.metrics.series(volume)

    def host_series(self, volume: Volume) -> int:
        """As the metrics have it."""
        return self.metrics.host_series(volume)

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What the looks found, counted by volume."""
        answers = self.metrics.read(asks)
        for ask, found in zip(asks, answers, strict=True):
            series = 0 if isinstance(found, CloudError) else len(found)
            buckets = ask.look.window.buckets(ask.look.period_s)
            self.datapoints[ask.volume.id] = self.datapoints.get(ask.volume.id, 0) + series * buckets
            self.queries[ask.volume.id] = self.queries.get(ask.volume.id, 0) + series
        return answers

    def remarks(self, target: Target) -> Sequence[str]:
        """As the metrics have them."""
        return self.metrics.remarks(target)


@contextmanager
def pointed_at(cloud: Simulated) -> Iterator[None]:
    """The environment in which every AWS tool asks the simulator."""
    before = dict(os.environ)
    os.environ.update(cloud.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def project_ports(
    cloud: Simulated, *, every_minute: bool, paced: bool, by_minutes_s: float = BY_MINUTES_S
) -> AuditPorts:
    """The ports behind the simulator's APIs, its metrics counted."""
    ledger = Ledger(path=CACHE / "ledger.json")
    (ports,) = ports_of(_scope_of(cloud), Settings(), today=datetime.now(UTC).date(), ledger=ledger, paced=paced)
    metrics = CountedMetrics(ports.metrics)
    return replace(ports, metrics=metrics, every_minute=every_minute, by_minutes_s=by_minutes_s)


def _scope_of(cloud: Simulated) -> Scope:
    if isinstance(cloud, RunningProjects):
        return Scope(clouds=(GOOGLE,), projects=tuple(cloud.projects))
    return Scope(role_arns=cloud.role_arns, regions=cloud.fleet.regions)


@dataclass(frozen=True, kw_only=True)
class Audited:
    """An audit's recommendations by volume, what was asked for each, and how long it took."""

    recommendations: Mapping[str, Recommendation]
    datapoints: Mapping[str, int]
    usage: Usage
    seconds: float


def audited(
    cloud: Simulated,
    *,
    policy: Policy | None = None,
    every_minute: bool = False,
    paced: bool = False,
    by_minutes_s: float = BY_MINUTES_S,
) -> Audited:
    """One audit of all the simulator has; with no time to read by the minute, sparingly throughout."""
    with pointed_at(cloud):
        ports = project_ports(cloud, every_minute=every_minute, paced=paced, by_minutes_s=by_minutes_s)
        start = time.perf_counter()
        outcomes = list(run_audit(ports, policy or Policy(), cloud.fleet.now))
        seconds = time.perf_counter() - start
    metrics = ports.metrics
    if not isinstance(metrics, CountedMetrics):
        raise TypeError("the metrics of a benchmark are counted")
    return Audited(
        recommendations={
            one.recommendation.volume.id: one.recommendation for one in outcomes if isinstance(one, Answered)
        },
        datapoints=metrics.datapoints,
        usage=metrics.usage,
        seconds=seconds,
    )
