"""The record: a recommendation as the world reads it, in recommendations.json, with its JSON Schema.

Money is in USD a month with two decimals, rates with two, hours and minutes with one. Keys carry their unit.
"""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.domain.offer import Offer
from plimsoll.domain.recommendation import (
    Change,
    DemandSummary,
    Detached,
    InsufficientData,
    Keep,
    Recommendation,
    SetAnswer,
)
from plimsoll.domain.volume import VolumeSpec

Action = Literal["migrate", "reprovision", "upgrade", "keep", "detached", "insufficient-data"]
Grades = Literal["A", "B", "C"]


class _Record(BaseModel):
    # What is written has every key; only what an earlier version wrote may lack those that it did not know.
    model_config = ConfigDict(
        extra="forbid", defer_build=True, frozen=True, json_schema_serialization_defaults_required=True
    )


class SpecRecord(_Record):
    """A configuration; null where the type provisions nothing."""

    type: str
    size_gib: int
    iops: int | None
    throughput_mib_s: int | None


class DemandRecord(_Record):
    """What the workload asked for. Peaks are those of buckets of `resolution_s` seconds.

    Buckets that could not change the answer are not read: no peak was above `peak_iops`, and one was at least
    `least_peak_iops`. Both are the same where the peak was read.
    """

    peak_iops: float
    peak_throughput_mib_s: float
    least_peak_iops: float
    least_peak_throughput_mib_s: float
    peak_busy_iops: float | None = Field(
        description="peak rate over the busy share of a bucket: an upper bound; null where not every bucket was read"
    )
    peak_busy_throughput_mib_s: float | None
    mean_iops: float
    mean_throughput_mib_s: float
    mean_io_size_kib: float | None
    read_share: float | None
    resolution_s: int = Field(description="the coarsest period that had to be read")
    censored: bool = Field(description="demand stood at a ceiling, so the true demand is at least this")
    throttled_minutes: float = Field(description="minutes at the volume's ceiling")
    host_bound_minutes: float = Field(description="minutes at the host's ceiling")
    hours_observed: float
    gap_hours: float


class ReplayRecord(_Record):
    """Minutes at whose end work was still waiting when the demand is pushed through a ceiling."""

    throttled_minutes_now: float
    throttled_minutes_then: float | None
    worst_delay_s_now: float
    worst_delay_s_then: float | None


class EvidenceRecord(_Record):
    """What stands behind the offer: A measured here, B measured elsewhere or longer ago, C published limits alone."""

    grade: Grades
    envelope: str | None
    text: str


class OfferRecord(_Record):
    """A configuration that was weighed, and why it was refused if it was."""

    spec: SpecRecord
    monthly_usd: float | None
    ceiling_iops: float
    ceiling_throughput_mib_s: float
    throttled_minutes: float | None
    refused: list[str]


class BlockerRecord(_Record):
    """What forbids the change today."""

    code: str
    text: str


class OwnerRecord(_Record):
    """Who made the volume and would change it."""

    kind: str
    name: str | None


class StripeSetRecord(_Record):
    """The stripe set that a volume is decided with; its money is that of all members, each of which has a part."""

    name: str
    level: str
    host: str
    mounts: list[str]
    members: list[str]
    held_back_by: dict[str, str] = Field(description="the members that must stay as they are, with the reason")
    monthly_usd_now: float | None = Field(description="null where a member could not be decided or has no price")
    monthly_usd_then: float | None
    monthly_usd_saved: float | None


class RecommendationRecord(_Record):
    """One volume's recommendation."""

    account: str
    region: str
    zone: str
    volume_id: str
    name: str | None
    hosts: list[str]
    action: Action
    current: SpecRecord
    target: SpecRecord | None
    monthly_usd_now: float | None = Field(description="null where the region has no price for the present type")
    monthly_usd_then: float | None
    monthly_usd_saved: float
    monthly_usd_saved_at_parity: float = Field(description="the part of the saving that needs no proof")
    parity: OfferRecord | None = Field(description="the cheapest that carries all the present volume ever could")
    demand: DemandRecord | None
    replay: ReplayRecord | None
    evidence: EvidenceRecord | None
    offers: list[OfferRecord]
    blockers: list[BlockerRecord]
    reasons: list[str]
    owner: OwnerRecord
    change: str = Field(description="how the owner makes the change")
    stripe_set: StripeSetRecord | None = Field(
        default=None, description="the volumes that are changed together with this one; null where none is known"
    )


def schema() -> dict[str, Any]:
    """The JSON Schema of recommendations.json: a list of recommendations."""
    item = RecommendationRecord.model_json_schema(mode="serialization")
    definitions = item.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plimsoll recommendations",
        "type": "array",
        "items": item,
        "$defs": definitions,
    }


