"""A case: everything known of one volume when it is decided upon.

The context of a decision: everything that it rests on besides the volume.

The remembered past: what it says of a reduction, and the minutes of it that could still change the answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from plimsoll.decide.evidence import Rankings
from plimsoll.decide.groups import Peer, is_short_lived
from plimsoll.decide.offers import KeptLimits, Market, Offer, all_limits, find_shortfalls, lowered_sides
from plimsoll.decide.products import Products, Shelf
from plimsoll.demand.days import AUDIT_DAYS, ROUNDING, USUAL_TIMES, BusyHours, Ceilings, Rise, Trend, Trends, busy_hours
from plimsoll.demand.demand import Demand, limits_of, scale_demand
from plimsoll.demand.epochs import Epoch, Settles
from plimsoll.demand.host_room import HostRoom
from plimsoll.demand.load import Lifted, Load, peak_rates
from plimsoll.demand.profile import DemandSummary
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import NOTHING, PLAIN, Ceiling, Need, Resource
from plimsoll.model.envelope import Envelope
from plimsoll.model.market import Provisioned, VolumeType, type_of
from plimsoll.model.policy import Growth, Headroom, Headrooms, OfferPurpose, Policy
from plimsoll.model.volume import Volume
from plimsoll.past.memory import ROUNDING_TOLERANCE, Event, Past, find_busiest_minute, find_event
from plimsoll.risk.histories import History, PastPeaks
from plimsoll.risk.learn import LearnedTable
from plimsoll.risk.promise import Risk, find_headrooms, goes_by_history, risk_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionContext:
    """The grounds of a decision besides the volume: what is sold, what was measured, the policy and the time.

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
        policy = self.policy.apply_overrides(volume.tags)
        book = replace(self.market.book, discounts_pct=policy.discounts_pct)
        short_lived = is_short_lived(volume, policy, self.now)
        own = replace(self, policy=policy, market=replace(self.market, book=book), short_lived=short_lived)
        return own.knowing(volume, self.looked_back(volume))

    def growing(self, growth: Growth | None) -> "DecisionContext":
        """The context with headroom for a growth as well; as it is where there is none."""
        return self if growth is None else replace(self, headrooms=self.headrooms.with_room_for(growth))

    def knowing(self, volume: Volume, history: History) -> "DecisionContext":
        """Adds the headroom that is learned for a history of the volume."""
        headrooms = find_headrooms(self.policy, self.learned, history, volume.owner.kind.value)
        return self if headrooms == self.headrooms else replace(self, headrooms=headrooms)

    @property
    def with_policy_headroom(self) -> "DecisionContext":
        """The context with the policy's headroom, as long as the past that a learned one rests on is unread."""
        return replace(self, headrooms=Headrooms.from_policy(self.policy))

    @property
    def goes_by_history(self) -> bool:
        """True if the headroom depends on a volume's past."""
        return goes_by_history(self.policy, self.learned)

    def looked_back(self, volume: Volume) -> History:
        """The history of a volume whose past was not read: the days of the window in which it existed."""
        return History(days=self.policy.days_looked_back(volume.created, self.now))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoad:
    """The load of several volumes that one ceiling carries together; `name` is that of what carries them.

    `as_now`: the same carries them already, so that one of them that asks for less changes nothing of it.
    """

    name: str
    volume_ids: tuple[str, ...]
    size_gib: int
    load: Load
    ceiling: Ceiling
    as_now: bool = False


Limits = tuple[float, float]
"""IOPS and MiB/s that a bucket may have had without speaking against an offer."""


