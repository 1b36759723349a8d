"""Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until either figure stands at its ceiling, or
beyond it by `throttle_lift_pct` where saturation is frequent. Where seconds alone show it their mix is not known: the
saturated figure goes all the way, and the other one no further than its own seconds allow (docs/decision.md, section
3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

import numpy as np

from plimsoll.demand.days import Told, takes_what_it_gets
from plimsoll.demand.demand import Demand, divide_rates, either_side, limits_of, scale_demand
from plimsoll.demand.epochs import Epoch
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.model.policy import Policy
from plimsoll.model.units import MINUTE_S
from plimsoll.reading.window import FIVE_MINUTES_S

FREQUENT_MINUTES: Final = 30
"""Saturation of fewer minutes is rare, however short the epoch was."""

MINUTES_SUMMED: Final = FIVE_MINUTES_S / MINUTE_S
"""The minutes of a point that a host publishes each five minutes."""

Lifts = FloatArray | float
"""How many times its rates a bucket would have had: a number or [side, bucket]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted:
    """A demand with its saturated buckets lifted."""

    demand: Demand
    """The demand `times` over."""
    times: Lifts
    saturated: BoolArray
    """[side, bucket]"""
    flagged: BoolArray
    """The saturated buckets that the cloud's checks alone show."""
    frequent: frozenset[Resource]
    """The resources that are saturated frequently in an epoch whose limit was not raised since."""
    most: Lifts
    """How many times its rates a bucket can want: no more than the ceiling where the workload takes what it gets."""
    holding: Lifts
    """The lifts for an offer that holds back as much as today: of a saturated side up to the ceiling alone."""
    held: Lifts
    """How many times its rates a bucket can want then: of a frequently saturated side no more than the ceiling."""
    deferred: frozenset[Resource]
    """The resources of which the workload takes what it gets."""

    @property
    def any(self) -> BoolArray:
        """The buckets that are saturated on either side."""
        return either_side(self.saturated)

    def of(self, demand: Demand) -> "Lifted":
        """A part of the demand, lifted as all of it."""
        return replace(self, demand=scale_demand(demand.without_spread, self.times))


def is_frequent(minutes: float, observed_minutes: float, policy: Policy) -> bool:
    """True if as many of the observed minutes are frequent."""
    return minutes >= max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)


def lift(demand: Demand, epochs: Sequence[Epoch], policy: Policy, told: Sequence[Told | None] = ()) -> Lifted:
    """A demand lifted where it was held back, epoch by epoch; `epochs` are in the order of time and cover it.

    A resource whose limit was raised since is not lifted, nor one of which a job took more without doing more. `told`
    is what whole days tell of each epoch and of those before it, None where there was none.
    """
    saturated = np.zeros((len(RESOURCES), len(demand.observed)), dtype=np.bool_)
    stood = np.zeros_like(demand.observed)
    frequent: set[Resource] = set()
    deferred: set[Resource] = set()
    beyond: Lifts = 1.0
    at_ceiling: Lifts = 1.0
    most: Lifts = np.inf
    held: Lifts = np.inf
    for epoch, days in zip_longest(epochs, told):
        if epoch.ceiling is None:
            continue
        inside = np.zeros_like(demand.observed)
        inside[epoch.buckets] = True
        here = find_saturated(demand, epoch.ceiling, policy) & inside
        if not here.any():
            continue
        saturated |= here
        stood |= either_side(_find_standing(demand, epoch.ceiling, policy)) & inside
        taking = list(_taking(demand, epoch, epoch.ceiling, here, days))
        deferred.update(taking)
        waited = np.logical_or.reduce([here[resource.side] for resource in taking]) if taking else np.False_
        to_ceiling = np.maximum(1.0, divide_rates(limits_of(epoch.ceiling), demand.count(epoch.ceiling.accounting)))
        if taking:
            most = np.where(waited, to_ceiling, most)
        by_seconds = _find_by_seconds(demand, epoch, epoch.ceiling, policy)
        for resource in RESOURCES:
            lifted = here[resource.side] & ~waited
            if resource in epoch.raised or not lifted.any():
                continue
            often = is_frequent(demand.minutes(lifted), demand.minutes(demand.observed & inside), policy)
            times = 1 + policy.throttle_lift_pct / 100 if often else 1.0
            lifts = _find_lifts(demand, epoch.ceiling, resource.side, times, by_seconds)
            beyond = np.where(lifted, np.maximum(beyond, lifts), beyond)
            lifts = _find_lifts(demand, epoch.ceiling, resource.side, 1.0, by_seconds)
            at_ceiling = np.where(lifted, np.maximum(at_ceiling, lifts), at_ceiling)
            if often:
                frequent.add(resource)
                is_side = np.arange(len(RESOURCES))[:, np.newaxis] == resource.side
                held = np.where(lifted & is_side, np.minimum(held, to_ceiling), held)
    return Lifted(
        demand=scale_demand(demand.without_spread, beyond),
        times=beyond,
        saturated=saturated,
        flagged=either_side(saturated) & ~stood,
        frequent=frozenset(frequent),
        most=most,
        holding=np.where(saturated, at_ceiling, beyond) if frequent else beyond,
        held=held,
        deferred=frozenset(deferred),
    )


