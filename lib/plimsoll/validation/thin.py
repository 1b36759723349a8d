"""Thin evidence: which recommendations of a run want measuring."""

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import CHANGES
from plimsoll.domain.validation import Want
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.steps import EVIDENCE


def wants_in(
    records: Iterable[RecommendationRecord], policy: Policy, least: Grade | None, types: Mapping[str, VolumeType]
) -> Iterator[Want]:
    """The changes of a run whose evidence is under `least` (None: what the policy requires of them, else grade B).

    What cannot be changed for another reason is not worth measuring.
    """
    for record in records:
        if record.action not in CHANGES or record.target is None or record.evidence is None:
            continue
        wanted = least or policy.require_evidence.get(record.action, policy.require_evidence.get("*", Grade.B))
        if Grade[record.evidence.grade] >= wanted or any(found.code != EVIDENCE for found in record.blockers):
            continue
        spec = VolumeSpec(**record.target.model_dump())
        yield Want(
            volume_id=record.volume_id,
            account=record.account,
            region=record.region,
            zone=record.zone,
            spec=spec,
            ceiling=types[spec.type].ceiling(spec),
            saved_usd_month=record.monthly_usd_saved,
        )
