"""A small account with everything that is paid for and not used, each with its truth, and what only looks like it."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from cloud_simulator.aws.cloudtrail_events import attach_event
from cloud_simulator.aws.fleet import Fleet, SimulatedVolume
from cloud_simulator.aws.keeping import BinRule, Keeping, SimulatedImage, SimulatedRestore, SimulatedSnapshot
from cloud_simulator.aws.volume_maker import VolumeMaker, gp2, gp3, io
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.units import ago

GONE: Final = "vol-0dead000000000001"
GONE_TOO: Final = "vol-0dead000000000002"
_DAILY: Final = 30
_CHANGED_GIB: Final = 3


def states_fleet(now: datetime, account: str, region: str, seed: int = 1) -> Fleet:
    """The account. The names of its volumes, and `truth_of`, say what is right."""
    maker = VolumeMaker(now, account, region, seed)
    stopped = replace(maker.host(), stopped=ago(now, days=40))
    maker.volume(io("io2", 1000, 20_000), Archetype.STEADY, "stopped-for-40-days", hosts=(stopped,))
    lately = replace(maker.host(), stopped=ago(now, hours=6))
    maker.volume(io("io2", 500, 10_000), Archetype.STEADY, "stopped-since-night", hosts=(lately,))
    plain = replace(maker.host(), stopped=ago(now, days=90))
    maker.volume(gp3(200), Archetype.STEADY, "stopped-and-plain", hosts=(plain,))
    maker.volume(gp3(100), Archetype.STEADY, "in-use", low=50, high=400)
    maker.volume(
        gp3(150), Archetype.IDLE, "idle", low=0, high=0, created=ago(now, days=300), attached=ago(now, days=300)
    )
    maker.volume(gp2(8192), Archetype.NIGHTLY, "nightly-reads", low=0, high=150, io_kib=1024)
    silent = maker.volume(gp3(80), Archetype.STEADY, "silent-for-weeks")
    maker.volumes[-1] = replace(silent, workload=None)
    claim = {"kubernetes.io/created-for/pvc/name": "db-0", "kubernetes.io/created-for/pv/name": "pvc-1"}
    _detached(maker, gp2(300), "retained-by-a-claim", days=3, tags=claim, host="i-0feed000000000003")
    _detached(maker, gp2(800), "kept-and-covered", days=60, host="i-0feed000000000001")
    _detached(maker, gp2(400), "kept-without-a-snapshot", days=60, host="i-0feed000000000002")
    _detached(maker, gp2(50), "allowed-by-its-owner", days=60, tags={"plimsoll:may-delete": "true"}, host=None)
    by_name = {dict(volume.tags)["Name"]: volume for volume in maker.volumes}
    return Fleet(
        now=now,
        accounts=(account,),
        regions=(region,),
        volumes=tuple(maker.volumes),
        keeping={(account, region): _keeping(now, by_name)},
    )


def _detached(
    maker: VolumeMaker,
    spec: object,
    name: str,
    *,
    days: int,
    tags: dict[str, str] | None = None,
    host: str | None,
) -> None:
    """A volume that was attached until some days ago."""
    made, until = ago(maker.now, days=400), ago(maker.now, days=days)
    volume = maker.volume(spec, Archetype.STEADY, name, tags=tags)  # type: ignore[arg-type]  # a spec of the maker's
    past = () if host is None else (attach_event(volume.id, ago(maker.now, days=80), host),)
    maker.volumes[-1] = replace(
        volume, hosts=(), state="available", created=made, attached=made, detached=until, past=past
    )


def _keeping(now: datetime, volumes: dict[str, SimulatedVolume]) -> Keeping:
    used = volumes["in-use"]
    chain = list(_chain(now, used.id, 100, days=_DAILY, changed=_CHANGED_GIB, name="daily"))
    old = _snapshot("0001", used.id, 100, ago(now, days=500), blocks=range(100), of="daily")
    gone = list(_chain(now, GONE, 200, days=4, changed=100, name="gone", first=200))
    covered = _snapshot("0c01", volumes["kept-and-covered"].id, 800, ago(now, days=50), blocks=range(500), of="covered")
    older = _snapshot("0c02", volumes["retained-by-a-claim"].id, 300, ago(now, days=200), blocks=range(80), of="claim")
    lone = _snapshot("0a01", GONE_TOO, 500, ago(now, days=300), blocks=range(400), of="lone", shared=("999999999999",))
    backup = _snapshot(
        "0b01",
        GONE_TOO,
        500,
        ago(now, days=290),
        blocks=range(400),
        of="lone",
        tags=(("aws:backup:source-resource", "x"),),
    )
    locked = _snapshot("0b02", GONE_TOO, 500, ago(now, days=280), blocks=range(400), of="lone", locked=True)
    images = [
        SimulatedImage(id="ami-0000000000000old1", created=ago(now, days=600), snapshots=("snap-0e01",)),
        SimulatedImage(id="ami-00000000000000001", created=ago(now, days=600), snapshots=("snap-0e02",)),
        SimulatedImage(
            id="ami-00000000000000002", created=ago(now, days=600), snapshots=("snap-0e03",), shared=("999999999999",)
        ),
        SimulatedImage(id="ami-00000000000000003", created=ago(now, days=600), snapshots=("snap-0e04",)),
    ]
    for_gone = "Created by CreateImage(i-0123) for ami-0deadbeef00000001"
    of_images = [
        _snapshot(
            f"0e0{number}", used.id, 8, ago(now, days=600), blocks=range(6), of=f"image-{number}", told_gib=number > 1
        )
        for number in range(1, 5)
    ]
    orphan = _snapshot("0e05", used.id, 8, ago(now, days=550), blocks=range(6), of="image-5", description=for_gone)
    return Keeping(
        snapshots=(*chain, old, *gone, covered, older, lone, backup, locked, *of_images, orphan),
        images=tuple(image for image in images if "old" not in image.id),
        templates={"lt-00000000000000001": ("ami-00000000000000001", "ami-00000000000000009")},
        restores=(
            SimulatedRestore(snapshot_id=chain[-1].id, zone=used.zone, since=ago(now, days=100)),
            SimulatedRestore(snapshot_id=covered.id, zone=used.zone, since=ago(now, days=2)),
        ),
        rules=(
            BinRule(id="aaaaaaaaaaa", kind="EBS_SNAPSHOT", days=30),
            BinRule(id="bbbbbbbbbbb", kind="EBS_VOLUME", days=7),
        ),
    )


def _chain(
    now: datetime, volume_id: str, size_gib: int, *, days: int, changed: int, name: str, first: int = 0
) -> list[SimulatedSnapshot]:
    """Daily snapshots of a volume of which some GiB change from each to the next."""
    made = []
    blocks = [f"{name}/{block}" for block in range(size_gib)]
    for day in range(days):
        for place in range(changed):
            at = (day * changed + place) % size_gib
            blocks[at] = f"{name}/{at}@{day}" if day else blocks[at]
        number = f"{first + day:04x}"
        made.append(
            SimulatedSnapshot(
                id=f"snap-{number}0{name.encode().hex()[:8]}",
                volume_id=volume_id,
                size_gib=size_gib,
                started=ago(now, days=days - day),
                blocks=frozenset(blocks),
            )
        )
    return made


def _snapshot(
    number: str, volume_id: str, size_gib: int, started: datetime, *, blocks: range, of: str, **changes: object
) -> SimulatedSnapshot:
    snapshot = SimulatedSnapshot(
        id=f"snap-{number}",
        volume_id=volume_id,
        size_gib=size_gib,
        started=started,
        blocks=frozenset(f"{of}/{block}" for block in blocks),
    )
    return replace(snapshot, **changes)  # type: ignore[arg-type]  # names of its fields
