"""From a recommendation to its record."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, cast

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.evidence.failed_measurement import CODE, FailedMeasurement
from plimsoll.domain.groups.group import Part, Peer
from plimsoll.domain.metrics.signals import SignalLevel, Signals
from plimsoll.domain.offers.losses import find_cuts
from plimsoll.domain.offers.offer import Offer
from plimsoll.domain.recommendation import (
    Change,
    Comparison,
    FrontierStep,
    GrowthSummary,
    InsufficientData,
    Keep,
    MemorySummary,
    Recommendation,
    SetAnswer,
    Unweighed,
    Wait,
)
from plimsoll.domain.risk.promise import Risk
from plimsoll.domain.volume import NAME_TAG, VolumeSpec
from plimsoll.outcomes import Answered
from plimsoll.ports import NO_CHANGE, ChangeText
from plimsoll.reports.learning import peaks_record
from plimsoll.reports.record import (
    BlockerRecord,
    CeilingRecord,
    CeilingsRecord,
    DemandRecord,
    EpochRecord,
    EventRecord,
    EvidenceRecord,
    FailedMeasurementRecord,
    FrontierStepRecord,
    Grades,
    GrowthRecord,
    LossRecord,
    MemoryRecord,
    OfferRecord,
    OwnerRecord,
    RateSide,
    RecommendationRecord,
    ReplayRecord,
    RiskRecord,
    SaferRecord,
    SignalsRecord,
    SpecRecord,
    StripeSetRecord,
    TakeoverRecord,
    TemplateOfferRecord,
    TemplateRecord,
    TooRiskyRecord,
    WaitRecord,
)
from plimsoll.reports.seconds_seen import seen_record

_DIGITS: Final = {
    "read_share": 3,
    "throttled_minutes": 1,
    "flagged_minutes": 1,
    "host_bound_minutes": 1,
    "host_bound_measured_minutes": 1,
    "host_cleared_minutes": 1,
    "hours_observed": 1,
    "gap_hours": 1,
}
"""Decimals of a demand's figures; the others have two."""

_MILLIONTHS: Final = 6
"""Decimals of money that is added up over thousands of small volumes."""

_FRONTIER_USD_MONTH: Final = 5.0
_FRONTIER_SHARE: Final = 0.05
"""What a step of a frontier has to save of the first one's price for the frontier to be shown."""

_Weighed = Change | Keep | Wait
"""What was weighed."""


def record_of(recommendation: Recommendation, change: ChangeText = NO_CHANGE, *, provider: str) -> RecommendationRecord:
    """The record of a recommendation, whose volume has the tags alone that are shown; `change` is how its owner makes
    it and takes it back, and `provider` the volume's cloud.
    """
    volume = recommendation.volume
    usd_now = recommendation.usd_month_now
    changed = recommendation if isinstance(recommendation, Change) else None
    weighed = recommendation if isinstance(recommendation, _Weighed) else None
    comparison = weighed.comparison if weighed else None
    drop_in = comparison.drop_in if comparison else None
    # What a disk of a storage pool gives back stays in the pool, which is paid for as a whole.
    is_its_own = changed is not None and volume.storage_pool is None
    now, then = _round_figure(usd_now), _round_figure(changed.usd_month_then if changed and is_its_own else usd_now)
    return RecommendationRecord(
        account=volume.account,
        region=volume.region,
        zone=volume.zone,
        volume_id=volume.id,
        name=volume.name,
        hosts=[host.id for host in volume.hosts],
        action=recommendation.action,
        current=spec_record(volume.spec),
        target=_target(recommendation),
        monthly_usd_now=now,
        monthly_usd_then=then,
        monthly_usd_saved=0.0 if now is None or then is None else round(now - then, 2),
        monthly_usd_saved_drop_in=round(changed.usd_month_saved_drop_in, 2) if changed and is_its_own else 0.0,
        drop_in=_offer(drop_in) if drop_in else None,
        demand=_demand(recommendation),
        replay=_replay(weighed) if weighed else None,
        evidence=_evidence(weighed) if weighed else None,
        offers=[_offer(offer) for offer in comparison.offers] if comparison else [],
        blockers=[BlockerRecord(code=blocker.code, text=blocker.text) for blocker in recommendation.blockers],
        reasons=[str(reason) for reason in recommendation.reasons],
        owner=OwnerRecord(kind=volume.owner.kind.value, name=volume.owner.name),
        change=change.how,
        way_back=change.way_back,
        stripe_set=_stripe_set(recommendation.stripe_set) if recommendation.stripe_set else None,
        ceilings=_ceilings(weighed) if weighed else None,
        created=volume.created.astimezone(UTC).isoformat(timespec="seconds"),
        tags={key: value for key, value in volume.tags.items() if key != NAME_TAG},
        provider=provider,
        frontier=_frontier(comparison) if comparison else [],
        epochs=[_epoch(epoch) for epoch in recommendation.epochs],
        wait=_wait(recommendation, usd_now) if isinstance(recommendation, Wait) else None,
        relief=_offer(comparison.relief) if comparison and comparison.relief else None,
        idle_days=None if recommendation.idle is None else recommendation.idle.days,
        full_limits=_offer(comparison.full) if comparison and comparison.full else None,
        signals=_signals(recommendation.signals) if recommendation.signals else None,
        takeover=_takeover(recommendation.peer) if recommendation.peer else None,
        memory=_memory(recommendation.memory) if recommendation.memory else None,
        growth=_growth(recommendation.growth) if recommendation.growth else None,
        risk=_risk(recommendation.risk) if recommendation.risk else None,
        too_risky=_rejected_reduction(recommendation),
        pool=list(recommendation.pool),
        template=_template(recommendation.part, usd_now) if recommendation.part else None,
        failed_measurements=_failed_measurements(comparison) if comparison else [],
        reason_codes=[str(reason.code) for reason in recommendation.reasons],
        cuts=cast("list[RateSide]", list(changed.cuts)) if changed else [],
        losses=[LossRecord(code=loss.code, now=loss.now, then=loss.then) for loss in changed.losses] if changed else [],
    )


