"""The organisation: three accounts in two regions with every workload, owner, blocker and oddity there is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import cycle
from typing import Final

from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.volume import VolumeSpec
from plimsoll.simulator.fleet import Fleet, SimulatedHost, SimulatedVolume, ago
from plimsoll.simulator.workloads import Archetype, Workload

ACCOUNTS: Final = ("111111111111", "222222222222", "333333333333")
REGIONS: Final = ("us-east-1", "eu-west-1")
GP2_SIZES_GIB: Final = (20, 100, 170, 171, 200, 249, 250, 300, 334, 500, 1000, 1500, 5334)
"""Sizes around which gp2's published limits and its break-even with gp3 change."""

LEAST_VOLUMES: Final = 120
LARGE_HOST: Final = "m5.4xlarge"


@dataclass(slots=True)
class _Maker:
    """Makes volumes of one place with ids, hosts and seeds of their own."""

    now: datetime
    account: str
    region: str
    seed: int
    made: int = 0
    volumes: list[SimulatedVolume] = field(default_factory=list)

    def host(self, type_name: str = LARGE_HOST, *, nitro: bool = True, **tags: str) -> SimulatedHost:
        """A host of its own; double underscores in a tag's name stand for colons."""
        self.made += 1
        named = tuple((key.replace("__", ":"), value) for key, value in tags.items())
        return SimulatedHost(id=f"i-{self._number():017x}", type=type_name, tags=named, nitro=nitro)

    def volume(
        self,
        spec: VolumeSpec,
        archetype: Archetype | None,
        name: str,
        *,
        low: float = 20,
        high: float = 100,
        io_kib: float = 16.0,
        hosts: tuple[SimulatedHost, ...] | None = None,
        tags: dict[str, str] | None = None,
        seed: int | None = None,
    ) -> SimulatedVolume:
        """A volume with its workload; `archetype` None: attached to nothing."""
        self.made += 1
        created = ago(self.now, days=90)
        number = self._number()
        workload = archetype and _workload(spec, archetype, number if seed is None else seed, low, high, io_kib)
        volume = SimulatedVolume(
            id=f"vol-{number:017x}",
            account=self.account,
            region=self.region,
            zone=f"{self.region}{'abc'[self.made % 3]}",
            spec=spec,
            created=created,
            state="in-use" if archetype else "available",
            tags=tuple({"Name": name, **(tags or {})}.items()),
            hosts=() if archetype is None else hosts or (self.host(),),
            attached=created if archetype else None,
            workload=workload or None,
        )
        self.volumes.append(volume)
        return volume

    def change_last(self, **changes: object) -> None:
        """Alters the volume that was made last."""
        self.volumes[-1] = replace(self.volumes[-1], **changes)  # type: ignore[arg-type]  # names of its fields

    def _number(self) -> int:
        return (self.seed * 1_000_003 + self.made) * 2_654_435_761 % (1 << 60)


def _workload(spec: VolumeSpec, archetype: Archetype, seed: int, low: float, high: float, io_kib: float) -> Workload:
    kind = volume_types().get(spec.type)
    if kind is None:
        return Workload(archetype=archetype, seed=seed, low_iops=low, high_iops=high, io_kib=io_kib)
    ceiling = kind.ceiling(spec)
    return Workload(
        archetype=archetype,
        seed=seed,
        low_iops=low,
        high_iops=high,
        io_kib=io_kib,
        ceiling_iops=ceiling.iops,
        ceiling_throughput_mib_s=ceiling.throughput_mib_s,
        sustained_iops=ceiling.sustained_iops,
    )


def gp2(size_gib: int) -> VolumeSpec:
    """A gp2 volume's spec."""
    return VolumeSpec(type="gp2", size_gib=size_gib)


def gp3(size_gib: int, iops: int = 3000, throughput_mib_s: int = 125) -> VolumeSpec:
    """A gp3 volume's spec."""
    return VolumeSpec(type="gp3", size_gib=size_gib, iops=iops, throughput_mib_s=throughput_mib_s)


