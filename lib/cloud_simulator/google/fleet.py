"""The fleet: a pure description of simulated projects, disks and virtual machines, from which the servers answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from cloud_simulator.metrics.workloads import Workload
from cloud_simulator.published import VolumeSpec


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
        """From when to when there is anything to measure (epoch seconds)."""
        ends = [end.timestamp() for end in (self.until, self.vm.stopped) if end is not None]
        return self.since.timestamp(), min(ends, default=float("inf"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedDisk:
    """A disk, where it is, what it was and is attached to, oldest first, and what it does.

    A regional disk has two `zones`. A `deleted` one is in the metrics alone.
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
    attachments: tuple[Attachment, ...] = ()
    workload: Workload | None = None
    deleted: bool = False

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
        """Where it is attached now."""
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
class Folder:
    """A folder of projects and folders; `parent` is the folder or organization that it is in."""

    name: str
    parent: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleFleet:
    """All disks and virtual machines, by project; `now` is when they were laid out.

    `volumes` are the disks that exist, `gone` those deleted ones that the metrics still show. `parents` says which
    folder or organization each project is in, `closing` are projects whose deletion was requested.
    """

    now: datetime
    accounts: tuple[str, ...]
    regions: tuple[str, ...]
    volumes: tuple[SimulatedDisk, ...]
    gone: tuple[SimulatedDisk, ...] = ()
    standing: tuple[SimulatedVm, ...] = ()
    organization: str = ""
    folders: tuple[Folder, ...] = ()
    parents: tuple[tuple[str, str], ...] = ()
    closing: tuple[str, ...] = ()
    _by_project: dict[str, list[SimulatedDisk]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _vms: dict[str, dict[str, SimulatedVm]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _attached: dict[str, list[tuple[SimulatedDisk, Attachment]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _by_id: dict[str, SimulatedDisk] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for disk in self.volumes:
            self._by_project.setdefault(disk.project, []).append(disk)
            self._by_id[disk.id] = disk
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

    def disk(self, disk_id: str) -> SimulatedDisk | None:
        """A disk by its id."""
        return self._by_id.get(disk_id)

    def vms(self, project: str) -> list[SimulatedVm]:
        """The virtual machines of a project that exist."""
        return list(self._vms.get(project, {}).values())

    def on(self, vm: SimulatedVm) -> list[tuple[SimulatedDisk, Attachment]]:
        """What is attached to a virtual machine, its boot disk first."""
        return sorted(self._attached.get(vm.id, []), key=lambda one: not one[1].boot)

    def measured(self) -> Iterator[tuple[SimulatedDisk, Attachment]]:
        """Every disk and attachment that was ever measured, deleted ones too."""
        for disk in (*self.volumes, *self.gone):
            if disk.workload is not None:
                for attachment in disk.attachments:
                    yield disk, attachment
