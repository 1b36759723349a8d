"""Answers: to everybody in the thread, or to the asker alone."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from plimsoll.model.errors import CloudError, Unexpected
from plimsoll_service.slack.actions.asked import SlackRequest, modal
from plimsoll_service.slack.blocks.elements import Block, TextPart, paragraph, person
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.client import SILENT_LOGGER, SlackRetries, say, slack_errors

_CLOSED: Final = frozenset({"not_found", "view_not_found"})
"""Slack's codes for a view that the asker has closed meanwhile."""

_ANSWER: Final = "answer who asked"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAnswers:
    """Answers to one request. Raises CloudError if Slack refuses one."""

    asked: SlackRequest
    slack: WebClient

    def to_all(self, message: SlackMessage) -> None:
        """Answers in the thread, or the asker alone if there is none."""
        if self.asked.from_thread is None:
            self.to_asker(message)
        else:
            self.post(message, *self.asked.from_thread)

    def post(self, message: SlackMessage, channel: str, thread: str | None = None) -> str:
        """Posts to a channel or a thread and returns the message's `ts`."""
        return str(say(self.slack, message, channel, thread, to=f"{_ANSWER} in {channel}")["ts"])

    def to_asker(self, message: SlackMessage) -> None:
        """Answers the asker alone: in the open view, by the address for answers, or in the channel."""
        asked = self.asked
        if asked.view is not None:
            self.show(modal("Plimsoll", message.blocks))
        elif asked.response_url is not None:
            self._respond(asked.response_url, message)
        elif asked.channel is not None:
            with slack_errors(f"{_ANSWER} in {asked.channel}"):
                self.slack.chat_postEphemeral(
                    channel=asked.channel, user=asked.user, thread_ts=asked.thread, **message.payload
                )
        else:
            raise Unexpected(f"there is nowhere to answer request {asked.id}: please report this bug.")

    def show(self, view: Mapping[str, Any]) -> None:
        """Fills the open view; an asker who has closed it wants no answer."""
        with slack_errors("show the answer"):
            try:
                self.slack.views_update(view_id=self.asked.view, view=dict(view))
            except SlackApiError as error:
                if error.response.get("error") not in _CLOSED:
                    raise
                _log.info("the view was closed before its answer")

    def try_asker(self, message: SlackMessage) -> None:
        """Answers the asker alone and logs a failure, because another error is on its way and must not be hidden."""
        try:
            self.to_asker(message)
        except CloudError:
            _log.exception("the asker could not be told")

    def _respond(self, url: str, message: SlackMessage) -> None:
        """Uses the address for answers: a secret for half an hour, which is in no error."""
        client = WebhookClient(url, timeout=10, retry_handlers=[SlackRetries(once=True)], logger=SILENT_LOGGER)
        with slack_errors(_ANSWER):
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


def plain_message(text: str) -> SlackMessage:
    """A message of one or two sentences."""
    return SlackMessage.compose(text, [paragraph(text)])


def person_paragraph(user: str, *parts: TextPart) -> Block:
    """A paragraph that begins with a person, by Slack's id."""
    return paragraph(person(user), " ", *parts)
