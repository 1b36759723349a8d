"""The certificate: what an answer rests on, and the unread buckets that could still change it.

`demand.replay` has the argument. Here each thing that an answer rests on says how far every bucket that was not read
can reach to where it would matter: 1 and more is open. Where no bucket reaches 1 the answer is that of every minute.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from plimsoll.decide.answer import Change, Keep, Recommendation, Wait
from plimsoll.decide.blockers import evidence_of
from plimsoll.decide.case import Case
from plimsoll.decide.case_maker import traffic_before
from plimsoll.decide.hosting import Pool, pool_ceiling, present_ceiling
from plimsoll.decide.offers import Offer, is_reduction, lowered_sides
from plimsoll.demand.days import Rise
from plimsoll.demand.demand import (
    ALL,
    IOPS,
    MIB_S,
    BusiestSeconds,
    CountedRates,
    Demand,
    add_demands,
    add_seconds,
    either_side,
    limits_of,
    weigh_writes,
)
from plimsoll.demand.host_room import HostLoad
from plimsoll.demand.load import peaks
from plimsoll.demand.trial import Required, Trial, held_back, is_never_held_back, trial
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import RESOURCES, Ceiling
from plimsoll.model.policy import OfferPurpose, Policy, SizeOn
from plimsoll.model.series import HOST_BALANCES, HOST_CHECKS
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.refine.past import weighed_reduction
from plimsoll.risk.learn import FACTORS

_HALVINGS: Final = 40
"""How often a span of headroom is halved to find where another risk is promised."""

Demands = Mapping[str, Demand]
"""The demands of all volumes on a host that could be read, by id, on one grid."""

Decided = Mapping[str, tuple[Case, Recommendation]]
"""The case and the answer of each volume on the host that is decided on, by id."""


@dataclass(slots=True)
class Open:
    """The reach of one volume's unread buckets toward what its answer rests on: 1 and more is open.

    `work` is [operations or bytes, bucket], `seconds` that of its busiest seconds. `rest` is True where something is
    open that no single bucket decides, `hours` where it takes the busiest hour of every day. `host` are the buckets in
    which metrics of its host are open, by group.
    """

    work: FloatArray
    seconds: FloatArray
    rest: bool = False
    hours: bool = False
    host: Mapping[str, BoolArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Tested:
    """A trial that an answer rests on, of what these volumes ask for together; `times` is the headroom in it, and
    `by_seconds` says whether the answer's policy sizes on their busiest seconds, be they decided on or not."""

    required: Required
    ceiling: Ceiling
    volume_ids: tuple[str, ...]
    by_seconds: bool
    times: float = 1.0


@dataclass(slots=True)
class _Found:
    """The open buckets of each volume of a host, while they are gathered."""

    demands: Demands
    open: dict[str, Open] = field(init=False)

    def __post_init__(self) -> None:
        self.open = {
            name: Open(np.zeros((2, len(demand.observed))), np.zeros(len(demand.observed)))
            for name, demand in self.demands.items()
        }

    def reaches(self, volume_ids: Iterable[str], reach: FloatArray | None) -> None:
        """Notes a reach of what some volumes did together: where one did nothing for sure there is nothing to read.

        None reaches nowhere: nothing under 1 is open.
        """
        if reach is None:
            return
        for name in volume_ids:
            demand = self.demands[name]
            works = demand.most[:, ALL] > 0
            reached = self.open[name]
            reached.work = np.maximum(reached.work, np.where(works, reach, 0.0))

    def seconds(self, volume_ids: Iterable[str], reach: FloatArray) -> None:
        for name in volume_ids:
            self.open[name].seconds = np.maximum(self.open[name].seconds, reach)

    def busiest(self, volume_ids: Iterable[str]) -> BusiestSeconds | None:
        """The most that some volumes can have had together in any second."""
        busiest = [self.demands[name].busiest for name in volume_ids]
        return add_seconds([seconds for seconds in busiest if seconds is not None])


