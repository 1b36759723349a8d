"""The decision: one volume, its demand and the market in; one recommendation out. See docs/decision.md."""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll.domain import reasons
from plimsoll.domain.blockers import blockers, evidence_blocker
from plimsoll.domain.case import Case, DecisionContext
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.evidence import Evidence, Place, evidence_for
from plimsoll.domain.offer import Offer, drop_in, flip, offers
from plimsoll.domain.recommendation import (
    Comparison,
    Detached,
    InsufficientData,
    Keep,
    Migrate,
    Recommendation,
    Reprovision,
    Upgrade,
)
from plimsoll.domain.replay import replay
from plimsoll.domain.volume import Volume, VolumeSpec, VolumeState
from plimsoll.domain.volume_types import type_of


def is_detached(volume: Volume) -> bool:
    """Whether it is paid for and attached to nothing, so that no metric can say anything."""
    return volume.state is VolumeState.AVAILABLE and not volume.attachments


def recommend_detached(volume: Volume, context: DecisionContext) -> Detached:
    """The answer for a volume that is attached to nothing; UnknownVolumeType where its type is not published."""
    type_of(volume.spec, context.market.types)
    usd_month = context.market.book.usd_month(volume.spec)
    return Detached(volume=volume, usd_month_now=usd_month, reasons=reasons.detached(usd_month))


def answer(case: Case) -> Recommendation:
    """What should be done in a case."""
    usd_month = usd_month_now(case)
    if usd_month is None or is_insufficient(case):
        return insufficient(case, usd_month)
    comparison = compare(case)
    best = cheapest(comparison)
    if best is None or not _worth_it(case, best, usd_month):
        saved = usd_month - (best.usd_month or 0.0) if best else 0.0
        return kept(case, comparison, usd_month, reasons.why_keep(case, best, saved))
    return changed(kind_of([case], [best]), case, comparison, best, usd_month)


def usd_month_now(case: Case) -> float | None:
    """What the volume costs a month; None where the region has no price for its type."""
    return case.market.book.usd_month(case.volume.spec, mean_iops=case.summary.mean_iops)


def is_insufficient(case: Case) -> bool:
    """Whether fewer hours were observed than the policy wants, anything that was received is disputed, or what the
    others on its host did is not known."""
    coverage, policy = case.summary.coverage, case.policy
    return (
        case.demand.hours_observed < policy.min_hours
        or coverage.hours_pct < policy.min_coverage_pct
        or bool(coverage.disputes)
        or not case.stood.host_known
    )


def compare(case: Case) -> Comparison:
    """Everything that is weighed: ceilings, the replay now, one offer of each type, and what they are measured by."""
    volume, market = case.volume, case.market
    replay_now = replay(case.demand, case.present) if case.replay_now is None else case.replay_now
    found = offers(volume, case.demand, case.need_by, replay_now, market=market, policy=case.policy, shares=case.shares)
    return Comparison(
        present=case.present,
        hosts=case.hosts,
        replay_now=replay_now,
        offers=found,
        drop_in=drop_in(volume, case.present, market=market, policy=case.policy, pool_gib=case.pool_gib),
        flip=flip(market.types[found[0].spec.type], volume.spec.size_gib, market.book),
    )


def cheapest(comparison: Comparison) -> Offer | None:
    """The offer that wins; None where something speaks against every one."""
    first = comparison.offers[0]
    return first if first.feasible else None


def _worth_it(case: Case, best: Offer, usd_month: float) -> bool:
    if best.spec == case.volume.spec or best.usd_month is None:
        return False
    return relieves(case, best.ceiling) or usd_month - best.usd_month >= case.policy.min_saving_usd_month


def relieves(case: Case, offered: Ceiling) -> bool:
    """Whether the offer carries more on a resource that is throttled often."""
    present = case.present.counted_as(offered.accounting)
    raised = {
        Resource.IOPS: offered.iops > present.iops or offered.sustained_iops > present.sustained_iops,
        Resource.THROUGHPUT: offered.throughput_mib_s > present.throughput_mib_s
        or offered.sustained_throughput_mib_s > present.sustained_throughput_mib_s,
    }
    return any(raised[resource] for resource in case.stood.frequent)


ChangeKind = type[Migrate] | type[Reprovision] | type[Upgrade]


def kind_of(cases: Sequence[Case], targets: Sequence[Offer]) -> ChangeKind:
    """What a change of those volumes to those offers, in the same order, is called."""
    pairs = list(zip(cases, targets, strict=True))
    if any(relieves(case, target.ceiling) for case, target in pairs):
        return Upgrade
    return Migrate if any(target.spec.type != case.volume.spec.type for case, target in pairs) else Reprovision


def insufficient(case: Case, usd_month: float | None) -> InsufficientData:
    """The answer where a price or hours of metrics are missing."""
    return InsufficientData(
        volume=case.volume,
        usd_month_now=usd_month,
        reasons=reasons.insufficient(case, usd_month),
        demand=case.summary,
    )


def kept(case: Case, comparison: Comparison, usd_month: float, why: str) -> Keep:
    """The answer that nothing is changed, with the sentence that says why."""
    return Keep(
        volume=case.volume,
        usd_month_now=usd_month,
        reasons=reasons.keep(case, comparison, why),
        demand=case.summary,
        comparison=comparison,
        evidence=_evidence(case, case.volume.spec, case.present),
    )


def changed(
    kind: ChangeKind, case: Case, comparison: Comparison, best: Offer, usd_month: float
) -> Migrate | Reprovision | Upgrade:
    """The answer of a kind: the change to an offer, and what forbids it today."""
    evidence = _evidence(case, best.spec, best.ceiling)
    return kind(
        volume=case.volume,
        usd_month_now=usd_month,
        target=best,
        usd_month_then=best.usd_month or 0.0,
        demand=case.summary,
        comparison=comparison,
        evidence=evidence,
        reasons=reasons.change(case, comparison, best, usd_month),
        blockers=(
            *blockers(case.volume, best.spec, case.market.types, now=case.context.now),
            *evidence_blocker(kind.action, evidence, case.policy),
        ),
    )


def _evidence(case: Case, spec: VolumeSpec, ceiling: Ceiling) -> Evidence:
    shares, volume = case.shares.get(spec.type, ()), case.volume
    pooled = bool(shares) and case.market.types[spec.type].pooled
    need = shares[0].need if pooled else case.need_by(ceiling.accounting)
    return evidence_for(
        spec.type,
        _uncapped(case, replace(spec, size_gib=shares[0].size_gib) if pooled else spec, ceiling),
        need_iops=need.iops,
        need_throughput_mib_s=need.throughput_mib_s,
        envelopes=case.context.envelopes,
        place=Place(
            provider=case.market.provider,
            account=volume.account,
            region=volume.region,
            today=case.context.now.date(),
            max_age_days=case.policy.evidence_max_age_days,
        ),
        rankings=case.context.rankings,
    )


def _uncapped(case: Case, spec: VolumeSpec, ceiling: Ceiling) -> Ceiling:
    """What a spec publishes by itself, where the host lets no more than a cap of its type through: measured elsewhere,
    it shows that."""
    if any(host.caps for host in case.volume.hosts):
        return case.market.types[spec.type].ceiling(spec)
    return ceiling
