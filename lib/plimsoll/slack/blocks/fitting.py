"""Fitting: how much of Slack's limits a message has left."""

import json
from collections.abc import Sequence
from typing import Final

from plimsoll.slack.blocks.elements import Block
from plimsoll.slack.blocks.text import long

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
