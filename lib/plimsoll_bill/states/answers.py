"""Answers of EC2, the Recycle Bin and CloudWatch about snapshots and images, checked as they are read."""

import re
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from plimsoll.clouds.aws.ec2_fields import UNATTACHED, Count, Name, PastTime, Tagged, VolumeId
from plimsoll.clouds.aws.lists import AwsAnswer, Page
from plimsoll_bill.states.facts import FastRestore, Image, PresentVolume, RetentionRule, Snapshot

SnapshotId = Annotated[str, Field(pattern="^snap-[0-9a-z]+$")]
ImageId = Annotated[str, Field(pattern="^ami-[0-9a-z]+$")]

_FOR_IMAGE: Final = re.compile(r"\bfor (ami-[0-9a-f]+)\b")
"""How EC2 names the image that a snapshot was made for (Amazon EC2 User Guide, read 2026-11-27)."""

_SERVICES: Final = {
    "aws:backup:source-resource": "AWS Backup",
    "aws:dlm:lifecycle-policy-id": "Data Lifecycle Manager",
    "dlm:managed": "Data Lifecycle Manager",
}
_BACKUP: Final = "This snapshot is created by the AWS Backup service."


class SnapshotAnswer(Tagged):
    """A snapshot. A copy names a volume that never was."""

    snapshot_id: SnapshotId
    volume_id: VolumeId
    volume_size: Count
    start_time: PastTime
    state: Name
    storage_tier: str = "standard"
    description: str = ""
    full_snapshot_size_in_bytes: Annotated[int, Field(ge=0)] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The same as a fact."""
        tags, image = self.tag_values, _FOR_IMAGE.search(self.description)
        service = next((name for key, name in _SERVICES.items() if key in tags), None)
        full = self.full_snapshot_size_in_bytes
        return Snapshot(
            id=self.snapshot_id,
            volume_id=self.volume_id,
            size_gib=self.volume_size,
            started=self.start_time,
            tags=tags,
            archived=self.storage_tier == "archive",
            completed=self.state == "completed",
            full_gib=None if full is None else full / 2**30,
            image=None if image is None else image[1],
            service=service or ("AWS Backup" if self.description == _BACKUP else None),
        )


class SnapshotsPage(Page):
    """A page of DescribeSnapshots."""

    snapshots: tuple[SnapshotAnswer, ...]


class ImageDiskAnswer(AwsAnswer):
    """The disk of an image's device."""

    snapshot_id: SnapshotId | None = None


class MappingAnswer(AwsAnswer):
    """A device of an image."""

    ebs: ImageDiskAnswer | None = None


class ImageAnswer(AwsAnswer):
    """An image."""

    image_id: ImageId
    creation_date: PastTime
    last_launched_time: PastTime | None = None
    public: bool
    block_device_mappings: tuple[MappingAnswer, ...]

    @property
    def image(self) -> Image:
        """The same as a fact."""
        disks = [mapping.ebs for mapping in self.block_device_mappings if mapping.ebs is not None]
        return Image(
            id=self.image_id,
            created=self.creation_date,
            snapshot_ids=frozenset(disk.snapshot_id for disk in disks if disk.snapshot_id is not None),
            launched=self.last_launched_time,
            public=self.public,
        )


class ImagesPage(Page):
    """A page of DescribeImages."""

    images: tuple[ImageAnswer, ...]


class LaunchAnswer(AwsAnswer):
    """The image that a version of a launch template launches."""

    image_id: str | None = None


class VersionAnswer(AwsAnswer):
    """A version of a launch template."""

    launch_template_id: Name
    version_number: Count
    launch_template_data: LaunchAnswer


class VersionsPage(Page):
    """A page of DescribeLaunchTemplateVersions."""

    launch_template_versions: tuple[VersionAnswer, ...]


class LauncherAnswer(AwsAnswer):
    """An instance, and the image that it was launched from."""

    instance_id: Name
    image_id: Name


class ReservationAnswer(AwsAnswer):
    """Instances that were begun together."""

    instances: tuple[LauncherAnswer, ...]


class LaunchersPage(Page):
    """A page of DescribeInstances."""

    reservations: tuple[ReservationAnswer, ...]


