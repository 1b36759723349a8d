"""Loads: what an offer has to carry for each purpose.

(1 + headroom) times what was observed, at least the lifted figure where the bucket is saturated, and never more than
the present host could have let through in that bucket (docs/decision.md, section 4). What was lifted is a point of one
mix: where the host would have stopped the saturated resource, it stops the other.

Lifted demand: what a workload asked for where something held it back.

A bucket is *saturated* on a resource where its rate stood at the ceiling of its epoch, where the cloud says that some
second asked for more, or where credits were spent. What the workload would have done there is not known, but its mix
is: its point (IOPS, MiB/s) is moved along the line of constant I/O size until either figure stands at its ceiling, or
beyond it by `throttle_lift_pct` where saturation is frequent. Where seconds alone show it their mix is not known: the
saturated figure goes all the way, and the other one no further than its own seconds allow (docs/decision.md, section
3).

Jobs that take what they get only end earlier with more speed, so that they are not given more. Work that a ceiling
held back and that is not done later is done where the ceiling is higher: whatever was at the higher ceiling would have
been at the lower one too. Where a volume does no more a day than it did under a lower ceiling, its work had only waited
(docs/decision.md, section 3).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from plimsoll.demand.days import DaySums
from plimsoll.demand.demand import (
    ALL,
    IOPS,
    MIB_S,
    Demand,
    add_demands,
    divide_rates,
    either_side,
    find_fit,
    find_highest,
    limits_of,
    scale_demand,
)
from plimsoll.demand.epochs import Epoch
from plimsoll.demand.host_room import HostRoom
from plimsoll.demand.trial import Required
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import RESOURCES, Accounting, Ceiling, Need, Resource
from plimsoll.model.policy import Headroom, Headrooms, HeadroomSource, OfferPurpose, Policy, SizeOn
from plimsoll.model.units import KIB_PER_MIB, MIB, MINUTE_S
from plimsoll.reading.window import FIVE_MINUTES_S

FREQUENT_MINUTES: Final = 30
"""Saturation of fewer minutes is rare, however short the epoch was."""

MINUTES_SUMMED: Final = FIVE_MINUTES_S / MINUTE_S
"""The minutes of a point that a host publishes each five minutes."""

LEAST_DAYS: Final = 5
"""Days of an epoch that tell what a volume does a day: a weekend among them says little by itself."""


LAST_DAYS: Final = 28
"""The last days of an earlier epoch that count. What was long before is another workload."""


LEAST_SHARE: Final = 0.1
"""The least share of a day's work that a higher ceiling should have brought: days differ by a few percent anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """The work a day of a volume under a ceiling: operations, and MiB."""

    ceiling: Ceiling
    a_day: Mapping[Resource, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The whole days of an epoch: their buckets, how `many` they are, and the work of each epoch before."""

    buckets: BoolArray
    many: int
    did: tuple[Did, ...]


def sum_days(epochs: Sequence[Epoch], days: DaySums) -> Iterator[Did]:
    """Yields the work a day under each epoch whose ceiling is known: the mean of its last whole days.

    An epoch with fewer than `LEAST_DAYS` known days is left out.
    """
    for epoch in epochs:
        last = np.flatnonzero(days.mark_whole_days(epoch.window))[-LAST_DAYS:]
        if epoch.ceiling is not None and len(last) >= LEAST_DAYS:
            operations, moved = days.totals[:, last].mean(axis=1).tolist()
            a_day = {Resource.IOPS: operations, Resource.THROUGHPUT: moved / MIB}
            yield Did(ceiling=epoch.ceiling, a_day=a_day)


def takes_what_it_gets(demand: Demand, ceiling: Ceiling, told: Told, saturated: BoolArray, resource: Resource) -> bool:
    """More of a resource than it once had brought a volume no more work a day.

    What it does in its `saturated` buckets is held against the last earlier ceiling that was lower. At least half of
    what that one would not have let through must have come on top of what was done then.
    """
    lower = next((one for one in reversed(told.did) if one.ceiling.limit(resource) < ceiling.limit(resource)), None)
    if lower is None or told.many < LEAST_DAYS:
        return False
    done = demand.rates[resource.side, ALL] * demand.lengths_s
    now, before = float(done[told.buckets].sum()) / told.many, lower.a_day[resource]
    held = float(done[told.buckets & saturated].sum()) / told.many
    brought = held * (1 - lower.ceiling.limit(resource) / ceiling.limit(resource))
    return brought >= LEAST_SHARE * before and now - before < brought / 2


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

    def lift_part(self, demand: Demand) -> "Lifted":
        """A part of the demand, lifted by the same factors as the whole."""
        return replace(self, demand=scale_demand(demand.without_spread, self.times))


def is_frequent(minutes: float, observed_minutes: float, policy: Policy) -> bool:
    """True if as many of the observed minutes are frequent."""
    return minutes >= max(FREQUENT_MINUTES, policy.upgrade_throttled_share_pct / 100 * observed_minutes)


def lift(demand: Demand, epochs: Sequence[Epoch], policy: Policy, days: Sequence[Told | None] = ()) -> Lifted:
    """A demand lifted where it was held back, epoch by epoch; `epochs` are in the order of time and cover it.

    A resource whose limit was raised since is not lifted, nor one of which a job took more without doing more. `days`
    are what whole days tell of each epoch and of those before it, None where there was none.
    """
    saturated = np.zeros((len(RESOURCES), len(demand.observed)), dtype=np.bool_)
    stood = np.zeros_like(demand.observed)
    frequent: set[Resource] = set()
    deferred: set[Resource] = set()
    beyond: Lifts = 1.0
    at_ceiling: Lifts = 1.0
    most: Lifts = np.inf
    held: Lifts = np.inf
    for epoch, did in zip_longest(epochs, days):
        if epoch.ceiling is None:
            continue
        inside = np.zeros_like(demand.observed)
        inside[epoch.buckets] = True
        here = find_saturated(demand, epoch.ceiling, policy) & inside
        if not here.any():
            continue
        saturated |= here
        stood |= either_side(_find_standing(demand, epoch.ceiling, policy)) & inside
        taking = list(_find_taking(demand, epoch, epoch.ceiling, here, did))
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


def _find_taking(
    demand: Demand, epoch: Epoch, ceiling: Ceiling, here: BoolArray, days: Told | None
) -> Iterator[Resource]:
    """Yields the saturated resources of an epoch that a job takes as it gets them; none if `days` is None.

    Its work in the buckets `here` had only waited: it is no more work, on either side.
    """
    if days is None:
        return
    for resource in RESOURCES:
        at = here[resource.side]
        if resource not in epoch.raised and at.any() and takes_what_it_gets(demand, ceiling, days, at, resource):
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
    """The factor on the rates of each bucket, [side, bucket], that lifts one `side` to `beyond` times its ceiling.

    At least 1. The other side follows along the line of constant I/O size. If no second of it stood at its ceiling, it
    follows no further than that; and not at all if the line would be beyond it already: those seconds were of another
    mix.
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
    """The observed buckets in which some second reached the volume's ceiling, as [side, bucket].

    Beside it, for each side: True if busiest seconds or a check are published that would show it.
    """
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
    steady = demand.even_demand.count(ceiling.accounting) >= of_means * limits_of(ceiling)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A workload as a configuration has to carry it."""

    reducing: Required
    """For a cheaper configuration, with what the host holds back."""
    keeping: Required
    """For a same-limits replacement to go first: as `reducing`, without headroom that was learned for reductions."""
    raising: Required
    """For a dearer configuration, without what the host holds back."""
    holding: Required
    """For a cheaper one that throttles no more than today: in frequently saturated buckets up to the ceiling alone."""
    now: Required
    """Without headroom, to judge the present configuration by."""
    offers: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The offers made for it: a volume is decided on more than once, with more of its past each time."""

    def pick(self, purpose: OfferPurpose) -> Required:
        """The required demand of an offer for a purpose."""
        match purpose:
            case OfferPurpose.REDUCE:
                return self.reducing
            case OfferPurpose.RELIEVE:
                return self.raising
            case OfferPurpose.HOLD:
                return self.holding


def load_of(
    demand: Demand,
    lifted: Lifted,
    room: HostRoom,
    epochs: Sequence[Epoch],
    policy: Policy,
    headrooms: Headrooms,
    *,
    bound_times: FloatArray | None = None,
) -> Load:
    """The load of a demand: what an offer has to carry for each purpose, with the headroom of that purpose.

    The demand is lifted by the ceilings of `epochs`, and cut to the `room` that its host left. `bound_times` are those
    of the whole that it is a part of (`host_bound_times`); None: its own.
    """
    rates = demand.without_spread
    if bound_times is None:
        bound_times = host_bound_times(rates, room, epochs)
    by_host = [scale_demand(rates, bound_times)] if room.bound.any() else []
    relief, reducing = headrooms.relief, headrooms.reducing

    def find_short(factor: float, room: HostRoom, lifts: Lifts, also: Sequence[Demand]) -> Demand | None:
        held_back = [_lift_in_room(rates, lifted, room, lifts)] if lifted.any.any() else []
        return find_highest([*held_back, *also, *_scale_seconds(rates, epochs, policy, factor)])

    def require(
        headroom: Headroom, room: HostRoom, lifts: Lifts, also: Sequence[Demand] = (), most: Lifts = np.inf
    ) -> Required:
        times = np.minimum(headroom.factor, np.minimum(lifted.most, most))
        work = let_through(scale_demand(demand, times), room)
        return Required(work=work, short=find_short(headroom.factor, room, lifts, also))

    carried = require(relief, room, lifted.times)
    keeping = require(relief, room, lifted.times, by_host) if by_host else carried
    is_learned = reducing.source is HeadroomSource.LEARNED
    lessened = require(reducing, room, lifted.times, by_host) if is_learned else keeping
    return Load(
        reducing=lessened,
        keeping=keeping,
        raising=carried if room.relief is None else require(relief, room.relief_room, lifted.times),
        holding=require(reducing, room, lifted.holding, by_host, lifted.held) if lifted.frequent else lessened,
        now=Required(work=demand, short=find_short(1.0, room.relief_room, lifted.times, ())),
    )


def let_through(demand: Demand, room: HostRoom) -> Demand:
    """A demand without what the host could not have let through."""
    return scale_demand(demand, find_fit(room.room, demand.count(room.ceiling.accounting)))


def _lift_in_room(demand: Demand, lifted: Lifted, room: HostRoom, lifts: Lifts) -> Demand:
    """The saturated buckets of a demand, lifted as far as the host had room.

    Where it stops a point that moves along its line it stops both figures; elsewhere where it stops the one side that
    is saturated, the other wants no more either.
    """
    rooms = divide_rates(room.room, demand.count(room.ceiling.accounting))
    lifts = np.broadcast_to(lifts, rooms.shape)
    by_other_alone = lifted.saturated[::-1] & ~lifted.saturated
    rooms = np.where((lifts[IOPS] == lifts[MIB_S]) | by_other_alone, rooms.min(axis=0), rooms)
    return scale_demand(demand, np.where(lifted.any, np.minimum(lifts, rooms), 0.0))


def host_bound_times(demand: Demand, room: HostRoom, epochs: Sequence[Epoch]) -> FloatArray:
    """The factor up to which each bucket may have been wanted where the host was the limit; 0 elsewhere.

    It reaches the host's maximum or the ceiling of the bucket's epoch, whichever is first on either side. At least 1; 0
    also for a bucket without work.
    """
    if not room.bound.any():
        return np.zeros(len(demand.observed))
    ceilings = [(room.ceiling, slice(None))]
    ceilings += [(epoch.ceiling, epoch.buckets) for epoch in epochs if epoch.ceiling is not None]
    times = np.full(len(demand.observed), np.inf)
    for ceiling, buckets in ceilings:
        fit = divide_rates(limits_of(ceiling), demand.count(ceiling.accounting)).min(axis=0)
        times[buckets] = np.minimum(times, fit)[buckets]
    return np.where(room.bound & np.isfinite(times), np.maximum(1.0, times), 0.0)


def _scale_seconds(demand: Demand, epochs: Sequence[Epoch], policy: Policy, times: float) -> list[Demand]:
    """The rates of single busy seconds `times` over, as a list of one demand, or empty.

    Empty if the policy sizes on averages, or the cloud publishes neither busiest seconds nor, where it sizes on busy
    time, idle time. They are cut to the ceiling of each epoch; 0 where a busiest second is not exactly known.
    """
    busiest = None if policy.size_on is SizeOn.AVERAGE else demand.busiest
    if busiest is not None:
        rates = np.stack([busiest.peaks.sum(axis=1), busiest.peaks[:, 0]], axis=1)
        seconds = replace(demand, rates=rates * busiest.exact)
    elif policy.size_on is SizeOn.BUSY_TIME and demand.busy_share is not None:
        seconds = scale_demand(demand, 1 / demand.busy_share)
    else:
        return []
    return [_clip_to_ceilings(scale_demand(seconds, times), epochs)]


def _clip_to_ceilings(demand: Demand, epochs: Sequence[Epoch]) -> Demand:
    """A demand no higher than the ceiling of each epoch."""
    times = np.ones((2, len(demand.observed)))
    for epoch in epochs:
        if epoch.ceiling is None:
            continue
        accounting, limits = epoch.ceiling.accounting, limits_of(epoch.ceiling)
        if accounting.io_kib:
            limits[MIB_S] = min(epoch.ceiling.throughput_mib_s, epoch.ceiling.iops * accounting.io_kib / KIB_PER_MIB)
        counted = demand.count(accounting.per_operation)
        times[:, epoch.buckets] = find_fit(limits, counted[:, epoch.buckets])
    return scale_demand(demand, times)


def find_highest_load(loads: Sequence[Load]) -> Load:
    """The load of each of several where any of them may have to do what any did."""
    return _combine_loads(loads, _combine_highest)


def _combine_highest(required: Sequence[Required]) -> Required:
    works = [each.work for each in required]
    return Required(work=find_highest(works) or works[0], short=find_highest(_shorts_of(required)))


def add_loads(loads: Sequence[Load]) -> Load:
    """The load of several workloads together."""
    return _combine_loads(loads, _add_required)


def _add_required(required: Sequence[Required]) -> Required:
    """The required demand of several workloads together; what is lifted of one adds to what the others did."""
    work = add_demands([each.work for each in required])
    if not _shorts_of(required):
        return Required(work=work, short=work)
    parts = [find_highest([each.work.without_spread, *_shorts_of([each])]) for each in required]
    return Required(work=work, short=add_demands([part for part in parts if part is not None]))


def scale_load(load: Load, times: float) -> Load:
    """A load `times` over, what was held back included."""
    return _combine_loads([load], lambda required: _scale_required(required[0], times))


def _scale_required(required: Required, times: float) -> Required:
    short = None if required.short is None else scale_demand(required.short, times)
    return Required(work=scale_demand(required.work, times), short=short)


def _combine_loads(loads: Sequence[Load], combine: Callable[[Sequence[Required]], Required]) -> Load:
    """The load whose required demands are combined, purpose by purpose; equal ones are combined once."""
    known: dict[tuple[int, ...], Required] = {}

    def combine_once(required: Sequence[Required]) -> Required:
        key = tuple(map(id, required))
        if key not in known:
            known[key] = combine(required)
        return known[key]

    return Load(
        reducing=combine_once([load.reducing for load in loads]),
        keeping=combine_once([load.keeping for load in loads]),
        raising=combine_once([load.raising for load in loads]),
        holding=combine_once([load.holding for load in loads]),
        now=combine([load.now for load in loads]),
    )


def _shorts_of(required: Sequence[Required]) -> list[Demand]:
    return [each.short for each in required if each.short is not None]


def peak_rates(demand: Demand, accounting: Accounting) -> Need:
    """The highest rates of a demand, as an accounting counts them."""
    return peaks(Required(work=demand), accounting)


def peaks(required: Required, accounting: Accounting) -> Need:
    """The highest rates of what is required, as an accounting counts them."""
    iops, throughput_mib_s = required.peaks(accounting)
    return Need(iops=iops, throughput_mib_s=throughput_mib_s)
