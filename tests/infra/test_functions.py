"""The functions, what begins them, and who is told when something is wrong."""

import json
from pathlib import Path

import pytest

from infra.packaging.contents import handlers
from plimsoll.clouds.aws.catalog import query_cost
from plimsoll.clouds.aws.graph_link import metric_math
from plimsoll.reading.window import Window
from plimsoll.settings import Settings
from tests.infra.templates import plain
from tests.infra.test_state_machines import MACHINES

ROOT = Path(__file__).parents[2]
WITHOUT_SLACK = ("data", "audit", "validation")
SHARES = ("calls_per_s", "datapoints_per_s", "google_calls_per_s", "usd_hour_waited")


def test_every_function_that_is_written_is_deployed_and_no_other(templates):
    written = handlers()
    deployed = {found["Handler"] for found in templates.resources("AWS::Lambda::Function").values()}
    assert deployed == {f"functions.{name}.handler" for name in written}


def test_every_function_knows_where_the_service_keeps_things_and_is_traced_and_logged(templates):
    for function in templates.resources("AWS::Lambda::Function").values():
        given = function["Environment"]["Variables"]
        assert {name for name in given if name.startswith("PLIMSOLL_")} >= {
            "PLIMSOLL_BUCKET",
            "PLIMSOLL_CONFIG_PARAMETER",
            "PLIMSOLL_COORDINATION_TABLE",
            "PLIMSOLL_EVENT_BUS",
            "PLIMSOLL_HISTORY_TABLE",
        }
        assert given["OPENBLAS_NUM_THREADS"] == "1"
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
        assert "Ref" in function["LoggingConfig"]["LogGroup"]


