"""The living fleet: a fleet as time passes, with all that was changed of it since it was laid out."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Final, Self

from moto.ec2.models.instance_types import INSTANCE_TYPES

from cloud_simulator.aws.cloudtrail_events import modify_event, retype_event
from cloud_simulator.aws.fleet import Fleet, PastEvent, SimulatedChange, SimulatedHost, SimulatedVolume
from cloud_simulator.clock import SimulatedClock
from cloud_simulator.faults import Refused
from cloud_simulator.metrics.events import Disturbance, FleetEvent, HostMove, OthersModification
from cloud_simulator.metrics.live_minutes import HostMost
from cloud_simulator.metrics.modifications import HOURS_A_TIB, Modification, plan_modification
from cloud_simulator.published import VolumeSpec, instance_limits
from cloud_simulator.units import DAY_S, HOUR_S

MODIFICATIONS_A_DAY: Final = 4
_MODIFIABLE: Final = frozenset({"in-use", "available"})
_GIB_A_TIB: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ModificationRules:
    """The region's quotas of what is under modification at once, and the tag that a volume must have to be modified.

    A tag is KEY or KEY=VALUE, as the condition of a role's policy has it; None: no condition.
    """

    storage_gib: int = 500 * _GIB_A_TIB
    io2_storage_gib: int = 20 * _GIB_A_TIB
    io1_iops: int = 500_000
    io2_iops: int = 100_000
    tag: str | None = None


@dataclass(slots=True)
class _Lives:
    """All that happened: modifications oldest first, and tags, by volume; moves by host; and what others will do."""

    modifications: dict[str, list[Modification]] = field(default_factory=dict)
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    disturbances: list[Disturbance] = field(default_factory=list)
    moves: dict[str, list[HostMove]] = field(default_factory=dict)
    coming: list[OthersModification] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)


@dataclass(frozen=True, kw_only=True)
class LivingFleet(Fleet):
    """A fleet with its clock: volumes are as they are now, with their modifications and tags."""

    clock: SimulatedClock
    rules: ModificationRules = field(default_factory=ModificationRules)
    _lives: _Lives = field(default_factory=_Lives, init=False, repr=False)
    _laid_out_ends_s: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        Fleet.__post_init__(self)
        for volume in self.volumes:
            laid_out = volume.modification
            if laid_out is not None and laid_out.ended is None:
                takes_s = HOURS_A_TIB * HOUR_S * volume.spec.size_gib / _GIB_A_TIB
                ends_s = max(laid_out.started.timestamp() + takes_s, self.now.timestamp() + HOUR_S)
                self._laid_out_ends_s[volume.id] = ends_s

    @classmethod
    def begin(cls, fleet: Fleet, clock: SimulatedClock | None = None, rules: ModificationRules | None = None) -> Self:
        """The fleet, alive from when it was laid out."""
        laid_out = {part.name: getattr(fleet, part.name) for part in fields(Fleet) if part.init}
        return cls(**laid_out, clock=clock or SimulatedClock(fleet.now), rules=rules or ModificationRules())

    @property
    def lock(self) -> threading.RLock:
        """The lock under which volumes are changed."""
        return self._lives.lock

    def at(self, account: str, region: str) -> list[SimulatedVolume]:
        """The volumes of one account in one region, as they are now."""
        return [self.as_now(volume) for volume in Fleet.at(self, account, region)]

    def volume(self, volume_id: str) -> SimulatedVolume | None:
        """A volume by its id, as it is now."""
        laid_out = Fleet.volume(self, volume_id)
        return None if laid_out is None else self.as_now(laid_out)

    def hosts(self, account: str, region: str) -> dict[str, SimulatedHost]:
        """The instances of one account in one region, as they are now, by id."""
        now_s = self.clock.now_s()
        return {name: self._move(host, now_s) for name, host in Fleet.hosts(self, account, region).items()}

    def launch_time(self, volumes: Iterable[SimulatedVolume]) -> datetime:
        """The last start of the volumes' host."""
        on_host, now_s = list(volumes), self.clock.now_s()
        started_s = [ends_s for volume in on_host for _, ends_s in volume.stops_s if ends_s <= now_s]
        before = Fleet.launch_time(self, on_host)
        return max([before, *(datetime.fromtimestamp(at_s, UTC) for at_s in started_s)])

    def as_now(self, volume: SimulatedVolume, now_s: float | None = None) -> SimulatedVolume:
        """A volume that was laid out or made since, with what happened to it until now, or until a time."""
        lives, now_s = self._lives, self.clock.now_s() if now_s is None else now_s
        if volume.id in lives.tags:
            volume = replace(volume, tags=tuple({**dict(volume.tags), **lives.tags[volume.id]}.items()))
        volume = self._disturb(volume, now_s)
        done = lives.modifications.get(volume.id)
        if done:
            return _with_modifications(volume, tuple(done), now_s)
        ends_s = self._laid_out_ends_s.get(volume.id)
        if ends_s is None or volume.modification is None or now_s < ends_s:
            return volume
        ends = datetime.fromtimestamp(ends_s, UTC)
        return replace(volume, modification=replace(volume.modification, state="completed", progress=100, ends=ends))

    def add(self, *events: FleetEvent) -> None:
        """Adds events, of the past, the present or the future."""
        with self.lock:
            for event in events:
                if isinstance(event, Disturbance):
                    self._lives.disturbances.append(event)
                elif isinstance(event, HostMove):
                    moves = self._lives.moves.setdefault(event.host_id, [])
                    moves.append(event)
                    moves.sort(key=lambda move: move.at)
                else:
                    self._lives.coming.append(event)
                    self._lives.coming.sort(key=lambda other: other.at)

    def settle(self) -> None:
        """Lets others do what they were to do until now."""
        with self.lock:
            while self._lives.coming and self._lives.coming[0].at <= self.clock.now():
                event = self._lives.coming.pop(0)
                laid_out, at_s = Fleet.volume(self, event.volume_id), event.at.timestamp()
                if laid_out is None:
                    continue
                with suppress(Refused):
                    self.modify(self.as_now(laid_out, at_s), event.after, beside=(), at_s=at_s, by_others=True)

    def host_events(self, account: str, region: str) -> list[PastEvent]:
        """The changes of type of the hosts of a place until now, as CloudTrail has them."""
        now, here = self.clock.now(), Fleet.hosts(self, account, region)
        moves = (move for host_id in here for move in self._lives.moves.get(host_id, ()))
        return [retype_event(move.host_id, move.at, move.type) for move in moves if move.type and move.at <= now]

    def _move(self, host: SimulatedHost, now_s: float) -> SimulatedHost:
        """A host with the type that it has at a time."""
        types = [move.type for move in self._lives.moves.get(host.id, ()) if move.type and move.at.timestamp() <= now_s]
        return replace(host, type=types[-1]) if types else host

    def _disturb(self, volume: SimulatedVolume, now_s: float) -> SimulatedVolume:
        """A volume with what happened to its zone, its application and its host."""
        lives, tags = self._lives, dict(volume.tags)
        disturbances = tuple(each for each in lives.disturbances if each.is_of(volume.id, volume.zone, tags))
        moves = [move for host in volume.hosts for move in lives.moves.get(host.id, ())]
        if not disturbances and not moves and volume.id not in lives.modifications:
            return volume
        return replace(
            volume,
            hosts=tuple(self._move(host, now_s) for host in volume.hosts),
            disturbances=disturbances,
            host_most=tuple(_host_most(volume, moves)),
            stops_s=tuple(move.span_s for move in moves),
        )

    def modifications(self, volume_id: str | None = None) -> list[Modification]:
        """All modifications of a volume, or of every one, since the fleet was laid out."""
        with self.lock:
            if volume_id is not None:
                return list(self._lives.modifications.get(volume_id, ()))
            return [each for done in self._lives.modifications.values() for each in done]

    def modify(
        self,
        volume: SimulatedVolume,
        after: VolumeSpec,
        *,
        beside: Iterable[SimulatedVolume],
        must_fail: bool = False,
        at_s: float | None = None,
        by_others: bool = False,
    ) -> Modification:
        """Begins a modification of a volume as it is now; `beside` are all volumes of the place.

        Raises Refused with EC2's codes. Who calls it has the `lock` since the volume was read. Others are bound to no
        tag. `at_s` None: now.
        """
        with self.lock:
            now_s = self.clock.now_s() if at_s is None else at_s
            if not by_others:
                self._check_tag(volume)
            _check_modifiable(volume, after)
            self._check_rate(volume, now_s)
            self._check_quotas(volume, after, beside)
            done = self._lives.modifications.setdefault(volume.id, [])
            modification = plan_modification(
                volume.id, volume.spec, after, number=len(done), now_s=now_s, must_fail=must_fail
            )
            done.append(modification)
            return modification

    def tag(self, volume_id: str, tags: Mapping[str, str]) -> None:
        """Adds tags to a volume. They replace tags with the same keys."""
        with self.lock:
            self._lives.tags[volume_id] = {**self._lives.tags.get(volume_id, {}), **tags}

    def _check_tag(self, volume: SimulatedVolume) -> None:
        if self.rules.tag is None:
            return
        key, has_value, value = self.rules.tag.partition("=")
        tags = dict(volume.tags)
        if key not in tags or (has_value and tags[key] != value):
            raise Refused(
                "UnauthorizedOperation",
                "You are not authorized to perform this operation. User is not authorized to perform: "
                f"ec2:ModifyVolume on resource: volume/{volume.id} because no identity-based policy allows the "
                "ec2:ModifyVolume action.",
                403,
            )

    def _check_rate(self, volume: SimulatedVolume, now_s: float) -> None:
        running = volume.modification
        if running is not None and running.ended is None:
            raise Refused(
                "IncorrectModificationState",
                f"Volume {volume.id} cannot be modified in modification state {running.state.upper()}",
            )
        begun = sorted(at_s for at_s in _begun_s(volume) if at_s > now_s - DAY_S)
        if len(begun) >= MODIFICATIONS_A_DAY:
            free = datetime.fromtimestamp(begun[-MODIFICATIONS_A_DAY] + DAY_S, UTC)
            raise Refused(
                "VolumeModificationRateExceeded",
                "You've reached the maximum modification rate per volume limit. A volume can be modified at most "
                f"{MODIFICATIONS_A_DAY} times in 24 hours. The next modification is possible at "
                f"{free:%Y-%m-%dT%H:%M:%SZ}.",
            )

    def _check_quotas(self, volume: SimulatedVolume, after: VolumeSpec, beside: Iterable[SimulatedVolume]) -> None:
        """Raises Refused if too much of the type would be under modification at once."""
        of_type = after.type
        busy = [
            other
            for other in beside
            if other.modification is not None and other.modification.ended is None and other.spec.type == of_type
        ]
        rules = self.rules
        most_gib = rules.io2_storage_gib if of_type == "io2" else rules.storage_gib
        if sum(other.spec.size_gib for other in busy) + volume.spec.size_gib > most_gib:
            raise Refused(
                "VolumeModificationSizeLimitExceeded",
                f"You've reached the limit of {most_gib} GiB of {of_type} storage under modification in this Region.",
            )
        most_iops = {"io1": rules.io1_iops, "io2": rules.io2_iops}.get(of_type)
        iops = sum(other.spec.iops or 0 for other in busy) + (after.iops or 0)
        if most_iops is not None and iops > most_iops:
            raise Refused(
                "MaxIOPSLimitExceeded",
                f"You've reached the limit of {most_iops} {of_type} IOPS under modification in this Region.",
            )


