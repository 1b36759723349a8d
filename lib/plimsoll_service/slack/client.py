"""The client of Slack's Web API: when it asks again, and what it says when Slack refuses."""

import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.web import SlackResponse

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
from plimsoll_service.slack.blocks.message import SlackMessage

CALL_ATTEMPTS: Final = 10
"""Attempts of one call, the first included."""

LONGEST_WAIT_S: Final = 120
"""The longest Retry-After that is waited for; Slack's own are mostly under a minute."""

ONCE: Final = frozenset({"chat.postMessage", "chat.postEphemeral", "files.completeUploadExternal", "views.open"})
"""Methods that would do their work twice if they were asked twice: Slack has no key of idempotency (November 2026)."""

HOSTS: Final = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
"""Slack's hosts for addresses that are secrets: incoming webhooks, and addresses for answers."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

_A_TOKEN: Final = re.compile(r"[!-~]+")
_IN_TROUBLE: Final = frozenset({500, 502, 503, 504})
_BACKOFF_S: Final = 0.5

_INVITE: Final = "invite the app to the channel: /invite @plimsoll"
_SIGN_IN: Final = (
    "give the bot token (xoxb-...) of an app that is installed in the workspace: PLIMSOLL_SLACK_BOT_TOKEN, or the "
    "secret of the deployed service"
)
_FIND_IT: Final = (
    "there is no such channel, or it is private and the app is not in it: give its id (at the foot of the channel's "
    f"details) and {_INVITE}"
)
_ADMINS: Final = "the workspace's settings forbid it to the app: ask its administrators, or choose another channel"
_FAULT: Final = "this is a bug in Plimsoll: please report it with this message"
_AGAIN: Final = "press or ask again: Slack waits 3 seconds for a dialog"
_LATER: Final = "look at https://slack-status.com and try later"
_FULL: Final = "too many messages for the workspace; try later"
_UNKNOWN: Final = "https://docs.slack.dev/reference/methods says what it means"

_REMEDIES: Final[Mapping[str, tuple[type[CloudError], str]]] = {
    "not_in_channel": (AccessDenied, _INVITE),
    "channel_not_found": (AccessDenied, _FIND_IT),
    "is_archived": (AccessDenied, "the channel is archived: choose another"),
    "no_such_subteam": (
        AccessDenied,
        "there is no such user group: correct user_groups in the service's configuration",
    ),
    **dict.fromkeys(
        (
            "restricted_action",
            "restricted_action_read_only_channel",
            "restricted_action_thread_locked",
            "restricted_action_thread_only_channel",
            "ekm_access_denied",
            "access_denied",
            "team_access_not_granted",
            "file_uploads_disabled",
        ),
        (AccessDenied, _ADMINS),
    ),
    **dict.fromkeys(
        ("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"),
        (BadCredentials, _SIGN_IN),
    ),
    **dict.fromkeys(
        ("invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text"),
        (Unexpected, _FAULT),
    ),
    "invalid_arguments": (Unexpected, _FAULT),
    **dict.fromkeys(
        ("expired_trigger_id", "exchanged_trigger_id", "trigger_expired", "trigger_exchanged"), (Unexpected, _AGAIN)
    ),
    **dict.fromkeys(("ratelimited", "rate_limited", "message_limit_exceeded"), (Throttled, _FULL)),
    **dict.fromkeys(("internal_error", "fatal_error", "service_unavailable", "request_timeout"), (Unanswered, _LATER)),
}
"""Slack's codes: what they are, and the remedy. After the last ones some of the work may be done, as Slack says."""

_MOST_DETAILS: Final = 3

SILENT_LOGGER: Final = logging.Logger("slack_sdk, silenced", logging.CRITICAL + 1)
"""The SDK's own log would tell webhook URLs, which are secrets, and every message; what goes wrong is raised."""


def slack_client(
    token: str, *, api_url: str, timeout_s: int = 10, pause: Callable[[float], None] = time.sleep
) -> WebClient:
    """A client that asks again if that is safe (see SlackRetries), and waits in between by `pause`.

    Raises BadInput for an address that would carry the token unencrypted, and for a malformed token, without telling
    it.
    """
    if _A_TOKEN.fullmatch(token) is None:
        raise BadInput(
            "Slack's token holds blanks or other characters that no token has: copy it again from the app's page."
        )
    if not is_loopback(api_url) and urlsplit(api_url).scheme != "https":
        raise BadInput(f"Slack's address is {api_url}: the token goes over https alone; set PLIMSOLL_SLACK_API_URL.")
    return WebClient(
        token, base_url=api_url, timeout=timeout_s, retry_handlers=[SlackRetries(pause=pause)], logger=SILENT_LOGGER
    )


