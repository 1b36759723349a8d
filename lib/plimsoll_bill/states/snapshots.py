"""Snapshots: which nobody needs, what a delete frees at the least and at the most, and what the archive costs.

Snapshots of one volume share blocks: each is billed for those that no earlier one has. Of a deleted one, what the next
one still needs is billed to that.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Final

from plimsoll.model.units import HOUR_S, MONTH_S
from plimsoll_bill.states import rows
from plimsoll_bill.states.facts import SNAPSHOT, PlaceFacts, Snapshot, SnapshotPrices
from plimsoll_bill.states.rows import Lack, StateRecord, lack_owner, lack_reading

ARCHIVED_DAYS: Final = 90
"""An archived snapshot is paid for so long at least (Amazon EBS User Guide, read 2026-11-27)."""

Span = tuple[float, float]
"""The least and the most."""


def find_unique_gib(place: PlaceFacts, ids: frozenset[str]) -> Span:
    """The GiB that deleting these snapshots frees.

    What the bill does not say is bounded by the full size: too high perhaps, and never too low.
    """
    least, most = 0.0, 0.0
    for name in sorted({snap.lineage for snap in (place.snapshots or {}).values() if snap.id in ids}):
        chain = [snap for snap in place.lineage(name) if not snap.archived]
        for is_deleted, group in groupby(enumerate(chain), key=lambda placed: placed[1].id in ids):
            run = list(group)
            if is_deleted:
                after = chain[run[-1][0] + 1] if run[-1][0] + 1 < len(chain) else None
                freed = _free_run(place, [snap for _, snap in run], after, ids)
                least, most = least + freed[0], most + freed[1]
    return least, most


def _free_run(place: PlaceFacts, run: Sequence[Snapshot], after: Snapshot | None, ids: frozenset[str]) -> Span:
    """The GiB that deleting neighbors frees, before the next one that stays.

    A block of that one which any earlier one has is in the last of the run too: a block that changed never comes back.
    Of these, only those that the run's first had from before are not billed to the run.
    """
    billed = [_billed_gib(place, snap) for snap in run]
    most = sum(_full_gib(snap) if gib is None else gib for snap, gib in zip(run, billed, strict=True))
    needed, before = _inherited_gib(place, after), _inherited_gib(place, run[0])
    if needed is not None and before is not None:
        most -= min(most, max(0.0, needed - before))
    if None in billed or needed is None or any(_may_be_shared(place, snap, ids) for snap in run):
        return 0.0, most
    return max(0.0, sum(gib or 0.0 for gib in billed) - needed), most


def _full_gib(snap: Snapshot) -> float:
    return float(snap.size_gib) if snap.full_gib is None else snap.full_gib


def _inherited_gib(place: PlaceFacts, snap: Snapshot | None) -> float | None:
    """The GiB of a snapshot that an earlier one has, 0 of none; None if that is not known."""
    if snap is None:
        return 0.0
    billed = _billed_gib(place, snap)
    return None if snap.full_gib is None or billed is None else max(0.0, snap.full_gib - billed)


def _billed_gib(place: PlaceFacts, snap: Snapshot) -> float | None:
    """The GiB that a snapshot is billed for: by the bill, or all if nothing earlier can have its blocks."""
    if snap.billed_gib is not None:
        return snap.billed_gib
    volume = (place.volumes or {}).get(snap.volume_id)
    is_first = volume is not None and volume.is_made_empty and place.lineage(snap.lineage)[0] is snap
    return snap.full_gib if is_first else None


def _may_be_shared(place: PlaceFacts, snap: Snapshot, ids: frozenset[str]) -> bool:
    """True if a later snapshot of something else may hold the same blocks.

    It is a copy, or is of a volume at least as large that may have been made of this one.
    """
    for other in (place.snapshots or {}).values():
        is_later = other.lineage != snap.lineage and other.started >= snap.started and not other.archived
        volume = (place.volumes or {}).get(other.volume_id)
        is_apart = volume is not None and volume.is_made_empty
        if is_later and not is_apart and other.id not in ids and other.size_gib >= snap.size_gib:
            return True
    return False


def find_archive_saving(place: PlaceFacts, snap: Snapshot, prices: SnapshotPrices) -> Span | None:
    """The least and the most USD a month that archiving a snapshot saves.

    Negative where it costs more, None without prices. Blocks that others need stay in the standard tier; the archive
    holds and bills all blocks.
    """
    if prices.gib_month is None or prices.archive_gib_month is None:
        return None
    freed = find_unique_gib(place, frozenset({snap.id}))
    least_full = snap.full_gib if snap.full_gib is not None else freed[0]
    return (
        freed[0] * prices.gib_month - _full_gib(snap) * prices.archive_gib_month,
        freed[1] * prices.gib_month - least_full * prices.archive_gib_month,
    )


def judge_snapshots(place: PlaceFacts, prices: SnapshotPrices, keep_days: float, idle_days: float) -> list[StateRecord]:
    """Every state of a place's snapshots; nothing where they could not be read."""
    groups: dict[tuple[str, str, tuple[Lack, ...]], list[Snapshot]] = {}
    for snap in sorted((place.snapshots or {}).values(), key=lambda snap: (snap.started, snap.id)):
        state = find_state(place, snap, keep_days)
        if state is not None:
            groups.setdefault((snap.lineage, state, tuple(_lacks(place, snap, state))), []).append(snap)
    records = [_deletion(place, prices, state, group, lacks) for (_, state, lacks), group in groups.items()]
    taken = {snap_id for record in records if not _is_blocked(record) for snap_id in record.ids}
    records += _archives(place, prices, taken)
    records += _fast_restores(place, prices, idle_days)
    return records


