"""The roles of Slack's functions allow what those ask of AWS while a run is told and all is asked that can be."""

import hashlib
import hmac
import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import patch
from urllib.parse import urlencode

import pytest

from cloud_simulator.aws.organization import ACCOUNTS
from functions import (
    audit_batch,
    combine,
    entry_point,
    find_pending,
    plan,
    report,
    slack_act,
    slack_answer,
    slack_changes,
    slack_report,
    slack_work,
    summarize,
    take_inventory,
)
from plimsoll_change.ledger import PLAN_ROW, ChangeLedger, Fact, FactKind, Leg
from plimsoll_change.plan_files import keep_plan
from plimsoll_change.progress import Progress
from plimsoll_service.change_news import changes_event, read_marks, select_news
from tests.contract.service_ports import home_account
from tests.functions.calls import Context, ask
from tests.infra.roles import Listener, allows
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, GROUP, MEMBER, TEAM
from tests.unit.change.memory import a_plan

pytestmark = pytest.mark.release

FUNCTIONS = ("slack_act", "slack_work", "slack_report", "slack_answer", "slack_changes")
SIGNING = "a-signing-secret"
SECRET, WORKER = "the-secret", "the-worker"
CONFIG = {
    "accounts": list(ACCOUNTS[:2]),
    "regions": ["us-east-1"],
    "policy": {"lookback_days": 2},
    "external_id": "the-external-id",
    "slack": {"teams": [TEAM], "channel": CHANNEL, "user_groups": [GROUP]},
}

NOT_NEEDED_HERE = {
    # Of a claim that somebody else holds, or that is given up.
    "slack_act": {"dynamodb:DeleteItem", "dynamodb:GetItem"},
    # Of scopes of an organization or its units, or without regions by name, of an inventory, of what is done again.
    "slack_work": {
        "aco-automation:GetEnrollmentConfiguration",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "ec2:DescribeRegions",
        "organizations:ListAccounts",
        "organizations:ListAccountsForParent",
        "organizations:ListOrganizationalUnitsForParent",
    },
    "slack_report": {"dynamodb:GetItem"},
    "slack_answer": {"dynamodb:DeleteItem", "dynamodb:GetItem"},
    "slack_changes": {"dynamodb:GetItem"},
}
"""What the roles allow that was not asked here."""


@pytest.fixture(scope="module")
def heard():
    """What Slack's functions asked, with the service's own names in the place of those that things had."""
    with home_account() as account, FakeSlack(pace_s=0) as slack:
        bus, _ = account.bus()
        account.client("ssm").put_parameter(Name=f"/plimsoll/{bus}", Value=json.dumps(CONFIG), Type="String")
        secret = json.dumps({"signing_secret": SIGNING, "bot_token": slack.token})
        account.client("secretsmanager").create_secret(Name=SECRET, SecretString=secret)
        audit, validation = account.machine(), account.machine()
        given = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_FACTS_BUCKET": account.bucket(),
            "PLIMSOLL_CONFIG_PARAMETER": f"/plimsoll/{bus}",
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": bus,
            "PLIMSOLL_CALLS_PER_S": "1e9",
            "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
            "PLIMSOLL_SLACK_API_URL": slack.api_url,
            "PLIMSOLL_SLACK_SECRET": SECRET,
            "PLIMSOLL_SLACK_WORKER": WORKER,
            "PLIMSOLL_AUDIT_MACHINE": audit,
            "PLIMSOLL_VALIDATION_MACHINE": validation,
        }
        execution = account.start(audit, "run")
        with patch.dict(os.environ, {**account.organization.environment, **given}):
            entry_point.renew()
            an_audit(execution)
            calls = asked_and_told(slack, account.organization.fleet, a_kept_plan())
            own = os.environ["AWS_ACCESS_KEY_ID"]
        entry_point.renew()
    names = {
        given["PLIMSOLL_BUCKET"]: "plimsoll-main-111122223333-eu-west-1",
        given["PLIMSOLL_FACTS_BUCKET"]: "plimsoll-main-facts-111122223333-eu-west-1",
        given["PLIMSOLL_CONFIG_PARAMETER"]: "parameter/plimsoll/main/config",
        given["PLIMSOLL_HISTORY_TABLE"]: "table/plimsoll-main-history",
        given["PLIMSOLL_COORDINATION_TABLE"]: "table/plimsoll-main-coordination",
    }
    machines = {
        audit.rpartition(":")[2]: "plimsoll-main-audit",
        validation.rpartition(":")[2]: "plimsoll-main-validation",
    }
    return {name: {in_service(call, names, machines) for call in each} for name, each in calls.items()}, own


def in_service(call, names, machines):
    """A call about what the service calls so."""
    about = names.get(call.about, call.about)
    if about.startswith("arn:aws:states:"):
        kind, name, *rest = about.split(":", 5)[5].split(":")
        about = ":".join([kind, machines[name], *rest])
    return replace(call, about=about)


def an_audit(execution):
    """A report of a run, as the audit's functions write it."""
    run = {"run_id": "run"}
    store = entry_point.service().store
    started = datetime.now(UTC).isoformat()
    planned = ask(plan, {"execution": execution, "name": "run", "started": started, "input": {}})
    for account in json.loads(store.get(planned["accounts_key"])):
        ask(take_inventory, {**run, "account": account})
    pending = ask(find_pending, {**run, "execution": execution})
    for lot in json.loads(store.get(pending["pending_key"])):
        ask(audit_batch, {**run, "lot": lot})
    found = ask(find_pending, {**run, "execution": execution})
    for shard in json.loads(store.get(found["shards_key"])):
        ask(combine, {**run, "shard": shard})
    ask(summarize, run)
    ask(report, run)


