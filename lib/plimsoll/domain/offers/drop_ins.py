"""Drop-in replacements: types that can do everything the present volumes can, so no demand has to be proved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import NOTHING, Ceiling, Need
from plimsoll.domain.demand.load import peaks
from plimsoll.domain.demand.trial import trial, worst
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement, believed_ceiling, find_limiting
from plimsoll.domain.offers.bundles import Bundle
from plimsoll.domain.offers.offer import (
    Offer,
    ceiling_on_hosts,
    find_shortfalls,
    find_too_slow,
    refusals_by_measurements,
)
from plimsoll.domain.volume_types import VolumeType


@dataclass(frozen=True, slots=True, kw_only=True)
class SameLimits:
    """The same-limits replacements of volumes that change together.

    `drop_in` is the cheapest and preferred as `whole` is: the one that also keeps what the hosts cannot carry, which is
    not bought again. `full` keeps all limits on any host, where `drop_in` does not. `by_host` keeps what the hosts
    carry where no other replacement saves enough, and is of another type. `weighed` are all that this rests on.
    """

    drop_in: Bundle | None
    whole: Bundle | None
    full: Bundle | None = None
    by_host: Bundle | None = None
    weighed: tuple[Bundle, ...] = ()


def find_same_limits(cases: Sequence[Case], *, is_worth_it: Callable[[Bundle], bool]) -> SameLimits:
    """Finds the same-limits replacements of volumes that change together.

    None that is worth it buys again what the hosts never carry, unless less than today would be carried.
    """
    whole = find_drop_in([case.with_own_limits for case in cases])
    if not any(case.kept.by_host for case in cases):
        return SameLimits(drop_in=whole, whole=whole, weighed=() if whole is None else (whole,))
    full, by_host_limits = find_drop_in([case.with_all_limits for case in cases]), find_drop_in(cases)
    now = worst(trial(case.held.now, case.present) for case in cases)
    weighed = tuple(bundle for bundle in (whole, by_host_limits) if bundle is not None)
    if by_host_limits is None or by_host_limits.tried.throttled_minutes > now.throttled_minutes:
        return SameLimits(drop_in=whole, whole=whole, weighed=weighed)
    if whole is not None and is_worth_it(whole):
        return SameLimits(drop_in=by_host_limits, whole=whole, full=full, weighed=weighed)
    by_host = by_host_limits if all(case.volume.spec.type != by_host_limits.kind.name for case in cases) else None
    return SameLimits(drop_in=whole, whole=whole, full=full, by_host=by_host, weighed=weighed)


def find_drop_in(cases: Sequence[Case]) -> Bundle | None:
    """Finds the cheapest other type that can do everything the present volumes can; None if none can.

    It is tried by the demand now, without headroom: it passes as the present ones do. A type that shares a pool with
    volumes that do not change is left out: that needs proof of their demand. The size stays: what cannot be taken back
    rests on demand.
    """
    kinds = [
        kind
        for kind in cases[0].market.types.values()
        if not any(case.products.of(kind).refused for case in cases) and not _touches_others(cases, kind)
    ]
    bundles = [Bundle(kind=kind, offers=tuple(_drop_in(case, kind) for case in cases)) for kind in kinds]
    others = [
        bundle
        for bundle in bundles
        if bundle.feasible
        and any(offer.spec != case.volume.spec for offer, case in zip(bundle.offers, cases, strict=True))
    ]
    best = min(others, key=lambda bundle: bundle.order, default=None)
    if best is None:
        return None
    tried = [
        replace(offer, tried=trial(case.held.now, offer.ceiling), need=_need(case, offer.ceiling))
        for offer, case in zip(best.offers, cases, strict=True)
    ]
    return replace(best, offers=tuple(tried))


def _touches_others(cases: Sequence[Case], kind: VolumeType) -> bool:
    """The change to a type changes the pool of another volume: one that it would join, or leave."""
    changing = {case.volume.id for case in cases}
    return any(
        not pool.as_now and not changing.issuperset(pool.volume_ids)
        for case in cases
        for pool in case.shared.get(kind.name, ())
    )


def _drop_in(case: Case, kind: VolumeType) -> Offer:
    """Makes the offer that carries everything the volume, or its pool, can use; once unless it shares a pool."""
    if case.shared or case.pool_gib != case.volume.spec.size_gib:
        return _make_drop_in(case, kind)
    known = case.products.of(kind).drop_ins
    if case.kept not in known:
        known[case.kept] = _make_drop_in(case, kind)
    return known[case.kept]


def _make_drop_in(case: Case, kind: VolumeType) -> Offer:
    volume, product = case.volume, replace(case.products.of(kind), grows=False)
    kept = case.kept
    wanted, measured = Need.of_ceiling(kept.ceiling.counted_as(kind.accounting)), product.failed
    spec = product.fit(product.promised(wanted))
    shared = case.shared.get(kind.name, ())
    pooled = kind.pooled and case.pool_gib != volume.spec.size_gib
    sized = replace(spec, size_gib=case.pool_gib) if pooled else spec
    ceiling = believed_ceiling(kind.ceiling(sized), measured) if kept.anywhere else product.ceiling(sized)
    refused = tuple(find_shortfalls(str(spec), ceiling, Need.of_ceiling(kept.ceiling.counted_as(ceiling.accounting))))
    slow: tuple[FailedMeasurement, ...] = ()
    short: tuple[FailedMeasurement, ...] = ()
    if measured:
        plain = product.fit(wanted)
        without = ceiling_on_hosts(kind, replace(plain, size_gib=sized.size_gib), volume)
        slow = () if spec == volume.spec else find_too_slow(volume, ceiling_on_hosts(kind, sized, volume), measured)
        short = find_limiting(without, wanted, measured)
    failed = tuple(measurement for measurement in measured if measurement in slow or measurement in short)
    return Offer(
        spec=spec,
        ceiling=ceiling,
        usd_month=product.usd_month(spec),
        tried=None,
        need=NOTHING,
        refused=(*refusals_by_measurements(failed if refused else slow), *refused),
        failed=failed,
        pool_gib=shared[0].size_gib if pooled and shared else None,
    )


def _need(case: Case, ceiling: Ceiling) -> Need:
    """The highest rates that the present volume, or its pool, has to carry, as a ceiling counts them."""
    return peaks(case.held.keeping.at_most, ceiling.accounting)
