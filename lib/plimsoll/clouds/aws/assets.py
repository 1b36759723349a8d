"""Assets of an account and region beside its volumes' metrics: snapshots, images, who uses them, and what is kept.

They are the answers of AWS, checked as they are read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, create_model

from plimsoll.clouds.aws.ec2_fields import UNATTACHED, Count, Name, PastTime, Tagged, VolumeId
from plimsoll.clouds.aws.lists import AwsAnswer, Page
from plimsoll.model.units import MIB, MIB_PER_GIB

COPIED_FROM: Final = "vol-ffffffff"
"""The volume that EC2 names for a copied snapshot: it is no volume, and no lineage."""

VOLUME, SNAPSHOT = "EBS_VOLUME", "EBS_SNAPSHOT"
"""The kinds of resources that a rule of the Recycle Bin keeps."""

SnapshotId = Annotated[str, Field(pattern="^snap-[0-9a-z]+$")]

_FOR_IMAGE: Final = re.compile(r"\bfor (ami-[0-9a-f]+)\b")
"""The image's id in the description of a snapshot that EC2 made for it (Amazon EC2 User Guide, read 2026-11-27)."""

_SERVICES: Final = {
    "aws:backup:source-resource": "AWS Backup",
    "aws:dlm:lifecycle-policy-id": "Data Lifecycle Manager",
    "dlm:managed": "Data Lifecycle Manager",
}
_BACKUP: Final = "This snapshot is created by the AWS Backup service."


def _values_at(*path: str) -> BeforeValidator:
    """The values at a path in a mapping, or in each of a list; entries without one are left out."""

    def take(answer: Any) -> Any:
        if not isinstance(answer, list | dict):
            return answer  # a value of ours, or what the field's own type refuses
        entries = answer if isinstance(answer, list) else [answer]
        for key in path:
            if not all(isinstance(entry, dict) for entry in entries):
                raise ValueError("an entry is no structure")
            entries = [entry[key] for entry in entries if key in entry]
        return entries if isinstance(answer, list) else entries[0] if entries else None

    return BeforeValidator(take)


class Snapshot(Tagged):
    """A snapshot. `billed_gib` are the blocks that no earlier one has, by the bill; None where that does not say so."""

    id: SnapshotId = Field(alias="SnapshotId")
    volume_id: VolumeId
    size_gib: Count = Field(alias="VolumeSize")
    started: PastTime = Field(alias="StartTime")
    state: Name
    storage_tier: str = "standard"
    description: str = ""
    full_snapshot_size_in_bytes: Annotated[int, Field(ge=0)] | None = None
    billed_gib: float | None = None

    @property
    def lineage(self) -> str:
        """The volume whose snapshots share blocks with this one; itself for a copy, of which that is not known."""
        return self.id if self.is_copy else self.volume_id

    @property
    def is_copy(self) -> bool:
        return self.volume_id.startswith(COPIED_FROM)

    @property
    def is_archived(self) -> bool:
        return self.storage_tier == "archive"

    @property
    def is_completed(self) -> bool:
        return self.state == "completed"

    @property
    def full_gib(self) -> float | None:
        """All of its blocks; None where nothing says so."""
        full = self.full_snapshot_size_in_bytes
        return None if full is None else full / MIB / MIB_PER_GIB

    @property
    def most_gib(self) -> float:
        """The most that all of its blocks can be."""
        return float(self.size_gib) if self.full_gib is None else self.full_gib

    @property
    def image(self) -> str | None:
        """The image that its description says it was made for."""
        match = _FOR_IMAGE.search(self.description)
        return None if match is None else match[1]

    @property
    def service(self) -> str | None:
        """The service that made it and deletes it by its own rules; None for others."""
        of_tag = next((name for key, name in _SERVICES.items() if key in self.tag_values), None)
        return of_tag or ("AWS Backup" if self.description == _BACKUP else None)


class Image(AwsAnswer):
    """An AMI of the account with its snapshots; `launched` is when it was last launched, None if never known."""

    id: Annotated[str, Field(pattern="^ami-[0-9a-z]+$", alias="ImageId")]
    created: PastTime = Field(alias="CreationDate")
    launched: PastTime | None = Field(default=None, alias="LastLaunchedTime")
    public: bool
    snapshot_ids: Annotated[frozenset[SnapshotId], _values_at("Ebs", "SnapshotId")] = Field(alias="BlockDeviceMappings")


class PresentVolume(Tagged):
    """A volume as EC2 lists it now."""

    id: VolumeId = Field(alias="VolumeId")
    zone: Name = Field(alias="AvailabilityZone")
    created: PastTime = Field(alias="CreateTime")
    snapshot_id: str
    source_volume_id: VolumeId | None = None
    multi_attach_enabled: bool | None = None
    attachments: Annotated[tuple[Name, ...], _values_at("State")]

    @property
    def is_attached(self) -> bool:
        return any(state != UNATTACHED for state in self.attachments)

    @property
    def is_made_empty(self) -> bool:
        """True if it was made of no snapshot and no volume: its snapshots share no block of such."""
        return not self.snapshot_id and self.source_volume_id is None


