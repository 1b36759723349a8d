"""A case: everything known of one volume when it is decided upon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import PLAIN, UNBOUNDED, Ceiling, Resource
from plimsoll.domain.demand.arrivals import arrivals
from plimsoll.domain.demand.counting import weighted
from plimsoll.domain.demand.day_sums import DaySums
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.demand.epochs import Epoch, epochs_of
from plimsoll.domain.demand.lifting import Lifted, lift
from plimsoll.domain.demand.need import NOTHING, Need, OfferPurpose
from plimsoll.domain.demand.record import clip_to_record
from plimsoll.domain.demand.required import Load, load_of, peak_rates
from plimsoll.domain.demand.saturation import HostLoad, HostRoom, host_room, with_relief
from plimsoll.domain.demand.settling import Settles, settles
from plimsoll.domain.demand.trend import (
    AUDIT_DAYS,
    NEVER,
    ROUNDING,
    USUAL_TIMES,
    BusyHours,
    Ceilings,
    Rise,
    Trend,
    busy_hours,
)
from plimsoll.domain.demand_epochs import judge_epochs, lay_epochs, of_type, on_these_hosts, tell_days
from plimsoll.domain.evidence.envelope import Envelope
from plimsoll.domain.evidence.evidence import Rankings
from plimsoll.domain.groups.hosting import usable
from plimsoll.domain.groups.takeover import Peer
from plimsoll.domain.groups.templates import is_short_lived
from plimsoll.domain.headroom import Growth, Headrooms
from plimsoll.domain.metrics.period import io_size_kib
from plimsoll.domain.metrics.received import Coverage
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.offers.kept_limits import KeptLimits, all_limits, kept_limits, may_move
from plimsoll.domain.offers.offer import Market, Offer, ceiling_on_hosts, too_small
from plimsoll.domain.offers.products import Products, Shelf
from plimsoll.domain.offers.remembered import Remembered
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.recommendation import DemandSummary
from plimsoll.domain.risk.histories import History
from plimsoll.domain.risk.promise import Risk, find_headrooms, goes_by_history, risk_of
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.domain.units import DAY_S, MIB
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import Provisioned, VolumeType, type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionContext:
    """What decisions rest on besides the volume: what is sold, what was measured, the policy and the time.

    `excluded` are volumes that people left out, by id, each with why. `rankings` keeps what the envelopes say of an
    offer, and `shelf` what is sold to volumes that are alike. `learned` is what headroom keeps which risk (None:
    nothing was learned), and `headrooms` are the policy's until `of` a volume. What is `short_lived` counts for its
    template alone: each such volume reads its image anew, so that this is its workload. In a `draft` frontiers are not
    drawn: what the answer is has to be known first. `peer` is what a reduction has to leave room for, None where there
    is no such volume. While the past that a promise rests on is still `unread`, any risk is taken, so that nothing else
    is proved meanwhile.
    """

    market: Market
    envelopes: Sequence[Envelope]
    policy: Policy
    headrooms: Headrooms
    now: datetime
    excluded: Mapping[str, str] = field(default_factory=dict)
    rankings: Rankings = field(default_factory=dict, repr=False, compare=False)
    shelf: Shelf = field(default_factory=Shelf, repr=False, compare=False)
    learned: LearnedTable | None = None
    draft: bool = False
    short_lived: bool = False
    peer: Peer | None = None
    unread: bool = False

    def of(self, volume: Volume) -> "DecisionContext":
        """The context with the policy that applies to a volume, its discounts and learned headroom included."""
        policy = self.policy.for_tags(volume.tags)
        book = replace(self.market.book, discounts_pct=policy.discounts_pct)
        short_lived = is_short_lived(volume, policy, self.now)
        own = replace(self, policy=policy, market=replace(self.market, book=book), short_lived=short_lived)
        return own.knowing(volume, self.looked_back(volume))

    def growing(self, growth: Growth | None) -> "DecisionContext":
        """The context with headroom for a growth as well; as it is where there is none."""
        return self if growth is None else replace(self, headrooms=self.headrooms.with_room_for(growth))

    def knowing(self, volume: Volume, history: History) -> "DecisionContext":
        """The context of a volume (`of`) with the headroom that is learned for such a history."""
        headrooms = find_headrooms(self.policy, self.learned, history, volume.owner.kind.value)
        return self if headrooms == self.headrooms else replace(self, headrooms=headrooms)

    @property
    def with_policy_headroom(self) -> "DecisionContext":
        """The context with the policy's headroom, as long as the past that a learned one rests on is unread."""
        return replace(self, headrooms=Headrooms.of_policy(self.policy))

    @property
    def goes_by_history(self) -> bool:
        """Whether the headroom depends on what is known of a volume's past."""
        return goes_by_history(self.policy, self.learned)

    def looked_back(self, volume: Volume) -> History:
        """What is known where no past was read: how many days are looked back at, of those that the volume exists."""
        age_days = (self.now - volume.created).total_seconds() / DAY_S
        return History(days=max(0.0, min(float(self.policy.lookback_days), age_days)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoad:
    """What several volumes ask for together of what carries them, by `name`: all their ids, and their size.

    `as_now`: the same carries them already, so that one of them that asks for less changes nothing of it.
    """

    name: str
    volume_ids: tuple[str, ...]
    size_gib: int
    load: Load
    ceiling: Ceiling
    as_now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One volume's demand, what it could carry in each epoch, and what has to be carried of it.

    `kept` are the limits that a same-limits replacement keeps.

    - `present` is its ceiling now, its credits as the balance shows them, or that of its pool; `held` is what that
      carries: its own load, or the pool's. `hosts` is the most that its hosts carry.
    - `load` is what its own ceiling has to carry. `shared` is what it would carry together with others, by type, of
      whom all that change with it have `pool_gib`.
    - `lifted` is its demand where it was held back, `room` what its host left it. `settles` says when a reduction can
      be judged (None: now). `remembered` is what its past has to say of a reduction, None where nobody asked, and
      `history` what its promise rests on, None where that is the window. `products` are what is sold to it. `earlier`
      are the busiest hours of the days before the window, None where they are still to be read.
    """

    volume: Volume
    context: DecisionContext
    demand: Demand
    present: Ceiling
    hosts: Ceiling
    lifted: Lifted
    room: HostRoom
    load: Load
    held: Load
    settles: Settles | None
    summary: DemandSummary
    epochs: tuple[Epoch, ...]
    shared: Mapping[str, Sequence[SharedLoad]] = field(default_factory=dict)
    pool_gib: int
    kept: KeptLimits
    products: Products = field(repr=False, compare=False)
    remembered: Remembered | None = None
    history: History | None = None
    earlier: BusyHours | None = None

    @property
    def usable(self) -> Ceiling:
        """What of its ceiling it can use: no more than its hosts carry at most, where they stay."""
        return self.kept.ceiling if self.kept.by_host else self.present

    @property
    def with_own_limits(self) -> "Case":
        """The case in which its hosts' maximum takes nothing from its limits."""
        return replace(self, kept=KeptLimits(ceiling=self.present)) if self.kept.by_host else self

    @property
    def with_all_limits(self) -> "Case":
        """The case in which nothing is taken from its limits by a host."""
        if not self.kept.by_host:
            return self
        kind = type_of(self.volume.spec, self.market.types)
        return replace(self, kept=all_limits(self.volume, kind, self.present))

    def rise(self, offer: Offer) -> Rise:
        """What the trend says of an offer."""
        ceilings = self._ceilings(offer)
        return Rise.CARRIED if ceilings is None else self._trend(offer).of(ceilings)

    def reach(self, offer: Offer) -> FloatArray:
        """How far each bucket, as two rows, reaches beyond an offer by the trend; 1 and more is beyond."""
        ceilings, trend, demand = self._ceilings(offer), self._trend(offer), self._demand_for(offer)
        most = np.stack(demand.most_counted(offer.ceiling.accounting))
        if ceilings is None:
            return np.zeros_like(most)
        times = [trend.times * trend.reach(side) / limit for side, limit in enumerate(ceilings.offer)]
        reached: FloatArray = most * np.array(times)[:, np.newaxis]
        return reached

    def _held_back(self) -> BoolArray:
        """The buckets that stood at a limit which was raised since."""
        held_back = np.zeros_like(self.demand.observed)
        for epoch in self.epochs:
            for resource in epoch.raised:
                held_back[epoch.buckets] |= self.lifted.saturated[resource][epoch.buckets]
        return held_back

    def _demand_for(self, offer: Offer) -> Demand:
        return self.demand if offer.pool_gib is None else self.held.now.work

    def _trend(self, offer: Offer) -> Trend:
        policy, restored = self.policy, self.volume.restored_from is not None
        return Trend(
            days=busy_hours(
                self._demand_for(offer),
                policy.filled_s(self.volume.created) if restored else 0.0,
                self._held_back(),
            ),
            earlier=self.earlier,
            look_days=policy.settle_days + AUDIT_DAYS,
            times=max(1.0, self.headrooms.reducing.usual.factor / USUAL_TIMES),
        )

    def _ceilings(self, offer: Offer) -> Ceilings | None:
        """What an offer carries where that is less than today, beside the peaks of what is asked; None where it is no
        less."""
        accounting, now = offer.ceiling.accounting, self.present.counted_as(offer.ceiling.accounting)
        least = [too_small("", offer.ceiling, need) for need in _needs_of_sides(now)]
        carried = (offer.ceiling.iops, offer.ceiling.throughput_mib_s)
        limits = [carried[side] * (1 + ROUNDING) if any(least[side]) else np.inf for side in (0, 1)]
        if np.isinf(limits).all():
            return None
        demand = self._demand_for(offer)
        least_peak, most_peak = (
            (
                demand.peak(weighted(ops, read_ops, accounting.write_iops_cost)),
                demand.peak(weighted(moved, read, accounting.write_throughput_cost)),
            )
            for ops, read_ops, moved, read in (
                (demand.iops, demand.read_iops, demand.throughput_mib_s, demand.read_throughput_mib_s),
                (
                    demand.most_iops,
                    demand.most_read_iops,
                    demand.most_throughput_mib_s,
                    demand.most_read_throughput_mib_s,
                ),
            )
        )
        return Ceilings(offer=(limits[0], limits[1]), least_peak=least_peak, most_peak=most_peak)

    def risk(self, times: float, purpose: OfferPurpose) -> Risk | None:
        """What is promised of a configuration that carries so many times its load for a purpose, on the sides that it
        lowers; None where nothing was learned. Room for growth is not headroom that a fleet without it kept."""
        context, owner = self.context, self.volume.owner.kind.value
        history = self.history or context.looked_back(self.volume)
        return risk_of(self.policy, self.headrooms.of(purpose).usual, context.learned, history, owner, times)

    def allows(self, risk: Risk | None) -> bool:
        """Whether a reduction with that risk may be recommended."""
        return self.context.unread or self.policy.allows(None if risk is None else risk.promised_pct)

    @property
    def policy(self) -> Policy:
        """The policy that applies to this volume."""
        return self.context.policy

    @property
    def headrooms(self) -> Headrooms:
        """The headroom of relief, and of reductions."""
        return self.context.headrooms

    @property
    def market(self) -> Market:
        """What is sold where the volume is."""
        return self.context.market

    def shared_as(self, kind: VolumeType, purpose: OfferPurpose) -> Sequence[SharedLoad]:
        """What must be carried together where it becomes a type for that purpose."""
        found = self.shared.get(kind.name, ())
        return [one for one in found if not (one.as_now and purpose is not OfferPurpose.RELIEVE)]

    def load_under(self, offer: Offer) -> Load:
        """What the ceiling of an offer has to carry: its own load, or that of all who change to its pool with it."""
        return self.load if offer.pool_gib is None else self.shared[offer.spec.type][0].load

    @property
    def asked_by_peer(self) -> Need:
        """What a reduction must carry because the volume takes over from another."""
        return NOTHING if self.context.peer is None else self.context.peer.need

    @property
    def asked_after_relief(self) -> Need:
        """The rates of its saturated buckets lifted once more, as far as its hosts carry them: they may want that if
        relief is too little.

        Only of what is bought by itself, and beyond what its type includes.
        """
        kind, again = type_of(self.volume.spec, self.market.types), 1 + self.policy.throttle_lift_pct / 100
        if not isinstance(kind.iops, Provisioned) or not isinstance(kind.throughput, Provisioned):
            return NOTHING
        wanted = scaled(self.lifted.demand, np.where(self.lifted.any, again, 0.0))
        rates = wanted.counted_iops(PLAIN) + ROUNDING, wanted.counted_throughput_mib_s(PLAIN) + ROUNDING
        share = np.minimum(1, np.minimum(self.hosts.iops / rates[0], self.hosts.throughput_mib_s / rates[1]))
        most = peak_rates(scaled(wanted, share), self.present.accounting)
        return Need(
            iops=most.iops if most.iops > again * kind.iops.included else 0.0,
            throughput_mib_s=most.throughput_mib_s if most.throughput_mib_s > again * kind.throughput.included else 0.0,
        )

    @property
    def frequent(self) -> frozenset[Resource]:
        """The resources on which it is throttled frequently now."""
        return self.lifted.frequent

    @property
    def window_s(self) -> float:
        """How long its demand is."""
        return float(self.demand.window_s)

    @property
    def usd_month(self) -> float | None:
        """What the volume costs a month; None where the region has no price for its type."""
        if self.volume.edge is not None:
            return None
        return self.market.book.usd_month(self.volume.spec, mean_iops=self.summary.mean_iops)


def _needs_of_sides(ceiling: Ceiling) -> tuple[Need, Need]:
    """What a ceiling carries of operations alone, and of bytes."""
    whole = Need.of_ceiling(ceiling)
    return (
        replace(whole, throughput_mib_s=0.0, sustained_throughput_mib_s=0.0),
        replace(whole, iops=0.0, sustained_iops=0.0),
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
    hosts = usable(volume)
    if context.short_lived:
        volume = replace(volume, restored_from=None)
    done = without_restore(demand, volume, policy)
    epochs = lay_epochs(volume, done, types, in_pool=in_pool)
    demand = done if in_pool else scaled(done, clip_to_record(done, epochs))
    kind = type_of(volume.spec, types)
    ceiling = ceiling_on_hosts(kind, volume.spec, volume)
    present = as_balance_shows(ceiling, demand, of_type(epochs, volume.spec.type, demand))
    there = on_these_hosts(epochs, demand)
    room = host_room(done, host, hosts, policy, there).only_in(there)
    lifted = lift(demand, epochs, policy, tell_days(volume, epochs, done, types, policy, days))
    if lifted.frequent:
        room = with_relief(room, host, demand, lifted.demand, lifted.saturated, (volume.id,), policy)
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


def edges_of(volume: Volume, window: Window, policy: Policy) -> IntArray:
    """When an epoch of the volume begins in a window, or its own work after a restore, in epoch seconds: on the grid of
    the resolution."""
    times_s = [float(epoch.window.start_s) for epoch in epochs_of(volume, window)]
    if volume.restored_from is not None:
        times_s.append(policy.filled_s(volume.created))
    step_s = policy.resolution_s
    edges_s = {-(-int(np.ceil(time_s)) // step_s) * step_s for time_s in times_s}
    return np.array(sorted(edge_s for edge_s in edges_s if window.start_s < edge_s < window.end_s), dtype=np.int64)


def without_restore(demand: Demand, volume: Volume, policy: Policy) -> Demand:
    """A demand without what a volume did while it fetched its data from a snapshot: that was not its workload's."""
    if volume.restored_from is None:
        return demand
    begun = demand.starts_s >= policy.filled_s(volume.created)
    if begun.all():
        return demand
    balance, busiest = demand.balance_pct, demand.busiest
    return replace(
        scaled(demand, begun.astype(np.float64)),
        exceeded={side: check & begun for side, check in demand.exceeded.items()},
        balance_pct=None if balance is None else np.where(begun, balance, np.nan),
        busiest=None if busiest is None else busiest.only_in(begun),
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


def summary_of(demand: Demand, lifted: Lifted, room: HostRoom, policy: Policy) -> DemandSummary:
    """A demand in numbers, and where it was held back."""
    iops, throughput, seconds = demand.iops, demand.throughput_mib_s, demand.busiest
    busy = demand.busy_share is not None and (demand.whole or policy.size_on is SizeOn.BUSY_TIME)
    operations, moved_mib, observed_s = demand.total(iops), demand.total(throughput), demand.seconds(demand.observed)
    least = demand.peak(iops), demand.peak(throughput)
    whole = demand.spread is None
    most = least if whole else (demand.peak(demand.most_iops), demand.peak(demand.most_throughput_mib_s))
    return DemandSummary(
        peak_iops=most[0],
        peak_throughput_mib_s=most[1],
        least_peak_iops=least[0],
        least_peak_throughput_mib_s=least[1],
        peak_busy_iops=demand.peak(demand.busy(iops)) if busy else None,
        peak_busy_throughput_mib_s=demand.peak(demand.busy(throughput)) if busy else None,
        peak_second_iops=None if seconds is None else float(seconds.counted_iops(PLAIN).max(initial=0.0)),
        peak_second_throughput_mib_s=(
            None if seconds is None else float(seconds.counted_throughput_mib_s(PLAIN).max(initial=0.0))
        ),
        mean_iops=operations / observed_s if observed_s else 0.0,
        mean_throughput_mib_s=moved_mib / observed_s if observed_s else 0.0,
        mean_io_size_kib=float(io_size_kib(np.array(moved_mib * MIB), np.array(operations))) if operations else None,
        read_share=demand.total(demand.read_iops) / operations if operations else None,
        resolution_s=demand.coarsest_s,
        hours_observed=demand.hours_observed,
        gap_hours=demand.gap_hours,
        censored=bool((lifted.any | room.bound).any()),
        throttled_minutes=demand.minutes(lifted.any),
        flagged_minutes=demand.minutes(lifted.flagged),
        host_bound_minutes=demand.minutes(room.bound),
        host_bound_measured_minutes=demand.minutes(room.bound & room.measured),
        host_cleared_minutes=demand.minutes(room.cleared),
        coverage=demand.coverage
        or Coverage(hours_expected=demand.hours_observed, hours_observed=demand.hours_observed),
    )
