"""Scratch volumes on EBS: made, attached, detached and deleted.

They are made with their tags in one call. Later calls touch only what has these tags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

from botocore.exceptions import ClientError
from pydantic import Field

from plimsoll.clouds.aws.ec2_fields import UNATTACHED, Name, PastTime, Tagged
from plimsoll.clouds.aws.errors import CLEANING, COPYING, MEASURING, code_of, translate_errors
from plimsoll.clouds.aws.hosts import INSTANCES
from plimsoll.clouds.aws.instance_answers import DeviceMapping, InstancesPage
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.answers import read_answer
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import CloudError
from plimsoll.model.task import DEADLINE_TAG, SCRATCH_TAG, ScratchOrder, ScratchVolume, check_tagged
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target

DEVICE_NAMES: Final = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
"""The names that AWS recommends for data volumes (Amazon EC2 User Guide, "Device names for volumes", read 2026-11-20);
Nitro instances show them as NVMe devices whatever they are called."""

_VOLUMES_A_PAGE: Final = 500
_TAKEN: Final = "in use"
_GONE: Final = "InvalidVolume.NotFound"
_DETACHED: Final = {_GONE, "InvalidAttachment.NotFound"}


LIST_SCRATCH: Final = "ec2:DescribeVolumes"


class Named(AwsAnswer):
    """A volume that was made."""

    volume_id: Name


class Copied(AwsAnswer):
    """A volume that was copied."""

    volumes: Annotated[tuple[Named, ...], Field(min_length=1)]


class ScratchAttachment(AwsAnswer):
    """An attachment of a scratch volume."""

    state: Name
    instance_id: Name


class ScratchAnswer(Tagged):
    """A scratch volume, or one that is looked at before it is touched. Its state is any that EC2 has."""

    volume_id: Name
    state: Name
    create_time: PastTime
    availability_zone: Name
    attachments: tuple[ScratchAttachment, ...] = ()


class ScratchPage(Page):
    """A page of DescribeVolumes."""

    volumes: tuple[ScratchAnswer, ...]


class Devices(AwsAnswer):
    """The devices of an instance."""

    block_device_mappings: tuple[DeviceMapping, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the devices."""
        return [mapping.device_name for mapping in self.block_device_mappings]


