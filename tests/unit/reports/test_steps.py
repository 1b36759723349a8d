"""Each recommendation is in one step, and what may be acted on without more is never one that rests on hope."""

import pytest

from plimsoll.reports.record import BlockerRecord, EvidenceRecord, RecommendationRecord
from plimsoll.reports.steps import Step, step_of
from tests.unit.reports.recommendations import a_record

LOSES = ["peak demand is low.", "given up: durability of 99.999 % for 99.8 %."]


def a_change(*, grade: str = "B", blocked_by: tuple[str, ...] = (), **fields: object) -> RecommendationRecord:
    evidence = EvidenceRecord(grade=grade, envelope=None, text="measured")
    blockers = [BlockerRecord(code=code, text=code) for code in blocked_by]
    told = {"monthly_usd_saved": 10.0, "monthly_usd_saved_drop_in": 4.0, "evidence": evidence, "blockers": blockers}
    return a_record(**{**told, **fields})


@pytest.mark.parametrize(
    ("record", "step"),
    [
        (a_change(), Step.PROVED),
        (a_change(grade="A"), Step.PROVED),
        (a_change(grade="C"), Step.MEASURE),
        (a_change(grade="C", monthly_usd_saved_drop_in=10.0), Step.SAFE),
        (a_change(evidence=None), Step.MEASURE),
        (a_change(reasons=LOSES), Step.TRADE),
        (a_change(monthly_usd_saved_drop_in=10.0, reasons=LOSES), Step.TRADE),
        (a_change(grade="C", reasons=LOSES), Step.MEASURE),
        (a_change(blocked_by=("evidence",), reasons=LOSES), Step.MEASURE),
        (a_change(blocked_by=("owner",), reasons=LOSES), Step.BLOCKED),
        (a_record("upgrade", reasons=LOSES), Step.THROTTLED),
        (a_change(blocked_by=("evidence",)), Step.MEASURE),
        (a_change(blocked_by=("evidence", "stripe-set")), Step.BLOCKED),
        (a_change(blocked_by=("owner",), monthly_usd_saved_drop_in=10.0), Step.BLOCKED),
        (a_record("upgrade"), Step.THROTTLED),
        (a_record("detached"), Step.DETACHED),
        (a_record("wait"), Step.WAIT),
        (a_record("insufficient-data"), Step.UNKNOWN),
        (a_record("keep"), Step.KEEP),
    ],
)
def test_the_step_of_a_recommendation(record, step):
    assert step_of(record) is step


def test_what_gives_nothing_up_comes_first_then_what_was_measured_then_speed_then_waiting():
    order = [Step.SAFE, Step.PROVED, Step.MEASURE, Step.THROTTLED, Step.WAIT]
    assert sorted(order, key=list(Step).index) == order
    assert next(iter(Step)) is Step.SAFE
