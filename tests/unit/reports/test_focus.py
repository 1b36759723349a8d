"""FOCUS: the columns of the draft, its allowed words, its rules of nulls, and the record's figures."""

import csv
import io
import json
from datetime import datetime

import pytest
from hypothesis import given

from plimsoll.model.kinds import KINDS
from plimsoll.reports.focus import DRAFT, focus_lines
from plimsoll.reports.record import BlockerRecord
from tests.unit.reports.fleets import FLEETS, a_fleet
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record, a_risk
from tests.unit.reports.strategies import HOSTILE

RUN = a_run_record()
PRESENT = {
    "BillingAccountId", "BillingAccountName", "Currency", "EstimatedMonthlyCostImpact", "RecommendationCategory",
    "RecommendationCreated", "RecommendationDescription", "RecommendationDetails", "RecommendationId",
    "RecommendationLastUpdated", "RecommendationProviderName", "RecommendationStatus", "RecommendationSubcategory",
    "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory", "ServiceName",
    "ServiceProviderName", "ServiceSubcategory", "SubAccountId", "SubAccountName",
}  # fmt: skip
"""The columns that the draft wants (dataset.md of FOCUS_Spec's pull request 2444, read on 2026-11-27)."""

OPTIONAL = {"EvaluationPeriodEnd", "EvaluationPeriodStart", "ImplementationEffort", "ImplementationRisk"}
NOT_NULL = {
    "RecommendationCategory", "RecommendationCreated", "RecommendationId", "RecommendationLastUpdated",
    "RecommendationProviderName", "RecommendationStatus", "RecommendationSubcategory", "ServiceProviderName",
    "ResourceId", "ResourceType",
}  # fmt: skip
SUBCATEGORIES = {
    "Cost": {"Rightsizing", "Scaling", "Commitment Purchase", "Idle Resource Removal", "Modernization", "Other (Cost)"},
    "Performance": {"Other (Performance)"},
}
STATUSES = {"Open", "Deferred", "Dismissed", "Implemented", "Expired"}
RISKS = {"", "Very Low", "Low", "Medium", "High", "Very High"}


def rows_of(*records, run=RUN):
    return list(csv.DictReader(io.StringIO("".join(focus_lines(records, run)))))


def check_row(row):
    """The draft's rules for one row."""
    assert all(row[column] for column in NOT_NULL)
    assert row["RecommendationSubcategory"] in SUBCATEGORIES[row["RecommendationCategory"]]
    assert row["RecommendationStatus"] in STATUSES
    assert row["ImplementationRisk"] in RISKS
    created = datetime.strptime(row["RecommendationCreated"], "%Y-%m-%dT%H:%M:%S%z")
    assert row["RecommendationLastUpdated"] >= row["RecommendationCreated"]
    if row["RecommendationCategory"] == "Cost":
        assert float(row["EstimatedMonthlyCostImpact"]) is not None
        assert row["Currency"] == "USD"
    assert bool(row["EvaluationPeriodStart"]) == bool(row["EvaluationPeriodEnd"])
    if row["EvaluationPeriodStart"]:
        assert row["EvaluationPeriodStart"] < row["EvaluationPeriodEnd"]
        assert datetime.strptime(row["EvaluationPeriodStart"], "%Y-%m-%dT%H:%M:%S%z") < created
    details = json.loads(row["RecommendationDetails"])
    assert all(key.startswith("x_") or key in {"DiskIopsAverage", "DiskIopsMax"} for key in details)
    assert not any(isinstance(value, dict | list | None.__class__) for value in details.values())
    assert row["x_FocusDraft"] == DRAFT


def test_the_columns_are_those_of_the_draft_and_one_that_marks_it():
    (head,) = csv.reader(focus_lines([], RUN))
    assert set(head) - OPTIONAL == PRESENT | {"x_FocusDraft"}
    assert head == sorted(head)
    assert all(word in DRAFT for word in ("draft", "2444", "2026-09-21", "Not ratified"))


@given(FLEETS)
def test_every_row_keeps_the_rules_of_the_draft(fleet):
    for row in rows_of(*fleet):
        check_row(row)


@pytest.mark.parametrize("action", KINDS)
def test_what_asks_for_something_has_a_row_with_the_record_s_figures(action):
    (record,) = (record for record in a_fleet(len(KINDS)) if record.action == action)
    rows = rows_of(record)
    if action in {"keep", "wait", "insufficient-data"}:
        assert rows == []
        return
    (row,) = rows
    check_row(row)
    expected = record.monthly_usd_now if action == "detached" else record.monthly_usd_saved
    assert float(row["EstimatedMonthlyCostImpact"]) == -expected
    assert (row["ResourceId"], row["SubAccountId"], row["RegionId"]) == (
        record.volume_id,
        record.account,
        record.region,
    )
    assert row["ServiceProviderName"] == "AWS"
    details = json.loads(row["RecommendationDetails"])
    assert details["x_CurrentType"] == record.current.type
    assert details.get("x_Change", "") == record.change
    if record.demand is not None and record.demand.peak_iops == record.demand.least_peak_iops:
        assert details["DiskIopsMax"] == record.demand.peak_iops


def test_a_peak_that_was_not_read_to_the_minute_is_no_observed_maximum():
    record = a_record()
    demand = record.demand.model_copy(update={"least_peak_iops": record.demand.peak_iops / 2})
    details = json.loads(rows_of(record.model_copy(update={"demand": demand}))[0]["RecommendationDetails"])
    assert "DiskIopsMax" not in details
    assert details["x_DiskIopsAtMost"] == demand.peak_iops


@pytest.mark.parametrize(
    ("fields", "status", "risk"),
    [
        ({"cuts": []}, "Open", "Very Low"),
        ({"cuts": ["IOPS"], "risk": a_risk(3.0)}, "Open", "Low"),
        ({"cuts": ["IOPS"], "risk": a_risk(30.0)}, "Open", "High"),
        ({"cuts": ["IOPS"], "risk": None}, "Open", ""),
        ({"blockers": [BlockerRecord(code="evidence", text="measure first")]}, "Deferred", None),
    ],
)
def test_status_and_risk_follow_the_record(fields, status, risk):
    (row,) = rows_of(a_record(**fields))
    assert row["RecommendationStatus"] == status
    assert risk is None or row["ImplementationRisk"] == risk


def test_the_id_is_the_same_in_the_next_run_and_one_s_own():
    records = [
        a_record(volume_id="vol-1"),
        a_record(volume_id="vol-2"),
        a_record(volume_id="vol-1", region="eu-west-1"),
    ]
    first = [row["RecommendationId"] for row in rows_of(*records)]
    assert len(set(first)) == 3
    later = rows_of(*records, run=a_run_record(id="later", now="2027-02-15T08:00:00+00:00"))
    assert [row["RecommendationId"] for row in later] == first
    assert later[0]["RecommendationCreated"] == "2027-02-15T08:00:00Z"


def test_a_cost_without_a_price_has_no_row():
    assert rows_of(a_record("detached", monthly_usd_now=None)) == []
    (row,) = rows_of(a_record("upgrade", monthly_usd_now=None))
    assert row["EstimatedMonthlyCostImpact"] == ""


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_is_a_formula_or_breaks_the_details(name):
    (row,) = rows_of(a_record(name=name, change=name))
    assert not row["ResourceName"].startswith(("=", "+", "-", "@"))
    assert isinstance(json.loads(row["RecommendationDetails"]), dict)
