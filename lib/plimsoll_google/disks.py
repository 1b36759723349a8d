"""Disks: Persistent Disks and Hyperdisks as volumes, the instances that hold them as hosts, and labels as tags."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.errors import BadAnswer
from plimsoll.model.volume import NAME_TAG, Attachment, Host, Volume, VolumeSpec, VolumeState
from plimsoll_google.machines import machine
from plimsoll_google.names import LIST_INSTANCES, last_of, moment, path_of
from plimsoll_google.owners import disk_owner
from plimsoll_google.resources import DiskAnswer, read_attached_disk, read_instance

_LOCAL: Final = "SCRATCH"
"""The type of a local SSD, which has no disk of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedDisk:
    """A disk on an instance: the device name that its metrics go by, and whether the instance boots from it."""

    device: str
    boot: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInstance:
    """A host with the disks that it holds, by their path.

    A disk that cannot be read has its error instead. `marks` are its tags, and those items of its metadata that tell
    who made it.
    """

    path: str
    host: Host
    attached: Mapping[str, AttachedDisk | BadAnswer]
    marks: Mapping[str, str]


def host_instance(message: Any, *, scope: str | None = None, place: str) -> HostInstance:
    """The instance in a protobuf `Instance` that was listed under a scope of a place. Raises BadAnswer.

    A machine type that the data does not have has no known limits.
    """
    answer = read_instance(message, scope=scope, place=place)
    kind = last_of(answer.machine_type)
    known = machine(kind)
    tags = tags_of(answer.labels, answer.name)
    host = Host(
        id=str(answer.id),
        type=kind,
        limits=known.limits if known else None,
        tags=tuple(tags.items()),
        caps=known.caps if known else (),
        running_since=answer.running_since,
        stopped_since=answer.stopped_since,
    )
    return HostInstance(
        path=answer.path,
        host=host,
        attached=_attached_disks(message, answer.name, place),
        marks={**tags, **answer.metadata},
    )


def _attached_disks(message: Any, instance: str, place: str) -> Mapping[str, AttachedDisk | BadAnswer]:
    """The disks that an instance holds, by their path. A name that it has twice makes all of them unreadable."""
    held = [attached for attached in message.disks if attached.source and attached.type_ != _LOCAL]
    for values in (
        [path_of(attached.source) for attached in held],
        [attached.device_name for attached in held if attached.device_name],
    ):
        twice = next((value for value, times in Counter(values).items() if times > 1), None)
        if twice is not None:
            error = bad_answer(
                f"it names {twice} twice",
                values,
                call=LIST_INSTANCES,
                place=f"the disks of instance {instance} in {place}",
            )
            return {path_of(attached.source): error for attached in held}
    return {path_of(attached.source): _attached_disk(attached, instance, place) for attached in held}


def _attached_disk(message: Any, instance: str, place: str) -> AttachedDisk | BadAnswer:
    try:
        held = read_attached_disk(message, instance=instance, place=place)
    except BadAnswer as error:
        return error
    return AttachedDisk(device=held.device, boot=held.boot)


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


def disk_volume(
    disk: DiskAnswer, project: str, region: str, users: Iterable[tuple[HostInstance, AttachedDisk] | None]
) -> Volume:
    """The volume of a project's disk. `users` are its instances in its own order, None for one of another project.

    A disk that receives another's replication is the replication's: it looks like one that nobody needs, and is not. Of
    other services none is known that refuses changes to its disks.
    """
    tags = tags_of(disk.labels, disk.name)
    held = tuple(users)
    marks = {key: value for user in held if user is not None for key, value in user[0].marks.items()}
    since = moment(disk.attached or disk.created)
    return Volume(
        id=str(disk.id),
        account=project,
        region=region,
        zone="+".join(disk.zones),
        spec=disk_spec(disk),
        state=_STATES.get(disk.status) or (VolumeState.IN_USE if held else VolumeState.AVAILABLE),
        created=moment(disk.created),
        tags=tags,
        attachments=tuple(
            Attachment(host=None, device="", since=since)
            if user is None
            else Attachment(
                host=user[0].host,
                device=user[1].device,
                since=since,
                boot=user[1].boot,
                at_start=_at_start(since, user[0].host),
            )
            for user in held
        ),
        owner=disk_owner(tags, marks, disk.name, disk.description),
        multi_attach=disk.access_mode in _SHARED or len(held) > 1,
        replicated_to=tuple(sorted(map(last_of, disk.secondaries))),
        storage_pool=last_of(disk.storage_pool) if disk.storage_pool else None,
        operator=_REPLICATION if disk.primary_disk and disk.replication in _REPLICATING else None,
    )


_STARTED_WITHIN: Final = timedelta(minutes=5)


def _at_start(since: datetime, host: Host) -> bool:
    """True if a disk was attached as its instance was started.

    Google does not say whether a start attaches anew what was there before, so this is not ruled out.
    """
    return host.running_since is not None and abs(since - host.running_since) <= _STARTED_WITHIN


def disk_spec(disk: DiskAnswer) -> VolumeSpec:
    """The provisioned spec; IOPS and MiB/s if the type sells them."""
    spec = VolumeSpec(
        type=disk.type_name,
        size_gib=disk.size_gib,
        iops=disk.iops or None,
        throughput_mib_s=disk.throughput_mib_s or None,
    )
    return sold_figures(spec, GOOGLE)


_OURS: Final = "plimsoll-"
_OUR_TAGS: Final = "plimsoll:"


def tags_of(labels: Mapping[str, str], name: str) -> dict[str, str]:
    """The labels and the resource's own name as tags.

    Labels cannot hold a colon: plimsoll-exclude, plimsoll-bench and the like are the tags plimsoll:exclude and
    plimsoll:bench too.
    """
    ours = {key.replace(_OURS, _OUR_TAGS, 1): value for key, value in labels.items() if key.startswith(_OURS)}
    return {**labels, **ours, NAME_TAG: name}