def open_buckets(
    decided: Decided, demands: Demands, load: HostLoad | None, pools: Sequence[Pool], saturation_pct: float
) -> dict[str, Open]:
    """The reach of each unread bucket, by volume of one host, toward what their answers rest on.

    Nothing is open if every demand was read as finely as it is kept.
    """
    found = _Found(demands)
    if all(_is_known(demand) for demand in demands.values()):
        return found.open
    headroom = max((case.headrooms.reducing.factor for case, _ in decided.values()), default=1.0)
    always = None if load is None else _always(load.host.ceiling, saturation_pct)
    if load is not None and always is not None:
        found.reaches(demands, _reach(load, headroom, always))
        found.reaches(demands, _wholly(load.raised_checks))
        _in_relief(found, decided, load, headroom, always)
    for case, answer in decided.values():
        _own(found, case, answer, load)
        if load is not None and always is not None:
            _beside(found, case, load, always)
    for pool in pools:
        ids = tuple(volume.id for volume in pool.volumes if volume.id in demands)
        if len(ids) > 1 or (ids and ids[0] not in decided):
            whole = add_demands([demands[name] for name in ids])
            _saturated(found, whole, present_ceiling(pool), slice(None), saturation_pct, ids)
            for name in ids:
                if name in decided:
                    _lifted(found, decided[name][0], ids)
    _capped(found, decided, headroom)
    for tested in _tests(decided, pools, demands):
        _try(found, tested)
    return found.open


def reach_to_peaks(demand: Demand) -> FloatArray:
    """The reach of each bucket to its demand's peaks: infinite if it may be higher than any known one, else 0."""
    peaks_seen = demand.rates[:, ALL].max(axis=1, initial=0.0, keepdims=True)
    return np.where(demand.most[:, ALL] > peaks_seen, np.inf, 0.0)


def open_of_host(load: HostLoad, demand: Demand, policies: Sequence[Policy]) -> dict[str, BoolArray]:
    """The buckets of a demand in which what was measured of its host could still change an answer, by group.

    A raised check is read to its minutes. One that is not raised is read where the published maximum was reached,
    because there it says whether the host was the limit; a balance where it was spent or where the replay says so.
    """
    could_change: dict[str, BoolArray] = {}
    for policy in policies if load.seen is not None else ():
        limit = load.limit(demand, policy)
        for groups, rows in ((HOST_CHECKS, limit.check_open), (HOST_BALANCES, limit.balance_open)):
            for group, row in zip(groups.values(), rows, strict=True):
                could_change[group] = row | could_change.get(group, False)
    return could_change


def _is_known(demand: Demand) -> bool:
    """True if all of a demand was read as finely as it is kept, its busiest seconds as well."""
    return demand.spread is None and (demand.busiest is None or bool(demand.busiest.exact.all()))


def _capped(found: _Found, decided: Decided, headroom: float) -> None:
    """Opens the buckets in which volumes that become one type could reach the cap or the pool that they share.

    All that was done on the host is held against it.
    """
    becoming: dict[str, list[Case]] = {}
    for case, answer in decided.values():
        if isinstance(answer, Change) and case.volume.hosts:
            becoming.setdefault(answer.target.spec.type, []).append(case)
    if len(found.demands) < 2:
        return
    for name, cases in becoming.items():
        kind, host = cases[0].market.types[name], cases[0].volume.hosts[0]
        cap = None if host.caps is None else host.cap(name)
        if kind.pooled:
            failed = cases[0].market.failed(cases[0].volume, name)
            cap = pool_ceiling(kind, [case.volume for case in cases], failed)
        if cap is not None:
            found.reaches(found.demands, _against(add_demands(list(found.demands.values())), cap, 1.0, headroom))
            _seconds(found, tuple(found.demands), cap, headroom)


