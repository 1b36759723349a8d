"""An inspection of a host: its block devices, and the volumes that make one md or LVM device."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal

from pydantic import BaseModel, Field

_SERIAL: Final = re.compile(r"vol-?([0-9a-f]{8,17})(?![0-9a-f])")
_LEVELS: Final = {"striped": "raid0", "raid0_meta": "raid0"}
"""LVM's names of levels, and md's."""


class Device(BaseModel):
    """A block device of `lsblk -J`, which lists it once under each of its parents."""

    name: str
    kname: str | None = None
    type: str = ""
    serial: str | None = None
    mountpoint: str | None = None
    pkname: str | None = None
    children: "list[Device]" = Field(default_factory=list)


class _Lsblk(BaseModel):
    blockdevices: list[Device] = Field(default_factory=list)


class _LvsReport(BaseModel):
    lv: list[dict[str, str]] = Field(default_factory=list)


class _Lvs(BaseModel):
    report: list[_LvsReport] = Field(default_factory=list)


class Inspection(BaseModel):
    """A host's report of its block devices. A part is empty if the host has no tool for it.

    `links` are the names that link to devices, `mdadm` the exports of each md device by its kernel's name.
    """

    lsblk: _Lsblk
    links: dict[str, str] = Field(default_factory=dict)
    mdadm: dict[str, dict[str, str]] = Field(default_factory=dict)
    lvs: _Lvs = Field(default_factory=_Lvs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Several disks that are one device.

    `level` is raid0, raid1, linear ..., "mixed" if its parts differ, None if no tool told. `members` are the volumes
    among its `disks`, which are kernel's names.
    """

    name: str
    kind: Literal["md", "lvm"]
    level: str | None
    members: tuple[str, ...]
    mounts: tuple[str, ...]
    disks: frozenset[str]


def volume_id_of(text: str | None) -> str | None:
    """The volume's id in an NVMe serial or in the name of a link. None if it has none."""
    match = _SERIAL.search(text or "")
    return f"vol-{match[1]}" if match else None


def stacks(inspection: Inspection) -> tuple[Stack, ...]:
    """The md and LVM devices over two disks or more. Partitions count as their disk.

    Of two devices over the same disks only one is returned: of md below LVM the md device.
    """
    tree = _Tree(inspection)
    candidates = [*tree.arrays(), *_join_sharing(tree.logical())]
    kept: list[Stack] = []
    for candidate in sorted(
        candidates, key=lambda candidate: (-len(candidate.disks), candidate.kind != "md", candidate.name)
    ):
        if not any(candidate.disks <= other.disks for other in kept):
            kept.append(candidate)
    return tuple(sorted(kept, key=lambda stack: stack.name))


