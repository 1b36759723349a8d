"""Events: what is sent satisfies the published schemas, stays small, and is documented field by field."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.model.errors import BadInput
from plimsoll.reports.run_record import HistoryTold
from plimsoll.reports.totals import RunTotals
from plimsoll_change.ledger import Fact, FactKind, Leg
from plimsoll_change.progress import Progress
from plimsoll_service.change_news import changes_event, read_marks, select_news
from plimsoll_service.events import (
    EVENT_KINDS,
    ChangeNews,
    audit_event,
    event_schema,
    recommendation_event,
    validation_event,
)
from tests.unit.change.memory import NOW, a_plan
from tests.unit.change.memory import a_line as a_plan_line
from tests.unit.clouds.test_validation_book import a_line
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.strategies import records

DOCUMENT = (Path(__file__).parents[3] / "infra" / "events.md").read_text(encoding="utf-8")
WORST = "\x01\U0001f4be" * 5_000
EVENT_BYTES = 256 * 1024


def a_run(**changes):
    totals = RunTotals()
    totals.add(a_record())
    return a_run_record(totals, **changes)


def valid(event):
    kind, detail = event
    plain = json.loads(json.dumps(detail, allow_nan=False))
    jsonschema.validate(plain, event_schema(kind), cls=jsonschema.Draft202012Validator)
    return plain


def size_bytes(event):
    return len(json.dumps(event[1], ensure_ascii=False).encode())


@given(records())
def test_every_recommendation_makes_an_event_of_its_schema(record):
    detail = valid(recommendation_event(record, "run-1"))
    assert (detail["volume_id"], detail["action"], detail["run_id"]) == (record.volume_id, record.action, "run-1")


@pytest.mark.parametrize("action", sorted(every_action()))
def test_the_event_of_each_action_has_its_target_and_money(action):
    record = a_record(action)
    detail = valid(recommendation_event(record, "run-1"))
    assert detail["monthly_usd_saved"] == record.monthly_usd_saved
    assert detail["target"] == (None if record.target is None else record.target.model_dump())


def test_what_is_new_or_measured_names_its_cloud():
    project = {"account": "storage-prod", "region": "us-central1"}
    found = [
        recommendation_event(a_record(), "run-1"),
        recommendation_event(a_record().model_copy(update={**project, "provider": "google"}), "run-1"),
        validation_event(a_line()),
        validation_event(a_line(**project)),
    ]
    assert [valid(event)["provider"] for event in found] == ["aws", "google"] * 2


def test_an_audit_says_where_its_report_is_what_it_could_not_read_and_what_is_new():
    failures = {"targets": {"2/eu-west-1": "no role", "1/eu-west-1": "no role"}, "volumes": {}}
    told = RunTotals(new=2, done=1, done_saved_cents=1_250).history()
    detail = valid(audit_event(a_run(status="partial", failures=failures, history=told), "s3://b/report.html"))
    assert (detail["status"], detail["report"]) == ("partial", "s3://b/report.html")
    assert detail["failed_places"] == ["1/eu-west-1: no role", "2/eu-west-1: no role"]
    assert detail["volumes"] == {"seen": 0, "answered": 1, "skipped": 0, "failed": 0}
    assert detail["history"] == {
        "new": 2,
        "by_rule": 0,
        "snoozed": 0,
        "done": 1,
        "done_now": 0,
        "saved_usd_month_since": 12.5,
    }
    assert valid(audit_event(a_run(), "s3://b/report.html"))["history"] is None


def test_a_validation_says_what_was_measured_and_of_which_volumes_that_tells():
    detail = valid(validation_event(a_line(passed=False, failures=["too slow"])))
    assert (detail["passed"], detail["failures"], detail["serves"]) == (False, ["too slow"], ["vol-1", "vol-2"])
    assert detail["spec"] == {"type": "gp3", "size_gib": 100, "iops": 3000, "throughput_mib_s": 125}


def worst_news():
    """The event of a plan whose many volumes, of long names, all go back at once for long reasons."""
    lines = [a_plan_line(number, name=WORST, owner=WORST, is_by_owner=True) for number in range(500)]
    plan = a_plan(*lines)
    back = Fact(kind=FactKind.TAKEN_BACK, at=NOW, leg=Leg.BACK, code=WORST, text=WORST, by=WORST)
    progress = Progress(plan=plan, rows={line.id: (back,) for line in lines})
    return changes_event(progress, select_news(progress, {}, read_marks(progress, {}, NOW)), {}, NOW)


def test_no_name_reason_or_number_of_either_makes_an_event_too_large():
    failed = {f"{number:012d}/us-east-1": WORST for number in range(2_000)}
    record = a_record(name=WORST)
    owner = record.owner.model_copy(update={"name": WORST})
    serves = [f"vol-{number:017x}" for number in range(20_000)]
    events = [
        audit_event(a_run(failures={"targets": failed, "volumes": {}}), "s3://b/r"),
        recommendation_event(record.model_copy(update={"owner": owner}), "run-1"),
        validation_event(a_line(failures=[WORST] * 1_000, serves=serves)),
        worst_news(),
    ]
    assert [valid(event)["failed_places_total"] for event in events[:1]] == [2_000]
    assert valid(events[2])["serves_total"] == 20_000
    assert (len(valid(events[3])["news"]), valid(events[3])["news_total"]) == (50, 500)
    assert max(map(size_bytes, events)) < EVENT_BYTES


@pytest.mark.parametrize("kind", sorted(EVENT_KINDS))
def test_the_command_prints_the_schema_of_each_kind(kind):
    answer = CliRunner().invoke(app, ["schema", kind])
    assert answer.exit_code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(answer.stdout))
    assert json.loads(answer.stdout) == event_schema(kind)


def test_a_schema_that_there_is_not_is_refused_with_those_that_there_are():
    answer = CliRunner().invoke(app, ["schema", "AuditStarted"])
    assert isinstance(answer.exception, BadInput)
    assert "AuditCompleted, RecommendationNew, ValidationCompleted, ChangesProgressed" in str(answer.exception)


def part_of_the_document(title):
    return DOCUMENT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_field_of_a_schema_says_what_it_is_and_the_document_names_each_kind():
    for model in (*EVENT_KINDS.values(), ChangeNews, HistoryTold):
        assert [name for name, field in model.model_fields.items() if not field.description] == []
    assert [kind for kind in EVENT_KINDS if f"- `{kind}`: " not in DOCUMENT] == []


@pytest.mark.parametrize("kind", ["RecommendationNew", "ChangesProgressed"])
def test_the_documents_example_satisfies_its_schema(kind):
    (example,) = re.findall(r"```json\n(.*?)```", part_of_the_document(kind), re.DOTALL)
    jsonschema.validate(json.loads(example), event_schema(kind), cls=jsonschema.Draft202012Validator)
