"""Snapshots and fast restores that nobody needs, and snapshots that are cheaper in the archive, or dearer."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from plimsoll.clouds.aws.assets import SNAPSHOT, PlaceFacts, Snapshot
from plimsoll.clouds.aws.snapshot_chains import GibBounds, find_archive_saving, find_unique_gib, scale_usd
from plimsoll.model.kinds import ARCHIVE, FAST_RESTORE, NO_ARCHIVE, OF_DELETED, OF_GONE_IMAGE, OF_UNUSED_IMAGE, TOO_OLD
from plimsoll.model.market import SnapshotPrices
from plimsoll.model.units import HOUR_S, MIB_PER_GIB, MONTH_S
from plimsoll.reports.record import BlockerRecord, StateRecord
from plimsoll_bill.states import records
from plimsoll_bill.states.records import lack_owner, lack_reading, lack_retention, make_record

_Bounded = Sequence[tuple[Snapshot, GibBounds]]
ARCHIVED_DAYS: Final = 90
"""An archived snapshot is paid for so long at least (Amazon EBS User Guide, read 2026-11-27)."""


def judge_snapshots(place: PlaceFacts, prices: SnapshotPrices, keep_days: float, idle_days: float) -> list[StateRecord]:
    """Every state of a place's snapshots; nothing where they could not be read."""
    groups: dict[tuple[str, str, tuple[BlockerRecord, ...]], list[Snapshot]] = {}
    for chain in place.lineages.values():
        for snap in chain:
            state = find_state(place, snap, keep_days)
            if state is not None:
                groups.setdefault((snap.lineage, state, tuple(_lacks(place, snap, state))), []).append(snap)
    states = [_deletion(place, prices, state, group, lacks) for (_, state, lacks), group in groups.items()]
    taken = {snap_id for record in states if record.action != "keep" for snap_id in record.ids}
    return [*states, *_archives(place, prices, taken), *_fast_restores(place, prices, idle_days)]


def find_state(place: PlaceFacts, snap: Snapshot, keep_days: float) -> str | None:
    """The state of a snapshot that could be deleted; None where it is needed, or too little was read to say."""
    if snap.is_archived or not snap.is_completed or place.images is None:
        return None
    images, span = place.images_of.get(snap.id, ()), timedelta(days=keep_days)
    if images:
        is_used = place.image_uses is None or any(place.image_uses.get(image.id) for image in images)
        if not is_used and place.now - max(image.launched or image.created for image in images) >= span:
            return OF_UNUSED_IMAGE
    elif snap.image is not None and snap.image not in place.images:
        return OF_GONE_IMAGE
    if place.volumes is None or snap.is_copy:
        return None
    if snap.volume_id not in place.volumes:
        return OF_DELETED
    is_old = place.now - snap.started >= span and snap is not place.lineages[snap.lineage][-1]
    return TOO_OLD if is_old and not images else None


def _lacks(place: PlaceFacts, snap: Snapshot, state: str) -> Iterator[BlockerRecord]:
    """Everything that speaks against deleting a snapshot, or is missing for it."""
    yield from _uses(place, snap, state)
    yield from _sharing(place, snap.id)
    if snap.service is not None:
        yield BlockerRecord(code=records.MANAGED, text=f"{snap.service} made it and deletes it by its own rules.")
    if place.locked is None:
        yield lack_reading("locks of snapshots", "ec2:DescribeLockedSnapshots")
    elif snap.id in place.locked:
        yield BlockerRecord(code=records.LOCKED, text="it is locked.")
    if state in {OF_DELETED, OF_UNUSED_IMAGE} and snap.tag_values.get(records.MAY_DELETE) != "true":
        yield lack_owner("It may be the only copy of its data that is left.")
    yield from lack_retention(place, SNAPSHOT, snap.tag_values)


