"""Resources: disks and instances as Compute Engine answers them, read into types of ours.

Every field that a decision rests on is required: a missing field is unknown, never zero. Only the fields that are used
are taken along, so that no error carries what an instance's metadata hold.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from google.cloud import compute_v1
from pydantic import AfterValidator, Field, StringConstraints

from plimsoll.clouds.common.answers import CloudAnswer, bad_answer, read_answer
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import GOOGLE
from plimsoll.model.market import Provisioned
from plimsoll_google.names import LIST_DISKS, LIST_INSTANCES, is_moment, last_of, moment, path_of
from plimsoll_google.owners import HOST_METADATA

MOST_SIZE_GIB: Final = 1_048_576
"""No disk is larger: 16 times the largest that is sold (64 TiB, data/types.yaml)."""
MOST_DISK_IOPS: Final = 50_000_000
MOST_DISK_MIB_S: Final = 5_000_000
"""No disk has more: over twice what the largest Hyperdisk ML has (1,200,000 MiB/s, and 16 IOPS for each)."""


_RUNNING: Final = "RUNNING"
_STOPPED: Final = frozenset({"STOPPED", "TERMINATED"})


def _is_status(written: str) -> str:
    if written not in compute_v1.Instance.Status.__members__:
        raise ValueError("no status of an instance")
    return written


def _is_time(written: str) -> str:
    if not is_moment(written):
        raise ValueError("no time with an offset")
    return written


def _is_of(kind: str) -> StringConstraints:
    return StringConstraints(pattern=rf"projects/[^/]+/.+/{kind}/[^/]+$")


RequiredText = Annotated[str, StringConstraints(min_length=1)]
Id = Annotated[int, Field(gt=0)]
Time = Annotated[str, AfterValidator(_is_time)]
DiskUrl = Annotated[str, _is_of("disks")]
InstanceUrl = Annotated[str, _is_of("instances")]


class DiskAnswer(CloudAnswer):
    """One disk. Sizes are in GiB although the API calls them GB, throughput is in MiB/s."""

    id: Id
    name: RequiredText
    self_link: DiskUrl = Field(alias="selfLink")
    kind: Annotated[str, StringConstraints(pattern=r"(^|/)diskTypes/[^/]+$")] = Field(alias="type")
    size_gib: int = Field(alias="sizeGb", gt=0, le=MOST_SIZE_GIB)
    status: Literal["READY", "CREATING", "RESTORING", "DELETING", "FAILED", "UNAVAILABLE"]
    created: Time = Field(alias="creationTimestamp")
    attached: Time | None = Field(alias="lastAttachTimestamp", default=None)
    users: tuple[InstanceUrl, ...]
    zone: RequiredText | None = None
    region: RequiredText | None = None
    replica_zones: tuple[RequiredText, ...] = Field(alias="replicaZones")
    iops: int | None = Field(alias="provisionedIops", ge=0, le=MOST_DISK_IOPS, default=None)
    throughput_mib_s: int | None = Field(alias="provisionedThroughput", ge=0, le=MOST_DISK_MIB_S, default=None)
    access_mode: Literal["READ_WRITE_SINGLE", "READ_WRITE_MANY", "READ_ONLY_MANY"] | None = Field(
        alias="accessMode", default=None
    )
    labels: Mapping[str, str]
    description: str = ""
    storage_pool: str = Field(alias="storagePool", default="")
    primary_disk: str = Field(alias="asyncPrimaryDisk", default="")
    secondaries: tuple[DiskUrl, ...] = Field(alias="asyncSecondaryDisks", default=())
    replication: Literal["", "ACTIVE", "CREATED", "STARTING", "STOPPED", "STOPPING"] = ""

    @property
    def path(self) -> str:
        """Its own, from `projects/` on."""
        return path_of(self.self_link)

    @property
    def type_name(self) -> str:
        """The type as its own name: a Persistent Disk kept in two zones has other limits and prices than one in one."""
        name = last_of(self.kind)
        return f"regional-{name}" if self.region and name.startswith("pd-") else name

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones of the disk: one, or those of its replicas."""
        return (last_of(self.zone),) if self.zone else tuple(sorted(map(last_of, self.replica_zones)))


class HostAnswer(CloudAnswer):
    """One instance, without its disks."""

    id: Id
    name: RequiredText
    self_link: InstanceUrl = Field(alias="selfLink")
    machine_type: Annotated[str, StringConstraints(pattern=r"(^|/)machineTypes/[^/]+$")] = Field(alias="machineType")
    status: Annotated[str, AfterValidator(_is_status)]
    started: Time | None = Field(alias="lastStartTimestamp", default=None)
    stopped: Time | None = Field(alias="lastStopTimestamp", default=None)
    labels: Mapping[str, str]
    metadata: Mapping[str, str]

    @property
    def running_since(self) -> datetime | None:
        """The time of its last start. None if it does not run, or Google does not say."""
        return moment(self.started) if self.started is not None and self.status == _RUNNING else None

    @property
    def stopped_since(self) -> datetime | None:
        """The time when it was stopped. None if it was not, or Google does not say."""
        return moment(self.stopped) if self.stopped is not None and self.status in _STOPPED else None

    @property
    def path(self) -> str:
        """Its own, from `projects/` on."""
        return path_of(self.self_link)