def say(
    client: WebClient,
    message: SlackMessage,
    channel: str,
    thread: str | None = None,
    *,
    to: str,
    metadata: dict[str, Any] | None = None,
) -> SlackResponse:
    """Posts a message and returns Slack's answer, with its `channel` and `ts`; addresses in it show no preview.

    `channel` may be a person's id, for them alone. `to` completes "Slack refused to ...". Raises CloudError if it does.
    """
    with slack_errors(to):
        return client.chat_postMessage(
            channel=channel,
            thread_ts=thread,
            metadata=metadata,
            unfurl_links=False,
            unfurl_media=False,
            **message.payload,
        )


def is_loopback(url: str) -> bool:
    """True for an address of this machine."""
    return urlsplit(url).hostname in LOOPBACK


def is_hook(url: str, api_url: str) -> bool:
    """True for Slack's own addresses for messages, and for this machine's if Slack's API is on it too."""
    try:
        parts = urlsplit(url)
        ours = parts.scheme == "https" and parts.netloc in HOSTS
        return ours or (is_loopback(url) and is_loopback(api_url))
    except ValueError:  # an address that is none
        return False


class SlackRetries(RetryHandler):
    """Asks again after a call that had no effect, and after any other that may be made twice.

    No effect: the answer 429, after the seconds that it names; and a connection on which the request could not be sent
    as a whole. Not sure: a connection lost, or silent, while the answer was awaited, and Slack's own trouble (5xx):
    then only the methods are asked again that are not among ONCE. The SDK's handlers know no such difference, and its
    default one would post a message twice whose answer was lost.
    """

    def __init__(self, *, once: bool = False, pause: Callable[[float], None] = time.sleep) -> None:
        """`once`: every call would do its work twice, as a webhook's messages."""
        super().__init__(max_retry_count=CALL_ATTEMPTS - 1)
        self._once, self._pause = once, pause

    def _can_retry(
        self,
        *,
        state: RetryState,  # noqa: ARG002  # the SDK's signature
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        asked_s = _requested_wait_s(response)
        if asked_s is not None:
            return asked_s <= LONGEST_WAIT_S
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
        """Waits as long as Slack asks for, else twice as long each time; and a random part of a tenth."""
        state.next_attempt_requested = True
        asked_s = _requested_wait_s(response) or _BACKOFF_S * 2**state.current_attempt
        apart = 1 + random.random() / 10  # noqa: S311  # apart from others that wait, and no secret
        self._pause(asked_s * apart)
        state.increment_current_attempt()


def _requested_wait_s(response: HttpResponse | None) -> float | None:
    """The seconds of Retry-After, 1 if it is missing or no number. None for an answer that does not ask to wait."""
    if response is None or response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    header = next((value for name, value in response.headers.items() if name.lower() == "retry-after"), ["1"])
    try:
        return float(header[0])
    except ValueError:
        return 1.0


@contextmanager
def slack_errors(what: str) -> Iterator[None]:
    """Raises any failure of Slack inside the block as a CloudError; `what` completes "Slack refused to ...".

    Unanswered if Slack may have done it, Unreachable if it cannot have.
    """
    try:
        yield
    except SlackApiError as error:
        raise _refusal_error(what, error) from error
    except (SlackClientError, HTTPException, OSError) as error:
        raise _connection_error(what, error) from error


def is_unsent(error: BaseException | None) -> bool:
    """True if a request cannot have been received as a whole: urllib wraps errors until all is sent."""
    return isinstance(error, URLError) and not isinstance(error, HTTPError)


def _refusal_error(what: str, error: SlackApiError) -> CloudError:
    """The error of Slack's code, with the missing scope, or Slack's remarks on the payload."""
    response = error.response
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unanswered(
            f"Slack failed to {what} (HTTP {response.status_code}), and may or may not have done it: {_LATER}."
        )
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        waited = response.headers.get("Retry-After", "some")
        return Throttled(f"Slack refused to {what}: it accepts no message for {waited} more seconds; try later.")
    content: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    code = str(content.get("error", "no reason given"))
    details = [str(message) for message in (content.get("response_metadata") or {}).get("messages", ())][:_MOST_DETAILS]
    refusal = f"Slack refused to {what}: {code}" + (f" ({'; '.join(details)})" if details else "")
    if code == "missing_scope":
        scope = content.get("needed") or "that it needs"
        return AccessDenied(f"{refusal}: add the scope {scope} to the app (its manifest has all) and install it again.")
    kind, remedy = _REMEDIES.get(code, (Unexpected, _UNKNOWN))
    if kind is Unanswered:
        refusal = f"Slack failed to {what} ({code}), and may or may not have done it"
    return kind(f"{refusal}: {remedy}.")


def _connection_error(what: str, error: Exception) -> CloudError:
    """The error of a connection, or of an answer by another server than the API's (uploads)."""
    if isinstance(error, HTTPError):
        with error:
            return Unanswered(f"Slack failed to {what} (HTTP {error.code}): {_LATER}.")
    if is_unsent(error):
        why = getattr(error, "reason", error)
        return Unreachable(f"cannot reach Slack to {what} ({why}): check the network and the proxy.")
    why = type(error).__name__
    return Unanswered(f"Slack did not answer when asked to {what} ({why}), and may or may not have done it.")
