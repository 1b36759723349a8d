"""Epochs: the spans of a window in which a volume's configuration and its hosts did not change.

What a volume could carry at a time is what it was then, not what it is now. What is on record about the past is used,
the best first: the latest modification with its original values, when it was attached and made, and what earlier audits
or the cloud's own log saw. With nothing on record the present configuration stands for the whole window. Where a change
is on record and what was before it is not, the epoch before has no known ceiling (docs/decision.md, section 1).

Epochs: spans of time in which a volume and its hosts did not change, and when the present one can be judged.

A reduction waits while a limit that had held demand back was raised lately, while the volume is being changed, while it
reads back what a snapshot had of it, and until it was seen through a week where it is (`arrivals`). Relief never waits
(docs/decision.md, section 7).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final, Generic, TypeVar

import numpy as np

from plimsoll.model.arrays import IntArray
from plimsoll.model.ceiling import Ceiling, Resource
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import Policy
from plimsoll.model.units import HOUR_S, MINUTE_S
from plimsoll.model.volume import Host, Seen, Volume, VolumeSpec
from plimsoll.reading.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """A span of time in which a volume and its hosts did not change."""

    window: Window
    spec: VolumeSpec | None
    """None where it is not known."""
    hosts: tuple[Host, ...] | None = None
    """None where they are not known."""
    ceiling: Ceiling | None = None
    """The ceiling of the volume on these hosts, None where it is not known: then nothing is saturated."""
    buckets: slice = field(default_factory=lambda: slice(None), compare=False)
    """Its buckets of a demand."""
    raised: frozenset[Resource] = field(default=frozenset(), compare=False)
    """The resources of which a later epoch has more: that one shows what the workload does, so nothing is lifted."""
    saturated: frozenset[Resource] = field(default=frozenset(), compare=False)
    throttled_minutes: float = 0.0
    host_bound: bool = field(default=False, compare=False)
    """An earlier epoch whose only host was the limit in it."""
    on_record: VolumeSpec | None = field(default=None, compare=False)
    """The spec by a record that its traffic disproves."""
    doubled_s: int | None = field(default=None, compare=False)
    """The minute, in epoch seconds, that was counted twice."""

    @property
    def host_ceiling(self) -> Ceiling | None:
        """The ceiling of its hosts together, None where they are not known."""
        if not self.hosts:
            return None
        carried = self.hosts[0].ceiling
        for host in self.hosts[1:]:
            carried += host.ceiling
        return carried

    def split_at(self, at_s: int) -> "tuple[Epoch, Epoch]":
        """The epoch as two: its spec is known from a time on."""
        before, since = replace(self.window, end_s=at_s), replace(self.window, start_s=at_s)
        return replace(self, window=before, spec=None), replace(self, window=since)


class Unsettled(StrEnum):
    """Why a reduction waits."""

    RAISED = "raised-after-being-throttled"
    LARGER_HOST = "larger-host-after-being-throttled"
    MOVED = "moved-to-another-type-of-host"
    REATTACHED = "attached-after-a-pause"
    NEW = "new"
    RISING = "demand-rises"
    CHANGING = "modification-in-progress"
    RESTORED = "restored-from-a-snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settles:
    """When a reduction can be judged, why not before, and since when that is so."""

    on: datetime
    why: Unsettled
    since: datetime


def find_settling(
    volume: Volume, epochs: Sequence[Epoch], arrivals: Iterable[Settles], now: datetime, policy: Policy
) -> Settles | None:
    """The last thing that a reduction waits for; None if the volume has settled. `epochs` are oldest first, the last is
    now."""
    waits = [wait for wait in (*_find_waits(volume, epochs, now, policy), *arrivals) if wait.on > now]
    return max(waits, key=lambda wait: wait.on, default=None)


def _find_waits(volume: Volume, epochs: Sequence[Epoch], now: datetime, policy: Policy) -> Iterator[Settles]:
    """Yields all that a reduction waits for: a raised limit, a change that still runs (a day more), and a restore."""
    settle = timedelta(days=policy.settle_days)
    yield from _find_raises(epochs, settle)
    change = volume.modification
    if change is not None and change.is_running:
        yield Settles(on=now + timedelta(days=1), why=Unsettled.CHANGING, since=change.started)
    if volume.restored_from is not None:
        yield Settles(on=volume.created + settle, why=Unsettled.RESTORED, since=volume.created)


def _find_raises(epochs: Sequence[Epoch], settle: timedelta) -> Iterator[Settles]:
    """Yields a wait for each epoch that held demand back, from the first later epoch that has more room."""
    for place, earlier in enumerate(epochs):
        for later in epochs[place + 1 :]:
            why = _held_back(earlier, later)
            if why is not None:
                start = datetime.fromtimestamp(later.window.start_s, UTC)
                yield Settles(on=start + settle, why=why, since=start)
                break


def _held_back(earlier: Epoch, later: Epoch) -> Unsettled | None:
    """The reason to wait where a later epoch has more of what held demand back; None without one.

    A saturated resource of the volume goes before a host that was the limit.
    """
    if not earlier.saturated.isdisjoint(find_raised(earlier.ceiling, later.ceiling)):
        return Unsettled.RAISED
    if earlier.host_bound and set(find_raised(earlier.host_ceiling, later.host_ceiling)):
        return Unsettled.LARGER_HOST
    return None


def find_raised(earlier: Ceiling | None, later: Ceiling | None) -> Iterator[Resource]:
    """Yields the resources that a later ceiling has more of, at its highest or sustained; none if either is unknown."""
    if earlier is None or later is None:
        return
    now = later.counted_as(earlier.accounting)
    if now.iops > earlier.iops or now.sustained_iops > earlier.sustained_iops:
        yield Resource.IOPS
    if (
        now.throughput_mib_s > earlier.throughput_mib_s
        or now.sustained_throughput_mib_s > earlier.sustained_throughput_mib_s
    ):
        yield Resource.THROUGHPUT


What = TypeVar("What")

MADE_WITH_S: Final = HOUR_S
"""A volume that was attached within this time of being made was made for that host: it had no other before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn(Generic[What]):
    """From a time on it was that; None: it is not known what."""

    from_s: int
    what: What | None


