"""Scratch volumes on EBS: made, attached, detached and deleted.

They are made with their tags in one call. Later calls touch only what has these tags.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.errors import CLEANING, MEASURING, attempted, code_of
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.domain.scratch import DEADLINE_TAG, SCRATCH_TAG, ScratchOrder, ScratchVolume
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import Provisioned
from plimsoll.ports import Target

_VOLUMES_A_PAGE: Final = 500


def create_volume(ec2: Any, order: ScratchOrder) -> str:
    """Makes the order's volume, empty or a copy of its source; a retry with the same order gives the same volume.

    Encryption is what the account does by default, so that a measurement meets what production would.
    """
    request = {
        **_configuration(order.spec),
        "TagSpecifications": [
            {"ResourceType": "volume", "Tags": [{"Key": key, "Value": value} for key, value in order.tags.items()]}
        ],
        "ClientToken": token_of(order),
    }
    place = f"{order.zone} of {order.account}"
    if order.source is None:
        with attempted(f"create a scratch volume of {order.spec} in {place}", "ec2:CreateVolume", MEASURING):
            return str(ec2.create_volume(AvailabilityZone=order.zone, **request)["VolumeId"])
    with attempted(f"copy {order.source} to {order.spec} in {place}", "ec2:CopyVolumes", MEASURING):
        return str(ec2.copy_volumes(SourceVolumeId=order.source, **request)["Volumes"][0]["VolumeId"])


def token_of(order: ScratchOrder) -> str:
    """The client token of an order: the same for the same order, 64 characters, as EC2 takes at most."""
    facts = (order.validation_id, order.account, order.region, order.zone, order.spec, order.deadline, order.source)
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _configuration(spec: VolumeSpec) -> dict[str, Any]:
    """Type, size, and what the type sells by itself: EC2 refuses the others."""
    kind = volume_types(AWS).get(spec.type)
    request: dict[str, Any] = {"VolumeType": spec.type, "Size": spec.size_gib}
    if spec.iops is not None and (kind is None or isinstance(kind.iops, Provisioned)):
        request["Iops"] = spec.iops
    if spec.throughput_mib_s is not None and (kind is None or isinstance(kind.throughput, Provisioned)):
        request["Throughput"] = spec.throughput_mib_s
    return request


def scratch_volumes(ec2: Any, target: Target, volume_id: str | None) -> Sequence[ScratchVolume]:
    """All volumes with the scratch tag, or that one; none where it is gone or has not the tag."""
    filters: list[Mapping[str, Any]] = [{"Name": "tag-key", "Values": [SCRATCH_TAG]}]
    if volume_id is not None:
        filters.append({"Name": "volume-id", "Values": [volume_id]})
    found = _described(ec2, target, filters)
    return [_scratch_volume(one, target) for one in found if one["State"] != "deleted"]


def check_scratch(ec2: Any, target: Target, volume_id: str, what: str) -> Mapping[str, Any] | None:
    """The volume as DescribeVolumes has it now, None where it is gone; BadInput where it has not the scratch tag."""
    for found in _described(ec2, target, [{"Name": "volume-id", "Values": [volume_id]}]):
        if SCRATCH_TAG not in _tags(found):
            raise BadInput(
                f"cannot {what} {volume_id} in {target}: it has not the tag {SCRATCH_TAG}, so it is no scratch volume. "
                "Do it yourself if it is to be done."
            )
        return None if found["State"] == "deleted" else found
    return None


def _described(ec2: Any, target: Target, filters: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    pages = ec2.get_paginator("describe_volumes").paginate(
        Filters=list(filters), PaginationConfig={"PageSize": _VOLUMES_A_PAGE}
    )
    with attempted(f"list scratch volumes in {target}", "ec2:DescribeVolumes", CLEANING):
        return [one for page in pages for one in page["Volumes"]]


def _scratch_volume(found: Mapping[str, Any], target: Target) -> ScratchVolume:
    tags = _tags(found)
    attachment = next(iter(attachments(found)), None)
    return ScratchVolume(
        id=found["VolumeId"],
        account=target.account,
        region=target.region,
        zone=found["AvailabilityZone"],
        validation_id=tags[SCRATCH_TAG],
        deadline=_deadline(tags.get(DEADLINE_TAG, "")),
        created=found["CreateTime"],
        state=found["State"],
        attached_to=attachment["InstanceId"] if attachment else None,
        attachment=attachment["State"] if attachment else None,
    )


def attachments(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The attachments in an entry of DescribeVolumes that are not over."""
    return [one for one in found.get("Attachments", ()) if one.get("State") != "detached"]


