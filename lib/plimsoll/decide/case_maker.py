"""Makes cases: what a volume asked for, was held back in and has to be carried, from its demand and its host's load.

The epochs of a volume over the buckets of its demand, and how it stood in each.

Arrivals: what was not seen through a week where a volume is now is not known (docs/decision.md, section 7).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from plimsoll.decide.case import Case, DecisionContext
from plimsoll.decide.groups import template_of
from plimsoll.decide.offers import ceiling_on, ceiling_on_hosts, kept_limits
from plimsoll.demand.days import NEVER, BusyHours, DaySums, observed_hours, sums_of_demand
from plimsoll.demand.demand import Demand, limits_of, scale_demand
from plimsoll.demand.epochs import (
    MADE_WITH_S,
    Epoch,
    Settles,
    Unsettled,
    attached_s,
    epochs_of,
    find_raised,
    find_settling,
)
from plimsoll.demand.host_room import HostLoad, add_relief, find_host_room
from plimsoll.demand.load import Lifted, Told, lift, load_of, sum_days
from plimsoll.demand.profile import summary_of
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import RESOURCES, UNBOUNDED, Ceiling, Resource
from plimsoll.model.market import VolumeType, type_of
from plimsoll.model.policy import Policy
from plimsoll.model.units import DAY_S, HOUR_S
from plimsoll.model.volume import Host, Volume, ceiling_of_hosts


def lay_epochs(
    volume: Volume, demand: Demand, types: Mapping[str, VolumeType], *, in_pool: bool = False
) -> list[Epoch]:
    """The epochs of the window of a demand, oldest first, over its buckets. A volume that shares a pool (`in_pool`) may
    do more than its own size carries."""
    dated = epochs_of(volume, demand.window)
    epochs = [part for epoch in dated for part in _hold_to_record(epoch, demand, types, in_pool=in_pool)]
    return [
        replace(epoch, raised=frozenset(_raised_in(epoch, epochs[place:])))
        for place, epoch in enumerate(epochs, start=1)
    ]


def _raised_in(epoch: Epoch, later: Sequence[Epoch]) -> Iterator[Resource]:
    for after in later:
        yield from find_raised(epoch.ceiling, after.ceiling)


def _hold_to_record(epoch: Epoch, demand: Demand, types: Mapping[str, VolumeType], *, in_pool: bool) -> Iterator[Epoch]:
    """An epoch over the buckets of a demand; in two if what was carried disproves its record up to a time."""
    starts_s, ceiling = demand.starts_s, _ceiling(epoch, types)
    first, after = np.searchsorted(starts_s, (epoch.window.start_s, epoch.window.end_s)).tolist()
    buckets = slice(first, after)
    if ceiling is None or in_pool:
        yield replace(epoch, buckets=buckets, ceiling=ceiling)
        return
    known, doubled = hold_against_record(demand, buckets, ceiling)
    doubled_s = None if doubled is None else int(starts_s[doubled])
    known_s = int(starts_s[known]) if known < after else epoch.window.end_s
    before, since = epoch.split_at(known_s) if known > first else (None, epoch)
    if before is not None:
        yield replace(before, buckets=slice(first, known), on_record=epoch.spec)
    if known < after or before is None:
        yield replace(since, buckets=slice(known, after), ceiling=ceiling, doubled_s=doubled_s)


def tell_days(
    volume: Volume,
    epochs: Sequence[Epoch],
    demand: Demand,
    types: Mapping[str, VolumeType],
    policy: Policy,
    days: DaySums | None = None,
) -> list[Told | None]:
    """The whole days of each epoch and of those before it; None of the first one that there is. `days` are those before
    a demand and in it, None where only the demand is known."""
    window = demand.window if days is None else replace(demand.window, start_s=days.start_s)
    dated = epochs_of(volume, window)
    for at_s in [epoch.window.end_s for epoch in epochs if epoch.on_record is not None]:
        dated = tuple(
            part
            for epoch in dated
            for part in (epoch.split_at(at_s) if epoch.window.start_s < at_s <= epoch.window.end_s else (epoch,))
            if part.window.start_s < part.window.end_s
        )
    if len(dated) == 1:
        return [None] * len(epochs)
    known = days or sums_of_demand(demand).as_history(volume, policy)
    dated = tuple(replace(epoch, ceiling=_ceiling(epoch, types)) for epoch in dated)
    midnights_s = demand.starts_s // DAY_S * DAY_S

    def tell(epoch: Epoch) -> Told | None:
        before = [earlier for earlier in dated if earlier.window.end_s <= epoch.window.start_s]
        whole = known.starts_s[known.mark_whole_days(epoch.window)]
        if not before:
            return None
        return Told(buckets=np.isin(midnights_s, whole), many=len(whole), did=tuple(sum_days(before, known)))

    return [tell(epoch) for epoch in epochs]


def judge_epochs(
    epochs: Sequence[Epoch], demand: Demand, lifted: Lifted, host: HostLoad | None, policy: Policy
) -> tuple[Epoch, ...]:
    """The epochs with the resources that were saturated, the throttled minutes, and where the host was the limit."""
    last = len(epochs) - 1
    return tuple(
        replace(
            epoch,
            saturated=frozenset(each for each in RESOURCES if lifted.saturated[each.side, epoch.buckets].any()),
            throttled_minutes=demand.minutes(_inside(lifted.any, epoch.buckets)),
            host_bound=place < last and _is_host_bound(epoch, demand, host, policy),
        )
        for place, epoch in enumerate(epochs)
    )


def of_type(epochs: Sequence[Epoch], type_name: str, demand: Demand) -> BoolArray:
    """The buckets in which the volume was of that type."""
    where = np.zeros_like(demand.observed)
    for epoch in epochs:
        where[epoch.buckets] = epoch.spec is not None and epoch.spec.type == type_name
    return where


def on_these_hosts(epochs: Sequence[Epoch], demand: Demand) -> BoolArray:
    """The buckets in which the volume was on the hosts that it is on now."""
    where = np.ones_like(demand.observed)
    present = _host_names(epochs[-1].hosts) if epochs else None
    for epoch in epochs:
        where[epoch.buckets] = _host_names(epoch.hosts) == present
    return where


def _host_names(hosts: Sequence[Host] | None) -> list[tuple[str, str]] | None:
    return None if hosts is None else sorted((host.id, host.type) for host in hosts)


def _inside(where: BoolArray, at: slice) -> BoolArray:
    """The marked buckets that lie in a slice."""
    inside = np.zeros_like(where)
    inside[at] = where[at]
    return inside


def _ceiling(epoch: Epoch, types: Mapping[str, VolumeType]) -> Ceiling | None:
    """The published ceiling of the volume's type in an epoch."""
    kind = None if epoch.spec is None else types.get(epoch.spec.type)
    if kind is None or epoch.spec is None:
        return None
    return ceiling_on(kind, epoch.spec, epoch.hosts or (), all_known=epoch.hosts is not None)


