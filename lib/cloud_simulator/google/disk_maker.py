"""The maker: disks and virtual machines of one project and region, each with an id and a workload of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from cloud_simulator.google.fleet import Attachment, SimulatedDisk, SimulatedVm
from cloud_simulator.metrics.workloads import Archetype, Workload
from cloud_simulator.published import Ceiling, VolumeSpec, disk_types, machine
from cloud_simulator.units import ago

ZONES: Final = {"us-central1": ("a", "b", "c"), "europe-west1": ("b", "c", "d")}
"""The zones of each region, by their last letters."""

READ_SHARE: Final = 0.6
_DAYS_AGO: Final = 90
_LARGEST_ID: Final = 9_000_000_000_000_000_000
"""Ids are unsigned numbers of up to 19 digits, as Compute's are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What a disk does: its archetype, rates (IOPS), size of operations and share of reads.

    `ceilings` are what it is throttled by; () stands for its own type's, in its own machine.
    """

    archetype: Archetype
    low: float = 20.0
    high: float = 100.0
    io_kib: float = 16.0
    read_share: float = READ_SHARE
    ceilings: tuple[Ceiling, ...] = ()
    share: float = 1.0
    seed: int | None = None


@dataclass(slots=True)
class Maker:
    """Makes disks of one place; `disks` are those made so far, `gone` the deleted ones."""

    now: datetime
    project: str
    region: str
    seed: int
    made: int = 0
    disks: list[SimulatedDisk] = field(default_factory=list)
    gone: list[SimulatedDisk] = field(default_factory=list)
    standing: list[SimulatedVm] = field(default_factory=list)

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones of the region."""
        return tuple(f"{self.region}-{letter}" for letter in ZONES[self.region])

    def vm(self, name: str, type_name: str, *, zone: str | None = None, **changes: object) -> SimulatedVm:
        """A virtual machine of its own; its zones go round."""
        self.made += 1
        made = SimulatedVm(
            id=str(self._number()),
            name=name,
            project=self.project,
            zone=zone or self.zones[self.made % 3],
            type=type_name,
            created=ago(self.now, days=_DAYS_AGO),
        )
        return replace(made, **changes)  # type: ignore[arg-type]  # names of its fields

    def disk(
        self,
        spec: VolumeSpec,
        doing: Doing | None,
        name: str,
        vm: SimulatedVm | None = None,
        *,
        device: str | None = None,
        boot: bool = False,
        since: datetime | None = None,
        attachments: tuple[Attachment, ...] | None = None,
        labels: dict[str, str] | None = None,
        **changes: object,
    ) -> SimulatedDisk:
        """A disk in a machine, with these attachments, or with none. A device has its disk's name unless named."""
        self.made += 1
        created = ago(self.now, days=_DAYS_AGO)
        if attachments is None:
            attachment = vm and Attachment(vm=vm, device=device or name, since=since or created, boot=boot)
            attachments = (attachment,) if attachment else ()
        number = self._number()
        disk = SimulatedDisk(
            id=str(number),
            name=name,
            project=self.project,
            region=self.region,
            zones=self._zones(spec, attachments),
            spec=spec,
            created=min([created, *(attachment.since for attachment in attachments)]),
            labels=tuple((labels or {}).items()),
            attachments=attachments,
            workload=_workload(spec, doing, number, attachments) if doing else None,
        )
        disk = replace(disk, **changes)  # type: ignore[arg-type]  # names of its fields
        (self.gone if disk.deleted else self.disks).append(disk)
        return disk

    def boot(self, vm: SimulatedVm, type_name: str = "pd-balanced", size_gib: int = 20) -> SimulatedDisk:
        """A machine's boot disk, which does little."""
        doing = Doing(archetype=Archetype.STEADY, low=1, high=12)
        return self.disk(VolumeSpec(type=type_name, size_gib=size_gib), doing, vm.name, vm, boot=True)

    def _zones(self, spec: VolumeSpec, attachments: Sequence[Attachment]) -> tuple[str, ...]:
        zone = attachments[-1].vm.zone if attachments else self.zones[self.made % 3]
        if not spec.type.startswith("regional-") and spec.type != "hyperdisk-balanced-high-availability":
            return (zone,)
        return zone, next(other for other in self.zones if other != zone)

    def _number(self) -> int:
        return (self.seed * 1_000_003 + self.made) * 6_364_136_223_846_793_005 % (_LARGEST_ID - 10**18) + 10**18


def carried(ceilings: Sequence[Ceiling], read_share: float) -> tuple[float, float]:
    """IOPS and MiB/s that all of the ceilings let pass at that share of reads."""
    iops = [one.iops / (read_share + (1 - read_share) * one.write_iops_cost) for one in ceilings]
    mib_s = [one.throughput_mib_s / (read_share + (1 - read_share) * one.write_throughput_cost) for one in ceilings]
    return min(iops), min(mib_s)


def ceilings(type_name: str, specs: Sequence[VolumeSpec], machine_type: str) -> tuple[Ceiling, ...]:
    """What a machine's disks of a type are held to together: by their sizes, and by the machine."""
    kind, known = disk_types().get(type_name), machine(machine_type)
    whole = VolumeSpec(
        type=type_name,
        size_gib=sum(spec.size_gib for spec in specs),
        iops=specs[0].iops,
        throughput_mib_s=specs[0].throughput_mib_s,
    )
    caps = [cap for name, cap in (known.caps if known else ()) if name == type_name]
    return (*([kind.ceiling(whole)] if kind else []), *caps)


def _workload(spec: VolumeSpec, doing: Doing, number: int, attachments: Sequence[Attachment]) -> Workload:
    held = doing.ceilings or (ceilings(spec.type, [spec], attachments[-1].vm.type) if attachments else ())
    iops, mib_s = carried(held, doing.read_share) if held else (0.0, 0.0)
    return Workload(
        archetype=doing.archetype,
        seed=number if doing.seed is None else doing.seed,
        low_iops=doing.low,
        high_iops=doing.high,
        io_kib=doing.io_kib,
        read_share=doing.read_share,
        ceiling_iops=iops * doing.share,
        ceiling_throughput_mib_s=mib_s * doing.share,
    )
