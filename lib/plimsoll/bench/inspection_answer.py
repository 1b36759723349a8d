"""Reading an inspection: what lsblk, mdadm and LVM told in the document's answer, as one Inspection."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from plimsoll.bench.inspection import Device, Inspection, LogicalVolume, volume_id_of


class _Node(BaseModel):
    """A device of `lsblk -J`; it is told once under each of its parents. Older versions print numbers as text."""

    name: str
    kname: str | None = None
    type: str = ""
    size: int | None = None
    serial: str | None = None
    fstype: str | None = None
    mountpoint: str | None = None
    pkname: str | None = None
    children: "list[_Node]" = Field(default_factory=list)


class _Tree(BaseModel):
    blockdevices: list[_Node] = Field(default_factory=list)


class _Report(BaseModel):
    lv: list[dict[str, str]] = Field(default_factory=list)


class _Reports(BaseModel):
    report: list[_Report] = Field(default_factory=list)


class InspectionAnswer(BaseModel):
    """The document's answer in mode inspect. What a host has no tool for is not there."""

    lsblk: _Tree
    links: dict[str, str] = Field(default_factory=dict)
    mdadm: dict[str, dict[str, str]] = Field(default_factory=dict)
    lvs: _Reports = Field(default_factory=_Reports)

    def inspection(self) -> Inspection:
        """What was told, with volume ids from serials or links."""
        linked = {target: volume_id_of(name) for name, target in sorted(self.links.items()) if volume_id_of(name)}
        return Inspection(
            devices=tuple(_devices(self.lsblk.blockdevices, linked)),
            arrays=self.mdadm,
            logical_volumes=tuple(
                _logical(row) for report in self.lvs.report for row in report.lv if row.get("lv_name")
            ),
        )


def _devices(roots: Sequence[_Node], linked: Mapping[str, str | None]) -> Sequence[Device]:
    nodes: dict[str, _Node] = {}
    parents: dict[str, set[str]] = {}
    waiting: list[tuple[_Node, str | None]] = [(root, None) for root in reversed(roots)]
    while waiting:
        node, parent = waiting.pop()
        kname = node.kname or node.name
        nodes.setdefault(kname, node)
        parents.setdefault(kname, set()).update(name for name in (parent, node.pkname) if name)
        waiting += [(child, kname) for child in reversed(node.children)]
    return [
        Device(
            name=node.name,
            kname=kname,
            type=node.type,
            size_bytes=node.size,
            volume_id=volume_id_of(node.serial) or (None if parents[kname] else linked.get(f"/dev/{kname}")),
            filesystem=node.fstype,
            mounts=(node.mountpoint,) if node.mountpoint else (),
            parents=tuple(sorted(parents[kname])),
        )
        for kname, node in nodes.items()
    ]


def _logical(row: Mapping[str, Any]) -> LogicalVolume:
    stripes, size = str(row.get("stripes", "")), str(row.get("stripe_size", "")).partition(".")[0]
    return LogicalVolume(
        group=row.get("vg_name", ""),
        name=row["lv_name"].strip("[]"),
        level=row.get("segtype", ""),
        stripe_kib=int(size) if size.isdecimal() and int(size) and stripes not in {"", "1"} else None,
    )
