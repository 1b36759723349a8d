"""Blocks: what messages and views are built of, as plain values that Slack takes.

All text is rich text, or plain text without emoji codes. Slack looks for no markup there, so that no name can be a
mention, a link or a line of ours. Names that anybody may give are shown as they are, and do not break a message.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ConfirmObject,
    ContextBlock,
    HeaderBlock,
    LinkButtonElement,
    Option,
    OverflowMenuElement,
    PlainTextObject,
    RichTextBlock,
    RichTextElementParts,
    RichTextListElement,
    RichTextPreformattedElement,
    RichTextSectionElement,
)

from plimsoll.reports.printable import printable

Block = Mapping[str, Any]
RichText = RichTextElementParts.Text
Mention = RichTextElementParts.User | RichTextElementParts.Channel
TextPart = str | RichText | Mention

OPEN_REPORT: Final = "open-report"
"""The action id of the link to a report, which needs no answer."""

MENU: Final = "menu"
"""The action id of a volume's menu; what was chosen there is the option's value."""

_VOLUME: Final = "volume:"
_PLAN: Final = "plan:"
_MOST_ID: Final = 255
_MOST_HEADER: Final = 150
_MOST_SAID: Final = 3000
_MOST_NOTE: Final = 2000
_MOST_URL: Final = 3000
_MOST_PREFORMATTED: Final = 9000
_MOST_LABEL: Final = 75
"""Slack's limits of ids, headers, texts, context and addresses (docs.slack.dev/reference/block-kit, November 2026), and
what is shown of a screen, which leaves room for more in its message."""

_CUT: Final = "… cut here"

NAME_CHARACTERS: Final = 60
SENTENCE_CHARACTERS: Final = 300
"""Characters shown of a name, and of a reason that somebody else wrote."""

_FALLBACK: Final = 600
"""Characters of a notification before they are escaped, which makes at most five of each."""

_LOOSE_ENDS: Final = " \n:;,."
"""Signs without meaning at the end of a cut text."""


def header_block(text: str) -> Block:
    """A title, cut to 150 characters."""
    return HeaderBlock(text=plain_text(cut_text(printable(text), _MOST_HEADER))).to_dict()


def bold(text: str) -> RichText:
    """The part of a paragraph that readers see first."""
    return RichText(text=printable(text), style=RichTextElementParts.TextStyle(bold=True))


def marked_name(text: str) -> RichText:
    """A name within a sentence, set apart so that nothing in it looks like the sentence."""
    return RichText(text=printable(text), style=RichTextElementParts.TextStyle(code=True))


def person(user_id: str) -> Mention:
    """A mention of a person, by Slack's id. Slack notifies them."""
    return RichTextElementParts.User(user_id=user_id)


def place(channel_id: str) -> Mention:
    """A channel, by Slack's id."""
    return RichTextElementParts.Channel(channel_id=channel_id)


def paragraph(*parts: TextPart) -> Block:
    """A paragraph of text, bold text, names and mentions as they are, without empty parts, cut to 3,000 characters."""
    return RichTextBlock(elements=[_section(parts)]).to_dict()


def bullets(rows: Iterable[Iterable[TextPart]]) -> list[Block]:
    """A list with a paragraph for each row; no block if there are no rows."""
    items = [_section(tuple(row)) for row in rows]
    listed = RichTextListElement(elements=items, style="bullet")
    return [RichTextBlock(elements=[listed]).to_dict()] if items else []


def preformatted_text(text: str, most: int = _MOST_PREFORMATTED) -> list[Block]:
    """A screen in letters of one width. Lines beyond `most` characters are left out, and the last line says so."""
    lines = printable(text).strip("\n").splitlines()
    left, shown = most - _cost(_CUT), []
    for screen_line in lines:
        left -= _cost(screen_line)
        if left < 0:
            shown.append(_CUT)
            break
        shown.append(screen_line)
    element = RichTextPreformattedElement(elements=[RichText(text="\n".join(shown) or "…")])
    return [RichTextBlock(elements=[element]).to_dict()]