def _own(found: _Found, case: Case, answer: Recommendation, load: HostLoad | None) -> None:
    """Opens the buckets that decide one volume's saturation, its hosts' room, its evidence and its promise."""
    ids, demand = (case.volume.id,), case.demand
    for epoch in case.epochs:
        if epoch.ceiling is not None:
            _saturated(found, demand, epoch.ceiling, epoch.buckets, case.policy.saturation_pct, ids)
        if epoch.on_record is not None:
            last = np.zeros_like(demand.observed)
            last[epoch.buckets.stop - 1] = True  # the minute up to which the record is wrong
            found.reaches(ids, _wholly(last))
    _before(found, case, load)
    _lifted(found, case, ids)
    headroom = case.headrooms.reducing.factor
    found.reaches(ids, _shares(demand.count_most(case.room.ceiling.accounting), headroom, case.room.room))
    if isinstance(answer, Keep | Change | Wait):
        _evidence(found, case, answer, ids)
        _trend(found, case, answer)
    if isinstance(answer, Change | Keep):
        for offer in _promised_offers(answer):
            if is_reduction(offer, case.usable):
                _promise(found, case, offer)


def _promised_offers(answer: Change | Keep) -> Iterator[Offer]:
    """The offers whose risk an answer rests on."""
    if isinstance(answer, Change) and answer.risk is not None:
        yield answer.target
    beside = answer.comparison.relief, answer.comparison.lowering
    yield from (offer for offer in beside if offer is not None)
    if answer.too_risky is not None:
        yield answer.too_risky.offer


def _before(found: _Found, case: Case, load: HostLoad | None) -> None:
    """Opens the buckets in which the host of an earlier epoch may have been the limit.

    Its credits are spent from the window's beginning on, so that earlier buckets count as well.
    """
    for epoch in case.epochs[:-1]:
        traffic = traffic_before(epoch, case.done, load)
        if traffic is None:
            continue
        always = _always(traffic.host.ceiling, case.policy.saturation_pct)
        reach = _reach(traffic, 1.0, always)
        if reach is not None:
            is_shared = load is not None and load.host.id == traffic.host.id
            ids = found.demands if is_shared else (case.volume.id,)
            found.reaches(ids, _inside(reach, slice(0, epoch.buckets.stop)))


def _trend(found: _Found, case: Case, answer: Recommendation) -> None:
    """Opens what decides whether a reduction would be outgrown: its hours, or the minutes at its peak."""
    offer = weighed_reduction(answer, case.usable)
    if offer is None or case.settles is not None:
        return
    ids = (case.volume.id,) if offer.pool_gib is None else tuple(found.demands)
    rise = case.rise(offer)
    for name in ids:
        found.open[name].hours |= rise is Rise.IN_HOURS
    if rise is Rise.IN_PEAK:
        found.reaches(ids, case.reach(offer))


def _lifted(found: _Found, case: Case, volume_ids: Sequence[str]) -> None:
    """Opens the lifted and host-bound buckets: their operations and bytes have to be known both."""
    found.reaches(volume_ids, _wholly(case.lifted.any | case.room.bound))


def _saturated(
    found: _Found, demand: Demand, ceiling: Ceiling, at: slice, saturation_pct: float, volume_ids: Sequence[str]
) -> None:
    """The buckets that may have stood at a ceiling."""
    share = saturation_pct / 100
    reach = _against(demand, ceiling, share)
    found.reaches(volume_ids, None if reach is None else _inside(reach, at))
    busiest = found.busiest(volume_ids)
    if busiest is not None:
        reached = busiest.count_one_way(ceiling.accounting) / limits_of(ceiling)
        found.seconds(volume_ids, _inside(reached.max(axis=0) / share, at))


def _inside(reach: FloatArray, at: slice) -> FloatArray:
    """A reach in some buckets, and none in the others; buckets are along the last axis."""
    inside = np.zeros_like(reach)
    inside[..., at] = reach[..., at]
    return inside


