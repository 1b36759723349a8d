"""Messages: what is posted, a report as a conversation, and how much of Slack's limits a message has left."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plimsoll_service.slack.blocks.elements import Block, fallback, utf16_length


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """A message: its blocks, and the text of its notification, in Slack's markup and escaped."""

    text: str
    blocks: tuple[Block, ...]

    @classmethod
    def compose(cls, text: str, blocks: Iterable[Block]) -> "SlackMessage":
        """A message; `text` becomes its notification, given unescaped."""
        return cls(text=fallback(text), blocks=tuple(blocks))

    @property
    def payload(self) -> dict[str, Any]:
        """The message as Slack takes it."""
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message in the thread of another; `key` is the account that it is about, or "more"."""

    key: str
    message: SlackMessage

    @property
    def payload(self) -> dict[str, Any]:
        """The reply as Slack takes it, and its key."""
        return {"key": self.key, **self.message.payload}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A report: the message in the channel, and the replies in its thread, in order."""

    main: SlackMessage
    replies: tuple[Reply, ...] = ()

    @property
    def payload(self) -> Mapping[str, Any]:
        """The conversation in plain values, as JSON holds them."""
        return {"main": self.main.payload, "replies": [reply.payload for reply in self.replies]}


MOST_BLOCKS: Final = 50
MOST_MESSAGE_CHARACTERS: Final = 12_000
"""Blocks of a message, and characters of the JSON of all of them (docs.slack.dev/reference/block-kit/blocks, November
2026). For msg_blocks_too_long Slack publishes no figure; that of all Markdown blocks of a message is taken."""


def size(blocks: Sequence[Block]) -> int:
    """The characters of blocks in a message's JSON, each with the sign that parts it from the next."""
    return sum(utf16_length(json.dumps(block, ensure_ascii=False, separators=(",", ":"))) + 1 for block in blocks)


class MessageBudget:
    """The room that is left in a message."""

    def __init__(self) -> None:
        self._blocks, self._characters = MOST_BLOCKS, MOST_MESSAGE_CHARACTERS - 1

    def take(self, blocks: Sequence[Block]) -> bool:
        """Takes room for all of these blocks; False if there is not enough, and then none is taken."""
        characters = size(blocks)
        if len(blocks) > self._blocks or characters > self._characters:
            return False
        self._blocks -= len(blocks)
        self._characters -= characters
        return True

    def take_first(self, blocks: list[Block]) -> list[Block]:
        """Takes room for blocks in order, and returns those that fit."""
        return [block for block in blocks if self.take([block])]
