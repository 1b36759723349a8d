"""The required demand: what an offer has to carry.

(1 + headroom) times what was observed, at least the lifted figure where the bucket is saturated, and never more than
the present host could have let through in that bucket (docs/decision.md, section 4). What was lifted is a point of one
mix: where the host would have stopped the saturated resource, it stops the other.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, Ceiling
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.lifting import LEAST_RATE
from plimsoll.domain.demand.load import Load, find_highest
from plimsoll.domain.demand.room import HostRoom, Lifted, Lifts
from plimsoll.domain.demand.trial import Required
from plimsoll.domain.headroom import Headroom, Headrooms, HeadroomSource
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.units import KIB_PER_MIB


def load_of(
    demand: Demand,
    lifted: Lifted,
    room: HostRoom,
    epochs: Sequence[Epoch],
    policy: Policy,
    headrooms: Headrooms,
    *,
    bound_times: FloatArray | None = None,
) -> Load:
    """The load of a demand, lifted by the ceilings of `epochs`, on a host with so much room.

    `bound_times` are those of all that it is a part of (`host_bound_times`), None for its own.
    """
    if bound_times is None:
        bound_times = host_bound_times(demand.rates, room, epochs)
    by_host = [scaled(demand.rates, bound_times)] if room.bound.any() else []
    beyond = lifted.operations, lifted.moved
    relief, reducing = headrooms.relief, headrooms.reducing

    def short(factor: float, room: HostRoom, lifts: Lifts, also: Sequence[Demand]) -> Demand | None:
        held_back = [_held_back(demand.rates, lifted, room, lifts)] if lifted.any.any() else []
        return find_highest([*held_back, *also, *_seconds(demand.rates, epochs, policy, factor)])

    def required(
        headroom: Headroom, room: HostRoom, lifts: Lifts, also: Sequence[Demand] = (), most: Lifts = (np.inf, np.inf)
    ) -> Required:
        limits = [np.minimum(lifted.most[resource], limit) for resource, limit in zip(RESOURCES, most, strict=True)]
        work = let_through(scaled(demand, *(np.minimum(headroom.factor, limit) for limit in limits)), room)
        return Required(work=work, short=short(headroom.factor, room, lifts, also))

    carried = required(relief, room, beyond)
    keeping = required(relief, room, beyond, by_host) if by_host else carried
    is_learned = reducing.source is HeadroomSource.LEARNED
    lessened = required(reducing, room, beyond, by_host) if is_learned else keeping
    return Load(
        reducing=lessened,
        keeping=keeping,
        raising=carried if room.relief is None else required(relief, room.in_relief, beyond),
        holding=required(reducing, room, lifted.holding, by_host, lifted.held) if lifted.frequent else lessened,
        now=Required(work=demand, short=short(1.0, room.in_relief, beyond, ())),
    )


def only(demand: Demand, where: BoolArray) -> Demand:
    """A demand with nothing in the other buckets."""
    return scaled(demand, where.astype(np.float64))


def let_through(demand: Demand, room: HostRoom) -> Demand:
    """A demand without what the host could not have let through."""
    accounting = room.ceiling.accounting
    return scaled(
        demand,
        _share(room.room[0], demand.counted_iops(accounting)),
        _share(room.room[1], demand.counted_throughput_mib_s(accounting)),
    )


def _held_back(demand: Demand, lifted: Lifted, room: HostRoom, lifts: Lifts) -> Demand:
    """What was lifted, as far as the host had room. Where it stops a point that moves along its line it stops both
    figures; elsewhere where it stops the one resource that is saturated, the other wants no more either."""
    rates = zip(room.room, _rates(demand, room.ceiling), strict=True)
    rooms = [_times(left, rate) for left, rate in rates]
    either, along = np.minimum(*rooms), np.equal(*lifts)
    by_iops, by_throughput = (lifted.saturated[resource] for resource in RESOURCES)
    operations = np.where(along | (by_throughput & ~by_iops), either, rooms[0])
    moved = np.where(along | (by_iops & ~by_throughput), either, rooms[1])
    return only(scaled(demand, np.minimum(lifts[0], operations), np.minimum(lifts[1], moved)), lifted.any)


def host_bound_times(demand: Demand, room: HostRoom, epochs: Sequence[Epoch]) -> FloatArray:
    """How many times each bucket may have been wanted where the host was the limit: until its maximum, or the volume,
    could have carried no more on either side. 0 elsewhere."""
    if not room.bound.any():
        return np.zeros(len(demand.iops))
    most = room.ceiling.iops, room.ceiling.throughput_mib_s
    rates = _rates(demand, room.ceiling)
    times = np.minimum(*(_times(np.full_like(rate, limit), rate) for limit, rate in zip(most, rates, strict=True)))
    for epoch in epochs:
        if epoch.ceiling is not None:
            limits = epoch.ceiling.iops, epoch.ceiling.throughput_mib_s
            for limit, rate in zip(limits, _rates(demand, epoch.ceiling), strict=True):
                times[epoch.buckets] = np.minimum(times, _times(np.full_like(rate, limit), rate))[epoch.buckets]
    return np.where(room.bound & np.isfinite(times), np.maximum(1.0, times), 0.0)


def _rates(demand: Demand, ceiling: Ceiling) -> tuple[FloatArray, FloatArray]:
    return demand.counted_iops(ceiling.accounting), demand.counted_throughput_mib_s(ceiling.accounting)


def _times(most: FloatArray, rate: FloatArray) -> FloatArray:
    """How many times a rate something is; infinite where there is none."""
    return np.divide(most, rate, out=np.full_like(rate, np.inf), where=rate > LEAST_RATE)


def _seconds(demand: Demand, epochs: Sequence[Epoch], policy: Policy, times: float) -> list[Demand]:
    """So many times what single seconds had, as far as the policy sizes on that; never above the ceiling of their
    epoch."""
    busiest = None if policy.size_on is SizeOn.AVERAGE else demand.busiest
    if busiest is not None:
        found = replace(
            demand,
            iops=busiest.read_iops + busiest.write_iops,
            read_iops=busiest.read_iops,
            throughput_mib_s=busiest.read_throughput_mib_s + busiest.write_throughput_mib_s,
            read_throughput_mib_s=busiest.read_throughput_mib_s,
        )
        found = only(found, busiest.exact)
    elif policy.size_on is SizeOn.BUSY_TIME and demand.busy_share is not None:
        found = scaled(demand, 1 / demand.busy_share)
    else:
        return []
    return [_clipped(scaled(found, times), epochs)]


def _clipped(demand: Demand, epochs: Sequence[Epoch]) -> Demand:
    """A demand no higher than the ceiling of each epoch."""
    operations, moved = np.ones_like(demand.iops), np.ones_like(demand.iops)
    for epoch in epochs:
        if epoch.ceiling is None:
            continue
        accounting = epoch.ceiling.accounting
        by_largest_io = epoch.ceiling.iops * accounting.io_kib / KIB_PER_MIB if accounting.io_kib else np.inf
        iops = demand.counted_iops(replace(accounting, io_kib=None))
        throughput_mib_s = demand.counted_throughput_mib_s(accounting)
        most_mib_s = min(epoch.ceiling.throughput_mib_s, by_largest_io)
        at = epoch.buckets
        operations[at] = _share(np.full_like(iops[at], epoch.ceiling.iops), iops[at])
        moved[at] = _share(np.full_like(iops[at], most_mib_s), throughput_mib_s[at])
    return scaled(demand, operations, moved)


def _share(room: FloatArray, rate: FloatArray) -> FloatArray | float:
    """What share of each rate there is room for; 1 where there is for all of them."""
    if (rate <= room).all():
        return 1.0
    found: FloatArray = np.minimum(1.0, np.divide(room, rate, out=np.ones_like(rate), where=rate > LEAST_RATE))
    return found