def epochs_of(volume: Volume, window: Window, seen: Iterable[Seen] = ()) -> tuple[Epoch, ...]:
    """The epochs of a window, oldest first; they cover it, and neighbors differ. `seen` is beside what the volume has.

    A bucket in which a change was made belongs to the epoch before it. A host that was stopped and started again is the
    same one, unless its type is another.
    """
    known = sorted((*volume.seen, *seen), key=lambda sighting: sighting.at_s)
    if not known and volume.modification is None and attached_s(volume) <= window.start_s - MINUTE_S:
        return (Epoch(window=window, spec=volume.spec, hosts=_hosts_now(volume)),)
    specs, hosts = _specs(volume, window, known), _hosts(volume, window, known)
    edges_s = (*(turn.from_s for turn in specs), *(turn.from_s for turn in hosts))
    starts = sorted({min(max(edge_s, window.start_s), window.end_s) for edge_s in edges_s})
    epochs: list[Epoch] = []
    for start_s, end_s in pairwise([*starts, window.end_s]):
        epoch = Epoch(
            window=Window(start_s=start_s, end_s=end_s), spec=_find_at(specs, start_s), hosts=_find_at(hosts, start_s)
        )
        if start_s >= end_s:
            continue
        if epochs and (epochs[-1].spec, _host_keys(epochs[-1].hosts)) == (epoch.spec, _host_keys(epoch.hosts)):
            epoch = replace(epoch, window=replace(epoch.window, start_s=epochs.pop().window.start_s))
        epochs.append(epoch)
    return tuple(epochs)


def find_credited_windows(volume: Volume, window: Window, types: Mapping[str, VolumeType]) -> tuple[Window, ...]:
    """The spans of a window in which it was of a size and type that bursts: a balance is published in these alone."""
    return tuple(
        epoch.window for epoch in epochs_of(volume, window) if epoch.spec is not None and _bursts(epoch.spec, types)
    )


def _bursts(spec: VolumeSpec, types: Mapping[str, VolumeType]) -> bool:
    kind = types.get(spec.type)
    return kind is not None and bool(kind.ceiling(spec).buckets)