def _taking(demand: Demand, epoch: Epoch, ceiling: Ceiling, here: BoolArray, told: Told | None) -> Iterator[Resource]:
    """The resources of which a job takes what it gets in an epoch. What it waited for in such buckets is no work more,
    on either side."""
    if told is None:
        return
    for resource in RESOURCES:
        at = here[resource.side]
        if resource not in epoch.raised and at.any() and takes_what_it_gets(demand, ceiling, told, at, resource):
            yield resource


@dataclass(frozen=True, slots=True)
class _BySeconds:
    """The buckets that single seconds alone show to be saturated, and the sides whose seconds are clear."""

    buckets: BoolArray
    """[side, bucket]"""
    are_clear: tuple[bool, ...]
    """Seconds of the side are known and never stood at its ceiling."""


def _find_by_seconds(demand: Demand, epoch: Epoch, ceiling: Ceiling, policy: Policy) -> _BySeconds:
    shown, are_known = _find_in_seconds(demand, ceiling, policy)
    return _BySeconds(
        buckets=shown & ~find_steady(demand, ceiling, policy),
        are_clear=tuple(known and not at[epoch.buckets].any() for known, at in zip(are_known, shown, strict=True)),
    )


def _find_lifts(demand: Demand, ceiling: Ceiling, side: int, beyond: float, by_seconds: _BySeconds) -> FloatArray:
    """How many times its rates a bucket would have had that is saturated on a side.

    If no second of the other one stood at its ceiling, that is as far as it follows; and it follows nowhere if the line
    would be beyond that already: those seconds were of another mix.
    """
    other, counted = 1 - side, demand.count(ceiling.accounting)
    times = divide_rates(limits_of(ceiling) * beyond, counted)
    along = beside = times.min(axis=0)
    if by_seconds.are_clear[other]:
        to_ceiling = divide_rates(limits_of(ceiling), counted)
        disproved = to_ceiling[side] > to_ceiling[other]
        beside = np.where(disproved, 1.0, np.minimum(beside, to_ceiling[other]))
    lifts = np.empty_like(times)
    lifts[side] = np.where(by_seconds.buckets[side], times[side], along)
    lifts[other] = np.where(by_seconds.buckets[side], beside, along)
    return np.where(np.isfinite(times[side]), np.maximum(1.0, lifts), 1.0)


def find_saturated(demand: Demand, ceiling: Ceiling, policy: Policy) -> BoolArray:
    """The observed buckets at the volume's ceiling: [side, bucket].

    At `saturation_pct` of the highest it can carry, in the mean of a minute or in some second, or any exceeded check,
    or its credits spent.
    """
    shown, are_known = _find_in_seconds(demand, ceiling, policy)
    steady = find_steady(demand, ceiling, policy)
    return steady | shown if any(are_known) else steady


def _find_in_seconds(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray, tuple[bool, ...]]:
    """The observed buckets in which a second asked for all that the volume can carry, as [side, bucket], and the sides
    of which anything published would show it."""
    peaks = _find_peaks(demand, ceiling, policy)
    shown = np.zeros((len(RESOURCES), len(demand.observed)), dtype=np.bool_) if peaks is None else peaks
    for resource, exceeded in demand.exceeded.items():
        shown[resource.side] |= exceeded
    are_known = tuple(peaks is not None or resource in demand.exceeded for resource in RESOURCES)
    return shown & demand.observed, are_known


def _find_standing(demand: Demand, ceiling: Ceiling, policy: Policy) -> BoolArray:
    """The buckets at the volume's ceiling by its rates and its credits, whatever the cloud's checks say."""
    steady, peaks = find_steady(demand, ceiling, policy), _find_peaks(demand, ceiling, policy)
    return steady if peaks is None else steady | (peaks & demand.observed)


def _find_peaks(demand: Demand, ceiling: Ceiling, policy: Policy) -> BoolArray | None:
    """The buckets whose busiest second stood at the volume's ceiling; None if the cloud publishes none."""
    if demand.busiest is None:
        return None
    share = policy.saturation_pct / 100
    at: BoolArray = demand.busiest.count_one_way(ceiling.accounting) >= share * limits_of(ceiling)
    return at & demand.busiest.exact


def find_steady(demand: Demand, ceiling: Ceiling, policy: Policy) -> BoolArray:
    """The observed buckets at the volume's ceiling by their means and its credits, whatever single seconds say."""
    of_means = _share_of_means(demand, policy.saturation_pct / 100)
    steady = demand.evened.count(ceiling.accounting) >= of_means * limits_of(ceiling)
    if demand.balance_pct is not None:
        empty = demand.balance_pct < policy.empty_balance_pct
        for side in {bucket.resource.side for bucket in ceiling.buckets}:
            steady[side] |= empty
    return steady & demand.observed


def _share_of_means(demand: Demand, share: float) -> FloatArray | float:
    """The share of a ceiling at which the mean of a bucket stands there.

    A mean of five minutes does if each of them must have.
    """
    of_five = [where for where in (demand.summed, demand.undecided) if where is not None]
    return np.where(np.logical_or.reduce(of_five), 1 - (1 - share) / MINUTES_SUMMED, share) if of_five else share