def io(kind: str, size_gib: int, iops: int) -> VolumeSpec:
    """An io1 or io2 volume's spec."""
    return VolumeSpec(type=kind, size_gib=size_gib, iops=iops)


def _everyday(maker: _Maker) -> Iterator[None]:
    """Volumes that most fleets are made of, one a step."""
    patterns = cycle((Archetype.DIURNAL, Archetype.STEADY, Archetype.NIGHTLY, Archetype.BURSTS, Archetype.IDLE))
    for size_gib, pattern in zip(cycle(GP2_SIZES_GIB), patterns, strict=False):
        high = min(0.7 * 3000, 200 + 2.0 * size_gib)
        if pattern in {Archetype.STEADY, Archetype.DIURNAL, Archetype.NIGHTLY}:
            high = min(high, max(80.0, 2.4 * size_gib))
        maker.volume(gp2(size_gib), pattern, f"app-{size_gib}", low=high / 10, high=high)
        yield


def _sequential(maker: _Maker) -> None:
    maker.volume(gp2(500), Archetype.SEQUENTIAL, "etl-scratch", low=4, high=340, io_kib=512)
    maker.volume(gp2(2000), Archetype.SEQUENTIAL, "log-archive", low=8, high=760, io_kib=256)
    maker.volume(VolumeSpec(type="st1", size_gib=4000), Archetype.SEQUENTIAL, "hdfs-1", low=4, high=120, io_kib=1024)
    maker.volume(VolumeSpec(type="sc1", size_gib=3000), Archetype.IDLE, "cold-backup", high=4, io_kib=1024)
    maker.volume(VolumeSpec(type="standard", size_gib=200), Archetype.STEADY, "ancient", low=2, high=40)


def _provisioned(maker: _Maker) -> None:
    maker.volume(io("io2", 800, 12_000), Archetype.STEADY, "orders-db", low=150, high=900)
    maker.volume(io("io1", 1000, 30_000), Archetype.DIURNAL, "ledger-db", low=2000, high=9000)
    maker.volume(io("io1", 600, 8000), Archetype.STEADY, "search", low=100, high=700, hosts=(maker.host("m5.large"),))
    maker.volume(gp3(600, 12_000, 500), Archetype.DIURNAL, "cache", low=100, high=2200)
    maker.volume(gp3(300, 3000, 125), Archetype.STEADY, "web", low=50, high=400)
    maker.volume(gp3(1000, 16_000, 1000), Archetype.SEQUENTIAL, "warehouse", low=10, high=1300, io_kib=256)


def _throttled(maker: _Maker) -> None:
    maker.volume(gp3(200), Archetype.THROTTLED_IOPS, "queue", low=300)
    maker.volume(gp2(1500), Archetype.THROTTLED_IOPS, "index", low=500)
    maker.volume(gp3(500, 6000, 125), Archetype.THROTTLED_THROUGHPUT, "media", low=20, io_kib=128)
    maker.volume(gp2(150), Archetype.THROTTLED_THROUGHPUT, "images", low=10, io_kib=256)
    maker.volume(gp2(100), Archetype.STARVED, "jenkins", low=40)
    maker.volume(gp2(300), Archetype.STARVED, "wiki", low=60)
    maker.volume(gp3(250), Archetype.MICRO_BURSTS, "ticker", low=40, high=420)


def _shared_hosts(maker: _Maker) -> None:
    small = maker.host("t3.medium")
    for part in ("a", "b", "c"):
        # Three volumes share the host's maximum of 260.625 MB/s, 248.55 MiB/s, for fifteen minutes a day.
        maker.volume(gp2(500), Archetype.HOST_BOUND, f"node-{part}", low=20, high=1320, io_kib=64, hosts=(small,))
    raid = maker.host("m5.8xlarge")
    for part in ("0", "1"):
        maker.volume(gp3(800, 6000, 400), Archetype.DIURNAL, f"raid-{part}", low=400, high=3400, hosts=(raid,), seed=77)
    old = maker.host("m4.4xlarge", nitro=False)
    maker.volume(gp2(400), Archetype.QUIET_XEN, "legacy", high=300, hosts=(old,))


