"""The cheapest configuration of a type that passes, in figures that people use.

A type sells IOPS and throughput, and a minute that either of them throttles is one throttled minute. So the pairs of
figures that pass are a staircase: fewer IOPS, more throughput. Of each resource only those figures can be on it at
which one minute more would be throttled; every pair of them is weighed (docs/decision.md, sections 4 and 5).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.ceiling import Accounting, Ceiling, Resource
from plimsoll.domain.need import Need
from plimsoll.domain.offer import fitted
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.trial import Required, held_back, trial
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import Provisioned, VolumeType

NOTHING: Final = Need()


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A figure of one resource on its grid, the buckets that it throttles, and the longest wait behind it."""

    figure: float
    throttled: FloatArray
    longest_wait_s: float


def cheapest(
    kind: VolumeType,
    size_gib: int,
    required: Required,
    book: PriceBook,
    policy: Policy,
    *,
    budget_minutes: float,
    at_least: Need = NOTHING,
) -> VolumeSpec | None:
    """The cheapest spec of a type that passes and carries `at_least` that; None where none does or has a price."""
    found = [
        (usd, spec)
        for spec in _candidates(kind, size_gib, required, policy, budget_minutes, at_least)
        if (usd := book.usd_month(spec)) is not None
        and trial(required, kind.ceiling(spec)).passes(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s)
    ]
    return min(found, key=lambda one: (one[0], str(one[1])), default=(0.0, None))[1]


def _candidates(
    kind: VolumeType, size_gib: int, required: Required, policy: Policy, budget_minutes: float, at_least: Need
) -> Iterator[VolumeSpec]:
    if not isinstance(kind.iops, Provisioned) and not isinstance(kind.throughput, Provisioned):
        yield fitted(kind, size_gib, at_least)
        return
    accounting = kind.accounting
    throughputs = levels(required, Resource.THROUGHPUT, accounting, policy, budget_minutes)
    for iops in levels(required, Resource.IOPS, accounting, policy, budget_minutes):
        for throughput in throughputs:
            if required.minutes(iops.throttled, throughput.throttled) <= budget_minutes:
                found = Need(iops=iops.figure, throughput_mib_s=throughput.figure)
                yield fitted(kind, size_gib, found.no_less_than(at_least))
                break


def levels(
    required: Required, resource: Resource, accounting: Accounting, policy: Policy, budget_minutes: float
) -> list[Level]:
    """The figures of a resource that may be on the staircase, lowest first: for each number of throttled minutes within
    the budget the least that throttles no more, and lets nothing wait too long."""
    step = policy.iops_step if resource is Resource.IOPS else policy.throughput_step_mib_s

    def at(steps: int) -> Level:
        held = held_back(required, _ceiling(resource, steps * step, accounting), resource)
        return Level(figure=steps * step, throttled=held.minutes, longest_wait_s=held.longest_wait_s)

    def passes(level: Level, allowed: float) -> bool:
        return (
            required.minutes(level.throttled, level.throttled) <= allowed and level.longest_wait_s <= policy.max_wait_s
        )

    found: list[Level] = []
    most_steps = _steps_for_all(required, resource, accounting, step)
    allowed = math.floor(budget_minutes)
    while True:
        low, high = 1, most_steps
        while low < high:
            middle = (low + high) // 2
            if passes(at(middle), allowed):
                high = middle
            else:
                low = middle + 1
        level = at(low)
        found.append(level)
        minutes = required.minutes(level.throttled, level.throttled)
        if minutes == 0:
            return found
        allowed = math.ceil(minutes) - 1


def _steps_for_all(required: Required, resource: Resource, accounting: Accounting, step: int) -> int:
    peaks = []
    for demand in (required.work, required.short):
        rate = (
            demand.counted_iops(accounting)
            if resource is Resource.IOPS
            else demand.counted_throughput_mib_s(accounting)
        )
        peaks.append(float(rate.max(initial=0.0)))
    return max(1, math.ceil(max(peaks) / step - 1e-9))


def _ceiling(resource: Resource, figure: float, accounting: Accounting) -> Ceiling:
    """A ceiling of one resource alone."""
    iops, throughput = (figure, math.inf) if resource is Resource.IOPS else (math.inf, figure)
    return Ceiling(
        iops=iops,
        throughput_mib_s=throughput,
        io_kib=accounting.io_kib,
        write_iops_cost=accounting.write_iops_cost,
        write_throughput_cost=accounting.write_throughput_cost,
    )
