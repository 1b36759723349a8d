"""The client of Slack's Web API: when it asks again, and what it says when Slack refuses."""

import logging
import random
import re
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.web import SlackResponse

from plimsoll.domain.errors import BadInput
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.errors import asking, is_unsent

ATTEMPTS: Final = 10
"""Attempts of one call, the first included."""

LONGEST_WAIT_S: Final = 120
"""The longest Retry-After that is waited for; Slack's own are mostly under a minute."""

ONCE: Final = frozenset({"chat.postMessage", "chat.postEphemeral", "files.completeUploadExternal", "views.open"})
"""Methods that would do their work twice if they were asked twice: Slack has no key of idempotency (November 2026)."""

HOSTS: Final = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
"""Where Slack takes messages by an address that is a secret: incoming webhooks, and addresses for answers."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_A_TOKEN: Final = re.compile(r"[!-~]+")
_TOO_MANY: Final = 429
_IN_TROUBLE: Final = frozenset({500, 502, 503, 504})
_BACKOFF_S: Final = 0.5

SILENT: Final = logging.Logger("slack_sdk, silenced", logging.CRITICAL + 1)
"""The SDK's own log would tell webhook URLs, which are secrets, and every message; what goes wrong is raised."""


def slack_client(
    token: str, *, api_url: str, timeout_s: int = 10, pause: Callable[[float], None] = time.sleep
) -> WebClient:
    """A client that asks again where that is safe (see Patience), and waits in between by `pause`.

    BadInput for an address that would carry the token unencrypted, and for what cannot be a token, without telling it.
    """
    if _A_TOKEN.fullmatch(token) is None:
        raise BadInput("Slack's token holds blanks or signs that none has: copy it again from the app's page.")
    if not is_loopback(api_url) and urlsplit(api_url).scheme != "https":
        raise BadInput(f"Slack's address is {api_url}: the token goes over https alone; set PLIMSOLL_SLACK_API_URL.")
    return WebClient(token, base_url=api_url, timeout=timeout_s, retry_handlers=[Patience(pause=pause)], logger=SILENT)


def say(
    client: WebClient,
    message: Message,
    channel: str,
    thread: str | None = None,
    *,
    to: str,
    metadata: dict[str, Any] | None = None,
) -> SlackResponse:
    """Posts a message and gives Slack's answer, with its `channel` and `ts`; addresses in it show no preview.

    `channel` may be a person's id, for them alone. `to` says what for and completes "Slack refused to ...": CloudError
    where it does.
    """
    with asking(to):
        return client.chat_postMessage(
            channel=channel,
            thread_ts=thread,
            metadata=metadata,
            unfurl_links=False,
            unfurl_media=False,
            **message.payload,
        )


def is_loopback(url: str) -> bool:
    """Whether an address is of this machine alone."""
    return urlsplit(url).hostname in LOOPBACK


def is_hook(url: str, api_url: str) -> bool:
    """Whether messages may go to an address: one of Slack's, or of this machine where Slack's API is one as well."""
    try:
        parts = urlsplit(url)
        ours = parts.scheme == "https" and parts.netloc in HOSTS
        return ours or (is_loopback(url) and is_loopback(api_url))
    except ValueError:  # an address that is none
        return False


class Patience(RetryHandler):
    """Asks again after what is sure to have had no effect, and after the rest where asking twice does no harm.

    Sure: the answer 429, after the seconds that it names; and a connection on which the request could not be sent as a
    whole. Not sure: a connection lost, or silent, while the answer was awaited, and Slack's own trouble (5xx): then
    only the methods are asked again that are not among ONCE. The SDK's handlers know no such difference, and its
    default one would post a message twice whose answer was lost.
    """

    def __init__(self, *, once: bool = False, pause: Callable[[float], None] = time.sleep) -> None:
        """`once`: everything that is asked would do its work twice, as a webhook's messages."""
        super().__init__(max_retry_count=ATTEMPTS - 1)
        self._once, self._pause = once, pause

    def _can_retry(
        self,
        *,
        state: RetryState,  # noqa: ARG002  # the SDK's signature
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if response is not None and response.status_code == _TOO_MANY:
            return _asked_to_wait_s(response) <= LONGEST_WAIT_S
        if is_unsent(error):
            return True
        lost = isinstance(error, (OSError, HTTPException)) and response is None
        in_trouble = response is not None and response.status_code in _IN_TROUBLE
        once = self._once or urlsplit(request.url).path.rpartition("/")[2] in ONCE
        return (lost or in_trouble) and not once

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,  # noqa: ARG002  # the SDK's signature
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002  # likewise
    ) -> None:
        """Waits: as long as Slack asks for, else twice as long each time; and some hundredths that differ."""
        state.next_attempt_requested = True
        asked_s = _asked_to_wait_s(response) if response is not None and response.status_code == _TOO_MANY else 0.0
        apart = 1 + random.random() / 10  # noqa: S311  # apart from others that wait, and no secret
        self._pause((asked_s or _BACKOFF_S * 2**state.current_attempt) * apart)
        state.increment_current_attempt()


def _asked_to_wait_s(response: HttpResponse) -> float:
    """The seconds of Retry-After; 1 where it is missing or no number."""
    found = next((value for name, value in response.headers.items() if name.lower() == "retry-after"), ["1"])
    try:
        return float(found[0])
    except ValueError:
        return 1.0
