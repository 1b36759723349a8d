"""The records of an audit's answers."""

from collections.abc import Sequence
from dataclasses import asdict

from plimsoll.decide.answer import NO_CHANGE, Answer, ChangeStep, ChangeSteps, steps_text
from plimsoll.demand.profile import DemandProfile
from plimsoll.model.volume import Volume
from plimsoll.outcomes import Answered
from plimsoll.reports.plain import plain_of
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.seconds_seen import seen_record


def record_of(answer: Answer, change: ChangeSteps = NO_CHANGE, *, provider: str) -> RecommendationRecord:
    """The record of an answer whose volume has the tags alone that are shown.

    `change` is how its owner makes it and takes it back, and `provider` the volume's cloud.
    """
    beside = {
        "change": steps_text(change.forth),
        "way_back": steps_text(change.back),
        "change_steps": _step_records(change.forth),
        "way_back_steps": _step_records(change.back),
        "provider": provider,
    }
    return RecommendationRecord.model_validate(plain_of(RecommendationRecord, answer) | beside)


def _step_records(steps: Sequence[ChangeStep]) -> list[dict[str, str]]:
    return [asdict(step) for step in steps]


def answered_record(answered: Answered) -> RecommendationRecord:
    """The record of an audit's answer."""
    record = record_of(answered.recommendation, answered.change, provider=answered.target.provider)
    if answered.seen is None:
        return record
    return record.model_copy(update={"seconds_seen": seen_record(answered.seen, record.ceilings)})


def profile_record(volume: Volume, profile: DemandProfile) -> DemandProfileRecord:
    """The record of a volume's profile."""
    beside = {"account": volume.account, "region": volume.region, "volume_id": volume.id}
    return DemandProfileRecord.model_validate(plain_of(DemandProfileRecord, profile) | beside)