def _is_host_bound(epoch: Epoch, demand: Demand, load: HostLoad | None, policy: Policy) -> bool:
    """The only host of an earlier epoch was the limit in it."""
    traffic = traffic_before(epoch, demand, load)
    if traffic is None:
        return False
    there = _inside(np.ones_like(demand.observed), epoch.buckets)
    room = find_host_room(demand, traffic, traffic.host.ceiling, policy, there)
    return bool(room.bound[epoch.buckets].any())


def traffic_before(epoch: Epoch, demand: Demand, load: HostLoad | None) -> HostLoad | None:
    """The traffic of an earlier epoch's only host; None if it had several, or is not known.

    What all volumes did is known of the host that they are on now. Of another one only this volume's is.
    """
    if epoch.hosts is None or len(epoch.hosts) != 1:
        return None
    (host,) = epoch.hosts
    if load is not None and load.host.id == host.id:
        return load.replace_host(host)
    accounting = host.ceiling.accounting
    return HostLoad(host=host, rates=demand.count(accounting), most=demand.count_most(accounting))


SLIGHTLY: Final = 1.05
"""So many times its ceiling is what a volume that stands at it may show."""

LEAST_TWICE: Final = 1.9

MOST_TWICE: Final = 2.1
"""Between these a rate is twice the ceiling."""


