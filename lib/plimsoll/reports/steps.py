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
