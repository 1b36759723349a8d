"""Disks: Persistent Disks and Hyperdisks as volumes, and the instances that hold them as hosts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.google.machines import machine
from plimsoll.clouds.google.names import last_of, moment, path_of, tags_of, zone_of
from plimsoll.clouds.google.owners import HOST_METADATA, owner_of
from plimsoll.clouds.registry import GOOGLE
from plimsoll.domain.host import Host
from plimsoll.domain.volume import Attachment, Volume, VolumeSpec, VolumeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """How an instance holds a disk: the device name that its metrics go by, and whether it boots from it."""

    device: str
    boot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A host, the disks it holds by their path, and its tags with those items of its metadata that tell who made it."""

    host: Host
    seats: Mapping[str, Seat]
    marks: Mapping[str, str]


def instance_of(found: Any) -> Instance:
    """The instance in one compute_v1.Instance. Local SSDs have no disk of their own, so no seat.

    Nothing is known to be carried or attached by a machine type that the data does not have.
    """
    kind = last_of(found.machine_type)
    known = machine(kind)
    tags = tags_of(found.labels, found.name)
    host = Host(
        id=str(found.id),
        type=kind,
        limits=known.limits if known else None,
        tags=tuple(tags.items()),
        caps=known.caps if known else (),
    )
    seats = {path_of(held.source): Seat(device=held.device_name, boot=held.boot) for held in found.disks if held.source}
    metadata = {item.key: item.value for item in found.metadata.items if item.key in HOST_METADATA}
    return Instance(host=host, seats=seats, marks={**tags, **metadata})


_STATES: Final = {
    "CREATING": VolumeState.CREATING,
    "RESTORING": VolumeState.CREATING,
    "DELETING": VolumeState.DELETING,
    "FAILED": VolumeState.ERROR,
    "UNAVAILABLE": VolumeState.ERROR,
}
_SHARED: Final = {"READ_WRITE_MANY", "READ_ONLY_MANY"}
_REPLICATING: Final = {"ACTIVE", "CREATED", "STARTING", "STOPPING"}
_REPLICATION: Final = "asynchronous replication from another disk"


def volume_of(found: Any, project: str, region: str, instances: Mapping[str, Instance]) -> Volume:
    """The volume in one compute_v1.Disk of a project, which is attached to some of these instances or to none.

    A disk that receives another's replication is the replication's: it looks like one that nobody needs, and is not.
    Of other services none is known that refuses changes to its disks.
    """
    tags = tags_of(found.labels, found.name)
    return Volume(
        id=str(found.id),
        account=project,
        region=region,
        zone=zone_of(found.zone, found.replica_zones),
        spec=spec_of(found),
        state=_state(found),
        created=moment(found.creation_timestamp),
        tags=tags,
        attachments=tuple(attachments_of(found, instances)),
        owner=owner_of(tags, marks_of(found, instances), found.name, found.description),
        multi_attach=found.access_mode in _SHARED or len(found.users) > 1,
        operator=_operator(found),
    )


def spec_of(found: Any) -> VolumeSpec:
    """What is provisioned, GiB although the API calls them GB; IOPS and MiB/s where the type sells them."""
    spec = VolumeSpec(
        type=type_name(found),
        size_gib=found.size_gb,
        iops=found.provisioned_iops or None,
        throughput_mib_s=found.provisioned_throughput or None,
    )
    return sold_figures(spec, GOOGLE)


def type_name(found: Any) -> str:
    """The type as its own name: a Persistent Disk kept in two zones has other limits and prices than one in one."""
    name = last_of(found.type_)
    return f"regional-{name}" if found.region and name.startswith("pd-") else name


def _state(found: Any) -> VolumeState:
    """Of a disk that is ready, and of one that is in a state unknown here, whether anybody uses it tells the rest."""
    return _STATES.get(found.status) or (VolumeState.IN_USE if found.users else VolumeState.AVAILABLE)


def _operator(found: Any) -> str | None:
    replicating = found.resource_status.async_primary_disk.state in _REPLICATING
    return _REPLICATION if found.async_primary_disk.disk and replicating else None


def attachments_of(disk: Any, instances: Mapping[str, Instance]) -> Iterator[Attachment]:
    """One attachment for each user of a compute_v1.Disk, since its latest attachment.

    The host is None where it is of another project or gone by now, or holds the disk no longer.
    """
    since = moment(disk.last_attach_timestamp or disk.creation_timestamp)
    path = path_of(disk.self_link)
    for user in disk.users:
        instance = instances.get(path_of(user))
        seat = instance.seats.get(path) if instance else None
        yield Attachment(
            host=instance.host if instance and seat else None,
            device=seat.device if seat else "",
            since=since,
            boot=seat is not None and seat.boot,
        )


def marks_of(disk: Any, instances: Mapping[str, Instance]) -> dict[str, str]:
    """What the instances that use a disk say of who made them."""
    users = [instances[path_of(user)] for user in disk.users if path_of(user) in instances]
    return {key: value for instance in users for key, value in instance.marks.items()}