def _with_modifications(volume: SimulatedVolume, done: tuple[Modification, ...], now_s: float) -> SimulatedVolume:
    """A volume that was modified since it was laid out."""
    *earlier, latest = done
    events = (modify_event(volume.id, each.started, each.before, each.after) for each in earlier)
    laid_out = volume.modification
    first = (
        () if laid_out is None else (modify_event(volume.id, laid_out.started, laid_out.before(volume), volume.spec),)
    )
    return replace(
        volume,
        spec=latest.spec(now_s),
        modification=_show(latest, now_s),
        laid_out=tuple(volume.specs),
        lived=done,
        past=(*volume.past, *first, *events),
    )


def _host_most(volume: SimulatedVolume, moves: Iterable[HostMove]) -> Iterator[HostMost]:
    """The most IOPS and MiB/s of a volume's only host, by the type that it has from a time on."""
    if len(volume.hosts) != 1:
        return
    types = [(0.0, volume.hosts[0].type), *((move.span_s[0], move.type) for move in moves if move.type)]
    for from_s, type_name in types:
        described = INSTANCE_TYPES.get(type_name)
        limits = None if described is None else instance_limits(described)
        if limits is not None:
            yield from_s, limits.maximum_iops, limits.maximum_throughput_mib_s


def _show(modification: Modification, now_s: float) -> SimulatedChange:
    """A modification as EC2 describes it at a time."""
    ended = None if modification.is_running(now_s) else datetime.fromtimestamp(modification.ended_s, UTC)
    return SimulatedChange(
        state=modification.state(now_s),
        started=modification.started,
        progress=modification.progress_pct(now_s),
        original=modification.before,
        target=modification.after,
        ends=ended,
    )


