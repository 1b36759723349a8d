"""The app that answers Slack: a short answer at once, a dialog where one is needed, and the rest handed over.

Slack waits 3 seconds for an answer and shows an error then; a trigger to open a dialog lasts as long
(docs.slack.dev/interactivity/handling-user-interaction, November 2026). So nothing is read or decided here. Bolt's
lazy listeners are not used for what takes longer: they call the very function that stands open to the internet, which
would need the rights of what is done, and the right to call itself. What is asked goes to a worker of its own.

Requests are verified before they come here, over the bytes that were sent, and Bolt gets their content alone.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final

from slack_bolt import Ack, App
from slack_bolt.authorization import AuthorizeResult
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.webhook import WebhookClient

from plimsoll.domain.errors import CloudError, PlimsollError, Unanswered
from plimsoll.slack.actions.asked import Asked, Explain
from plimsoll.slack.client import SILENT, asking
from plimsoll.slack.requests import dialogs
from plimsoll.slack.requests.admission import ACTIONS, LINKS
from plimsoll.slack.requests.asking import Unclear, asked_by_button, asked_by_dialog, asked_by_words, origin_of
from plimsoll.slack.requests.payloads import COMMAND, Pressed, Submitted, Typed

HandOver = Callable[[Asked], None]
"""Hands over what is asked to who does it; CloudError, which was logged, where that cannot be."""

WAIT_S: Final = 2
"""How long Slack may take for a call. Nothing is tried again: what it is for would be over."""

NOBODY: Final = (
    "Nobody may act from Slack yet: the service's configuration names no user group whose members may "
    "(slack.user_groups; PLIMSOLL_DEPLOY_SLACK__USER_GROUPS where it is deployed)."
)
LOST: Final = "That did not get through, and nothing was done. Please try again; the service's log says why."
UNSURE: Final = (
    "It is not known whether that got through. Please wait some minutes for an answer, and try again where none comes; "
    "the service's log says why."
)
NO_DIALOG: Final = "Slack did not open the dialog. Please press the button again."
TAKEN: Final = "I am on it: the answer comes here."

LOG: Final = logging.getLogger("plimsoll.slack")
"""What goes wrong with Slack while somebody is answered; who runs the app decides where it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Answers what was pressed, submitted and typed. `may_act`: whether there is anybody who may act."""

    hand_over: HandOver
    may_act: bool

    def pressed(self, ack: Ack, body: Mapping[str, Any], client: WebClient) -> None:
        """A button: its dialog is opened, or what it asks is handed over."""
        press = Pressed.model_validate(dict(body))
        origin, do = origin_of(press), press.actions[0].action_id
        ack()
        if not self.may_act:
            _tell(press.response_url, NOBODY)
        elif do == dialogs.SNOOZE:
            self._ask(client, press, dialogs.snooze(origin))
        elif do == dialogs.EXCLUDE:
            self._ask(client, press, dialogs.exclude(origin))
        else:
            asked = _with_view(asked_by_button(press), client, press.trigger_id)
            trouble = self._handed_over(asked)
            if trouble is not None:
                _tell_trouble(trouble, client, asked.view, press.response_url)

    def submitted(self, ack: Ack, body: Mapping[str, Any]) -> None:
        """A dialog: what was entered is handed over; the dialog says so where that cannot be."""
        asked = asked_by_dialog(Submitted.model_validate(dict(body)))
        trouble = self._handed_over(asked) if self.may_act else NOBODY
        if trouble is None:
            ack()
        else:
            ack(response_action="update", view=dialogs.notice(trouble))

    def typed(self, ack: Ack, body: Mapping[str, Any], client: WebClient) -> None:
        """The command: what is unclear is answered at once, and what is asked handed over."""
        typed = Typed.model_validate(dict(body))
        asked = asked_by_words(typed)
        if isinstance(asked, Unclear):
            ack(asked.answer)
            return
        if not self.may_act:
            ack(NOBODY)
            return
        asked = _with_view(asked, client, typed.trigger_id)
        trouble = self._handed_over(asked)
        if asked.view is None:
            ack(trouble or TAKEN)
            return
        ack()
        if trouble is not None:
            _tell_trouble(trouble, client, asked.view, None)

    def _ask(self, client: WebClient, press: Pressed, dialog: dict[str, Any]) -> None:
        if _opened(client, press.trigger_id, dialog) is None:
            _tell(press.response_url, NO_DIALOG)

    def _handed_over(self, asked: Asked) -> str | None:
        """Hands it over; what to tell the asker where that went wrong, None where it did not."""
        try:
            self.hand_over(asked)
        except Unanswered:
            return UNSURE
        except CloudError:
            return LOST
        return None


def slack_app(token: str, *, api_url: str, hand_over: HandOver, may_act: bool) -> App:
    """The app with its listeners; `token` is the bot's, whose validity nobody is asked about before it is used."""

    def authorized(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    front = Front(hand_over=hand_over, may_act=may_act)
    app = App(
        name="slack_bolt.plimsoll",  # of a logger, whose level Bolt sets
        logger=SILENT,  # it would tell whole requests; what goes wrong is raised
        client=WebClient(base_url=api_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT),
        authorize=authorized,  # a token of its own makes Bolt ask Slack about it first
        process_before_response=True,
        request_verification_enabled=False,  # done before, see above
    )
    app.error(_raise)
    app.action(_any_of(ACTIONS))(front.pressed)
    app.action(_any_of(LINKS))(_heard)
    app.view(_any_of(dialogs.DIALOGS))(front.submitted)
    app.command(COMMAND)(front.typed)
    return app


def _heard(ack: Ack) -> None:
    ack()


def _raise(error: Exception) -> None:
    raise error


def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(f"^({'|'.join(sorted(names))})$")


def _with_view(asked: Asked, client: WebClient, trigger_id: str) -> Asked:
    """The same, with a dialog for the explanation that it asks for, if it does; without one it goes elsewhere."""
    if not isinstance(asked.wish, Explain):
        return asked
    return asked.model_copy(update={"view": _opened(client, trigger_id, dialogs.reading(asked.wish.volume))})


def _opened(client: WebClient, trigger_id: str, dialog: dict[str, Any]) -> str | None:
    """The id of the dialog that was opened, None where Slack does not open it: the trigger's time may be over."""
    try:
        with asking("open a dialog"):
            return str(client.views_open(trigger_id=trigger_id, view=dialog)["view"]["id"])
    except PlimsollError as error:
        LOG.warning("%s", error)
        return None


def _tell_trouble(trouble: str, client: WebClient, view: str | None, response_url: str | None) -> None:
    """Tells the asker what went wrong, in the dialog if there is one."""
    if view is None:
        _tell(response_url, trouble)
        return
    try:
        with asking("tell in a dialog what went wrong"):
            client.views_update(view_id=view, view=dialogs.notice(trouble))
    except PlimsollError as error:
        LOG.warning("%s", error)


def _tell(response_url: str | None, text: str) -> None:
    """Tells the asker alone; where Slack does not take it, the log says so."""
    if response_url is None:
        LOG.warning("the asker was not told, since there is no address for that: %s", text)
        return
    told = WebhookClient(response_url, timeout=WAIT_S, retry_handlers=[], logger=SILENT)
    try:
        status = told.send(text=text, response_type="ephemeral", replace_original=False).status_code
    except (SlackClientError, HTTPException, OSError) as error:
        LOG.warning("the asker was not told: %s", type(error).__name__)  # the error may hold the address, a secret
        return
    if status != HTTPStatus.OK:
        LOG.warning("the asker was not told: Slack answered %s", status)
