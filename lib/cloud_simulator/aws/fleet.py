"""The fleet: a pure description of simulated volumes and hosts, from which the server answers."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from cloud_simulator.aws.keeping import NOTHING, Keeping
from cloud_simulator.metrics.events import Disturbance
from cloud_simulator.metrics.history import fold
from cloud_simulator.metrics.live_minutes import HostMost, Life, live_on
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.metrics.series import ATTACHED, SERIES
from cloud_simulator.metrics.sums import Sums
from cloud_simulator.metrics.unrest import Unrest
from cloud_simulator.metrics.workloads import Workload, minutes, stopped_until_s
from cloud_simulator.published import VolumeSpec, Window
from cloud_simulator.units import KIB, MINUTE_S, FloatArray

HOME_KEY: Final = "AKIAPLIMSOLLSIMULATED"
"""The access key of the organization's first account; the others are reached by assuming a role."""

BALANCED: Final = frozenset({"gp2", "st1", "sc1"})
"""Types for which CloudWatch publishes a burst balance."""


RATES: Final = frozenset({"mean_iops", "mean_kib_s"})
"""The rates of each minute, published as the checks are."""

_STANDING: Final = timedelta(days=30)
_STARTING: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedHost:
    """An instance of a type that AWS knows. `five_minutes`: its volumes publish one sum each five minutes. `stopped`
    is since when it is."""

    id: str
    type: str
    tags: tuple[tuple[str, str], ...] = ()
    nitro: bool = True
    five_minutes: bool = False
    ebs_optimized: bool = True
    root_device: str = "/dev/xvda"
    stopped: datetime | None = None
    image: str = "ami-0123456789abcdef0"


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingHost:
    """A host that exists whether or not a volume is attached to it."""

    account: str
    region: str
    zone: str
    host: SimulatedHost


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedChange:
    """A volume's latest change, what the volume was before (None: half as large), and what was asked for.

    `target` None: what the volume is now; `ends` None: an hour after it began, once it has ended.
    """

    state: str
    started: datetime
    progress: int
    original: VolumeSpec | None = None
    target: VolumeSpec | None = None
    ends: datetime | None = None

    def after(self, volume: "SimulatedVolume") -> VolumeSpec:
        """The spec that was asked for."""
        return self.target or volume.spec

    def before(self, volume: "SimulatedVolume") -> VolumeSpec:
        """The volume's spec before the change."""
        spec = volume.spec
        return self.original or replace(spec, size_gib=max(1, spec.size_gib // 2))

    @property
    def ended(self) -> datetime | None:
        """The end of the change. None while it runs."""
        return (self.ends or self.started + timedelta(hours=1)) if self.state in {"completed", "failed"} else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEvent:
    """An event of a volume or its host in CloudTrail: the call, its time, its parameters and its answer."""

    name: str
    at: datetime
    asked: dict[str, Any]
    answered: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVolume:
    """A volume, where it is, what it is attached to and what it does.

    `attachment` is the state of its attachments, `source` the volume that it is a copy of, `snapshot` what it was
    restored from, at once where that was `restored_fast`, `stripe` the md device that it is a member of, `detached`
    since when it has no host any more. `lived` are its modifications since the fleet was laid out, `laid_out` its specs
    until then; `disturbances`, `host_most` and `stops_s` are what else happened to it, or to its host, since.
    """

    id: str
    account: str
    region: str
    zone: str
    spec: VolumeSpec
    created: datetime
    state: str = "in-use"
    tags: tuple[tuple[str, str], ...] = ()
    hosts: tuple[SimulatedHost, ...] = ()
    device: str = "/dev/sdf"
    attached: datetime | None = None
    attachment: str = "attached"
    source: str | None = None
    stripe: str | None = None
    multi_attach: bool = False
    operator: str | None = None
    modification: SimulatedChange | None = None
    snapshot: str = ""
    restored_fast: bool = False
    detached: datetime | None = None
    past: tuple[PastEvent, ...] = ()
    workload: Workload | None = None
    lived: tuple[Modification, ...] = ()
    laid_out: tuple[tuple[float, VolumeSpec], ...] = ()
    disturbances: tuple[Disturbance, ...] = ()
    host_most: tuple[HostMost, ...] = ()
    stops_s: tuple[tuple[float, float], ...] = ()

    @property
    def metrics_from_s(self) -> float:
        """The time of its first point in CloudWatch (epoch seconds). Infinite while it is attached to nothing."""
        if not (self.hosts or self.detached) or self.attached is None or self.workload is None:
            return float("inf")
        return self.attached.timestamp()

    @property
    def metrics_until_s(self) -> float:
        """The end of its metrics: it was detached, or its hosts were stopped; infinite while one runs."""
        if self.detached is not None:
            return self.detached.timestamp()
        return max((host.stopped.timestamp() if host.stopped else float("inf") for host in self.hosts), default=0.0)

    @property
    def specs(self) -> list[tuple[float, VolumeSpec]]:
        """Its specs, each with the time from which it holds (epoch seconds, 0 for the first)."""
        if self.lived:
            moved = [(each.moved_s, each.after) for each in self.lived if not each.is_failed]
            return [*self.laid_out, *moved]
        if self.modification is None:
            return [(0.0, self.spec)]
        return [(0.0, self.modification.before(self)), (self.modification.started.timestamp(), self.spec)]

    @property
    def life(self) -> Life | None:
        """All that decides what it does from its first change on. None for a volume that does nothing."""
        if self.workload is None:
            return None
        return Life(
            workload=self.workload,
            spec=self.lived[0].before if self.lived else self.spec,
            modifications=self.lived,
            disturbances=self.disturbances,
            hosts=self.host_most,
            stops_s=self.stops_s,
        )

    @property
    def version(self) -> str:
        """A name of its own that changes when its past or future minutes do."""
        happened = len(self.lived), len(self.disturbances), len(self.stops_s)
        return f"{self.id}/{happened}" if any(happened) else self.id

    def while_balanced(self, balance_pct: FloatArray, first_minute: int) -> FloatArray:
        """The minutes of a balance, without a point while it was of no size and type that has one."""
        balances = balance_pct.copy()
        for from_s, spec in self.specs:
            if not _has_balance(spec):
                balances[max(0, int(-(-from_s // MINUTE_S)) - first_minute) :] = np.nan
            elif from_s:
                at = max(0, int(-(-from_s // MINUTE_S)) - first_minute)
                balances[at:] = balance_pct[at:]
        return balances

    def publishes(self, series: str, instance_id: str | None) -> bool:
        """CloudWatch has the series, under the volume alone (None) or under the volume and that instance."""
        if series in ATTACHED or series in RATES:
            host = next((host for host in self.hosts if host.id == instance_id), None)
            return host is not None and host.nitro and not self.multi_attach and self.spec.type != "standard"
        if instance_id is not None:
            return False
        if series == "burst_balance_pct":
            return any(_has_balance(spec) for _, spec in self.specs)
        return series != "idle_s" or not self.multi_attach


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All volumes, by account and region; `now` is when it was laid out.

    Compute Optimizer Automation is active in the `automated` accounts, and Compute Optimizer is not in those that have
    `opted_out`. `unrest` says how uneven latencies are (None: not at all).
    """

    now: datetime
    accounts: tuple[str, ...]
    regions: tuple[str, ...]
    volumes: tuple[SimulatedVolume, ...]
    automated: frozenset[str] = frozenset()
    opted_out: frozenset[str] = frozenset()
    standing: tuple[StandingHost, ...] = ()
    unrest: Unrest | None = None
    launched: Mapping[str, datetime] = field(default_factory=dict)  # by host; of others it follows from their volumes
    keeping: dict[tuple[str, str], Keeping] = field(default_factory=dict)
    _by_place: dict[tuple[str, str], list[SimulatedVolume]] = field(default_factory=dict, init=False, repr=False)
    _by_id: dict[str, SimulatedVolume] = field(default_factory=dict, init=False, repr=False)
    _hosts: dict[tuple[str, str], dict[str, SimulatedHost]] = field(default_factory=dict, init=False, repr=False)
    _zones: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for volume in self.volumes:
            place = (volume.account, volume.region)
            self._by_place.setdefault(place, []).append(volume)
            self._by_id[volume.id] = volume
            self._hosts.setdefault(place, {}).update((host.id, host) for host in volume.hosts)
            for host in volume.hosts:
                self._zones.setdefault(host.id, volume.zone)
        for standing_host in self.standing:
            self._hosts.setdefault((standing_host.account, standing_host.region), {})[standing_host.host.id] = (
                standing_host.host
            )
            self._zones[standing_host.host.id] = standing_host.zone

    def at(self, account: str, region: str) -> list[SimulatedVolume]:
        """The volumes of one account in one region."""
        return self._by_place.get((account, region), [])

    def kept_at(self, account: str, region: str) -> Keeping:
        """What one account keeps in one region beside its volumes."""
        return self.keeping.get((account, region), NOTHING)

    def volume(self, volume_id: str) -> SimulatedVolume | None:
        """A volume by its id."""
        return self._by_id.get(volume_id)

    def hosts(self, account: str, region: str) -> dict[str, SimulatedHost]:
        """The instances of one account in one region, by id."""
        return self._hosts.get((account, region), {})

    def launch_time(self, volumes: Iterable[SimulatedVolume]) -> datetime:
        """The last start of the volumes' host: before the first was attached, or at the end of its last stop.

        A stop shows as a gap in the metrics of any of them.
        """
        volumes = list(volumes)
        laid_out = [self.launched[host.id] for volume in volumes for host in volume.hosts if host.id in self.launched]
        if laid_out:
            return min(laid_out)
        stops_s = [
            stopped_until_s(volume.workload, self.now.timestamp())
            for volume in volumes
            if volume.workload is not None and volume.metrics_from_s < float("inf")
        ]
        attached = [volume.attached or volume.created for volume in volumes]
        stopped = [datetime.fromtimestamp(stop_s, UTC) for stop_s in stops_s if stop_s is not None]
        return max(stopped, default=min(attached, default=self.now - _STANDING) - _STARTING)

    def zone_of(self, host_id: str) -> str:
        """The zone of an instance: that of the first volume on it, or its own."""
        return self._zones[host_id]


def served_minutes(volume: SimulatedVolume, first_minute: int, count: int) -> dict[str, FloatArray]:
    """Everything the volume did in a span of minutes since the epoch; NaN before it was attached."""
    workload = volume.workload
    if workload is None:
        raise ValueError(f"{volume.id} has no workload")
    made = minutes(workload, first_minute, count)
    if volume.life is not None:
        live_on(made, volume.life, first_minute, count)
    stops = volume.metrics_until_s < float("inf")
    absent = int(max(0, min(count, -(-volume.metrics_from_s // MINUTE_S) - first_minute)))
    known = int(max(0, min(count, volume.metrics_until_s // MINUTE_S - first_minute))) if stops else count
    for values in made.values():
        values[:absent] = float("nan")
        values[known:] = float("nan")
    made["burst_balance_pct"] = volume.while_balanced(made["burst_balance_pct"], first_minute)
    if any(host.five_minutes for host in volume.hosts):
        made = in_five_minutes(made)
    made["mean_iops"] = (made["read_ops"] + made["write_ops"]) / MINUTE_S
    made["mean_kib_s"] = (made["read_bytes"] + made["write_bytes"]) / KIB / MINUTE_S
    return made


def _has_balance(spec: VolumeSpec) -> bool:
    return spec.type in BALANCED and not (spec.type == "gp2" and spec.size_gib >= 1000)


def in_five_minutes(made: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The minutes of whole days as they are published each five: one figure in the first of them, and no other."""
    folded = {}
    for name, values in made.items():
        folded[name] = np.full(len(values), np.nan)
        folded[name][::5] = fold(values.reshape(-1, 5), "Minimum" if name == "burst_balance_pct" else "Sum")
    return folded


def volume_truth(volume: SimulatedVolume, window: Window) -> Sums | None:
    """A volume's full-resolution sums over a window, without a cloud in between. None if it has no metrics."""
    if volume.metrics_from_s == float("inf"):
        return None
    made = served_minutes(volume, window.start_s // MINUTE_S, window.buckets(MINUTE_S))
    instance = volume.hosts[0].id if volume.hosts else None
    known = {
        series: made[series] for series in SERIES if volume.publishes(series, instance if series in ATTACHED else None)
    }
    return Sums(start_s=window.start_s, period_s=MINUTE_S, **known)


BENCH_TAG: Final = "plimsoll:bench"
SMALL_BENCH_TAG: Final = "plimsoll:bench-small"
_KINDS: Final = ((BENCH_TAG, "m5.24xlarge"), (SMALL_BENCH_TAG, "m5.large"))
"""The large one sustains 80,000 IOPS and 2,375 MB/s, the small one 3,600 and 81.25."""


def bench_hosts(volumes: Iterable[SimulatedVolume]) -> tuple[StandingHost, ...]:
    """The bench hosts of every account and zone that has volumes; the same places give the same hosts."""
    places = sorted({(volume.account, volume.region, volume.zone) for volume in volumes})
    return tuple(
        StandingHost(account=account, region=region, zone=zone, host=_host(account, zone, tag, type_name))
        for account, region, zone in places
        for tag, type_name in _KINDS
    )


def _host(account: str, zone: str, tag: str, type_name: str) -> SimulatedHost:
    number = hashlib.sha256(f"{account}/{zone}/{tag}".encode()).hexdigest()[:17]
    return SimulatedHost(id=f"i-{number}", type=type_name, tags=(("Name", f"bench-{zone}"), (tag, "true")))