class AttachmentPart(AwsAnswer):
    """An attachment of a volume."""

    state: Name


class VolumePart(Tagged):
    """A volume as far as its state is concerned."""

    volume_id: VolumeId
    availability_zone: Name
    create_time: PastTime
    snapshot_id: str
    source_volume_id: VolumeId | None = None
    multi_attach_enabled: bool | None = None
    attachments: tuple[AttachmentPart, ...]

    @property
    def volume(self) -> PresentVolume:
        """The same as a fact."""
        return PresentVolume(
            id=self.volume_id,
            zone=self.availability_zone,
            created=self.create_time,
            tags=self.tag_values,
            attached=any(part.state != UNATTACHED for part in self.attachments),
            multi_attach=bool(self.multi_attach_enabled),
            snapshot_id=self.snapshot_id,
            source_id=self.source_volume_id,
        )


class VolumePartsPage(Page):
    """A page of DescribeVolumes."""

    volumes: tuple[VolumePart, ...]


class FastRestoreAnswer(AwsAnswer):
    """A fast restore in a zone."""

    snapshot_id: SnapshotId
    availability_zone: Name
    state: Name
    enabling_time: PastTime | None = None

    @property
    def restore(self) -> FastRestore | None:
        """The same as a fact; None if it is switched off, or nothing says since when it is on."""
        if self.state in {"disabled", "disabling"} or self.enabling_time is None:
            return None
        return FastRestore(snapshot_id=self.snapshot_id, zone=self.availability_zone, since=self.enabling_time)


class FastRestoresPage(Page):
    """A page of DescribeFastSnapshotRestores."""

    fast_snapshot_restores: tuple[FastRestoreAnswer, ...]


class LockAnswer(AwsAnswer):
    """A locked snapshot."""

    snapshot_id: SnapshotId
    lock_state: Name


class LocksPage(Page):
    """A page of DescribeLockedSnapshots."""

    snapshots: tuple[LockAnswer, ...]


class GrantAnswer(AwsAnswer):
    """An account, or everybody, that may use something."""

    user_id: str | None = None
    group: str | None = None

    @property
    def account(self) -> str:
        """The account, or "everybody"."""
        return self.user_id or "everybody"


class SnapshotGrants(AwsAnswer):
    """With whom a snapshot is shared."""

    create_volume_permissions: tuple[GrantAnswer, ...]


class ImageGrants(AwsAnswer):
    """With whom an image is shared."""

    launch_permissions: tuple[GrantAnswer, ...]


class BinTag(AwsAnswer):
    """A tag of a rule; without a value any value is meant."""

    resource_tag_key: Name
    resource_tag_value: str | None = None

    @property
    def pair(self) -> tuple[str, str | None]:
        """The key and the value, None for any."""
        return self.resource_tag_key, self.resource_tag_value or None


class BinPeriod(AwsAnswer):
    """The days for which a rule keeps."""

    retention_period_value: Count
    retention_period_unit: Annotated[str, Field(pattern="^DAYS$")]


class BinSummary(AwsAnswer):
    """A rule in a list."""

    identifier: Name


class BinPage(Page):
    """A page of ListRules."""

    rules: tuple[BinSummary, ...] = ()


class BinRule(AwsAnswer):
    """A rule of the Recycle Bin."""

    resource_type: Name
    status: Name
    retention_period: BinPeriod
    resource_tags: tuple[BinTag, ...] = ()
    exclude_resource_tags: tuple[BinTag, ...] = ()

    @property
    def rule(self) -> RetentionRule | None:
        """The same as a fact; None while it does not hold yet."""
        if self.status != "available":
            return None
        return RetentionRule(
            kind=self.resource_type,
            days=float(self.retention_period.retention_period_value),
            tags=tuple(tag.pair for tag in self.resource_tags),
            excluded=tuple(tag.pair for tag in self.exclude_resource_tags),
        )


class PointsAnswer(AwsAnswer):
    """The times of the points of a metric."""

    id: Name
    timestamps: tuple[datetime, ...]


class PointsPage(Page):
    """A page of GetMetricData."""

    metric_data_results: tuple[PointsAnswer, ...]
