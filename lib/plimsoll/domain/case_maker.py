"""Makes cases: what a volume asked for, was held back in and has to be carried, from its demand and its host's load."""

from dataclasses import replace

import numpy as np

from plimsoll.domain.arrays import BoolArray
from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import UNBOUNDED, Ceiling
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.arrivals import arrivals, may_move
from plimsoll.domain.demand.days import DaySums
from plimsoll.domain.demand.demand import Demand, scale_demand
from plimsoll.domain.demand.demand_profile import summary_of
from plimsoll.domain.demand.epoch import settles
from plimsoll.domain.demand.host_room import HostLoad, add_relief, find_host_room
from plimsoll.domain.demand.lifting import lift
from plimsoll.domain.demand.load import load_of
from plimsoll.domain.demand.trend import NEVER, BusyHours
from plimsoll.domain.demand_epochs import clip_to_record, judge_epochs, lay_epochs, of_type, on_these_hosts, tell_days
from plimsoll.domain.groups.hosting import ceiling_of_hosts
from plimsoll.domain.offers.offer import ceiling_on_hosts, kept_limits
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import type_of


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
        demand=demand,
        present=present,
        hosts=most,
        lifted=lifted,
        room=room,
        load=load,
        held=load,
        settles=settles(volume, judged, arrived, context.now, policy),
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