def hold_against_record(demand: Demand, buckets: slice, ceiling: Ceiling) -> tuple[int, int | None]:
    """The first bucket of an epoch from which its ceiling on record holds, and one that was counted twice.

    A bucket more than 5 % above the ceiling disproves the record up to there. One minute alone of twice the ceiling
    disproves nothing: it is the second value (None without one).
    """
    first, after, _ = buckets.indices(len(demand.observed))
    times = _times_of_ceiling(demand, ceiling)
    above = first + np.flatnonzero(times[first:after] > SLIGHTLY)
    if not len(above):
        return first, None
    last = int(above[-1])
    if len(above) == 1 and _is_doubled(demand, times, last):
        return first, last
    return last + 1, None


def find_epochs_on_record(demand: Demand, ceiling: Ceiling) -> list[Epoch]:
    """The epochs of a demand with one ceiling on record: one, or two if traffic disproves the record at first.

    The first then has no known ceiling. They differ by `buckets`; the window of both is the whole.
    """
    first, _ = hold_against_record(demand, slice(None), ceiling)
    unknown = [Epoch(window=demand.window, spec=None, buckets=slice(0, first))] if first else []
    known = Epoch(window=demand.window, spec=None, ceiling=ceiling, buckets=slice(first, len(demand.observed)))
    return [*unknown, known]


def clip_to_record(demand: Demand, epochs: Sequence[Epoch]) -> FloatArray | float:
    """The factor on each bucket, at most 1, that keeps it under its epoch's ceiling; 1.0 if none is above."""
    clip = np.ones(len(demand.observed))
    for epoch in epochs:
        if epoch.ceiling is not None:
            times = _times_of_ceiling(demand, epoch.ceiling)[epoch.buckets]
            clip[epoch.buckets] = 1 / np.maximum(1.0, times)
    return clip if (clip < 1).any() else 1.0


def _times_of_ceiling(demand: Demand, ceiling: Ceiling) -> FloatArray:
    """The rate of each bucket over a ceiling, on its higher side.

    0 if it is not known whether the bucket is the sum of several minutes.
    """
    times = (demand.count(ceiling.accounting) / limits_of(ceiling)).max(axis=0)
    return times if demand.undecided is None else np.where(demand.undecided, 0.0, times)


def _is_doubled(demand: Demand, times: FloatArray, place: int) -> bool:
    """One minute has twice the ceiling between two observed minutes that have not."""
    if not 0 < place < len(times) - 1 or not LEAST_TWICE <= times[place] <= MOST_TWICE:
        return False
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), times.shape)
    beside = [place - 1, place + 1]
    return bool(
        lengths_s[place] == demand.resolution_s and demand.observed[beside].all() and (times[beside] <= SLIGHTLY).all()
    )


LEAST_VISITS: Final = 3
"""A volume that came and went so often in the window is attached for its job."""


