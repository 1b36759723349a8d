"""The required demand: what an offer has to carry.

(1 + headroom) times what was observed, at least the lifted figure where the bucket is saturated, and never more than
the present host could have let through in that bucket (docs/decision.md, section 4). What was lifted is a point of one
mix: where the host would have stopped the saturated resource, it stops the other.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, Accounting, Ceiling, Resource
from plimsoll.domain.demand.adding import together
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.demand.epochs import Epoch
from plimsoll.domain.demand.lifting import LEAST_RATE, Lifted, Lifts
from plimsoll.domain.demand.need import Need, OfferPurpose
from plimsoll.domain.demand.saturation import HostRoom
from plimsoll.domain.demand.trial import Required
from plimsoll.domain.headroom import Headroom, Headrooms, HeadroomSource
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.units import KIB_PER_MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A workload as something has to carry it.

    `reducing` is what a cheaper configuration must carry, `raising` a dearer one: where the host was the limit, or
    would be, only a reduction has to carry what it holds back. `keeping` is what a same-limits replacement must carry
    to go first: as `reducing`, but without headroom that was learned for reductions alone. `holding` is what something
    cheaper must carry that throttles no more than today: in frequently saturated buckets up to the ceiling alone. `now`
    is without headroom, what the present one is judged by. `offers` are those that were made for it: volumes are
    decided on more than once, with more of their past each time.
    """

    reducing: Required
    keeping: Required
    raising: Required
    holding: Required
    now: Required
    offers: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, purpose: OfferPurpose) -> Required:
        """What a configuration must carry that is chosen for that."""
        match purpose:
            case OfferPurpose.REDUCE:
                return self.reducing
            case OfferPurpose.RELIEVE:
                return self.raising
            case OfferPurpose.HOLD:
                return self.holding


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
        return _highest([*held_back, *also, *_seconds(demand.rates, epochs, policy, factor)])

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


def highest_load(loads: Sequence[Load]) -> Load:
    """What each of several must carry where any of them may have to do what any did."""
    return _combined(loads, lambda found: Required(work=highest(_works(found)), short=_highest(_shorts(found))))


def added_load(loads: Sequence[Load]) -> Load:
    """What several workloads ask for together."""
    return _combined(loads, _added)


def _added(found: Sequence[Required]) -> Required:
    work = together(_works(found))
    if not _shorts(found):
        return Required(work=work, short=work)
    parts = [one.work.rates if one.short is None else highest([one.work.rates, one.short]) for one in found]
    return Required(work=work, short=together(parts))


def raised(load: Load, times: float) -> Load:
    """So many times a load, what was held back included."""
    return _combined(
        [load],
        lambda found: Required(
            work=scaled(found[0].work, times), short=_highest([scaled(short, times) for short in _shorts(found)])
        ),
    )


def peak_rates(demand: Demand, accounting: Accounting) -> Need:
    """The highest rates of a demand, as an accounting counts them."""
    return peaks(Required(work=demand, short=None), accounting)


def peaks(required: Required, accounting: Accounting) -> Need:
    """The highest rates of what is required, as an accounting counts them."""
    return Need(
        iops=required.peak(accounting, Resource.IOPS),
        throughput_mib_s=required.peak(accounting, Resource.THROUGHPUT),
    )


def only(demand: Demand, where: BoolArray) -> Demand:
    """A demand with nothing in the other buckets."""
    return scaled(demand, where.astype(np.float64))


def highest(demands: Sequence[Demand]) -> Demand:
    """The highest of several demands in each bucket, figure by figure; reads are those of the one that has it."""
    found = demands[0]
    for other in demands[1:]:
        faster, larger = other.iops > found.iops, other.throughput_mib_s > found.throughput_mib_s
        found = replace(
            found,
            iops=np.where(faster, other.iops, found.iops),
            read_iops=np.where(faster, other.read_iops, found.read_iops),
            throughput_mib_s=np.where(larger, other.throughput_mib_s, found.throughput_mib_s),
            read_throughput_mib_s=np.where(larger, other.read_throughput_mib_s, found.read_throughput_mib_s),
        )
    return found


def _highest(demands: Sequence[Demand]) -> Demand | None:
    return highest(demands) if demands else None


def let_through(demand: Demand, room: HostRoom) -> Demand:
    """A demand without what the host could not have let through."""
    accounting = room.ceiling.accounting
    return scaled(
        demand,
        _share(room.room[0], demand.counted_iops(accounting)),
        _share(room.room[1], demand.counted_throughput_mib_s(accounting)),
    )


def _combined(loads: Sequence[Load], combine: Callable[[Sequence[Required]], Required]) -> Load:
    found: dict[tuple[int, ...], Required] = {}

    def combined(wanted: Sequence[Required]) -> Required:
        key = tuple(map(id, wanted))
        if key not in found:
            found[key] = combine(wanted)
        return found[key]

    return Load(
        reducing=combined([load.reducing for load in loads]),
        keeping=combined([load.keeping for load in loads]),
        raising=combined([load.raising for load in loads]),
        holding=combined([load.holding for load in loads]),
        now=combine([load.now for load in loads]),
    )


def _works(found: Sequence[Required]) -> list[Demand]:
    return [one.work for one in found]


def _shorts(found: Sequence[Required]) -> list[Demand]:
    return [one.short for one in found if one.short is not None]


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
