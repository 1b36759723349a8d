"""Settling: from when on it can be judged what a volume's workload does with what it has now.

A reduction waits while a limit that had held demand back was raised lately, while the volume is being changed, while it
reads back what a snapshot had of it, and until it was seen through a week where it is (`arrivals`). Relief never waits
(docs/decision.md, section 7).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume


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