def _deadline(text: str) -> datetime | None:
    try:
        deadline = datetime.fromisoformat(text)
    except ValueError:
        return None
    return deadline if deadline.tzinfo else None


def _tags(found: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in found.get("Tags", ())}


DEVICE_NAMES: Final = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
"""The names that AWS recommends for data volumes (Amazon EC2 User Guide, "Device names for volumes", read 2026-11-20);
Nitro instances show them as NVMe devices whatever they are called."""

_TAKEN: Final = "in use"
_GONE: Final = "InvalidVolume.NotFound"
_DETACHED: Final = {_GONE, "InvalidAttachment.NotFound"}


def attach_volume(ec2: Any, target: Target, volume_id: str, host_id: str) -> None:
    """Begins to attach at the first free device name; attached to that host already is no error."""
    what = f"attach {volume_id} to {host_id} in {target}"
    with attempted(what, "ec2:AttachVolume", MEASURING):
        taken = _taken(ec2, target, host_id)
        for device in DEVICE_NAMES:
            if device in taken:
                continue
            try:
                ec2.attach_volume(VolumeId=volume_id, InstanceId=host_id, Device=device)
            except ClientError as error:
                if code_of(error) == "InvalidParameterValue" and _TAKEN in str(error):
                    continue
                if _is_attached(ec2, target, volume_id, host_id):
                    return
                raise
            return
    if not _is_attached(ec2, target, volume_id, host_id):
        raise CloudError(
            f"cannot {what}: no device name from {DEVICE_NAMES[0]} to {DEVICE_NAMES[-1]} is free there. Detach "
            "volumes, or name another host with --bench-host."
        )


def _taken(ec2: Any, target: Target, host_id: str) -> set[str]:
    """The device names in use on a host, as /dev/sdX whichever way they were given."""
    with attempted(f"see the devices of {host_id} in {target}", "ec2:DescribeInstances", MEASURING):
        found = ec2.describe_instances(InstanceIds=[host_id])["Reservations"]
    names = [
        mapping["DeviceName"]
        for group in found
        for instance in group["Instances"]
        for mapping in instance.get("BlockDeviceMappings", ())
    ]
    return {name.replace("/dev/xvd", "/dev/sd") for name in names}


def _is_attached(ec2: Any, target: Target, volume_id: str, host_id: str) -> bool:
    found = check_scratch(ec2, target, volume_id, "attach")
    return found is not None and any(
        one["InstanceId"] == host_id and one["State"] in {"attaching", "attached"} for one in attachments(found)
    )


def detach_volume(ec2: Any, target: Target, volume_id: str, *, force: bool) -> None:
    """Begins to detach a scratch volume from wherever it is; BadInput for any other volume."""
    found = check_scratch(ec2, target, volume_id, "detach")
    for one in attachments(found) if found else ():
        if one["State"] == "detaching" and not force:
            continue
        with attempted(f"detach {volume_id} from {one['InstanceId']} in {target}", "ec2:DetachVolume", CLEANING):
            try:
                ec2.detach_volume(VolumeId=volume_id, InstanceId=one["InstanceId"], Force=force)
            except ClientError as error:
                # Between the look and the call it may have come off by itself: EC2 calls that IncorrectState.
                if code_of(error) not in _DETACHED and not _came_off(ec2, target, volume_id, error):
                    raise


def _came_off(ec2: Any, target: Target, volume_id: str, error: ClientError) -> bool:
    if code_of(error) != "IncorrectState":
        return False
    found = check_scratch(ec2, target, volume_id, "detach")
    return found is None or not attachments(found)


def delete_volume(ec2: Any, target: Target, volume_id: str) -> None:
    """Deletes a scratch volume; BadInput for any other volume."""
    found = check_scratch(ec2, target, volume_id, "delete")
    if found is None or found["State"] == "deleting":
        return
    with attempted(f"delete {volume_id} in {target}", "ec2:DeleteVolume", CLEANING):
        try:
            ec2.delete_volume(VolumeId=volume_id)
        except ClientError as error:
            if code_of(error) != _GONE:
                raise
