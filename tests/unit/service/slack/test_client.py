"""The client: when it asks again, what it says when Slack refuses, and that it keeps its token to itself."""

import logging
import traceback

import pytest

from plimsoll.model.errors import (
    AccessDenied,
    BadCredentials,
    BadInput,
    CloudError,
    Throttled,
    Unanswered,
    Unexpected,
    Unreachable,
)
from plimsoll_service.slack.client import CALL_ATTEMPTS, slack_client, slack_errors
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL, GROUP, VirtualClock


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def slack(clock):
    with FakeSlack(now=clock.now) as slack:
        yield slack


@pytest.fixture
def client(slack, clock):
    return slack_client(slack.token, api_url=slack.api_url, timeout_s=1, pause=clock.pause)


@pytest.mark.parametrize("trouble", [{"drop": "before"}, {"drop": "after"}, {"status": 502}, {"retry_after_s": 7}])
def test_what_does_no_harm_twice_is_asked_again(slack, client, trouble):
    slack.fail("usergroups.users.list", times=3, **trouble)
    assert client.usergroups_users_list(usergroup=GROUP)["ok"]
    assert slack.asked["usergroups.users.list"] == 4


@pytest.mark.parametrize("trouble", [{"drop": "before"}, {"drop": "after"}, {"status": 502}])
def test_a_message_is_asked_for_once_alone(slack, client, trouble):
    slack.fail("chat.postMessage", **trouble)
    with pytest.raises(Unanswered), slack_errors("post"):
        client.chat_postMessage(channel=CHANNEL, text="once")
    assert slack.asked["chat.postMessage"] == 1


def test_a_message_that_came_too_early_is_sent_after_the_wait_that_slack_names(slack, client, clock):
    slack.fail("chat.postMessage", retry_after_s=20, times=2)
    assert client.chat_postMessage(channel=CHANNEL, text="late")["ok"]
    assert 40 <= clock.paused_s < 45


def test_patience_ends(slack, client):
    slack.fail("chat.postMessage", retry_after_s=1, times=100)
    with pytest.raises(Throttled, match="try later"), slack_errors("post"):
        client.chat_postMessage(channel=CHANNEL, text="never")
    assert slack.asked["chat.postMessage"] == CALL_ATTEMPTS


@pytest.mark.parametrize(
    ("code", "kind", "remedy"),
    [
        ("not_in_channel", AccessDenied, "/invite @plimsoll"),
        ("is_archived", AccessDenied, "choose another"),
        ("restricted_action", AccessDenied, "administrators"),
        ("account_inactive", BadCredentials, "PLIMSOLL_SLACK_BOT_TOKEN"),
        ("msg_blocks_too_long", Unexpected, "report it"),
        ("expired_trigger_id", Unexpected, "press or ask again"),
        ("message_limit_exceeded", Throttled, "try later"),
        ("fatal_error", Unanswered, "may or may not have done it"),
        ("brand_new_refusal", Unexpected, "docs.slack.dev"),
    ],
)
def test_a_refusal_names_what_was_asked_slacks_word_and_the_remedy(slack, client, code, kind, remedy):
    slack.fail("chat.postMessage", error=code)
    with pytest.raises(kind) as caught, slack_errors("greet the channel"):
        client.chat_postMessage(channel=CHANNEL, text="hello")
    assert type(caught.value) is kind
    for part in ("greet the channel", code, remedy):
        assert part in str(caught.value)


def test_a_missing_scope_is_named(slack, client):
    slack.scopes.clear()
    with pytest.raises(AccessDenied, match="add the scope usergroups:read"), slack_errors("list the members"):
        client.usergroups_users_list(usergroup=GROUP)


def test_what_slack_says_of_blocks_is_told(client):
    with pytest.raises(Unexpected, match=r"invalid_blocks \(.*blocks\[0\]"), slack_errors("post"):
        client.chat_postMessage(channel=CHANNEL, text="x", blocks=[{"type": "unheard-of"}])


def test_nobody_there_is_told_as_such(clock):
    client = slack_client("xoxb-1", api_url="http://127.0.0.1:9/api/", pause=clock.pause)
    with pytest.raises(Unreachable, match="Connection refused") as caught, slack_errors("post"):
        client.chat_postMessage(channel=CHANNEL, text="x")
    assert not isinstance(caught.value, Unanswered)


@pytest.mark.parametrize("url", ["http://slack.com/api/", "http://127.0.0.1.example.com/api/", "ftp://127.0.0.2/api/"])
def test_the_token_goes_over_https_alone(url):
    with pytest.raises(BadInput, match="https"):
        slack_client("xoxb-1", api_url=url)


def test_what_cannot_be_a_token_is_not_told():
    with pytest.raises(BadInput) as caught:
        slack_client("xoxb-secret\nand more", api_url="https://slack.com/api/")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("trouble", [{"error": "invalid_auth"}, {"status": 500}, {"drop": "before"}, {"status": 403}])
def test_the_token_is_nowhere_in_what_is_logged_and_raised(slack, client, caplog, trouble):
    caplog.set_level(logging.DEBUG)
    slack.fail("chat.postMessage", **trouble)
    with pytest.raises(CloudError) as caught, slack_errors("post"):
        client.chat_postMessage(channel=CHANNEL, text="x")
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    assert slack.token not in told
