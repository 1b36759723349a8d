"""Bundles: what is offered of each type, to one volume or to all that change together.

An offer's figures are the cheapest that pass. Where none do it is what the need asks for, as far as that is sold, with
the reason why it does not pass.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.domain.case import Case, SharedLoad
from plimsoll.domain.ceiling import NOTHING, RESOURCES, Accounting, Ceiling, Need, Resource
from plimsoll.domain.demand.load import Load, peaks
from plimsoll.domain.demand.trial import Required, Trial, budget_of, never_held_back, trial, worst
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement, find_limiting
from plimsoll.domain.headroom import OfferPurpose
from plimsoll.domain.offers.cheapest import Staircase, Tried, build_staircase, find_cheapest, is_higher
from plimsoll.domain.offers.offer import (
    Offer,
    ceiling_on_hosts,
    find_failed,
    find_shortfalls,
    find_too_slow,
    refusals_by_measurements,
)
from plimsoll.domain.offers.products import Product
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One volume type for all volumes that change together: one offer for each, in their order."""

    kind: VolumeType
    offers: tuple[Offer, ...]

    @property
    def usd_month(self) -> float:
        """The cost of all offers together; infinite if one has no price."""
        return sum(math.inf if offer.usd_month is None else offer.usd_month for offer in self.offers)

    @property
    def feasible(self) -> bool:
        return all(offer.feasible for offer in self.offers)

    @property
    def tried(self) -> Trial:
        """The worst trial of any offer; infinite if one was not tried."""
        return worst(offer.tried or Trial(throttled_minutes=math.inf, longest_wait_s=math.inf) for offer in self.offers)

    @property
    def order(self) -> tuple[bool, float, int, float, str]:
        """The key that bundles are sorted by: feasible ones first, then the price, latency class and durability."""
        kind = self.kind
        return not self.feasible, self.usd_month, -kind.latency, -kind.durability_pct, kind.name