def answered_record(answered: Answered) -> RecommendationRecord:
    """The record of an audit's answer."""
    record = record_of(answered.recommendation, answered.change, provider=answered.target.provider)
    if answered.seen is None:
        return record
    return record.model_copy(update={"seconds_seen": seen_record(answered.seen, record.ceilings)})


def spec_record(spec: VolumeSpec) -> SpecRecord:
    """The record of a configuration."""
    return SpecRecord(type=spec.type, size_gib=spec.size_gib, iops=spec.iops, throughput_mib_s=spec.throughput_mib_s)


def _target(recommendation: Recommendation) -> SpecRecord | None:
    match recommendation:
        case Change():
            return spec_record(recommendation.target.spec)
        case Keep():
            return spec_record(recommendation.volume.spec)
        case Wait() | Unweighed() | InsufficientData():
            return None


def _demand(recommendation: Recommendation) -> DemandRecord | None:
    demand = None if isinstance(recommendation, Unweighed) else recommendation.demand
    if demand is None:
        return None
    figures = {name: getattr(demand, name) for name in DemandRecord.model_fields if hasattr(demand, name)}
    return DemandRecord.model_validate(
        {
            **{name: _round_figure(value, _DIGITS.get(name, 2)) for name, value in figures.items()},
            "hours_expected": round(demand.coverage.hours_expected, 1),
            "coverage_pct": _floor_pct(demand.coverage.hours_pct),
            "disputed_hours": round(demand.coverage.disputed_hours, 2),
            "series_received_pct": {name: _floor_pct(pct) for name, pct in demand.coverage.series_pct},
        }
    )


def _floor_pct(pct: float) -> float:
    """A percentage of two decimals that is 100 only where nothing is missing."""
    return math.floor(100 * pct) / 100


def _takeover(peer: Peer) -> TakeoverRecord:
    ceiling = peer.ceiling
    return TakeoverRecord(
        volume_id=peer.volume.id,
        told_by=peer.takeover.told_by,
        name=peer.takeover.name,
        iops=None if ceiling is None else ceiling.iops,
        throughput_mib_s=None if ceiling is None else ceiling.throughput_mib_s,
    )


def _stripe_set(answer: SetAnswer) -> StripeSetRecord:
    now, then = _round_figure(answer.usd_month_now), _round_figure(answer.usd_month_then)
    return StripeSetRecord(
        name=answer.stripes.name,
        level=answer.stripes.level,
        host=answer.stripes.host_id,
        mounts=list(answer.stripes.mounts),
        members=[member.volume_id for member in answer.members],
        held_back_by={member.volume_id: member.held for member in answer.members if member.held is not None},
        monthly_usd_now=now,
        monthly_usd_then=then,
        monthly_usd_saved=None if now is None or then is None else round(now - then, 2),
    )


def _risk(risk: Risk) -> RiskRecord:
    safer = risk.safer
    return RiskRecord(
        promised_pct=risk.promised_pct,
        minutes=risk.minutes,
        days=risk.days,
        history_days=round(risk.history_days, 1),
        headroom_pct=risk.headroom.pct,
        is_learned=risk.is_learned,
        learned_from=list(risk.learned_from),
        volumes=risk.volumes,
        public=risk.public,
        text=risk.text,
        left_pct=risk.left_pct,
        stratum=risk.stratum or None,
        usual_share=round(risk.usual_share, 3),
        allowed_pct=risk.allowed_pct,
        safer=None
        if safer is None
        else SaferRecord(
            promised_pct=safer.level.promised_pct,
            headroom_pct=safer.level.headroom.pct,
            monthly_usd=round(safer.usd_month, 2),
        ),
    )