def note(text: str) -> Block:
    """A small grey line, cut to 2,000 characters."""
    return ContextBlock(elements=[plain_text(cut_text(printable(text), _MOST_NOTE))]).to_dict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A button under a volume, or a line of its menu; `action` is what it asks for.

    `unproved_only`: only volumes whose evidence is missing have it. `cost`: what a button spends, asked before it acts.
    `value`: what was shown, of a plan's button.
    """

    action: str
    label: str
    cost: str = ""
    in_menu: bool = False
    unproved_only: bool = False
    value: str | None = None


def controls(volume: str, offered: Sequence[Control]) -> list[Block]:
    """A volume's buttons and menu; `volume` is account/region/id and names the block.

    No block if nothing is offered, or if the volume's name is longer than a block's may be.
    """
    block_id = f"{_VOLUME}{volume}"
    if not offered or utf16_length(block_id) > _MOST_ID or printable(block_id) != block_id:
        return []
    volume_id = volume.rpartition("/")[2]
    elements: list[ButtonElement | OverflowMenuElement] = [
        _button(control, volume_id) for control in offered if not control.in_menu
    ]
    options = [
        Option(value=control.action, text=PlainTextObject(text=control.label)) for control in offered if control.in_menu
    ]
    menu = [OverflowMenuElement(action_id=MENU, options=options)] if options else []
    return [ActionsBlock(block_id=block_id, elements=[*elements, *menu]).to_dict()]


def plan_controls(plan: str, offered: Sequence[Control]) -> list[Block]:
    """The buttons of a plan of changes, whose values say what was shown: a press is about that."""
    buttons = [_button(control, plan) for control in offered]
    return [ActionsBlock(block_id=f"{_PLAN}{plan}", elements=buttons).to_dict()] if buttons else []


def plan_of_block(block_id: str) -> str | None:
    """The plan whose buttons a block holds; None for a block of anything else."""
    return block_id.removeprefix(_PLAN) if block_id.startswith(_PLAN) else None


def _button(control: Control, about: str) -> ButtonElement:
    """A button with a label of its own for screen readers; it asks before it spends."""
    label = cut_text(f"{control.label} {about}", _MOST_LABEL)
    question = control.cost and ConfirmObject(
        title=PlainTextObject(text=f"{control.label}?"),
        text=PlainTextObject(text=control.cost),
        confirm=PlainTextObject(text="Yes"),
        deny=PlainTextObject(text="No"),
    )
    return ButtonElement(
        text=PlainTextObject(text=control.label),
        action_id=control.action,
        accessibility_label=label,
        value=control.value,
        confirm=question or None,
    )


def volume_of_block(block_id: str) -> str | None:
    """The volume whose buttons a block holds, as account/region/id; None for a block of anything else."""
    return block_id.removeprefix(_VOLUME) if block_id.startswith(_VOLUME) else None


def link(url: str, text: str) -> list[Block]:
    """A paragraph that is a link; no block for an address that is empty or too long."""
    if not url or len(url) > _MOST_URL:
        return []
    section = RichTextSectionElement(elements=[RichTextElementParts.Link(url=url, text=text)])
    return [RichTextBlock(elements=[section]).to_dict()]


def report_link(url: str | None) -> list[Block]:
    """A button that opens a report; none for an address that no browser opens."""
    if url is None or not url.startswith(("https://", "http://")) or len(url) > _MOST_URL:
        return []
    button = LinkButtonElement(text=PlainTextObject(text="Open the report"), url=url, action_id=OPEN_REPORT)
    return [ActionsBlock(elements=[button]).to_dict()]


def utf16_length(text: str) -> int:
    """The length of a text in UTF-16, which is no less than Slack counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def line(text: str, most: int = NAME_CHARACTERS) -> str:
    """A text on one line, no longer than `most`, with escapes for invisible characters."""
    return cut_text(" ".join(printable(text[: 4 * most]).split()), most)


def cut_text(text: str, most: int) -> str:
    """A text no longer than `most`, with an ellipsis at a cut."""
    if utf16_length(text) <= most:
        return text
    kept = text[: most - 1]
    while utf16_length(kept) > most - 1:
        kept = kept[:-1]
    return f"{kept.rstrip(_LOOSE_ENDS)}…"


def fallback(text: str) -> str:
    """A notification's text for where blocks are not shown: one line, escaped, at most 3,000 characters."""
    return html.escape(line(text, _FALLBACK), quote=False) or "…"


def plain_text(text: str) -> PlainTextObject:
    """A text without markup or emoji codes."""
    return PlainTextObject(text=text or "…", emoji=False)


def _section(parts: Iterable[TextPart]) -> RichTextSectionElement:
    left, elements = _MOST_SAID, list[RichText | Mention]()
    for part in parts:
        if isinstance(part, Mention):
            elements.append(part)
            continue
        element = part if isinstance(part, RichText) else RichText(text=printable(part))
        text = cut_text(element.text, left) if left > 0 else ""
        if text:
            elements.append(RichText(text=text, style=element.style))
            left -= utf16_length(text)
    return RichTextSectionElement(elements=elements or [RichText(text="…")])


def _cost(text: str) -> int:
    """The length of a line in a message's JSON, with the two characters at its end."""
    return utf16_length(json.dumps(text, ensure_ascii=False))