def _wholly(at: BoolArray) -> FloatArray | None:
    """The reach of buckets that have to be known whatever they had; None where there are none."""
    return np.where(np.stack([at, at]), np.inf, 0.0) if at.any() else None


def _against(demand: Demand, ceiling: Ceiling, share: float, times: float = 1.0) -> FloatArray | None:
    """The reach of each bucket, `times` over, to a share of a ceiling: [side, bucket]; None if none reaches 1.

    It is divided last, so that what stands there reaches it.
    """
    most, limits = demand.count_most(ceiling.accounting), share * limits_of(ceiling)
    counted = None
    if ceiling.io_kib is not None:
        counted = weigh_writes(demand.most, ceiling.write_iops_cost)[MIB_S] * (KIB_PER_MIB / ceiling.io_kib)
    rows = [*zip(most, limits[:, 0].tolist(), strict=True)]
    if counted is not None:
        rows.append((counted, limits[IOPS, 0]))
    if all(rate.max(initial=0.0) / limit * times < 1 for rate, limit in rows):
        return None
    reach: FloatArray = most / limits
    if counted is not None:
        np.maximum(reach[MIB_S], counted / limits[IOPS], out=reach[MIB_S])
    return reach * times


def _reach(load: HostLoad, times: float, always: FloatArray) -> FloatArray | None:
    """The reach of a host's traffic, `times` over, to what it always carries: [side, bucket]; None if none reaches 1.

    It is divided last, so that what stands there reaches it.
    """
    reach: FloatArray = load.most * times / always
    return reach if (reach >= 1).any() else None


def _shares(rates: CountedRates, times: float, room: CountedRates) -> FloatArray | None:
    """The share of its room that each rate takes, `times` over; None if none takes all of it.

    A rate of 0 takes none, even where there is no room.
    """
    if (rates.max(axis=1, initial=0.0) * times < room.min(axis=1, initial=np.inf)).all():
        return None
    wanted = rates * times
    return np.divide(wanted, room, out=np.where(wanted > 0, np.inf, 0.0), where=room > 0)


def _always(ceiling: Ceiling, saturation_pct: float) -> FloatArray:
    """The rates, [side, 1], that a host carries at any time, none of its credits spent."""
    share = saturation_pct / 100
    always = share * limits_of(ceiling)
    for bucket in ceiling.buckets:
        side = bucket.resource.side
        always[side] = min(always[side, 0], share * bucket.free_rate)
    return always


def _beside(found: _Found, case: Case, load: HostLoad, always: FloatArray) -> None:
    """Opens the buckets in which a volume was held back and its host may have been full.

    The others on the host then say how much more of the volume it would have let through.
    """
    at = case.lifted.any | case.room.bound
    if not at.any():
        return
    accounting = load.host.ceiling.accounting
    mine, wanted = case.demand.count_most(accounting), case.lifted.demand.count(accounting)
    together_most = load.most - mine + np.maximum(wanted, mine)
    reached = at & either_side(together_most > always)
    found.reaches(found.demands, _wholly(reached))


def _in_relief(found: _Found, decided: Decided, load: HostLoad, headroom: float, always: FloatArray) -> None:
    """Opens the buckets in which a host could be full if none of its volumes was held back.

    Only where one of them is to be relieved: what all would do then says what the host lets through.
    """
    extras = load.extras() if any(case.room.relief is not None for case, _ in decided.values()) else {}
    if not extras:
        return
    more = np.sum(list(extras.values()), axis=0)
    together_most = load.most * headroom + more
    found.reaches(found.demands, _wholly(either_side(more > 0) & either_side(together_most > always)))


