"""The epochs of a volume over the buckets of its demand, and how it stood in each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.domain.demand.days import DaySums, Told, sum_days, sums_of_demand
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epoch import Epoch, find_raised
from plimsoll.domain.demand.epochs import epochs_of
from plimsoll.domain.demand.host_room import HostLoad, find_host_room
from plimsoll.domain.demand.lifting import Lifted
from plimsoll.domain.demand.rates import limits_of
from plimsoll.domain.host import Host
from plimsoll.domain.offers.offer import ceiling_on
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import VolumeType


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
        whole = known.starts_s[known.whole_in(epoch.window)]
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
        return load.before(host)
    accounting = host.ceiling.accounting
    return HostLoad(host=host, rates=demand.count(accounting), most=demand.count_most(accounting))


SLIGHTLY: Final = 1.05
"""So many times its ceiling is what a volume that stands at it may show."""

LEAST_TWICE: Final = 1.9

MOST_TWICE: Final = 2.1
"""Between these a rate is twice the ceiling."""


def hold_against_record(demand: Demand, buckets: slice, ceiling: Ceiling) -> tuple[int, int | None]:
    """The first of an epoch's buckets from which on its ceiling on record holds, and one that was counted twice (None:
    none was)."""
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
    """The epochs of a demand that had one ceiling by the record."""
    first, _ = hold_against_record(demand, slice(None), ceiling)
    unknown = [Epoch(window=demand.window, spec=None, buckets=slice(0, first))] if first else []
    known = Epoch(window=demand.window, spec=None, ceiling=ceiling, buckets=slice(first, len(demand.observed)))
    return [*unknown, known]


def clip_to_record(demand: Demand, epochs: Sequence[Epoch]) -> FloatArray | float:
    """How many times each bucket counts, so that none is above the ceiling of its epoch."""
    clip = np.ones(len(demand.observed))
    for epoch in epochs:
        if epoch.ceiling is not None:
            times = _times_of_ceiling(demand, epoch.ceiling)[epoch.buckets]
            clip[epoch.buckets] = 1 / np.maximum(1.0, times)
    return clip if (clip < 1).any() else 1.0


def _times_of_ceiling(demand: Demand, ceiling: Ceiling) -> FloatArray:
    """How many times a ceiling each bucket was; 0 where it is not known whether it is the sum of several minutes."""
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
