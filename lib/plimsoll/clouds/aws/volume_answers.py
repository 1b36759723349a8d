"""EC2's answers about volumes as types: the volumes of a target, their attachments, and their latest changes."""

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from plimsoll.clouds.aws.ec2_fields import (
    ATTACHED,
    AttachmentState,
    Count,
    InstanceId,
    Name,
    PastTime,
    PlainFigure,
    Tagged,
    VolumeId,
)
from plimsoll.clouds.aws.lists import AwsAnswer, Page
from plimsoll.clouds.common.dated_data import sold_figures, volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.model.market import Provisioned
from plimsoll.model.volume import Modification, VolumeSpec, VolumeState

_OWN_ZONE: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+[a-z]")


class AttachmentAnswer(AwsAnswer):
    """A volume on an instance. Only one on an instance that AWS itself runs names no instance."""

    state: AttachmentState
    attach_time: PastTime | None = None
    instance_id: InstanceId | None = None
    device: str | None = None
    instance_owning_service: str | None = None
    associated_resource: str | None = None

    @property
    def is_on(self) -> bool:
        """True for an attachment that holds, or begins."""
        return self.state in ATTACHED

    @property
    def service_resource(self) -> str | None:
        """The ARN of the service's resource that it is attached for, or else the service; None where there is
        neither."""
        return self.associated_resource or self.instance_owning_service

    @property
    def attached_at(self) -> datetime:
        """When it began."""
        if self.attach_time is None:
            raise ValueError("an attachment that is over has no beginning to go by")
        return self.attach_time

    @model_validator(mode="after")
    def _check_attachment(self) -> "AttachmentAnswer":
        if not self.is_on:
            return self
        if self.attach_time is None:
            raise ValueError("AttachTime is missing")
        if self.instance_id and not self.device:
            raise ValueError("Device is missing")
        if not (self.instance_id or self.instance_owning_service or self.associated_resource):
            raise ValueError("InstanceId is missing")
        return self


class OperatorAnswer(AwsAnswer):
    """The AWS service that manages something, if one does."""

    managed: bool
    principal: str | None = None

    @property
    def name(self) -> str | None:
        """The service, None where none manages it."""
        return self.principal or "an AWS service" if self.managed else None

    @model_validator(mode="after")
    def _one_word(self) -> "OperatorAnswer":
        if self.principal and not self.managed:
            raise ValueError(f"Managed is false, and {self.principal} manages it")
        return self


class VolumeAnswer(Tagged):
    """A volume."""

    volume_id: VolumeId
    volume_type: Name
    size: Count
    state: VolumeState
    create_time: PastTime
    availability_zone: Name
    iops: PlainFigure | None = None
    throughput: PlainFigure | None = None
    attachments: tuple[AttachmentAnswer, ...]
    multi_attach_enabled: bool | None = None
    operator: OperatorAnswer | None = None
    snapshot_id: Annotated[str, Field(pattern="^(snap-[0-9a-z-]+)?$")]
    source_volume_id: VolumeId | None = None
    fast_restored: bool = False
    outpost_arn: str = ""

    @property
    def edge(self) -> str | None:
        """The Outpost, Local Zone or Wavelength Zone that it is in; None in a zone of the region itself.

        A region's own zones are named as it is with one letter more (Amazon EC2 User Guide, "Regions and Zones", read
        2026-11-23).
        """
        if self.outpost_arn:
            return f"the Outpost {self.outpost_arn.rsplit('/', 1)[-1]}"
        return None if _OWN_ZONE.fullmatch(self.availability_zone) else f"the zone {self.availability_zone}"

    @property
    def restored_from(self) -> str | None:
        """The snapshot or volume that its data come from when first read; None if it was empty, or restored fast."""
        return None if self.fast_restored else self.snapshot_id or self.source_volume_id or None

    @property
    def active_attachments(self) -> list[AttachmentAnswer]:
        """Its attachments that hold, or begin."""
        return [attachment for attachment in self.attachments if attachment.is_on]

    @model_validator(mode="after")
    def _check_possible(self) -> "VolumeAnswer":
        kind = volume_types(AWS).get(self.volume_type)
        if kind is not None:
            if self.size > kind.most_size_gib:
                raise ValueError(f"Size is {self.size}, and a {kind.name} has at most {kind.most_size_gib} GiB")
            _check_sold("Iops", self.iops, kind.iops, self.size)
            _check_sold("Throughput", self.throughput, kind.throughput, self.size)
            if kind.multi_attach and self.multi_attach_enabled is None:
                raise ValueError("MultiAttachEnabled is missing")
        hosts = [attachment.instance_id for attachment in self.active_attachments if attachment.instance_id]
        if len(set(hosts)) < len(hosts):
            raise ValueError("it is attached to one instance more than once")
        if len(self.active_attachments) > 1 and not self.multi_attach_enabled:
            raise ValueError("it is attached more than once and has no Multi-Attach")
        if self.state is VolumeState.IN_USE and not self.attachments:
            raise ValueError("it is in-use and has no Attachments")
        return self


