"""Each function's role allows what the function asks of AWS while a whole audit is carried out: no more is needed."""

import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from unittest.mock import patch

import pytest

from cloud_simulator.aws.organization import ACCOUNTS
from functions import (
    audit_batch,
    canary,
    combine,
    entry_point,
    find_pending,
    note_failure,
    plan,
    report,
    summarize,
    take_inventory,
)
from plimsoll_service.shared_measurements import LEARNED_HERE_KEY, LEARNED_KEY
from plimsoll_service.store_keys import RunKeys
from tests.contract.service_ports import home_account
from tests.functions.calls import ask
from tests.infra.roles import Listener, allows
from tests.taught import a_past, teach

CONFIG = {
    "accounts": list(ACCOUNTS[:2]),
    "regions": ["us-east-1"],
    "policy": {"lookback_days": 2},
    "external_id": "the-external-id",
}

GOOGLES = ("google.api_core", "google.auth", "google.cloud", "grpc", "plimsoll_google.clients")
"""Modules that a deployment without Google Cloud has not in its zips, or that import them: importing one would fail."""

NOT_NEEDED_HERE = {
    # Of scopes by organizational unit.
    "plan": {"organizations:ListAccountsForParent", "organizations:ListOrganizationalUnitsForParent"},
    # Of scopes without regions by name.
    "take_inventory": {"ec2:DescribeRegions"},
    # Of a report whose events were sent before, or could not be sent.
    "report": {"dynamodb:DeleteItem", "dynamodb:GetItem"},
}
"""What the roles allow that this audit had no need of."""


@pytest.fixture(scope="module")
def audited():
    """What every function asked in an audit of two accounts, and the names that things had."""
    with home_account() as account:
        bus, _ = account.bus()
        account.client("ssm").put_parameter(Name=f"/plimsoll/{bus}", Value=json.dumps(CONFIG), Type="String")
        machine = account.machine()
        given = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_CONFIG_PARAMETER": f"/plimsoll/{bus}",
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": bus,
            "PLIMSOLL_CALLS_PER_S": "1e9",
            "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
        }
        execution = account.start(machine, "run")
        environment = {**account.organization.environment, **given}
        with patch.dict(os.environ, environment), patch.dict(sys.modules, dict.fromkeys(GOOGLES)):
            entry_point.renew()
            heard = carried_out(execution)
            own = os.environ["AWS_ACCESS_KEY_ID"]
        entry_point.renew()
    names = {
        given["PLIMSOLL_BUCKET"]: "plimsoll-main-111122223333-eu-west-1",
        given["PLIMSOLL_CONFIG_PARAMETER"]: "parameter/plimsoll/main/config",
        given["PLIMSOLL_HISTORY_TABLE"]: "table/plimsoll-main-history",
        given["PLIMSOLL_COORDINATION_TABLE"]: "table/plimsoll-main-coordination",
        bus: "event-bus/plimsoll-main",
        machine: "stateMachine:plimsoll-main-audit",
    }
    return heard, names, own


def carried_out(execution):
    """The calls of every function of an audit, one account of which is noted as failed besides."""
    listener = Listener()

    def step(function, event):
        listener.running = function.__name__.rpartition(".")[2]
        entry_point.renew()
        return ask(function, event)

    def items(key):
        listener.running = "the test"
        return json.loads(entry_point.service().store.get(key))

    run = {"run_id": "run"}
    with listener.listening():
        begun = {"execution": execution, "name": "run", "started": datetime.now(UTC).isoformat(), "input": {}}
        planned = step(plan, begun)
        accounts = items(planned["accounts_key"])
        for account in accounts:
            step(take_inventory, {**run, "account": account})
        step(note_failure, {**run, "account": accounts[0], "error": {"Error": "Throttled", "Cause": "{}"}})
        pending = step(find_pending, {**run, "execution": execution})
        for lot in items(pending["pending_key"]):
            step(audit_batch, {**run, "lot": lot})
        found = step(find_pending, {**run, "execution": execution})
        for shard in items(found["shards_key"]):
            step(combine, {**run, "shard": shard})
        listener.running = "the test"
        teach(entry_point.service().store, RunKeys(run_id="run"), [a_past(*[500.0] * 5)] * 60)
        step(summarize, run)
        step(report, run)
        step(canary, {})
    return listener.heard


@pytest.mark.parametrize(
    "function",
    [
        "plan",
        "take_inventory",
        "find_pending",
        "audit_batch",
        "note_failure",
        "combine",
        "summarize",
        "report",
        "canary",
    ],
)
def test_the_role_of_a_function_allows_what_it_asks(templates, audited, function):
    heard, names, own = audited
    its_own, in_members = (
        templates.allowed_to(function),
        [statement for _, statement in templates.statements(("member-audit",))],
    )
    assert heard[function]
    for call in heard[function]:
        if call.action == "sts:GetCallerIdentity":
            continue  # needs no permission (AWS STS API Reference, GetCallerIdentity)
        statements = its_own if call.access_key == own else in_members
        assert any(allows(each, call, names) for each in statements), call


def test_what_was_learned_is_kept_by_the_summary_and_the_role_allows_no_other_table(templates, audited):
    heard, names, _own = audited
    kept = {call.key for call in heard["summarize"] if call.action == "s3:PutObject"}
    assert LEARNED_HERE_KEY in kept
    statements = templates.allowed_to("summarize")
    for call in heard["summarize"]:
        if call.key == LEARNED_HERE_KEY and call.action == "s3:PutObject":
            other = replace(call, key=LEARNED_KEY)
            assert not any(allows(each, other, names) for each in statements)


def test_a_role_allows_no_more_than_its_function_uses_sooner_or_later(templates, audited):
    """The store is left out: whoever writes there may replace and remove what is its own. So is the queue, which Lambda
    itself writes to."""
    heard, _, own = audited
    spare, others = {}, ("logs:", "xray:", "s3:", "sqs:")
    for function, calls in heard.items():
        used = {call.action for call in calls if call.access_key == own}
        allowed = {
            action
            for statement in templates.allowed_to(function)
            for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
        }
        spare[function] = {action for action in allowed - used if not action.startswith(others)}
    assert {function: actions for function, actions in spare.items() if actions} == NOT_NEEDED_HERE