def arrivals(
    volume: Volume, epochs: Sequence[Epoch], demand: Demand, now: datetime, policy: Policy
) -> Iterator[Settles]:
    """Yields the arrivals that a reduction waits for, `settle_days` each: a new volume, a return, another host type.

    A return is an attachment after a pause. `epochs` are those of the window of the demand, oldest first.
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
    """True if the volume is here without a pause since then, and often came after a pause before."""
    hours = observed_hours(demand)
    since = int(since_s // HOUR_S - demand.start_s // HOUR_S)
    if since < 1 or hours[since - 1] or not hours[since + 1 :].all():
        return False
    before = hours[:since]
    return int((before[:-1] & ~before[1:]).sum()) >= LEAST_VISITS


def _hours_before(demand: Demand, until_s: float, count: int) -> BoolArray:
    """Marks which of the `count` hours before a time were observed; hours before the window are left out."""
    until = int(until_s // HOUR_S - demand.start_s // HOUR_S)
    return observed_hours(demand)[max(0, until - count) : max(0, until)]


_CAME: Final = frozenset({Unsettled.MOVED, Unsettled.REATTACHED})
"""Why nobody knows on what hosts it was before."""


def may_move(volume: Volume, epochs: Sequence[Epoch], arrived: Iterable[Settles], policy: Policy, now_s: float) -> bool:
    """True if a volume may be on another host tomorrow.

    So it is if a host is stopped, a template or a takeover moves it, or it was on another type of host in the memory.
    """
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


def case_of(
    volume: Volume,
    demand: Demand,
    host: HostLoad | None,
    context: DecisionContext,
    days: DaySums | None = None,
    earlier: BusyHours | None = NEVER,
    *,
    in_pool: bool = False,
) -> Case:
    """The case of a volume; `host` is the traffic of its only host, None where it has several or an unknown one. `days`
    are those before the window and in it, None where only the window is known, and `earlier` the busiest hours before
    it, None where they are still to be read. `in_pool`: it shares what it can do with others."""
    policy, types = context.policy, context.market.types
    hosts = ceiling_of_hosts(volume)
    if context.short_lived:
        volume = replace(volume, restored_from=None)
    done = without_restore(demand, volume, policy)
    epochs = lay_epochs(volume, done, types, in_pool=in_pool)
    demand = done if in_pool else scale_demand(done, clip_to_record(done, epochs))
    kind = type_of(volume.spec, types)
    ceiling = ceiling_on_hosts(kind, volume.spec, volume)
    present = as_balance_shows(ceiling, demand, of_type(epochs, volume.spec.type, demand))
    there = on_these_hosts(epochs, demand)
    room = find_host_room(done, host, hosts, policy, there).mask(there)
    lifted = lift(demand, epochs, policy, tell_days(volume, epochs, done, types, policy, days))
    if lifted.frequent:
        room = add_relief(room, host, demand, lifted.demand, lifted.saturated, (volume.id,), policy)
    load = load_of(demand, lifted, room, epochs, policy, context.headrooms)
    summary = summary_of(demand, lifted, room, policy)
    judged = judge_epochs(epochs, done, lifted, host, policy)
    arrived = list(arrivals(volume, epochs, demand, context.now, policy))
    most = UNBOUNDED if room.disproved else hosts
    moves = may_move(volume, epochs, arrived, policy, context.now.timestamp())
    return Case(
        volume=volume,
        context=context,
        done=done,
        demand=demand,
        present=present,
        hosts=most,
        lifted=lifted,
        room=room,
        load=load,
        held=load,
        settles=find_settling(volume, judged, arrived, context.now, policy),
        summary=summary,
        epochs=judged,
        pool_gib=volume.spec.size_gib,
        kept=kept_limits(volume, kind, present, most, may_move=moves),
        products=context.shelf.products(volume, context.market, policy, summary.mean_iops),
        earlier=earlier,
    )


def renew_case(case: Case, context: DecisionContext, earlier: BusyHours | None) -> Case:
    """The case of the same demand, host and policy in a later context: memory and risk are other, and of the load the
    headroom."""
    if case.headrooms != context.headrooms:
        load = load_of(case.demand, case.lifted, case.room, case.epochs, case.policy, context.headrooms)
        case = replace(case, load=load, held=load)
    return (
        case if case.context == context and case.earlier is earlier else replace(case, context=context, earlier=earlier)
    )


def without_restore(demand: Demand, volume: Volume, policy: Policy) -> Demand:
    """A demand without what a volume did while it fetched its data from a snapshot: that was not its workload's."""
    if volume.restored_from is None:
        return demand
    begun = demand.starts_s >= policy.filled_s(volume.created)
    if begun.all():
        return demand
    balance, busiest = demand.balance_pct, demand.busiest
    return replace(
        scale_demand(demand, begun.astype(np.float64)),
        exceeded={side: check & begun for side, check in demand.exceeded.items()},
        balance_pct=None if balance is None else np.where(begun, balance, np.nan),
        busiest=None if busiest is None else replace(busiest, peaks=busiest.peaks * begun),
    )


def as_balance_shows(ceiling: Ceiling, demand: Demand, where: BoolArray) -> Ceiling:
    """A present ceiling whose credits are, in the beginning, what the balance shows, and spent by bytes alone: what it
    did is known. The balance is its own `where` the volume was of its type."""
    if not ceiling.buckets:
        return ceiling
    seen = np.array([]) if demand.balance_pct is None else demand.balance_pct
    known = seen[where & ~np.isnan(seen)] if len(seen) else seen
    missing = 1 - float(known[0]) / 100 if len(known) else 0.0
    buckets = tuple(
        replace(bucket, least_charge_mib=0.0, spent_at_start=missing * bucket.capacity) for bucket in ceiling.buckets
    )
    return replace(ceiling, buckets=buckets)
