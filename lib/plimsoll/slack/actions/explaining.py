"""Explaining: the screen of `plimsoll explain` of a volume as it is now, in a view or a message."""

import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Final

from rich.console import Console

from plimsoll.domain.errors import BadInput, Unexpected
from plimsoll.explain import explain as explained
from plimsoll.outcomes import Answered, FailedVolume, Skipped
from plimsoll.reports.cloud_words import words_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.recorded import record_of
from plimsoll.reports.terminal.explain import show_explanation
from plimsoll.service.remembering import left_out
from plimsoll.service.service import Service
from plimsoll.service.validating.places import placed, ports_at
from plimsoll.slack.actions.answering import Answers, modal
from plimsoll.slack.blocks.elements import Block, header, preformatted, said
from plimsoll.slack.blocks.message import Message

COLUMNS: Final = 76
"""The width of the screen, which a window of Slack's shows without breaking lines."""

_A_BLOCK: Final = 2900
_MOST_BLOCKS: Final = 95
_MOST_BYTES: Final = 200_000
"""A view holds 100 blocks and 250 KB (docs.slack.dev/reference/views, November 2026); texts of 3,000 characters."""

_MOST_URL: Final = 3000


def explain(service: Service, answers: Answers, volume: str) -> None:
    """Reads a volume anew and shows why something is recommended of it, or nothing.

    BadInput for a volume that there is not or that is left out, CloudError where it cannot be read.
    """
    name, screen, seen = _read(service, volume)
    if answers.asked.view is None:
        answers.to_all(Message.of(f"Why {name} is answered so", [header(name), *preformatted(screen), *seen]))
    else:
        blocks = (header(name), *_whole(screen), *seen)
        answers.show(modal("Explain", blocks))


def _read(service: Service, volume: str) -> tuple[str, str, list[Block]]:
    """The volume's id, its screen, and a link to where its demand can be seen."""
    now, policy = service.clock.now(), service.config.parsed_policy
    target, volume_id = placed(volume, now, service)
    world = ports_at(target, now, service)
    together = {volume_id, *(one for known in world.stripes if volume_id in known.members for one in known.members)}
    world = replace(world, excluded=left_out(service.history, target, sorted(together)))
    found = explained(world, volume_id, policy, now)
    if found is None:
        raise BadInput(f"there is no volume {volume_id} in {target} any more.")
    match found.outcome:
        case FailedVolume(reason=reason):
            raise Unexpected(f"{volume_id}: {reason}")
        case Skipped(reason=reason):
            again = f" /plimsoll include {target}/{volume_id} takes it in again." if volume_id in world.excluded else ""
            raise BadInput(f"{volume_id} is left out: {reason}.{again}")
        case Answered() as answer:
            screen = StringIO()
            console = Console(file=screen, width=COLUMNS, color_system=None, force_terminal=False)
            record = record_of(answer.recommendation, answer.change, provider=target.provider)
            show_explanation(console, answer.recommendation, found.demand, record, None)
            return volume_id, screen.getvalue(), _see(record, service.console_link(record, policy, now))


def _whole(screen: str) -> Iterator[Block]:
    """A screen in as many blocks as it takes; what a view does not hold is left out, and said to be."""
    left = _MOST_BYTES
    for number, part in enumerate(_parts(screen)):
        (block,) = preformatted(part)
        left -= len(json.dumps(block))
        if left < 0 or number == _MOST_BLOCKS:
            yield said("There is more than a window holds: `plimsoll explain` shows all of it.")
            return
        yield block


def _parts(screen: str) -> Iterator[str]:
    """A screen in pieces that a block holds, broken between lines where that is possible."""
    part = ""
    for line in screen.splitlines():
        for start in range(0, max(1, len(line)), _A_BLOCK):
            piece = line[start : start + _A_BLOCK]
            if part and len(part) + len(piece) >= _A_BLOCK:
                yield part
                part = ""
            part += f"{piece}\n"
    yield part


def _see(record: RecommendationRecord, link: str) -> list[Block]:
    """Where its demand can be seen, as a link; none where its address is too long for one."""
    if len(link) > _MOST_URL:
        return []
    element = {"type": "link", "url": link, "text": f"Its demand in {words_of(record.provider).monitoring}"}
    return [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [element]}]}]
