"""Messages: what is posted, a report as a conversation, and how much of Slack's limits a message has left."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.slack.blocks.elements import Block, fallback, long


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


MOST_BLOCKS: Final = 50
MOST_CHARACTERS: Final = 12_000
"""Blocks of a message, and characters of the JSON of all of them (docs.slack.dev/reference/block-kit/blocks, November
2026). For msg_blocks_too_long Slack publishes no figure; that of all Markdown blocks of a message is taken."""


def size(blocks: Sequence[Block]) -> int:
    """The characters of blocks in a message's JSON, each with the sign that parts it from the next."""
    return sum(long(json.dumps(block, ensure_ascii=False, separators=(",", ":"))) + 1 for block in blocks)


class Budget:
    """What a message may still hold."""

    def __init__(self) -> None:
        self._blocks, self._characters = MOST_BLOCKS, MOST_CHARACTERS - 1

    def take(self, blocks: Sequence[Block]) -> bool:
        """Whether there is room for all of these, which is then taken."""
        characters = size(blocks)
        if len(blocks) > self._blocks or characters > self._characters:
            return False
        self._blocks -= len(blocks)
        self._characters -= characters
        return True

    def taken(self, blocks: list[Block]) -> list[Block]:
        """The first of these for which there is room, which is then taken."""
        return [block for block in blocks if self.take([block])]
