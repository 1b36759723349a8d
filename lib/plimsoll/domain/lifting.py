"""Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until the saturated resource stands at its
ceiling, or beyond it by `throttle_lift_pct` where saturation is frequent. Neither figure goes beyond its own ceiling by
more than that (docs/decision.md, section 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import BoolArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.saturation import throttled

FREQUENT_MINUTES = 30
"""Saturation of fewer minutes is rare, however short the epoch was."""

LEAST_RATE = 1e-9
"""A rate under this is none: a bucket without work has no mix that could be lifted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The buckets of one epoch and what the volume could carry in it (None: not known, so that nothing is saturated).

    `raised` are the resources whose ceiling a later epoch raised: that one shows what the workload does, so nothing is
    lifted here.
    """

    buckets: slice
    ceiling: Ceiling | None
    raised: frozenset[Resource] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A demand with its saturated buckets lifted, and which these are.

    `demand` is what would have been asked for, `saturated` the buckets by resource, `frequent` the resources that are
    saturated frequently in the present epoch.
    """

    demand: Demand
    saturated: dict[Resource, BoolArray]
    frequent: frozenset[Resource]

    @property
    def any(self) -> BoolArray:
        """The buckets that are saturated on either resource."""
        return self.saturated[Resource.IOPS] | self.saturated[Resource.THROUGHPUT]


def lift(demand: Demand, spans: Sequence[Span], policy: Policy) -> Lifted:
    """A demand lifted where it was held back, span by span; `spans` are in the order of time and cover it."""
    operations, moved = np.ones_like(demand.iops), np.ones_like(demand.iops)
    saturated = {resource: np.zeros_like(demand.observed) for resource in Resource}
    frequent: frozenset[Resource] = frozenset()
    for span in spans:
        if span.ceiling is None:
            frequent = frozenset()
            continue
        at = dict(zip((Resource.IOPS, Resource.THROUGHPUT), throttled(demand, span.ceiling, policy), strict=True))
        inside = np.zeros_like(demand.observed)
        inside[span.buckets] = True
        for resource in Resource:
            saturated[resource] |= at[resource] & inside
        frequent = _frequent(demand, {resource: at[resource] & inside for resource in Resource}, inside, policy)
        factors = _factors(demand, span, {resource: at[resource] & inside for resource in Resource}, frequent, policy)
        operations, moved = np.where(inside, factors[0], operations), np.where(inside, factors[1], moved)
    return Lifted(demand=_scaled(demand, operations, moved), saturated=saturated, frequent=frequent)


def _frequent(demand: Demand, at: dict[Resource, BoolArray], inside: BoolArray, policy: Policy) -> frozenset[Resource]:
    observed_minutes = demand.minutes(demand.observed & inside)
    least = max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)
    return frozenset(resource for resource, buckets in at.items() if demand.minutes(buckets) >= least)


def _factors(
    demand: Demand, span: Span, at: dict[Resource, BoolArray], frequent: frozenset[Resource], policy: Policy
) -> tuple[FloatArray, FloatArray]:
    """How many times its operations and its bytes a bucket would have done."""
    if span.ceiling is None:
        raise ValueError("a span without a ceiling has nothing to lift")
    accounting = span.ceiling.accounting
    rates = {
        Resource.IOPS: demand.counted_iops(accounting),
        Resource.THROUGHPUT: demand.counted_throughput_mib_s(accounting),
    }
    limits = {Resource.IOPS: span.ceiling.iops, Resource.THROUGHPUT: span.ceiling.throughput_mib_s}
    lifted = 1 + policy.throttle_lift_pct / 100
    factor = np.ones_like(demand.iops)
    beyond = dict.fromkeys(Resource, 1.0)
    for resource in Resource:
        if resource in span.raised:
            continue
        beyond[resource] = lifted if resource in frequent else 1.0
        up_to = np.divide(
            limits[resource] * beyond[resource],
            rates[resource],
            out=np.ones_like(factor),
            where=rates[resource] > LEAST_RATE,
        )
        factor = np.maximum(factor, np.where(at[resource], up_to, 1.0))
    most = max(beyond.values())
    return tuple(  # type: ignore[return-value]  # two of them
        np.minimum(
            factor,
            np.maximum(
                1.0,
                np.divide(limits[r] * most, rates[r], out=np.full_like(factor, np.inf), where=rates[r] > LEAST_RATE),
            ),
        )
        for r in (Resource.IOPS, Resource.THROUGHPUT)
    )


def _scaled(demand: Demand, operations: FloatArray, moved: FloatArray) -> Demand:
    return replace(
        demand,
        iops=demand.iops * operations,
        read_iops=demand.read_iops * operations,
        throughput_mib_s=demand.throughput_mib_s * moved,
        read_throughput_mib_s=demand.read_throughput_mib_s * moved,
    )