def a_kept_plan():
    """A plan of changes in the bucket of facts, of which somebody could say something."""
    made = datetime.now(UTC)
    facts = entry_point.service().change_facts
    kept = keep_plan(facts, a_plan(made=made))
    ChangeLedger(store=facts, plan=kept).add(PLAN_ROW, Fact(kind=FactKind.APPROVED, at=made, digest=kept.digest))
    return kept


def news_of(kept):
    """The event of a plan that was taken back."""
    lines = {line.id: (Fact(kind=FactKind.TAKEN_BACK, at=kept.made, leg=Leg.BACK),) for line in kept.lines}
    progress = Progress(plan=kept, rows=lines)
    news = select_news(progress, {}, read_marks(progress, {}, kept.made))
    return {"detail": changes_event(progress, news, {}, kept.made)[1]}


def asked_and_told(slack, fleet, kept):
    """The calls of Slack's functions: a run is told, and every action is asked, some of them twice."""
    listener = Listener()
    near, far = (fleet.at(account, "us-east-1")[0].id for account in fleet.accounts[:2])

    def step(function, event):
        name = function.__name__.rpartition(".")[2]
        if listener.running != name:
            entry_point.renew()  # another function is another process
        listener.running = name
        return ask(function, event, Context(remaining_ms=600_000))

    def act(number, do, **more):
        (message, *_) = slack.there.in_channel()
        asked = {"id": f"{do}-{number}", "team": TEAM, "user": MEMBER, "do": do, **more}
        step(slack_work, {**asked, "channel": CHANNEL, "thread": message.ts, "response_url": slack.response_url()})

    with listener.listening():
        step(slack_report, {"detail": {"run_id": "run"}})
        assert step(slack_act, signed(slack, "savings"))["statusCode"] == 200
        act(1, "explain", volume=near)
        act(2, "explain", volume=f"{fleet.accounts[1]}/us-east-1/{far}")
        act(1, "snooze", volume=near, entered={"days": "7"})
        act(1, "snooze", volume=near, entered={"days": "7"})
        for do in ("done", "exclude", "include", "validate", "validate"):
            act(1, do, volume=near)
        act(1, "audit")
        act(1, "savings")
        act(1, "changes", plan=kept.id)
        act(1, "stop", plan=kept.id, digest=kept.digest)
        assert step(slack_changes, news_of(kept))["channels"] == [CHANNEL]
        ended = {"name": "slack-validate-1", "status": "ABORTED", "error": None, "cause": None}
        assert step(slack_answer, {"detail": ended})["posted"]
    return listener.heard


def signed(slack, text):
    """A slash command as Slack signs it, and as a function URL passes it on."""
    given = {"command": "/plimsoll", "text": text, "team_id": TEAM, "user_id": MEMBER, "channel_id": CHANNEL}
    body = urlencode({**given, "trigger_id": slack.trigger(), "response_url": slack.response_url()})
    now = str(int(time.time()))
    signature = hmac.new(SIGNING.encode(), f"v0:{now}:{body}".encode(), hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": now,
        "x-slack-signature": f"v0={signature}",
    }
    http = {"method": "POST", "path": "/"}
    return {"headers": headers, "requestContext": {"http": http}, "body": body, "isBase64Encoded": False}


def of_the_stack(templates):
    """What the statements call the secret and the worker, which are of the same stack."""
    ((secret, _),) = templates.resources("AWS::SecretsManager::Secret").items()
    made = templates.resources("AWS::Lambda::Function", ("slack",))
    (worker,) = [name for name, each in made.items() if each["Handler"] == "functions.slack_work.handler"]
    return {SECRET: f"${{{secret.partition('/')[2]}}}", WORKER: f"${{{worker.partition('/')[2]}.Arn}}"}


def test_these_functions_came_as_far_as_the_tests_say(heard):
    calls, own = heard
    did = {function: {call.action for call in made} for function, made in calls.items()}
    assert "lambda:InvokeFunction" in did["slack_act"]
    assert {"dynamodb:UpdateItem", "states:StartExecution", "states:DescribeExecution"} <= did["slack_work"]
    assert {
        call.about.rpartition("-")[2] for call in calls["slack_work"] if call.action == "states:StartExecution"
    } == {
        "audit",
        "validation",
    }
    assert any(call.access_key != own for call in calls["slack_work"]), "a member account was read"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_role_of_a_function_allows_what_it_asks(templates, heard, function):
    calls, own = heard
    names = of_the_stack(templates)
    its_own = templates.allowed_to(function)
    in_members = [found for _, found in templates.statements(("member-audit",))]
    assert calls[function]
    for call in calls[function]:
        if call.action == "sts:GetCallerIdentity":
            continue  # needs no permission (AWS STS API Reference, GetCallerIdentity)
        statements = its_own if call.access_key == own else in_members
        assert any(allows(each, call, names) for each in statements), call


def test_a_role_allows_no_more_than_its_function_uses_sooner_or_later(templates, heard):
    """The store is left out, and the queue, which Lambda itself writes to."""
    calls, own = heard
    spare = {}
    for function in FUNCTIONS:
        used = {call.action for call in calls[function] if call.access_key == own}
        allowed = {
            action
            for statement in templates.allowed_to(function)
            for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
        }
        others = ("logs:", "xray:", "s3:", "sqs:")
        spare[function] = {action for action in allowed - used if not action.startswith(others)}
    assert spare == NOT_NEEDED_HERE