def find_state(place: PlaceFacts, snap: Snapshot, keep_days: float) -> str | None:
    """The state of a snapshot that could be deleted; None where it is needed, or too little was read to say."""
    if snap.archived or not snap.completed or place.images is None:
        return None
    of = [image for image in place.images.values() if snap.id in image.snapshot_ids]
    if of:
        used = place.image_uses is None or any(place.image_uses.get(image.id) for image in of)
        launched = [image.launched or image.created for image in of]
        recent = place.now - max(launched) < timedelta(days=keep_days)
        if not used and not recent:
            return rows.OF_UNUSED_IMAGE
    elif snap.image is not None and snap.image not in place.images:
        return rows.OF_GONE_IMAGE
    if place.volumes is None or snap.is_copy:
        return None
    if snap.volume_id not in place.volumes:
        return rows.OF_DELETED
    newest = place.lineage(snap.lineage)[-1]
    is_old = place.now - snap.started >= timedelta(days=keep_days)
    return rows.TOO_OLD if is_old and snap is not newest and not of else None


def _lacks(place: PlaceFacts, snap: Snapshot, state: str) -> Iterator[Lack]:
    """Everything that speaks against deleting a snapshot, or is missing for it."""
    yield from _uses(place, snap, state)
    yield from _sharing(place, snap.id)
    if snap.service is not None:
        yield Lack(code=rows.MANAGED, text=f"{snap.service} made it and deletes it by its own rules.")
    if place.locked is None:
        yield lack_reading("locks of snapshots", "ec2:DescribeLockedSnapshots")
    elif snap.id in place.locked:
        yield Lack(code=rows.LOCKED, text="it is locked.")
    if state in {rows.OF_DELETED, rows.OF_UNUSED_IMAGE} and snap.tags.get(rows.MAY_DELETE) != "true":
        yield lack_owner("It may be the only copy of its data that is left.")
    yield from lack_retention(place, SNAPSHOT, snap.tags)


def _uses(place: PlaceFacts, snap: Snapshot, state: str) -> Iterator[Lack]:
    for image in sorted((place.images or {}).values(), key=lambda image: image.id):
        if snap.id not in image.snapshot_ids:
            continue
        if state == rows.OF_UNUSED_IMAGE:
            yield from _sharing(place, image.id, public=image.public)
        elif place.image_uses is None:
            yield lack_reading(f"what uses {image.id}, which needs it,", "ec2:DescribeLaunchTemplateVersions")
        else:
            users = ", ".join(place.image_uses.get(image.id, ())) or "nothing that was read"
            yield Lack(code=rows.IN_USE, text=f"{image.id} needs it, and {users} names that image.")
    zones = [fast.zone for fast in place.fast_restores or () if fast.snapshot_id == snap.id]
    if zones:
        yield Lack(code=rows.IN_USE, text=f"it is restored fast in {', '.join(sorted(zones))}.")