def _find_at(turns: Sequence[_Turn[What]], at_s: int) -> What | None:
    """The thing that held at a time; None if it is not known. The first turn reaches back to the beginning."""
    return [turn.what for turn in turns if turn.from_s <= at_s][-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight(Generic[What]):
    """A sighting: one thing of a volume at a time (epoch seconds). `made`: it became so just then."""

    at_s: int
    what: What
    made: bool


def _specs(volume: Volume, window: Window, seen: Sequence[Seen]) -> list[_Turn[VolumeSpec]]:
    """The turns of a volume's spec, oldest first; the first is from the window's beginning on."""
    sights = [_Sight(at_s=when.at_s, what=when.spec, made=when.made) for when in seen if when.spec is not None]
    change = volume.modification
    if change is None:
        return list(_turns(window, sights, last=volume.spec))
    from_s = round_up_to_minute(change.started.timestamp())
    before = [sight for sight in sights if sight.at_s < from_s]
    return [*_turns(window, before, last=change.original), _Turn(from_s=from_s, what=volume.spec)]


def _hosts(volume: Volume, window: Window, seen: Sequence[Seen]) -> list[_Turn[tuple[Host, ...]]]:
    """The turns of a volume's hosts, oldest first. A host that was seen stands until the next attachment."""
    since_s, now = attached_s(volume), _hosts_now(volume)
    sights = [_Sight(at_s=when.at_s, what=when.hosts, made=when.made) for when in seen if when.hosts is not None]
    if since_s <= volume.created.timestamp() + MADE_WITH_S:
        return list(_turns(window, sights, last=now, same=_are_alike, until_s=_restarted_s(sights, now)))
    from_s = round_up_to_minute(since_s)
    before = [sight for sight in sights if sight.at_s < from_s]
    after = [sight for sight in sights if sight.at_s >= from_s]
    late = _turns(window, after, last=now, same=_are_alike, until_s=_restarted_s(after, now))
    return [
        *_turns(window, before, last=before[-1].what if before else None, same=_are_alike),
        *(replace(turn, from_s=max(turn.from_s, from_s)) for turn in late),
    ]


def attached_s(volume: Volume) -> float:
    """The time (epoch seconds) since which the volume is where it is; minus infinity if it never was elsewhere."""
    return max((taken.since.timestamp() for taken in volume.attachments if not taken.at_start), default=float("-inf"))


def _hosts_now(volume: Volume) -> tuple[Host, ...] | None:
    """Its hosts; None where any of them is not known."""
    hosts = volume.hosts
    return hosts if len(hosts) == len(volume.attachments) else None


def _restarted_s(sights: Sequence[_Sight[tuple[Host, ...]]], now: tuple[Host, ...] | None) -> int | None:
    """When the hosts that were last seen became what they are now, in epoch seconds: with another type a host was
    started anew. None where that is not known."""
    if not sights or now is None or [host.id for host in sights[-1].what] != [host.id for host in now]:
        return None
    starts = [host.running_since.timestamp() for host in now if host.running_since is not None]
    return round_up_to_minute(max(starts)) if starts and max(starts) >= sights[-1].at_s else None


def _turns(
    window: Window,
    seen: Sequence[_Sight[What]],
    *,
    last: What | None,
    same: Callable[[What | None, What | None], bool] = lambda earlier, later: earlier == later,
    until_s: int | None = None,
) -> Iterator[_Turn[What]]:
    """Yields the turns between sightings, oldest first; `last` is how it is at the window's end.

    Between two sightings that differ the change was at a time that is not known, unless the later one says that it was
    made just then: the turn between is None. `until_s` is when the last became so; None if that is not known.
    """
    if not seen:
        yield _Turn(from_s=window.start_s, what=last)
        return
    yield _Turn(from_s=window.start_s, what=None if seen[0].made else seen[0].what)
    yield _Turn(from_s=seen[0].at_s, what=seen[0].what)
    for earlier, later in pairwise(seen):
        if not same(earlier.what, later.what):
            if not later.made:
                yield _Turn(from_s=earlier.at_s, what=None)
            yield _Turn(from_s=later.at_s, what=later.what)
    if not same(seen[-1].what, last):
        known = until_s is not None
        yield _Turn(from_s=until_s if until_s is not None else seen[-1].at_s, what=last if known else None)


def round_up_to_minute(moment_s: float) -> int:
    """The first whole minute at or after a time, in epoch seconds."""
    return -int(-moment_s // MINUTE_S) * MINUTE_S


def _host_keys(hosts: tuple[Host, ...] | None) -> tuple[tuple[str, str], ...] | None:
    """Hosts by what makes them others: who they are, and of which type."""
    return None if hosts is None else tuple(sorted((host.id, host.type) for host in hosts))


def _are_alike(hosts: tuple[Host, ...] | None, others: tuple[Host, ...] | None) -> bool:
    return _host_keys(hosts) == _host_keys(others)


def edges_of(volume: Volume, window: Window, policy: Policy) -> IntArray:
    """When an epoch of the volume begins in a window, or its own work after a restore, in epoch seconds: on the grid of
    the resolution."""
    times_s = [float(epoch.window.start_s) for epoch in epochs_of(volume, window)]
    if volume.restored_from is not None:
        times_s.append(policy.filled_s(volume.created))
    step_s = policy.resolution_s
    edges_s = {-(-int(np.ceil(time_s)) // step_s) * step_s for time_s in times_s}
    return np.array(sorted(edge_s for edge_s in edges_s if window.start_s < edge_s < window.end_s), dtype=np.int64)