class AttachedDiskAnswer(CloudAnswer):
    """One disk as an instance holds it."""

    source: DiskUrl
    device: RequiredText = Field(alias="deviceName")
    boot: bool


_DISK: Final = {
    "id": "id",
    "name": "name",
    "selfLink": "self_link",
    "type": "type_",
    "sizeGb": "size_gb",
    "status": "status",
    "creationTimestamp": "creation_timestamp",
    "lastAttachTimestamp": "last_attach_timestamp",
    "zone": "zone",
    "region": "region",
    "provisionedIops": "provisioned_iops",
    "provisionedThroughput": "provisioned_throughput",
    "accessMode": "access_mode",
    "description": "description",
    "storagePool": "storage_pool",
}
_INSTANCE: Final = {
    "id": "id",
    "name": "name",
    "selfLink": "self_link",
    "machineType": "machine_type",
    "status": "status",
    "lastStartTimestamp": "last_start_timestamp",
    "lastStopTimestamp": "last_stop_timestamp",
}
_HELD: Final = {"source": "source", "deviceName": "device_name", "boot": "boot"}
"""The fields that say whether they were sent, as the API and as its messages call them."""


def read_disk(message: Any, *, scope: str, place: str) -> DiskAnswer:
    """The disk in a protobuf `Disk` that was listed under a scope of a place. Raises BadAnswer with name and field."""
    raw = {
        **_sent_fields(message, _DISK),
        "users": list(message.users),
        "replicaZones": list(message.replica_zones),
        "labels": dict(message.labels),
        "asyncPrimaryDisk": message.async_primary_disk.disk,
        "asyncSecondaryDisks": [
            secondary.async_replication_disk.disk for secondary in message.async_secondary_disks.values()
        ],
        "replication": message.resource_status.async_primary_disk.state,
    }
    where = f"disk {message.name or message.id or 'without a name'} in {place}"
    disk = read_answer(DiskAnswer, raw, call=LIST_DISKS, place=where)
    wrong = _wrong_in(disk, scope)
    if wrong is not None:
        raise bad_answer(wrong, raw, call=LIST_DISKS, place=where)
    return disk


def _wrong_in(disk: DiskAnswer, scope: str) -> str | None:
    """The first thing that fields of a disk say and that cannot be true together; None where all can."""
    kind = volume_types(GOOGLE).get(disk.type_name)
    level = scope.partition("/")[0].removesuffix("s")
    lies_in, elsewhere = (disk.region, disk.zone) if level == "region" else (disk.zone, disk.region)
    checks = {
        f"selfLink is {disk.self_link!r}, and not that of {disk.name} in {scope}": disk.path.endswith(
            f"/{scope}/disks/{disk.name}"
        ),
        f"{level} is {lies_in!r}, and not that of {scope}": lies_in is not None and last_of(lies_in) == last_of(scope),
        f"the disk is in {lies_in!r} and in {elsewhere!r}": elsewhere is None,
        "users names an instance twice": len(set(disk.users)) == len(disk.users),
        "replicaZones names a zone twice": len(set(disk.zones)) == len(disk.zones),
        "replicaZones is missing": level == "zone" or len(set(disk.zones)) > 1,
        "lastAttachTimestamp is missing": not disk.users or disk.attached is not None,
        "resourceStatus.asyncPrimaryDisk.state is missing": not disk.primary_disk or bool(disk.replication),
        "provisionedIops is missing": bool(disk.iops) or not _sells(kind.iops if kind else None),
        "provisionedThroughput is missing": bool(disk.throughput_mib_s)
        or not _sells(kind.throughput if kind else None),
    }
    return next((wrong for wrong, holds in checks.items() if not holds), None)


def _sells(rule: object) -> bool:
    return isinstance(rule, Provisioned)


def read_instance(message: Any, *, scope: str | None = None, place: str) -> HostAnswer:
    """The instance in a protobuf `Instance` of a place. Raises BadAnswer, which names it and the field.

    It was listed under `scope`; None if it was read by its name.
    """
    raw = {
        **_sent_fields(message, _INSTANCE),
        "labels": dict(message.labels),
        "metadata": {item.key: item.value for item in message.metadata.items if item.key in HOST_METADATA},
    }
    where = f"instance {message.name or message.id or 'without a name'} in {place}"
    instance = read_answer(HostAnswer, raw, call=LIST_INSTANCES, place=where)
    if instance.status == _RUNNING and instance.started is None:
        raise bad_answer("lastStartTimestamp is missing", raw, call=LIST_INSTANCES, place=where)
    if scope is not None and not instance.path.endswith(f"/{scope}/instances/{instance.name}"):
        wrong = f"selfLink is {instance.self_link!r}, and not that of {instance.name} in {scope}"
        raise bad_answer(wrong, raw, call=LIST_INSTANCES, place=where)
    return instance


def read_attached_disk(message: Any, *, instance: str, place: str) -> AttachedDiskAnswer:
    """The disk in a protobuf `AttachedDisk` of an instance. Raises BadAnswer, which names both and the field."""
    where = f"disk {last_of(message.source)} on instance {instance} in {place}"
    return read_answer(AttachedDiskAnswer, _sent_fields(message, _HELD), call=LIST_INSTANCES, place=where)


def _sent_fields(message: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a protobuf message that were sent."""
    return {sent: getattr(message, name) for sent, name in names.items() if message.HasField(name)}