def _sharing(place: PlaceFacts, name: str, *, public: bool = False) -> Iterator[Lack]:
    if name not in place.shared:
        which = "ec2:DescribeImageAttribute" if name.startswith("ami-") else "ec2:DescribeSnapshotAttribute"
        yield lack_reading(f"with whom {name} is shared", which)
    elif public or place.shared[name]:
        who = ", ".join(sorted(place.shared[name])) or "everybody"
        yield Lack(code=rows.SHARED, text=f"{name} is shared with {who}.")


def lack_retention(place: PlaceFacts, kind: str, tags: Mapping[str, str]) -> Iterator[Lack]:
    """Yields the lack of a rule of the Recycle Bin that keeps the resource."""
    if place.rules is None:
        yield lack_reading("rules of the Recycle Bin", "rbin:ListRules")
    elif not any(rule.may_keep(kind, tags) for rule in place.rules):
        what = "volumes" if kind != SNAPSHOT else "snapshots"
        yield Lack(code=rows.NO_RETENTION, text=f"no rule of the Recycle Bin keeps such {what}: no way back.")


def _is_blocked(record: StateRecord) -> bool:
    return any(lack.code in rows.BLOCKED for lack in record.lacks)


def _usd(gib: float | None, usd: float | None) -> float | None:
    return None if gib is None or usd is None else round(gib * usd, 2)


def _sum_billed(group: Sequence[Snapshot], usd: float | None) -> float | None:
    gib = [snap.billed_gib for snap in group if snap.billed_gib is not None]
    return _usd(sum(gib), usd) if len(gib) == len(group) else None


def _deletion(
    place: PlaceFacts, prices: SnapshotPrices, state: str, group: Sequence[Snapshot], lacks: tuple[Lack, ...]
) -> StateRecord:
    """The snapshots of one volume that are in one state and lack the same, as one delete."""
    ids = frozenset(snap.id for snap in group)
    freed = find_unique_gib(place, ids)
    is_kept = any(lack.code in rows.BLOCKED for lack in lacks)
    evidence = [
        f"{len(group):,} of {group[0].volume_id}, from {group[0].started:%Y-%m-%d} to {group[-1].started:%Y-%m-%d}"
    ]
    if any(snap.billed_gib is None for snap in group):
        evidence.append("what it is billed for is not known without the bill: at the most its full size")
    kept = sorted(rule.days for rule in place.rules or () if rule.may_keep(SNAPSHOT, group[0].tags))
    return StateRecord(
        account=place.account,
        region=place.region,
        state=state,
        ids=tuple(snap.id for snap in group),
        name=group[-1].tags.get("Name"),
        since=f"{group[0].started:%Y-%m-%d}",
        evidence=tuple(evidence),
        monthly_usd=_sum_billed(group, prices.gib_month),
        action="keep" if is_kept else "delete",
        freed_gib_least=0.0 if is_kept else freed[0],
        freed_gib_most=0.0 if is_kept else freed[1],
        monthly_usd_saved_least=0.0 if is_kept else _usd(freed[0], prices.gib_month),
        monthly_usd_saved_most=0.0 if is_kept else _usd(freed[1], prices.gib_month),
        lacks=lacks,
        commands=()
        if lacks
        else tuple(f"aws ec2 delete-snapshot --region {place.region} --snapshot-id {snap.id}" for snap in group),
        way_back=f"out of the Recycle Bin within {kept[-1]:,.0f} days" if kept and not is_kept else "",
        way_back_usd=0.0 if kept and not is_kept else None,
    )


def _archives(place: PlaceFacts, prices: SnapshotPrices, taken: set[str]) -> Iterator[StateRecord]:
    """For each chain the snapshots that are surely cheaper in the archive, and those that surely are not."""
    known = (place.snapshots or {}).values()
    for name in sorted({snap.lineage for snap in known}):
        chain = [snap for snap in place.lineage(name) if not snap.archived and snap.completed]
        spans = [(snap, find_archive_saving(place, snap, prices)) for snap in chain if snap.id not in taken]
        cheaper = [(snap, span) for snap, span in spans if span is not None and span[0] > 0]
        dearer = [(snap, span) for snap, span in spans if span is not None and span[1] < 0]
        for state, action, group in ((rows.ARCHIVE, "archive", cheaper), (rows.NO_ARCHIVE, "keep", dearer)):
            if group:
                yield _archive(place, prices, state, action, group)


