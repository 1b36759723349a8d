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
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement, holding_back
from plimsoll.domain.headroom import OfferPurpose
from plimsoll.domain.offers.cheapest import Staircase, Tried, cheapest, is_higher, staircase
from plimsoll.domain.offers.offer import (
    Offer,
    ceiling_on_hosts,
    failed_for,
    refused_by,
    too_slow,
    too_small,
)
from plimsoll.domain.offers.products import Product
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One type for all that change together: an offer for each, in their order."""

    kind: VolumeType
    offers: tuple[Offer, ...]

    @property
    def usd_month(self) -> float:
        """What all cost together; infinite where one has no price."""
        return sum(math.inf if offer.usd_month is None else offer.usd_month for offer in self.offers)

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against any."""
        return all(offer.feasible for offer in self.offers)

    @property
    def tried(self) -> Trial:
        """The worst trial of any; infinite where one was not tried."""
        return worst(offer.tried or Trial(throttled_minutes=math.inf, longest_wait_s=math.inf) for offer in self.offers)

    @property
    def order(self) -> tuple[bool, float, int, float, str]:
        """What bundles are sorted by: feasible and cheap first, then the better latency class and durability."""
        kind = self.kind
        return not self.feasible, self.usd_month, -kind.latency, -kind.durability_pct, kind.name