class Makers:
    """The makers of the offers of volumes that change together. Work for one budget serves another.

    `budget_min` is the largest budget of throttled minutes in 30 days. Where metrics were read in part, offers have to
    carry the least that the demand can be, or, if `harmful`, the most. `raises_nothing`: no offer has more IOPS or
    MiB/s than the volume has.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        purpose: OfferPurpose,
        budget_min: float,
        at_least: Callable[[Case], Need],
        *,
        harmful: bool = False,
        raises_nothing: bool = False,
    ) -> None:
        self._makers = [
            _Maker(case, purpose, budget_min, at_least(case), harmful=harmful, raises_nothing=raises_nothing)
            for case in cases
        ]
        self._least_usd: dict[str, float] = {}

    def bundles(self, budget_min: float) -> list[Bundle]:
        """Makes a bundle of each published type for a budget, feasible ones first and the cheapest first."""
        bundles = [Bundle(kind=kind, offers=self._offers(kind, budget_min)) for kind in self._kinds]
        return sorted(bundles, key=lambda bundle: bundle.order)

    def cheapest(self, budget_min: float) -> Bundle | None:
        """Finds the cheapest feasible bundle for a budget; None if none is feasible. Types whose least price is higher
        are not tried."""
        best: Bundle | None = None
        for kind in sorted(self._kinds, key=self._least_usd_month):
            least = self._least_usd_month(kind)
            if math.isinf(least) or (best is not None and least > best.usd_month):
                break
            bundle = Bundle(kind=kind, offers=self._offers(kind, budget_min))
            if bundle.feasible and (best is None or bundle.order < best.order):
                best = bundle
        return best

    @property
    def least_usd_month(self) -> float:
        """The lower bound of the cost of all volumes together, whatever their demand."""
        return min(self._least_usd_month(kind) for kind in self._kinds)

    @property
    def _kinds(self) -> Collection[VolumeType]:
        return self._makers[0].case.market.types.values()

    def _least_usd_month(self, kind: VolumeType) -> float:
        if kind.name not in self._least_usd:
            self._least_usd[kind.name] = sum(maker.case.products.of(kind).least_usd_month for maker in self._makers)
        return self._least_usd[kind.name]

    def _offers(self, kind: VolumeType, budget_min: float) -> tuple[Offer, ...]:
        """Makes the offers of one type. A refusal for one volume refuses all of them."""
        offers = [maker.offer(kind, budget_min) for maker in self._makers]
        if len(offers) == 1:
            return (offers[0],)
        refused = tuple(
            f"{maker.case.volume.id}: {offer.refused[0]}"
            for maker, offer in zip(self._makers, offers, strict=True)
            if offer.refused
        )
        return tuple(offer if offer.refused or not refused else replace(offer, refused=refused) for offer in offers)


class _Maker:
    """Makes the offers of one volume."""

    def __init__(
        self,
        case: Case,
        purpose: OfferPurpose,
        budget_min: float,
        at_least: Need,
        *,
        harmful: bool,
        raises_nothing: bool,
    ) -> None:
        self.case = case
        self._purpose, self._budget_min, self._at_least, self._harmful = purpose, budget_min, at_least, harmful
        self._raises_nothing = raises_nothing
        self._stairs: dict[str, Staircase] = {}
        self._tried_ceilings: Tried = {}
        self._needs: dict[Accounting, Need] = {}

    def offer(self, kind: VolumeType, budget_min: float) -> Offer:
        """Makes the offer of a type, once for each load, unless the volume shares a pool."""
        case = self.case
        if case.shared:
            return self._make_offer(kind, budget_min)
        asked = budget_min, self._at_least, self._harmful, self._raises_nothing
        key = case.volume.id, kind.name, self._purpose, *asked
        if key not in case.load.offers:
            case.load.offers[key] = self._make_offer(kind, budget_min)
        offer: Offer = case.load.offers[key]
        return offer

    def _make_offer(self, kind: VolumeType, budget_min: float) -> Offer:
        case, product = self.case, self._product(kind)
        shared, need = case.shared_as(kind, self._purpose), self._need(kind).no_less_than(self._at_least)
        if product.refused:
            return self._build_offer(product.fit(product.promised(need)), kind, shared, refused=product.refused)
        budget_minutes = budget_of(budget_min, case.window_s)
        failed = self._find_failed(kind, need, shared)
        spec: VolumeSpec | None = None
        most = self._same_limits(product) if self._raises_nothing and not _is_pooled(kind, shared) else None
        staying: Resource | None = None
        if not _is_pooled(kind, shared):
            spec = self._floor(product)
            if spec is None:
                stairs = self._stairs_of(product, most)
                spec = find_cheapest(stairs, budget_minutes=budget_minutes, at_least=self._at_least)
                staying = None if spec is None else stairs.find_staying(budget_minutes, self._at_least)
        offer = self._build_offer(spec or product.fit(product.promised(need)), kind, shared, staying=staying)
        slow = self._find_too_slow(kind, offer.spec, shared)
        if slow:
            return replace(offer, refused=tuple(refusals_by_measurements(slow)), failed=slow)
        offer = self._judge_offer(offer, shared, budget_minutes)
        if offer.feasible and most is not None and is_higher(offer.spec, most):
            offer = replace(offer, refused=(f"{offer.spec} has more than the volume has today: {most} does all of it",))
        if offer.refused and self._may_grow(kind, shared):
            offer = self._grow_offer(kind, shared, budget_minutes) or offer
        if not failed:
            return offer
        why = (*refusals_by_measurements(failed), *offer.refused) if offer.refused else ()
        return replace(offer, refused=why, failed=failed)

    def _same_limits(self, product: Product) -> VolumeSpec | None:
        """The figures of a type that do all that the volume can do today; None if none do."""
        if product.kind.name == self.case.volume.spec.type:
            return self.case.volume.spec
        wanted = Need.of_ceiling(self.case.present.counted_as(product.kind.accounting))
        spec = product.fit(product.promised(wanted))
        return None if any(find_shortfalls("", product.ceiling(spec), wanted)) else spec

    def _product(self, kind: VolumeType) -> Product:
        """The type as it is sold to the volume. Reducing within its own type never takes a larger size."""
        product = self.case.products.of(kind)
        within = kind.name == self.case.volume.spec.type and self._purpose is not OfferPurpose.RELIEVE
        return replace(product, grows=False) if within else product

    def _floor(self, product: Product) -> VolumeSpec | None:
        """The least that is sold, if it always carries what is required; None if something else may pass."""
        if product.floor is None:
            return None
        spec, ceiling = product.floor
        required = self._required_demand(self.case.load)
        carries = all(never_held_back(required, ceiling, resource) for resource in RESOURCES)
        return spec if carries and not any(find_shortfalls("", ceiling, self._at_least)) else None

    def _find_failed(self, kind: VolumeType, need: Need, shared: Sequence[SharedLoad]) -> tuple[FailedMeasurement, ...]:
        """The failed measurements that speak against the offer that would be made without them."""
        if not self.case.products.of(kind).failed:
            return ()
        spec = self.case.products.of(kind).fit(need)
        failed = find_failed(self.case.volume, kind, spec, self.case.market)
        slow = self._find_too_slow(kind, spec, shared)
        short = find_limiting(self._published_ceiling(kind, spec, shared), need, failed)
        return tuple(measurement for measurement in failed if measurement in slow or measurement in short)

    def _find_too_slow(
        self, kind: VolumeType, spec: VolumeSpec, shared: Sequence[SharedLoad]
    ) -> tuple[FailedMeasurement, ...]:
        volume = self.case.volume
        failed = find_failed(volume, kind, spec, self.case.market)
        return find_too_slow(volume, self._published_ceiling(kind, spec, shared), failed) if failed else ()

    def _published_ceiling(self, kind: VolumeType, spec: VolumeSpec, shared: Sequence[SharedLoad]) -> Ceiling:
        """The published ceiling of a spec on its hosts, or that of the pool that it would join."""
        sized = replace(spec, size_gib=shared[0].size_gib) if _is_pooled(kind, shared) else spec
        return ceiling_on_hosts(kind, sized, self.case.volume)

    def _judge_offer(self, offer: Offer, shared: Sequence[SharedLoad], budget_minutes: float) -> Offer:
        """Adds the trial to an offer, and the reasons why it does not pass."""
        tried = self._try_offer(offer, shared)
        refused = tuple(self._find_refusals(offer, tried, shared, budget_minutes))
        return replace(offer, tried=tried, need=offer.need if refused else _cap_need(offer), refused=refused)

    def _may_grow(self, kind: VolumeType, shared: Sequence[SharedLoad]) -> bool:
        """A larger size may be offered to relieve a volume that changes alone.

        Its type has to share a pool, in which size adds limits, and no other volume stays behind in the present pool.
        """
        volume = self.case.volume
        alone = self.case.pool_gib == volume.spec.size_gib and all(volume.id in pool.volume_ids for pool in shared)
        leaves_nobody = kind.name != volume.spec.type or all(len(pool.volume_ids) == 1 for pool in shared)
        return self._purpose is OfferPurpose.RELIEVE and kind.pooled and alone and leaves_nobody

    def _grow_offer(self, kind: VolumeType, shared: Sequence[SharedLoad], budget_minutes: float) -> Offer | None:
        """Makes the offer of the least larger size that passes; None if none does."""
        volume, sizes = self.case.volume, range(self.case.volume.spec.size_gib + 1, kind.most_size_gib + 1)

        def offer_at(size_gib: int) -> Offer:
            more_gib = size_gib - volume.spec.size_gib
            larger = [
                replace(pool, size_gib=pool.size_gib + more_gib, ceiling=self._pool_ceiling(kind, pool, more_gib))
                for pool in shared
            ]
            spec = replace(self.case.products.of(kind).fit(NOTHING), size_gib=size_gib)
            return self._judge_offer(self._build_offer(spec, kind, larger), larger, budget_minutes)

        place = bisect_left(sizes, x=True, key=lambda size_gib: offer_at(size_gib).feasible)
        return offer_at(sizes[place]) if place < len(sizes) else None

    def _pool_ceiling(self, kind: VolumeType, pool: SharedLoad, more_gib: int) -> Ceiling:
        volume, spec = self.case.volume, VolumeSpec(type=kind.name, size_gib=pool.size_gib + more_gib)
        return ceiling_on_hosts(kind, spec, volume, find_failed(volume, kind, spec, self.case.market))

    def _stairs_of(self, product: Product, at_most: VolumeSpec | None) -> Staircase:
        name = product.kind.name
        if name not in self._stairs:
            most_minutes = budget_of(self._budget_min, self.case.window_s)
            self._stairs[name] = build_staircase(
                product,
                self._required_demand(self.case.load),
                most_minutes,
                self._tried_ceilings,
                may_stay=self._purpose is not OfferPurpose.RELIEVE and product.kind.name == self.case.volume.spec.type,
                at_most=at_most,
            )
        return self._stairs[name]

    def _need(self, kind: VolumeType) -> Need:
        """The highest rates that a volume of that type, or its pool, has to carry."""
        shared = self.case.shared_as(kind, self._purpose)
        if _is_pooled(kind, shared):
            return peaks(shared[0].load.of(self._purpose).at_most, shared[0].ceiling.accounting)
        if kind.accounting not in self._needs:
            self._needs[kind.accounting] = peaks(self.case.load.of(self._purpose).at_most, kind.accounting)
        return self._needs[kind.accounting]

    def _required_demand(self, load: Load) -> Required:
        required = load.of(self._purpose)
        return required.at_most if self._harmful else required

    def _build_offer(
        self,
        spec: VolumeSpec,
        kind: VolumeType,
        shared: Sequence[SharedLoad],
        *,
        refused: tuple[str, ...] = (),
        staying: Resource | None = None,
    ) -> Offer:
        pooled, product = _is_pooled(kind, shared), self.case.products.of(kind)
        return Offer(
            spec=spec,
            ceiling=shared[0].ceiling if pooled else self._believed_ceiling(product, spec),
            usd_month=product.usd_month(spec),
            tried=None,
            need=self._need(kind),
            refused=refused,
            pool_gib=shared[0].size_gib if pooled else None,
            staying=staying,
            purpose=self._purpose,
        )

    def _believed_ceiling(self, product: Product, spec: VolumeSpec) -> Ceiling:
        """The ceiling that a spec is believed to have; the present one is known by its own metrics."""
        if product.failed and spec == self.case.volume.spec:
            return ceiling_on_hosts(product.kind, spec, self.case.volume)
        return product.ceiling(spec)

    def _try_offer(self, offer: Offer, shared: Sequence[SharedLoad]) -> Trial:
        trials = [trial(self._required_demand(pool.load), pool.ceiling) for pool in shared]
        if offer.pool_gib is None:
            trials.append(trial(self._required_demand(self.case.load), offer.judged_ceiling))
        return worst(trials)

    def _find_refusals(
        self, offer: Offer, tried: Trial, shared: Sequence[SharedLoad], budget_minutes: float
    ) -> Iterator[str]:
        """Yields the reasons why an offer does not pass."""
        policy, purpose = self.case.policy, self._purpose
        yield from find_shortfalls(str(offer.spec), offer.judged_ceiling, self._at_least)
        if tried.passes(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s):
            return
        carriers = [
            (pool.name, pool.ceiling, peaks(pool.load.of(purpose).at_most, pool.ceiling.accounting)) for pool in shared
        ]
        if offer.pool_gib is None:
            carriers.append((str(offer.spec), offer.judged_ceiling, offer.need))
        small = [reason for name, ceiling, need in carriers for reason in find_shortfalls(name, ceiling, need)]
        yield from small
        if not small:
            yield _throttling_text(offer.spec, tried, budget_minutes)


def _cap_need(offer: Offer) -> Need:
    """The need of an offer that passes: rates above its ceiling are tolerated."""
    return Need(
        iops=min(offer.need.iops, offer.ceiling.iops),
        throughput_mib_s=min(offer.need.throughput_mib_s, offer.ceiling.throughput_mib_s),
    )


def _throttling_text(spec: VolumeSpec, tried: Trial, budget_minutes: float) -> str:
    if tried.throttled_minutes > budget_minutes:
        return (
            f"{spec} would throttle {tried.throttled_minutes:,.0f} minutes, and the policy allows {budget_minutes:,.0f}"
        )
    return f"behind {spec} work would wait up to {tried.longest_wait_s:,.0f} seconds"


def _is_pooled(kind: VolumeType, shared: Sequence[SharedLoad]) -> bool:
    return kind.pooled and bool(shared)
