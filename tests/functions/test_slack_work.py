"""The function that does what people ask for in Slack, by its environment, with a Slack on loopback."""

import json
import os
from unittest.mock import patch

import pytest

from cloud_simulator.aws.organization import ACCOUNTS
from functions import entry_point, slack_work
from plimsoll.model.errors import AccessDenied, BadInput
from tests.functions.calls import ask
from tests.slack.workspace import CHANNEL, GROUP, MEMBER, TEAM, Message

pytestmark = pytest.mark.once

CONFIG = {
    "accounts": ACCOUNTS[:1],
    "regions": ["us-east-1"],
    "policy": {"lookback_days": 2},
    "slack": {"teams": [TEAM], "channel": CHANNEL, "user_groups": [GROUP]},
}


@pytest.fixture
def deployed(account, slack):
    """What the infrastructure gives the function: its environment, and what it names."""
    bus, _queue = account.bus()
    account.client("ssm").put_parameter(Name=f"/plimsoll/{bus}", Value=json.dumps(CONFIG), Type="String")
    secret = json.dumps({"signing_secret": "any", "bot_token": slack.token})
    account.client("secretsmanager").create_secret(Name=f"slack-{bus}", SecretString=secret)
    given = {
        "PLIMSOLL_BUCKET": account.bucket(),
        "PLIMSOLL_CONFIG_PARAMETER": f"/plimsoll/{bus}",
        "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
        "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
        "PLIMSOLL_EVENT_BUS": bus,
        "PLIMSOLL_AUDIT_MACHINE": account.machine(),
        "PLIMSOLL_SLACK_SECRET": f"slack-{bus}",
        "PLIMSOLL_SLACK_API_URL": slack.api_url,
        "PLIMSOLL_CALLS_PER_S": "1e9",
        "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
    }
    with patch.dict(os.environ, {**account.organization.environment, **given}):
        entry_point.renew()
        slack_work.members.cache_clear()
        yield given
    entry_point.renew()
    slack_work.members.cache_clear()


def asked(slack, do, *, user=MEMBER, request="request-1", **more):
    """What somebody asks by a button of a message."""
    (message, *_) = slack.there.in_channel(CHANNEL) or [posted(slack)]
    return {
        "id": request,
        "team": TEAM,
        "user": user,
        "do": do,
        **more,
        "channel": CHANNEL,
        "thread": message.ts,
    }


def posted(slack):
    """A message of ours in the channel."""
    message = Message(channel=CHANNEL, ts=slack.there.stamp(), text="the report", blocks=[])
    slack.there.messages.append(message)
    return message


def a_volume(account):
    place = f"{ACCOUNTS[0]}/us-east-1"
    found = account.client("ec2").describe_volumes()["Volumes"]
    return f"{place}/{found[0]['VolumeId']}"


def test_a_request_is_carried_out_once_however_often_its_event_is_delivered(account, deployed, slack):
    event = asked(slack, "snooze", volume=a_volume(account), entered={"days": "7", "reason": "a release"})
    for _ in range(3):
        assert ask(slack_work, event) == {}
    assert len(slack.called("chat.postMessage")) == 1
    items = account.client("dynamodb").scan(TableName=deployed["PLIMSOLL_HISTORY_TABLE"])["Items"]
    (item,) = items
    assert item["volume_id"]["S"].endswith("/decisions")
    assert [one["M"]["reason"]["S"] for one in item["decisions"]["L"]] == ["a release"]


def test_a_second_press_is_answered_and_does_nothing(account, deployed, slack):
    event = asked(slack, "done", volume=a_volume(account), request="the-button")
    for url in (slack.response_url(), slack.response_url()):
        ask(slack_work, {**event, "response_url": url})
    assert len(slack.there.in_thread(event["thread"])) == 2
    (item,) = account.client("dynamodb").scan(TableName=deployed["PLIMSOLL_HISTORY_TABLE"])["Items"]
    assert len(item["decisions"]["L"]) == 1


def test_an_audit_is_begun_by_the_requests_own_name(account, deployed, slack):
    ask(slack_work, asked(slack, "audit"))
    machine = deployed["PLIMSOLL_AUDIT_MACHINE"]
    (execution,) = account.client("stepfunctions").list_executions(stateMachineArn=machine)["executions"]
    assert execution["name"] == "slack-request-1"


def test_a_volume_of_the_account_is_explained(account, deployed, slack):
    ask(slack_work, asked(slack, "explain", volume=a_volume(account)))
    (reply,) = slack.there.in_thread(slack.there.in_channel(CHANNEL)[0].ts)
    assert "answer:" in json.dumps(reply.blocks)


def test_what_fails_is_raised_by_name_and_no_secret_is_in_what_is_logged(account, deployed, slack, capsys):
    slack.scopes.discard("usergroups:read")
    url = slack.response_url()
    with pytest.raises(AccessDenied, match="usergroups:read"):
        ask(slack_work, {**asked(slack, "savings"), "response_url": url})
    assert "usergroups:read" in json.dumps(slack.there.responses[url])
    logged = capsys.readouterr()
    for secret in (slack.token, "response-secret"):
        assert secret not in logged.out + logged.err


def test_an_event_that_names_no_action_is_refused_with_the_key_that_is_wrong_and_the_address_is_not_told(
    deployed, slack, capsys
):
    event = {**asked(slack, "savings"), "response_url": slack.response_url()}
    for wrong, key in (({"do": "delete"}, "do"), ({"response_url": [event["response_url"]]}, "url")):
        with pytest.raises(BadInput, match=key):
            ask(slack_work, event | wrong)
    with pytest.raises(BadInput, match="team: field required"):
        ask(slack_work, {key: value for key, value in event.items() if key != "team"})
    logged = capsys.readouterr()
    assert "response-secret" not in logged.out + logged.err
