"""Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until the saturated resource stands at its
ceiling, or beyond it by `throttle_lift_pct` where saturation is frequent. Neither figure goes beyond its own ceiling by
more than that (docs/decision.md, section 3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.domain.demand.batch_jobs import Told, takes_what_it_gets
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.demand.saturation import standing, throttled
from plimsoll.domain.metrics.knowledge import BoolArray
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.policy import Policy

FREQUENT_MINUTES = 30
"""Saturation of fewer minutes is rare, however short the epoch was."""

LEAST_RATE = 1e-9
"""A rate under this is none: a bucket without work has no mix that could be lifted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The buckets of one epoch and what the volume could carry in it (None: not known, so that nothing is saturated).

    `raised` are the resources whose ceiling a later epoch raised: that one shows what the workload does, so nothing is
    lifted here. `told` is what whole days tell of it and of the epochs before, None where there was none.
    """

    buckets: slice
    ceiling: Ceiling | None
    raised: frozenset[Resource] = frozenset()
    told: Told | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A demand with its saturated buckets lifted, and which these are.

    `demand` is what would have been asked for: so many times the `operations` and the bytes `moved` of each bucket.
    `saturated` are the buckets by resource, `any` those on either, of which the
    cloud's checks alone show the `flagged`, and `frequent` the resources that are saturated
    frequently in an epoch whose limit was not raised since. `deferred` are those of which the workload takes what it
    gets, and `most` is how many times its operations and bytes a bucket can want: there no more than the ceiling.
    """

    demand: Demand
    operations: FloatArray | float
    moved: FloatArray | float
    saturated: Mapping[Resource, BoolArray]
    any: BoolArray
    flagged: BoolArray
    frequent: frozenset[Resource]
    most: Mapping[Resource, FloatArray | float]
    deferred: frozenset[Resource] = frozenset()

    def of(self, demand: Demand) -> "Lifted":
        """A part of the demand, lifted as all of it."""
        return replace(self, demand=scaled(demand.rates, self.operations, self.moved))


def lift(demand: Demand, spans: Sequence[Span], policy: Policy) -> Lifted:
    """A demand lifted where it was held back, span by span; `spans` are in the order of time and cover it.

    A resource whose limit was raised since is not lifted, nor one of which a job took more without doing more.
    """
    factors: dict[Resource, FloatArray] = {}
    most: dict[Resource, FloatArray | float] = dict.fromkeys(Resource, np.inf)
    saturated = {resource: np.zeros_like(demand.observed) for resource in RESOURCES}
    stood = np.zeros_like(demand.observed)
    frequent: set[Resource] = set()
    deferred: set[Resource] = set()
    for span in spans:
        if span.ceiling is None:
            continue
        inside = np.zeros_like(demand.observed)
        inside[span.buckets] = True
        at = dict(zip(Resource, throttled(demand, span.ceiling, policy), strict=True))
        if at[Resource.IOPS].any() or at[Resource.THROUGHPUT].any():
            stood |= np.logical_or(*standing(demand, span.ceiling, policy)) & inside
        for resource in RESOURCES:
            here = at[resource] & inside
            if not here.any():
                continue
            saturated[resource] |= here
            if resource in span.raised:
                continue
            if span.told is not None and takes_what_it_gets(demand, span.ceiling, span.told, here, resource):
                deferred.add(resource)
                enough = _factors(demand, span.ceiling, resource, 1.0)[resource]
                most[resource] = np.where(here, enough, most[resource])
                continue
            often = is_frequent(demand.minutes(here), demand.minutes(demand.observed & inside), policy)
            frequent |= {resource} if often else set()
            beyond = 1 + policy.throttle_lift_pct / 100 if often else 1.0
            for side, factor in _factors(demand, span.ceiling, resource, beyond).items():
                before = factors.get(side, np.ones_like(demand.iops))
                factors[side] = np.where(here, np.maximum(before, factor), before)
    operations, moved = (factors.get(resource, 1.0) for resource in RESOURCES)
    either = saturated[Resource.IOPS] | saturated[Resource.THROUGHPUT]
    return Lifted(
        demand=scaled(demand.rates, operations, moved),
        operations=operations,
        moved=moved,
        saturated=saturated,
        any=either,
        flagged=either & ~stood,
        frequent=frozenset(frequent),
        most=most,
        deferred=frozenset(deferred),
    )


def is_frequent(minutes: float, observed_minutes: float, policy: Policy) -> bool:
    """Whether so many minutes of those observed are frequent."""
    return minutes >= max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)


def _factors(demand: Demand, ceiling: Ceiling, resource: Resource, beyond: float) -> dict[Resource, FloatArray]:
    """How many times its operations and its bytes a bucket would have done that is saturated on a resource."""
    rates = {
        Resource.IOPS: demand.counted_iops(ceiling.accounting),
        Resource.THROUGHPUT: demand.counted_throughput_mib_s(ceiling.accounting),
    }
    times = {
        side: np.divide(ceiling.limit(side) * beyond, rate, out=np.ones_like(rate), where=rate > LEAST_RATE)
        for side, rate in rates.items()
    }
    return {side: np.maximum(1.0, np.minimum(times[resource], times[side])) for side in RESOURCES}
