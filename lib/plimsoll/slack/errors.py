"""What Slack refuses, as Plimsoll's errors: each names what was asked for, Slack's word for it, and the remedy."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError

from slack_sdk.errors import SlackApiError, SlackClientError

from plimsoll.domain.errors import (
    AccessDenied,
    BadCredentials,
    CloudError,
    Throttled,
    Unanswered,
    Unexpected,
    Unreachable,
)

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
_FAULT: Final = "this is a fault of Plimsoll, please report it with these words"
_AGAIN: Final = "press or ask again: Slack waits 3 seconds for a dialog"
_LATER: Final = "look at https://slack-status.com and try later"
_TOO_MANY: Final = "too many messages for the workspace; try later"
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
    **dict.fromkeys(("ratelimited", "rate_limited", "message_limit_exceeded"), (Throttled, _TOO_MANY)),
    **dict.fromkeys(("internal_error", "fatal_error", "service_unavailable", "request_timeout"), (Unanswered, _LATER)),
}
"""Slack's codes: what they are, and the remedy. After the last ones some of the work may be done, as Slack says."""

_MOST_DETAILS: Final = 3
_SERVER_ERROR: Final = 500


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Raises what goes wrong with Slack inside the block as a CloudError; `what` completes "Slack refused to ...".

    Unanswered where it is not known whether Slack did it, Unreachable where it cannot have done it.
    """
    try:
        yield
    except SlackApiError as error:
        raise _refused(what, error) from error
    except (SlackClientError, HTTPException, OSError) as error:
        raise _lost(what, error) from error


def refused(what: str, code: str, *, needed: str = "", details: str = "") -> CloudError:
    """The error of Slack's code; `needed` is the scope that is missing, `details` what Slack says of the payload."""
    told = f"Slack refused to {what}: {code}{details}"
    if code == "missing_scope":
        scope = needed or "that it needs"
        return AccessDenied(f"{told}: add the scope {scope} to the app (its manifest has all) and install it again.")
    kind, remedy = _REMEDIES.get(code, (Unexpected, _UNKNOWN))
    if kind is Unanswered:
        told = f"Slack failed to {what} ({code}), so that it is not known whether it did"
    return kind(f"{told}: {remedy}.")


def is_unsent(error: BaseException | None) -> bool:
    """Whether a request cannot have been received as a whole: urllib wraps what fails until all is sent."""
    return isinstance(error, URLError) and not isinstance(error, HTTPError)


def _refused(what: str, error: SlackApiError) -> CloudError:
    response = error.response
    if response.status_code >= _SERVER_ERROR:
        return Unanswered(
            f"Slack failed to {what} (HTTP {response.status_code}), so that it is not known whether it did: {_LATER}."
        )
    found: Mapping[str, Any] = response.data if isinstance(response.data, dict) else {}
    if response.status_code == 429:
        waited = response.headers.get("Retry-After", "some")
        return Throttled(f"Slack refused to {what}: it wants {waited} more seconds of silence; try later.")
    details = [str(one) for one in (found.get("response_metadata") or {}).get("messages", ())][:_MOST_DETAILS]
    return refused(
        what,
        str(found.get("error", "no reason given")),
        needed=str(found.get("needed", "")),
        details=f" ({'; '.join(details)})" if details else "",
    )


def _lost(what: str, error: Exception) -> CloudError:
    """The error of a connection; an answer of another server than the API's (uploads) is one of these as well."""
    if isinstance(error, HTTPError):
        with error:
            return Unanswered(f"Slack failed to {what} (HTTP {error.code}): {_LATER}.")
    why = type(error).__name__ if not is_unsent(error) else str(getattr(error, "reason", error))
    if is_unsent(error):
        return Unreachable(f"cannot reach Slack to {what} ({why}): check the network and the proxy.")
    return Unanswered(f"Slack did not answer when asked to {what} ({why}), so that it is not known whether it did.")
