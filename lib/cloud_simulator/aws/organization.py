"""The organization: three accounts in two regions with every workload, owner, blocker and oddity."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import cycle, islice
from typing import Final

import numpy as np

from cloud_simulator.aws.fleet import Fleet, bench_hosts
from cloud_simulator.aws.long_lives import long_lives
from cloud_simulator.aws.states import states_fleet
from cloud_simulator.aws.volume_maker import VolumeMaker, change, gp2, gp3, io
from cloud_simulator.aws.volume_owners import give_owners
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.published import VolumeSpec
from cloud_simulator.units import ago

ACCOUNTS: Final = ("111111111111", "222222222222", "333333333333")
AWS_REGIONS: Final = ("us-east-1", "eu-west-1")
GP2_SIZES_GIB: Final = (20, 100, 170, 171, 200, 249, 250, 300, 334, 500, 1000, 1500, 5334)
"""Sizes around which gp2's published limits and its break-even with gp3 change."""

LEAST_VOLUMES: Final = 120
DEMO_VOLUMES: Final = 600
_STEPS_APART: Final = 8
"""The step between the places' first everyday volumes, so that the smallest organization has every size."""


def _everyday(maker: VolumeMaker, start: int = 0) -> Iterator[None]:
    """Volumes that most fleets are made of, one a step, from some step on."""
    patterns = cycle((Archetype.DIURNAL, Archetype.STEADY, Archetype.NIGHTLY, Archetype.BURSTS, Archetype.IDLE))
    for size_gib, pattern in islice(zip(cycle(GP2_SIZES_GIB), patterns, strict=False), start, None):
        high = min(0.7 * 3000, 200 + 2.0 * size_gib)
        if pattern in {Archetype.STEADY, Archetype.DIURNAL, Archetype.NIGHTLY}:
            high = min(high, max(80.0, 2.4 * size_gib))
        maker.volume(gp2(size_gib), pattern, f"app-{size_gib}", low=high / 10, high=high)
        yield


def _quiet(maker: VolumeMaker) -> Iterator[None]:
    """Volumes as most of production are, one a step: a few operations a second, and a long tail.

    Their mean rate is log-normal with a median of 2.5 and a mean of 7.7 operations a second. The mean is that of
    Alibaba's published traces (1,000 disks, January 2020, 20.2 billion requests: 7.5 a second; Li et al., IISWC 2020);
    the spread is ours.
    """
    rng = np.random.default_rng(maker.seed)
    patterns = cycle((Archetype.DIURNAL, Archetype.STEADY, Archetype.NIGHTLY, Archetype.STEADY, Archetype.IDLE))
    for size_gib, pattern in zip(cycle(GP2_SIZES_GIB), patterns, strict=False):
        mean = min(float(rng.lognormal(np.log(2.5), 1.5)), 2.0 * size_gib)
        high = {Archetype.NIGHTLY: 12 * mean, Archetype.IDLE: 40 * mean}.get(pattern, 1.8 * mean)
        maker.volume(gp2(size_gib), pattern, f"svc-{size_gib}", low=0.2 * mean, high=min(high, 0.7 * 3000))
        yield


def _sequential(maker: VolumeMaker) -> None:
    maker.volume(gp2(500), Archetype.SEQUENTIAL, "etl-scratch", low=4, high=340, io_kib=512)
    maker.volume(gp2(2000), Archetype.SEQUENTIAL, "log-archive", low=8, high=760, io_kib=256)
    maker.volume(VolumeSpec(type="st1", size_gib=4000), Archetype.SEQUENTIAL, "hdfs-1", low=4, high=120, io_kib=1024)
    maker.volume(VolumeSpec(type="sc1", size_gib=3000), Archetype.IDLE, "cold-backup", high=4, io_kib=1024)
    maker.volume(VolumeSpec(type="standard", size_gib=200), Archetype.STEADY, "ancient", low=2, high=40)


def _provisioned_volumes(maker: VolumeMaker) -> None:
    maker.volume(io("io2", 800, 12_000), Archetype.STEADY, "orders-db", low=150, high=900)
    maker.volume(io("io1", 1000, 30_000), Archetype.DIURNAL, "ledger-db", low=2000, high=9000)
    maker.volume(io("io1", 600, 8000), Archetype.STEADY, "search", low=100, high=700, hosts=(maker.host("m5.large"),))
    maker.volume(gp3(600, 12_000, 500), Archetype.DIURNAL, "cache", low=100, high=2200)
    maker.volume(gp3(300, 3000, 125), Archetype.STEADY, "web", low=50, high=400)
    maker.volume(gp3(1000, 16_000, 1000), Archetype.SEQUENTIAL, "warehouse", low=10, high=1300, io_kib=256)


