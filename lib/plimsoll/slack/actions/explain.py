"""Explain: the screen of `plimsoll explain` for a volume as it is now, in a view or a message."""

import json
from collections.abc import Iterator
from typing import Final

from plimsoll.slack.actions.action import ActionContext, ActionPlace, SlackAction, VolumeExplanation
from plimsoll.slack.actions.asked import modal
from plimsoll.slack.blocks.elements import Block, header_block, link, paragraph, preformatted_text
from plimsoll.slack.blocks.message import SlackMessage

_A_BLOCK: Final = 2900
_MOST_BLOCKS: Final = 95
_MOST_BYTES: Final = 200_000
"""A view holds 100 blocks and 250 KB (docs.slack.dev/reference/views, November 2026); texts of 3,000 characters."""


def _perform(work: ActionContext) -> None:
    explanation = work.explain(work.volume)
    title, page = header_block(explanation.volume_id), link(explanation.link, f"Its demand in {explanation.monitoring}")
    if work.asked.view is not None:
        work.answers.show(modal("Explain", [title, *screen_blocks(explanation), *page]))
        return
    text = f"The recommendation for {explanation.volume_id}, explained"
    work.answers.to_all(SlackMessage.compose(text, [title, *preformatted_text(explanation.screen), *page]))


def screen_blocks(explanation: VolumeExplanation) -> Iterator[Block]:
    """The screen in blocks. A line says so if a view has no room for all of it."""
    left = _MOST_BYTES
    for number, part in enumerate(_parts(explanation.screen)):
        (block,) = preformatted_text(part)
        left -= len(json.dumps(block))
        if left < 0 or number == _MOST_BLOCKS:
            yield paragraph("There is more than a window holds: `plimsoll explain` shows all of it.")
            return
        yield block


def _parts(screen: str) -> Iterator[str]:
    """A screen in pieces that fit a block, broken between lines where that is possible."""
    part = ""
    for line in screen.splitlines():
        for start in range(0, max(1, len(line)), _A_BLOCK):
            piece = line[start : start + _A_BLOCK]
            if part and len(part) + len(piece) >= _A_BLOCK:
                yield part
                part = ""
            part += f"{piece}\n"
    yield part


EXPLAIN_ACTION: Final = SlackAction(
    name="explain",
    label="Explain",
    shown=ActionPlace.BUTTON,
    command="why a volume has its recommendation, or has none",
    reading="Reading {volume_id}: this takes some seconds.",
    repeats=True,
    perform=_perform,
)
