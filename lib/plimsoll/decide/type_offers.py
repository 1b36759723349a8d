"""The cheapest configuration of a type that passes, in figures that people use.

A type sells IOPS and throughput, and a minute that either of them throttles is one throttled minute. So the pairs of
figures that pass are a staircase: fewer IOPS, more throughput. Of each resource only those figures can be on it at
which one minute more would be throttled; every pair of them is weighed (docs/decision.md, sections 4 and 5).

An offer's figures are the cheapest that pass. Where none do it is what the need asks for, as far as that is sold, with
the reason why it does not pass.

Drop-in replacements: types that can do everything the present volumes can, so no demand has to be proved.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from plimsoll.decide.case import Case, SharedLoad
from plimsoll.decide.evidence import FailedMeasurement, believed_ceiling, find_limiting
from plimsoll.decide.offers import (
    Bundle,
    Offer,
    ceiling_on_hosts,
    figures_to_buy,
    find_failed,
    find_shortfalls,
    find_too_slow,
    refusals_by_measurements,
)
from plimsoll.decide.products import OTHER, Product
from plimsoll.demand.load import Load, peaks
from plimsoll.demand.trial import Required, Trial, budget_of, held_back, is_never_held_back, trial, worst
from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import NOTHING, RESOURCES, Accounting, Ceiling, Need, Resource
from plimsoll.model.market import VolumeType
from plimsoll.model.policy import OfferPurpose, Policy
from plimsoll.model.volume import VolumeSpec

Tried = dict[Ceiling, tuple[FloatArray, float, float]]
"""By ceiling of one resource: what it throttles of each bucket, in minutes, their sum, and the longest wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StairLevel:
    """A level of one resource: what is bought for it, and the throttled minutes that it causes."""

    need: Need
    throttled: FloatArray
    minutes: float
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """The levels of IOPS and of MiB/s of a product, for any budget up to that of its making.

    No figure may be higher than in `at_most` (None: any that is sold). `may_stay`: in its present type, a resource that
    no level carries keeps its present figure.
    """

    product: Product
    required: Required
    iops: Sequence[StairLevel]
    throughput: Sequence[StairLevel]
    may_stay: bool = False
    at_most: VolumeSpec | None = None

    def find_staying(self, budget_minutes: float, at_least: Need) -> Resource | None:
        """Finds the one resource that keeps its present figure; None if both can be cut, or neither.

        It stays because the most that may be bought of the type does not carry it with headroom.
        """
        if not self.may_stay or not self.product.sells_both or self.product.present is None:
            return None
        most = self.product.most if self.at_most is None else self.product.ceiling(self.at_most)
        short = [
            resource
            for resource, levels in ((Resource.IOPS, self.iops), (Resource.THROUGHPUT, self.throughput))
            if not any(level.minutes <= budget_minutes and self._may_have(level) for level in levels)
            or any(find_shortfalls("", most, at_least.without(OTHER[resource])))
        ]
        return short[0] if len(short) == 1 else None

    def _may_have(self, level: StairLevel) -> bool:
        if self.at_most is None:
            return True
        most_iops, most_mib_s = (figure or math.inf for figure in (self.at_most.iops, self.at_most.throughput_mib_s))
        return level.need.iops <= most_iops and level.need.throughput_mib_s <= most_mib_s

    def find_needs(self, budget_minutes: float, staying: Resource | None = None) -> Iterator[Need]:
        """Yields the pairs of IOPS and MiB/s within a budget of throttled minutes. No pair is higher than another on
        both sides."""
        if not self.product.has_figures:
            yield NOTHING
            return
        if staying is not None and self.product.present is not None:
            spec, other = self.product.present[0], OTHER[staying]
            levels = self.iops if other is Resource.IOPS else self.throughput
            cut = next(level.need for level in levels if level.minutes <= budget_minutes)
            present = Need(iops=spec.iops or 0.0, throughput_mib_s=spec.throughput_mib_s or 0.0)
            yield cut.no_less_than(present.without(other))
            return
        throughputs = [level for level in self.throughput if level.minutes <= budget_minutes]
        for iops in self.iops:
            for throughput in throughputs:
                if self.required.minutes(iops.throttled, throughput.throttled) <= budget_minutes:
                    yield iops.need.no_less_than(throughput.need)
                    break


