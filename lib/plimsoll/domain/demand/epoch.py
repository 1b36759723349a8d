"""Epochs: spans of time in which a volume and its hosts did not change, and when the present one can be judged.

A reduction waits while a limit that had held demand back was raised lately, while the volume is being changed, while it
reads back what a snapshot had of it, and until it was seen through a week where it is (`arrivals`). Relief never waits
(docs/decision.md, section 7).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.host import Host
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume, VolumeSpec


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


def settles(
    volume: Volume, epochs: Sequence[Epoch], arrivals: Iterable[Settles], now: datetime, policy: Policy
) -> Settles | None:
    """When a volume settles, None where it has; `epochs` are oldest first, the last one is the present."""
    waits = [wait for wait in (*_all(volume, epochs, now, policy), *arrivals) if wait.on > now]
    return max(waits, key=lambda wait: wait.on, default=None)


def _all(volume: Volume, epochs: Sequence[Epoch], now: datetime, policy: Policy) -> Iterator[Settles]:
    settle = timedelta(days=policy.settle_days)
    yield from _raised(epochs, settle)
    change = volume.modification
    if change is not None and change.in_progress:
        yield Settles(on=now + timedelta(days=1), why=Unsettled.CHANGING, since=change.started)
    if volume.restored_from is not None:
        yield Settles(on=volume.created + settle, why=Unsettled.RESTORED, since=volume.created)


def _raised(epochs: Sequence[Epoch], settle: timedelta) -> Iterator[Settles]:
    """From when on there is more room than there was where demand was held back."""
    for place, earlier in enumerate(epochs):
        for later in epochs[place + 1 :]:
            why = _held_back(earlier, later)
            if why is not None:
                start = datetime.fromtimestamp(later.window.start_s, UTC)
                yield Settles(on=start + settle, why=why, since=start)
                break


def _held_back(earlier: Epoch, later: Epoch) -> Unsettled | None:
    """Whether a resource that an epoch was saturated on could do more in a later one, or its host could."""
    if not earlier.saturated.isdisjoint(find_raised(earlier.ceiling, later.ceiling)):
        return Unsettled.RAISED
    if earlier.host_bound and set(find_raised(earlier.host_ceiling, later.host_ceiling)):
        return Unsettled.LARGER_HOST
    return None


def find_raised(earlier: Ceiling | None, later: Ceiling | None) -> Iterator[Resource]:
    """The resources of which a later ceiling has more, at its highest or sustained."""
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
