"""Saying: one message in a channel, a thread, or to somebody alone."""

from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from plimsoll.reports.slack.message import Message
from plimsoll.slack.refusals import asking


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
