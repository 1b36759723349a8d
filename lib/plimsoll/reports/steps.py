"""Steps: in which order people act on a run's recommendations, and why each may be acted upon."""

from enum import StrEnum
from typing import Final

from plimsoll.domain.reasons import GIVEN_UP
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
    TRADE = "trade"
    MEASURE = "measure"
    BLOCKED = "blocked"
    DETACHED = "detached"
    WAIT = "wait"
    KEEP = "keep"


def step_of(record: RecommendationRecord) -> Step:
    """The step of a recommendation.

    A change is `safe` when its whole saving holds as a drop-in replacement, so that nothing the present volume can do
    is given up; `proved` when it rests on the measured demand, and measurements stand behind the offer; `trade` when
    it would be one of these, but gives up latency or durability; `measure` when published limits alone stand behind
    it, or the
    policy asks for better evidence; `blocked` when something else forbids it today.
    """
    if record.action not in CHANGES:
        return {Detached.action: Step.DETACHED, InsufficientData.action: Step.WAIT}.get(record.action, Step.KEEP)
    if record.action == Upgrade.action:
        return Step.THROTTLED
    codes = {blocker.code for blocker in record.blockers}
    if codes - {EVIDENCE}:
        return Step.BLOCKED
    return Step.MEASURE if codes else _allowed(record)


def _allowed(record: RecommendationRecord) -> Step:
    """The step of a change that nothing forbids."""
    drop_in = record.monthly_usd_saved_drop_in >= record.monthly_usd_saved - CENT
    if not drop_in and (record.evidence is None or record.evidence.grade == "C"):
        return Step.MEASURE
    if any(reason.startswith(GIVEN_UP) for reason in record.reasons):
        return Step.TRADE
    return Step.SAFE if drop_in else Step.PROVED


_DROP_IN: Final = f"monthly_usd_saved_drop_in >= monthly_usd_saved - {CENT}::double"
_CHANGED: Final = ", ".join(f"'{action}'" for action in CHANGES)

STEP_SQL: Final = f"""case
    when action = '{Detached.action}' then '{Step.DETACHED}'
    when action = '{InsufficientData.action}' then '{Step.WAIT}'
    when action not in ({_CHANGED}) then '{Step.KEEP}'
    when action = '{Upgrade.action}' then '{Step.THROTTLED}'
    when list_bool_or([blocker.code <> '{EVIDENCE}' for blocker in blockers]) then '{Step.BLOCKED}'
    when len(blockers) > 0 then '{Step.MEASURE}'
    when not ({_DROP_IN}) and (evidence is null or evidence.grade = 'C') then '{Step.MEASURE}'
    when list_bool_or([starts_with(reason, '{GIVEN_UP}') for reason in reasons]) then '{Step.TRADE}'
    when {_DROP_IN} then '{Step.SAFE}'
    else '{Step.PROVED}'
end"""
"""`step_of` for a database, over the columns of a recommendation; a test holds the two equal."""
