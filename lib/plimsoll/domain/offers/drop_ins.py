"""Drop-in replacements: what can do everything that the present volumes can, and needs no proof of demand."""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain.case import Case
from plimsoll.domain.demand.need import Need
from plimsoll.domain.demand.required import peaks
from plimsoll.domain.demand.trial import trial
from plimsoll.domain.evidence.failed_measurement import holding_back, promised
from plimsoll.domain.offers.offer import (
    Offer,
    ceiling_on_hosts,
    fitted,
    on_grid,
    refused_by,
    too_slow,
    too_small,
    unsuited,
)
from plimsoll.domain.offers.offers import Bundle
from plimsoll.domain.volume_types import VolumeType


def drop_ins(cases: Sequence[Case]) -> Bundle | None:
    """The cheapest type, other than what there is, that can do everything the present volumes can; None where none can.

    What it is tried by is the demand now, without headroom: it passes as the present ones do.
    """
    kinds = cases[0].market.types.values()
    bundles = [Bundle(kind=kind, offers=tuple(_drop_in(case, kind) for case in cases)) for kind in kinds]
    others = [
        bundle
        for bundle in bundles
        if bundle.feasible
        and any(offer.spec != case.volume.spec for offer, case in zip(bundle.offers, cases, strict=True))
    ]
    return min(others, key=lambda bundle: bundle.order, default=None)


def _drop_in(case: Case, kind: VolumeType) -> Offer:
    """What carries all that the present volume, or its pool, ever could."""
    volume, market, policy = case.volume, case.market, case.policy
    wanted = Need.of_ceiling(case.present.counted_as(kind.accounting))
    measured = market.failed(volume, kind.name)
    plain = on_grid(kind, fitted(kind, volume.spec.size_gib, wanted), policy)
    spec = on_grid(kind, fitted(kind, volume.spec.size_gib, promised(wanted, measured)), policy)
    shared = case.shared.get(kind.name, ())
    pooled = kind.pooled and case.pool_gib != volume.spec.size_gib
    size_gib = case.pool_gib if pooled else spec.size_gib
    ceiling = ceiling_on_hosts(kind, replace(spec, size_gib=size_gib), volume, measured)
    without = ceiling_on_hosts(kind, replace(plain, size_gib=size_gib), volume)
    published = ceiling_on_hosts(kind, replace(spec, size_gib=size_gib), volume)
    usd_month = market.book.usd_month(spec, mean_iops=case.summary.mean_iops)
    refused = [*unsuited(volume, kind, usd_month, market, policy)]
    refused += too_small(str(spec), ceiling, Need.of_ceiling(case.present.counted_as(ceiling.accounting)))
    slow = () if spec == volume.spec else too_slow(volume, published, measured)
    short = holding_back(without, wanted, measured)
    failed = tuple(one for one in measured if one in slow or one in short)
    return Offer(
        spec=spec,
        ceiling=ceiling,
        usd_month=usd_month,
        tried=trial(case.held.now, ceiling) if not refused else None,
        need=peaks(case.held.reducing.at_most, ceiling.accounting),
        refused=(*refused_by(failed if refused else slow), *refused),
        failed=failed,
        pool_gib=shared[0].size_gib if pooled and shared else None,
    )
