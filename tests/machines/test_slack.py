"""From an audit to a message, from a button to fio, and back into the thread: the deployed service and its Slack."""

import json

import pytest

from plimsoll.reports.wording import usd
from plimsoll_service.config import ServiceConfig
from plimsoll_service.slack_config import SlackConfig
from tests.slack import signing
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, GROUP, MEMBER, TEAM, text_of

from .deployment import deployed
from .fleets import a_small_organization
from .test_validation import ANY_LATENCY, FAST

pytestmark = [pytest.mark.release, pytest.mark.once, pytest.mark.needs("fio")]

SLOW = {"StartExecution", "DescribeExecution", "SendCommand", "GetObject", "ListObjectsV2"}
"""What the function that Slack waits for leaves to another."""


@pytest.fixture(scope="module")
def slack():
    with FakeSlack() as found:
        yield found


@pytest.fixture(scope="module")
def service(slack_templates, slack, tmp_path_factory):
    """The service of one account with a Slack, its secret put where it was told to, and its rules in force."""
    fleet = a_small_organization()
    config = ServiceConfig(
        accounts=fleet.accounts[:1],
        regions=fleet.regions,
        policy=ANY_LATENCY,
        slack=SlackConfig(teams=(TEAM,), channel=CHANNEL, user_groups=(GROUP,)),
    )
    folder = tmp_path_factory.mktemp("service")
    variables = {**FAST, "PLIMSOLL_SLACK_API_URL": slack.api_url}
    secret = json.dumps({"signing_secret": signing.SIGNING_SECRET, "bot_token": slack.token})
    with deployed(
        slack_templates, fleet, folder, config=config, variables=variables, plain_files=True, secret=secret
    ) as found:
        yield found


@pytest.fixture(scope="module")
def message(service, slack):
    """What the first audit has told the channel."""
    audited = service.account.run("plimsoll-main-audit", "weekly")
    assert (audited.status, audited.cause) == ("SUCCEEDED", None)
    service.account.front.settled()
    (found,) = slack.there.in_channel()
    return found


def press(service, event):
    """What the public function answers."""
    names = service.account.front.functions
    function = next(name for name, found in names.items() if found.name == "slack_act")
    answered = service.account.client("lambda").invoke(FunctionName=function, Payload=json.dumps(event))
    return json.loads(answered["Payload"].read())


def buttons(message, action):
    """The volumes of a message that have this button, by their full names."""
    return [
        block["block_id"].removeprefix("volume:")
        for block in message.blocks
        if block["type"] == "actions" and any(one.get("action_id") == action for one in block["elements"])
    ]


def executions(service, machine):
    listed = service.account.client("stepfunctions").list_executions(stateMachineArn=service.account.machines[machine])
    return listed["executions"]


def test_from_an_audit_to_a_message_and_from_a_button_to_fio_and_back_into_the_thread(service, slack, message):
    account, front = service.account, service.account.front
    run = json.loads(service.content("reports/weekly/run.json"))
    assert usd(run["monthly_usd"]["saved"]) in text_of(message.json)
    assert {file.channel for file in slack.there.files.values()} == {CHANNEL}
    volume = buttons(message, "validate")[0]
    account_id, region, volume_id = volume.split("/")
    assert (account_id, region) == (account.id, account.organization.fleet.regions[0])

    event = signing.interaction(signing.pressed("validate", volume, ts=message.ts))
    # The first is a cold start, which here also imports what Lambda's own runtime has ready.
    answer = press(service, event)
    assert answer["statusCode"] == 200
    front.settled()
    (begun,) = executions(service, "plimsoll-main-validation")
    ended = account.end(begun["executionArn"])
    assert (ended.status, ended.cause) == ("SUCCEEDED", None)
    front.settled()

    thread = [text_of(reply.json) for reply in slack.there.in_thread(message.ts)]
    (line,) = [
        json.loads(line) for key in service.keys("measured/validations/") for line in service.content(key).splitlines()
    ]
    assert line["passed"]
    assert any(volume_id in text and f"{line['shown_iops']:,.0f}" in text for text in thread)

    again = signing.interaction(signing.pressed("validate", volume, ts=message.ts, trigger_id="2.3.trigger"))
    before = len(slack.there.in_thread(message.ts))
    answer = press(service, again)
    assert answer["statusCode"] == 200
    asked = {operation for function, operation in front.calls if function == "slack_act"}
    assert not asked & SLOW, "Slack waits three seconds for an answer"
    front.settled()
    assert len(executions(service, "plimsoll-main-validation")) == 1
    assert len(slack.there.in_thread(message.ts)) <= before + 1

    account.end(begun["executionArn"])
    front.settled()
    assert sum(f"{line['shown_iops']:,.0f}" in text_of(one.json) for one in slack.there.in_thread(message.ts)) == 1


def test_who_is_in_no_allowed_group_is_refused_and_nothing_is_begun(service, slack, message):
    before = len(executions(service, "plimsoll-main-validation")), len(slack.there.in_thread(message.ts))
    volume = buttons(message, "validate")[-1]
    stranger, url = {"id": "U0STRANGER", "username": "sam", "team_id": TEAM}, slack.response_url()
    event = signing.interaction(signing.pressed("validate", volume, ts=message.ts, user=stranger, response_url=url))
    answer = press(service, event)
    service.account.front.settled()

    assert answer["statusCode"] == 200
    assert (
        len(executions(service, "plimsoll-main-validation")),
        len(slack.there.in_thread(message.ts)),
    ) == before
    assert len(slack.there.responses[url]) == 1


def test_what_was_excluded_in_slack_is_audited_no_more(service, slack, message):
    volume = buttons(message, "explain")[0]
    press(service, signing.interaction(signing.pressed("menu", volume, selected="exclude", trigger_id=slack.trigger())))
    service.account.front.settled()
    (view,) = slack.there.views.values()
    submitted = signing.submitted(view.json, signing.because("goes away in May"), view_id=view.id)
    answer = press(service, signing.interaction(submitted))
    assert answer["statusCode"] == 200
    service.account.front.settled()

    service.account.run("plimsoll-main-audit", "next-week")
    service.account.front.settled()
    run = json.loads(service.content("reports/next-week/run.json"))
    assert sum(run["volumes"]["skipped"].values()) == 1
    answered = json.loads(service.content("reports/next-week/recommendations.json"))
    assert volume.rpartition("/")[2] not in {one["volume_id"] for one in answered}
    assert run["volumes"]["skipped"] == {"excluded by somebody": 1}
    assert f"{MEMBER}: goes away in May" in service.content("reports/next-week/unanswered.jsonl").decode()
