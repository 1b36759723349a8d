"""Each recommendation is in one step, and what may be acted on without more is never one that rests on hope."""

import json

import pytest

from plimsoll.reports.record import BlockerRecord, EvidenceRecord, LossRecord, RecommendationRecord
from plimsoll.reports.steps import STEPS, Step, step_of
from tests.unit.reports.recommendations import a_record, a_risk

LOSES = [LossRecord(code="durability", now="99.999 %", then="99.8 %")]
CUTS = ["IOPS"]
LITTLE, TOO_MUCH, UNKNOWN = a_risk(5.0), a_risk(5.1), a_risk(None)


def a_change(*, grade: str | None = "B", blocked_by: tuple[str, ...] = (), **fields: object) -> RecommendationRecord:
    evidence = None if grade is None else EvidenceRecord(grade=grade, envelope=None, text="measured")
    blockers = [BlockerRecord(code=code, text=code) for code in blocked_by]
    usual = {"evidence": evidence, "blockers": blockers, "losses": [], "cuts": [], "risk": None}
    return a_record(**{**usual, **fields})


def a_cut(**fields: object) -> RecommendationRecord:
    return a_change(**{"cuts": CUTS, "risk": LITTLE, **fields})


@pytest.mark.parametrize(
    ("record", "step"),
    [
        (a_change(), Step.SAFE),
        (a_change(grade="C"), Step.SAFE),
        (a_change(grade=None), Step.SAFE),
        (a_change(losses=LOSES), Step.TRADE),
        (a_change(losses=LOSES, grade="C"), Step.TRADE),
        (a_cut(), Step.PROVED),
        (a_cut(grade="A"), Step.PROVED),
        (a_cut(losses=LOSES), Step.TRADE),
        (a_cut(grade="C"), Step.MEASURE),
        (a_cut(grade=None), Step.MEASURE),
        (a_cut(grade="C", losses=LOSES), Step.MEASURE),
        (a_cut(risk=TOO_MUCH), Step.MEASURE),
        (a_cut(risk=TOO_MUCH, losses=LOSES), Step.MEASURE),
        (a_cut(risk=UNKNOWN), Step.MEASURE),
        (a_cut(risk=None), Step.MEASURE),
        (a_cut(risk=a_risk(40.0, allowed_pct=50.0)), Step.PROVED),
        (a_change(blocked_by=("evidence",)), Step.MEASURE),
        (a_change(blocked_by=("evidence",), losses=LOSES), Step.MEASURE),
        (a_change(blocked_by=("evidence", "stripe-set")), Step.BLOCKED),
        (a_change(blocked_by=("owner",)), Step.BLOCKED),
        (a_cut(blocked_by=("owner",), risk=TOO_MUCH, losses=LOSES), Step.BLOCKED),
        (a_record("upgrade", losses=LOSES), Step.THROTTLED),
        (a_record("upgrade", blockers=[BlockerRecord(code="state", text="state")]), Step.BLOCKED),
        (a_record("detached"), Step("detached")),
        (a_record("wait"), Step.WAIT),
        (a_record("insufficient-data"), Step.UNKNOWN),
        (a_record("keep"), Step.KEEP),
    ],
)
def test_the_step_of_a_recommendation(record, step):
    assert step_of(record) is step


def test_no_sentence_has_a_say_in_the_step():
    assert step_of(a_change(reasons=["given up: durability of 99.999 % for 99.8 %."], reason_codes=["x"])) is Step.SAFE


def test_steps_are_shown_in_the_order_in_which_people_act():
    shown = [Step.SAFE, Step.TRADE, Step.PROVED, Step.MEASURE, Step.THROTTLED, Step.WAIT]
    assert list(Step)[: len(shown)] == shown
    assert [row.step for row in STEPS] == list(Step)


def an_earlier(record: RecommendationRecord) -> RecommendationRecord:
    """The same as a version wrote it that knew neither losses, nor cuts, nor codes."""
    written = json.loads(record.model_dump_json(exclude={"losses", "cuts", "reason_codes"}))
    return RecommendationRecord.model_validate(written)


def spec(kind: str, iops: int | None = None, throughput_mib_s: int | None = None, size_gib: int = 1000):
    return {"type": kind, "size_gib": size_gib, "iops": iops, "throughput_mib_s": throughput_mib_s}


@pytest.mark.parametrize(
    ("current", "target", "losses", "cuts"),
    [
        (spec("gp2"), spec("gp3", 3000, 250), [], []),
        (spec("gp2"), spec("gp3", 3000, 125), [], ["MiB/s"]),
        (spec("io1", 30_000), spec("gp3", 30_000, 500), ["consistency"], []),
        (spec("io2", 5_000), spec("gp3", 5_000, 1280), ["latency-class", "durability", "consistency"], []),
        (spec("io1", 5_000), spec("io2", 5_000), [], []),
        (spec("gp3", 3000, 125), spec("st1"), ["latency-class"], ["IOPS", "MiB/s"]),
        (spec("gp2", size_gib=100), spec("gp2", size_gib=200), ["cannot-shrink"], []),
        (spec("gp2"), spec("a-type-of-next-year"), ["not-known"], []),
    ],
)
def test_what_earlier_runs_did_not_record_is_found_by_their_configurations(current, target, losses, cuts):
    written = a_record().model_dump(exclude={"losses", "cuts", "reason_codes"})
    found = RecommendationRecord.model_validate({**written, "current": current, "target": target, "drop_in": None})
    assert ([loss.code for loss in found.losses], found.cuts) == (losses, cuts)


def test_an_earlier_record_has_a_code_for_each_reason():
    found = an_earlier(a_record())
    assert len(found.reason_codes) == len(found.reasons)


def test_what_keeps_todays_limits_on_its_host_gives_up_a_larger_host():
    written = an_earlier(a_record()).model_dump(exclude={"losses", "cuts", "reason_codes"})
    current, target = spec("io1", 64_000, size_gib=2000), spec("gp3", 32_000, 1000, size_gib=2000)
    drop_in = {**a_record().model_dump()["drop_in"], "spec": target}
    found = RecommendationRecord.model_validate({**written, "current": current, "target": target, "drop_in": drop_in})
    assert found.cuts == []
    assert [loss.code for loss in found.losses] == ["consistency", "larger-host"]
