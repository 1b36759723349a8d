"""Resources: disks and instances as Compute describes them, made from its client's own messages."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from google.cloud import compute_v1

from cloud_simulator.google.fleet import Attachment, SimulatedDisk, SimulatedVm

BASE: Final = "https://www.googleapis.com/compute/v1"
"""What the addresses of resources begin with."""

Resource = dict[str, Any]
"""A resource as JSON."""

_REGIONAL: Final = "regional-"


def scope_of(disk: SimulatedDisk) -> str:
    """Where a disk is listed: under its zone, or under its region if it is in two zones."""
    return f"regions/{disk.region}" if len(disk.zones) > 1 else f"zones/{disk.zones[0]}"


def instance_url(vm: SimulatedVm) -> str:
    """The address of an instance."""
    return f"{BASE}/projects/{vm.project}/zones/{vm.zone}/instances/{vm.name}"


def disk_url(disk: SimulatedDisk) -> str:
    """The address of a disk."""
    return f"{BASE}/projects/{disk.project}/{scope_of(disk)}/disks/{disk.name}"


def disk_resource(disk: SimulatedDisk) -> Resource:
    """A disk."""
    scope = f"{BASE}/projects/{disk.project}/{scope_of(disk)}"
    made = compute_v1.Disk(
        kind="compute#disk",
        id=int(disk.id),
        name=disk.name,
        description=disk.description,
        size_gb=disk.spec.size_gib,
        type_=f"{scope}/diskTypes/{disk.spec.type.removeprefix(_REGIONAL)}",
        status=disk.status,
        labels=dict(disk.labels),
        users=[instance_url(attachment.vm) for attachment in disk.attached],
        creation_timestamp=_stamp(disk.created),
        self_link=disk_url(disk),
        physical_block_size_bytes=4096,
    )
    if len(disk.zones) > 1:
        made.region = f"{BASE}/projects/{disk.project}/regions/{disk.region}"
        made.replica_zones = [f"{BASE}/projects/{disk.project}/zones/{zone}" for zone in disk.zones]
    else:
        made.zone = scope
    if disk.spec.iops is not None:
        made.provisioned_iops = disk.spec.iops
    if disk.spec.throughput_mib_s is not None:
        made.provisioned_throughput = disk.spec.throughput_mib_s
    if disk.access_mode is not None:
        made.access_mode = disk.access_mode
    _stamp_attachments(made, disk.attachments)
    return written(made)


def _stamp_attachments(made: compute_v1.Disk, attachments: Iterable[Attachment]) -> None:
    begun = [attachment.since for attachment in attachments]
    ended = [attachment.until for attachment in attachments if attachment.until is not None]
    if begun:
        made.last_attach_timestamp = _stamp(max(begun))
    if ended:
        made.last_detach_timestamp = _stamp(max(ended))


def instance_resource(vm: SimulatedVm, attached: Iterable[tuple[SimulatedDisk, Attachment]]) -> Resource:
    """An instance with what is attached to it."""
    zone = f"{BASE}/projects/{vm.project}/zones/{vm.zone}"
    made = compute_v1.Instance(
        kind="compute#instance",
        id=int(vm.id),
        name=vm.name,
        zone=zone,
        machine_type=f"{zone}/machineTypes/{vm.type}",
        status="TERMINATED" if vm.stopped else "RUNNING",
        labels=dict(vm.labels),
        creation_timestamp=_stamp(vm.created),
        last_start_timestamp=_stamp(vm.created),
        self_link=instance_url(vm),
        disks=[_attached(disk, attachment, index) for index, (disk, attachment) in enumerate(attached)],
    )
    if vm.stopped:
        made.last_stop_timestamp = _stamp(vm.stopped)
    if vm.manager:
        group = f"projects/{vm.project}/zones/{vm.zone}/instanceGroupManagers/{vm.manager}"
        made.metadata = compute_v1.Metadata(items=[compute_v1.Items(key="created-by", value=group)])
    return written(made)


def _attached(disk: SimulatedDisk, attachment: Attachment, index: int) -> compute_v1.AttachedDisk:
    return compute_v1.AttachedDisk(
        kind="compute#attachedDisk",
        type_="PERSISTENT",
        mode="READ_ONLY" if disk.access_mode == "READ_ONLY_MANY" else "READ_WRITE",
        source=disk_url(disk),
        device_name=attachment.device,
        index=index,
        boot=attachment.boot,
        disk_size_gb=disk.spec.size_gib,
    )


def written(message: Any) -> Resource:
    """A message of Compute's client as JSON."""
    made: Resource = type(message).to_dict(
        message,
        use_integers_for_enums=False,
        preserving_proto_field_name=False,
        always_print_fields_with_no_presence=False,
    )
    return made


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
