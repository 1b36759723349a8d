"""The function in front of Slack, by events as Lambda gives them: what it refuses, answers and hands on."""

import json
import logging
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from moto import mock_aws

from functions import entry_point, slack_act
from functions.observability import SERVICE
from plimsoll.model.errors import BadInput, CloudError
from plimsoll_service.slack.actions.asked import SlackRequest
from tests.functions.calls import Context
from tests.slack import signing
from tests.slack.limits import check_view
from tests.slack.server import FakeSlack
from tests.slack.signing import SIGNING_SECRET, TEAM, USER, VOLUME, because, interaction, pressed, snoozed, submitted

pytestmark = pytest.mark.once

SECRET = "plimsoll-test-slack"
TABLE = "plimsoll-test-coordination"
PARAMETER = "/plimsoll/test/configuration"
SLACK = {"teams": [TEAM], "channel": "C0STORAGE", "user_groups": ["S0STORAGE"]}
TOKEN = FakeSlack.token
LONG = timedelta(seconds=301)


@dataclass
class Worker:
    """Lambda's client as far as it is used, and what was handed over; `broken` refuses, `silent` loses its answers."""

    handed: list[dict[str, Any]] = field(default_factory=list)
    broken: bool = False
    silent: bool = False

    def invoke(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803
        assert (FunctionName, InvocationType) == ("plimsoll-test-slack-work", "Event")
        if self.broken:
            raise EndpointConnectionError(endpoint_url="https://lambda.example")
        self.handed.append(json.loads(Payload))
        if self.silent:
            raise ReadTimeoutError(endpoint_url="https://lambda.example")
        return {"StatusCode": 202}


@dataclass
class Front:
    """The function with everything around it."""

    slack: FakeSlack
    worker: Worker
    clients: dict[str, Any]
    changed: bool = False

    def begin(self) -> None:
        self.worker = self.clients["lambda"] = Worker()
        self.slack.calls.clear()
        self.slack.there.views.clear()
        self.slack.there.responses.clear()

    def restore(self) -> None:
        self.slack.token = TOKEN
        self.keep(json.dumps({"signing_secret": SIGNING_SECRET, "bot_token": TOKEN}))
        self.configure(**SLACK)
        self.changed = False

    def ask(self, event: dict[str, Any]) -> dict[str, Any]:
        return slack_act.handler(event, Context(function_name="plimsoll-test-slack-act"))

    def press(self, action_id: str, **how: Any) -> dict[str, Any]:
        if action_id in {"snooze", "done", "exclude"}:
            action_id, how["selected"] = "menu", action_id
        payload = pressed(action_id, trigger_id=self.slack.trigger(), response_url=self.slack.response_url(), **how)
        return self.ask(interaction(payload))

    def configure(self, **config: Any) -> None:
        written = json.dumps({"slack": config} if config else {})
        self.changed = True
        boto3.client("ssm").put_parameter(Name=PARAMETER, Value=written, Type="String", Overwrite=True)
        entry_point.renew()

    def keep(self, secret: str) -> None:
        self.changed = True
        boto3.client("secretsmanager").put_secret_value(SecretId=SECRET, SecretString=secret)
        entry_point.renew()

    @property
    def asked(self) -> list[SlackRequest]:
        return [SlackRequest.model_validate(one) for one in self.worker.handed]

    @property
    def opened(self) -> list[Any]:
        return list(self.slack.there.views.values())

    @property
    def told(self) -> list[str]:
        return [one["text"] for answers in self.slack.there.responses.values() for one in answers]


@pytest.fixture(scope="module")
def account():
    """An account with the secret that was never filled, and a table of coordination."""
    region = {"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-1"}
    with mock_aws(), patch.dict(os.environ, region):
        boto3.client("secretsmanager").create_secret(Name=SECRET, SecretString="{}")
        boto3.client("dynamodb").create_table(
            TableName=TABLE,
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield


@pytest.fixture(scope="module")
def deployed(account):
    """The function's environment, and what it names; there is one Slack for all tests."""
    clients = {"dynamodb": boto3.client("dynamodb")}
    with FakeSlack() as slack:
        given = {
            "PLIMSOLL_CONFIG_PARAMETER": PARAMETER,
            "PLIMSOLL_COORDINATION_TABLE": TABLE,
            "PLIMSOLL_SLACK_SECRET": SECRET,
            "PLIMSOLL_SLACK_WORKER": "plimsoll-test-slack-work",
            "PLIMSOLL_SLACK_API_URL": slack.api_url,
        }
        with (
            patch.dict(os.environ, given),
            patch.object(slack_act, "_client", clients.__getitem__),
        ):
            found = Front(slack=slack, worker=Worker(), clients=clients)
            found.restore()
            yield found
    entry_point.renew()


@pytest.fixture
def front(deployed):
    """The function as it was deployed, of whom nothing was asked yet."""
    deployed.begin()
    yield deployed
    if deployed.changed:
        deployed.restore()


@pytest.fixture
def log():
    """What the function logs: Powertools' handler keeps the stream that it found when it was made."""
    stream = StringIO()
    with ExitStack() as patches:
        for handler in logging.getLogger(SERVICE).handlers:
            if isinstance(handler, logging.StreamHandler):
                patches.enter_context(patch.object(handler, "stream", stream))
        yield stream


def tampered(event, **changes):
    return {**event, "headers": {**event["headers"], **changes}}


def ago(age):
    return datetime.now(UTC) - age


BUTTON = json.dumps(pressed("validate"))
BODY = "payload=" + "%7B%7D"

REFUSED = {
    "a wrong signature": (401, lambda: interaction(BUTTON, secret="another secret")),
    "no signature": (401, lambda: signing.passed_on(BODY, {"content-type": signing.FORM})),
    "an older version of signatures": (401, lambda: tampered(interaction(BUTTON), **{"x-slack-signature": "v1=00"})),
    "a signature of strange letters": (401, lambda: tampered(interaction(BUTTON), **{"x-slack-signature": "v0=é"})),
    "an old timestamp": (401, lambda: interaction(BUTTON, at=ago(LONG))),
    "a timestamp of the future": (401, lambda: interaction(BUTTON, at=ago(-LONG - timedelta(seconds=5)))),
    "a timestamp that is no number": (401, lambda: interaction(BUTTON, at="yesterday")),
    "a timestamp in strange digits": (401, lambda: interaction(BUTTON, at="\u0661\u0667\u0660\u0660\u0660")),
    "another timestamp than was signed": (
        401,
        lambda: tampered(interaction(BUTTON), **{"x-slack-request-timestamp": str(int(ago(LONG / 2).timestamp()))}),
    ),
    "a tampered body": (401, lambda: {**interaction(BUTTON), "body": interaction(BUTTON + " ")["body"]}),
    "a body of 1 MB": (413, lambda: interaction("x" * 2**20)),
    "a body of 1 MB that nobody signed": (413, lambda: signing.passed_on("x" * 2**20, {})),
    "a payload that is not JSON": (400, lambda: interaction("{not JSON")),
    "a payload that is no object": (400, lambda: interaction("[]")),
    "a payload nested without end": (400, lambda: interaction("[" * 60_000)),
    "no form": (400, lambda: interaction(BUTTON, content_type="text/plain")),
    "JSON of another kind of request": (400, lambda: signing.signed(BUTTON, content_type="application/json")),
    "an empty body": (400, lambda: signing.signed("")),
    "a body that is no text": (400, lambda: signing.signed(b"payload=\xff\xfe")),
    "a body that is no base64": (400, lambda: {**interaction(BUTTON), "body": "no base64!"}),
    "a payload that lacks its user": (400, lambda: interaction({**pressed("validate"), "user": None})),
    "a row of buttons that names no volume": (400, lambda: interaction(pressed("validate", "eu-west-1"))),
    "a volume with something hidden in it": (400, lambda: interaction(pressed("validate", VOLUME + "\n<!here>"))),
    "an address for answers that is not Slack's": (
        400,
        lambda: interaction(pressed("validate", response_url="https://hooks.slack.com.evil.example/actions/secret")),
    ),
    "an address for answers in this machine's own service": (
        400,
        lambda: signing.command("audit", response_url="http://169.254.169.254/latest/meta-data"),
    ),
    "an address for answers that is none": (400, lambda: signing.command("audit", response_url="https://[secret")),
    "another workspace": (403, lambda: interaction(pressed("validate", team={"id": "T0OTHERS"}))),
    "another workspace by the command": (403, lambda: signing.command("audit", team_id="T0OTHERS")),
    "somebody of another workspace in a shared channel": (
        403,
        lambda: interaction(pressed("validate", user={"id": "U0ELSEWHERE", "team_id": "T0OTHERS"})),
    ),
    "no workspace at all": (403, lambda: interaction(pressed("validate", team=None, user={"id": USER}))),
    "an unknown action": (404, lambda: interaction(pressed("delete"))),
    "an unknown line of the menu": (404, lambda: interaction(pressed("menu", selected="delete"))),
    "a menu without a line": (404, lambda: interaction(pressed("menu"))),
    "an unknown command": (404, lambda: signing.command("audit", command="/delete")),
    "an unknown dialog": (404, lambda: interaction(submitted({"callback_id": "delete"}, {}))),
    "an unknown kind of interaction": (404, lambda: interaction({**pressed("validate"), "type": "shortcut"})),
    "a GET": (405, lambda: signing.signed("", method="GET")),
    "a PUT": (405, lambda: interaction(BUTTON, method="PUT")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_slacks_is_refused_with_one_line_and_nothing_is_begun(what, front, log, caplog, capsys):
    status, event = REFUSED[what]
    answer = front.ask(event())
    assert answer["statusCode"] == status
    assert not front.worker.handed
    assert not front.slack.calls
    printed = capsys.readouterr()
    assert (printed.out, printed.err, len(caplog.records)) == ("", "", 1)
    (line,) = log.getvalue().splitlines()
    assert (json.loads(line)["message"], json.loads(line)["status"]) == ("refused", status)
    for secret in (SIGNING_SECRET, TOKEN, "v0=", "payload=", "verification-token", "run-1", "vol-", "evil", "169.254"):
        assert secret not in line
        assert secret not in json.dumps(answer)


def test_a_request_that_comes_again_is_refused(front, log):
    event = interaction(pressed("validate"))
    assert front.ask(event)["statusCode"] == 200
    assert front.ask(event)["statusCode"] == 409
    assert len(front.worker.handed) == 1
    _, line = log.getvalue().splitlines()
    assert json.loads(line)["reason"] == "the same request came before"


def test_a_refused_request_is_not_remembered_for_whoever_sends_it_rightly(front):
    event = interaction(pressed("done"))
    assert front.ask({**event, "body": "eA=="})["statusCode"] == 401
    assert front.ask(event)["statusCode"] == 200


def test_a_service_without_slack_lets_nobody_in(front):
    front.configure()
    assert front.ask(interaction(pressed("validate")))["statusCode"] == 403
    assert not front.worker.handed


def test_where_nobody_may_act_everybody_is_told_so(front):
    front.configure(**{**SLACK, "user_groups": []})
    for action in ("validate", "explain", "snooze", "exclude", "done"):
        assert front.press(action)["statusCode"] == 200
    assert len(front.told) == 5
    assert "names no user group" in front.told[0]
    assert "names no user group" in front.ask(signing.command("audit"))["body"]
    assert "/plimsoll savings" in front.ask(signing.command("help"))["body"]
    assert not front.worker.handed
    assert not front.opened


def test_a_button_is_handed_over_with_where_the_answer_goes(front):
    answer = front.press("validate", ts="1.0001", thread_ts="1.0000")
    assert (answer["statusCode"], answer["body"]) == (200, "")
    front.press("done", ts="2.0001")
    first, second = front.asked
    assert (first.do, first.volume, first.user, first.team) == ("validate", VOLUME, USER, TEAM)
    assert (first.channel, first.thread, first.view) == ("C0STORAGE", "1.0000", None)
    assert first.response_url.startswith(front.slack.address)
    assert (second.do, second.thread) == ("done", "2.0001")


def test_an_explanation_opens_its_dialog_at_once_and_is_answered_there(front):
    front.press("explain")
    (view,) = front.opened
    assert "Reading vol-0123456789abcdef0" in json.dumps(view.view)
    (asked,) = front.asked
    assert (asked.do, asked.view) == ("explain", view.id)
    trigger = front.slack.trigger()
    assert front.ask(signing.command("explain vol-0abc", trigger_id=trigger))["body"] == ""
    assert front.asked[1].view == front.opened[1].id


@pytest.mark.parametrize(
    ("action", "entered", "kept"),
    [
        ("snooze", snoozed("30", "a release"), {"days": "30", "reason": "a release"}),
        ("snooze", snoozed("7", None), {"days": "7", "reason": ""}),
        ("exclude", because("<!channel> & `us`"), {"reason": "<!channel> & `us`"}),
    ],
)
def test_a_dialog_asks_what_was_entered_in_it(action, entered, kept, front):
    front.press(action, ts="1.0001", thread_ts="1.0000")
    assert not front.worker.handed
    (view,) = front.opened
    check_view(view.view)
    answer = front.ask(interaction(submitted(view.view, entered, view_id=view.id)))
    assert (answer["statusCode"], answer["body"]) == (200, "")
    (asked,) = front.asked
    assert (asked.do, asked.volume, asked.entered) == (action, VOLUME, kept)
    assert (asked.channel, asked.thread, asked.user) == ("C0STORAGE", "1.0000", USER)


def test_a_dialog_that_was_changed_is_refused(front):
    front.press("snooze")
    view = front.opened[0].view
    for wrong in (
        submitted(view, snoozed("31")),
        submitted(view, snoozed("\u0667")),
        submitted(view, {}),
        submitted(view, snoozed("7", "x" * 301)),
        submitted({**view, "private_metadata": "{}"}, snoozed()),
        submitted({**view, "private_metadata": '{"volume": "vol-1; drop"}'}, snoozed()),
        submitted({**view, "private_metadata": "no JSON"}, snoozed()),
    ):
        assert front.ask(interaction(wrong))["statusCode"] == 400
    assert not front.worker.handed


def test_pressing_twice_asks_the_same_by_whomever(front):
    front.press("validate", ts="1.1")
    front.press("validate", ts="1.1", user={"id": "U0BEN", "team_id": TEAM})
    front.press("validate", ts="2.2")
    first, second, other = front.asked
    assert first.id == second.id != other.id
    assert second.user == "U0BEN"


@pytest.mark.parametrize(
    "typed",
    [
        "audit",
        "savings",
        "validate vol-0abc",
        f"include {VOLUME}",
        " AUDIT ",
        "validate `vol-0ABC`",
        "validate  “vol-0abc”.",
    ],
)
def test_a_command_is_taken_with_a_word(typed, front):
    answer = front.ask(signing.command(typed, channel_name="payload-storage", trigger_id=front.slack.trigger()))
    assert (answer["statusCode"], "the answer comes here" in answer["body"]) == (200, True)
    (asked,) = front.asked
    assert asked.do == typed.split()[0].lower()
    assert (asked.channel, asked.thread) == ("C0STORAGE", None)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "/plimsoll savings"),
        ("help", "/plimsoll savings"),
        ("payload", "I do not know that word. This is what I know"),
        ("explian vol-1", "did you mean `/plimsoll explain`?"),
        ("halp", "did you mean `/plimsoll help`?"),
        ("frobnicate <!here>", "I do not know that word"),
        ("explain", "Name one volume"),
        ("validate vol-1 vol-2", "Name one volume"),
        ('explain ""', "This is no volume's name"),
        ("audit now", "takes no further words"),
    ],
)
def test_unclear_words_are_answered_at_once(typed, said, front):
    answer = front.ask(signing.command(typed, response_url="https://hooks.slack.com/commands/secret"))
    assert (answer["statusCode"], said in answer["body"]) == (200, True)
    assert "<!here>" not in answer["body"]
    assert not front.worker.handed


def test_nobody_is_left_in_silence_where_nothing_can_be_handed_over(front, log, capsys):
    front.worker.broken = True
    assert front.press("validate")["statusCode"] == 200
    front.press("explain")
    front.press("snooze")
    explained, snoozing = front.opened
    answer = front.ask(interaction(submitted(snoozing.view, snoozed(), view_id=snoozing.id)))
    shown = json.loads(answer["body"])
    check_view(shown["view"])
    spoken = [*front.told, json.dumps(explained.view), json.dumps(shown), front.ask(signing.command("audit"))["body"]]
    assert len(spoken) == 4
    assert all("did not get through" in one for one in spoken)
    logged = log.getvalue()
    assert logged.count('"message":"failed"') == 4
    assert "lost_requests" in capsys.readouterr().out
    assert SIGNING_SECRET not in logged
    assert front.slack.token not in logged


def test_where_the_worker_may_have_it_nobody_is_told_that_nothing_was_done(front, log):
    front.worker.silent = True
    front.press("validate")
    front.press("explain")
    (explained,) = front.opened
    spoken = [*front.told, json.dumps(explained.view), front.ask(signing.command("audit"))["body"]]
    assert len(front.worker.handed) == len(spoken) == 3
    assert all("The request may or may not have got through" in one for one in spoken)
    assert "Nothing of it was done" not in log.getvalue()


def test_a_dialog_that_slack_does_not_open_is_told_and_an_explanation_goes_to_the_thread(front, log):
    front.slack.fail("views.open", error="expired_trigger_id")
    front.press("snooze")
    assert "press the button again" in front.told[0]
    front.slack.fail("views.open", error="expired_trigger_id")
    front.press("explain", ts="1.1")
    (asked,) = front.asked
    assert (asked.do, asked.view, asked.thread) == ("explain", None, "1.1")
    assert "expired_trigger_id" in log.getvalue()


def test_a_link_is_heard_and_slack_sees_a_good_certificate(front):
    assert front.ask(interaction(pressed("open-report")))["statusCode"] == 200
    assert front.ask(signing.ssl_check())["statusCode"] == 200
    assert not front.worker.handed


def test_what_comes_through_a_rest_api_is_taken_refused_and_answered_as_from_a_function_url(front):
    assert front.ask(signing.through_rest_api(signing.ssl_check()))["statusCode"] == 200
    event = signing.through_rest_api(signing.command("savings"))
    assert front.ask(event)["statusCode"] == 200
    assert [asked.do for asked in front.asked] == ["savings"]
    assert front.ask(event)["statusCode"] == 409
    for what in ("a wrong signature", "a tampered body", "a GET", "a PUT", "a body that is no text", "a body of 1 MB"):
        status, made = REFUSED[what]
        assert front.ask(signing.through_rest_api(made()))["statusCode"] == status, what


def test_an_organization_of_workspaces_is_let_in_by_its_id_and_by_a_workspace_of_its(front):
    whole = {"id": signing.ENTERPRISE, "name": "all"}
    person = {"id": USER, "team_id": signing.ENTERPRISE}
    within = pressed("done", enterprise=whole, user=person, ts="1.1")
    installed = pressed("done", enterprise=whole, user=person, team=None, ts="2.2")
    assert front.ask(interaction(within))["statusCode"] == 200
    assert front.ask(interaction(installed))["statusCode"] == 403
    front.configure(**{**SLACK, "teams": [signing.ENTERPRISE]})
    assert front.ask(interaction({**installed, "trigger_id": "another"}))["statusCode"] == 200
    assert front.ask(signing.command("savings", enterprise_id=signing.ENTERPRISE))["statusCode"] == 200
    assert front.ask(interaction({**within, "trigger_id": "a third"}))["statusCode"] == 200
    assert {one.enterprise for one in front.asked} == {signing.ENTERPRISE}
    assert [one.team for one in front.asked] == [TEAM, signing.ENTERPRISE, TEAM, TEAM]


def test_a_rotated_secret_holds_without_a_deployment(front):
    front.press("done")
    front.keep(json.dumps({"signing_secret": "another", "bot_token": "xoxb-another"}))
    assert front.ask(interaction(pressed("done", ts="3.3")))["statusCode"] == 401
    front.slack.token = "xoxb-another"
    payload = pressed("explain", trigger_id=front.slack.trigger())
    assert front.ask(interaction(payload, secret="another"))["statusCode"] == 200
    assert front.opened


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("generated placeholder", "is no JSON"),
        ('{"signing_secret": 7}', "is no JSON"),
        ("{}", "has no signing_secret"),
        ('{"signing_secret": " "}', "has no signing_secret"),
        (json.dumps({"signing_secret": SIGNING_SECRET}), "has no bot_token"),
    ],
)
def test_a_secret_that_is_no_use_is_named_with_the_remedy_and_not_shown(secret, said, front, log):
    front.keep(secret)
    with pytest.raises(BadInput, match=said) as caught:
        front.press("validate")
    assert "put-secret-value --secret-id plimsoll-test-slack" in str(caught.value)
    seen = log.getvalue() + repr(caught.value)
    assert "generated" not in seen
    assert SIGNING_SECRET not in seen
    assert caught.value.__cause__ is None


def test_without_its_table_nothing_is_taken(front):
    with (
        patch.dict(os.environ, {"PLIMSOLL_COORDINATION_TABLE": "gone"}),
        pytest.raises(CloudError, match="claim slack/"),
    ):
        front.press("validate")
    assert not front.worker.handed


def test_importing_the_function_is_light():
    refused = ["numpy", "altair", "duckdb", "moto", "rich", "jinja2", "plimsoll.auditing.audit"]
    refused += ["plimsoll.bootstrap", "plimsoll_service.bootstrap"]
    asked = f"import sys, functions.slack_act; print(*(set({refused!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
