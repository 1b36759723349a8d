"""The roles of the validation's functions allow what those ask of AWS, up to the command that measures.

What is sent to a host, and what is concluded from it, needs fio: that is in tests/machines, without roles.
"""

import json
import os
import time
from contextlib import suppress
from unittest.mock import patch

import pytest

from cloud_simulator.aws.managed_instances import ONLINE, ping_of
from cloud_simulator.aws.organization import ACCOUNTS
from functions import (
    attach_scratch,
    check_job,
    choose_volumes,
    clean_up,
    conclude_sweep,
    create_scratch,
    entry_point,
    plan_sweep,
    propose,
    sweep,
)
from plimsoll.model.errors import NotMeasured
from tests.contract.service_ports import home_account
from tests.functions.calls import ask
from tests.infra.roles import Listener, allows
from tests.infra.templates import MEMBERS

CONFIG = {
    "accounts": list(ACCOUNTS[:2]),
    "regions": ["us-east-1"],
    "policy": {"lookback_days": 2},
    "external_id": "the-external-id",
}
FUNCTIONS = (
    *("choose_volumes", "propose", "create_scratch", "check_job", "attach_scratch", "clean_up"),
    *("plan_sweep", "sweep", "conclude_sweep"),
)
FAILED = {"Error": "NotMeasured", "Cause": "{}"}


@pytest.fixture(scope="module")
def validated():
    """What the functions asked in validations that end before anything is measured, and the names that things had."""
    with home_account() as account:
        name = f"/plimsoll/{account.bus()[0]}"
        account.client("ssm").put_parameter(Name=name, Value=json.dumps(CONFIG), Type="String")
        given = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_CONFIG_PARAMETER": name,
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": "none",
            "PLIMSOLL_POLL_S": "0.1",
            "PLIMSOLL_TAGS": "team=storage,cost-center=42",
        }
        with patch.dict(os.environ, {**account.organization.environment, **given}):
            listener = carried_out(account.organization.fleet)
            own = os.environ["AWS_ACCESS_KEY_ID"]
        entry_point.renew()
    names = {
        given["PLIMSOLL_BUCKET"]: "plimsoll-main-111122223333-eu-west-1",
        name: "parameter/plimsoll/main/config",
        given["PLIMSOLL_COORDINATION_TABLE"]: "table/plimsoll-main-coordination",
    }
    return listener, names, own


def carried_out(fleet):
    """What was heard of a scratch volume until it is attached, of a volume in place until its host is asked, and then
    of the clean-up of a job without a document, and of the sweep."""
    listener = Listener()

    def step(function, event):
        listener.running = function.__name__.rpartition(".")[2]
        entry_point.renew()
        return ask(function, event)

    def begun(validation, **given):
        step(choose_volumes, {"name": validation, "input": given})
        return {"validation": validation, "index": 0, "item": {}}, {"job": f"validations/{validation}/0.json"}

    def until_ready(job, at):
        while not step(check_job, {**job, "at": at})["ready"]:
            time.sleep(0.1)

    with listener.listening():
        item, job = begun("scratch", volume_id=named(fleet, "stack-data"))
        step(propose, item)
        step(create_scratch, job)
        until_ready(job, "volume")
        step(attach_scratch, job)
        until_ready(job, "attachment")
        step(clean_up, {**job, "error": FAILED})
        for number, volume_id in enumerate(in_use(fleet)):
            item, _ = begun(f"in-place-{number}", volume_id=volume_id, mode="in-place")
            with suppress(NotMeasured):  # one has no headroom, or no operations: then its host is not asked
                step(propose, item)
            if any(call.action == "ssm:SendCommand" for call in listener.heard["propose"]):
                break
        step(clean_up, {"job": "validations/lost/0.json", "error": FAILED})
        planned = step(plan_sweep, {"name": "s", "input": {"everywhere": True}})
        listener.running = "the test"
        for account in json.loads(entry_point.service().store.get(planned["accounts_key"])):
            step(sweep, {"sweep": "s", "account": account})
        step(conclude_sweep, {"sweep": "s"})
    return listener


def named(fleet, name):
    """The volume of the home account that is called so."""
    (found,) = [one for one in fleet.at(fleet.accounts[0], "us-east-1") if dict(one.tags).get("Name") == name]
    return found.id


def in_use(fleet):
    """The volumes of the home account on a host that Systems Manager reaches."""
    home = fleet.at(fleet.accounts[0], "us-east-1")
    return [one.id for one in home if len(one.hosts) == 1 and ping_of(one.hosts[0]) == ONLINE]


def test_these_validations_came_as_far_as_the_tests_say(validated):
    listener, _names, _own = validated
    did = {function: {call.action for call in calls} for function, calls in listener.heard.items()}
    assert {"ssm:CreateDocument", "ssm:SendCommand", "ssm:GetCommandInvocation"} <= did["propose"]
    assert {"ec2:DeleteVolume", "ec2:DetachVolume", "ec2:DescribeVolumes"} <= did["clean_up"]
    assert {"ec2:DescribeVolumes", "sts:AssumeRole"} <= did["sweep"]


def test_all_that_is_made_has_the_tags_of_the_deployment_and_roles_allow_them(validated):
    """A role that could not give them would fail below: each tag is a permission of its own."""
    listener, _names, _own = validated
    assert {operation for operation, _tags in listener.made} == {"CreateVolume", "CreateDocument"}
    for operation, tags in listener.made:
        assert {"team": "storage", "cost-center": "42"}.items() <= tags.items(), operation
    assert "ec2:CreateTags" in {call.action for call in listener.heard["create_scratch"]}
    assert "ssm:AddTagsToResource" in {call.action for call in listener.heard["propose"]}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_role_of_a_function_allows_what_it_asks(templates, validated, function):
    listener, names, own = validated
    its_own = templates.allowed_to(function)
    in_members = [found for _, found in templates.statements(MEMBERS)]
    assert listener.heard[function]
    for call in listener.heard[function]:
        if call.action == "sts:GetCallerIdentity":
            continue  # needs no permission (AWS STS API Reference, GetCallerIdentity)
        statements = its_own if call.access_key == own else in_members
        assert any(allows(each, call, names) for each in statements), call
