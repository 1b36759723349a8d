"""Slack's part of the service: what of it the public reaches, what it hears, and what becomes of what it cannot do."""

import json

import pytest
from moto.events.models import EventPattern

from plimsoll.clouds.aws.names import EVENT_SOURCE
from plimsoll.clouds.aws.permissions import CLAIMS, CLAIMS_CONDITION
from tests.infra.templates import listed, plain

SLACK = ("slack",)
EVERY_FUNCTION_S = {
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "ssm:GetParameter",
    "xray:PutTelemetryRecords",
    "xray:PutTraceSegments",
}
MACHINE = "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:plimsoll-main-"


def functions(templates):
    """The functions of Slack by the names of their modules."""
    made = templates.resources("AWS::Lambda::Function", SLACK)
    return {each["Handler"].split(".")[1]: each for each in made.values()}


def called(templates, reference):
    """The module of the function that a template names."""
    return templates["slack"]["Resources"][reference["Fn::GetAtt"][0]]["Properties"]["Handler"].split(".")[1]


def targets(templates, event):
    """The functions that an event begins, by the rules that hear it."""
    return [
        called(templates, target["Arn"])
        for rule in templates.resources("AWS::Events::Rule").values()
        if EventPattern.load(json.dumps(plain(rule["EventPattern"]))).matches_event(event)
        for target in rule["Targets"]
    ]


def test_the_one_function_that_slack_calls_is_open_to_the_public_and_by_its_address_alone(templates):
    ((_, url),) = templates.resources("AWS::Lambda::Url").items()
    assert (url["AuthType"], called(templates, url["TargetFunctionArn"])) == ("NONE", "slack_act")
    public = [each for each in templates.resources("AWS::Lambda::Permission").values() if each["Principal"] == "*"]
    assert {called(templates, each["FunctionName"]) for each in public} == {"slack_act"}
    for each in public:
        assert each.get("FunctionUrlAuthType") == "NONE" or each.get("InvokedViaFunctionUrl") is True


def test_what_the_public_reaches_may_read_its_secret_keep_its_claims_and_call_the_worker_and_no_more(templates):
    allowed = templates.allowed_to("slack_act")
    actions = {action for each in allowed for action in listed(each["Action"])}
    assert actions == EVERY_FUNCTION_S | CLAIMS | {"secretsmanager:GetSecretValue", "lambda:InvokeFunction"}
    (worker,) = [each["Resource"] for each in allowed if each["Action"] == "lambda:InvokeFunction"]
    assert worker.startswith("${SlackWorkFunction")
    (claims,) = [each for each in allowed if "dynamodb:PutItem" in each["Action"]]
    assert claims["Condition"] == json.loads(json.dumps(CLAIMS_CONDITION))


def test_strangers_cannot_use_up_the_account_s_room_and_slack_s_three_seconds_are_spent_on_a_whole_processor(templates):
    front = functions(templates)["slack_act"]
    assert front["ReservedConcurrentExecutions"] == 10
    assert (front["MemorySize"], front["Timeout"]) == (1769, 10)


def test_slack_s_own_functions_alone_read_its_secret_which_no_template_holds(templates):
    ((_, secret),) = templates.resources("AWS::SecretsManager::Secret").items()
    assert secret["Name"] == "plimsoll-main-slack"
    assert "SecretString" not in secret
    readers = {
        name for name, each in templates.statements() if any("secretsmanager:" in one for one in listed(each["Action"]))
    }
    assert {name.partition("/")[2].partition("Role")[0] for name in readers} == {
        "SlackAct",
        "SlackWork",
        "SlackReport",
        "SlackAnswer",
        "SlackChanges",
    }
    for each in functions(templates).values():
        assert each["Environment"]["Variables"]["PLIMSOLL_SLACK_SECRET"] == "plimsoll-main-slack"


def test_the_worker_begins_the_audits_validations_and_probes_that_it_knows_and_changes_nothing_in_accounts(templates):
    given = plain(functions(templates)["slack_work"]["Environment"]["Variables"])
    kinds = ("audit", "validation", "probe")
    machines = [given[f"PLIMSOLL_{kind.upper()}_MACHINE"] for kind in kinds]
    assert machines == [f"{MACHINE}{kind}" for kind in kinds]
    allowed = templates.allowed_to("slack_work")
    assert [each["Resource"] for each in allowed if each["Action"] == "states:StartExecution"] == [machines]
    in_accounts = {
        verb
        for each in allowed
        for service, _, verb in (action.partition(":") for action in listed(each["Action"]))
        if service in {"ec2", "cloudwatch", "organizations", "pricing"}
    }
    assert in_accounts
    assert all(verb.startswith(("Describe", "Get", "List")) for verb in in_accounts)


