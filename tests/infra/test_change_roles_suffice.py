"""The roles of the functions of changes allow what those ask of AWS, and so do the roles of member accounts."""

import json
import os
from unittest.mock import patch

import pytest

from cloud_simulator.aws.organization import ACCOUNTS
from functions import apply_changes, entry_point, find_changes, plan_changes
from plimsoll.clouds.aws.names import CHANGE_PLAN_ROLE, CHANGE_ROLE, CHANGES_GO
from plimsoll.clouds.aws.permissions import CHANGE, CHANGE_TAG
from plimsoll_change.plan_files import read_plan
from plimsoll_service.change_words import PersonWord, keep_word
from tests.contract.service_ports import home_account
from tests.functions.calls import ask
from tests.infra.roles import Listener, allows
from tests.infra.test_roles_suffice import CONFIG, carried_out

FUNCTIONS = ("plan_changes", "find_changes", "apply_changes")
pytestmark = pytest.mark.release  # test_changes.py holds the same statements, and no simulated days pass there

RULES = {"approvers": ["ada"], "most_volumes_an_hour": 100}
MOST_HOURS = 72


@pytest.fixture(scope="module")
def changed():
    """What the functions asked until plans of two accounts were made, approved, begun and judged.

    The organization lets nobody modify a volume without the tag of a plan.
    """
    with home_account(change_tag=CHANGE_TAG) as account:
        bus, _ = account.bus()
        ssm = account.client("ssm")
        config = {**CONFIG, "change_rules": RULES}
        ssm.put_parameter(Name=f"/plimsoll/{bus}", Value=json.dumps(config), Type="String")
        ssm.put_parameter(Name=f"/plimsoll/{bus}/changes", Value=CHANGES_GO, Type="String")
        given = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_FACTS_BUCKET": account.bucket(),
            "PLIMSOLL_CHANGE_SWITCH": f"/plimsoll/{bus}/changes",
            "PLIMSOLL_CONFIG_PARAMETER": f"/plimsoll/{bus}",
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": bus,
            "PLIMSOLL_CALLS_PER_S": "1e9",
            "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
        }
        execution = account.start(account.machine(), "run")
        organization = account.organization
        with patch.dict(os.environ, {**organization.environment, **organization.clock_environment, **given}):
            own = os.environ["AWS_ACCESS_KEY_ID"]
            carried_out(execution)
            heard, lines = carry_plans_out(organization, own)
        entry_point.renew()
        modified = {each.volume_id for each in organization.modifications()}
    names = {
        given["PLIMSOLL_BUCKET"]: "plimsoll-main-111122223333-eu-west-1",
        given["PLIMSOLL_FACTS_BUCKET"]: "plimsoll-main-facts-111122223333-eu-west-1",
        given["PLIMSOLL_CHANGE_SWITCH"]: "parameter/plimsoll/main/changes",
        given["PLIMSOLL_CONFIG_PARAMETER"]: "parameter/plimsoll/main/config",
        given["PLIMSOLL_COORDINATION_TABLE"]: "table/plimsoll-main-coordination",
        given["PLIMSOLL_EVENT_BUS"]: "event-bus/plimsoll-main",
    }
    return heard, lines, modified, names, own


def carry_plans_out(organization, own):
    listener = Listener()

    def step(function, event):
        listener.running = function.__name__.rpartition(".")[2]
        entry_point.renew()
        return ask(function, event)

    with listener.listening():
        lines = []
        for account in ACCOUNTS[:2]:
            planned = step(plan_changes, {"name": account, "input": {"run_id": "run", "accounts": [account]}})
            listener.running = "the test"
            facts = entry_point.service().change_facts
            word = PersonWord(say="approve", digest=planned["digest"], accepts_late_back=True)
            keep_word(facts, planned["plan"], "ada", "1", word)
            lines += read_plan(facts, planned["plan"]).lines
            organization.clock.pause(1)
        for _ in range(MOST_HOURS):  # a canary waits for its quiet hours, and is judged once it has arrived
            for name in step(find_changes, {"name": "e"})["plans"]:
                step(apply_changes, {"plan": name, "name": "e"})
            asked = [by_credentials(listener.heard, each, own) for each in ("ModifyVolume", "GetMetricData")]
            if asked[0] == {True, False} and asked[1]:
                break
            organization.clock.pause(3600)
        listener.running = "the test"
        keep_word(facts, planned["plan"], "slack-U0BOB", "1", PersonWord(say="stop"))
        for name in step(find_changes, {"name": "e"})["plans"]:
            step(apply_changes, {"plan": name, "name": "e"})
    return listener.heard, lines


def by_credentials(heard, operation, own):
    """Whether the passes called an operation with the service's own credentials, with those of a member, or both."""
    return {call.access_key == own for call in heard["apply_changes"] if call.action.endswith(f":{operation}")}


def test_the_plans_came_as_far_as_the_tests_say(changed):
    heard, lines, modified, _names, own = changed
    did = {function: {call.action for call in calls} for function, calls in heard.items()}
    assert "ec2:CreateTags" in did["plan_changes"]
    assert {"ec2:ModifyVolume", "cloudwatch:GetMetricData", "ssm:GetParameter", "events:PutEvents"} <= did[
        "apply_changes"
    ]
    entered = {call.about.rpartition("/")[2] for call in heard["apply_changes"] if call.action == "sts:AssumeRole"}
    assert entered == {CHANGE_ROLE}
    entered = {call.about.rpartition("/")[2] for call in heard["plan_changes"] if call.action == "sts:AssumeRole"}
    assert entered == {CHANGE_PLAN_ROLE}
    assert {line.target.account for line in lines} == set(ACCOUNTS[:2])
    assert set() < modified <= {line.volume_id for line in lines}
    for operation in ("ModifyVolume", "DescribeVolumes", "LookupEvents"):
        assert by_credentials(heard, operation, own) == {True, False}, operation


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_role_of_a_function_allows_what_it_asks(templates, changed, function):
    heard, _lines, _modified, names, own = changed
    its_own = templates.allowed_to(function)
    stacks = {"plan_changes": ("member-change-plan",), "apply_changes": ("member-change",)}.get(function, ())
    in_members = [found for _, found in templates.statements(stacks)]
    assert heard[function]
    for call in heard[function]:
        if call.action == "sts:GetCallerIdentity":
            continue  # needs no permission (AWS STS API Reference, GetCallerIdentity)
        statements = its_own if call.access_key == own else in_members
        assert any(allows(each, call, names) for each in statements), call


def test_the_roles_for_changes_allow_no_more_than_was_asked(changed):
    """But for what alarms in the rules need, which these rules name none of."""
    heard, *_ = changed
    asked = {call.action for call in heard["apply_changes"]}
    assert CHANGE - asked == {"cloudwatch:DescribeAlarms"}