def _archive(
    place: PlaceFacts, prices: SnapshotPrices, state: str, action: str, group: Sequence[tuple[Snapshot, Span]]
) -> StateRecord:
    snaps = [snap for snap, _ in group]
    lacks = tuple(lack for snap in snaps[:1] for lack in _archive_lacks(place, snap)) if action == "archive" else ()
    full = sum(map(_full_gib, snaps))
    share = (prices.archive_gib_month or 0.0) / (prices.gib_month or 1.0)
    side = "more" if action == "archive" else "less"
    return StateRecord(
        account=place.account,
        region=place.region,
        state=state,
        ids=tuple(snap.id for snap in snaps),
        name=snaps[-1].tags.get("Name"),
        since=f"{snaps[0].started:%Y-%m-%d}",
        evidence=(f"its own blocks are {side} than {share:.0%} of its full size, which the archive bills",),
        monthly_usd=_sum_billed(snaps, prices.gib_month),
        action=action,
        monthly_usd_saved_least=round(sum(span[0] for _, span in group), 2),
        monthly_usd_saved_most=round(sum(span[1] for _, span in group), 2),
        lacks=lacks,
        gives_up=(f"it takes one to three days to read back, and stays for {ARCHIVED_DAYS} days at least",)
        if action == "archive"
        else (),
        commands=tuple(
            f"aws ec2 modify-snapshot-tier --region {place.region} --snapshot-id {snap.id} --storage-tier archive"
            for snap in snaps
        )
        if action == "archive" and not lacks
        else (),
        way_back="restore-snapshot-tier, which takes one to three days" if action == "archive" else "",
        way_back_usd=_usd(full, prices.retrieval_gib) if action == "archive" else None,
        way_back_hours=72.0 if action == "archive" else None,
    )


def _archive_lacks(place: PlaceFacts, snap: Snapshot) -> Iterator[Lack]:
    """Yields the reasons against archiving: an image needs it, it is restored fast, or a service manages it."""
    if place.images is None:
        yield lack_reading("images", "ec2:DescribeImages")
    if place.fast_restores is None:
        yield lack_reading("fast restores", "ec2:DescribeFastSnapshotRestores")
    yield from _uses(place, snap, rows.ARCHIVE)
    if snap.service is not None:
        yield Lack(code=rows.MANAGED, text=f"{snap.service} manages it: archive it by its rules.")


def _fast_restores(place: PlaceFacts, prices: SnapshotPrices, idle_days: float) -> Iterator[StateRecord]:
    """Yields fast restores without a recent volume; nothing where volumes could not be read."""
    if place.volumes is None:
        return
    span = timedelta(days=idle_days)
    for fast in place.fast_restores or ():
        made = [
            volume.id
            for volume in place.volumes.values()
            if volume.snapshot_id == fast.snapshot_id and volume.zone == fast.zone and place.now - volume.created < span
        ]
        if made or place.now - fast.since < span:
            continue
        images = [image for image in (place.images or {}).values() if fast.snapshot_id in image.snapshot_ids]
        users = [user for image in images for user in (place.image_uses or {}).get(image.id, ())]
        lacks = [Lack(code=rows.IN_USE, text=f"{', '.join(users)} may launch from it.")] if users else []
        if place.images is None or place.image_uses is None:
            lacks.append(lack_reading("images and who uses them", "ec2:DescribeImages"))
        text = "volumes that were made and deleted since do not show: see FastSnapshotRestoreCreditsBalance."
        lacks.append(Lack(code=rows.UNSEEN_USES, text=text))
        usd = _usd(MONTH_S / HOUR_S, prices.fast_restore_hour)
        yield StateRecord(
            account=place.account,
            region=place.region,
            state=rows.FAST_RESTORE,
            ids=(fast.snapshot_id,),
            name=fast.zone,
            since=f"{fast.since:%Y-%m-%d}",
            evidence=(f"no volume in {fast.zone} was made of it in {idle_days:,.0f} days",),
            monthly_usd=usd,
            action="keep" if users else "disable",
            monthly_usd_saved_least=0.0 if users else usd,
            monthly_usd_saved_most=0.0 if users else usd,
            lacks=tuple(lacks),
            way_back="enable-fast-snapshot-restores, which takes an hour for each TiB",
            way_back_usd=0.0,
            way_back_hours=(place.snapshots or {})[fast.snapshot_id].size_gib / 1024
            if fast.snapshot_id in (place.snapshots or {})
            else None,
        )
