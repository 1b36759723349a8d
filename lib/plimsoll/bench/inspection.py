"""How a host's volumes are put together: what an inspection told, and which volumes are one md or LVM device."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal

_SERIAL: Final = re.compile(r"vol-?([0-9a-f]{8,17})(?![0-9a-f])")
_LEVELS: Final = {"striped": "raid0", "raid0_meta": "raid0"}
"""LVM's words for what md calls otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A block device as lsblk tells it. `parents` are the kernel's names of what it is built on; `volume_id` is None
    where it has neither a volume's serial nor a link named after one."""

    name: str
    kname: str
    type: str
    volume_id: str | None
    mounts: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalVolume:
    """A part of a logical volume as lvs tells it."""

    group: str
    name: str
    level: str

    @property
    def mapped(self) -> str:
        """Its name among the mapped devices, which double each dash."""
        return f"{self.group.replace('-', '--')}-{self.name.replace('-', '--')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What one host told of its block devices. `arrays` is what mdadm exports of each md device by its kernel's name,
    empty where mdadm is not installed, as is `logical_volumes` where LVM is not."""

    devices: tuple[Device, ...]
    arrays: Mapping[str, Mapping[str, str]]
    logical_volumes: tuple[LogicalVolume, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Several disks that are one device. `level` is raid0, raid1, linear ..., "mixed" where its parts differ, None
    where no tool told; `members` are the volumes among its `disks`, which are kernel's names."""

    name: str
    kind: Literal["md", "lvm"]
    level: str | None
    members: tuple[str, ...]
    mounts: tuple[str, ...]
    disks: frozenset[str]


def volume_id_of(text: str | None) -> str | None:
    """The volume's id in an NVMe serial or in the name of a link; None where there is none."""
    found = _SERIAL.search(text or "")
    return f"vol-{found[1]}" if found else None


def stacks(inspection: Inspection) -> tuple[Stack, ...]:
    """The md and LVM devices that are built of two disks or more, partitions looked through.

    One that is built of the disks of another is part of it: of md below LVM on the same disks the md device is told.
    """
    tree = _Tree(inspection)
    found = [*tree.arrays(), *_joined(tree.logical())]
    kept: list[Stack] = []
    for one in sorted(found, key=lambda one: (-len(one.disks), one.kind != "md", one.name)):
        if not any(one.disks <= other.disks for other in kept):
            kept.append(one)
    return tuple(sorted(kept, key=lambda stack: stack.name))


class _Tree:
    """Block devices by the kernel's name, with ways up and down."""

    def __init__(self, inspection: Inspection) -> None:
        self._told = inspection
        self._devices = {device.kname: device for device in inspection.devices}
        self._parents = {device.kname: set(device.parents) for device in inspection.devices}
        for array, told in inspection.arrays.items():
            members = {value.rpartition("/")[2] for key, value in told.items() if re.fullmatch("MD_DEVICE_.*_DEV", key)}
            self._parents.setdefault(array, set()).update(members & self._devices.keys())

    def arrays(self) -> Iterable[Stack]:
        """The md devices over two disks or more."""
        for device in self._devices.values():
            disks = self._disks(device.kname)
            if _is_md(device) and len(disks) > 1:
                told = self._told.arrays.get(device.kname, {})
                level = told.get("MD_LEVEL") or (device.type if device.type.startswith(("raid", "linear")) else None)
                yield self._stack(device, f"/dev/{device.kname}", "md", level, disks)

    def logical(self) -> Iterable[Stack]:
        """The logical volumes over two disks or more; LVM's own inner volumes are part of those above them."""
        for device in self._devices.values():
            disks = self._disks(device.kname)
            above = [self._devices[child] for child in self._children(device.kname)]
            if device.type != "lvm" or len(disks) < 2 or any(child.type == "lvm" for child in above):
                continue
            below = self._below(device.kname)
            parts = [part for part in self._told.logical_volumes if part.mapped in below]
            own = [part for part in parts if part.mapped == device.name]
            name = f"{own[0].group}/{own[0].name}" if own else device.name
            levels = {part.level for part in parts if not part.level.startswith("thin")}
            yield self._stack(device, name, "lvm", _level(levels), disks)

    def _stack(
        self, device: Device, name: str, kind: Literal["md", "lvm"], level: str | None, disks: frozenset[str]
    ) -> Stack:
        volumes = {self._devices[disk].volume_id for disk in disks}
        return Stack(
            name=name,
            kind=kind,
            level=level,
            members=tuple(sorted(volume_id for volume_id in volumes if volume_id)),
            mounts=tuple(sorted(self._mounts(device.kname))),
            disks=disks,
        )

    def _children(self, kname: str) -> Sequence[str]:
        return [other for other, parents in self._parents.items() if kname in parents and other in self._devices]

    def _below(self, kname: str) -> frozenset[str]:
        """The names of a device and of all that it is built on."""
        return frozenset(self._devices[one].name for one in self._reached(kname, up=False))

    def _disks(self, kname: str) -> frozenset[str]:
        """What a device is built on that is built on nothing."""
        return frozenset(one for one in self._reached(kname, up=False) if not self._known_parents(one))

    def _mounts(self, kname: str) -> set[str]:
        return {mount for one in self._reached(kname, up=True) for mount in self._devices[one].mounts}

    def _known_parents(self, kname: str) -> set[str]:
        return self._parents.get(kname, set()) & self._devices.keys()

    def _reached(self, kname: str, *, up: bool) -> set[str]:
        reached: set[str] = set()
        waiting = [kname]
        while waiting:
            one = waiting.pop()
            if one in reached or one not in self._devices:
                continue
            reached.add(one)
            waiting += self._children(one) if up else self._known_parents(one)
        return reached


def _joined(found: Iterable[Stack]) -> Sequence[Stack]:
    """Logical volumes that share a disk are one stack: what is done to the disk is done to all of them."""
    joined: list[Stack] = []
    for one in found:
        sharing = [other for other in joined if other.disks & one.disks]
        joined = [other for other in joined if other not in sharing]
        joined.append(reduce(_together, sharing, one))
    return joined


def _together(one: Stack, other: Stack) -> Stack:
    return Stack(
        name=" + ".join(sorted({*one.name.split(" + "), *other.name.split(" + ")})),
        kind="lvm",
        level=_level({level for level in (one.level, other.level) if level}),
        members=tuple(sorted({*one.members, *other.members})),
        mounts=tuple(sorted({*one.mounts, *other.mounts})),
        disks=one.disks | other.disks,
    )


def _level(levels: Iterable[str]) -> str | None:
    told = {_LEVELS.get(level, level) for level in levels}
    return (told.pop() if len(told) == 1 else "mixed") if told else None


def _is_md(device: Device) -> bool:
    return re.fullmatch(r"md[0-9_].*", device.kname) is not None and "p" not in device.kname.removeprefix("md")
