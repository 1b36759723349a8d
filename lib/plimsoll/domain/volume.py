"""Volumes: what is there, where, on which hosts, and owned by whom."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from plimsoll.domain.host import Host

NAME_TAG: Final = "Name"
"""The tag that says what people call a volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSpec:
    """A configuration. `iops` and `throughput_mib_s` are what is provisioned, None where the type provisions none."""

    type: str
    size_gib: int
    iops: int | None = None
    throughput_mib_s: int | None = None

    @property
    def figures(self) -> tuple[str, int | None, int | None]:
        """Everything but its size: type, IOPS and MiB/s."""
        return self.type, self.iops, self.throughput_mib_s

    def __str__(self) -> str:
        parts = [self.type, f"{self.size_gib:,} GiB"]
        if self.iops is not None:
            parts.append(f"{self.iops:,} IOPS")
        if self.throughput_mib_s is not None:
            parts.append(f"{self.throughput_mib_s:,} MiB/s")
        return " ".join(parts)


class VolumeState(StrEnum):
    """The states in a volume's life."""

    CREATING = "creating"
    AVAILABLE = "available"
    IN_USE = "in-use"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A volume on a host since a time; `boot` where it is the host's root device. `host` is None where the cloud
    hides it. One that was made `at_start` of the host may only have been made anew."""

    host: Host | None
    device: str
    since: datetime
    boot: bool = False
    at_start: bool = False


class OwnerKind(StrEnum):
    """Who would undo a change made behind their back."""

    CLOUDFORMATION = "cloudformation"
    TERRAFORM = "terraform"
    KUBERNETES = "kubernetes"
    AUTO_SCALING = "auto-scaling"
    OPERATOR = "operator"
    HAND = "hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who made the volume and would change it. `details` holds what the change text needs (logical id, claim,
    storage class, launch template)."""

    kind: OwnerKind
    name: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)


BY_HAND = Owner(kind=OwnerKind.HAND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Modification:
    """The latest change of a volume's configuration that the cloud still knows.

    `original` is what the volume was before it, None where the cloud does not say.
    """

    state: str
    started: datetime
    progress_pct: int | None = None
    original: VolumeSpec | None = None
    ended: datetime | None = None

    @property
    def in_progress(self) -> bool:
        """Whether it still runs, so that no other can start."""
        return self.state in {"modifying", "optimizing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a volume was seen to be at a time (epoch seconds): by an earlier audit, or in the cloud's own log.

    None where that says nothing of it. `made`: it became so at that very time.
    """

    at_s: int
    spec: VolumeSpec | None = None
    hosts: tuple[Host, ...] | None = None
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A spec with an id, a place, tags, attachments and an owner.

    `operator` names the service that manages it and alone may change it. `modification` is the latest change the cloud
    still knows; `recent_changes` are the starts of all that are known of. `seen` is what it was earlier, in order.

    `restored_from` is the snapshot or volume that its data are brought from when they are first read; None where it was
    made empty, or had all of them from the start. `edge` is the place that it is in where that is none of the region's
    own zones (an Outpost, a Local Zone). `replicated_to` are the disks that receive what is written to it, and
    `storage_pool` the pool that pays for it.
    """

    id: str
    account: str
    region: str
    zone: str
    spec: VolumeSpec
    state: VolumeState
    created: datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()
    owner: Owner = BY_HAND
    multi_attach: bool = False
    operator: str | None = None
    recent_changes: tuple[datetime, ...] = ()
    modification: Modification | None = None
    seen: tuple[Seen, ...] = ()
    restored_from: str | None = None
    edge: str | None = None
    replicated_to: tuple[str, ...] = ()
    storage_pool: str | None = None

    @property
    def name(self) -> str | None:
        """What people call it."""
        return self.tags.get(NAME_TAG)

    @property
    def boot(self) -> bool:
        """Whether a host starts from it."""
        return any(attachment.boot for attachment in self.attachments)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts it is attached to, as far as they are known."""
        return tuple(attachment.host for attachment in self.attachments if attachment.host is not None)


def sole_host(volume: Volume) -> Host | None:
    """The volume's only host. None where it has no host, several, or an unknown one."""
    return volume.hosts[0] if len(volume.attachments) == 1 and volume.hosts else None
