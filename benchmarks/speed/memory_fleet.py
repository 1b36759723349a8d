"""A fleet in memory for the benchmarks that are about Plimsoll alone: no cloud, no network, minutes of a few workloads.

Volumes are made as they are listed, and share the minutes of `WORKLOADS` simulated ones, so that neither costs memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cloud_simulator.aws.fleet import SimulatedVolume, truth
from cloud_simulator.aws.organization import Mix, fleet_of
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap import envelope_library
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.aws.published import AwsCatalog, query_cost
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.clouds.memory import MemoryMetrics
from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import CloudError
from plimsoll.domain.host import Host, HostLimits
from plimsoll.domain.sums import Sums, Window
from plimsoll.domain.units import mib_s_from_mb_s
from plimsoll.domain.volume import Attachment, Volume, VolumeState
from plimsoll.ports import CallLimits, FailedTarget, Target, Usage
from plimsoll.settings import Settings

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WORKLOADS = 40
TARGET_VOLUMES = 2500
"""Volumes of one account in one region: a target's inventory is in memory while it is audited."""

REGION = "us-east-1"
_LIMITS = HostLimits(
    baseline_iops=18_750,
    baseline_throughput_mib_s=mib_s_from_mb_s(593.75),
    maximum_iops=18_750,
    maximum_throughput_mib_s=mib_s_from_mb_s(593.75),
)
"""An m5.4xlarge (DescribeInstanceTypes)."""


@dataclass(slots=True)
class Patterns:
    """The simulated volumes whose specs and minutes the fleet repeats."""

    volumes: Sequence[SimulatedVolume]
    minutes: Mapping[str, Sums]

    @classmethod
    def make(cls, mix: Mix = Mix.QUIET, count: int = WORKLOADS) -> "Patterns":
        """So many of one mix."""
        window = Window.before(NOW, days=14)
        volumes = [one for one in fleet_of(count, NOW, mix=mix).volumes if one.workload is not None and one.hosts]
        return cls(volumes, {one.id: sums for one in volumes if (sums := truth(one, window)) is not None})

    def volume(self, number: int, target: Target) -> Volume:
        """The fleet's volume of that number, on a host of its own."""
        like = self.volumes[number % len(self.volumes)]
        host = Host(id=f"i-{number:09d}", type="m5.4xlarge", limits=_LIMITS, nitro=True)
        return Volume(
            id=f"{like.id}/{number}",
            account=target.account,
            region=target.region,
            zone=f"{target.region}a",
            spec=like.spec,
            state=VolumeState.IN_USE,
            created=like.created,
            attachments=(Attachment(host=host, device="/dev/sdf", since=like.created, boot=False),),
        )


@dataclass(slots=True)
class ManyVolumes:
    """An inventory of so many volumes, made as they are listed."""

    count: int
    patterns: Patterns

    def targets(self) -> Sequence[Target | FailedTarget]:
        """As many targets as are needed."""
        return [Target(account=f"{number:012d}", region=REGION) for number in range(-(-self.count // TARGET_VOLUMES))]

    def volumes(self, target: Target) -> Iterator[Volume]:
        """The target's volumes."""
        first = int(target.account) * TARGET_VOLUMES
        for number in range(first, min(first + TARGET_VOLUMES, self.count)):
            yield self.patterns.volume(number, target)

    def notices(self, target: Target) -> Sequence[str]:
        """Nothing to say."""
        del target
        return ()


@dataclass(slots=True)
class SharedMinutes:
    """Metrics in memory under the ids of the workloads that volumes repeat."""

    inner: MemoryMetrics
    retention_days: Mapping[int, float] = field(init=False)
    visible_after_s: int = 0

    def __post_init__(self) -> None:
        self.retention_days = self.inner.retention_days

    @property
    def usage(self) -> Usage:
        """What has been asked so far."""
        return self.inner.usage

    @property
    def call_limits(self) -> CallLimits:
        """No end of it."""
        return self.inner.call_limits

    def series(self, volume: Volume) -> int:
        """As the workload has."""
        return self.inner.series(_workload(volume))

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What the workloads did."""
        return self.inner.read([Ask(volume=_workload(ask.volume), look=ask.look) for ask in asks])

    def remarks(self, target: Target) -> Sequence[str]:
        """As those in memory have."""
        return self.inner.remarks(target)


def _workload(volume: Volume) -> Volume:
    return replace(volume, id=volume.id.split("/")[0])


def project_ports(count: int, patterns: Patterns) -> AuditPorts:
    """A ports of so many volumes."""
    return AuditPorts(
        query_cost=query_cost(Settings()),
        inventory=ManyVolumes(count, patterns),
        metrics=SharedMinutes(MemoryMetrics(given=patterns.minutes)),
        prices=AwsPrices(shipped=shipped_prices("aws"), sessions=None, today=NOW.date()),
        catalog=AwsCatalog(),
        envelopes=tuple(envelope_library().envelopes.values()),
    )
