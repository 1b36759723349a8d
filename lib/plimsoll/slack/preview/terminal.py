"""A message for Slack on the terminal: the blocks that Plimsoll posts, as people would read them there."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.reports.printable import printable_values

_WIDEST: Final = 110
"""Slack's own column is about that wide; longer lines read badly."""

_STYLES: Final = {"bold": "bold", "italic": "italic", "code": "cyan"}

Part = Mapping[str, Any]


def show_conversation(console: Console, conversation: Part) -> None:
    """Prints a conversation's payload: its main message, and its replies indented below it."""
    found = printable_values(dict(conversation))
    width = min(console.width, _WIDEST)
    console.print(_message("message", found["main"]), width=width)
    for reply in found["replies"]:
        titled = f"reply in its thread: {reply['key']}"
        console.print(Padding(_message(titled, reply), (0, 0, 0, 4)), width=width)


def _message(title: str, payload: Part) -> Panel:
    blocks = [one for block in payload["blocks"] for one in _apart(block)]
    notification = Text(f"notification: {html.unescape(payload['text'])}", style="dim")
    return Panel(Group(*blocks, notification), title=Text(title), title_align="left", box=box.ROUNDED)


def _apart(block: Part) -> Iterator[RenderableType]:
    """A block, and a blank line before it unless it belongs to the block above."""
    if block["type"] != "actions":
        yield Text()
    shown = _BLOCKS.get(block["type"])
    yield Text(f"[{block['type']}]", style="dim") if shown is None else shown(block)


def _control(one: Part) -> Text:
    if one["type"] == "overflow":
        return Text(f"[ ⋯ {' | '.join(option['text']['text'] for option in one['options'])} ]")
    shown = Text(f"[ {one['text']['text']} ]")
    return shown.append(f" {one['url']}", "dim") if "url" in one else shown


def _rich(element: Part) -> Iterator[RenderableType]:
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


def _spans(elements: Sequence[Part]) -> Text:
    return Text().join(_span(one) for one in elements)


def _span(one: Part) -> Text:
    style = " ".join(_STYLES[name] for name, on in one.get("style", {}).items() if on and name in _STYLES)
    match one["type"]:
        case "text":
            return Text(one["text"], style=style)
        case "link":
            label = one.get("text")
            return Text(f"{label} ({one['url']})" if label else one["url"], style="underline")
        case other:
            return Text(f"@{one.get('user_id') or one.get('channel_id') or other}")


_BLOCKS: Final[Mapping[str, Callable[[Part], RenderableType]]] = {
    "header": lambda block: Text(block["text"]["text"], style="bold underline"),
    "divider": lambda _: Rule(style="dim"),
    "context": lambda block: Text(" ").join([Text(one["text"]) for one in block["elements"]]),
    "actions": lambda block: Text("  ").join([_control(one) for one in block["elements"]]),
    "rich_text": lambda block: Group(*(one for element in block["elements"] for one in _rich(element))),
}