class _Tree:
    """Block devices by the kernel's name, with ways up and down, and the logical volumes of each mapped device."""

    def __init__(self, inspection: Inspection) -> None:
        self._devices: dict[str, Device] = {}
        self._parents: dict[str, set[str]] = {}
        waiting: list[tuple[Device, str]] = [(root, "") for root in reversed(inspection.lsblk.blockdevices)]
        while waiting:
            device, parent = waiting.pop()
            kname = device.kname or device.name
            self._devices.setdefault(kname, device)
            self._parents.setdefault(kname, set()).update(name for name in (parent, device.pkname) if name)
            waiting += [(child, kname) for child in reversed(device.children)]
        linked = {target: volume_id_of(name) for name, target in sorted(inspection.links.items()) if volume_id_of(name)}
        self._volumes = {
            kname: volume_id_of(device.serial) or (None if self._parents[kname] else linked.get(f"/dev/{kname}"))
            for kname, device in self._devices.items()
        }
        self._arrays = inspection.mdadm
        for array, exported in inspection.mdadm.items():
            paths = [value for key, value in exported.items() if re.fullmatch("MD_DEVICE_.*_DEV", key)]
            members = {path.rpartition("/")[2] for path in paths}
            self._parents.setdefault(array, set()).update(members & self._devices.keys())
        self._logical: dict[str, list[tuple[str, str]]] = {}
        for row in (row for report in inspection.lvs.report for row in report.lv if row.get("lv_name")):
            group, name = row.get("vg_name", ""), row["lv_name"].strip("[]")
            mapped = f"{group.replace('-', '--')}-{name.replace('-', '--')}"  # which doubles each dash
            self._logical.setdefault(mapped, []).append((f"{group}/{name}", row.get("segtype", "")))

    def arrays(self) -> Iterable[Stack]:
        """The md devices over two disks or more."""
        for kname, device in self._devices.items():
            disks = self._disks(kname)
            if _is_md(kname) and len(disks) > 1:
                level = device.type if device.type.startswith(("raid", "linear")) else None
                level = self._arrays.get(kname, {}).get("MD_LEVEL") or level
                yield self._stack(kname, f"/dev/{kname}", "md", level, disks)

    def logical(self) -> Iterable[Stack]:
        """The logical volumes over two disks or more. LVM's inner volumes are part of those above them."""
        for kname, device in self._devices.items():
            disks = self._disks(kname)
            above = [self._devices[child] for child in self._children(kname)]
            if device.type != "lvm" or len(disks) < 2 or any(child.type == "lvm" for child in above):
                continue
            below = {self._devices[ancestor].name for ancestor in self._walk(kname, up=False)}
            levels = {level for name in below for _, level in self._logical.get(name, ())}
            names = [name for name, _ in self._logical.get(device.name, ())]
            level = _level(level for level in levels if not level.startswith("thin"))
            yield self._stack(kname, names[0] if names else device.name, "lvm", level, disks)

    def _stack(
        self, kname: str, name: str, kind: Literal["md", "lvm"], level: str | None, disks: frozenset[str]
    ) -> Stack:
        volumes = {self._volumes[disk] for disk in disks}
        mounts = {self._devices[descendant].mountpoint for descendant in self._walk(kname, up=True)}
        return Stack(
            name=name,
            kind=kind,
            level=level,
            members=tuple(sorted(volume_id for volume_id in volumes if volume_id)),
            mounts=tuple(sorted(mount for mount in mounts if mount)),
            disks=disks,
        )

    def _children(self, kname: str) -> Sequence[str]:
        return [other for other, parents in self._parents.items() if kname in parents and other in self._devices]

    def _disks(self, kname: str) -> frozenset[str]:
        """The devices at the bottom of a device: they are built on nothing."""
        return frozenset(ancestor for ancestor in self._walk(kname, up=False) if not self._known_parents(ancestor))

    def _known_parents(self, kname: str) -> set[str]:
        return self._parents.get(kname, set()) & self._devices.keys()

    def _walk(self, kname: str, *, up: bool) -> set[str]:
        reached: set[str] = set()
        waiting = [kname]
        while waiting:
            current = waiting.pop()
            if current in reached or current not in self._devices:
                continue
            reached.add(current)
            waiting += self._children(current) if up else self._known_parents(current)
        return reached


def _join_sharing(volumes: Iterable[Stack]) -> Sequence[Stack]:
    """Logical volumes that share a disk become one stack: a change of the disk changes all of them."""
    joined: list[Stack] = []
    for stack in volumes:
        sharing = [other for other in joined if other.disks & stack.disks]
        joined = [other for other in joined if other not in sharing]
        joined.append(reduce(_combine_stacks, sharing, stack))
    return joined


def _combine_stacks(stack: Stack, other: Stack) -> Stack:
    return Stack(
        name=" + ".join(sorted({*stack.name.split(" + "), *other.name.split(" + ")})),
        kind="lvm",
        level=_level({level for level in (stack.level, other.level) if level}),
        members=tuple(sorted({*stack.members, *other.members})),
        mounts=tuple(sorted({*stack.mounts, *other.mounts})),
        disks=stack.disks | other.disks,
    )


def _level(levels: Iterable[str]) -> str | None:
    names = {_LEVELS.get(level, level) for level in levels}
    return (names.pop() if len(names) == 1 else "mixed") if names else None


def _is_md(kname: str) -> bool:
    return re.fullmatch(r"md[0-9_].*", kname) is not None and "p" not in kname.removeprefix("md")
