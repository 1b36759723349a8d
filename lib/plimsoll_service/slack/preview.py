"""A conversation as Slack shows it: as a page that opens offline (`slack-preview.html`), and on the terminal.

Both draw the blocks that Plimsoll posts, and name any other.
"""

import html
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup, escape
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plimsoll.reports.html.page import templates_of
from plimsoll.reports.printable import printable, printable_values
from plimsoll_service.slack.blocks.message import Conversation

BlockPart = Mapping[str, Any]

CHANNEL: Final = "cloud-costs"
"""The channel that a preview shows where none is named."""

_TAGS: Final = {"bold": Markup("<b>{}</b>"), "code": Markup("<code>{}</code>")}
_LINK: Final = Markup('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>')
_MENTION: Final = Markup('<span class="mention">{}</span>')
_UNKNOWN: Final = Markup('<span class="unknown">[{}: not drawn here]</span>')
_ADDRESS: Final = re.compile(r"(https?|mailto):", re.IGNORECASE)

_WIDEST: Final = 110
"""Slack's own column is about that wide; longer lines read badly."""

_STYLES: Final = {"bold": "bold", "code": "cyan"}


def preview(
    conversation: Conversation,
    *,
    pictures: Mapping[str, bytes] | None = None,
    sent: datetime | None = None,
    channel: str = CHANNEL,
) -> str:
    """A page that resembles Slack's window with a message and its thread. It needs no network.

    `pictures` are PNG images by title, which stand in the thread first. A block that the page cannot draw says so.
    """
    sources = {
        title: f"data:image/png;base64,{b64encode(png).decode('ascii')}" for title, png in (pictures or {}).items()
    }
    page = _environment().get_template("client.html.j2")
    answers = len(sources) + len(conversation.replies)
    drawn = page.render(conversation=conversation, pictures=sources, answers=answers, sent=sent, channel=channel)
    return printable(drawn)


@cache
def _environment() -> Environment:
    environment = templates_of("plimsoll_service.slack")
    environment.filters.update(rich=_rich, address=_address, unescaped=html.unescape)
    return environment


def _rich(elements: Iterable[BlockPart]) -> Markup:
    return Markup("").join(_style_text(_piece(element), element.get("style") or {}) for element in elements)


def _piece(element: BlockPart) -> Markup:
    match element["type"]:
        case "text":
            return escape(element["text"])
        case "link" if _ADDRESS.match(element["url"]):
            return _LINK.format(element["url"], element.get("text") or element["url"])
        case "link":
            return escape(element.get("text") or element["url"])
        case "user":
            return _MENTION.format(f"@{element['user_id']}")
        case "channel":
            return _MENTION.format(f"#{element['channel_id']}")
        case unknown:
            return _UNKNOWN.format(unknown)


def _style_text(text: Markup, styles: Mapping[str, bool]) -> Markup:
    for style, is_on in styles.items():
        if is_on and style in _TAGS:
            text = _TAGS[style].format(text)
    return text


def _address(address: str) -> str:
    """An address of the web or for mail; "#" for any other, which a click might run."""
    return address if _ADDRESS.match(address) else "#"


def show_conversation(console: Console, conversation: BlockPart) -> None:
    """Prints a conversation's payload: its main message, and its replies indented below it."""
    payload = printable_values(dict(conversation))
    width = min(console.width, _WIDEST)
    console.print(_message("message", payload["main"]), width=width)
    for reply in payload["replies"]:
        titled = f"reply in its thread: {reply['key']}"
        console.print(Padding(_message(titled, reply), (0, 0, 0, 4)), width=width)


def _message(title: str, payload: BlockPart) -> Panel:
    blocks = [part for block in payload["blocks"] for part in _spaced_block(block)]
    notification = Text(f"notification: {html.unescape(payload['text'])}", style="dim")
    return Panel(Group(*blocks, notification), title=Text(title), title_align="left", box=box.ROUNDED)


def _spaced_block(block: BlockPart) -> Iterator[RenderableType]:
    """A block, after a blank line unless it belongs to the block above."""
    if block["type"] != "actions":
        yield Text()
    shown = _BLOCKS.get(block["type"])
    yield Text(f"[{block['type']}]", style="dim") if shown is None else shown(block)


def _control(element: BlockPart) -> Text:
    if element["type"] == "overflow":
        return Text(f"[ ⋯ {' | '.join(option['text']['text'] for option in element['options'])} ]")
    shown = Text(f"[ {element['text']['text']} ]")
    return shown.append(f" {element['url']}", "dim") if "url" in element else shown


def _lines(element: BlockPart) -> Iterator[RenderableType]:
    match element["type"]:
        case "rich_text_list":
            for item in element["elements"]:
                row = Table.grid(padding=(0, 1))
                row.add_row("•", _spans(item["elements"]))
                yield Padding(row, (0, 0, 0, 1))
        case "rich_text_preformatted":
            yield Padding(_spans(element["elements"]), (0, 0, 0, 2), style="dim")
        case _:
            yield _spans(element["elements"])


def _spans(elements: Sequence[BlockPart]) -> Text:
    return Text().join(_span(element) for element in elements)


def _span(element: BlockPart) -> Text:
    style = " ".join(_STYLES[name] for name, on in element.get("style", {}).items() if on and name in _STYLES)
    match element["type"]:
        case "text":
            return Text(element["text"], style=style)
        case "link":
            label = element.get("text")
            return Text(f"{label} ({element['url']})" if label else element["url"], style="underline")
        case other:
            return Text(f"@{element.get('user_id') or element.get('channel_id') or other}")


_BLOCKS: Final[Mapping[str, Callable[[BlockPart], RenderableType]]] = {
    "header": lambda block: Text(block["text"]["text"], style="bold underline"),
    "context": lambda block: Text(" ").join([Text(one["text"]) for one in block["elements"]]),
    "actions": lambda block: Text("  ").join([_control(one) for one in block["elements"]]),
    "rich_text": lambda block: Group(*(one for element in block["elements"] for one in _lines(element))),
}