def build_staircase(
    product: Product,
    required: Required,
    budget_minutes: float,
    tried: Tried | None = None,
    *,
    may_stay: bool = False,
    at_most: VolumeSpec | None = None,
) -> Staircase:
    """Builds the staircase of a product for a required demand, up to a budget of throttled minutes.

    `tried` caches what each ceiling throttles and grows here: types that count operations alike share most of it.
    """
    tried = {} if tried is None else tried
    levels = {resource: _find_levels(product, required, resource, budget_minutes, tried) for resource in RESOURCES}
    return Staircase(
        product=product,
        required=required,
        iops=levels[Resource.IOPS],
        throughput=levels[Resource.THROUGHPUT],
        may_stay=may_stay,
        at_most=at_most,
    )


def find_cheapest(stairs: Staircase, *, budget_minutes: float, at_least: Need = NOTHING) -> VolumeSpec | None:
    """Finds the cheapest spec that passes, carries `at_least` and was not measured to fail; None if none has a price.

    No figure of it is higher than in the staircase's `at_most`.
    """
    product, staying = stairs.product, stairs.find_staying(budget_minutes, at_least)
    best: tuple[float, int, VolumeSpec] | None = None
    for spec, ceiling in _candidates(stairs, budget_minutes, at_least, staying):
        if stairs.at_most is not None and is_higher(spec, stairs.at_most):
            continue
        usd_month = product.usd_month(spec)
        if usd_month is None or (best is not None and (usd_month, spec.iops or 0) >= best[:2]):
            continue
        tried = trial(stairs.required, ceiling.without(staying))
        if tried.is_within(budget_minutes=budget_minutes, max_wait_s=product.policy.max_wait_s):
            best = usd_month, spec.iops or 0, spec
    return None if best is None else best[2]


def is_higher(spec: VolumeSpec, other: VolumeSpec) -> bool:
    """A figure that is bought, IOPS or MiB/s, is higher than the other spec's."""
    return (spec.iops or 0) > (other.iops or 0) or (spec.throughput_mib_s or 0) > (other.throughput_mib_s or 0)


def _candidates(
    stairs: Staircase, budget_minutes: float, at_least: Need, staying: Resource | None
) -> Iterator[tuple[VolumeSpec, Ceiling]]:
    """Yields the specs to try, each with its ceiling: those on the staircase, and the present one."""
    product = stairs.product
    yield from ((spec, product.ceiling(spec)) for spec in _specs_on_stairs(stairs, budget_minutes, at_least, staying))
    if product.present is not None and not any(find_shortfalls("", product.present[1].without(staying), at_least)):
        yield product.present


def _specs_on_stairs(
    stairs: Staircase, budget_minutes: float, at_least: Need, staying: Resource | None
) -> Iterator[VolumeSpec]:
    """Yields the specs on the staircase. A spec measured as too slow is replaced by larger ones."""
    product = stairs.product
    promised = product.promised(at_least.without(staying))
    for need in stairs.find_needs(budget_minutes, staying):
        least = need.no_less_than(promised)
        spec = product.fit(least)
        if not product.refuted(spec):
            yield spec
            yield from product.fit_smaller(spec)
            continue
        larger_specs = (product.fit(least.no_less_than(beyond)) for beyond in _larger_needs(product.measured))
        yield from (spec for spec in larger_specs if not product.refuted(spec))


def _larger_needs(measured: Sequence[Need]) -> Iterator[Need]:
    """Yields needs that exceed at least one side of the measured figures."""
    throughputs = sorted(
        {0.0, *(need.throughput_mib_s + 1 for need in measured if math.isfinite(need.throughput_mib_s))}
    )
    for iops in sorted({0.0, *(need.iops + 1 for need in measured if math.isfinite(need.iops))}):
        yield from (Need(iops=iops, throughput_mib_s=moved) for moved in throughputs)


def _find_levels(
    product: Product, required: Required, resource: Resource, budget_minutes: float, tried: Tried
) -> list[StairLevel]:
    """Finds the figures of a resource that can be part of the answer, lowest first.

    For each number of throttled minutes within the budget it is the least figure that throttles no more, and lets
    nothing wait too long. None pass: the list is empty.
    """
    if not product.has_figures:
        return []
    grid, highest = product.grid(resource), product.promised(peaks(required, product.kind.accounting))
    most = grid.count_steps(figures_to_buy(product.kind, highest.without(OTHER[resource])))

    def level_at(steps: int) -> StairLevel:
        need = grid.make_need_at(steps)
        ceiling = product.ceiling(product.fit(need)).without(OTHER[resource])
        if ceiling not in tried:
            held = held_back(required, ceiling, resource)
            tried[ceiling] = held.minutes, required.minutes(held.minutes, held.minutes), held.longest_wait_s
        throttled, minutes, longest_wait_s = tried[ceiling]
        return StairLevel(need=need, throttled=throttled, minutes=minutes, longest_wait_s=longest_wait_s)

    levels: list[StairLevel] = []
    fewest, allowed = 0, math.floor(budget_minutes)
    while allowed >= 0:
        steps = fewest
        if fewest < most and not _is_level_within(level_at(fewest), allowed, product.policy):
            # Without a budget nothing under the peak passes.
            steps = (
                most
                if allowed == 0
                else _find_fewest(partial(_is_within_at, level_at, allowed, product.policy), fewest + 1, most)
            )
        level = level_at(min(steps, most))
        if not _is_level_within(level, allowed, product.policy):
            break
        levels.append(level)
        fewest, allowed = steps + 1, math.ceil(level.minutes) - 1
    return levels


