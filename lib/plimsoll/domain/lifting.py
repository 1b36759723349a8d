"""Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until the saturated resource stands at its
ceiling, or beyond it by `throttle_lift_pct` where saturation is frequent. Neither figure goes beyond its own ceiling by
more than that (docs/decision.md, section 3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand import Demand, scaled
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

    `demand` is what would have been asked for: so many times the `operations` and the bytes `moved` of each bucket.
    `saturated` are the buckets by resource, `frequent` the resources that are saturated frequently in the present
    epoch.
    """

    demand: Demand
    operations: FloatArray
    moved: FloatArray
    saturated: Mapping[Resource, BoolArray]
    frequent: frozenset[Resource]

    @property
    def any(self) -> BoolArray:
        """The buckets that are saturated on either resource."""
        return self.saturated[Resource.IOPS] | self.saturated[Resource.THROUGHPUT]

    def of(self, demand: Demand) -> "Lifted":
        """A part of the demand, lifted as all of it."""
        return Lifted(
            demand=scaled(demand, self.operations, self.moved),
            operations=self.operations,
            moved=self.moved,
            saturated=self.saturated,
            frequent=self.frequent,
        )


def lift(demand: Demand, spans: Sequence[Span], policy: Policy, host_bound: BoolArray | None = None) -> Lifted:
    """A demand lifted where it was held back, span by span; `spans` are in the order of time and cover it.

    What the host bound does not count when frequent saturation is told: a larger volume would not help there.
    """
    operations, moved = np.ones_like(demand.iops), np.ones_like(demand.iops)
    saturated = {resource: np.zeros_like(demand.observed) for resource in Resource}
    frequent: frozenset[Resource] = frozenset()
    for span in spans:
        frequent = frozenset()
        if span.ceiling is None:
            continue
        inside = np.zeros_like(demand.observed)
        inside[span.buckets] = True
        found = zip(Resource, throttled(demand, span.ceiling, policy), strict=True)
        at = {resource: buckets & inside for resource, buckets in found}
        for resource in Resource:
            saturated[resource] |= at[resource]
        if not any(buckets.any() for buckets in at.values()):
            continue
        frequent = frozenset(_frequent(demand, at, inside, host_bound, policy))
        factors = _factors(demand, span.ceiling, span.raised, at, frequent, policy)
        operations, moved = np.where(inside, factors[0], operations), np.where(inside, factors[1], moved)
    return Lifted(
        demand=scaled(demand, operations, moved),
        operations=operations,
        moved=moved,
        saturated=saturated,
        frequent=frequent,
    )


def is_frequent(minutes: float, observed_minutes: float, policy: Policy) -> bool:
    """Whether so many minutes of those observed are frequent."""
    return minutes >= max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)


def _frequent(
    demand: Demand,
    at: Mapping[Resource, BoolArray],
    inside: BoolArray,
    host_bound: BoolArray | None,
    policy: Policy,
) -> Iterator[Resource]:
    observed_minutes = demand.minutes(demand.observed & inside)
    for resource, buckets in at.items():
        counted = buckets if host_bound is None else buckets & ~host_bound
        if is_frequent(demand.minutes(counted), observed_minutes, policy):
            yield resource


def _factors(
    demand: Demand,
    ceiling: Ceiling,
    raised: frozenset[Resource],
    at: Mapping[Resource, BoolArray],
    frequent: frozenset[Resource],
    policy: Policy,
) -> tuple[FloatArray, FloatArray]:
    """How many times its operations and its bytes a bucket would have done."""
    rates = {
        Resource.IOPS: demand.counted_iops(ceiling.accounting),
        Resource.THROUGHPUT: demand.counted_throughput_mib_s(ceiling.accounting),
    }
    limits = {Resource.IOPS: ceiling.iops, Resource.THROUGHPUT: ceiling.throughput_mib_s}
    lifted = 1 + policy.throttle_lift_pct / 100
    factor = np.ones_like(demand.iops)
    most = 1.0
    for resource in Resource:
        if resource in raised:
            continue
        beyond = lifted if resource in frequent else 1.0
        most = max(most, beyond)
        to_limit = _times(rates[resource], limits[resource] * beyond, otherwise=1.0)
        factor = np.maximum(factor, np.where(at[resource], to_limit, 1.0))
    operations, moved = (
        np.minimum(factor, np.maximum(1.0, _times(rates[resource], limits[resource] * most, otherwise=np.inf)))
        for resource in Resource
    )
    return operations, moved


def _times(rate: FloatArray, limit: float, *, otherwise: float) -> FloatArray:
    """How many times a rate a limit is."""
    return np.divide(limit, rate, out=np.full_like(rate, otherwise), where=rate > LEAST_RATE)