def test_what_tells_slack_reads_what_people_decided_and_writes_nothing_of_it(templates):
    for name, allowed in (
        ("slack_report", {"dynamodb:BatchGetItem"}),
        ("slack_answer", set()),
        ("slack_changes", set()),
    ):
        on_history = [each for each in templates.allowed_to(name) if "history" in str(each["Resource"])]
        assert {action for each in on_history for action in listed(each["Action"])} == allowed


def test_the_audit_role_of_a_member_lets_the_worker_in_to_explain_a_volume(templates):
    ((_, role),) = templates.resources("AWS::IAM::Role", ("member-audit",)).items()
    (trust,) = plain(role["AssumeRolePolicyDocument"]["Statement"])
    callers = {arn.rpartition("/")[2] for arn in trust["Condition"]["ArnEquals"]["aws:PrincipalArn"]}
    assert {name for name in callers if "slack" in name} == {"plimsoll-main-slack_work"}


def test_an_audit_that_ended_and_changes_are_told_and_nothing_else_of_the_service_s_events(templates):
    def told(kind):
        return targets(templates, {"source": EVENT_SOURCE, "detail-type": kind, "detail": {"run_id": "first"}})

    assert told("AuditCompleted") == ["slack_report"]
    assert told("ChangesProgressed") == ["slack_changes"]
    assert told("RecommendationNew") == []
    rules = [each for each in templates.resources("AWS::Events::Rule").values() if "EventBusName" in each]
    assert [each["EventBusName"] for each in rules] == ["plimsoll-main"] * 2


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"])
def test_a_validation_that_was_asked_for_in_slack_is_answered_however_it_ends(templates, status):
    assert targets(templates, ended("validation", "slack-1f2e", status)) == ["slack_answer"]


@pytest.mark.parametrize(
    ("machine", "name", "status"),
    [
        ("validation", "slack-1f2e", "RUNNING"),
        ("validation", "by-hand", "SUCCEEDED"),
        ("audit", "slack-1f2e", "SUCCEEDED"),
    ],
)
def test_no_other_execution_is_answered_in_slack(templates, machine, name, status):
    assert targets(templates, ended(machine, name, status)) == []


def ended(machine, name, status):
    """What Step Functions tells of an execution (Developer Guide, "Automating event delivery", read 2026-11-22)."""
    detail = {"stateMachineArn": f"{MACHINE}{machine}", "name": name, "status": status, "input": "{}", "output": None}
    return {"source": "aws.states", "detail-type": "Step Functions Execution Status Change", "detail": detail}


def test_what_slack_s_functions_cannot_do_is_kept_and_a_request_is_not_carried_out_twice(templates):
    ((queue, _),) = templates.resources("AWS::SQS::Queue", SLACK).items()
    queue = queue.partition("/")[2]
    made = functions(templates)
    kept = {name: each["DeadLetterConfig"] for name, each in made.items() if "DeadLetterConfig" in each}
    assert set(kept) == {"slack_work", "slack_report", "slack_answer", "slack_changes"}
    assert {each["TargetArn"]["Fn::GetAtt"][0] for each in kept.values()} == {queue}
    for rule in templates.resources("AWS::Events::Rule").values():
        assert [each["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0] for each in rule["Targets"]] == [queue]
    retries = {
        templates["slack"]["Resources"][each["FunctionName"]["Ref"]]["Properties"]["Handler"].split(".")[1]: (
            each["MaximumRetryAttempts"],
            each.get("MaximumEventAgeInSeconds"),
        )
        for each in templates.resources("AWS::Lambda::EventInvokeConfig", SLACK).values()
    }
    twice = ("slack_report", "slack_answer", "slack_changes")
    assert retries == {"slack_work": (0, 1800), **dict.fromkeys(twice, (2, None))}


def test_the_address_that_slack_calls_is_told_when_the_stack_is_deployed(templates):
    (output,) = templates["slack"]["Outputs"].values()
    assert output["Value"]["Fn::GetAtt"][1] == "FunctionUrl"
