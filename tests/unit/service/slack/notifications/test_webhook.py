"""A webhook: one message, once, and a URL that nobody is told."""

import logging
import traceback

import pytest

from plimsoll.model.errors import AccessDenied, BadInput, CloudError, PlimsollError, Throttled, Unanswered
from plimsoll_service.slack.notifications.webhook import Webhook, post_by_webhook
from tests.slack.server import WEBHOOK, FakeSlack
from tests.slack.workspace import VirtualClock
from tests.unit.service.slack.notifications.conversations import KeptInMemory, a_message

URL = "https://hooks.slack.com/services/T0TEAM/B0HOOK/aSecretOf24Letters"
PUBLIC = "https://slack.com/api/"
HERE = "http://127.0.0.1:1/api/"


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def slack(clock):
    with FakeSlack(now=clock.now) as slack:
        yield slack


def test_a_message_arrives_once(slack, clock):
    ledger, webhook = KeptInMemory(), Webhook.from_url(slack.webhook_url, slack.api_url)
    for _ in range(2):
        post_by_webhook(a_message(), webhook, ledger, pause=clock.pause)
    (hooked,) = slack.there.hooked
    assert hooked["text"] == a_message().text
    assert hooked["blocks"] == [dict(block) for block in a_message().blocks]


@pytest.mark.parametrize("trouble", [{"drop": "after"}, {"drop": "before"}, {"status": 500}])
def test_a_message_whose_answer_is_lost_is_never_sent_twice(slack, clock, trouble):
    ledger, webhook = KeptInMemory(), Webhook.from_url(slack.webhook_url, slack.api_url)
    slack.fail(WEBHOOK, **trouble)
    for _ in range(2):
        with pytest.raises(Unanswered, match="--again"):
            post_by_webhook(a_message(), webhook, ledger, pause=clock.pause)
    assert slack.asked[WEBHOOK] == 1


def test_what_comes_too_early_waits_and_patience_ends(slack, clock):
    webhook = Webhook.from_url(slack.webhook_url, slack.api_url)
    slack.fail(WEBHOOK, retry_after_s=9)
    post_by_webhook(a_message(), webhook, KeptInMemory(), pause=clock.pause)
    assert 9 <= clock.paused_s < 11
    slack.fail(WEBHOOK, retry_after_s=9, times=100)
    with pytest.raises(Throttled):
        post_by_webhook(a_message(), webhook, KeptInMemory(), pause=clock.pause)


def test_a_webhook_that_is_no_more_is_told_and_tried_anew(slack, clock):
    ledger = KeptInMemory()
    gone = Webhook.from_url(slack.webhook_url + "x", slack.api_url)
    with pytest.raises(AccessDenied, match="copy it again"):
        post_by_webhook(a_message(), gone, ledger, pause=clock.pause)
    post_by_webhook(a_message(), Webhook.from_url(slack.webhook_url, slack.api_url), ledger, pause=clock.pause)
    assert len(slack.there.hooked) == 1


@pytest.mark.parametrize(
    ("url", "api_url"),
    [
        ("https://hooks.slack.com.example.com/services/T0TEAM/B0HOOK/secret", PUBLIC),
        ("http://hooks.slack.com/services/T0TEAM/B0HOOK/secret", PUBLIC),
        ("https://user@hooks.slack.com/services/T0TEAM/B0HOOK/secret", PUBLIC),
        ("https://hooks.slack.com:444/services/T0TEAM/B0HOOK/secret", PUBLIC),
        ("https://example.com/services/T0TEAM/B0HOOK/secret", HERE),
        ("http://127.0.0.1:1/services/T0TEAM/B0HOOK/secret", PUBLIC),
        ("https://hooks.slack.com/services/T0TEAM/B0HOOK/../secret", PUBLIC),
        ("https://hooks.slack.com/triggers/T0TEAM/1/secret", PUBLIC),
        ("https://hooks.slack.com/services/T0TEAM/secret", PUBLIC),
        ("", PUBLIC),
    ],
)
def test_a_url_that_is_none_of_slacks_is_refused_and_not_told(url, api_url):
    with pytest.raises(BadInput, match=r"hooks\.slack\.com") as caught:
        Webhook.from_url(url, api_url)
    assert "secret" not in str(caught.value)


def test_a_webhook_tells_its_id_and_never_its_url():
    webhook = Webhook.from_url(URL + "\n", PUBLIC)
    assert webhook.channel == "webhook-B0HOOK"
    assert "aSecretOf24Letters" not in repr(webhook)


@pytest.mark.parametrize("trouble", [{"status": 500}, {"status": 400}, {"drop": "before"}, {"retry_after_s": 500}])
def test_the_url_is_nowhere_in_what_is_logged_and_raised(slack, clock, caplog, trouble):
    caplog.set_level(logging.DEBUG)
    slack.fail(WEBHOOK, **trouble)
    with pytest.raises(CloudError) as caught:
        post_by_webhook(
            a_message(), Webhook.from_url(slack.webhook_url, slack.api_url), KeptInMemory(), pause=clock.pause
        )
    assert isinstance(caught.value, PlimsollError)
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    assert "webhook-secret" not in told
