"""Loads: what an offer has to carry for each purpose.

(1 + headroom) times what was observed, at least the lifted figure where the bucket is saturated, and never more than
the present host could have let through in that bucket (docs/decision.md, section 4). What was lifted is a point of one
mix: where the host would have stopped the saturated resource, it stops the other.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plimsoll.demand.demand import (
    IOPS,
    MIB_S,
    Demand,
    add_demands,
    divide_rates,
    find_fit,
    find_highest,
    limits_of,
    scale_demand,
)
from plimsoll.demand.epochs import Epoch
from plimsoll.demand.host_room import HostRoom
from plimsoll.demand.lifting import Lifted, Lifts
from plimsoll.demand.trial import Required
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Accounting, Need
from plimsoll.model.policy import Headroom, Headrooms, HeadroomSource, OfferPurpose, Policy, SizeOn
from plimsoll.model.units import KIB_PER_MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A workload as a configuration has to carry it."""

    reducing: Required
    """For a cheaper configuration, with what the host holds back."""
    keeping: Required
    """For a same-limits replacement to go first: as `reducing`, without headroom that was learned for reductions."""
    raising: Required
    """For a dearer configuration, without what the host holds back."""
    holding: Required
    """For a cheaper one that throttles no more than today: in frequently saturated buckets up to the ceiling alone."""
    now: Required
    """Without headroom, to judge the present configuration by."""
    offers: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The offers made for it: a volume is decided on more than once, with more of its past each time."""

    def of(self, purpose: OfferPurpose) -> Required:
        """The required demand of an offer for that purpose."""
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
    rates = demand.without_spread
    if bound_times is None:
        bound_times = host_bound_times(rates, room, epochs)
    by_host = [scale_demand(rates, bound_times)] if room.bound.any() else []
    relief, reducing = headrooms.relief, headrooms.reducing

    def find_short(factor: float, room: HostRoom, lifts: Lifts, also: Sequence[Demand]) -> Demand | None:
        held_back = [_lift_in_room(rates, lifted, room, lifts)] if lifted.any.any() else []
        return find_highest([*held_back, *also, *_scale_seconds(rates, epochs, policy, factor)])

    def require(
        headroom: Headroom, room: HostRoom, lifts: Lifts, also: Sequence[Demand] = (), most: Lifts = np.inf
    ) -> Required:
        times = np.minimum(headroom.factor, np.minimum(lifted.most, most))
        work = let_through(scale_demand(demand, times), room)
        return Required(work=work, short=find_short(headroom.factor, room, lifts, also))

    carried = require(relief, room, lifted.times)
    keeping = require(relief, room, lifted.times, by_host) if by_host else carried
    is_learned = reducing.source is HeadroomSource.LEARNED
    lessened = require(reducing, room, lifted.times, by_host) if is_learned else keeping
    return Load(
        reducing=lessened,
        keeping=keeping,
        raising=carried if room.relief is None else require(relief, room.in_relief, lifted.times),
        holding=require(reducing, room, lifted.holding, by_host, lifted.held) if lifted.frequent else lessened,
        now=Required(work=demand, short=find_short(1.0, room.in_relief, lifted.times, ())),
    )


def let_through(demand: Demand, room: HostRoom) -> Demand:
    """A demand without what the host could not have let through."""
    return scale_demand(demand, find_fit(room.room, demand.count(room.ceiling.accounting)))


def _lift_in_room(demand: Demand, lifted: Lifted, room: HostRoom, lifts: Lifts) -> Demand:
    """The saturated buckets of a demand, lifted as far as the host had room.

    Where it stops a point that moves along its line it stops both figures; elsewhere where it stops the one side that
    is saturated, the other wants no more either.
    """
    rooms = divide_rates(room.room, demand.count(room.ceiling.accounting))
    lifts = np.broadcast_to(lifts, rooms.shape)
    by_other_alone = lifted.saturated[::-1] & ~lifted.saturated
    rooms = np.where((lifts[IOPS] == lifts[MIB_S]) | by_other_alone, rooms.min(axis=0), rooms)
    return scale_demand(demand, np.where(lifted.any, np.minimum(lifts, rooms), 0.0))


def host_bound_times(demand: Demand, room: HostRoom, epochs: Sequence[Epoch]) -> FloatArray:
    """How many times each bucket may have been wanted where the host was the limit: until its maximum, or the volume,
    could have carried no more on either side. 0 elsewhere."""
    if not room.bound.any():
        return np.zeros(len(demand.observed))
    ceilings = [(room.ceiling, slice(None))]
    ceilings += [(epoch.ceiling, epoch.buckets) for epoch in epochs if epoch.ceiling is not None]
    times = np.full(len(demand.observed), np.inf)
    for ceiling, buckets in ceilings:
        fit = divide_rates(limits_of(ceiling), demand.count(ceiling.accounting)).min(axis=0)
        times[buckets] = np.minimum(times, fit)[buckets]
    return np.where(room.bound & np.isfinite(times), np.maximum(1.0, times), 0.0)


def _scale_seconds(demand: Demand, epochs: Sequence[Epoch], policy: Policy, times: float) -> list[Demand]:
    """Single seconds `times` over, as far as the policy sizes on them; never above the ceiling of their epoch."""
    busiest = None if policy.size_on is SizeOn.AVERAGE else demand.busiest
    if busiest is not None:
        rates = np.stack([busiest.peaks.sum(axis=1), busiest.peaks[:, 0]], axis=1)
        seconds = replace(demand, rates=rates * busiest.exact)
    elif policy.size_on is SizeOn.BUSY_TIME and demand.busy_share is not None:
        seconds = scale_demand(demand, 1 / demand.busy_share)
    else:
        return []
    return [_clip_to_ceilings(scale_demand(seconds, times), epochs)]


def _clip_to_ceilings(demand: Demand, epochs: Sequence[Epoch]) -> Demand:
    """A demand no higher than the ceiling of each epoch."""
    times = np.ones((2, len(demand.observed)))
    for epoch in epochs:
        if epoch.ceiling is None:
            continue
        accounting, limits = epoch.ceiling.accounting, limits_of(epoch.ceiling)
        if accounting.io_kib:
            limits[MIB_S] = min(epoch.ceiling.throughput_mib_s, epoch.ceiling.iops * accounting.io_kib / KIB_PER_MIB)
        counted = demand.count(accounting.by_operation)
        times[:, epoch.buckets] = find_fit(limits, counted[:, epoch.buckets])
    return scale_demand(demand, times)


def find_highest_load(loads: Sequence[Load]) -> Load:
    """The load of each of several where any of them may have to do what any did."""
    return _combine_loads(loads, _combine_highest)


def _combine_highest(required: Sequence[Required]) -> Required:
    works = [each.work for each in required]
    return Required(work=find_highest(works) or works[0], short=find_highest(_shorts_of(required)))


def add_loads(loads: Sequence[Load]) -> Load:
    """The load of several workloads together."""
    return _combine_loads(loads, _add_required)


def _add_required(required: Sequence[Required]) -> Required:
    work = add_demands([each.work for each in required])
    if not _shorts_of(required):
        return Required(work=work, short=work)
    parts = [find_highest([each.work.without_spread, *_shorts_of([each])]) for each in required]
    return Required(work=work, short=add_demands([part for part in parts if part is not None]))


def scale_load(load: Load, times: float) -> Load:
    """A load `times` over, what was held back included."""
    return _combine_loads([load], lambda required: _scale_required(required[0], times))


def _scale_required(required: Required, times: float) -> Required:
    short = None if required.short is None else scale_demand(required.short, times)
    return Required(work=scale_demand(required.work, times), short=short)


def _combine_loads(loads: Sequence[Load], combine: Callable[[Sequence[Required]], Required]) -> Load:
    known: dict[tuple[int, ...], Required] = {}

    def combine_once(required: Sequence[Required]) -> Required:
        key = tuple(map(id, required))
        if key not in known:
            known[key] = combine(required)
        return known[key]

    return Load(
        reducing=combine_once([load.reducing for load in loads]),
        keeping=combine_once([load.keeping for load in loads]),
        raising=combine_once([load.raising for load in loads]),
        holding=combine_once([load.holding for load in loads]),
        now=combine([load.now for load in loads]),
    )


def _shorts_of(required: Sequence[Required]) -> list[Demand]:
    return [each.short for each in required if each.short is not None]


def peak_rates(demand: Demand, accounting: Accounting) -> Need:
    """The highest rates of a demand, as an accounting counts them."""
    return peaks(Required(work=demand), accounting)


def peaks(required: Required, accounting: Accounting) -> Need:
    """The highest rates of what is required, as an accounting counts them."""
    iops, throughput_mib_s = required.peaks(accounting)
    return Need(iops=iops, throughput_mib_s=throughput_mib_s)
