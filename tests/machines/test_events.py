"""What the service's events begin, by the rules of its templates, as the end-to-end tests of Slack rely on it."""

import json

import pytest

from plimsoll_service.config import ServiceConfig

from .account import HOME, REGION
from .audits import run_audit
from .deployment import deployed
from .fleets import a_small_organization
from .rules import DEFAULT_BUS, event_of, rules_of, told

pytestmark = pytest.mark.once

VALIDATION = f"arn:aws:states:{REGION}:{HOME}:stateMachine:plimsoll-main-validation"


def begun(templates, bus, event):
    return {
        name.split("function")[0] for rule in rules_of(templates) if rule.hears(bus, event) for name in rule.functions
    }


def test_an_audit_s_end_begins_what_tells_slack(slack_templates):
    entry = {"EventBusName": "plimsoll-main", "Source": "plimsoll", "DetailType": "AuditCompleted", "Detail": "{}"}
    ((bus, event),) = told([entry], account=HOME, region=REGION)
    assert begun(slack_templates, bus, event) == {"plimsoll-main-slack_report"}
    assert begun(slack_templates, DEFAULT_BUS, event) == set()


def test_the_end_of_a_validation_for_slack_begins_what_answers_there(slack_templates):
    detail = {"stateMachineArn": VALIDATION, "name": "slack-1", "status": "SUCCEEDED"}
    kind = "Step Functions Execution Status Change"
    event = event_of("aws.states", kind, detail, account=HOME, region=REGION)
    assert json.loads(json.dumps(event)) == event
    assert begun(slack_templates, DEFAULT_BUS, event) == {"plimsoll-main-slack_answer"}


def test_an_ordinary_deployment_hears_nothing(templates):
    assert rules_of(templates) == []


@pytest.mark.release
def test_what_nobody_waits_for_runs_beside_and_what_failed_of_it_is_kept(slack_templates, tmp_path):
    with deployed(slack_templates, a_small_organization(), tmp_path, secret='{"bot_token": "xoxb-1"}') as service:
        front = service.account.front
        (name,) = [name for name, function in front.functions.items() if function.name == "find_pending"]
        asked = service.account.client("lambda").invoke(FunctionName=name, InvocationType="Event", Payload=b"{}")
        front.settled()
        found = service.account.client("secretsmanager").get_secret_value(SecretId="plimsoll-main-slack")
    assert asked["StatusCode"] == 202
    assert front.invoked["find_pending"] == [{}]
    assert [(name, payload["errorType"]) for name, payload in front.lost] == [("find_pending", "BadInput")]
    assert found["SecretString"] == '{"bot_token": "xoxb-1"}'


@pytest.mark.release
def test_an_audit_begins_the_report_of_it(slack_templates, tmp_path):
    fleet = a_small_organization()
    config = ServiceConfig(accounts=fleet.accounts, regions=fleet.regions, policy={"lookback_days": 2})
    with deployed(slack_templates, fleet, tmp_path, config=config) as service:
        assert run_audit(service, "first").status == "SUCCEEDED"
        (event,) = service.account.front.invoked["slack_report"]
    assert event["detail-type"] == "AuditCompleted"
    assert event["detail"]["run_id"] == "first"