@dataclass(kw_only=True)
class ScratchVolumes:
    """The scratch volumes of the accounts that the sessions open. Whatever is done again is no error.

    `tags` are given to what is made, besides its own.
    """

    sessions: Sessions
    tags: Mapping[str, str] = field(default_factory=dict)

    def create(self, order: ScratchOrder) -> str:
        """CreateVolume, or CopyVolumes where the order has a source, with the order's tags and a token of the order.

        Encryption is what the account does by default, so that a measurement meets what production would.
        """
        ec2 = self._ec2(Target(account=order.account, region=order.region))
        tags = [{"Key": key, "Value": value} for key, value in {**self.tags, **order.tags}.items()]
        request = {
            **_configuration(order.spec),
            "TagSpecifications": [{"ResourceType": "volume", "Tags": tags}],
            "ClientToken": order.token,
        }
        place = f"{order.zone} of {order.account}"
        if order.source is None:
            with translate_errors(f"create a scratch volume of {order.spec} in {place}", "ec2:CreateVolume", MEASURING):
                made = ec2.create_volume(AvailabilityZone=order.zone, **request)
            return read_answer(Named, made, call="ec2:CreateVolume", place=place).volume_id
        with translate_errors(f"copy {order.source} to {order.spec} in {place}", "ec2:CopyVolumes", COPYING):
            copied = ec2.copy_volumes(SourceVolumeId=order.source, **request)
        return read_answer(Copied, copied, call="ec2:CopyVolumes", place=place).volumes[0].volume_id

    def scratch(self, target: Target, *, volume_id: str | None = None) -> Sequence[ScratchVolume]:
        """Every volume with the scratch tag, page by page, or that one."""
        filters: list[Mapping[str, Any]] = [{"Name": "tag-key", "Values": [SCRATCH_TAG]}]
        if volume_id is not None:
            filters.append({"Name": "volume-id", "Values": [volume_id]})
        answers = self._read_answers(target, filters)
        return [_scratch_volume(answer, target) for answer in answers if answer.state != "deleted"]

    def attach(self, target: Target, volume_id: str, host_id: str) -> None:
        """AttachVolume at the first of /dev/sdf to /dev/sdp that is free."""
        what, ec2 = f"attach {volume_id} to {host_id} in {target}", self._ec2(target)
        with translate_errors(what, "ec2:AttachVolume", MEASURING):
            taken = _device_names(ec2, target, host_id)
            for device in DEVICE_NAMES:
                if device in taken:
                    continue
                try:
                    ec2.attach_volume(VolumeId=volume_id, InstanceId=host_id, Device=device)
                except ClientError as error:
                    if code_of(error) == "InvalidParameterValue" and _TAKEN in str(error):
                        continue
                    if self._is_attached(target, volume_id, host_id):
                        return
                    raise
                return
        if not self._is_attached(target, volume_id, host_id):
            raise CloudError(
                f"cannot {what}: no device name from {DEVICE_NAMES[0]} to {DEVICE_NAMES[-1]} is free there. Detach "
                "volumes, or name another host with --bench-host."
            )

    def detach(self, target: Target, volume_id: str, *, force: bool = False) -> None:
        """DetachVolume, from wherever it is; BadInput for a volume that has not the scratch tag now."""
        for attachment in _attachments(self._find_tagged(target, volume_id, "detach")):
            if attachment.state == "detaching" and not force:
                continue
            with translate_errors(
                f"detach {volume_id} from {attachment.instance_id} in {target}", "ec2:DetachVolume", CLEANING
            ):
                try:
                    self._ec2(target).detach_volume(VolumeId=volume_id, InstanceId=attachment.instance_id, Force=force)
                except ClientError as error:
                    # Between the look and the call it may have come off by itself: EC2 calls that IncorrectState.
                    if code_of(error) not in _DETACHED and not self._came_off(target, volume_id, error):
                        raise

    def delete(self, target: Target, volume_id: str) -> None:
        """DeleteVolume; BadInput for a volume that has not the scratch tag now."""
        answer = self._find_tagged(target, volume_id, "delete")
        if answer is None or answer.state == "deleting":
            return
        with translate_errors(f"delete {volume_id} in {target}", "ec2:DeleteVolume", CLEANING):
            try:
                self._ec2(target).delete_volume(VolumeId=volume_id)
            except ClientError as error:
                if code_of(error) != _GONE:
                    raise

    def _find_tagged(self, target: Target, volume_id: str, what: str) -> ScratchAnswer | None:
        """The volume as DescribeVolumes has it now, None where it is gone; BadInput where it has not the scratch
        tag."""
        for answer in self._read_answers(target, [{"Name": "volume-id", "Values": [volume_id]}]):
            check_tagged(SCRATCH_TAG, answer.tag_values, f"{what} {volume_id} in {target}")
            return None if answer.state == "deleted" else answer
        return None

    def _read_answers(self, target: Target, filters: Sequence[Mapping[str, Any]]) -> list[ScratchAnswer]:
        ask, asker = self._ec2(target).describe_volumes, Asker(place=f"scratch volumes in {target}")
        with translate_errors(f"list scratch volumes in {target}", LIST_SCRATCH, CLEANING):
            pages = asker.pages(ScratchPage, ask, LIST_SCRATCH, Filters=list(filters), MaxResults=_VOLUMES_A_PAGE)
            return [answer for page in pages for answer in page.volumes]

    def _is_attached(self, target: Target, volume_id: str, host_id: str) -> bool:
        return any(
            attachment.instance_id == host_id and attachment.state in {"attaching", "attached"}
            for attachment in _attachments(self._find_tagged(target, volume_id, "attach"))
        )

    def _came_off(self, target: Target, volume_id: str, error: ClientError) -> bool:
        return code_of(error) == "IncorrectState" and not _attachments(self._find_tagged(target, volume_id, "detach"))

    def _ec2(self, target: Target) -> Any:
        return self.sessions.client("ec2", target.account, target.region)


def _configuration(spec: VolumeSpec) -> dict[str, Any]:
    """Type, size, and what the type sells by itself: EC2 refuses the others."""
    sold = sold_figures(spec, AWS)
    request = {"VolumeType": sold.type, "Size": sold.size_gib, "Iops": sold.iops, "Throughput": sold.throughput_mib_s}
    return {name: value for name, value in request.items() if value is not None}


def _scratch_volume(answer: ScratchAnswer, target: Target) -> ScratchVolume:
    tags = answer.tag_values
    attachment = next(iter(_attachments(answer)), None)
    return ScratchVolume(
        id=answer.volume_id,
        account=target.account,
        region=target.region,
        zone=answer.availability_zone,
        validation_id=tags[SCRATCH_TAG],
        deadline=_deadline(tags.get(DEADLINE_TAG, "")),
        created=answer.create_time,
        state=answer.state,
        attached_to=attachment.instance_id if attachment else None,
        attachment=attachment.state if attachment else None,
    )


def _attachments(answer: ScratchAnswer | None) -> list[ScratchAttachment]:
    """The attachments in an entry of DescribeVolumes that are not over; none where the volume is gone."""
    return [attachment for attachment in answer.attachments if attachment.state != UNATTACHED] if answer else []


def _deadline(text: str) -> datetime | None:
    try:
        deadline = datetime.fromisoformat(text)
    except ValueError:
        return None
    return deadline if deadline.tzinfo else None


def _device_names(ec2: Any, target: Target, host_id: str) -> set[str]:
    """The device names in use on a host, as /dev/sdX whichever way they were given."""
    asker = Asker(place=f"the devices of {host_id} in {target}")
    with translate_errors(f"see the devices of {host_id} in {target}", INSTANCES, MEASURING):
        page = asker.one(InstancesPage, ec2.describe_instances, INSTANCES, InstanceIds=[host_id])
    used = [read_answer(Devices, device, call=INSTANCES, place=asker.place) for device in page.entries]
    return {name.replace("/dev/xvd", "/dev/sd") for device in used for name in device.names}