def _throttled_volumes(maker: VolumeMaker) -> None:
    maker.volume(gp3(200), Archetype.THROTTLED_IOPS, "queue", low=300)
    maker.volume(gp2(1500), Archetype.THROTTLED_IOPS, "index", low=500)
    maker.volume(gp3(500, 6000, 125), Archetype.THROTTLED_THROUGHPUT, "media", low=20, io_kib=128)
    maker.volume(gp2(150), Archetype.THROTTLED_THROUGHPUT, "images", low=10, io_kib=256)
    maker.volume(gp2(100), Archetype.STARVED, "jenkins", low=40)
    maker.volume(gp2(300), Archetype.STARVED, "wiki", low=60)
    maker.volume(gp3(250), Archetype.MICRO_BURSTS, "ticker", low=40, high=420)
    maker.volume(io("io1", 200, 4000), Archetype.THROTTLED_IOPS, "oltp", low=300)


def _shared_hosts(maker: VolumeMaker) -> None:
    small = maker.host("t3.medium")
    for part in ("a", "b", "c"):
        # Three volumes share the host's maximum of 260.625 MB/s, 248.55 MiB/s, for fifteen minutes a day.
        maker.volume(gp2(500), Archetype.HOST_BOUND, f"node-{part}", low=20, high=1320, io_kib=64, hosts=(small,))
    raid = maker.host("m5.8xlarge")
    for part in ("0", "1"):
        maker.volume(gp3(800, 6000, 400), Archetype.DIURNAL, f"raid-{part}", low=400, high=3400, hosts=(raid,), seed=77)
    old = maker.host("m4.4xlarge", nitro=False)
    maker.volume(gp2(400), Archetype.QUIET_XEN, "legacy", high=300, hosts=(old,))


def _owners(maker: VolumeMaker) -> None:
    maker.volume(
        gp2(400),
        Archetype.STEADY,
        "stack-data",
        tags={"aws:cloudformation:stack-name": "billing", "aws:cloudformation:logical-id": "DataVolume"},
    )
    maker.volume(gp2(350), Archetype.STEADY, "tf-data", tags={"ManagedBy": "Terraform", "terraform-module": "data"})
    maker.volume(
        gp2(120),
        Archetype.STEADY,
        "pvc-1",
        tags={
            "kubernetes.io/created-for/pvc/name": "postgres-0",
            "kubernetes.io/created-for/pvc/namespace": "shop",
            "kubernetes.io/created-for/pv/name": "pvc-4f1c2a9e-0d3b-4c55-9a77-6a1f0e2b8d10",
            "ebs.csi.aws.com/cluster": "true",
            "KubernetesCluster": "prod",
        },
    )
    group = maker.host(aws__autoscaling__groupName="workers", aws__ec2launchtemplate__id="lt-0a1b2c3d4e5f60718")
    maker.volume(gp2(80), Archetype.STEADY, "worker-root", hosts=(group,), device="/dev/xvda")
    maker.volume(gp2(100), Archetype.STEADY, "auto-mode-node", operator="eks.amazonaws.com")


def _odd(maker: VolumeMaker) -> None:
    steady, now = Archetype.STEADY, maker.now
    maker.volume(gp2(400), steady, "being-changed", modification=change("optimizing", ago(now, hours=2), 40))
    maker.volume(gp2(220), steady, "just-changed", modification=change("modifying", ago(now, minutes=5), 0))
    maker.volume(gp2(600), steady, "changed-yesterday", modification=change("completed", ago(now, hours=20), 100))
    both = maker.host(), maker.host()
    maker.volume(io("io2", 500, 6000), steady, "cluster-fs", high=900, hosts=both, multi_attach=True)
    maker.volume(gp2(700), None, "forgotten")
    maker.volume(gp2(300), steady, "young", created=ago(now, hours=10), attached=ago(now, hours=10))
    maker.volume(gp2(450), Archetype.GAPS, "patchy", low=40, high=300)
    maker.volume(gp2(260), steady, '=HYPERLINK("x")<script>\uac00\ub098\ub2e4', tags={"team": "</td>"})
    maker.volume(gp2(900), steady, "left-alone", tags={"plimsoll:exclude": "true"})
    maker.volume(gp2(200), steady, "broken", state="error")
    maker.volume(gp2(50), None, "being-born", state="creating", created=ago(now, minutes=1))


def _striped_volumes(maker: VolumeMaker) -> None:
    """Two volumes that are one RAID-0, as measured in seed 004: together they stand at their host's 1,250 MB/s.

    Of 596 MiB/s each, in operations of 256 KiB, for fifteen minutes a day.
    """
    host = maker.host("r5b.large")
    for part in ("0", "1"):
        maker.volume(
            gp3(202, 4000, 1000),
            Archetype.HOST_BOUND,
            f"stripe-{part}",
            low=40,
            high=2384,
            io_kib=256,
            hosts=(host,),
            seed=4,
            zone=f"{maker.region}a",
            device=f"/dev/sd{'fg'[int(part)]}",
            stripe="md0",
        )


_SCENES: Final[tuple[Callable[[VolumeMaker], None], ...]] = (
    _sequential,
    _provisioned_volumes,
    _throttled_volumes,
    _shared_hosts,
    _owners,
    _odd,
)