def check_figures(name: str, spec: VolumeSpec) -> None:
    """ValueError where a volume cannot have been that; `name` begins the names of its fields."""
    kind = volume_types(AWS).get(spec.type)
    if kind is None:
        raise ValueError(f"{name}VolumeType is {spec.type}, which this version does not know")
    if spec.size_gib > kind.most_size_gib:
        raise ValueError(f"{name}Size is {spec.size_gib}, and a {kind.name} has at most {kind.most_size_gib} GiB")
    _check_sold(f"{name}Iops", spec.iops, kind.iops, spec.size_gib)
    _check_sold(f"{name}Throughput", spec.throughput_mib_s, kind.throughput, spec.size_gib)


def _check_sold(name: str, figure: int | None, rule: object, size_gib: int) -> None:
    """Raises ValueError if a type sells the figure by itself and the volume has none that can be bought."""
    if not isinstance(rule, Provisioned):
        return
    if figure is None:
        raise ValueError(f"{name} is missing")
    least = rule.least_at(size_gib)
    if not least <= figure <= rule.most:
        raise ValueError(f"{name} is {figure}, and {least} to {rule.most} can be bought")


class VolumesPage(Page):
    """A page of DescribeVolumes. Its entries are read one by one, so that a wrong one costs only itself."""

    volumes: tuple[Any, ...]


class ModificationAnswer(AwsAnswer):
    """The latest change of a volume, with what it was before."""

    volume_id: VolumeId
    modification_state: Literal["modifying", "optimizing", "completed", "failed"]
    start_time: PastTime
    end_time: PastTime | None = None
    progress: Annotated[PlainFigure, Field(ge=0, le=100)]
    original_volume_type: Name
    original_size: Count
    original_iops: PlainFigure | None = None
    original_throughput: PlainFigure | None = None
    target_volume_type: Name | None = None
    target_size: Count | None = None
    target_iops: PlainFigure | None = None
    target_throughput: PlainFigure | None = None
    status_message: str = ""

    @property
    def original(self) -> VolumeSpec:
        """The configuration before the change."""
        return VolumeSpec(
            type=self.original_volume_type,
            size_gib=self.original_size,
            iops=self.original_iops,
            throughput_mib_s=self.original_throughput,
        )

    @property
    def modification(self) -> Modification:
        """The change; its target is None where the answer does not name one."""
        target = None
        if self.target_volume_type is not None and self.target_size is not None:
            figures = {"iops": self.target_iops, "throughput_mib_s": self.target_throughput}
            named = VolumeSpec(type=self.target_volume_type, size_gib=self.target_size, **figures)
            target = sold_figures(named, AWS)
        return Modification(
            state=self.modification_state,
            started=self.start_time,
            progress_pct=self.progress,
            original=sold_figures(self.original, AWS),
            ended=self.end_time,
            target=target,
            message=self.status_message,
        )

    @model_validator(mode="after")
    def _check_possible(self) -> "ModificationAnswer":
        check_figures("Original", self.original)
        if self.end_time is None and self.modification_state in {"completed", "failed"}:
            raise ValueError("EndTime is missing")
        if self.end_time is not None and self.end_time < self.start_time:
            raise ValueError("EndTime is before StartTime")
        return self


class ModificationsPage(Page):
    """A page of DescribeVolumesModifications, as of volumes."""

    entries: tuple[Any, ...] = Field(alias="VolumesModifications")
