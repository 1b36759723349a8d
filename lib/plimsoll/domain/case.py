"""A case: everything known of one volume when it is decided upon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import NOTHING, PLAIN, Ceiling, Need, Resource
from plimsoll.domain.context import DecisionContext
from plimsoll.domain.demand.demand import Demand, scale_demand
from plimsoll.domain.demand.epoch import Epoch, Settles
from plimsoll.domain.demand.host_room import HostRoom
from plimsoll.domain.demand.lifting import Lifted
from plimsoll.domain.demand.load import Load, peak_rates
from plimsoll.domain.demand.rates import limits_of
from plimsoll.domain.demand.trend import (
    AUDIT_DAYS,
    ROUNDING,
    USUAL_TIMES,
    BusyHours,
    Ceilings,
    Rise,
    Trend,
    Trends,
    busy_hours,
)
from plimsoll.domain.headroom import Headrooms, OfferPurpose
from plimsoll.domain.offers.offer import KeptLimits, Market, Offer, all_limits, find_shortfalls
from plimsoll.domain.offers.products import Products
from plimsoll.domain.offers.remembered import Remembered
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import DemandSummary
from plimsoll.domain.risk.histories import History
from plimsoll.domain.risk.promise import Risk, risk_of
from plimsoll.domain.volume import Volume
from plimsoll.domain.volume_types import Provisioned, VolumeType, type_of


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
      are the busiest hours of the days before the window, None where they are still to be read. `trends` keeps what was
      worked out of them.
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
    trends: Trends = field(default_factory=Trends, repr=False, compare=False)

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
        demand, factor = self._demand_for(offer), self.headrooms.reducing.usual.factor
        key = offer.ceiling, factor, id(demand), id(self.earlier)
        if key not in self.trends.rises:
            ceilings = self._ceilings(offer)
            rise = Rise.CARRIED if ceilings is None else self._trend(offer).of(ceilings)
            self.trends.rises[key] = rise, demand, self.earlier
        return self.trends.rises[key][0]

    def reach(self, offer: Offer) -> FloatArray:
        """How far each bucket, as two rows, reaches beyond an offer by the trend; 1 and more is beyond."""
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
        """What an offer carries where that is less than today, beside the peaks of what is asked; None where it is no
        less."""
        now = self.present.counted_as(offer.ceiling.accounting)
        least = [find_shortfalls("", offer.ceiling, need) for need in _needs_of_sides(now)]
        carried = (offer.ceiling.iops, offer.ceiling.throughput_mib_s)
        limits = [carried[side] * (1 + ROUNDING) if any(least[side]) else np.inf for side in (0, 1)]
        if np.isinf(limits).all():
            return None
        demand, accounting = self._demand_for(offer), offer.ceiling.accounting
        least, most = (
            counted.max(axis=1, initial=0.0).tolist()
            for counted in (demand.count(accounting.by_operation), demand.count_most(accounting))
        )
        return Ceilings(offer=limits, least_peak=least, most_peak=most)

    def risk(self, times: float, purpose: OfferPurpose) -> Risk | None:
        """The promise of a configuration that carries its load `times` over, on the sides that it lowers.

        None if nothing was learned. Room for growth is not headroom that a fleet without it kept.
        """
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
