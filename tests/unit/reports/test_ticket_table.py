"""Tickets: one for each change that nothing blocks, with all that its owner needs, as Jira and ServiceNow read it."""

import csv
import io

import pytest
from hypothesis import given

from plimsoll.reports.change_files import is_open_change
from plimsoll.reports.record import BlockerRecord
from plimsoll.reports.steps import step_of
from plimsoll.reports.ticket_table import ticket_lines
from tests.unit.reports.fleets import FLEETS, a_fleet
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record, a_risk
from tests.unit.reports.strategies import HOSTILE

RUN = a_run_record()
BLOCKER = BlockerRecord(code="owner", text="a change is in progress")


def tickets_of(*records, run=RUN):
    return list(csv.DictReader(io.StringIO("".join(ticket_lines(records, run)), newline="")))


def test_the_heads_have_no_punctuation_and_each_stands_once():
    head = "".join(ticket_lines([], RUN)).strip().split(",")
    assert {"Summary", "Description", "Priority", "Labels", "Assignee", "Issue Type"} <= set(head)
    assert all(name.replace(" ", "").isalpha() for name in head)
    assert len(set(head)) == len(head)


def test_only_changes_that_nothing_blocks_have_a_ticket():
    fleet = [*a_fleet(14), a_record(change="aws", blockers=[BLOCKER], volume_id="vol-blocked")]
    assert {ticket["Volume"] for ticket in tickets_of(*fleet)} == {
        record.volume_id
        for record in fleet
        if record.action in {"migrate", "reprovision", "upgrade"} and not record.blockers
    }


def test_a_ticket_has_the_run_its_date_and_version_the_losses_the_risk_the_change_and_the_way_back():
    record = a_record(
        volume_id="vol-1", name="ledger-db", change="aws forth", way_back="aws back", cuts=["IOPS"], risk=a_risk(3.0)
    )
    (ticket,) = tickets_of(record)
    text = ticket["Description"]
    for part in (
        RUN.id, "2027-01-15 08:00", "0.1.0", "a part of the limit of IOPS", "risk at most 3 %", "aws forth", "aws back",
        record.account, record.reasons[0], record.evidence.text,
    ):  # fmt: skip
        assert part in text
    assert (ticket["Change"], ticket["Way back"]) == ("aws forth", "aws back")
    assert (ticket["Run"], ticket["Plimsoll version"]) == (RUN.id, "0.1.0")
    assert float(ticket["Saves USD a month"]) == record.monthly_usd_saved
    assert ticket["Labels"] == f"plimsoll-{step_of(record)}"
    assert ticket["External ID"] == f"{record.account}/{record.region}/vol-1"


def test_an_earlier_version_s_change_says_that_its_way_back_is_not_known():
    (ticket,) = tickets_of(a_record(change="aws forth", way_back=""))
    assert "audit again" in ticket["Way back"]
    assert "audit again" in ticket["Description"]


@pytest.mark.parametrize(
    ("name", "tags", "assignee"),
    [
        ("ops@example.org", {}, "ops@example.org"),
        ("payments", {"Owner": "ann@example.org"}, "ann@example.org"),
        ("payments", {"Team": "ann@example.org"}, ""),
        (None, {"owner": "=cmd@evil.org; rm"}, ""),
        (None, {}, ""),
    ],
)
def test_the_assignee_is_an_address_or_nobody(name, tags, assignee):
    owner = a_record().owner.model_copy(update={"name": name})
    assert tickets_of(a_record(change="aws", owner=owner, tags=tags))[0]["Assignee"] == assignee


def test_what_waits_for_the_disk_goes_first():
    (ticket,) = tickets_of(a_record("upgrade", change="aws"))
    assert ticket["Priority"] == "High"


def test_a_long_text_keeps_the_change_and_the_way_back():
    record = a_record(name="n" * 5_000, change="c" * 5_000, way_back="w" * 5_000, reasons=["r" * 50_000])
    (ticket,) = tickets_of(record)
    assert len(ticket["Summary"]) <= 160
    assert "\n" not in ticket["Summary"]
    assert len(ticket["Description"]) < 32_767
    assert record.change in ticket["Description"]
    assert record.way_back in ticket["Description"]


@given(FLEETS)
def test_every_open_change_has_one_line(fleet):
    fleet = [record.model_copy(update={"change": "aws"}) for record in fleet]
    assert len(tickets_of(*fleet)) == len(list(filter(is_open_change, fleet)))


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_is_a_formula(name):
    owner = a_record().owner.model_copy(update={"name": name})
    (ticket,) = tickets_of(a_record(name=name, change=name, way_back=name, owner=owner, reasons=[name]))
    assert not any(value.lstrip().startswith(("=", "+", "@")) for value in ticket.values())
    assert "\u202e" not in "".join(ticket.values())
