"""Disks: Persistent Disks and Hyperdisks as volumes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.clouds.google.hosts import Instance
from plimsoll.clouds.google.owners import owner_of
from plimsoll.clouds.google.resource_fields import last_of, moment, path_of, tags_of, zone_of
from plimsoll.clouds.google.shipped import volume_types
from plimsoll.domain.volume import Attachment, Volume, VolumeSpec, VolumeState
from plimsoll.domain.volume_types import Provisioned

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
        owner=owner_of(tags, marks_of(found, instances), found),
        multi_attach=found.access_mode in _SHARED or len(found.users) > 1,
        operator=_operator(found),
    )


def spec_of(found: Any) -> VolumeSpec:
    """What is provisioned, GiB although the API calls them GB; IOPS and MiB/s where the type sells them."""
    name = type_name(found)
    kind = volume_types().get(name)
    sells_iops = kind is None or isinstance(kind.iops, Provisioned)
    sells_throughput = kind is None or isinstance(kind.throughput, Provisioned)
    return VolumeSpec(
        type=name,
        size_gib=found.size_gb,
        iops=found.provisioned_iops or None if sells_iops else None,
        throughput_mib_s=found.provisioned_throughput or None if sells_throughput else None,
    )


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
