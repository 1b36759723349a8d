"""Exports for other tools: the dashboard shows what the service counts, and the controls say what a run says."""

import ast
import json
import re
from pathlib import Path

import duckdb
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from infra.names import METRICS
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import write_parquet
from plimsoll.reports.open_metrics import metrics_lines
from plimsoll.reports.steps import Step, step_of
from tests.unit.reports.fleets import a_fleet, special_records
from tests.unit.reports.recommendations import a_record, a_risk
from tests.unit.reports.runs import a_run

ROOT = Path(__file__).parents[2]
EXPORTS = ROOT / "docs" / "exports"
CONTROLS = dict(
    re.findall(
        r'^control "(\w+)" \{.*?<<-EOQ\n(.*?)^ *EOQ$', (EXPORTS / "powerpipe/controls.pp").read_text(), re.M | re.S
    )
)
STATUSES = {"ok", "alarm", "info", "skip", "error"}
"""Those that Powerpipe knows."""


def counted():
    """The names of the figures that functions of the service count."""
    calls = (
        node
        for path in (ROOT / "functions").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "count"
    )
    return {keyword.arg for call in calls for keyword in call.keywords}


def targets_of(board):
    return [target for panel in board["panels"] for target in panel.get("targets", ())]


def test_each_query_of_prometheus_is_of_metrics_and_labels_that_a_run_exposes(tmp_path):
    kept = {"changed": 4, "throttled": 1, "expected": 0.5, "chance_pct": 12.0, "broken": False, "observed_pct": 80.0}
    run = a_run(tmp_path / "run", [a_record("migrate", risk=a_risk(1.0))], promises=kept)
    families = {one.name: one for one in text_string_to_metric_families("".join(metrics_lines(run)))}
    board = json.loads((EXPORTS / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for target in targets_of(board) if target["datasource"]["type"] == "prometheus"]
    assert queries
    for query in queries:
        (name,) = re.findall(r"plimsoll_\w+", query)
        labels = re.findall(r"by \(([\w, ]+)\)", query)
        assert set(", ".join(labels).split(", ")) - {""} <= set(families[name].samples[0].labels)
        assert '{instance="$instance"}' in query
    (instance,) = (one["query"] for one in board["templating"]["list"] if one["name"] == "instance")
    assert re.findall(r"plimsoll_\w+", instance["query"])[0] in families


def test_each_metric_of_the_dashboard_is_one_that_the_service_counts():
    board = json.loads((EXPORTS / "grafana-dashboard.json").read_text())
    targets = [target for target in targets_of(board) if target["datasource"]["type"] == "cloudwatch"]
    assert {target["metricName"] for target in targets} <= counted()
    (service,) = (one["query"] for one in board["templating"]["list"] if one["name"] == "service")
    assert {one["namespace"] for one in [*targets, service]} == {METRICS}
    assert service["metricName"] in counted()
    assert all(target["dimensions"] == {"service": "$service"} for target in targets)


@pytest.fixture(scope="module")
def fleet():
    whole = a_fleet(28)
    safe = a_record(volume_id="vol-safe", monthly_usd_saved=10.0, cuts=[])
    thin = a_record(volume_id="vol-thin", monthly_usd_saved=10.0, risk=a_risk(1.0))
    assert thin.evidence is not None
    evidence = [thin.evidence.model_copy(update={"grade": grade}) for grade in "BC"]
    proved, measure = (thin.model_copy(update={"volume_id": f"vol-{one.grade}", "evidence": one}) for one in evidence)
    return [*whole, safe, proved, measure, special_records()["some prices"][1]]


@pytest.fixture(scope="module")
def run(fleet, tmp_path_factory):
    """The view that the page of the exports makes of a run's Parquet file."""
    folder = a_run(tmp_path_factory.mktemp("run"), fleet)
    with open_runs(folder) as database:
        write_parquet(database, folder, None)
    found = duckdb.connect()
    found.execute(f"create view recommendations as from '{folder / 'recommendations.parquet'}'")
    return found


ALARMS = {
    "nothing_given_up": lambda one: step_of(one) is Step.SAFE,
    "proved": lambda one: step_of(one) in {Step.PROVED, Step.TRADE},
    "throttled": lambda one: one.action == "upgrade",
    "detached": lambda one: one.action == "detached",
    "measured": lambda one: step_of(one) is Step.MEASURE,
}


@pytest.mark.parametrize("name", ALARMS)
def test_a_control_says_of_each_volume_what_its_record_says(run, fleet, name):
    answer = run.sql(CONTROLS[name])
    assert answer.columns == ["resource", "status", "reason", "account", "region"]
    rows = answer.fetchall()
    assert sorted(row[0] for row in rows) == sorted(one.volume_id for one in fleet)
    assert {row[1] for row in rows} <= STATUSES
    assert all(row[2] for row in rows)
    expected = {one.volume_id for one in fleet if ALARMS[name](one)}
    assert {row[0] for row in rows if row[1] == "alarm"} == expected
    assert expected


def test_the_benchmark_has_every_control():
    listed = re.findall(r"control\.(\w+)", (EXPORTS / "powerpipe/mod.pp").read_text())
    assert sorted(listed) == sorted(CONTROLS) == sorted(ALARMS)
    assert not any("${" in sql or "%{" in sql for sql in CONTROLS.values())  # HCL would take it for its own
