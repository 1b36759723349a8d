"""Laws of snapshots, by their blocks: what a delete frees and the archive saves lies within what is said."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cloud_simulator.aws.keeping import Keeping, SimulatedSnapshot
from plimsoll.clouds.aws.assets import PlaceFacts, PresentVolume, RetentionRule, Snapshot
from plimsoll.clouds.aws.snapshot_chains import find_archive_saving, find_unique_gib
from plimsoll.model.kinds import NO_ARCHIVE
from plimsoll.model.market import SnapshotPrices
from plimsoll_bill.states.snapshots import judge_snapshots
from tests.oracle import states as oracle
from tests.profiles import examples

NOW = datetime(2026, 11, 20, tzinfo=UTC)
RULE = {
    "ResourceType": "EBS_SNAPSHOT",
    "Status": "available",
    "RetentionPeriod": {"RetentionPeriodValue": 30, "RetentionPeriodUnit": "DAYS"},
}
PRICES = SnapshotPrices(gib_month=0.05, archive_gib_month=0.0125, retrieval_gib=0.03)


def place_of(keeping, origins, *, billed, told):
    """The facts of a place: `billed` are the snapshots whose bill is known, `told` those whose full size is."""
    gib = keeping.billed_gib()
    return PlaceFacts(
        account="1" * 12,
        region="us-east-1",
        now=NOW,
        volumes={
            name: PresentVolume(id=name, zone="us-east-1a", created=NOW, snapshot_id=origin, attachments=())
            for name, origin in origins.items()
        },
        snapshots={
            snap.id: Snapshot(
                id=snap.id,
                volume_id=snap.volume_id,
                size_gib=snap.size_gib,
                started=snap.started,
                state="completed",
                full_snapshot_size_in_bytes=len(snap.blocks) * 2**30 if snap.id in told else None,
                billed_gib=float(gib[snap.id]) if snap.id in billed else None,
            )
            for snap in keeping.snapshots
        },
        images={},
        image_uses={},
        shared={snap.id: () for snap in keeping.snapshots},
        locked=frozenset(),
        fast_restores=(),
        rules=(RetentionRule.model_validate(RULE),),
    )


def drawn(seed):
    """Volumes that change and are made of each other's snapshots, and their snapshots."""
    draw = np.random.default_rng(seed)
    disks, origins, snaps = {}, {}, []
    for number in range(60):
        kind = draw.integers(0, 10)
        if not disks or kind == 0:
            name, size = f"vol-{number:04x}", int(draw.integers(4, 12))
            disks[name], origins[name] = [f"{name}/{block}" for block in range(draw.integers(1, size + 1))], ""
        elif kind == 1 and snaps:
            name, source = f"vol-{number:04x}", snaps[draw.integers(len(snaps))]
            disks[name], origins[name] = sorted(source.blocks), source.id
        name = list(disks)[draw.integers(len(disks))]
        for place in range(len(disks[name])):
            if draw.random() < 0.15:
                disks[name][place] = f"{name}/{place}@{number}"
        if draw.random() < 0.4:
            started = NOW - timedelta(days=60 - number)
            size = 12 if origins[name] else max(4, len(disks[name]))
            snaps.append(
                SimulatedSnapshot(
                    id=f"snap-{number:04x}",
                    volume_id=name,
                    size_gib=size,
                    started=started,
                    blocks=frozenset(disks[name]),
                )
            )
    alive = {name: origin for name, origin in origins.items() if draw.random() < 0.7}
    return Keeping(snapshots=tuple(snaps)), alive, draw


@pytest.mark.parametrize("seed", range(examples(60)))
def test_a_delete_and_the_archive_stay_within_what_is_said(seed):
    keeping, origins, draw = drawn(seed)
    ids = [snap.id for snap in keeping.snapshots]
    known = [frozenset(name for name in ids if draw.random() < share) for share in (0.7, 0.5)]
    place = place_of(keeping, origins, billed=known[0], told=known[1])
    for name in {snap.volume_id for snap in keeping.snapshots}:
        chain = [snap.id for snap in keeping.snapshots if snap.volume_id == name]
        chosen = frozenset(snap_id for snap_id in chain if draw.random() < 0.6)
        least, most = find_unique_gib(place, chosen)
        assert least <= oracle.freed_gib(keeping, chosen) <= most
    for snap in keeping.snapshots:
        least, most = find_archive_saving(place, place.snapshots[snap.id], PRICES)
        assert least - 1e-9 <= oracle.archive_saved(keeping, snap) <= most + 1e-9


def chain_of(count, changed):
    blocks, snaps = [f"{block}" for block in range(100)], []
    for day in range(count):
        for place in range(changed if day else 0):
            blocks[(day * changed + place) % 100] += f"@{day}"
        snaps.append(
            SimulatedSnapshot(
                id=f"snap-{day:04x}",
                volume_id="vol-1",
                size_gib=100,
                started=NOW - timedelta(days=count - day),
                blocks=frozenset(blocks),
            )
        )
    return Keeping(snapshots=tuple(snaps))


def test_archiving_any_of_thirty_daily_snapshots_costs_more_once_the_bill_is_known():
    keeping = chain_of(30, 3)
    ids = frozenset(snap.id for snap in keeping.snapshots)
    place = place_of(keeping, {"vol-1": ""}, billed=ids, told=ids)
    (dearer,) = [record for record in judge_snapshots(place, PRICES, 365, 30) if record.state == NO_ARCHIVE]
    assert set(dearer.ids) == ids
    assert dearer.action == "keep"
    assert dearer.monthly_usd_saved_most < 0


def test_deleting_the_oldest_of_a_chain_frees_what_the_bill_says_and_is_between_bounds_without_it():
    keeping = chain_of(30, 3)
    ids = frozenset(snap.id for snap in keeping.snapshots)
    place = place_of(keeping, {"vol-1": ""}, billed=ids, told=ids)
    (old,) = [record for record in judge_snapshots(place, PRICES, 8, 30) if record.action == "delete"]
    assert len(old.ids) == 23
    assert oracle.freed_gib(keeping, set(old.ids)) == 69
    assert (old.freed_gib_least, old.freed_gib_most) == (69.0, 69.0)
    unknown = place_of(keeping, {"vol-1": "snap-ffff"}, billed=frozenset(), told=frozenset())
    (old,) = [record for record in judge_snapshots(unknown, PRICES, 8, 30) if record.action == "delete"]
    assert (old.freed_gib_least, old.freed_gib_most) == (0.0, 2300.0)


def test_a_copy_is_never_of_a_deleted_volume():
    keeping = Keeping(snapshots=(replace(chain_of(1, 0).snapshots[0], volume_id="vol-ffffffff"),))
    place = place_of(keeping, {}, billed=frozenset(), told=frozenset())
    assert judge_snapshots(place, PRICES, 365, 30) == []