def record_of(recommendation: Recommendation, change: str = "") -> RecommendationRecord:
    """The record of a recommendation; `change` is how its owner makes it."""
    volume = recommendation.volume
    usd_now = recommendation.usd_month_now
    changed = recommendation if isinstance(recommendation, Change) else None
    weighed = recommendation if isinstance(recommendation, Change | Keep) else None
    comparison = weighed.comparison if weighed else None
    parity = comparison.parity if comparison else None
    now, then = cents(usd_now), cents(changed.usd_month_then if changed else usd_now)
    return RecommendationRecord(
        account=volume.account,
        region=volume.region,
        zone=volume.zone,
        volume_id=volume.id,
        name=volume.name,
        hosts=[host.id for host in volume.hosts],
        action=cast("Action", recommendation.action),
        current=spec_record(volume.spec),
        target=_target(recommendation),
        monthly_usd_now=now,
        monthly_usd_then=then,
        monthly_usd_saved=0.0 if now is None or then is None else round(now - then, 2),
        monthly_usd_saved_at_parity=round(changed.usd_month_saved_at_parity, 2) if changed else 0.0,
        parity=_offer(parity) if parity else None,
        demand=_demand(recommendation),
        replay=_replay(weighed) if weighed else None,
        evidence=_evidence(weighed) if weighed else None,
        offers=[_offer(offer) for offer in comparison.offers] if comparison else [],
        blockers=[BlockerRecord(code=found.code, text=found.text) for found in recommendation.blockers],
        reasons=list(recommendation.reasons),
        owner=OwnerRecord(kind=volume.owner.kind.value, name=volume.owner.name),
        change=change,
        stripe_set=_stripe_set(recommendation.stripe_set) if recommendation.stripe_set else None,
    )


def cents(usd: float | None) -> float | None:
    """USD with two decimals."""
    return None if usd is None else round(usd, 2)


def spec_record(spec: VolumeSpec) -> SpecRecord:
    """The record of a configuration."""
    return SpecRecord(type=spec.type, size_gib=spec.size_gib, iops=spec.iops, throughput_mib_s=spec.throughput_mib_s)


def _target(recommendation: Recommendation) -> SpecRecord | None:
    match recommendation:
        case Change():
            return spec_record(recommendation.target.spec)
        case Keep():
            return spec_record(recommendation.volume.spec)
        case Detached() | InsufficientData():
            return None


def _demand(recommendation: Recommendation) -> DemandRecord | None:
    found = None if isinstance(recommendation, Detached) else recommendation.demand
    return None if found is None else _demand_record(found)


def _demand_record(found: DemandSummary) -> DemandRecord:
    return DemandRecord(
        peak_iops=round(found.peak_iops, 2),
        peak_throughput_mib_s=round(found.peak_throughput_mib_s, 2),
        least_peak_iops=round(found.least_peak_iops, 2),
        least_peak_throughput_mib_s=round(found.least_peak_throughput_mib_s, 2),
        peak_busy_iops=_rounded(found.peak_busy_iops, 2),
        peak_busy_throughput_mib_s=_rounded(found.peak_busy_throughput_mib_s, 2),
        mean_iops=round(found.mean_iops, 2),
        mean_throughput_mib_s=round(found.mean_throughput_mib_s, 2),
        mean_io_size_kib=_rounded(found.mean_io_size_kib, 2),
        read_share=_rounded(found.read_share, 3),
        resolution_s=found.resolution_s,
        censored=found.censored,
        throttled_minutes=round(found.throttled_minutes, 1),
        host_bound_minutes=round(found.host_bound_minutes, 1),
        hours_observed=round(found.hours_observed, 1),
        gap_hours=round(found.gap_hours, 1),
    )


def _stripe_set(told: SetAnswer) -> StripeSetRecord:
    now, then = cents(told.usd_month_now), cents(told.usd_month_then)
    return StripeSetRecord(
        name=told.stripes.name,
        level=told.stripes.level,
        host=told.stripes.host_id,
        mounts=list(told.stripes.mounts),
        members=[one.volume_id for one in told.members],
        held_back_by={one.volume_id: one.held for one in told.members if one.held is not None},
        monthly_usd_now=now,
        monthly_usd_then=then,
        monthly_usd_saved=None if now is None or then is None else round(now - then, 2),
    )


def _replay(weighed: Change | Keep) -> ReplayRecord:
    now = weighed.comparison.replay_now
    then = weighed.target.replay if isinstance(weighed, Change) else now
    return ReplayRecord(
        throttled_minutes_now=round(now.throttled_minutes, 1),
        throttled_minutes_then=round(then.throttled_minutes, 1) if then else None,
        worst_delay_s_now=round(now.worst_delay_s, 3),
        worst_delay_s_then=round(then.worst_delay_s, 3) if then else None,
    )


def _evidence(weighed: Change | Keep) -> EvidenceRecord:
    found = weighed.evidence
    return EvidenceRecord(grade=cast("Grades", found.grade.name), envelope=found.envelope, text=found.text)


def _offer(offer: Offer) -> OfferRecord:
    return OfferRecord(
        spec=spec_record(offer.spec),
        monthly_usd=cents(offer.usd_month),
        ceiling_iops=round(offer.ceiling.iops, 2),
        ceiling_throughput_mib_s=round(offer.ceiling.throughput_mib_s, 2),
        throttled_minutes=round(offer.replay.throttled_minutes, 1) if offer.replay else None,
        refused=list(offer.refused),
    )


def _rounded(figure: float | None, digits: int) -> float | None:
    return None if figure is None else round(figure, digits)