def test_two_deployments_in_an_account_count_apart(templates):
    """What the functions count has their service's name, which is the deployment's, and so have the alarms."""
    called = {
        each["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        for each in templates.resources("AWS::Lambda::Function").values()
    }
    watched = {
        (dimension["Name"], dimension["Value"])
        for alarm in templates.resources("AWS::CloudWatch::Alarm").values()
        for dimension in alarm.get("Dimensions", [])
        if alarm.get("Namespace") == "Plimsoll"
    }
    assert called == {"plimsoll-main"}
    assert watched == {("service", "plimsoll-main")}


def test_every_metric_that_alarms_look_at_is_in_the_costs(templates):
    costs = (ROOT / "infra" / "costs.md").read_text(encoding="utf-8")
    for stacks, called in ((WITHOUT_SLACK, "alarms"), (("slack",), "Slack's alarms")):
        made = templates.resources("AWS::CloudWatch::Alarm", stacks).values()
        alarms = [each for each in made if "vol-" not in each["AlarmName"]]
        metrics = sum(sum("MetricStat" in one for one in each.get("Metrics", [])) or 1 for each in alarms)
        assert f"| CloudWatch, {called} ({len(alarms)}; each metric of a sum counts) | {metrics} |" in costs


def test_every_function_has_the_name_by_which_the_documents_call_it(templates):
    named = {
        found["Handler"].split(".")[1]: found["FunctionName"]
        for found in templates.resources("AWS::Lambda::Function").values()
    }
    assert named == {name: f"plimsoll-main-{name}" for name in handlers()}


def test_every_log_is_kept_for_a_bounded_time(templates):
    logs = templates.resources("AWS::Logs::LogGroup")
    assert len(logs) == len(templates.resources("AWS::Lambda::Function")) + len(MACHINES)
    assert {each["RetentionInDays"] for each in logs.values()} == {90}


def test_the_function_that_audits_knows_each_place_s_whole_quota_of_metric_calls(templates):
    (batch,) = [
        each
        for each in templates.resources("AWS::Lambda::Function").values()
        if each["Handler"] == "functions.audit_batch.handler"
    ]
    given = batch["Environment"]["Variables"]
    assert float(given["PLIMSOLL_CALLS_PER_S"]) == 500
    assert float(given["PLIMSOLL_DATAPOINTS_PER_S"]) == 396_000
    assert float(given["PLIMSOLL_GOOGLE_CALLS_PER_S"]) == Settings.model_fields["google_calls_per_s"].default


@pytest.mark.parametrize(("deployed", "expected"), [("templates", False), ("templates_with_options", True)])
def test_the_function_that_lists_knows_whether_denied_places_are_meant_to_be(deployed, expected, request, monkeypatch):
    (listing,) = [
        each
        for each in request.getfixturevalue(deployed).resources("AWS::Lambda::Function").values()
        if each["Handler"] == "functions.take_inventory.handler"
    ]
    name = "PLIMSOLL_DENIED_PLACES_EXPECTED"
    monkeypatch.setenv(name, listing["Environment"]["Variables"][name])
    assert Settings.from_environment().denied_places_expected is expected


def test_a_batch_weighs_metrics_against_datapoints_as_the_command_line_does(templates):
    (batch,) = [
        each
        for each in templates.resources("AWS::Lambda::Function").values()
        if each["Handler"] == "functions.audit_batch.handler"
    ]
    given = batch["Environment"]["Variables"]
    shared = {name: float(given[f"PLIMSOLL_{name.upper()}"]) for name in SHARES}
    settings = Settings.model_construct()
    alone, one_of_many = query_cost(settings), query_cost(settings.model_copy(update=shared))
    assert one_of_many.datapoints_a_query == pytest.approx(alone.datapoints_a_query)
    assert one_of_many.datapoints_a_call == pytest.approx(alone.datapoints_a_call)


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("plimsoll-main-audit", "cron(0 6 ? * MON *)"),
        ("plimsoll-main-canary", "rate(6 hours)"),
        ("plimsoll-main-sweep", "rate(1 hour)"),
        ("plimsoll-main-sweep-all", "rate(7 days)"),
    ],
)
def test_what_a_schedule_cannot_begin_goes_to_a_queue_that_somebody_is_told_of(templates, name, expression):
    stack = "validation" if "sweep" in name else "audit"
    (schedule,) = [
        each for each in templates.resources("AWS::Scheduler::Schedule", (stack,)).values() if each["Name"] == name
    ]
    ((queue, _),) = templates.resources("AWS::SQS::Queue", (stack,)).items()
    assert (schedule["ScheduleExpression"], schedule["ScheduleExpressionTimezone"]) == (expression, "UTC")
    assert f"{stack}/{schedule['Target']['DeadLetterConfig']['Arn']['Fn::GetAtt'][0]}" == queue
    watched = [
        dimension["Value"]["Fn::GetAtt"][0]
        for alarm in templates.resources("AWS::CloudWatch::Alarm", (stack,)).values()
        for dimension in alarm.get("Dimensions", [])
        if dimension["Name"] == "QueueName"
    ]
    assert [f"{stack}/{name}" for name in watched] == [queue]


def test_a_sweep_looks_where_volumes_may_be_and_once_a_week_everywhere(templates):
    given = {
        each["Name"]: json.loads(each["Target"]["Input"])
        for each in templates.resources("AWS::Scheduler::Schedule", ("validation",)).values()
    }
    assert given == {"plimsoll-main-sweep": {}, "plimsoll-main-sweep-all": {"everywhere": True}}


def test_every_alarm_tells_the_topic_and_says_what_to_do(templates):
    alarms = templates.resources("AWS::CloudWatch::Alarm")
    told = "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:plimsoll-main-alarms"
    assert {each["AlarmName"].removeprefix("plimsoll-main-") for each in alarms.values()} >= {
        "audit-ended-badly",
        "audit-functions-fail",
        "audit-functions-throttled",
        "audit-not-begun",
        "audit-cost",
        "failed-targets",
        "throttled",
        "validation-ended-badly",
        "scratch-left",
        "scratch-alive",
        "scratch-unswept",
        "sweep-ended-badly",
        "sweep-not-begun",
        "probe-ended-badly",
        "probe-functions-fail",
        "slack-functions-fail",
        "slack-functions-throttled",
        "slack-not-begun",
        "slack-requests",
    }
    for each in alarms.values():
        assert plain(each["AlarmActions"]) == plain(each["OKActions"]) == [told], "whoever was woken hears of its end"
        assert len(each["AlarmDescription"]) > 40
        if each["AlarmName"] != "plimsoll-main-audit-overdue":
            assert each["TreatMissingData"] == "notBreaching"


