"""Arrivals: what was not seen through a week where a volume is now is not known (docs/decision.md, section 7)."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from plimsoll.domain.arrays import BoolArray
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epoch import Epoch, Settles, Unsettled
from plimsoll.domain.demand.epochs import MADE_WITH_S, attached_s
from plimsoll.domain.demand.trend import observed_hours
from plimsoll.domain.groups.group import template_of
from plimsoll.domain.host import Host
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S, HOUR_S
from plimsoll.domain.volume import Volume

LEAST_VISITS: Final = 3
"""A volume that came and went so often in the window is attached for its job."""


def arrivals(
    volume: Volume, epochs: Sequence[Epoch], demand: Demand, now: datetime, policy: Policy
) -> Iterator[Settles]:
    """What is to be seen through `settle_days` first: a new volume, an attachment after a pause, another host type.

    `epochs` are those of the window of the demand, oldest first.
    """
    settle = timedelta(days=policy.settle_days)
    if volume.created + settle > now:
        yield Settles(on=volume.created + settle, why=Unsettled.NEW, since=volume.created)
    came_s = attached_s(volume)
    if came_s + policy.settle_days * DAY_S > now.timestamp() and came_s > volume.created.timestamp() + MADE_WITH_S:
        came = datetime.fromtimestamp(came_s, UTC)
        if not _hours_before(demand, came_s, round(policy.settle_days * 24)).any():
            yield Settles(on=came + settle, why=Unsettled.REATTACHED, since=came)
    moved_s = _moved_s(volume, epochs, demand, now.timestamp() - policy.memory_days * DAY_S)
    if moved_s is not None:
        moved = datetime.fromtimestamp(moved_s, UTC)
        yield Settles(on=moved + settle, why=Unsettled.MOVED, since=moved)


def _moved_s(volume: Volume, epochs: Sequence[Epoch], demand: Demand, remembered_from_s: float) -> int | None:
    """When (epoch seconds) it came to a type of host on which it was not seen before; None where it did not."""
    types = _types(epochs[-1].hosts) if epochs else frozenset()
    first = len(epochs) - 1
    while first > 0 and _types(epochs[first - 1].hosts) == types:
        first -= 1
    if first <= 0 or not types:
        return None
    moved_s, before = epochs[first].window.start_s, epochs[first - 1]
    known = _types([host for epoch in epochs[:first] for host in epoch.hosts or ()])
    known |= _types(
        [host for sight in volume.seen if remembered_from_s <= sight.at_s < moved_s for host in sight.hosts or ()]
    )
    if attached_s(volume) > moved_s - HOUR_S:  # else a host was made another one, and no attachment says which it was
        known |= _types(
            [one.host for one in volume.attachments if one.host and one.since.timestamp() < moved_s - HOUR_S]
        )
    if types <= known or (before.hosts is None and not _was_observed(demand, moved_s)):
        return None
    return None if _is_attached_for_its_job(demand, moved_s) else moved_s


def _types(hosts: Sequence[Host] | None) -> frozenset[str]:
    return frozenset(host.type for host in hosts or ())


def _was_observed(demand: Demand, until_s: float) -> bool:
    return bool(demand.observed[demand.starts_s < until_s].any())


def _is_attached_for_its_job(demand: Demand, since_s: float) -> bool:
    """Whether it has been there without a pause since, and came after one as it often did before."""
    hours = observed_hours(demand)
    since = int(since_s // HOUR_S - demand.start_s // HOUR_S)
    if since < 1 or hours[since - 1] or not hours[since + 1 :].all():
        return False
    before = hours[:since]
    return int((before[:-1] & ~before[1:]).sum()) >= LEAST_VISITS


def _hours_before(demand: Demand, until_s: float, count: int) -> BoolArray:
    """Which of so many hours before the hour of a time were observed; those before the window are left out."""
    until = int(until_s // HOUR_S - demand.start_s // HOUR_S)
    return observed_hours(demand)[max(0, until - count) : max(0, until)]


_CAME: Final = frozenset({Unsettled.MOVED, Unsettled.REATTACHED})
"""Why nobody knows on what hosts it was before."""


def may_move(volume: Volume, epochs: Sequence[Epoch], arrived: Iterable[Settles], policy: Policy, now_s: float) -> bool:
    """Whether a volume may be on another host tomorrow: a host is stopped, a template or a takeover moves it, or it was
    on another type of host in the memory."""
    types = {host.type for host in volume.hosts}
    seen = [one.hosts or () for one in volume.seen if one.at_s >= now_s - policy.memory_days * DAY_S]
    earlier = {host.type for hosts in (*(epoch.hosts or () for epoch in epochs), *seen) for host in hosts}
    return (
        any(host.stopped_since is not None for host in volume.hosts)
        or template_of(volume) is not None
        or any(tag in volume.tags for tag in policy.takeover_tags)
        or bool(earlier - types)
        or any(one.why in _CAME for one in arrived)
    )
