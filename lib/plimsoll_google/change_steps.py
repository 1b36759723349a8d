"""Steps: changes in place or by a copy, their gcloud lines, and the lines that take them back."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from plimsoll.model.market import VolumeType
from plimsoll.model.volume import NAME_TAG, Host, Volume, VolumeSpec

_REGIONAL: Final = "regional-"
_HIGH_AVAILABILITY: Final = "hyperdisk-balanced-high-availability"
_LONGEST_NAME: Final = 63
"""Characters of a resource's name (RFC 1035, as Compute Engine's reference has it for disks and snapshots)."""

STOPPING: Final = "Stopping a VM deletes the data on its Local SSDs, and gives up an ephemeral external address."


def is_in_place(spec: VolumeSpec, target: VolumeSpec, types: Mapping[str, VolumeType]) -> bool:
    """True if a disk changes while it is used, False if by a snapshot and a new disk.

    In place only within a type whose data say how often that may be (Hyperdisk's), or if nothing but the size grows.
    The v1 API changes no disk's type, and Extreme Persistent Disk's IOPS only by deleting and making it anew (Compute
    API rev 20261106; Terraform's Google provider, google_compute_disk; both read in November 2026).
    """
    kind = types.get(spec.type)
    same_figures = (spec.iops, spec.throughput_mib_s) == (target.iops, target.throughput_mib_s)
    return spec.type == target.type and (same_figures or (kind is not None and kind.changes is not None))


def change_limits(volume: Volume, target: VolumeSpec, types: Mapping[str, VolumeType]) -> str:
    """A sentence on how often a change in place may be made, and how it is taken back."""
    kind = types.get(volume.spec.type)
    limit = kind.changes if kind is not None else None
    often = f", at most {limit.most} times in about {limit.hours:g} hours" if limit is not None else ""
    if limit is not None and limit.most == 1:
        often = f", about once in {limit.hours:g} hours"
    back = f"It is changed while it is used{often}; the same way leads back to {volume.spec}"
    return f"{back}, but for the size: a disk never shrinks." if target.size_gib > volume.spec.size_gib else f"{back}."


def plain_type(type_name: str) -> str:
    """A type as gcloud calls it; another option says that a disk is regional."""
    return type_name.removeprefix(_REGIONAL)


def is_regional(type_name: str) -> bool:
    """True if disks of the type are kept in two zones."""
    return type_name.startswith(_REGIONAL) or type_name == _HIGH_AVAILABILITY


def disk_name(volume: Volume) -> str:
    """The name of the disk for gcloud; its id if no name is known."""
    return volume.name or volume.id


def zones_of(volume: Volume) -> tuple[str, ...]:
    """The zones of a disk: one, or those of its replicas."""
    return tuple(volume.zone.split("+"))


def new_name(volume: Volume, target: VolumeSpec) -> str:
    """A name for the copy: the disk's own, with the type in the place of an earlier one."""
    name, suffix = disk_name(volume), plain_type(target.type)
    stem = name.removesuffix(f"-{plain_type(volume.spec.type)}")
    candidate = _resource_name(stem, suffix)
    return candidate if candidate != name else _resource_name(stem, f"{suffix}-2")


def snapshot_name(volume: Volume, target: VolumeSpec) -> str:
    """A name for the snapshot that the copy is made from."""
    return _resource_name(disk_name(volume), f"before-{plain_type(target.type)}")


def _resource_name(stem: str, suffix: str) -> str:
    return f"{stem[: _LONGEST_NAME - 1 - len(suffix)].rstrip('-')}-{suffix}"


def update_lines(volume: Volume, target: VolumeSpec) -> Iterator[str]:
    """The lines that change a disk in place: its figures, its size or both."""
    figures = figure_flags(target)
    if figures and (target.iops, target.throughput_mib_s) != (volume.spec.iops, volume.spec.throughput_mib_s):
        yield _gcloud(volume, "disks", "update", disk_name(volume), *_place(volume, volume.spec.type), *figures)
    if target.size_gib != volume.spec.size_gib:
        size = ("--size", f"{target.size_gib}GB")
        yield _gcloud(volume, "disks", "resize", disk_name(volume), *_place(volume, volume.spec.type), *size)


def figure_flags(target: VolumeSpec, prefix: str = "") -> list[str]:
    """The provisioned figures of a spec as flags; none if the type provisions none."""
    figures = {"iops": target.iops, "throughput": target.throughput_mib_s}
    return [
        word
        for name, figure in figures.items()
        if figure is not None
        for word in (f"--{prefix}provisioned-{name}", str(figure))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A disk's change by a snapshot: `target` on a new disk, attached in the place of the old one."""

    volume: Volume
    target: VolumeSpec

    def lines(self) -> Iterator[str]:
        """All of it, in order, for the hosts that can be seen; the old disk and the snapshot stay."""
        yield from self.snapshot_lines()
        yield self._create_line()
        yield from self._swap_lines()
        yield from (self._instance_line("start", host) for host in self.volume.hosts)

    def back_lines(self) -> Iterator[str]:
        """The old disk in its place again, for the hosts that can be seen, without what was written since."""
        yield from self._stop_lines()
        yield from self._swap_lines(back=True)
        yield from (self._instance_line("start", host) for host in self.volume.hosts)

    def snapshot_lines(self) -> Iterator[str]:
        """Stops what writes, and takes the snapshot."""
        yield from self._stop_lines()
        flag, place = _place(self.volume, self.volume.spec.type)
        source = ("--source-disk", disk_name(self.volume), f"--source-disk-{flag.removeprefix('--')}", place)
        yield _gcloud(self.volume, "snapshots", "create", snapshot_name(self.volume, self.target), *source)

    def delete_lines(self) -> Iterator[str]:
        """The lines that take the way back away: they delete the old disk and the snapshot."""
        place = _place(self.volume, self.volume.spec.type)
        yield _gcloud(self.volume, "disks", "delete", disk_name(self.volume), *place)
        yield _gcloud(self.volume, "snapshots", "delete", snapshot_name(self.volume, self.target))

    def _stop_lines(self) -> Iterator[str]:
        if len(zones_of(self.volume)) > 1:
            yield from (self._zone_line(host) for host in self.volume.hosts)
        yield from (self._instance_line("stop", host) for host in self.volume.hosts)

    def _create_line(self) -> str:
        target = self.target
        place = list(_place(self.volume, target.type))
        if is_regional(target.type):
            place += ["--replica-zones", ",".join(zones_of(self.volume))]
        spec = ["--type", plain_type(target.type), "--size", f"{target.size_gib}GB", *figure_flags(target)]
        source = ["--source-snapshot", snapshot_name(self.volume, target)]
        return _gcloud(self.volume, "disks", "create", new_name(self.volume, target), *place, *spec, *source)

    def _swap_lines(self, *, back: bool = False) -> Iterator[str]:
        disks = [
            ["--disk", disk_name(self.volume), *_scope(self.volume.spec.type)],
            ["--disk", new_name(self.volume, self.target), *_scope(self.target.type)],
        ]
        attached, other = reversed(disks) if back else disks
        for attachment in self.volume.attachments:
            if attachment.host is None:
                continue
            yield self._instance_line("detach-disk", attachment.host, *attached)
            new = [*other, "--device-name", attachment.device, *(["--boot"] if attachment.boot else [])]
            yield self._instance_line("attach-disk", attachment.host, *new)

    def _instance_line(self, verb: str, host: Host, *words: str) -> str:
        zones = zones_of(self.volume)
        line = _gcloud(self.volume, "instances", verb, _host_name(host), *words)
        return f"{line} --zone " + (shlex.quote(zones[0]) if len(zones) == 1 else f'"${self._zone_variable(host)}"')

    def _zone_line(self, host: Host) -> str:
        asked = ("--filter", f"id={host.id}", "--format", "value(zone.basename())")
        return f"{self._zone_variable(host)}=$({_gcloud(self.volume, 'instances', 'list', *asked)})"

    def _zone_variable(self, host: Host) -> str:
        """A regional disk's instance is in one of two zones, which the disk does not tell."""
        hosts = self.volume.hosts
        return "zone" if len(hosts) == 1 else f"zone_{hosts.index(host) + 1}"


def _host_name(host: Host) -> str:
    return dict(host.tags).get(NAME_TAG, host.id)


def _place(volume: Volume, type_name: str) -> tuple[str, str]:
    if is_regional(type_name):
        return ("--region", volume.region)
    return ("--zone", zones_of(volume)[0])


def _scope(type_name: str) -> list[str]:
    return ["--disk-scope", "regional"] if is_regional(type_name) else []


def _gcloud(volume: Volume, group: str, verb: str, *words: str) -> str:
    return shlex.join(["gcloud", "compute", group, verb, *words, "--project", volume.account])