UNLIMITED: Limits = (np.inf, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A past beside `instead_of`, the offer that the window alone asks for.

    Offers must carry `least` for its sake for sure, and `at_most` at most. No bucket within `limits` speaks against
    `instead_of`. `busiest` carries its highest minutes with headroom; they count (`by_minutes`) where headroom is
    learned, since that is of them. `peaks` are what can be learned of it.
    """

    past: Past
    instead_of: Offer
    limits: Limits
    least: Need
    at_most: Need
    busiest: Need
    by_minutes: bool
    peaks: PastPeaks

    @property
    def event(self) -> Event | None:
        """The event of the past against the offer that the window alone asks for; None if there is none."""
        event = find_event(self.past, self.limits)
        return find_busiest_minute(self.past, self.limits) if event is None and self.by_minutes else event


def weigh_past(
    past: Past,
    instead_of: Offer,
    headroom: Headroom,
    hosts: Ceiling,
    peaks: PastPeaks,
    *,
    budget_min: float,
    present: Ceiling,
    by_minutes: bool,
) -> Remembered:
    """Weighs a past with a headroom against an offer, on hosts with a ceiling (`hosts`).

    `present` is the ceiling now. `by_minutes`: the highest single minutes count as well.
    """
    least, at_most = past.find_needs(headroom, hosts, budget_min)
    busiest = past.busiest(headroom, hosts)
    if by_minutes:
        least, at_most = least.no_less_than(busiest), at_most.no_less_than(busiest)
    return Remembered(
        past=past,
        instead_of=instead_of,
        limits=uneventful_limits(instead_of, headroom, hosts, present),
        least=least,
        at_most=at_most,
        busiest=busiest,
        by_minutes=by_minutes,
        peaks=peaks,
    )


def uneventful_limits(offer: Offer, headroom: Headroom, hosts: Ceiling, present: Ceiling) -> Limits:
    """The IOPS and MiB/s of the past that an offer carries with headroom; infinite if the hosts carry no more.

    Relief, and a change that throttles no more than today, only have to carry what the present volume does.
    """
    most = Need.from_ceiling(hosts)
    if offer.purpose is not OfferPurpose.REDUCE:
        most = most.no_more_than(Need.from_ceiling(present))
    pairs = (
        (offer.judged_ceiling.iops, most.iops),
        (offer.judged_ceiling.throughput_mib_s, most.throughput_mib_s),
    )
    iops, throughput_mib_s = (
        np.inf if most <= carried + ROUNDING_TOLERANCE else (carried + ROUNDING_TOLERANCE) / headroom.factor
        for carried, most in pairs
    )
    return iops, throughput_mib_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One volume's demand, what it could carry in each epoch, and what has to be carried of it.

    `kept` are the limits that a same-limits replacement keeps.

    - `done` is its demand as it was recorded, of which `demand` leaves out what no ceiling on record let through.
    - `present` is its ceiling now, its credits as the balance shows them, or that of its pool; `held` is what that
      carries: its own load, or the pool's. `hosts` is the most that its hosts carry.
    - `load` is what its own ceiling has to carry. `shared` is what it would carry together with others, by type, of
      whom all that change with it have `pool_gib`.
    - `lifted` is its demand where it was held back, `room` what its host left it. `settles` says when a reduction can
      be judged (None: now). `remembered` is what its past has to say of a reduction, None where nobody asked, and
      `history` what its promise rests on, None where that is the window. `products` are what is sold to it. `earlier`
      are the busiest hours of the days before the window, None where they are still to be read. `trends` keeps what was
      worked out of them.
    """

    volume: Volume
    context: DecisionContext
    done: Demand
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
    trends: Trends = field(default_factory=Trends, repr=False, compare=False)

    @property
    def usable(self) -> Ceiling:
        """The ceiling that the volume can use: its own, but no more than its hosts carry at most if they stay."""
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
        """The verdict of the trend on an offer; CARRIED if the offer lowers no limit."""
        demand, factor = self._demand_for(offer), self.headrooms.reducing.usual.factor
        key = offer.ceiling, factor, id(demand), id(self.earlier)
        if key not in self.trends.rises:
            ceilings = self._ceilings(offer)
            rise = Rise.CARRIED if ceilings is None else self._trend(offer).judge(ceilings)
            self.trends.rises[key] = rise, demand, self.earlier
        return self.trends.rises[key][0]

    def reach(self, offer: Offer) -> FloatArray:
        """The reach of each bucket by the trend, [side, bucket]: from 1 on it is beyond the offer.

        0 everywhere if the offer lowers no limit.
        """
        ceilings, trend, demand = self._ceilings(offer), self._trend(offer), self._demand_for(offer)
        most = demand.count_most(offer.ceiling.accounting)
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
                held_back[epoch.buckets] |= self.lifted.saturated[resource.side, epoch.buckets]
        return held_back

    def _demand_for(self, offer: Offer) -> Demand:
        return self.demand if offer.pool_gib is None else self.held.now.work

    def _busy_hours(self, demand: Demand) -> BusyHours:
        """The busiest hours of the window's days, made once for a demand. Days of a restore do not count."""
        key, restored = id(demand), self.volume.restored_from is not None
        if key not in self.trends.days:
            from_s = self.policy.filled_s(self.volume.created) if restored else 0.0
            self.trends.days[key] = busy_hours(demand, from_s, self._held_back()), demand
        return self.trends.days[key][0]

    def _trend(self, offer: Offer) -> Trend:
        policy = self.policy
        return Trend(
            days=self._busy_hours(self._demand_for(offer)),
            earlier=self.earlier,
            look_days=policy.settle_days + AUDIT_DAYS,
            times=max(1.0, self.headrooms.reducing.usual.factor / USUAL_TIMES),
        )

    def _ceilings(self, offer: Offer) -> Ceilings | None:
        """The limits of an offer that are lower than today's, beside the peaks of the demand; None if none is lower.

        A limit that is not lower is infinite.
        """
        now = self.present.counted_as(offer.ceiling.accounting)
        least = [find_shortfalls("", offer.ceiling, need) for need in _needs_of_sides(now)]
        carried = (offer.ceiling.iops, offer.ceiling.throughput_mib_s)
        limits = [carried[side] * (1 + ROUNDING) if any(least[side]) else np.inf for side in (0, 1)]
        if np.isinf(limits).all():
            return None
        demand, accounting = self._demand_for(offer), offer.ceiling.accounting
        least, most = (
            counted.max(axis=1, initial=0.0).tolist()
            for counted in (demand.count(accounting.per_operation), demand.count_most(accounting))
        )
        return Ceilings(offer=limits, least_peak=least, most_peak=most)

    def risk(self, times: float, purpose: OfferPurpose) -> Risk | None:
        """The promise of a configuration that carries its load `times` over, on the sides that it lowers.

        None if nothing was learned. Room for growth is not headroom that a fleet without it kept.
        """
        context, owner = self.context, self.volume.owner.kind.value
        history = self.history or context.looked_back(self.volume)
        return risk_of(self.policy, self.headrooms.pick(purpose).usual, context.learned, history, owner, times)

    def risk_of_offer(self, offer: Offer) -> Risk | None:
        """The risk of the volume if it becomes an offer; None if nothing was learned."""
        return self.risk(self.times_carried(offer), offer.purpose)

    def times_carried(self, offer: Offer, need: Need | None = None) -> float:
        """The factor of the required demand that an offer carries without credits, on the tightest side that it lowers.

        At least 1 for the window; the highest minutes of the past may lower it. `need` stands in for the offer's.
        """
        most, sides = None if self.history is None else self.history.most, lowered_sides(offer, self.usable)
        factor = max(1.0, _carried_factor(need or offer.need, offer.ceiling, sides))
        if most is None:
            return factor
        before = most.times(self.headrooms.pick(offer.purpose).factor)
        return min(factor, _carried_factor(before, offer.ceiling, sides))

    def allows(self, risk: Risk | None) -> bool:
        """True if a reduction with that risk may be recommended; None is a risk that is not known."""
        return self.context.unread or self.policy.is_risk_allowed(None if risk is None else risk.promised_pct)

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
        """The offers and prices at the volume's place."""
        return self.context.market

    def shared_as(self, kind: VolumeType, purpose: OfferPurpose) -> Sequence[SharedLoad]:
        """The loads that the volume would share if it became a type for a purpose; none without a pool.

        Only relief counts those that its present pool carries already.
        """
        found = self.shared.get(kind.name, ())
        return [one for one in found if not (one.as_now and purpose is not OfferPurpose.RELIEVE)]

    def load_under(self, offer: Offer) -> Load:
        """The load that the ceiling of an offer has to carry: the volume's own, or that of its whole new pool."""
        return self.load if offer.pool_gib is None else self.shared[offer.spec.type][0].load

    @property
    def asked_by_peer(self) -> Need:
        """The need of the volume that this one takes over from, which a reduction must carry; nothing without one."""
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
        wanted = scale_demand(self.lifted.demand, np.where(self.lifted.any, again, 0.0))
        share = (limits_of(self.hosts) / (wanted.count(PLAIN) + ROUNDING)).min(axis=0)
        most = peak_rates(scale_demand(wanted, np.minimum(1, share)), self.present.accounting)
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
        """The length of its demand in seconds."""
        return float(self.demand.window_s)

    @property
    def usd_month(self) -> float | None:
        """The cost of the volume in USD a month.

        None if the region has no price for its type, or if it is at an edge place, which has prices of its own.
        """
        if self.volume.edge is not None:
            return None
        return self.market.book.usd_month(self.volume.spec, mean_iops=self.summary.mean_iops)


def _needs_of_sides(ceiling: Ceiling) -> tuple[Need, Need]:
    """The needs that a ceiling meets: of IOPS alone, and of MiB/s alone."""
    whole = Need.from_ceiling(ceiling)
    return (
        replace(whole, throughput_mib_s=0.0, sustained_throughput_mib_s=0.0),
        replace(whole, iops=0.0, sustained_iops=0.0),
    )


def _carried_factor(need: Need, ceiling: Ceiling, sides: tuple[bool, bool]) -> float:
    """The factor of a need that a ceiling sustains on the tightest of the marked sides; infinite without one."""
    pairs = ((ceiling.sustained_iops, need.iops), (ceiling.sustained_throughput_mib_s, need.throughput_mib_s))
    factors = [carried / wanted for (carried, wanted), lower in zip(pairs, sides, strict=True) if lower and wanted > 0]
    return min(factors, default=math.inf)