def _begun_s(volume: SimulatedVolume) -> list[float]:
    """The times of all requests to modify a volume (epoch seconds)."""
    past = [event.at.timestamp() for event in volume.past if event.name == "ModifyVolume"]
    return past if volume.modification is None else [*past, volume.modification.started.timestamp()]


def _check_modifiable(volume: SimulatedVolume, after: VolumeSpec) -> None:
    """Raises Refused for a volume, or a configuration, that is never modified in this way."""
    if volume.operator is not None:
        raise Refused("OperationNotPermitted", f"The volume '{volume.id}' is managed by {volume.operator}.")
    if volume.state not in _MODIFIABLE:
        raise Refused("IncorrectState", f"The volume '{volume.id}' is in the '{volume.state}' state.")
    before = volume.spec
    if after.size_gib < before.size_gib:
        raise Refused("InvalidParameterValue", "New size cannot be smaller than existing size")
    if volume.multi_attach and (before.type == "io1" or after.type != before.type):
        raise Refused("OperationNotPermitted", f"The Multi-Attach volume '{volume.id}' cannot be modified in this way.")
    is_root = any(volume.device == host.root_device for host in volume.hosts)
    if is_root and after.type in {"st1", "sc1"}:
        raise Refused("InvalidParameterValue", f"A boot volume cannot be of the type {after.type}.")