def _uses(place: PlaceFacts, snap: Snapshot, state: str) -> Iterator[BlockerRecord]:
    for image in place.images_of.get(snap.id, ()):
        if state == OF_UNUSED_IMAGE:
            yield from _sharing(place, image.id, public=image.public)
        elif place.image_uses is None:
            yield lack_reading(f"what uses {image.id}, which needs it,", "ec2:DescribeLaunchTemplateVersions")
        else:
            users = ", ".join(place.image_uses.get(image.id, ())) or "nothing that was read"
            yield BlockerRecord(code=records.IN_USE, text=f"{image.id} needs it, and {users} names that image.")
    zones = sorted(fast.zone for fast in place.fast_restores or () if fast.snapshot_id == snap.id)
    if zones:
        yield BlockerRecord(code=records.IN_USE, text=f"it is restored fast in {', '.join(zones)}.")


def _sharing(place: PlaceFacts, name: str, *, public: bool = False) -> Iterator[BlockerRecord]:
    if name not in place.shared:
        which = "ec2:DescribeImageAttribute" if name.startswith("ami-") else "ec2:DescribeSnapshotAttribute"
        yield lack_reading(f"with whom {name} is shared", which)
    elif public or place.shared[name]:
        who = ", ".join(sorted(place.shared[name])) or "everybody"
        yield BlockerRecord(code=records.SHARED, text=f"{name} is shared with {who}.")


def _group_fields(group: Sequence[Snapshot], prices: SnapshotPrices) -> dict[str, Any]:
    """The fields that every record of some snapshots of one chain has."""
    gib = [snap.billed_gib for snap in group if snap.billed_gib is not None]
    return {
        "ids": [snap.id for snap in group],
        "name": group[-1].tag_values.get("Name"),
        "since": f"{group[0].started:%Y-%m-%d}",
        "monthly_usd": scale_usd(sum(gib), prices.gib_month) if len(gib) == len(group) else None,
    }


def _deletion(
    place: PlaceFacts, prices: SnapshotPrices, state: str, group: Sequence[Snapshot], lacks: Sequence[BlockerRecord]
) -> StateRecord:
    """The snapshots of one volume that are in one state and lack the same, as one delete."""
    freed = find_unique_gib(place, frozenset(snap.id for snap in group))
    evidence = [
        f"{len(group):,} of {group[0].volume_id}, from {group[0].started:%Y-%m-%d} to {group[-1].started:%Y-%m-%d}"
    ]
    if any(snap.billed_gib is None for snap in group):
        evidence.append("what it is billed for is not known without the bill: at the most its full size")
    rules = [rule for rule in place.rules or () if rule.may_keep(SNAPSHOT, group[0].tag_values)]
    days = max((rule.period.retention_period_value for rule in rules), default=None)
    return make_record(
        state,
        place,
        action="delete",
        evidence=evidence,
        freed=freed,
        saved=(scale_usd(freed[0], prices.gib_month), scale_usd(freed[1], prices.gib_month)),
        lacks=lacks,
        commands=[f"aws ec2 delete-snapshot --region {place.region} --snapshot-id {snap.id}" for snap in group],
        way_back="" if days is None else f"out of the Recycle Bin within {days:,} days",
        way_back_usd=None if days is None else 0.0,
        **_group_fields(group, prices),
    )


def _archives(place: PlaceFacts, prices: SnapshotPrices, taken: set[str]) -> Iterator[StateRecord]:
    """For each chain the snapshots that are surely cheaper in the archive, and those that surely are not."""
    for chain in place.lineages.values():
        live = [snap for snap in chain if not snap.is_archived and snap.is_completed and snap.id not in taken]
        spans = [(snap, span) for snap in live if (span := find_archive_saving(place, snap, prices)) is not None]
        cheaper: dict[tuple[BlockerRecord, ...], list[tuple[Snapshot, GibBounds]]] = {}
        for snap, span in spans:
            if span[0] > 0:
                cheaper.setdefault(tuple(_archive_lacks(place, snap)), []).append((snap, span))
        yield from (_archive(place, prices, group, lacks) for lacks, group in cheaper.items())
        dearer = [(snap, span) for snap, span in spans if span[1] < 0]
        if dearer:
            fields = _archive_fields(dearer, prices, "less")
            yield make_record(NO_ARCHIVE, place, action="keep", **fields)