def _rejected_reduction(recommendation: Recommendation) -> TooRiskyRecord | None:
    """The reduction that is left out because of its risk; None if it saves too little anyhow, or gives nothing back."""
    if not isinstance(recommendation, Change | Keep) or recommendation.volume.storage_pool is not None:
        return None
    rejected, now = recommendation.too_risky, recommendation.usd_month_now
    if rejected is None or not rejected.saves_enough or rejected.offer.usd_month is None:
        return None
    return TooRiskyRecord(
        spec=spec_record(rejected.offer.spec),
        monthly_usd=round(rejected.offer.usd_month, 2),
        monthly_usd_saved=round(round(now, 2) - round(rejected.offer.usd_month, 2), 2),
        cuts=cast("list[RateSide]", list(find_cuts(rejected.offer.ceiling, recommendation.comparison.present))),
        risk=None if rejected.risk is None else _risk(rejected.risk),
    )


def _signals(signals: Signals) -> SignalsRecord:
    def level(name: str, bounds: SignalLevel | None) -> dict[str, float | None]:
        mean, highest = (None, None) if bounds is None else (bounds.mean, bounds.highest)
        return {f"mean_{name}": _round_figure(mean), f"highest_{name}": _round_figure(highest)}

    return SignalsRecord.model_validate(
        {
            "start": _moment(signals.window.start_s),
            "end": _moment(signals.window.end_s),
            "days_observed": signals.days_observed,
            **level("read_latency_ms", signals.read_latency_ms),
            **level("write_latency_ms", signals.write_latency_ms),
            **level("io_latency_ms", signals.io_latency_ms),
            **level("queue_length", signals.queue_length),
            "stalled_minutes": _round_figure(signals.stalled_minutes, 1),
            "degraded_minutes": _round_figure(signals.degraded_minutes, 1),
            "host_iops_exceeded_minutes": _round_figure(signals.host_iops_exceeded_minutes, 1),
            "host_throughput_exceeded_minutes": _round_figure(signals.host_throughput_exceeded_minutes, 1),
            "host_iops_balance_pct": _round_figure(signals.host_iops_balance_pct),
            "host_throughput_balance_pct": _round_figure(signals.host_throughput_balance_pct),
        }
    )


def _replay(weighed: _Weighed) -> ReplayRecord:
    now = weighed.comparison.now
    then = weighed.target.tried if isinstance(weighed, Change) else now
    return ReplayRecord(
        throttled_minutes_now=round(now.throttled_minutes, 1),
        throttled_minutes_then=round(then.throttled_minutes, 1) if then else None,
        worst_delay_s_now=round(now.longest_wait_s, 3),
        worst_delay_s_then=round(then.longest_wait_s, 3) if then else None,
    )


def _evidence(weighed: _Weighed) -> EvidenceRecord:
    evidence = weighed.evidence
    return EvidenceRecord(
        grade=cast("Grades", evidence.grade.name),
        envelope=evidence.envelope,
        text=evidence.text,
        sources=list(dict.fromkeys(measurement.provenance.reference for measurement in evidence.measurements)),
    )


def _ceilings(weighed: _Weighed) -> CeilingsRecord:
    return CeilingsRecord(
        now=_ceiling(weighed.comparison.present),
        offered=_ceiling(weighed.target.ceiling) if isinstance(weighed, Change) else None,
        hosts=_ceiling(weighed.comparison.hosts),
    )


def _memory(memory: MemorySummary) -> MemoryRecord:
    event = memory.event
    return MemoryRecord(
        start=_moment(memory.window.start_s),
        end=_moment(memory.window.end_s),
        days=memory.days,
        instead_of=None if memory.instead_of is None else spec_record(memory.instead_of),
        event=None
        if event is None
        else EventRecord(
            side=cast("RateSide", event.side),
            rate=round(event.rate, 2),
            start=_moment(event.start_s),
            minutes=event.minutes,
            days=len(event.days),
            rhythm=memory.rhythm,
        ),
        peaks=None if memory.peaks is None else peaks_record(memory.peaks),
    )


def _template(part: Part, usd_now: float | None) -> TemplateRecord:
    offer = part.offer
    return TemplateRecord(
        kind=part.template.kind.value,
        name=part.template.name,
        device=part.template.device,
        monthly_usd_now=_round_figure(usd_now, _MILLIONTHS),
        least_monthly_usd=part.least_usd_month,
        least_hours=part.least_hours,
        together=part.together,
        offer=None
        if offer is None
        else TemplateOfferRecord(
            spec=spec_record(offer.spec),
            monthly_usd_size=round(offer.size_usd, _MILLIONTHS),
            monthly_usd_iops=round(offer.iops_usd, _MILLIONTHS),
            monthly_usd_throughput=round(offer.throughput_usd, _MILLIONTHS),
            most_iops=offer.most_iops,
            most_throughput_mib_s=offer.most_throughput_mib_s,
        ),
        held=part.held,
    )