def _is_level_within(level: StairLevel, allowed: float, policy: Policy) -> bool:
    return level.minutes <= allowed and level.longest_wait_s <= policy.max_wait_s


def _is_within_at(at: Callable[[int], StairLevel], allowed: float, policy: Policy, steps: int) -> bool:
    return _is_level_within(at(steps), allowed, policy)


def _find_fewest(passes: Callable[[int], bool], low: int, high: int) -> int:
    """Finds the fewest steps that pass by bisection; `high` if none do. More steps pass as well."""
    while low < high:
        middle = (low + high) // 2
        if passes(middle):
            high = middle
        else:
            low = middle + 1
    return low


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
        """The offer of a type for a budget, in throttled minutes in 30 days.

        It is made once and kept beside the load, but for a volume that would share a pool.
        """
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
        """The offer of a type for a budget: the cheapest that passes, or one with the reasons why it is refused."""
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
        wanted = Need.from_ceiling(self.case.present.counted_as(product.kind.accounting))
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
        carries = all(is_never_held_back(required, ceiling, resource) for resource in RESOURCES)
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
        """The failed measurements that show a spec of this type to be slower than published; none if nothing failed."""
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
        """The levels of a product, made once for the maker's highest budget."""
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
            return peaks(shared[0].load.pick(self._purpose).as_harmful, shared[0].ceiling.accounting)
        if kind.accounting not in self._needs:
            self._needs[kind.accounting] = peaks(self.case.load.pick(self._purpose).as_harmful, kind.accounting)
        return self._needs[kind.accounting]

    def _required_demand(self, load: Load) -> Required:
        required = load.pick(self._purpose)
        return required.as_harmful if self._harmful else required

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
        """The worst trial of an offer: by the loads of the pools that it would share, and its own if it shares none."""
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
        if tried.is_within(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s):
            return
        carriers = [
            (pool.name, pool.ceiling, peaks(pool.load.pick(purpose).as_harmful, pool.ceiling.accounting))
            for pool in shared
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
    """The words that refuse a spec: the minutes it throttles beyond the budget, or else how long work would wait."""
    if tried.throttled_minutes > budget_minutes:
        return (
            f"{spec} would throttle {tried.throttled_minutes:,.0f} minutes, and the policy allows {budget_minutes:,.0f}"
        )
    return f"behind {spec} work would wait up to {tried.longest_wait_s:,.0f} seconds"


def _is_pooled(kind: VolumeType, shared: Sequence[SharedLoad]) -> bool:
    return kind.pooled and bool(shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class SameLimits:
    """The same-limits replacements of volumes that change together.

    `drop_in` is the cheapest and preferred as `whole` is: the one that also keeps what the hosts cannot carry, which is
    not bought again. `full` keeps all limits on any host, where `drop_in` does not. `by_host` keeps what the hosts
    carry where no other replacement saves enough, and is of another type. `weighed` are all that this rests on.
    """

    drop_in: Bundle | None
    whole: Bundle | None
    full: Bundle | None = None
    by_host: Bundle | None = None
    weighed: tuple[Bundle, ...] = ()


def find_same_limits(cases: Sequence[Case], *, is_worth_it: Callable[[Bundle], bool]) -> SameLimits:
    """Finds the same-limits replacements of volumes that change together.

    None that is worth it buys again what the hosts never carry, unless less than today would be carried.
    """
    whole = find_drop_in([case.with_own_limits for case in cases])
    if not any(case.kept.by_host for case in cases):
        return SameLimits(drop_in=whole, whole=whole, weighed=() if whole is None else (whole,))
    full, by_host_limits = find_drop_in([case.with_all_limits for case in cases]), find_drop_in(cases)
    now = worst(trial(case.held.now, case.present) for case in cases)
    weighed = tuple(bundle for bundle in (whole, by_host_limits) if bundle is not None)
    if by_host_limits is None or by_host_limits.tried.throttled_minutes > now.throttled_minutes:
        return SameLimits(drop_in=whole, whole=whole, weighed=weighed)
    if whole is not None and is_worth_it(whole):
        return SameLimits(drop_in=by_host_limits, whole=whole, full=full, weighed=weighed)
    by_host = by_host_limits if all(case.volume.spec.type != by_host_limits.kind.name for case in cases) else None
    return SameLimits(drop_in=whole, whole=whole, full=full, by_host=by_host, weighed=weighed)


def find_drop_in(cases: Sequence[Case]) -> Bundle | None:
    """Finds the cheapest other type that can do everything the present volumes can; None if none can.

    It is tried by the demand now, without headroom: it passes as the present ones do. A type that shares a pool with
    volumes that do not change is left out: that needs proof of their demand. So is more of the type that a volume has,
    whatever failed: it does all that it can do. The size stays: what cannot be taken back rests on demand.
    """
    kinds = [
        kind
        for kind in cases[0].market.types.values()
        if not any(case.products.of(kind).refused for case in cases) and not _touches_others(cases, kind)
    ]
    bundles = [Bundle(kind=kind, offers=tuple(_drop_in(case, kind) for case in cases)) for kind in kinds]
    others = [
        bundle
        for bundle in bundles
        if bundle.feasible
        and any(offer.spec != case.volume.spec for offer, case in zip(bundle.offers, cases, strict=True))
        and not any(
            _is_more_of_type(offer.spec, case.volume.spec) for offer, case in zip(bundle.offers, cases, strict=True)
        )
    ]
    best = min(others, key=lambda bundle: bundle.order, default=None)
    if best is None:
        return None
    tried = [
        replace(offer, tried=trial(case.held.now, offer.ceiling), need=_carried_need(case, offer.ceiling))
        for offer, case in zip(best.offers, cases, strict=True)
    ]
    return replace(best, offers=tuple(tried))


def _is_more_of_type(spec: VolumeSpec, present: VolumeSpec) -> bool:
    """A spec is of the type that a volume has, and more of it is bought."""
    return spec.type == present.type and is_higher(spec, present)


def _touches_others(cases: Sequence[Case], kind: VolumeType) -> bool:
    """The change to a type changes the pool of another volume: one that it would join, or leave."""
    changing = {case.volume.id for case in cases}
    return any(
        not pool.as_now and not changing.issuperset(pool.volume_ids)
        for case in cases
        for pool in case.shared.get(kind.name, ())
    )


def _drop_in(case: Case, kind: VolumeType) -> Offer:
    """Makes the offer that carries everything the volume, or its pool, can use; once unless it shares a pool."""
    if case.shared or case.pool_gib != case.volume.spec.size_gib:
        return _make_drop_in(case, kind)
    known = case.products.of(kind).drop_ins
    if case.kept not in known:
        known[case.kept] = _make_drop_in(case, kind)
    return known[case.kept]


def _make_drop_in(case: Case, kind: VolumeType) -> Offer:
    """The offer of a type that keeps all limits, with what speaks against it."""
    volume, product = case.volume, replace(case.products.of(kind), grows=False)
    kept = case.kept
    wanted, measured = Need.from_ceiling(kept.ceiling.counted_as(kind.accounting)), product.failed
    spec = product.fit(product.promised(wanted))
    shared = case.shared.get(kind.name, ())
    pooled = kind.pooled and case.pool_gib != volume.spec.size_gib
    sized = replace(spec, size_gib=case.pool_gib) if pooled else spec
    ceiling = believed_ceiling(kind.ceiling(sized), measured) if kept.anywhere else product.ceiling(sized)
    refused = tuple(find_shortfalls(str(spec), ceiling, Need.from_ceiling(kept.ceiling.counted_as(ceiling.accounting))))
    slow: tuple[FailedMeasurement, ...] = ()
    short: tuple[FailedMeasurement, ...] = ()
    if measured:
        plain = product.fit(wanted)
        without = ceiling_on_hosts(kind, replace(plain, size_gib=sized.size_gib), volume)
        slow = () if spec == volume.spec else find_too_slow(volume, ceiling_on_hosts(kind, sized, volume), measured)
        short = find_limiting(without, wanted, measured)
    failed = tuple(measurement for measurement in measured if measurement in slow or measurement in short)
    return Offer(
        spec=spec,
        ceiling=ceiling,
        usd_month=product.usd_month(spec),
        tried=None,
        need=NOTHING,
        refused=(*refusals_by_measurements(failed if refused else slow), *refused),
        failed=failed,
        pool_gib=shared[0].size_gib if pooled and shared else None,
    )


def _carried_need(case: Case, ceiling: Ceiling) -> Need:
    """The highest rates that the present volume, or its pool, has to carry, as a ceiling counts them."""
    return peaks(case.held.keeping.as_harmful, ceiling.accounting)