def _archive_fields(group: _Bounded, prices: SnapshotPrices, side: str) -> dict[str, Any]:
    share = (prices.archive_gib_month or 0.0) / (prices.gib_month or 1.0)
    return {
        **_group_fields([snap for snap, _ in group], prices),
        "evidence": [f"its own blocks are {side} than {share:.0%} of its full size, which the archive bills"],
        "saved": (sum(span[0] for _, span in group), sum(span[1] for _, span in group)),
    }


def _archive(
    place: PlaceFacts,
    prices: SnapshotPrices,
    group: Sequence[tuple[Snapshot, GibBounds]],
    lacks: Sequence[BlockerRecord],
) -> StateRecord:
    archive = f"aws ec2 modify-snapshot-tier --region {place.region} --storage-tier archive --snapshot-id"
    return make_record(
        ARCHIVE,
        place,
        action="archive",
        lacks=lacks,
        gives_up=[f"it takes one to three days to read back, and stays for {ARCHIVED_DAYS} days at least"],
        commands=[f"{archive} {snap.id}" for snap, _ in group],
        way_back="restore-snapshot-tier, which takes one to three days",
        way_back_usd=scale_usd(sum(snap.most_gib for snap, _ in group), prices.retrieval_gib),
        way_back_hours=72.0,
        **_archive_fields(group, prices, "more"),
    )


def _archive_lacks(place: PlaceFacts, snap: Snapshot) -> Iterator[BlockerRecord]:
    """Yields the reasons against archiving: an image needs it, it is restored fast, or a service manages it."""
    if place.images is None:
        yield lack_reading("images", "ec2:DescribeImages")
    if place.fast_restores is None:
        yield lack_reading("fast restores", "ec2:DescribeFastSnapshotRestores")
    yield from _uses(place, snap, ARCHIVE)
    if snap.service is not None:
        yield BlockerRecord(code=records.MANAGED, text=f"{snap.service} manages it: archive it by its rules.")


def _fast_restores(place: PlaceFacts, prices: SnapshotPrices, idle_days: float) -> Iterator[StateRecord]:
    """Yields fast restores without a recent volume; nothing where volumes could not be read."""
    span, usd = timedelta(days=idle_days), scale_usd(MONTH_S / HOUR_S, prices.fast_restore_hour)
    recent = {
        (volume.snapshot_id, volume.zone)
        for volume in (place.volumes or {}).values()
        if place.now - volume.created < span
    }
    for fast in place.fast_restores or () if place.volumes is not None else ():
        if (fast.snapshot_id, fast.zone) in recent or fast.since is None or place.now - fast.since < span:
            continue
        images, snap = place.images_of.get(fast.snapshot_id, ()), (place.snapshots or {}).get(fast.snapshot_id)
        users = [user for image in images for user in (place.image_uses or {}).get(image.id, ())]
        lacks = [BlockerRecord(code=records.IN_USE, text=f"{', '.join(users)} may launch from it.")] if users else []
        if place.images is None or place.image_uses is None:
            lacks.append(lack_reading("images and who uses them", "ec2:DescribeImages"))
        text = "volumes that were made and deleted since do not show: see FastSnapshotRestoreCreditsBalance."
        yield make_record(
            FAST_RESTORE,
            place,
            action="disable",
            ids=[fast.snapshot_id],
            name=fast.zone,
            since=f"{fast.since:%Y-%m-%d}",
            evidence=[f"no volume in {fast.zone} was made of it in {idle_days:,.0f} days"],
            monthly_usd=usd,
            saved=(usd, usd),
            lacks=[*lacks, BlockerRecord(code="unseen-uses", text=text)],
            way_back="enable-fast-snapshot-restores, which takes an hour for each TiB",
            way_back_usd=0.0,
            way_back_hours=None if snap is None else snap.size_gib / MIB_PER_GIB,
        )
