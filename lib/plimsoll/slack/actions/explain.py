"""Explain: the screen of `plimsoll explain` for a volume as it is now, in a view or a message."""

import json
from collections.abc import Iterator
from typing import Final

from plimsoll.slack.actions.action import Action, Explanation, Shown, Work
from plimsoll.slack.actions.asked import modal
from plimsoll.slack.blocks.elements import Block, header, link, preformatted, said
from plimsoll.slack.blocks.message import Message

_A_BLOCK: Final = 2900
_MOST_BLOCKS: Final = 95
_MOST_BYTES: Final = 200_000
"""A view holds 100 blocks and 250 KB (docs.slack.dev/reference/views, November 2026); texts of 3,000 characters."""


def _perform(work: Work) -> None:
    found = work.explain(work.volume)
    title, page = header(found.volume_id), link(found.link, f"Its demand in {found.monitoring}")
    if work.asked.view is not None:
        work.answers.show(modal("Explain", [title, *screen_blocks(found), *page]))
        return
    text = f"The recommendation for {found.volume_id}, explained"
    work.answers.to_all(Message.of(text, [title, *preformatted(found.screen), *page]))


def screen_blocks(found: Explanation) -> Iterator[Block]:
    """The screen in as many blocks as it takes; what a view has no room for is left out, and a line says so."""
    left = _MOST_BYTES
    for number, part in enumerate(_parts(found.screen)):
        (block,) = preformatted(part)
        left -= len(json.dumps(block))
        if left < 0 or number == _MOST_BLOCKS:
            yield said("There is more than a window holds: `plimsoll explain` shows all of it.")
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


EXPLAIN: Final = Action(
    name="explain",
    label="Explain",
    shown=Shown.BUTTON,
    command="why a volume has its recommendation, or has none",
    reading="Reading {volume_id}: this takes some seconds.",
    repeats=True,
    perform=_perform,
)
