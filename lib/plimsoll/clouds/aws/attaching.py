"""Attaching, detaching and deleting scratch volumes, each so that doing it again is no error."""

from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.clouds.aws.errors import CLEANING, MEASURING, attempted, code_of
from plimsoll.clouds.aws.scratch import attachments, check_scratch
from plimsoll.domain.errors import CloudError
from plimsoll.ports import Target

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
    """Begins to detach a scratch volume from wherever it is; BadInput where it is none."""
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
    """Deletes a scratch volume; BadInput where it is none."""
    found = check_scratch(ec2, target, volume_id, "delete")
    if found is None or found["State"] == "deleting":
        return
    with attempted(f"delete {volume_id} in {target}", "ec2:DeleteVolume", CLEANING):
        try:
            ec2.delete_volume(VolumeId=volume_id)
        except ClientError as error:
            if code_of(error) != _GONE:
                raise
