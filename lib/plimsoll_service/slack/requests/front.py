"""The front: every request of Slack is checked, answered within 3 seconds, and handed to the worker.

Slack waits 3 seconds and then shows an error; a trigger that opens a view lasts as long
(docs.slack.dev/interactivity/handling-user-interaction, November 2026). So nothing is read or decided here. Bolt is not
used: its middleware parses a body before it verifies it, and its lazy listeners call the very function that is open to
the internet, which would need the rights of every action.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final, assert_never

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.webhook import WebhookClient

from plimsoll.model.errors import CloudError, PlimsollError, Unanswered
from plimsoll_service.slack.actions.asked import SlackRequest, notice
from plimsoll_service.slack.actions.registry import ACTIONS
from plimsoll_service.slack.blocks.elements import OPEN_REPORT
from plimsoll_service.slack.client import SILENT_LOGGER, slack_errors
from plimsoll_service.slack.requests.payloads import (
    Pressed,
    Submitted,
    Typed,
    admit,
    button_request,
    command_request,
    dialog_request,
    origin_of,
    parse_payload,
)
from plimsoll_service.slack.requests.signed import HttpRequest, check_replay, check_shape, check_signature, content_of
from plimsoll_service.slack_config import SlackConfig

if TYPE_CHECKING:
    from plimsoll.ports import Claims  # the ports bring numpy along, for which there is no time here

HandOver = Callable[[SlackRequest], None]
"""Hands a request to the worker; CloudError, which was logged, where that cannot be."""

WAIT_S: Final = 2
"""The time that Slack may take for a call. Nothing is tried again: its trigger would be over."""

NOBODY: Final = (
    "Nobody may use Plimsoll from Slack yet: the service's configuration names no user group whose members may "
    "(slack.user_groups; PLIMSOLL_DEPLOY_SLACK__USER_GROUPS where it is deployed)."
)
LOST: Final = "The request did not get through, and nothing was done. Please try again; the service's log says why."
UNSURE: Final = (
    "The request may or may not have got through. Please wait some minutes for an answer, and try again if none comes; "
    "the service's log says why."
)
NO_DIALOG: Final = "Slack did not open the dialog. Please press the button again."
TAKEN: Final = "I am on it: the answer comes here."

LOG: Final = logging.getLogger("plimsoll_service.slack")
"""The log of failures to answer in Slack; the function decides where it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The parts of the front. Secrets and configuration are read once the checks before them are passed."""

    signing_secret: Callable[[], str]
    bot_token: Callable[[], str]
    config: Callable[[], SlackConfig | None]
    claims: "Claims"
    hand_over: HandOver
    api_url: str

    def answer(self, event: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """The answer to a request, as Slack's door passes both on. Raises Refused if a check fails."""
        request = HttpRequest.from_event(event)
        if request.is_ssl_check:
            return response(HTTPStatus.OK)
        check_shape(request)
        check_signature(request, self.signing_secret(), now)
        check_replay(request, self.claims, now)
        content = content_of(request)
        if content.get("ssl_check") == "1":
            return response(HTTPStatus.OK)
        sent, config = parse_payload(content), self.config()
        admit(sent, config, self.api_url)
        client = WebClient(
            self.bot_token(), base_url=self.api_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT_LOGGER
        )
        asker = _Asker(client=client, hand_over=self.hand_over, may_act=bool(config and config.user_groups))
        match sent:
            case Pressed():
                return response(HTTPStatus.OK, asker.answer_button(sent))
            case Submitted():
                return response(HTTPStatus.OK, asker.answer_dialog(sent))
            case Typed():
                return response(HTTPStatus.OK, asker.answer_command(sent))
            case never:
                assert_never(never)


