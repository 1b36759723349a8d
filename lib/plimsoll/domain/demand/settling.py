"""Settling: from when on it can be judged what a volume's workload does with what it has now.

A reduction waits while a limit that had held demand back was raised lately, while the volume is being changed, and
while it reads back what a snapshot had of it. Relief never waits (docs/decision.md, section 7).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume


class Unsettled(StrEnum):
    """Why a reduction waits."""

    RAISED = "raised-after-being-throttled"
    CHANGING = "modification-in-progress"
    RESTORED = "restored-from-a-snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStand:
    """How a volume stood in one epoch: its ceiling (None: not known) and the resources that it was saturated on.

    `hosts` is what its hosts carried (None: not known), `host_bound` whether that was the limit. They are `hosts_known`
    where nothing was observed as well.
    """

    start_s: int
    ceiling: Ceiling | None
    saturated: frozenset[Resource]
    hosts: Ceiling | None = None
    host_bound: bool = False
    hosts_known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Settles:
    """When a reduction can be judged, and why not before."""

    on: datetime
    why: Unsettled


def settles(volume: Volume, epochs: Sequence[EpochStand], now: datetime, policy: Policy) -> Settles | None:
    """When a volume settles, None where it has; `epochs` are oldest first, the last one is the present."""
    waits = [wait for wait in _all(volume, epochs, now, policy) if wait.on > now]
    return max(waits, key=lambda wait: wait.on, default=None)


def _all(volume: Volume, epochs: Sequence[EpochStand], now: datetime, policy: Policy) -> Iterator[Settles]:
    yield from _raised(epochs, policy)
    yield from _changing(volume, now)
    if volume.restored_from is not None:
        yield Settles(on=volume.created + timedelta(days=policy.settle_days), why=Unsettled.RESTORED)


def _raised(epochs: Sequence[EpochStand], policy: Policy) -> Iterator[Settles]:
    """From when on there is more room than there was where demand was held back, or where that is not known."""
    for place, earlier in enumerate(epochs):
        for later in epochs[place + 1 :]:
            if _held_back(earlier, later):
                start = datetime.fromtimestamp(later.start_s, UTC)
                yield Settles(on=start + timedelta(days=policy.settle_days), why=Unsettled.RAISED)
                break


def _held_back(earlier: EpochStand, later: EpochStand) -> bool:
    """Whether a resource that an epoch was saturated on could do more in a later one, or its host could. What a host
    was the limit of that is not known may be more."""
    if not earlier.hosts_known and later.hosts_known:
        return True
    if earlier.host_bound and set(raised(earlier.hosts, later.hosts)):
        return True
    return not earlier.saturated.isdisjoint(raised(earlier.ceiling, later.ceiling))


def raised(earlier: Ceiling | None, later: Ceiling | None) -> Iterator[Resource]:
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


def _changing(volume: Volume, now: datetime) -> Iterator[Settles]:
    if volume.modification is not None and volume.modification.in_progress:
        yield Settles(on=now + timedelta(days=1), why=Unsettled.CHANGING)
