"""The roles of the probe's functions allow what those ask of AWS, and so does the role of member accounts."""

import json
import os
import time
from unittest.mock import patch

import boto3
import pytest

from cloud_simulator.aws.managed_instances import ONLINE, ping_of
from cloud_simulator.aws.organization import ACCOUNTS
from functions import begin_probe, entry_point, look_at_probe
from plimsoll.clouds.aws.names import AUDIT_ROLE, PROBE_DOCUMENT_NAME, PROBE_ROLE, role_arn
from plimsoll_measure.bench.document import document, version_name
from tests.contract.service_ports import home_account
from tests.functions.calls import ask
from tests.infra.roles import Listener, allows

REGION = "us-east-1"
CONFIG = {"accounts": list(ACCOUNTS[:2]), "regions": [REGION], "external_id": "the-external-id"}
FUNCTIONS = ("begin_probe", "look_at_probe")


@pytest.fixture(scope="module")
def probed():
    """What the functions asked in a probe of two accounts, what came of it, and the names that things had."""
    with home_account() as account:
        name = f"/plimsoll/{account.bus()[0]}"
        account.client("ssm").put_parameter(Name=name, Value=json.dumps(CONFIG), Type="String")
        given = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_CONFIG_PARAMETER": name,
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": "none",
        }
        with patch.dict(os.environ, {**account.organization.environment, **given}):
            own = os.environ["AWS_ACCESS_KEY_ID"]
            for number, member in enumerate(account.organization.fleet.accounts[:2]):
                make_document(None if number == 0 else member)
            heard, ended = carried_out(account.organization.fleet)
        entry_point.renew()
    names = {given["PLIMSOLL_BUCKET"]: "plimsoll-main-111122223333-eu-west-1", name: "parameter/plimsoll/main/config"}
    return heard, ended, names, own


def make_document(member):
    """The document, as its template makes it: no function may."""
    keys = {}
    if member is not None:
        arn = role_arn(member, PROBE_ROLE)
        found = boto3.client("sts", region_name=REGION).assume_role(
            RoleArn=arn, RoleSessionName="made", ExternalId="the-external-id"
        )["Credentials"]
        keys = {
            "aws_access_key_id": found["AccessKeyId"],
            "aws_secret_access_key": found["SecretAccessKey"],
            "aws_session_token": found["SessionToken"],
        }
    boto3.client("ssm", region_name=REGION, **keys).create_document(
        Name=PROBE_DOCUMENT_NAME,
        Content=json.dumps(document(PROBE_DOCUMENT_NAME)),
        VersionName=version_name(PROBE_DOCUMENT_NAME),
        DocumentType="Command",
        DocumentFormat="JSON",
    )


def carried_out(fleet):
    listener = Listener()

    def step(function, event):
        listener.running = function.__name__.rpartition(".")[2]
        entry_point.renew()
        return ask(function, event)

    volumes = [in_use(fleet, account) for account in fleet.accounts[:2]]
    with listener.listening():
        state = step(begin_probe, {"name": "p", "input": {"volume_ids": volumes, "seconds": 1}})
        while state["reading"]:
            time.sleep(0.2)
            state = step(look_at_probe, {"probe": "p"})
    return listener.heard, state


def in_use(fleet, account):
    """The name of a volume of an account on a host that Systems Manager reaches."""
    found = next(one.id for one in fleet.at(account, REGION) if len(one.hosts) == 1 and ping_of(one.hosts[0]) == ONLINE)
    return f"{account}/{REGION}/{found}"


def test_the_probe_came_as_far_as_the_tests_say(probed):
    heard, ended, _names, own = probed
    did = {function: {call.action for call in calls} for function, calls in heard.items()}
    assert {"ssm:GetDocument", "ssm:SendCommand"} <= did["begin_probe"]
    assert "ssm:GetCommandInvocation" in did["look_at_probe"]
    entered = {call.about.rpartition("/")[2] for calls in heard.values() for call in calls if "Assume" in call.action}
    assert entered == {AUDIT_ROLE, PROBE_ROLE}
    sent = {call.access_key == own for call in heard["begin_probe"] if call.action == "ssm:SendCommand"}
    assert sent == {True, False}
    assert len(ended["seen"]) + len(ended["not_seen"]) == 2


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_role_of_a_function_allows_what_it_asks(templates, probed, function):
    heard, _ended, names, own = probed
    its_own = templates.allowed_to(function)
    in_members = [found for _, found in templates.statements(("member-audit", "member-probe"))]
    assert heard[function]
    for call in heard[function]:
        if call.action == "sts:GetCallerIdentity":
            continue  # needs no permission (AWS STS API Reference, GetCallerIdentity)
        statements = its_own if call.access_key == own else in_members
        assert any(allows(each, call, names) for each in statements), call