def response(status: HTTPStatus, body: str | Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An answer with a text or JSON, or one that says its status alone."""
    kind = "application/json" if isinstance(body, Mapping) else "text/plain"
    text = json.dumps(body) if isinstance(body, Mapping) else status.phrase if body is None else body
    return {"statusCode": status.value, "headers": {"content-type": f"{kind};charset=utf-8"}, "body": text}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asker:
    """Whoever asks: `may_act` says whether anybody may."""

    client: WebClient
    hand_over: HandOver
    may_act: bool

    def answer_button(self, press: Pressed) -> str:
        """Opens the dialog of a button or a menu's line, or hands its request over."""
        if press.name == OPEN_REPORT:
            return ""
        action = ACTIONS[press.name]
        if not self.may_act:
            _tell(press.response_url, NOBODY)
        elif action.dialog is not None:
            if self._open_view(press.trigger_id, action.dialog(origin_of(press))) is None:
                _tell(press.response_url, NO_DIALOG)
        else:
            asked = self._with_view(button_request(press), press.trigger_id)
            self._tell_trouble(self._try_hand_over(asked), asked)
        return ""

    def answer_dialog(self, sent: Submitted) -> str | Mapping[str, Any]:
        """Hands a dialog's request over; the dialog shows the reason if that fails."""
        asked = dialog_request(sent)
        trouble = self._try_hand_over(asked) if self.may_act else NOBODY
        return "" if trouble is None else {"response_action": "update", "view": notice(trouble)}

    def answer_command(self, command: Typed) -> str:
        """Hands a command's request over, and answers it unless the answer comes in a view."""
        asked = command_request(command)
        if isinstance(asked, str):
            return asked
        if not self.may_act:
            return NOBODY
        asked = self._with_view(asked, command.trigger_id)
        trouble = self._try_hand_over(asked)
        if asked.view is None:
            return trouble or TAKEN
        self._tell_trouble(trouble, asked)
        return ""

    def _try_hand_over(self, asked: SlackRequest) -> str | None:
        """Hands a request over; returns a sentence for the asker if that failed."""
        try:
            self.hand_over(asked)
        except Unanswered:
            return UNSURE
        except CloudError:
            return LOST
        return None

    def _with_view(self, asked: SlackRequest, trigger_id: str) -> SlackRequest:
        """The request with an open view for its answer, if the action has one and Slack opens it."""
        action = ACTIONS[asked.do]
        if not action.reading:
            return asked
        volume_id = (asked.volume or "").rpartition("/")[2]
        view = notice(action.reading.format(volume_id=volume_id), action.label)
        return asked.model_copy(update={"view": self._open_view(trigger_id, view)})

    def _open_view(self, trigger_id: str, view: dict[str, Any]) -> str | None:
        """The id of the opened view. None if Slack does not open it: the trigger's time may be over."""
        try:
            with slack_errors("open a dialog"):
                return str(self.client.views_open(trigger_id=trigger_id, view=view)["view"]["id"])
        except PlimsollError as error:
            LOG.warning("%s", error)
            return None

    def _tell_trouble(self, trouble: str | None, asked: SlackRequest) -> None:
        """Tells the asker of a failure, if there was one, in the view if there is one."""
        if trouble is None:
            return
        if asked.view is None:
            _tell(asked.response_url, trouble)
            return
        try:
            with slack_errors("show in a dialog what went wrong"):
                self.client.views_update(view_id=asked.view, view=notice(trouble))
        except PlimsollError as error:
            LOG.warning("%s", error)


def _tell(response_url: str | None, text: str) -> None:
    """Tells the asker alone; a refusal is logged."""
    if response_url is None:
        LOG.warning("the asker was not told, because there is no address for that: %s", text)
        return
    client = WebhookClient(response_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT_LOGGER)
    try:
        status = client.send(text=text, response_type="ephemeral", replace_original=False).status_code
    except (SlackClientError, HTTPException, OSError) as error:
        LOG.warning("the asker was not told: %s", type(error).__name__)  # the error may hold the address, a secret
        return
    if status != HTTPStatus.OK:
        LOG.warning("the asker was not told: Slack answered %s", status)
