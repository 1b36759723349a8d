"""Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until either figure stands at its ceiling, or
beyond it by `throttle_lift_pct` where saturation is frequent. Where seconds alone show it their mix is not known: the
saturated figure goes all the way, and the other one no further than its own seconds allow (docs/decision.md, section
3).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.domain.demand.batch_jobs import Told, takes_what_it_gets
from plimsoll.domain.demand.demand import Demand, scaled
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.room import Lifted, Lifts, is_frequent
from plimsoll.domain.demand.saturation import in_seconds, standing, steady, throttled
from plimsoll.domain.policy import Policy

LEAST_RATE = 1e-9
"""A rate under this is none: a bucket without work has no mix that could be lifted."""

_OTHER: Final = dict(zip(RESOURCES, reversed(RESOURCES), strict=True))


def lift(demand: Demand, epochs: Sequence[Epoch], policy: Policy, told: Sequence[Told | None] = ()) -> Lifted:
    """A demand lifted where it was held back, epoch by epoch; `epochs` are in the order of time and cover it.

    A resource whose limit was raised since is not lifted, nor one of which a job took more without doing more. `told`
    is what whole days tell of each epoch and of those before it, None where there was none.
    """
    saturated = {resource: np.zeros_like(demand.observed) for resource in RESOURCES}
    most: dict[Resource, FloatArray | float] = dict.fromkeys(Resource, np.inf)
    stood = np.zeros_like(demand.observed)
    frequent: set[Resource] = set()
    deferred: set[Resource] = set()
    beyond, at_ceiling, held = _Factors(), _Factors(), _Factors(np.inf, np.minimum)
    for epoch, days in zip_longest(epochs, told):
        if epoch.ceiling is None:
            continue
        inside = np.zeros_like(demand.observed)
        inside[epoch.buckets] = True
        at = dict(zip(Resource, throttled(demand, epoch.ceiling, policy), strict=True))
        if not ((at[Resource.IOPS] | at[Resource.THROUGHPUT]) & inside).any():
            continue
        stood |= np.logical_or(*standing(demand, epoch.ceiling, policy)) & inside
        by_seconds = _by_seconds(demand, epoch, epoch.ceiling, policy)
        here_at = {resource: at[resource] & inside for resource in RESOURCES}
        waited = np.zeros_like(demand.observed)
        for resource in _taking(demand, epoch, epoch.ceiling, here_at, days):
            deferred.add(resource)
            waited |= here_at[resource]
        if waited.any():
            enough = _times(demand, epoch.ceiling, 1.0)
            most = {side: np.where(waited, np.maximum(1.0, enough[side]), most[side]) for side in RESOURCES}
        for resource, all_here in here_at.items():
            saturated[resource] |= all_here
            here = all_here & ~waited
            if resource in epoch.raised or not here.any():
                continue
            often = is_frequent(demand.minutes(here), demand.minutes(demand.observed & inside), policy)
            times = 1 + policy.throttle_lift_pct / 100 if often else 1.0
            frequent |= {resource} if often else set()
            beyond.add(_lifts(demand, epoch.ceiling, resource, times, by_seconds[resource]), here)
            at_ceiling.add(_lifts(demand, epoch.ceiling, resource, 1.0, by_seconds[resource]), here)
            if often:
                held.add({resource: np.maximum(1.0, _times(demand, epoch.ceiling, 1.0)[resource])}, here)
    either = saturated[Resource.IOPS] | saturated[Resource.THROUGHPUT]
    operations, moved = beyond.both
    return Lifted(
        demand=scaled(demand.rates, operations, moved),
        operations=operations,
        moved=moved,
        saturated=saturated,
        any=either,
        flagged=either & ~stood,
        frequent=frozenset(frequent),
        most=most,
        holding=_where_saturated(saturated, at_ceiling.both, beyond.both),
        held=held.both,
        deferred=frozenset(deferred),
    )


def _where_saturated(saturated: Mapping[Resource, BoolArray], lifts: Lifts, elsewhere: Lifts) -> Lifts:
    """Lifts of each figure where its own resource is saturated, and others elsewhere."""
    operations, moved = (
        np.where(saturated[resource], lift, other)
        for resource, lift, other in zip(RESOURCES, lifts, elsewhere, strict=True)
    )
    return operations, moved


def _taking(
    demand: Demand, epoch: Epoch, ceiling: Ceiling, at: Mapping[Resource, BoolArray], told: Told | None
) -> Iterator[Resource]:
    """The resources of which a job takes what it gets in an epoch. What it waited for in such buckets is no work more,
    on either side."""
    if told is None:
        return
    for resource, here in at.items():
        is_kept = resource not in epoch.raised and here.any()
        if is_kept and takes_what_it_gets(demand, ceiling, told, here, resource):
            yield resource


class _Factors:
    """How many times its operations and its bytes each bucket has, gathered epoch by epoch."""

    def __init__(self, unless: float = 1.0, combine: Callable[..., FloatArray] = np.maximum) -> None:
        self._unless, self._combine = unless, combine
        self._factors: dict[Resource, FloatArray] = {}

    def add(self, factors: Mapping[Resource, FloatArray], here: BoolArray) -> None:
        """Counts factors in some buckets."""
        for side, factor in factors.items():
            before = self._factors.get(side, np.full_like(factor, self._unless))
            self._factors[side] = np.where(here, self._combine(before, factor), before)

    @property
    def both(self) -> Lifts:
        """Those of operations and of bytes."""
        operations, moved = (self._factors.get(resource, self._unless) for resource in RESOURCES)
        return operations, moved


def _times(demand: Demand, ceiling: Ceiling, beyond: float) -> dict[Resource, FloatArray]:
    """How many times its rate each bucket would stand at so much of the ceiling, by resource; infinite without work."""
    rates = {
        Resource.IOPS: demand.counted_iops(ceiling.accounting),
        Resource.THROUGHPUT: demand.counted_throughput_mib_s(ceiling.accounting),
    }
    return {
        side: np.divide(ceiling.limit(side) * beyond, rate, out=np.full_like(rate, np.inf), where=rate > LEAST_RATE)
        for side, rate in rates.items()
    }


@dataclass(frozen=True, slots=True)
class _BySeconds:
    """The buckets that single seconds alone show to be saturated on a resource, and whether the other one's seconds are
    known and never stood at its ceiling."""

    buckets: BoolArray
    other_is_clear: bool


def _by_seconds(demand: Demand, epoch: Epoch, ceiling: Ceiling, policy: Policy) -> dict[Resource, _BySeconds]:
    seconds, means = in_seconds(demand, ceiling, policy), steady(demand, ceiling, policy)
    shown = [np.zeros_like(demand.observed) if at is None else at for at in seconds]
    clear = [at is not None and not at[epoch.buckets].any() for at in seconds]
    return {
        Resource.IOPS: _BySeconds(shown[0] & ~means[0], other_is_clear=clear[1]),
        Resource.THROUGHPUT: _BySeconds(shown[1] & ~means[1], other_is_clear=clear[0]),
    }


def _lifts(
    demand: Demand, ceiling: Ceiling, resource: Resource, beyond: float, by_seconds: _BySeconds
) -> dict[Resource, FloatArray]:
    """How many times its operations and its bytes a bucket would have done that is saturated on a resource.

    If no second of the other one stood at its ceiling, that is as far as it follows; and it follows nowhere if the line
    would be beyond that already: those seconds were of another mix.
    """
    times, (own, other) = _times(demand, ceiling, beyond), (resource, _OTHER[resource])
    along, beside = np.minimum(times[own], times[other]), np.minimum(times[own], times[other])
    if by_seconds.other_is_clear:
        to_ceiling = _times(demand, ceiling, 1.0)
        disproved = to_ceiling[own] > to_ceiling[other]
        beside = np.where(disproved, 1.0, np.minimum(beside, to_ceiling[other]))
    lifts = {
        own: np.where(by_seconds.buckets, times[own], along),
        other: np.where(by_seconds.buckets, beside, along),
    }
    works = np.isfinite(times[own])
    return {side: np.where(works, np.maximum(1.0, lift), 1.0) for side, lift in lifts.items()}
