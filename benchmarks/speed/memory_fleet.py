"""A fleet in memory for the benchmarks that are about Plimsoll alone: no cloud, no network, minutes of a few workloads.

Volumes are made as they are listed, and share the minutes of `WORKLOADS` simulated ones, so that neither costs memory.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from cloud_simulator.aws.fleet import SimulatedVolume, volume_truth
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.metrics.sums import Sums
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.aws.catalog import AwsCatalog, query_cost
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import CloudError
from plimsoll.model.series import SERIES, Longer
from plimsoll.model.units import MIB, MINUTE_S, mib_s_from_mb_s
from plimsoll.model.volume import Attachment, Host, HostLimits, Volume, VolumeState
from plimsoll.ports import CallLimits, FailedTarget, Target, Usage
from plimsoll.reading.known import Ask, Found
from plimsoll.reading.window import Window
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
        minutes = {one.id: sums for one in volumes if (sums := volume_truth(one, window)) is not None}
        return cls(volumes, {name: _with_rates(sums) for name, sums in minutes.items()})

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


def _with_rates(sums: Sums) -> Sums:
    """The same with the rate of each minute as a series of its own, as AWS publishes it on Nitro hosts."""
    iops = (sums.read_ops + sums.write_ops) / MINUTE_S
    moved = (sums.read_bytes + sums.write_bytes) / (MIB * MINUTE_S)
    return sums.with_series(
        highest_iops=iops, summed_iops=iops, highest_throughput_mib_s=moved, summed_throughput_mib_s=moved
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
    """Metrics in memory: the minutes of the workloads that volumes repeat, by the workload's id."""

    minutes: Mapping[str, Sums]
    retention_days: Mapping[int, float] = field(default_factory=lambda: {60: 15, 300: 63, 3600: 455})
    memory_days: float = 0.0
    visible_after_s: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def call_limits(self) -> CallLimits:
        """No end of it."""
        return CallLimits(queries=sys.maxsize, datapoints=sys.maxsize)

    def series(self, volume: Volume) -> int:
        """As many as the workload has."""
        return len(self._sums(volume).series)

    def host_series(self, _volume: Volume) -> int:
        """None."""
        return 0

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What the workloads did."""
        self.usage.calls += 1
        return [self._found(ask) for ask in asks]

    def remarks(self, target: Target) -> Sequence[str]:
        """Nothing to say."""
        del target
        return ()

    def _sums(self, volume: Volume) -> Sums:
        return self.minutes[volume.id.split("/")[0]]

    def _found(self, ask: Ask) -> Found:
        sums, look = self._sums(ask.volume), ask.look
        first = (look.window.start_s - sums.start_s) // sums.period_s
        asked = slice(first, first + look.window.buckets(sums.period_s))
        found = {
            name: _longer(values[asked].reshape(-1, look.period_s // sums.period_s), name)
            for name, values in sums.series.items()
            if name in look.series
        }
        self.usage.metrics += len(found)
        self.usage.datapoints += len(found) * look.window.buckets(look.period_s)
        return found


def _longer(buckets: FloatArray, name: str) -> FloatArray:
    """Longer buckets of a series, of which each row has the shorter ones."""
    absent = np.isnan(buckets).all(axis=1)
    if SERIES[name].longer is Longer.LEAST:
        found = np.where(np.isnan(buckets), np.inf, buckets).min(axis=1)
    elif SERIES[name].longer is Longer.HIGHEST:
        found = np.nan_to_num(buckets).max(axis=1)
    else:
        found = np.nansum(buckets, axis=1)
    return np.where(absent, np.nan, found)


def project_ports(count: int, patterns: Patterns) -> AuditPorts:
    """A ports of so many volumes."""
    return AuditPorts(
        query_cost=query_cost(Settings()),
        inventory=ManyVolumes(count, patterns),
        metrics=SharedMinutes(patterns.minutes),
        prices=AwsPrices(shipped=shipped_prices("aws"), sessions=None, today=NOW.date()),
        catalog=AwsCatalog(),
        envelopes=tuple(envelope_library().envelopes.values()),
    )
