"""Answering: where what is said goes, to everybody in the thread or to the asker alone."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from plimsoll.domain.errors import CloudError, Unexpected
from plimsoll.slack.actions.asked import Asked
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.client import SILENT, Patience, asking, say

_CLOSED: Final = frozenset({"not_found", "view_not_found"})
"""What Slack says of a view that the asker has closed meanwhile."""

_ANSWER: Final = "answer who asked"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers to what was asked; CloudError where Slack does not take one."""

    asked: Asked
    slack: WebClient

    def to_all(self, message: Message) -> str | None:
        """Says it in the thread, by the message's `ts`; where there is none, to the asker alone."""
        asked = self.asked
        if asked.channel is None or asked.thread is None:
            self.to_asker(message)
            return None
        return self.post(message, asked.channel, asked.thread)

    def post(self, message: Message, channel: str, thread: str | None = None) -> str:
        """Posts it in a channel or a thread, and gives its `ts`."""
        return str(say(self.slack, message, channel, thread, to=f"{_ANSWER} in {channel}")["ts"])

    def to_asker(self, message: Message) -> None:
        """Says it to the asker alone: in the view that is open, by the address for answers, or in the channel."""
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
            raise Unexpected(f"there is nowhere to answer what was asked as {asked.id}: please report it.")

    def show(self, view: Mapping[str, Any]) -> None:
        """Puts that into the open view; whoever has closed it wants no answer any more."""
        with asking("show the answer"):
            try:
                self.slack.views_update(view_id=self.asked.view, view=dict(view))
            except SlackApiError as error:
                if error.response.get("error") not in _CLOSED:
                    raise
                _log.info("the view was closed before its answer")

    def try_asker(self, message: Message) -> None:
        """As `to_asker`, where something else is going wrong already, which is not to be hidden by this."""
        try:
            self.to_asker(message)
        except CloudError:
            _log.exception("the asker could not be told")

    def _respond(self, url: str, message: Message) -> None:
        """By the address for answers: it is a secret of half an hour, and in no error."""
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
                f"Slack refused to {_ANSWER} (HTTP {answer.status_code}): its address for answers takes five within "
                "half an hour."
            )


def modal(title: str, blocks: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """A view that shows blocks; `title` has at most 24 characters."""
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": title, "emoji": False},
        "close": {"type": "plain_text", "text": "Close", "emoji": False},
        "blocks": [dict(block) for block in blocks],
    }
