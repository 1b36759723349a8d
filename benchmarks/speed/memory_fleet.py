"""A fleet in memory for the benchmarks that are about Plimsoll alone: no cloud, no network, minutes of a few workloads.

Volumes are made as they are listed, and share the minutes of a few patterns, so that neither costs memory. The
simulator, which makes those (`patterns.py`), takes more memory than Plimsoll: what measures memory reads them from
files.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cloud_simulator.metrics.sums import Sums
from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.aws.catalog import AwsCatalog, query_cost
from plimsoll.clouds.aws.prices import AwsPrices
from plimsoll.clouds.common.dated_data import shipped_prices
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import CloudError
from plimsoll.model.series import SERIES, Longer
from plimsoll.model.units import mib_s_from_mb_s
from plimsoll.model.volume import Attachment, Host, HostLimits, Volume, VolumeSpec, VolumeState
from plimsoll.ports import CallLimits, FailedTarget, Target, Usage
from plimsoll.reading.known import Ask, Found
from plimsoll.settings import Settings

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
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


@dataclass(frozen=True, slots=True)
class Pattern:
    """A volume that the fleet repeats."""

    id: str
    spec: VolumeSpec
    created: datetime


@dataclass(slots=True)
class Patterns:
    """The volumes that the fleet repeats, and the minutes of each."""

    volumes: Sequence[Pattern]
    minutes: Mapping[str, Sums]

    def save(self, folder: Path) -> None:
        """Writes them into a folder, each series as an array of its own."""
        told = []
        for each in self.volumes:
            sums = self.minutes[each.id]
            for name, values in sums.series.items():
                np.save(folder / f"{each.id}.{name}.npy", values)
            made = {"id": each.id, "spec": asdict(each.spec), "created": each.created.isoformat()}
            told.append({**made, "start_s": sums.start_s, "period_s": sums.period_s, "series": [*sums.series]})
        (folder / "patterns.json").write_text(json.dumps(told), encoding="ascii")

    @classmethod
    def read(cls, folder: Path) -> "Patterns":
        """The patterns of a folder. Their minutes stay in its files."""
        told = json.loads((folder / "patterns.json").read_text(encoding="ascii"))
        volumes = [
            Pattern(one["id"], VolumeSpec(**one["spec"]), datetime.fromisoformat(one["created"])) for one in told
        ]
        minutes = {
            one["id"]: Sums(
                start_s=one["start_s"],
                period_s=one["period_s"],
                **{name: np.load(folder / f"{one['id']}.{name}.npy", mmap_mode="r") for name in one["series"]},
            )
            for one in told
        }
        return cls(volumes, minutes)

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
