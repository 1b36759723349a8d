"""Drop-in replacements: what can do everything that the present volumes can, and needs no proof of demand."""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain.case import Case
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand.need import NOTHING, Need
from plimsoll.domain.demand.required import peaks
from plimsoll.domain.demand.trial import trial
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement, holding_back
from plimsoll.domain.offers.bundles import Bundle
from plimsoll.domain.offers.offer import Offer, ceiling_on_hosts, refused_by, too_slow, too_small
from plimsoll.domain.volume_types import VolumeType


def drop_ins(cases: Sequence[Case]) -> Bundle | None:
    """The cheapest type, other than what there is, that can do everything the present volumes can; None where none can.

    What it is tried by is the demand now, without headroom: it passes as the present ones do. A type that would be
    carried together with volumes that do not change is none: that needs proof of what those ask for.
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
    """Whether a change to a type changes what any other volume has: one that it would join, or leave behind."""
    changing = {case.volume.id for case in cases}
    return any(
        not one.as_now and not changing.issuperset(one.volume_ids)
        for case in cases
        for one in case.shared.get(kind.name, ())
    )


def _drop_in(case: Case, kind: VolumeType) -> Offer:
    """What carries all that the present volume, or its pool, ever could, made once unless it shares a pool."""
    if case.shared or case.pool_gib != case.volume.spec.size_gib:
        return _made(case, kind)
    known = case.products.of(kind).drop_ins
    if case.present not in known:
        known[case.present] = _made(case, kind)
    return known[case.present]


def _made(case: Case, kind: VolumeType) -> Offer:
    volume, product = case.volume, case.products.of(kind)
    wanted, measured = Need.of_ceiling(case.present.counted_as(kind.accounting)), product.failed
    spec = product.fitted(product.promised(wanted))
    shared = case.shared.get(kind.name, ())
    pooled = kind.pooled and case.pool_gib != volume.spec.size_gib
    sized = replace(spec, size_gib=case.pool_gib) if pooled else spec
    ceiling = product.ceiling(sized)
    refused = tuple(too_small(str(spec), ceiling, Need.of_ceiling(case.present.counted_as(ceiling.accounting))))
    slow: tuple[FailedMeasurement, ...] = ()
    short: tuple[FailedMeasurement, ...] = ()
    if measured:
        plain = product.fitted(wanted)
        without = ceiling_on_hosts(kind, replace(plain, size_gib=sized.size_gib), volume)
        slow = () if spec == volume.spec else too_slow(volume, ceiling_on_hosts(kind, sized, volume), measured)
        short = holding_back(without, wanted, measured)
    failed = tuple(one for one in measured if one in slow or one in short)
    return Offer(
        spec=spec,
        ceiling=ceiling,
        usd_month=product.usd_month(spec),
        tried=None,
        need=NOTHING,
        refused=(*refused_by(failed if refused else slow), *refused),
        failed=failed,
        pool_gib=shared[0].size_gib if pooled and shared else None,
    )


def _need(case: Case, ceiling: Ceiling) -> Need:
    """The highest rates of what the present volume, or its pool, has to carry, as a ceiling counts them."""
    return peaks(case.held.keeping.at_most, ceiling.accounting)
