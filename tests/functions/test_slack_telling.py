"""The functions that tell Slack, with the events that EventBridge sends them: each is told once, with the token of the
secret, which is in no log line."""

import json
import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

import pytest

from functions import entry_point, slack_answer, slack_changes, slack_report
from plimsoll.clouds.local_store import FolderStore
from plimsoll.model.errors import BadInput, CloudError, OutOfTime
from plimsoll.settings import Settings
from plimsoll_service.slack.actions.asked import SlackRequest, asked_key
from tests.in_memory.service import MemoryClaims
from tests.pipelines.lab import Lab
from tests.pipelines.stepping import Stepping
from tests.slack.workspace import CHANNEL, MEMBER, TEAM, Message, text_of
from tests.unit.change.memory import a_verdict
from tests.unit.service.slack.notifications.channels import audited_anew, slack_config, two_accounts

from .calls import Context, ask
from .changing import Changing

pytestmark = pytest.mark.once

NAME = "slack-0a1b2c3d"
ABOUT = {
    "version": "0",
    "id": "315c1398-40ff-a850-213b-158f73e60175",
    "account": "111111111111",
    "time": "2026-11-21T19:42:21Z",
    "region": "us-east-1",
    "resources": [],
}
REPORTED = {
    **ABOUT,
    "source": "plimsoll",
    "detail-type": "AuditCompleted",
    "detail": {"run_id": "first", "status": "partial"},
}
ENDED = {
    **ABOUT,
    "source": "aws.states",
    "detail-type": "Step Functions Execution Status Change",
    "detail": {"name": NAME, "status": "SUCCEEDED", "input": "{}", "output": None, "stopDate": 1551225151881},
}


@pytest.fixture
def given(account, slack):
    """The environment of the functions, with the app's secret."""
    secret = f"slack-{os.urandom(4).hex()}"
    written = json.dumps({"signing_secret": "signs", "bot_token": slack.token})
    account.client("secretsmanager").create_secret(Name=secret, SecretString=written)
    environment = {
        **account.organization.environment,
        "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
        "PLIMSOLL_SLACK_SECRET": secret,
    }
    with patch.dict(os.environ, environment):
        entry_point.renew()
        yield environment
    entry_point.renew()


def told_by(service, slack):
    """The functions are given this service, and this Slack."""
    there = replace(service, settings=Settings(slack_api_url=slack.api_url), pause=lambda _seconds: None)
    return patch.object(entry_point, "service", lambda _more: there)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    return audited_anew(tmp_path_factory.mktemp("audited"), given=two_accounts()).service


@pytest.fixture
def run(audited, tmp_path):
    """A service that has audited, with a store of its own."""
    shutil.copytree(Path(audited.root), tmp_path / "store")
    return replace(audited, store=FolderStore(tmp_path / "store"), claims=MemoryClaims())


def test_a_run_is_told_once_however_often_its_event_comes(run, given, slack, capsys, caplog):
    with told_by(run, slack):
        once, again = (ask(slack_report, REPORTED, Context(remaining_ms=900_000)) for _ in range(2))
    assert once == again
    assert (once["channels"], once["busy"], once["troubles"]) == ([CHANNEL], False, [])
    assert len(slack.there.in_channel()) == 1
    assert sorted(file.name for file in slack.there.files.values()) == ["roofline.png", "savings.png"]
    assert all(file.data.startswith(b"\x89PNG") for file in slack.there.files.values())
    logged = capsys.readouterr()
    assert slack.token not in logged.out + logged.err + caplog.text


@dataclass(frozen=True, kw_only=True)
class Ending(Context):
    """A call whose time is nearly over."""

    remaining_ms: int = field(default=90_000)


def test_a_run_for_which_there_is_no_time_is_left_to_the_next_try(run, given, slack):
    with told_by(run, slack):
        with pytest.raises(OutOfTime):
            ask(slack_report, REPORTED, Ending())
        assert ask(slack_report, REPORTED, Context(remaining_ms=900_000))["channels"] == [CHANNEL]