def _owners(maker: _Maker) -> None:
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
            "ebs.csi.aws.com/cluster": "true",
            "KubernetesCluster": "prod",
        },
    )
    group = maker.host(aws__autoscaling__groupName="workers", aws__ec2launchtemplate__id="lt-0a1b2c3d4e5f60718")
    maker.volume(gp2(80), Archetype.STEADY, "worker-root", hosts=(group,))
    maker.change_last(device="/dev/xvda")
    maker.volume(gp2(100), Archetype.STEADY, "auto-mode-node")
    maker.change_last(operator="eks.amazonaws.com")


def _odd(maker: _Maker) -> None:
    maker.volume(gp2(400), Archetype.STEADY, "being-changed")
    maker.change_last(modification=("optimizing", ago(maker.now, hours=2), 40))
    maker.volume(gp2(600), Archetype.STEADY, "changed-yesterday")
    maker.change_last(modification=("completed", ago(maker.now, hours=20), 100))
    maker.volume(io("io2", 500, 6000), Archetype.STEADY, "cluster-fs", high=900, hosts=(maker.host(), maker.host()))
    maker.change_last(multi_attach=True)
    maker.volume(gp2(700), None, "forgotten")
    maker.volume(gp2(300), Archetype.STEADY, "young")
    maker.change_last(created=ago(maker.now, hours=10), attached=ago(maker.now, hours=10))
    maker.volume(gp2(450), Archetype.GAPS, "patchy", low=40, high=300)
    maker.volume(gp2(260), Archetype.STEADY, '=HYPERLINK("x")<script>\uac00\ub098\ub2e4', tags={"team": "</td>"})
    maker.volume(gp2(900), Archetype.STEADY, "left-alone", tags={"plimsoll:exclude": "true"})
    maker.volume(gp2(200), Archetype.STEADY, "broken")
    maker.change_last(state="error")


_SCENES: Final[tuple[Callable[[_Maker], None], ...]] = (
    _sequential,
    _provisioned,
    _throttled,
    _shared_hosts,
    _owners,
    _odd,
)


def organisation(now: datetime, *, volumes: int = LEAST_VOLUMES, seed: int = 1) -> Fleet:
    """Three accounts in two regions with at least `volumes` volumes; the last account has nothing in the last region.

    Every archetype, owner, blocker and oddity is in it. The same arguments give the same fleet.
    """
    places = [(account, region) for account in ACCOUNTS for region in REGIONS][:-1]
    makers = [_Maker(now, account, region, seed * 100 + index) for index, (account, region) in enumerate(places)]
    for maker, scenes in zip(makers, (_SCENES, _SCENES[:2], _SCENES[3:], _SCENES[1:3], _SCENES[:1]), strict=True):
        for scene in scenes:
            scene(maker)
    makers[0].volume(VolumeSpec(type="gp9", size_gib=100), Archetype.STEADY, "from-the-future")
    everyday = [_everyday(maker) for maker in makers]
    for steps in cycle(everyday):
        if sum(len(maker.volumes) for maker in makers) >= volumes:
            break
        next(steps)
    return Fleet(
        now=now,
        accounts=ACCOUNTS,
        regions=REGIONS,
        volumes=tuple(volume for maker in makers for volume in maker.volumes),
        automated=frozenset({ACCOUNTS[1]}),
    )


def fleet_of(count: int, now: datetime, *, seed: int = 1) -> Fleet:
    """So many everyday gp2 volumes in one account and region, for measuring how the audit grows."""
    maker = _Maker(now, ACCOUNTS[0], REGIONS[0], seed)
    for _ in zip(range(count), _everyday(maker), strict=False):
        pass
    return Fleet(now=now, accounts=ACCOUNTS[:1], regions=REGIONS[:1], volumes=tuple(maker.volumes[:count]))
