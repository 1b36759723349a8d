"""The fleet: a pure description of simulated projects, disks and virtual machines, from which the servers answer.

What is measured follows from it: the minutes of a disk where it is attached, with the peak second of each. What a
minute holds was done in the seconds in which the disk was busy, evenly. So a throttled minute peaks at its ceiling, a
micro-burst at its own, and any other at a little more than its mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np

from cloud_simulator.metrics.live_minutes import Life, live_on
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.metrics.sums import Sums
from cloud_simulator.metrics.workloads import Workload, minutes
from cloud_simulator.published import VolumeSpec, Window
from cloud_simulator.units import KIB, MINUTE_S, FloatArray

Change = tuple[datetime, str, tuple[tuple[str, str], ...]]
"""When something was changed, by which method, and what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVm:
    """A virtual machine; `stopped` is since when it is, and a `deleted` one is in the metrics alone.

    `manager` is the managed instance group that made it.
    """

    id: str
    name: str
    project: str
    zone: str
    type: str
    created: datetime
    labels: tuple[tuple[str, str], ...] = ()
    stopped: datetime | None = None
    deleted: bool = False
    manager: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A disk's place in a virtual machine from one time to another, or until now.

    `part` is which of its disk's operations pass there, from one share of them to another.
    """

    vm: SimulatedVm
    device: str
    since: datetime
    until: datetime | None = None
    boot: bool = False
    part: tuple[float, float] = (0.0, 1.0)

    @property
    def span_s(self) -> tuple[float, float]:
        """The begin and the end of its measurements (epoch seconds)."""
        ends = [end.timestamp() for end in (self.until, self.vm.stopped) if end is not None]
        return self.since.timestamp(), min(ends, default=float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDisk:
    """A disk, where it is, what it was and is attached to, oldest first, and what it does.

    A regional disk has two `zones`. A `deleted` one is in the metrics alone. `secondary` is the disk that receives its
    replication. `changes` are those of it and of its machine that the audit log has, `lived` the updates of its figures
    since it was laid out, oldest first.
    """

    id: str
    name: str
    project: str
    region: str
    zones: tuple[str, ...]
    spec: VolumeSpec
    created: datetime
    status: str = "READY"
    labels: tuple[tuple[str, str], ...] = ()
    description: str = ""
    access_mode: str | None = None
    secondary: str | None = None
    storage_pool: str | None = None
    changes: tuple[Change, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    workload: Workload | None = None
    deleted: bool = False
    lived: list[Modification] = field(default_factory=list, compare=False, repr=False)

    @property
    def account(self) -> str:
        """The project, by the name that every cloud's account goes by."""
        return self.project

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """Its labels and name."""
        return (*self.labels, ("Name", self.name))

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """Its present attachments."""
        return tuple(attachment for attachment in self.attachments if attachment.until is None)

    @property
    def hosts(self) -> tuple[SimulatedVm, ...]:
        """The virtual machines that it is attached to."""
        return tuple(attachment.vm for attachment in self.attached)

    @property
    def known_attachments(self) -> tuple[Attachment, ...]:
        """The attachments whose measurements are surely this disk's.

        These are the present ones and, while there are any, the former ones under its own name.
        """
        if not self.attached:
            return ()
        return tuple(
            attachment for attachment in self.attachments if attachment.until is None or attachment.device == self.name
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleFleet:
    """All disks and virtual machines, by project; `now` is when they were laid out.

    `volumes` are the disks that exist, `gone` those deleted ones that the metrics still show.
    """

    now: datetime
    accounts: tuple[str, ...]
    regions: tuple[str, ...]
    volumes: tuple[SimulatedDisk, ...]
    gone: tuple[SimulatedDisk, ...] = ()
    standing: tuple[SimulatedVm, ...] = ()
    _by_project: dict[str, list[SimulatedDisk]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _vms: dict[str, dict[str, SimulatedVm]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _attached: dict[str, list[tuple[SimulatedDisk, Attachment]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for disk in self.volumes:
            self._by_project.setdefault(disk.project, []).append(disk)
            for attachment in disk.attachments:
                self._keep(attachment.vm)
                if attachment.until is None:
                    self._attached.setdefault(attachment.vm.id, []).append((disk, attachment))
        for vm in self.standing:
            self._keep(vm)

    def _keep(self, vm: SimulatedVm) -> None:
        if not vm.deleted:
            self._vms.setdefault(vm.project, {})[vm.id] = vm

    def disks(self, project: str) -> list[SimulatedDisk]:
        """The disks of a project."""
        return self._by_project.get(project, [])

    def vms(self, project: str) -> list[SimulatedVm]:
        """The virtual machines of a project that exist."""
        return list(self._vms.get(project, {}).values())

    def on(self, vm: SimulatedVm) -> list[tuple[SimulatedDisk, Attachment]]:
        """The disks of a virtual machine, its boot disk first."""
        return sorted(self._attached.get(vm.id, []), key=lambda attached: not attached[1].boot)

    def measured_attachments(self) -> Iterator[tuple[SimulatedDisk, Attachment]]:
        """Every disk and attachment that was ever measured, deleted ones too."""
        for disk in (*self.volumes, *self.gone):
            if disk.workload is not None:
                for attachment in disk.attachments:
                    yield disk, attachment


SERIES_FOLDS: Final = {
    "read_ops": "Sum",
    "write_ops": "Sum",
    "read_bytes": "Sum",
    "write_bytes": "Sum",
    "peak_read_ops": "Maximum",
    "peak_write_ops": "Maximum",
    "peak_read_bytes": "Maximum",
    "peak_write_bytes": "Maximum",
}
"""The eight series, and how each is folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One series of Monitoring: all I/O ever done on a device of a virtual machine under one storage type."""

    attachments: tuple[tuple[SimulatedDisk, Attachment], ...]

    @property
    def id(self) -> str:
        """The device's id, another one once it does something else."""
        disk, attachment = self.attachments[0]
        lived = sum(len(each.lived) for each, _ in self.attachments)
        return f"{attachment.vm.id}/{attachment.device}/{disk.spec.type}{f'/{lived}' if lived else ''}"


def measured_minutes(measured: Measured, first_minute: int, count: int) -> dict[str, FloatArray]:
    """The eight series of a span of minutes since the epoch, NaN where nothing was attached or nothing is known."""
    parts = [attachment_minutes(disk, attachment, first_minute, count) for disk, attachment in measured.attachments]
    made = parts[0]
    for part in parts[1:]:
        made = {name: np.where(np.isnan(values), part[name], values) for name, values in made.items()}
    return made


def attachment_minutes(
    disk: SimulatedDisk, attachment: Attachment, first_minute: int, count: int
) -> dict[str, FloatArray]:
    """The eight series of a disk in one of its attachments; NaN outside of the whole minutes that it was there."""
    since_s, until_s = attachment.span_s
    begin = int(min(count, max(0, -(-since_s // MINUTE_S) - first_minute)))
    end = count if until_s == float("inf") else int(max(begin, min(count, until_s // MINUTE_S - first_minute)))
    made = {name: np.full(count, np.nan) for name in SERIES_FOLDS}
    if begin < end:
        for name, values in _active(disk, attachment.part, first_minute + begin, end - begin).items():
            made[name][begin:end] = values
    return made


def _active(disk: SimulatedDisk, part: tuple[float, float], first_minute: int, count: int) -> dict[str, FloatArray]:
    workload = disk.workload
    if workload is None:
        raise ValueError(f"{disk.name} has no workload")
    whole = minutes(workload, first_minute, count)
    if disk.lived:
        live_on(whole, Life(workload=workload, spec=disk.spec, modifications=disk.lived), first_minute, count)
    busy_s = MINUTE_S - whole["idle_s"]
    made: dict[str, FloatArray] = {}
    for way in ("read", "write"):
        ops = whole[f"{way}_ops"]
        here = np.floor(ops * part[1]) - np.floor(ops * part[0])
        size = round(workload.io_kib * KIB)
        made |= {f"{way}_ops": here, f"{way}_bytes": here * size}
        seconds = np.where(here > 0, busy_s, 1.0)
        made |= {f"peak_{way}_ops": np.ceil(here / seconds), f"peak_{way}_bytes": np.ceil(here * size / seconds)}
    return made


def disk_truth(disk: SimulatedDisk, window: Window) -> Sums | None:
    """A disk's full-resolution sums over a window, without a cloud in between; None while it is attached to nothing.

    Of several attachments at once the counts and the peaks are added up. What it did under another name than its own in
    machines that it has left is nowhere to be told from other disks, and left out.
    """
    if disk.workload is None or not disk.known_attachments:
        return None
    first, count = window.start_s // MINUTE_S, window.buckets(MINUTE_S)
    made = {name: np.full(count, np.nan) for name in SERIES_FOLDS}
    for attachment in disk.known_attachments:
        for name, values in attachment_minutes(disk, attachment, first, count).items():
            before = made[name]
            made[name] = np.where(np.isnan(values), before, values + np.nan_to_num(before))
    return Sums(start_s=window.start_s, period_s=MINUTE_S, **made)