def test_a_channel_that_cannot_be_told_fails_the_function_and_leaves_no_secret_in_the_log(
    run, given, slack, capsys, caplog
):
    slack.there.elsewhere = dict(slack.there.channels)
    slack.there.channels.clear()
    with told_by(run, slack), pytest.raises(CloudError, match="/invite @plimsoll"):
        ask(slack_report, REPORTED, Context(remaining_ms=900_000))
    logged = capsys.readouterr()
    assert "/invite @plimsoll" in caplog.text
    assert slack.token not in logged.out + logged.err + caplog.text


@pytest.fixture
def worse(tmp_path):
    """A service of which a pass has taken a change back, and the event of it."""
    world = Changing(tmp_path, slack=slack_config())
    world.judge.told = {"vol-0001": a_verdict("worse", is_direct=True, stopped_minutes=40.0)}
    world.say("ada", say="approve")
    while not world.events:
        world.execute()
        world.clock.pause(600)
    (detail,) = world.events
    event = {**ABOUT, "source": "plimsoll", "detail-type": "ChangesProgressed", "detail": detail}
    return world.service, event


def test_a_pass_that_takes_a_change_back_is_one_message_however_often_its_event_comes(worse, given, slack):
    service, event = worse
    with told_by(service, slack):
        once, again = (ask(slack_changes, event, Context(remaining_ms=900_000)) for _ in range(2))
    assert once == again == {"id": event["detail"]["id"], "channels": [CHANNEL], "busy": False}
    (message,) = slack.there.in_channel()
    assert "vol-0001 goes back" in text_of({"blocks": message.blocks})


def test_news_for_which_there_is_no_time_are_left_to_the_next_try(worse, given, slack):
    service, event = worse
    with told_by(service, slack):
        with pytest.raises(OutOfTime, match="before all of the news run-1-"):
            ask(slack_changes, event, Ending())
        assert ask(slack_changes, event, Context(remaining_ms=900_000))["channels"] == [CHANNEL]


@pytest.mark.parametrize("event", [{}, {"detail": {}}, {"detail": {"run_id": "../x"}}, {"detail": {"run_id": 7}}])
def test_an_event_without_a_run_is_refused(event, run, given, slack):
    with told_by(run, slack), pytest.raises(BadInput, match="detail"):
        ask(slack_report, event)


@pytest.fixture
def validated(tmp_path, slack):
    """A validation that was asked for in a thread, and has ended."""
    stepping = Stepping(lab=Lab(tmp_path))
    ts = slack.there.stamp()
    slack.there.messages.append(Message(channel=CHANNEL, ts=ts, text="the report", blocks=[]))
    asked = SlackRequest(
        id="0a1b2c3d", team=TEAM, user=MEMBER, do="validate", volume="vol-1", channel=CHANNEL, thread=ts
    )
    stepping.service.store.put(asked_key(NAME), asked.model_dump_json().encode())
    stepping.validate(NAME)
    return stepping.service, ts


def test_who_asked_is_answered_once_however_often_the_event_comes(validated, given, slack):
    service, thread = validated
    with told_by(service, slack):
        assert ask(slack_answer, ENDED) == ask(slack_answer, ENDED) == {"validation": NAME, "posted": True}
    (answer,) = slack.there.in_thread(thread)
    assert answer.text.startswith("Passed: ")


def test_an_answer_that_slack_refused_is_given_by_the_next_try(validated, given, slack):
    service, thread = validated
    slack.fail("chat.postMessage", error="is_archived")
    with told_by(service, slack):
        with pytest.raises(CloudError, match="the channel is archived"):
            ask(slack_answer, ENDED)
        assert ask(slack_answer, ENDED)["posted"]
    assert len(slack.there.in_thread(thread)) == 1


def test_an_execution_that_nobody_asked_for_in_slack_tells_nobody(tmp_path, given, slack):
    with told_by(Stepping(lab=Lab(tmp_path)).service, slack):
        assert ask(slack_answer, ENDED) == {"validation": NAME, "posted": False}
    assert slack.there.messages == []


def test_a_status_that_is_no_end_is_refused(tmp_path, given, slack):
    running = {**ENDED, "detail": {**ENDED["detail"], "status": "RUNNING"}}
    with told_by(Stepping(lab=Lab(tmp_path)).service, slack), pytest.raises(BadInput, match=r"detail\.status"):
        ask(slack_answer, running)
