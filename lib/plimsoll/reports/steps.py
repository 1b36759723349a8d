"""Steps: in which order people act on a run's recommendations, and why each may be acted upon."""

from enum import StrEnum
from typing import Final

from plimsoll.domain.recommendation import CHANGES, Detached, InsufficientData, Upgrade
from plimsoll.reports.record import RecommendationRecord

EVIDENCE: Final = "evidence"
"""The code of the blocker that a measurement lifts."""

CENT: Final = 0.005


class Step(StrEnum):
    """Each recommendation is in exactly one."""

    THROTTLED = "throttled"
    SAFE = "safe"
    PROVED = "proved"
    MEASURE = "measure"
    BLOCKED = "blocked"
    DETACHED = "detached"
    WAIT = "wait"
    KEEP = "keep"


def step_of(record: RecommendationRecord) -> Step:
    """The step of a recommendation.

    A change is `safe` when its whole saving holds at full parity, so that nothing the present volume can do is given
    up; `proved` when it rests on the measured demand, and measurements stand behind the offer; `measure` when
    published limits alone do, or the policy asks for better evidence; `blocked` when something else forbids it today.
    """
    if record.action not in CHANGES:
        return {Detached.action: Step.DETACHED, InsufficientData.action: Step.WAIT}.get(record.action, Step.KEEP)
    if record.action == Upgrade.action:
        return Step.THROTTLED
    codes = {blocker.code for blocker in record.blockers}
    if codes - {EVIDENCE}:
        return Step.BLOCKED
    if codes:
        return Step.MEASURE
    if record.monthly_usd_saved_at_parity >= record.monthly_usd_saved - CENT:
        return Step.SAFE
    return Step.MEASURE if record.evidence is None or record.evidence.grade == "C" else Step.PROVED


_CHANGED: Final = ", ".join(f"'{action}'" for action in CHANGES)

STEP_SQL: Final = f"""case
    when action = '{Detached.action}' then '{Step.DETACHED}'
    when action = '{InsufficientData.action}' then '{Step.WAIT}'
    when action not in ({_CHANGED}) then '{Step.KEEP}'
    when action = '{Upgrade.action}' then '{Step.THROTTLED}'
    when list_bool_or([blocker.code <> '{EVIDENCE}' for blocker in blockers]) then '{Step.BLOCKED}'
    when len(blockers) > 0 then '{Step.MEASURE}'
    when monthly_usd_saved_at_parity >= monthly_usd_saved - {CENT}::double then '{Step.SAFE}'
    when evidence is null or evidence.grade = 'C' then '{Step.MEASURE}'
    else '{Step.PROVED}'
end"""
"""`step_of` for a database, over the columns of a recommendation; a test holds the two equal."""