def _tests(decided: Decided, pools: Sequence[Pool], demands: Demands) -> Iterator[_Tested]:
    """The trials that answers rest on, each once."""
    inside = {
        volume.id: tuple(one.id for one in pool.volumes if one.id in demands)
        for pool in pools
        for volume in pool.volumes
    }
    frequent = {name: _frequent(ids, decided) for name, ids in inside.items()}
    seen: set[tuple[int, Ceiling]] = set()
    for name, (case, answer) in decided.items():
        if not isinstance(answer, Keep | Change | Wait):
            continue
        often = frequent[name] if name in frequent else bool(case.frequent)
        for tested in _tests_of(case, answer, inside.get(name, (name,)), often=often):
            key = id(tested.required), tested.ceiling
            if key not in seen:
                seen.add(key)
                yield tested


def _frequent(volume_ids: Iterable[str], decided: Decided) -> bool:
    return any(decided[name][0].frequent for name in volume_ids if name in decided)


def _tests_of(
    case: Case, answer: Keep | Change | Wait, together_with: tuple[str, ...], *, often: bool
) -> Iterator[_Tested]:
    """Yields the trials that the answer to one volume rests on: the present, the best, the chosen, and those beside."""
    comparison, own = answer.comparison, (case.volume.id,)
    held_by = own if case.held is case.load else together_with
    headroom, by_seconds = case.headrooms.reducing.factor, case.policy.size_on is not SizeOn.AVERAGE
    yield _Tested(case.held.now, case.present, held_by, by_seconds)
    for same in comparison.same_limits:
        yield _Tested(case.held.now, same.ceiling, held_by, by_seconds)
        yield _Tested(case.held.keeping, same.ceiling, held_by, by_seconds, headroom)
    purposes = tuple(OfferPurpose) if often else (OfferPurpose.REDUCE,)
    for offer in _offers(answer):
        for purpose in purposes:
            for one in case.shared_as(case.market.types[offer.spec.type], purpose):
                yield _Tested(one.load.pick(purpose), one.ceiling, one.volume_ids, by_seconds, headroom)
            if offer.pool_gib is None:
                yield _Tested(case.load.pick(purpose), offer.judged_ceiling, own, by_seconds, headroom)
        if often:
            ids = own if offer.pool_gib is None else case.shared[offer.spec.type][0].volume_ids
            yield _Tested(case.load_under(offer).now, offer.ceiling, ids, by_seconds)


def _offers(answer: Keep | Change | Wait) -> Iterator[Offer]:
    """Yields the offers, each once, that an answer rests on besides the drop-in replacement."""
    comparison = answer.comparison
    chosen = answer.target if isinstance(answer, Change) else answer.expected if isinstance(answer, Wait) else None
    risky = answer.too_risky.offer if isinstance(answer, Change | Keep) and answer.too_risky is not None else None
    best = comparison.offers[0] if comparison.offers[0].feasible else None
    weighed = [best, chosen, comparison.relief, comparison.lowering, risky]
    yield from {id(offer): offer for offer in weighed if offer is not None and offer != comparison.drop_in}.values()


def _try(found: _Found, tested: _Tested) -> None:
    """Notes the buckets that a trial is open for: where the most that it can have held back is not the least."""
    if tested.by_seconds:
        _seconds(found, tested.volume_ids, tested.ceiling, tested.times)
    if tested.required.work.spread is None:
        return
    harmful = tested.required.as_harmful
    if all(is_never_held_back(harmful, tested.ceiling, resource) for resource in RESOURCES):
        return
    held = [held_back(harmful, tested.ceiling, resource) for resource in RESOURCES]
    most = Trial(
        throttled_minutes=harmful.minutes(held[0].minutes, held[1].minutes),
        longest_wait_s=max(one.longest_wait_s for one in held),
    )
    if _same(most, trial(tested.required, tested.ceiling)):
        return
    reach = np.maximum(*(one.reach for one in held))
    found.reaches(tested.volume_ids, reach)
    if not any(is_open(found.demands[name], reach) for name in tested.volume_ids):
        for name in tested.volume_ids:
            found.open[name].rest = True