class Makers:
    """Makes the offers of some volumes that change together; what is worked out for one budget serves another.

    `budget_min` is the largest budget of throttled minutes in 30 days that is asked for. Of what was read in part they
    have to carry the least that it can be, or, `harmful`, the most. `raises_nothing`: no offer has more of either
    resource than the volume has.
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
        """A bundle of each published type for that budget, those that pass first and the cheapest first."""
        found = [Bundle(kind=kind, offers=self._offers(kind, budget_min)) for kind in self._kinds]
        return sorted(found, key=lambda bundle: bundle.order)

    def cheapest(self, budget_min: float) -> Bundle | None:
        """The first of the bundles where it passes; what costs more however little it had to carry is not made."""
        best: Bundle | None = None
        for kind in sorted(self._kinds, key=self._least_usd_month):
            least = self._least_usd_month(kind)
            if math.isinf(least) or (best is not None and least > best.usd_month):
                break
            found = Bundle(kind=kind, offers=self._offers(kind, budget_min))
            if found.feasible and (best is None or found.order < best.order):
                best = found
        return best

    @property
    def least_usd_month(self) -> float:
        """The least that all could cost, whatever they had to carry."""
        return min(self._least_usd_month(kind) for kind in self._kinds)

    @property
    def _kinds(self) -> Collection[VolumeType]:
        return self._makers[0].case.market.types.values()

    def _least_usd_month(self, kind: VolumeType) -> float:
        if kind.name not in self._least_usd:
            self._least_usd[kind.name] = sum(maker.case.products.of(kind).least_usd_month for maker in self._makers)
        return self._least_usd[kind.name]

    def _offers(self, kind: VolumeType, budget_min: float) -> tuple[Offer, ...]:
        """One type's offers, refused by all where one refuses it."""
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
        """The offer of a type, made once for what a volume asks for unless it shares that with others."""
        case = self.case
        if case.shared:
            return self._made(kind, budget_min)
        asked = budget_min, self._at_least, self._harmful, self._raises_nothing
        key = case.volume.id, kind.name, self._purpose, *asked
        if key not in case.load.offers:
            case.load.offers[key] = self._made(kind, budget_min)
        found: Offer = case.load.offers[key]
        return found

    def _made(self, kind: VolumeType, budget_min: float) -> Offer:
        case, product = self.case, self._product(kind)
        shared, need = case.shared_as(kind, self._purpose), self._need(kind).no_less_than(self._at_least)
        if product.refused:
            return self._with(product.fitted(product.promised(need)), kind, shared, refused=product.refused)
        budget_minutes = budget_of(budget_min, case.window_s)
        failed = self._failed(kind, need, shared)
        spec: VolumeSpec | None = None
        most = self._same_limits(product) if self._raises_nothing and not _is_pooled(kind, shared) else None
        staying: Resource | None = None
        if not _is_pooled(kind, shared):
            spec = self._floor(product)
            if spec is None:
                stairs = self._stairs_of(product, most)
                spec = cheapest(stairs, budget_minutes=budget_minutes, at_least=self._at_least)
                staying = None if spec is None else stairs.staying(budget_minutes, self._at_least)
        offer = self._with(spec or product.fitted(product.promised(need)), kind, shared, staying=staying)
        slow = self._too_slow(kind, offer.spec, shared)
        if slow:
            return replace(offer, refused=tuple(refused_by(slow)), failed=slow)
        offer = self._judged(offer, shared, budget_minutes)
        if offer.feasible and most is not None and is_higher(offer.spec, most):
            offer = replace(offer, refused=(f"{offer.spec} has more than the volume has today: {most} does all of it",))
        if offer.refused and self._may_grow(kind, shared):
            offer = self._grown(kind, shared, budget_minutes) or offer
        if not failed:
            return offer
        why = (*refused_by(failed), *offer.refused) if offer.refused else ()
        return replace(offer, refused=why, failed=failed)

    def _same_limits(self, product: Product) -> VolumeSpec | None:
        """The figures of a type that do all that the volume can do today; None if none do."""
        if product.kind.name == self.case.volume.spec.type:
            return self.case.volume.spec
        wanted = Need.of_ceiling(self.case.present.counted_as(product.kind.accounting))
        spec = product.fitted(product.promised(wanted))
        return None if any(too_small("", product.ceiling(spec), wanted)) else spec

    def _product(self, kind: VolumeType) -> Product:
        """A type as it is sold to the volume. A reduction within its type is none of a larger size."""
        product = self.case.products.of(kind)
        within = kind.name == self.case.volume.spec.type and self._purpose is not OfferPurpose.RELIEVE
        return replace(product, grows=False) if within else product

    def _floor(self, product: Product) -> VolumeSpec | None:
        """The least that is sold where it always carries what is required; None where something else may pass."""
        if product.floor is None:
            return None
        spec, ceiling = product.floor
        required = self._required(self.case.load)
        carries = all(never_held_back(required, ceiling, resource) for resource in RESOURCES)
        return spec if carries and not any(too_small("", ceiling, self._at_least)) else None

    def _failed(self, kind: VolumeType, need: Need, shared: Sequence[SharedLoad]) -> tuple[FailedMeasurement, ...]:
        """What failed that speaks against what would be offered without it."""
        if not self.case.products.of(kind).failed:
            return ()
        spec = self.case.products.of(kind).fitted(need)
        failed = failed_for(self.case.volume, kind, spec, self.case.market)
        slow = self._too_slow(kind, spec, shared)
        short = holding_back(self._published(kind, spec, shared), need, failed)
        return tuple(one for one in failed if one in slow or one in short)

    def _too_slow(
        self, kind: VolumeType, spec: VolumeSpec, shared: Sequence[SharedLoad]
    ) -> tuple[FailedMeasurement, ...]:
        volume = self.case.volume
        failed = failed_for(volume, kind, spec, self.case.market)
        return too_slow(volume, self._published(kind, spec, shared), failed) if failed else ()

    def _published(self, kind: VolumeType, spec: VolumeSpec, shared: Sequence[SharedLoad]) -> Ceiling:
        """What is published of a spec on its hosts, or of the pool that it would be in."""
        sized = replace(spec, size_gib=shared[0].size_gib) if _is_pooled(kind, shared) else spec
        return ceiling_on_hosts(kind, sized, self.case.volume)

    def _judged(self, offer: Offer, shared: Sequence[SharedLoad], budget_minutes: float) -> Offer:
        """An offer with its trial, and why it does not pass where it does not."""
        tried = self._tried(offer, shared)
        refused = tuple(self._speaks_against(offer, tried, shared, budget_minutes))
        return replace(offer, tried=tried, need=offer.need if refused else _within(offer), refused=refused)

    def _may_grow(self, kind: VolumeType, shared: Sequence[SharedLoad]) -> bool:
        """Whether a larger volume is offered: to relieve one that changes alone, and leaves nobody behind in its pool,
        of a type whose size makes it faster for its whole host."""
        volume = self.case.volume
        alone = self.case.pool_gib == volume.spec.size_gib and all(volume.id in one.volume_ids for one in shared)
        leaves_nobody = kind.name != volume.spec.type or all(len(one.volume_ids) == 1 for one in shared)
        return self._purpose is OfferPurpose.RELIEVE and kind.pooled and alone and leaves_nobody

    def _grown(self, kind: VolumeType, shared: Sequence[SharedLoad], budget_minutes: float) -> Offer | None:
        """The offer of the least larger size that passes; None where none does."""
        volume, sizes = self.case.volume, range(self.case.volume.spec.size_gib + 1, kind.most_size_gib + 1)

        def at(size_gib: int) -> Offer:
            more = size_gib - volume.spec.size_gib
            larger = [
                replace(one, size_gib=one.size_gib + more, ceiling=self._pooled(kind, one, more)) for one in shared
            ]
            spec = replace(self.case.products.of(kind).fitted(NOTHING), size_gib=size_gib)
            return self._judged(self._with(spec, kind, larger), larger, budget_minutes)

        place = bisect_left(sizes, x=True, key=lambda size_gib: at(size_gib).feasible)
        return at(sizes[place]) if place < len(sizes) else None

    def _pooled(self, kind: VolumeType, one: SharedLoad, more_gib: int) -> Ceiling:
        volume, spec = self.case.volume, VolumeSpec(type=kind.name, size_gib=one.size_gib + more_gib)
        return ceiling_on_hosts(kind, spec, volume, failed_for(volume, kind, spec, self.case.market))

    def _stairs_of(self, product: Product, at_most: VolumeSpec | None) -> Staircase:
        name = product.kind.name
        if name not in self._stairs:
            most_minutes = budget_of(self._budget_min, self.case.window_s)
            self._stairs[name] = staircase(
                product,
                self._required(self.case.load),
                most_minutes,
                self._tried_ceilings,
                may_stay=self._purpose is not OfferPurpose.RELIEVE and product.kind.name == self.case.volume.spec.type,
                at_most=at_most,
            )
        return self._stairs[name]

    def _need(self, kind: VolumeType) -> Need:
        """The highest rates of what a volume of that type has to carry, or of what its pool has to."""
        shared = self.case.shared_as(kind, self._purpose)
        if _is_pooled(kind, shared):
            return peaks(shared[0].load.of(self._purpose).at_most, shared[0].ceiling.accounting)
        if kind.accounting not in self._needs:
            self._needs[kind.accounting] = peaks(self.case.load.of(self._purpose).at_most, kind.accounting)
        return self._needs[kind.accounting]

    def _required(self, load: Load) -> Required:
        required = load.of(self._purpose)
        return required.at_most if self._harmful else required

    def _with(
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
            ceiling=shared[0].ceiling if pooled else self._carries(product, spec),
            usd_month=product.usd_month(spec),
            tried=None,
            need=self._need(kind),
            refused=refused,
            pool_gib=shared[0].size_gib if pooled else None,
            staying=staying,
            purpose=self._purpose,
        )

    def _carries(self, product: Product, spec: VolumeSpec) -> Ceiling:
        """What a spec is believed to carry; what the volume has is known by its own metrics."""
        if product.failed and spec == self.case.volume.spec:
            return ceiling_on_hosts(product.kind, spec, self.case.volume)
        return product.ceiling(spec)

    def _tried(self, offer: Offer, shared: Sequence[SharedLoad]) -> Trial:
        trials = [trial(self._required(one.load), one.ceiling) for one in shared]
        if offer.pool_gib is None:
            trials.append(trial(self._required(self.case.load), offer.judged))
        return worst(trials)

    def _speaks_against(
        self, offer: Offer, tried: Trial, shared: Sequence[SharedLoad], budget_minutes: float
    ) -> Iterator[str]:
        """Why an offer does not pass."""
        policy, purpose = self.case.policy, self._purpose
        yield from too_small(str(offer.spec), offer.judged, self._at_least)
        if tried.passes(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s):
            return
        carriers = [
            (one.name, one.ceiling, peaks(one.load.of(purpose).at_most, one.ceiling.accounting)) for one in shared
        ]
        if offer.pool_gib is None:
            carriers.append((str(offer.spec), offer.judged, offer.need))
        small = [reason for name, ceiling, need in carriers for reason in too_small(name, ceiling, need)]
        yield from small
        if not small:
            yield _throttles(offer.spec, tried, budget_minutes)


def _within(offer: Offer) -> Need:
    """The need of an offer that passes: what is above its ceiling is tolerated."""
    return Need(
        iops=min(offer.need.iops, offer.ceiling.iops),
        throughput_mib_s=min(offer.need.throughput_mib_s, offer.ceiling.throughput_mib_s),
    )


def _throttles(spec: VolumeSpec, tried: Trial, budget_minutes: float) -> str:
    if tried.throttled_minutes > budget_minutes:
        return (
            f"{spec} would throttle {tried.throttled_minutes:,.0f} minutes, and the policy allows {budget_minutes:,.0f}"
        )
    return f"behind {spec} work would wait up to {tried.longest_wait_s:,.0f} seconds"


def _is_pooled(kind: VolumeType, shared: Sequence[SharedLoad]) -> bool:
    return kind.pooled and bool(shared)