class FastRestore(AwsAnswer):
    """A snapshot that is restored fast in a zone."""

    snapshot_id: SnapshotId
    zone: Name = Field(alias="AvailabilityZone")
    state: Name
    since: PastTime | None = Field(default=None, alias="EnablingTime")

    @property
    def is_on(self) -> bool:
        """True if it is paid for, and its beginning is known."""
        return self.state not in {"disabled", "disabling"} and self.since is not None


class Lock(AwsAnswer):
    """A locked snapshot."""

    snapshot_id: SnapshotId
    lock_state: Name


class TemplateVersion(AwsAnswer):
    """A version of a launch template, and the image that it launches."""

    launch_template_id: Name
    version_number: Count
    image_id: Annotated[str | None, _values_at("ImageId")] = Field(alias="LaunchTemplateData")


class Launched(AwsAnswer):
    """An instance, and the image that it was launched from."""

    instance_id: Name
    image_id: Name


class LaunchedTogether(AwsAnswer):
    """Instances that were begun together."""

    instances: tuple[Launched, ...]


class Grant(AwsAnswer):
    """An account, or everybody, that may use something."""

    user_id: str | None = None
    group: str | None = None


class RuleTag(AwsAnswer):
    """A tag of a rule; without a value any value is meant."""

    resource_tag_key: Name
    resource_tag_value: str | None = None

    def is_in(self, tags: Mapping[str, str]) -> bool:
        """True if something with these tags has it."""
        return self.resource_tag_key in tags and self.resource_tag_value in {None, "", tags[self.resource_tag_key]}


class RetentionPeriod(AwsAnswer):
    """The days for which a rule keeps."""

    retention_period_value: Count
    retention_period_unit: Literal["DAYS"]


class RetentionRule(AwsAnswer):
    """A rule of the Recycle Bin. Without `tags` it keeps all of its kind, but those with a tag of `excluded`."""

    kind: Name = Field(alias="ResourceType")
    status: Name
    period: RetentionPeriod = Field(alias="RetentionPeriod")
    tags: tuple[RuleTag, ...] = Field(default=(), alias="ResourceTags")
    excluded: tuple[RuleTag, ...] = Field(default=(), alias="ExcludeResourceTags")

    def may_keep(self, kind: str, tags: Mapping[str, str]) -> bool:
        """True if a deleted resource with these tags can be taken back."""
        if self.tags:
            return kind == self.kind and any(tag.is_in(tags) for tag in self.tags)
        return kind == self.kind and not any(tag.is_in(tags) for tag in self.excluded)


class RuleName(AwsAnswer):
    """A rule in a list."""

    identifier: Name


class MetricTimes(AwsAnswer):
    """The times of the points of a metric."""

    id: Name
    timestamps: tuple[datetime, ...]


class Entries(Page):
    """A page of a list."""

    entries: tuple[Any, ...]


def page_of(key: str, entry: type[AwsAnswer], **options: Any) -> type[Entries]:
    """The type of a page whose entries stand under a key."""
    return create_model(f"{key}Page", __base__=Entries, entries=(tuple[entry, ...], Field(alias=key, **options)))  # type: ignore[valid-type]  # a type that is made here


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUse:
    """The end of a volume's last day with metrics, and the host that it was last attached to; None if not known."""

    at: datetime | None = None
    host: str | None = None
    host_is_gone: bool = False


@dataclass(kw_only=True)
class PlaceFacts:
    """The facts of one account and region. What could not be read is None, and `unread` says why, by permission.

    `image_uses` are those who name an image: instances, and versions of launch templates. `shared` are the accounts
    that a snapshot or image is shared with, of those that were asked for.
    """

    account: str
    region: str
    now: datetime
    volumes: Mapping[str, PresentVolume] | None = None
    snapshots: Mapping[str, Snapshot] | None = None
    images: Mapping[str, Image] | None = None
    image_uses: Mapping[str, tuple[str, ...]] | None = None
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    locked: frozenset[str] | None = None
    fast_restores: tuple[FastRestore, ...] | None = None
    rules: tuple[RetentionRule, ...] | None = None
    last_uses: dict[str, LastUse] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    @cached_property
    def lineages(self) -> Mapping[str, list[Snapshot]]:
        """The snapshots that share blocks, oldest first, by what they share them as."""
        chains: dict[str, list[Snapshot]] = {}
        for snap in sorted((self.snapshots or {}).values(), key=lambda snap: (snap.started, snap.id)):
            chains.setdefault(snap.lineage, []).append(snap)
        return chains

    @cached_property
    def sharing_blocks(self) -> list[Snapshot]:
        """The snapshots that may hold blocks of another lineage, newest first."""
        apart = {name for name, volume in (self.volumes or {}).items() if volume.is_made_empty}
        known = (snap for chain in self.lineages.values() for snap in chain if snap.volume_id not in apart)
        return sorted((snap for snap in known if not snap.is_archived), key=lambda snap: snap.started, reverse=True)

    @cached_property
    def images_of(self) -> Mapping[str, list[Image]]:
        """The images that need a snapshot, by its id."""
        images: dict[str, list[Image]] = {}
        for image in sorted((self.images or {}).values(), key=lambda image: image.id):
            for name in image.snapshot_ids:
                images.setdefault(name, []).append(image)
        return images