def test_an_audit_that_does_not_end_is_an_alarm_and_so_is_silence(templates):
    (overdue,) = [
        each
        for each in templates.resources("AWS::CloudWatch::Alarm").values()
        if each["AlarmName"] == "plimsoll-main-audit-overdue"
    ]
    assert overdue["TreatMissingData"] == "breaching"
    assert (overdue["MetricName"], overdue["Threshold"], overdue["Period"]) == ("audit_age_h", 192, 86_400)


def test_an_audit_may_cost_what_its_plan_expected_of_its_volumes_however_many_they_are(templates):
    (cost,) = [
        each
        for each in templates.resources("AWS::CloudWatch::Alarm").values()
        if each["AlarmName"] == "plimsoll-main-audit-cost"
    ]
    asked = {each["Id"]: each for each in cost["Metrics"]}
    (shown,) = [each for each in asked.values() if "Expression" in each]
    metrics = {name: each["MetricStat"]["Metric"]["MetricName"] for name, each in asked.items() if "MetricStat" in each}
    assert named(shown["Expression"], metrics) == "audit_usd-2*expected_usd"
    assert cost["Threshold"] == 1


@pytest.mark.parametrize(("ending", "threshold", "unit"), [("iops", 2700, "IOPS"), ("throughput", 112.5, "MiB/s")])
def test_a_chosen_volume_s_alarm_is_at_a_share_of_its_ceiling_by_the_formula_of_the_reports(
    templates, ending, threshold, unit
):
    volume = "vol-0123456789abcdef0"
    (alarm,) = [
        each
        for each in templates.resources("AWS::CloudWatch::Alarm").values()
        if each["AlarmName"] == f"plimsoll-main-{volume}-{ending}"
    ]
    asked = {each["Id"]: each for each in alarm["Metrics"]}
    (shown,) = [each for each in asked.values() if "Expression" in each]
    sums = {name: each["MetricStat"]["Metric"]["MetricName"] for name, each in asked.items() if "MetricStat" in each}
    graph = metric_math("eu-west-1", volume, Window(start_s=0, end_s=3600), 60)["metrics"]
    (linked,) = [each[0]["expression"] for each in graph if len(each) == 1 and each[0]["label"] == unit]
    ids = {each[4]["id"]: each[1] for each in graph if len(each) == 5}
    assert alarm["Threshold"] == threshold
    assert named(shown["Expression"], sums) == without_filling(named(linked, ids))


def test_the_dashboard_shows_what_the_functions_count_and_the_chosen_volumes(templates):
    ((_, board),) = templates.resources("AWS::CloudWatch::Dashboard").items()
    body = plain(board["DashboardBody"])
    counted = ("savings_usd", "volumes", "audit_usd", "failures", "failed_targets", "throttles")
    scratch = ("scratch_alive", "scratch_unswept")
    promises = ("throttled_since_changed", "expected_to_throttle")
    for shown in (*counted, *scratch, *promises, "vol-0123456789abcdef0", "PERIOD(read_bytes)"):
        assert shown in body


def named(expression, metrics):
    """A metric-math expression with the metrics in the place of their ids."""
    for name, metric in metrics.items():
        expression = expression.replace(name, metric)
    return expression


def without_filling(expression):
    """The form with a literal period in that of PERIOD(); both are the same formula, as their own test proves."""
    return (
        expression.replace("FILL(", "")
        .replace(",0)", "")
        .replace("/60", f"/PERIOD({expression.partition('FILL(')[2].partition(',')[0]})")
    )
