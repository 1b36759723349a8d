"""Chains of EBS snapshots: what each is billed for, what a delete frees at the least and at the most, and the archive.

Snapshots of one volume share blocks: each is billed for those that no earlier one has. Of a deleted one, what the next
one still needs is billed to that.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from plimsoll.clouds.aws.assets import PlaceFacts, Snapshot
from plimsoll.model.market import SnapshotPrices

GibBounds = tuple[float, float]
"""The least and the most."""


def find_unique_gib(place: PlaceFacts, ids: frozenset[str]) -> GibBounds:
    """The GiB that deleting these snapshots frees.

    What the bill does not say is bounded by the full size: too high perhaps, and never too low.
    """
    least, most = 0.0, 0.0
    for name in sorted({snap.lineage for snap_id, snap in (place.snapshots or {}).items() if snap_id in ids}):
        chain = [snap for snap in place.lineages[name] if not snap.is_archived]
        for is_deleted, group in groupby(enumerate(chain), key=lambda placed: placed[1].id in ids):
            run = list(group)
            if is_deleted:
                after = chain[run[-1][0] + 1] if run[-1][0] + 1 < len(chain) else None
                freed = _free_run(place, [snap for _, snap in run], after, ids)
                least, most = least + freed[0], most + freed[1]
    return least, most


def _free_run(place: PlaceFacts, run: Sequence[Snapshot], after: Snapshot | None, ids: frozenset[str]) -> GibBounds:
    """The GiB that deleting neighbors frees, before the next one that stays.

    A block of that one which any earlier one has is in the last of the run too: a block that changed never comes back.
    Of these, only those that the run's first had from before are not billed to the run.
    """
    billed = [_billed_gib(place, snap) for snap in run]
    most = sum(snap.most_gib if gib is None else gib for snap, gib in zip(run, billed, strict=True))
    needed, before = _inherited_gib(place, after), _inherited_gib(place, run[0])
    if needed is not None and before is not None:
        most -= min(most, max(0.0, needed - before))
    if None in billed or needed is None or any(_may_be_shared(place, snap, ids) for snap in run):
        return 0.0, most
    return max(0.0, sum(gib or 0.0 for gib in billed) - needed), most


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
    is_first = volume is not None and volume.is_made_empty and place.lineages[snap.lineage][0] is snap
    return snap.full_gib if is_first else None


def _may_be_shared(place: PlaceFacts, snap: Snapshot, ids: frozenset[str]) -> bool:
    """True if a later snapshot of something else may hold the same blocks.

    It is a copy, or is of a volume at least as large that may have been made of this one.
    """
    for other in place.sharing_blocks:
        if other.started < snap.started:
            return False
        if other.lineage != snap.lineage and other.id not in ids and other.size_gib >= snap.size_gib:
            return True
    return False


def find_archive_saving(place: PlaceFacts, snap: Snapshot, prices: SnapshotPrices) -> GibBounds | None:
    """The least and the most USD a month that archiving a snapshot saves.

    Negative where it costs more, None without prices. Blocks that others need stay in the standard tier; the archive
    holds and bills all blocks.
    """
    if prices.gib_month is None or prices.archive_gib_month is None:
        return None
    freed = find_unique_gib(place, frozenset({snap.id}))
    least_full = snap.full_gib if snap.full_gib is not None else freed[0]
    return (
        freed[0] * prices.gib_month - snap.most_gib * prices.archive_gib_month,
        freed[1] * prices.gib_month - least_full * prices.archive_gib_month,
    )


def price_snapshots(place: PlaceFacts, prices: SnapshotPrices) -> Iterator[tuple[str, float | None]]:
    """Yields each snapshot with what it costs a month; None where its blocks or their price are not known."""
    for name, snap in (place.snapshots or {}).items():
        if snap.is_archived:
            yield name, scale_usd(snap.full_gib, prices.archive_gib_month)
        else:
            yield name, scale_usd(_billed_gib(place, snap), prices.gib_month)


def scale_usd(gib: float | None, usd: float | None) -> float | None:
    """The money of some GiB; None where these or their price are not known."""
    return None if gib is None or usd is None else gib * usd
