"""Facts of one account and region beside its volumes' metrics: snapshots, images, who uses them, and what is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

COPIED_FROM: Final = "vol-ffffffff"
"""The volume that EC2 names for a copied snapshot: it is no volume, and no lineage."""

VOLUME, SNAPSHOT = "EBS_VOLUME", "EBS_SNAPSHOT"
"""The kinds of resources that a rule of the Recycle Bin keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot as EC2 lists it. `full_gib` are all of its blocks, `billed_gib` those that no earlier one has.

    Both are None where nothing says so. `image` is the one that its description says it was made for.
    """

    id: str
    volume_id: str
    size_gib: int
    started: datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    archived: bool = False
    completed: bool = True
    full_gib: float | None = None
    billed_gib: float | None = None
    image: str | None = None
    service: str | None = None
    """The service that made it and deletes it by its own rules, such as AWS Backup."""

    @property
    def lineage(self) -> str:
        """The volume whose snapshots share blocks with this one; itself for a copy, of which that is not known."""
        return self.id if self.is_copy else self.volume_id

    @property
    def is_copy(self) -> bool:
        """True for a copied snapshot."""
        return self.volume_id.startswith(COPIED_FROM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An AMI of the account with its snapshots; `launched` is when it was last launched, None if never known."""

    id: str
    created: datetime
    snapshot_ids: frozenset[str]
    launched: datetime | None = None
    public: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FastRestore:
    """A snapshot that is restored fast in a zone."""

    snapshot_id: str
    zone: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule:
    """A rule of the Recycle Bin. Without `tags` it keeps all of its kind, but those with a tag of `excluded`."""

    kind: str
    days: float
    tags: tuple[tuple[str, str | None], ...] = ()
    excluded: tuple[tuple[str, str | None], ...] = ()

    def may_keep(self, kind: str, tags: Mapping[str, str]) -> bool:
        """True if a deleted resource with these tags can be taken back."""

        def has_pair(pair: tuple[str, str | None]) -> bool:
            return pair[0] in tags and pair[1] in {None, tags[pair[0]]}

        return kind == self.kind and (
            any(map(has_pair, self.tags)) if self.tags else not any(map(has_pair, self.excluded))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentVolume:
    """A volume as EC2 lists it now."""

    id: str
    zone: str
    created: datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    attached: bool = True
    multi_attach: bool = False
    snapshot_id: str = ""
    source_id: str | None = None

    @property
    def is_made_empty(self) -> bool:
        """True if it was made of no snapshot and no volume: its snapshots share no block of such."""
        return not self.snapshot_id and self.source_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUse:
    """The end of a volume's last day with metrics, and the host that it was last attached to; None if not known."""

    at: datetime | None = None
    host: str | None = None
    host_is_gone: bool = False


@dataclass(slots=True, kw_only=True)
class PlaceFacts:
    """The facts of one account and region. What could not be read is None, and `unread` says why, by permission."""

    account: str
    region: str
    now: datetime
    volumes: Mapping[str, PresentVolume] | None = None
    snapshots: Mapping[str, Snapshot] | None = None
    images: Mapping[str, Image] | None = None
    image_uses: Mapping[str, tuple[str, ...]] | None = None
    """Who names an image: instances, and versions of launch templates."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The accounts that a snapshot or image is shared with, of those that were asked for."""
    locked: frozenset[str] | None = None
    fast_restores: tuple[FastRestore, ...] | None = None
    rules: tuple[RetentionRule, ...] | None = None
    last_uses: Mapping[str, LastUse] | None = None
    unread: dict[str, str] = field(default_factory=dict)

    def lineage(self, name: str) -> list[Snapshot]:
        """The snapshots that share blocks, oldest first."""
        known = (self.snapshots or {}).values()
        return sorted((snap for snap in known if snap.lineage == name), key=lambda snap: (snap.started, snap.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPrices:
    """A region's prices of snapshots in USD; None where no source is known."""

    gib_month: float | None = None
    archive_gib_month: float | None = None
    retrieval_gib: float | None = None
    fast_restore_hour: float | None = None