def is_open(demand: Demand, reach: FloatArray) -> bool:
    """True if a bucket that could be read more finely has a reach of 1 or more."""
    spread = demand.spread
    return spread is not None and bool(((reach >= 1) & spread.unread).any())


def _seconds(found: _Found, volume_ids: Sequence[str], ceiling: Ceiling, times: float) -> None:
    """Opens the busiest seconds of some volumes, taken as the same seconds, that could reach a ceiling."""
    busiest = found.busiest(volume_ids)
    if busiest is not None:
        reached = busiest.count(ceiling.accounting) / limits_of(ceiling)
        found.seconds(volume_ids, reached.max(axis=0) * times)


def _same(one: Trial, other: Trial) -> bool:
    return math.isclose(one.throttled_minutes, other.throttled_minutes, rel_tol=1e-9, abs_tol=1e-9) and math.isclose(
        one.longest_wait_s, other.longest_wait_s, rel_tol=1e-6, abs_tol=1e-3
    )


def _evidence(found: _Found, case: Case, answer: Keep | Change | Wait, volume_ids: Sequence[str]) -> None:
    """Opens the buckets in which the need can be more than the evidence of the least need holds."""
    target = answer.target if isinstance(answer, Change) else answer.expected if isinstance(answer, Wait) else None
    spec = case.volume.spec if target is None else target.spec
    ceiling = case.present if target is None else target.ceiling
    load = case.held if target is None or target.pool_gib is not None else case.load
    for required in {id(one): one for one in (load.reducing, load.keeping, load.raising, load.holding)}.values():
        needs = [peaks(one, ceiling.accounting) for one in (required, required.as_harmful)]
        if needs[0] == needs[1]:
            continue
        least = evidence_of(case, spec, ceiling, needs[0])
        if needs[1].iops <= least.holds_iops and needs[1].throughput_mib_s <= least.holds_throughput_mib_s:
            continue
        if least != evidence_of(case, spec, ceiling, needs[1]):
            holds = replace(ceiling, iops=least.holds_iops, throughput_mib_s=least.holds_throughput_mib_s)
            found.reaches(volume_ids, _against(case.demand, holds, 1.0, case.headrooms.reducing.factor))


def _promise(found: _Found, case: Case, offer: Offer) -> None:
    """Opens the buckets in which the need can be high enough to change the risk that is promised."""
    is_pooled = offer.pool_gib is not None
    required = (case.held if is_pooled else case.load).pick(offer.purpose)
    times = case.headrooms.pick(offer.purpose).factor
    needs = [peaks(one, offer.ceiling.accounting) for one in (required, required.as_harmful)]
    most_times, least_times = (min(case.times_carried(offer, need), float(FACTORS[-1])) for need in needs)
    promised = _promised(case, most_times, offer.purpose)
    if promised == _promised(case, least_times, offer.purpose):
        return
    for _ in range(_HALVINGS):
        between = (least_times + most_times) / 2
        if _promised(case, between, offer.purpose) == promised:
            most_times = between
        else:
            least_times = between
    ids = tuple(found.demands) if is_pooled else (case.volume.id,)
    demand = add_demands([found.demands[name] for name in ids])
    by_iops, by_throughput = lowered_sides(offer, case.usable)
    holds = replace(
        offer.ceiling,
        iops=offer.ceiling.sustained_iops / most_times if by_iops else math.inf,
        throughput_mib_s=offer.ceiling.sustained_throughput_mib_s / most_times if by_throughput else math.inf,
    )
    reach = _against(demand, holds, 1.0, times)
    found.reaches(ids, reach)
    if reach is None or not any(is_open(found.demands[name], reach) for name in ids):
        for name in ids:
            found.open[name].rest = True


def _promised(case: Case, times: float, purpose: OfferPurpose) -> tuple[float | None, str] | None:
    """The promised risk of an offer that carries `times` the required demand, and why none is; None if nothing was
    learned."""
    risk = case.risk(times, purpose)
    return None if risk is None else (risk.promised_pct, risk.why_none)