def organization(now: datetime, *, volumes: int = LEAST_VOLUMES, seed: int = 1, striped: bool = False) -> Fleet:
    """Three accounts in two regions with at least `volumes` volumes; the last account has nothing in the last region.

    Every archetype, owner, blocker and oddity is in it; what is more than the smallest is quiet, as
    most of production, and owned by tools in the shares of an ordinary account.
    `striped` adds two volumes that are one RAID-0. The same arguments give the same fleet.
    """
    places = [(account, region) for account in ACCOUNTS for region in AWS_REGIONS][:-1]
    makers = [VolumeMaker(now, account, region, seed * 100 + index) for index, (account, region) in enumerate(places)]
    for maker, scenes in zip(makers, (_SCENES, _SCENES[:2], _SCENES[3:], _SCENES[1:3], _SCENES[:1]), strict=True):
        for scene in scenes:
            scene(maker)
    makers[0].volume(VolumeSpec(type="gp9", size_gib=100), Archetype.STEADY, "from-the-future")
    everyday = [_everyday(maker, start=index * _STEPS_APART) for index, maker in enumerate(makers)]
    _grow(makers, everyday, min(volumes, LEAST_VOLUMES))
    _grow(makers, [give_owners(maker, _quiet(maker)) for maker in makers], volumes)
    if striped:
        _striped_volumes(makers[0])
    made = tuple(volume for maker in makers for volume in maker.volumes)
    return Fleet(
        now=now,
        accounts=ACCOUNTS,
        regions=AWS_REGIONS,
        volumes=made,
        automated=frozenset({ACCOUNTS[1]}),
        opted_out=frozenset({ACCOUNTS[2]}),
        standing=bench_hosts(made),
    )


def _grow(makers: Sequence[VolumeMaker], steps: Sequence[Iterator[None]], volumes: int) -> None:
    """Lets the makers take turns until they have `volumes` together."""
    for step in cycle(steps):
        if sum(len(maker.volumes) for maker in makers) >= volumes:
            break
        next(step)


def _mixed_volumes(maker: VolumeMaker) -> Iterator[None]:
    """The mix of an ordinary fleet, one volume a step: mostly quiet gp2, some gp3, a few of everything else."""
    everyday, quiet = _everyday(maker), _quiet(maker)
    while True:
        for _ in range(38):
            next(quiet)
            yield
        for _ in range(2):
            next(everyday)
            yield
        for size_gib in (50, 100, 500):
            maker.volume(gp3(size_gib), Archetype.DIURNAL, f"web-{size_gib}", low=20, high=900)
            yield
        for rare in _RARE:
            rare(maker)
            yield


_RARE: Final[tuple[Callable[[VolumeMaker], object], ...]] = (
    lambda maker: maker.volume(gp3(400, 9000, 400), Archetype.DIURNAL, "cache", low=100, high=1500),
    lambda maker: maker.volume(io("io1", 400, 6000), Archetype.STEADY, "search", low=100, high=700),
    lambda maker: maker.volume(gp2(100), Archetype.STARVED, "jenkins", low=40),
    lambda maker: maker.volume(gp3(200), Archetype.THROTTLED_IOPS, "queue", low=300),
    lambda maker: maker.volume(gp2(500), Archetype.SEQUENTIAL, "etl", low=4, high=340, io_kib=512),
    lambda maker: maker.volume(gp2(700), None, "forgotten"),
)


class Mix(StrEnum):
    """The mix of a fleet: every kind in three accounts (also with a RAID-0), or one account's plain volumes.

    `LONG_LIVES` are volumes whose last two weeks differ from the time before, `STATES` a small account of what is paid
    for and not used.
    """

    ORGANIZATION = "organization"
    STRIPED = "striped"
    EVERYDAY = "everyday"
    QUIET = "quiet"
    LONG_LIVES = "long-lives"
    STATES = "states"


def fleet_of(volumes: int, now: datetime, *, seed: int = 1, mix: Mix = Mix.EVERYDAY) -> Fleet:
    """A fleet of `volumes` volumes. Only the organizations have more than one account and region."""
    if mix in {Mix.ORGANIZATION, Mix.STRIPED}:
        return organization(now, volumes=volumes, seed=seed, striped=mix is Mix.STRIPED)
    if mix is Mix.STATES:
        return states_fleet(now, ACCOUNTS[0], AWS_REGIONS[0], seed)
    maker = VolumeMaker(now, ACCOUNTS[0], AWS_REGIONS[0], seed)
    if mix is Mix.LONG_LIVES:
        made = tuple(long_lives(maker))
        return Fleet(now=now, accounts=ACCOUNTS[:1], regions=AWS_REGIONS[:1], volumes=made)
    for _ in zip(range(volumes), _quiet(maker) if mix is Mix.QUIET else _mixed_volumes(maker), strict=False):
        pass
    made = tuple(maker.volumes[:volumes])
    return Fleet(now=now, accounts=ACCOUNTS[:1], regions=AWS_REGIONS[:1], volumes=made, standing=bench_hosts(made))