def _growth(growth: GrowthSummary) -> GrowthRecord:
    return GrowthRecord(
        iops_pct_a_day=round(growth.iops_pct_a_day, 3),
        throughput_pct_a_day=round(growth.throughput_pct_a_day, 3),
        weeks=growth.weeks,
        headroom_pct=round(growth.headroom.pct, 1),
    )


def _frontier(comparison: Comparison) -> list[FrontierStepRecord]:
    steps = comparison.frontier if _is_worth_showing(comparison.frontier) else ()
    return [
        FrontierStepRecord(
            budget_min=step.budget_min,
            spec=spec_record(step.spec),
            monthly_usd=round(step.usd_month, 2),
            throttled_minutes=round(step.throttled_minutes, 1),
            longest_wait_s=round(step.longest_wait_s, 1),
            at_most=step.at_most,
        )
        for step in steps
    ]


def _is_worth_showing(steps: Sequence[FrontierStep]) -> bool:
    """True if throttling more minutes than the first step does saves enough."""
    if not steps:
        return False
    first, least = steps[0].usd_month, min(step.usd_month for step in steps)
    return first - least >= max(_FRONTIER_USD_MONTH, _FRONTIER_SHARE * first)


def _epoch(epoch: Epoch) -> EpochRecord:
    ceiling = epoch.ceiling
    return EpochRecord(
        start=_moment(epoch.window.start_s),
        end=_moment(epoch.window.end_s),
        spec=spec_record(epoch.spec) if epoch.spec else None,
        ceiling_iops=_limit(ceiling.iops) if ceiling else None,
        ceiling_throughput_mib_s=_limit(ceiling.throughput_mib_s) if ceiling else None,
        throttled_minutes=round(epoch.throttled_minutes, 1),
    )


def _moment(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def _wait(wait: Wait, usd_now: float | None) -> WaitRecord:
    then = wait.expected.usd_month
    return WaitRecord(
        until=wait.until.isoformat(),
        code=wait.code,
        expected=spec_record(wait.expected.spec),
        monthly_usd_saved=0.0 if usd_now is None or then is None else round(usd_now - then, 2),
    )


def _limit(figure: float | None) -> float | None:
    return None if figure is None or math.isinf(figure) else round(figure, 2)


def _ceiling(ceiling: Ceiling) -> CeilingRecord:
    def other(written: float, read: float) -> float | None:
        return None if _limit(written) == _limit(read) else _limit(written)

    return CeilingRecord(
        iops=_limit(ceiling.iops),
        throughput_mib_s=_limit(ceiling.throughput_mib_s),
        sustained_iops=_limit(ceiling.sustained_iops),
        sustained_throughput_mib_s=_limit(ceiling.sustained_throughput_mib_s),
        io_kib=_limit(ceiling.io_kib),
        write_iops=other(ceiling.write_iops, ceiling.iops),
        write_throughput_mib_s=other(ceiling.write_throughput_mib_s, ceiling.throughput_mib_s),
    )


def _offer(offer: Offer) -> OfferRecord:
    return OfferRecord(
        spec=spec_record(offer.spec),
        monthly_usd=_round_figure(offer.usd_month),
        ceiling_iops=round(offer.ceiling.iops, 2),
        ceiling_throughput_mib_s=round(offer.ceiling.throughput_mib_s, 2),
        throttled_minutes=round(offer.tried.throttled_minutes, 1) if offer.tried else None,
        refused=list(offer.refused),
    )


def _failed_measurements(comparison: Comparison) -> list[FailedMeasurementRecord]:
    """The failed measurements that speak against any offer, each once."""
    failures: list[FailedMeasurement] = []
    for offer in (*comparison.offers, *([comparison.drop_in] if comparison.drop_in else [])):
        failures += [failure for failure in offer.failed if failure not in failures]
    return [
        FailedMeasurementRecord(
            code=CODE,
            volume_type=failure.spec.type,
            measured_on=failure.measured_on.isoformat(),
            source=failure.source,
            delivered_iops=_round_figure(failure.delivered.get(Resource.IOPS)),
            published_iops=round(failure.published_rate(Resource.IOPS), 2),
            delivered_throughput_mib_s=_round_figure(failure.delivered.get(Resource.THROUGHPUT)),
            published_throughput_mib_s=round(failure.published_rate(Resource.THROUGHPUT), 2),
            too_slow=failure.volume_id is not None,
            text=failure.text,
        )
        for failure in failures
    ]


def _round_figure(figure: float | None, digits: int = 2) -> float | None:
    return figure if figure is None or isinstance(figure, int) else round(figure, digits)
