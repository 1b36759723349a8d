"""The cheapest configuration of a type that passes, in figures that people use.

A type sells IOPS and throughput, and a minute that either of them throttles is one throttled minute. So the pairs of
figures that pass are a staircase: fewer IOPS, more throughput. Of each resource only those figures can be on it at
which one minute more would be throttled; every pair of them is weighed (docs/decision.md, sections 4 and 5).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.ceiling import NOTHING, RESOURCES, Ceiling, Need, Resource
from plimsoll.domain.demand.load import peaks
from plimsoll.domain.demand.trial import Required, held_back, trial
from plimsoll.domain.offers.offer import find_shortfalls
from plimsoll.domain.offers.products import Product
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import VolumeSpec

Tried = dict[Ceiling, tuple[FloatArray, float, float]]
"""By ceiling of one resource: what it throttles of each bucket, in minutes, their sum, and the longest wait."""


_OTHER: Final = {Resource.IOPS: Resource.THROUGHPUT, Resource.THROUGHPUT: Resource.IOPS}


@dataclass(frozen=True, slots=True, kw_only=True)
class StairLevel:
    """One figure of one resource, and the throttled minutes that it causes."""

    figure: float
    throttled: FloatArray
    minutes: float
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """The levels of IOPS and of MiB/s of a product, for any budget up to the one they were made for.

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
            if not any(level.minutes <= budget_minutes and self._may_have(resource, level) for level in levels)
            or any(find_shortfalls("", most, at_least.without(_OTHER[resource])))
        ]
        return short[0] if len(short) == 1 else None

    def _may_have(self, resource: Resource, level: StairLevel) -> bool:
        if self.at_most is None:
            return True
        most = self.at_most.iops if resource is Resource.IOPS else self.at_most.throughput_mib_s
        return most is None or level.figure <= most

    def find_needs(self, budget_minutes: float, staying: Resource | None = None) -> Iterator[Need]:
        """Yields the pairs of IOPS and MiB/s within a budget of throttled minutes. No pair is higher than another on
        both sides."""
        if not self.product.has_figures:
            yield NOTHING
            return
        if staying is not None and self.product.present is not None:
            spec, other = self.product.present[0], _OTHER[staying]
            levels = self.iops if other is Resource.IOPS else self.throughput
            cut = next(level.figure for level in levels if level.minutes <= budget_minutes)
            present = Need(iops=spec.iops or 0.0, throughput_mib_s=spec.throughput_mib_s or 0.0)
            yield _need(other, cut).no_less_than(present.without(other))
            return
        throughputs = [level for level in self.throughput if level.minutes <= budget_minutes]
        for iops in self.iops:
            for throughput in throughputs:
                if self.required.minutes(iops.throttled, throughput.throttled) <= budget_minutes:
                    yield Need(iops=iops.figure, throughput_mib_s=throughput.figure)
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
        if tried.passes(budget_minutes=budget_minutes, max_wait_s=product.policy.max_wait_s):
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
    step, highest = product.step(resource), product.promised(peaks(required, product.kind.accounting))
    peak = highest.iops if resource is Resource.IOPS else highest.throughput_mib_s
    most = max(1, math.ceil(peak / step - 1e-9))

    def level_at(steps: int) -> StairLevel:
        ceiling = product.ceiling(product.fit(_need(resource, steps * step))).without(_OTHER[resource])
        if ceiling not in tried:
            held = held_back(required, ceiling, resource)
            tried[ceiling] = held.minutes, required.minutes(held.minutes, held.minutes), held.longest_wait_s
        throttled, minutes, longest_wait_s = tried[ceiling]
        return StairLevel(figure=steps * step, throttled=throttled, minutes=minutes, longest_wait_s=longest_wait_s)

    levels: list[StairLevel] = []
    fewest, allowed = 1, math.floor(budget_minutes)
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


def _need(resource: Resource, figure: float) -> Need:
    return Need(iops=figure) if resource is Resource.IOPS else Need(throughput_mib_s=figure)
