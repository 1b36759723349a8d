"""The maker: volumes of one account and region, each with an id, a host and a workload of its own."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from cloud_simulator.aws.fleet import SimulatedChange, SimulatedHost, SimulatedVolume
from cloud_simulator.metrics.workloads import Archetype, Workload
from cloud_simulator.published import Ceiling, VolumeSpec, ebs_types
from cloud_simulator.units import ago

LARGE_HOST: Final = "m5.4xlarge"


@dataclass(slots=True)
class VolumeMaker:
    """Makes volumes of one place with ids, hosts and seeds of their own; `volumes` are those made so far."""

    now: datetime
    account: str
    region: str
    seed: int
    made: int = 0
    volumes: list[SimulatedVolume] = field(default_factory=list)

    def host(self, type_name: str = LARGE_HOST, *, nitro: bool = True, **tags: str) -> SimulatedHost:
        """A host of its own; double underscores in a tag's name stand for colons."""
        self.made += 1
        named = tuple((key.replace("__", ":"), value) for key, value in tags.items())
        return SimulatedHost(id=f"i-{self._number():017x}", type=type_name, tags=named, nitro=nitro)

    def volume(
        self,
        spec: VolumeSpec,
        archetype: Archetype | None,
        name: str,
        *,
        low: float = 20,
        high: float = 100,
        io_kib: float = 16.0,
        hosts: tuple[SimulatedHost, ...] | None = None,
        tags: dict[str, str] | None = None,
        seed: int | None = None,
        **changes: object,
    ) -> SimulatedVolume:
        """A volume with its workload and these fields; `archetype` None: attached to nothing."""
        self.made += 1
        created = ago(self.now, days=90)
        number = self._number()
        workload = archetype and _workload(spec, archetype, number if seed is None else seed, low, high, io_kib)
        volume = SimulatedVolume(
            id=f"vol-{number:017x}",
            account=self.account,
            region=self.region,
            zone=f"{self.region}{'abc'[self.made % 3]}",
            spec=spec,
            created=created,
            state="in-use" if archetype else "available",
            tags=tuple({"Name": name, **(tags or {})}.items()),
            hosts=() if archetype is None else hosts or (self.host(),),
            attached=created if archetype else None,
            workload=workload or None,
        )
        volume = replace(volume, **changes)  # type: ignore[arg-type]  # names of its fields
        self.volumes.append(volume)
        return volume

    def _number(self) -> int:
        return (self.seed * 1_000_003 + self.made) * 2_654_435_761 % (1 << 60)


def _workload(spec: VolumeSpec, archetype: Archetype, seed: int, low: float, high: float, io_kib: float) -> Workload:
    kind = ebs_types().get(spec.type)
    ceiling = kind.ceiling(spec) if kind else Ceiling(iops=0.0, throughput_mib_s=0.0)
    return Workload(
        archetype=archetype,
        seed=seed,
        low_iops=low,
        high_iops=high,
        io_kib=io_kib,
        ceiling_iops=ceiling.iops,
        ceiling_throughput_mib_s=ceiling.throughput_mib_s,
        sustained_iops=ceiling.sustained_iops,
    )


def gp2(size_gib: int) -> VolumeSpec:
    """A gp2 volume's spec."""
    return VolumeSpec(type="gp2", size_gib=size_gib)


def gp3(size_gib: int, iops: int = 3000, throughput_mib_s: int = 125) -> VolumeSpec:
    """A gp3 volume's spec."""
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def io(kind: str, size_gib: int, iops: int) -> VolumeSpec:
    """An io1 or io2 volume's spec."""
    return VolumeSpec(type=kind, size_gib=size_gib, iops=iops)


def change(state: str, started: datetime, progress: int, original: VolumeSpec | None = None) -> SimulatedChange:
    """A volume's latest change."""
    return SimulatedChange(state=state, started=started, progress=progress, original=original)
