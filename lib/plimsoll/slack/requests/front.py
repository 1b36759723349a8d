"""The front: every request of Slack is checked, answered within 3 seconds, and handed to the worker.

Slack waits 3 seconds and then shows an error; a trigger that opens a view lasts as long
(docs.slack.dev/interactivity/handling-user-interaction, November 2026). So nothing is read or decided here. Bolt's
lazy listeners are not used: they call the very function that is open to the internet, which would need the rights of
every action.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final

from slack_bolt import Ack, App, BoltContext, BoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.webhook import WebhookClient

from plimsoll.domain.errors import CloudError, PlimsollError, Unanswered
from plimsoll.service.slack_config import SlackConfig
from plimsoll.slack.actions.asked import Asked
from plimsoll.slack.actions.dialog import notice
from plimsoll.slack.actions.registry import ACTIONS
from plimsoll.slack.blocks.elements import OPEN_REPORT
from plimsoll.slack.client import SILENT
from plimsoll.slack.errors import asking
from plimsoll.slack.requests.interactions import Unclear, asked_by_button, asked_by_dialog, asked_by_words, origin_of
from plimsoll.slack.requests.payloads import COMMAND, Pressed, SslCheck, Submitted, Typed, admit, parsed
from plimsoll.slack.requests.signed import HttpRequest, check_replay, check_shape, check_signature, content_of

if TYPE_CHECKING:
    from plimsoll.ports import Claims  # the ports bring numpy along, for which there is no time here

HandOver = Callable[[Asked], None]
"""Hands a request to the worker; CloudError, which was logged, where that cannot be."""

WAIT_S: Final = 2
"""How long Slack may take for a call. Nothing is tried again: its trigger would be over."""

NOBODY: Final = (
    "Nobody may use Plimsoll from Slack yet: the service's configuration names no user group whose members may "
    "(slack.user_groups; PLIMSOLL_DEPLOY_SLACK__USER_GROUPS where it is deployed)."
)
LOST: Final = "That did not get through, and nothing was done. Please try again; the service's log says why."
UNSURE: Final = (
    "It is not known whether that got through. Please wait some minutes for an answer, and try again if none comes; "
    "the service's log says why."
)
NO_DIALOG: Final = "Slack did not open the dialog. Please press the button again."
TAKEN: Final = "I am on it: the answer comes here."

LOG: Final = logging.getLogger("plimsoll.slack")
"""What goes wrong with Slack while somebody is answered; the function decides where it goes."""

_ANY: Final = re.compile(".*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What the front needs. Secrets and configuration are read once the checks before them are passed."""

    signing_secret: Callable[[], str]
    bot_token: Callable[[], str]
    config: Callable[[], SlackConfig | None]
    claims: "Claims"
    hand_over: HandOver
    api_url: str

    def answer(self, event: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """The answer to a request, as Lambda's function URL passes both on; Refused where a check fails."""
        request = HttpRequest.of(event)
        if request.is_ssl_check:
            return plain_response(HTTPStatus.OK)
        check_shape(request)
        check_signature(request, self.signing_secret(), now)
        check_replay(request, self.claims, now)
        content = content_of(request)
        sent, config = parsed(content), self.config()
        admit(sent, config, self.api_url)
        if isinstance(sent, SslCheck):
            return plain_response(HTTPStatus.OK)
        app = slack_app(self.bot_token(), self.api_url, self.hand_over, bool(config and config.user_groups))
        headers: dict[str, str | Sequence[str]] = {"content-type": "application/json"}
        found = app.dispatch(BoltRequest(body=json.dumps(content), headers=headers, context={"sent": sent}))
        return {"statusCode": found.status, "headers": found.first_headers(), "body": found.body}


def plain_response(status: HTTPStatus) -> dict[str, Any]:
    """An answer that says its status alone."""
    return {"statusCode": status.value, "headers": {"content-type": "text/plain"}, "body": status.phrase}


@lru_cache(maxsize=1)
def slack_app(token: str, api_url: str, hand_over: HandOver, may_act: bool) -> App:  # keys of the cache
    """Bolt's app with its listeners; `may_act`: whether anybody may act. A rotated token makes another app."""

    def authorized(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    listeners = _Listeners(hand_over=hand_over, may_act=may_act)
    app = App(
        name="slack_bolt.plimsoll",  # of a logger, whose level Bolt sets
        logger=SILENT,  # it would log whole requests; what goes wrong is raised
        client=WebClient(base_url=api_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT),
        authorize=authorized,  # a token of its own makes Bolt ask Slack about it first
        process_before_response=True,
        request_verification_enabled=False,  # done before, over the bytes that came
    )
    app.error(_raise)
    app.action(_ANY)(listeners.pressed)
    app.view(_ANY)(listeners.submitted)
    app.command(COMMAND)(listeners.typed)
    return app


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listeners:
    """What Bolt calls; `context["sent"]` is the payload that was checked."""

    hand_over: HandOver
    may_act: bool

    def pressed(self, ack: Ack, context: BoltContext, client: WebClient) -> None:
        """A button or a line of the menu: its dialog is opened, or its request handed over."""
        press: Pressed = context["sent"]
        if press.name == OPEN_REPORT:
            ack()
            return
        action, origin = ACTIONS[press.name], origin_of(press)
        ack()
        if not self.may_act:
            _tell(press.response_url, NOBODY)
        elif action.dialog is not None:
            if _opened(client, press.trigger_id, action.dialog(origin)) is None:
                _tell(press.response_url, NO_DIALOG)
        else:
            asked = _with_view(asked_by_button(press), client, press.trigger_id)
            trouble = self._handed_over(asked)
            if trouble is not None:
                _tell_trouble(trouble, client, asked)

    def submitted(self, ack: Ack, context: BoltContext) -> None:
        """A dialog: its request is handed over; the dialog shows why where that cannot be."""
        sent: Submitted = context["sent"]
        asked = asked_by_dialog(sent)
        trouble = self._handed_over(asked) if self.may_act else NOBODY
        if trouble is None:
            ack()
        else:
            ack(response_action="update", view=notice(trouble))

    def typed(self, ack: Ack, context: BoltContext, client: WebClient) -> None:
        """The command: unclear words are answered at once, a request is handed over."""
        typed: Typed = context["sent"]
        asked = asked_by_words(typed)
        if isinstance(asked, Unclear):
            ack(asked.answer)
        elif not self.may_act:
            ack(NOBODY)
        else:
            asked = _with_view(asked, client, typed.trigger_id)
            trouble = self._handed_over(asked)
            ack(trouble or TAKEN if asked.view is None else "")
            if trouble is not None and asked.view is not None:
                _tell_trouble(trouble, client, asked)

    def _handed_over(self, asked: Asked) -> str | None:
        """Hands a request over; returns what to tell the asker where that failed."""
        try:
            self.hand_over(asked)
        except Unanswered:
            return UNSURE
        except CloudError:
            return LOST
        return None


def _raise(error: Exception) -> None:
    raise error


def _with_view(asked: Asked, client: WebClient, trigger_id: str) -> Asked:
    """The request with an open view for its answer, where the action has one and Slack opens it."""
    action = ACTIONS[asked.do]
    if not action.reading:
        return asked
    volume_id = (asked.volume or "").rpartition("/")[2]
    view = notice(action.reading.format(volume_id=volume_id), action.label)
    return asked.model_copy(update={"view": _opened(client, trigger_id, view)})


def _opened(client: WebClient, trigger_id: str, view: dict[str, Any]) -> str | None:
    """The id of the view that was opened; None where Slack does not open it: the trigger's time may be over."""
    try:
        with asking("open a dialog"):
            return str(client.views_open(trigger_id=trigger_id, view=view)["view"]["id"])
    except PlimsollError as error:
        LOG.warning("%s", error)
        return None


def _tell_trouble(trouble: str, client: WebClient, asked: Asked) -> None:
    """Tells the asker what went wrong, in the view if there is one."""
    if asked.view is None:
        _tell(asked.response_url, trouble)
        return
    try:
        with asking("show in a dialog what went wrong"):
            client.views_update(view_id=asked.view, view=notice(trouble))
    except PlimsollError as error:
        LOG.warning("%s", error)


def _tell(response_url: str | None, text: str) -> None:
    """Tells the asker alone; the log says where Slack does not take it."""
    if response_url is None:
        LOG.warning("the asker was not told, because there is no address for that: %s", text)
        return
    client = WebhookClient(response_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT)
    try:
        status = client.send(text=text, response_type="ephemeral", replace_original=False).status_code
    except (SlackClientError, HTTPException, OSError) as error:
        LOG.warning("the asker was not told: %s", type(error).__name__)  # the error may hold the address, a secret
        return
    if status != HTTPStatus.OK:
        LOG.warning("the asker was not told: Slack answered %s", status)
