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
from plimsoll.domain.offers.offer import too_small
from plimsoll.domain.offers.products import Product
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import VolumeSpec

Tried = dict[Ceiling, tuple[FloatArray, float, float]]
"""By ceiling of one resource: what it throttles of each bucket, in minutes, their sum, and the longest wait."""


_OTHER: Final = {Resource.IOPS: Resource.THROUGHPUT, Resource.THROUGHPUT: Resource.IOPS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A figure of one resource on its grid, what it throttles of each bucket, in minutes, and the longest wait."""

    figure: float
    throttled: FloatArray
    minutes: float
    longest_wait_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Staircase:
    """The levels of both resources of a product, for any budget up to the one that they were made for.

    No figure may be higher than that of `at_most` (None: any that is sold). `may_stay`: of the present type, a resource
    that none of these carries stays as it is.
    """

    product: Product
    required: Required
    iops: Sequence[Level]
    throughput: Sequence[Level]
    may_stay: bool = False
    at_most: VolumeSpec | None = None

    def staying(self, budget_minutes: float, at_least: Need) -> Resource | None:
        """The one resource that stays as it is, because the most that may be had of the type does not carry it
        with headroom. None if both can be cut, or neither."""
        if not self.may_stay or not self.product.sells_both or self.product.present is None:
            return None
        most = self.product.most if self.at_most is None else self.product.ceiling(self.at_most)
        short = [
            resource
            for resource, levels in ((Resource.IOPS, self.iops), (Resource.THROUGHPUT, self.throughput))
            if not any(level.minutes <= budget_minutes and self._may_have(resource, level) for level in levels)
            or any(too_small("", most, at_least.without(_OTHER[resource])))
        ]
        return short[0] if len(short) == 1 else None

    def _may_have(self, resource: Resource, level: Level) -> bool:
        if self.at_most is None:
            return True
        most = self.at_most.iops if resource is Resource.IOPS else self.at_most.throughput_mib_s
        return most is None or level.figure <= most

    def needs(self, budget_minutes: float, staying: Resource | None = None) -> Iterator[Need]:
        """The pairs of figures that throttle no more minutes than that, none of which is more on both sides."""
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


def staircase(
    product: Product,
    required: Required,
    budget_minutes: float,
    tried: Tried | None = None,
    *,
    may_stay: bool = False,
    at_most: VolumeSpec | None = None,
) -> Staircase:
    """The staircase of a product for what is required, up to a budget of throttled minutes.

    `tried` is what ceilings are known to hold back of it, and comes to know more: types that count alike share most.
    """
    tried = {} if tried is None else tried
    levels = {resource: _levels(product, required, resource, budget_minutes, tried) for resource in RESOURCES}
    return Staircase(
        product=product,
        required=required,
        iops=levels[Resource.IOPS],
        throughput=levels[Resource.THROUGHPUT],
        may_stay=may_stay,
        at_most=at_most,
    )


def cheapest(stairs: Staircase, *, budget_minutes: float, at_least: Need = NOTHING) -> VolumeSpec | None:
    """The cheapest spec that passes, carries `at_least` that and was not measured to fail; None where none does or has
    a price. None of its figures is higher than those of the staircase's `at_most`."""
    product, staying = stairs.product, stairs.staying(budget_minutes, at_least)
    found: tuple[float, int, VolumeSpec] | None = None
    for spec, ceiling in _candidates(stairs, budget_minutes, at_least, staying):
        if stairs.at_most is not None and is_higher(spec, stairs.at_most):
            continue
        usd_month = product.usd_month(spec)
        if usd_month is None or (found is not None and (usd_month, spec.iops or 0) >= found[:2]):
            continue
        tried = trial(stairs.required, ceiling.without(staying))
        if tried.passes(budget_minutes=budget_minutes, max_wait_s=product.policy.max_wait_s):
            found = usd_month, spec.iops or 0, spec
    return None if found is None else found[2]


def is_higher(spec: VolumeSpec, other: VolumeSpec) -> bool:
    """Whether a figure that is bought is higher than the other spec's."""
    return (spec.iops or 0) > (other.iops or 0) or (spec.throughput_mib_s or 0) > (other.throughput_mib_s or 0)


def _candidates(
    stairs: Staircase, budget_minutes: float, at_least: Need, staying: Resource | None
) -> Iterator[tuple[VolumeSpec, Ceiling]]:
    """The specs to try, with what they carry: those on the staircase, and what the volume has."""
    product = stairs.product
    yield from ((spec, product.ceiling(spec)) for spec in _on_stairs(stairs, budget_minutes, at_least, staying))
    if product.present is not None and not any(too_small("", product.present[1].without(staying), at_least)):
        yield product.present


def _on_stairs(
    stairs: Staircase, budget_minutes: float, at_least: Need, staying: Resource | None
) -> Iterator[VolumeSpec]:
    """The specs on the staircase; where one was measured and answered too late, those that are larger than that."""
    product = stairs.product
    promised = product.promised(at_least.without(staying))
    for need in stairs.needs(budget_minutes, staying):
        least = need.no_less_than(promised)
        spec = product.fitted(least)
        if not product.refuted(spec):
            yield spec
            continue
        larger = (product.fitted(least.no_less_than(beyond)) for beyond in _beyond(product.measured))
        yield from (spec for spec in larger if not product.refuted(spec))


def _beyond(measured: Sequence[Need]) -> Iterator[Need]:
    """What is larger than some of the figures that measurements speak against."""
    throughputs = sorted({0.0, *(one.throughput_mib_s + 1 for one in measured if math.isfinite(one.throughput_mib_s))})
    for iops in sorted({0.0, *(one.iops + 1 for one in measured if math.isfinite(one.iops))}):
        yield from (Need(iops=iops, throughput_mib_s=moved) for moved in throughputs)


def _levels(
    product: Product, required: Required, resource: Resource, budget_minutes: float, tried: Tried
) -> list[Level]:
    """The figures of a resource that may be on the staircase, lowest first: for each number of throttled minutes within
    the budget the least that throttles no more, and lets nothing wait too long. Nothing where no figure does."""
    if not product.has_figures:
        return []
    step, highest = product.step(resource), product.promised(peaks(required, product.kind.accounting))
    peak = highest.iops if resource is Resource.IOPS else highest.throughput_mib_s
    most = max(1, math.ceil(peak / step - 1e-9))

    def at(steps: int) -> Level:
        ceiling = product.ceiling(product.fitted(_need(resource, steps * step))).without(_OTHER[resource])
        if ceiling not in tried:
            held = held_back(required, ceiling, resource)
            tried[ceiling] = held.minutes, required.minutes(held.minutes, held.minutes), held.longest_wait_s
        throttled, minutes, longest_wait_s = tried[ceiling]
        return Level(figure=steps * step, throttled=throttled, minutes=minutes, longest_wait_s=longest_wait_s)

    found: list[Level] = []
    fewest, allowed = 1, math.floor(budget_minutes)
    while allowed >= 0:
        steps = fewest
        if fewest < most and not _passes(at(fewest), allowed, product.policy):
            # Without a budget nothing under the peak passes.
            steps = (
                most if allowed == 0 else _fewest(partial(_passes_at, at, allowed, product.policy), fewest + 1, most)
            )
        level = at(min(steps, most))
        if not _passes(level, allowed, product.policy):
            break
        found.append(level)
        fewest, allowed = steps + 1, math.ceil(level.minutes) - 1
    return found


def _passes(level: Level, allowed: float, policy: Policy) -> bool:
    return level.minutes <= allowed and level.longest_wait_s <= policy.max_wait_s


def _passes_at(at: Callable[[int], Level], allowed: float, policy: Policy, steps: int) -> bool:
    return _passes(at(steps), allowed, policy)


def _fewest(passes: Callable[[int], bool], low: int, high: int) -> int:
    """The fewest steps that pass, where more pass as well; the most where none do."""
    while low < high:
        middle = (low + high) // 2
        if passes(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _need(resource: Resource, figure: float) -> Need:
    return Need(iops=figure) if resource is Resource.IOPS else Need(throughput_mib_s=figure)
