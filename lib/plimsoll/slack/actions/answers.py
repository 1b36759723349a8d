"""Answers: to everybody in the thread, or to the asker alone."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from plimsoll.domain.errors import CloudError, Unexpected
from plimsoll.slack.actions.asked import Asked, modal
from plimsoll.slack.blocks.elements import Block, Part, person, said
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.client import SILENT, Patience, asking, say

_CLOSED: Final = frozenset({"not_found", "view_not_found"})
"""What Slack says of a view that the asker has closed meanwhile."""

_ANSWER: Final = "answer who asked"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers to one request; CloudError where Slack does not take one."""

    asked: Asked
    slack: WebClient

    def to_all(self, message: Message) -> None:
        """Answers in the thread; where there is none, the asker alone."""
        if self.asked.from_thread is None:
            self.to_asker(message)
        else:
            self.post(message, *self.asked.from_thread)

    def post(self, message: Message, channel: str, thread: str | None = None) -> str:
        """Posts to a channel or a thread and returns the message's `ts`."""
        return str(say(self.slack, message, channel, thread, to=f"{_ANSWER} in {channel}")["ts"])

    def to_asker(self, message: Message) -> None:
        """Answers the asker alone: in the open view, by the address for answers, or in the channel."""
        asked = self.asked
        if asked.view is not None:
            self.show(modal("Plimsoll", message.blocks))
        elif asked.response_url is not None:
            self._respond(asked.response_url, message)
        elif asked.channel is not None:
            with asking(f"{_ANSWER} in {asked.channel}"):
                self.slack.chat_postEphemeral(
                    channel=asked.channel, user=asked.user, thread_ts=asked.thread, **message.payload
                )
        else:
            raise Unexpected(f"there is nowhere to answer request {asked.id}: this is a fault, please report it.")

    def show(self, view: Mapping[str, Any]) -> None:
        """Fills the open view; an asker who has closed it wants no answer."""
        with asking("show the answer"):
            try:
                self.slack.views_update(view_id=self.asked.view, view=dict(view))
            except SlackApiError as error:
                if error.response.get("error") not in _CLOSED:
                    raise
                _log.info("the view was closed before its answer")

    def try_asker(self, message: Message) -> None:
        """As `to_asker`, but only logs a failure: another error is on its way and must not be hidden."""
        try:
            self.to_asker(message)
        except CloudError:
            _log.exception("the asker could not be told")

    def _respond(self, url: str, message: Message) -> None:
        """Uses the address for answers: a secret for half an hour, which is in no error."""
        client = WebhookClient(url, timeout=10, retry_handlers=[Patience(once=True)], logger=SILENT)
        with asking(_ANSWER):
            answer = client.send(
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                response_type="ephemeral",
                replace_original=False,
            )
        if answer.status_code != HTTPStatus.OK:
            raise Unexpected(
                f"Slack refused to {_ANSWER} (HTTP {answer.status_code}): its address for answers takes five answers "
                "within half an hour. Ask again."
            )


def plain(text: str) -> Message:
    """A message of a sentence or two."""
    return Message.of(text, [said(text)])


def by(user: str, *parts: Part) -> Block:
    """A paragraph that begins with somebody, by Slack's id."""
    return said(person(user), " ", *parts)
