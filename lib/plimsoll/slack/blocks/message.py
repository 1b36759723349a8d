"""Messages: what is posted, and a report as a conversation, one message with its replies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.slack.blocks.elements import Block
from plimsoll.slack.blocks.text import fallback


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message: its blocks, and the text of its notification, in Slack's markup and escaped."""

    text: str
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, text: str, blocks: Iterable[Block]) -> "Message":
        """A message whose notification says that text, given as it is."""
        return cls(text=fallback(text), blocks=tuple(blocks))

    @property
    def payload(self) -> dict[str, Any]:
        """What Slack is sent of it."""
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message in the thread of another; `key` is the account that it is about, or "more"."""

    key: str
    message: Message

    @property
    def payload(self) -> dict[str, Any]:
        """What Slack is sent of it, and its key."""
        return {"key": self.key, **self.message.payload}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A report: the message in the channel, and the replies in its thread, in order."""

    main: Message
    replies: tuple[Reply, ...] = ()

    @property
    def payload(self) -> Mapping[str, Any]:
        """All of it in plain values, as JSON holds them."""
        return {"main": self.main.payload, "replies": [reply.payload for reply in self.replies]}
