"""A message for Slack on the terminal: its blocks as people would read them there."""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from plimsoll.reports.screen import printable_values

_WIDEST: Final = 110
"""Slack's own column is about that wide; longer lines read badly."""

_LINK: Final = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
_BOLD: Final = re.compile(r"\*([^*\n]+)\*")
_STYLES: Final = {"bold": "bold", "italic": "italic", "strike": "strike", "code": "cyan"}
_BULLETS: Final = ("•", "◦", "▪")


def show_conversation(console: Console, conversation: Mapping[str, Any]) -> None:
    """Prints a conversation's payload: its main message, and its replies set in from it."""
    found = printable_values(dict(conversation))
    width = min(console.width, _WIDEST)
    console.print(_message("message", found["main"]), width=width)
    for reply in found["replies"]:
        titled = f"reply in its thread: {reply['key']}"
        console.print(Padding(_message(titled, reply), (0, 0, 0, 4)), width=width)


def show_message(console: Console, message: Mapping[str, Any]) -> None:
    """Prints a message's payload."""
    console.print(_message("message", printable_values(dict(message))), width=min(console.width, _WIDEST))


def _message(title: str, payload: Mapping[str, Any]) -> Panel:
    blocks = [one for block in payload["blocks"] for one in _apart(block)] or [_markup(payload["text"])]
    notification = Text(f"notification: {html.unescape(payload['text'])}", style="dim")
    return Panel(Group(*blocks, notification), title=Text(title), title_align="left", box=box.ROUNDED)


def _apart(block: Mapping[str, Any]) -> Iterator[RenderableType]:
    """A block, and a blank line before it unless it belongs to what stands above it."""
    if block["type"] != "actions":
        yield Text()
    yield _block(block)


def _block(block: Mapping[str, Any]) -> RenderableType:
    shown = _BLOCKS.get(block["type"])
    return Text(f"[{block['type']}]", style="dim") if shown is None else shown(block)


def _section(block: Mapping[str, Any]) -> RenderableType:
    texts = [block["text"]] if "text" in block else []
    shown = [_object(one) for one in (*texts, *block.get("fields", ()))]
    return Group(*shown, *([_button(block["accessory"])] if "accessory" in block else []))


def _object(one: Mapping[str, Any]) -> Text:
    if one["type"] == "image":
        return Text(f"[{one['alt_text']}]", style="dim")
    return _markup(one["text"]) if one["type"] == "mrkdwn" else Text(one["text"])


def _markup(text: str) -> Text:
    """Slack's markup: links by their labels and addresses, bold text, and escaped signs as they are meant."""
    linked = _LINK.sub(lambda found: f"{found[2]} ({found[1]})" if found[2] else found[1], text)
    shown = Text()
    for place, part in enumerate(_BOLD.split(linked)):
        shown.append(html.unescape(part), "bold" if place % 2 else "")
    return shown


def _button(one: Mapping[str, Any]) -> Text:
    if one["type"] == "overflow":
        return Text(f"[ ⋯ {' | '.join(option['text']['text'] for option in one['options'])} ]")
    label = one["text"]["text"] if "text" in one else one["type"]
    shown = Text(f"[ {label} ]", style="reverse" if one.get("style") == "primary" else "")
    return shown.append(f" {one['url']}", "dim") if "url" in one else shown


def _rich(element: Mapping[str, Any], depth: int = 0) -> Iterator[RenderableType]:
    match element["type"]:
        case "rich_text_list":
            ordered = element["style"] == "ordered"
            level = depth + element.get("indent", 0)
            for place, item in enumerate(element["elements"], start=element.get("offset", 0) + 1):
                sign = f"{place}." if ordered else _BULLETS[level % len(_BULLETS)]
                row = Table.grid(padding=(0, 1))
                row.add_row(sign, _spans(item["elements"]))
                yield Padding(row, (0, 0, 0, 1 + 2 * level))
        case "rich_text_preformatted":
            yield Padding(_spans(element["elements"]), (0, 0, 0, 2), style="dim")
        case "rich_text_quote":
            yield Padding(_spans(element["elements"]), (0, 0, 0, 2), style="italic")
        case _:
            yield _spans(element["elements"])


def _spans(elements: Sequence[Mapping[str, Any]]) -> Text:
    return Text().join(_span(one) for one in elements)


def _span(one: Mapping[str, Any]) -> Text:
    style = " ".join(_STYLES[name] for name, on in one.get("style", {}).items() if on and name in _STYLES)
    match one["type"]:
        case "text":
            return Text(one["text"], style=style)
        case "link":
            label = one.get("text")
            return Text(f"{label} ({one['url']})" if label else one["url"], style=f"{style} underline".strip())
        case "emoji":
            return Text(f":{one['name']}:")
        case other:
            return Text(f"@{one.get('user_id') or one.get('usergroup_id') or one.get('channel_id') or other}")


def _table(block: Mapping[str, Any]) -> Table:
    head, *rows = [[_cell(cell) for cell in row] for row in block["rows"]]
    settings = [*block.get("column_settings", ())]
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(head):
        setting = settings[place] if place < len(settings) and settings[place] else {}
        shown.add_column(name, justify=setting.get("align", "left"))
    for row in rows:
        shown.add_row(*row)
    return shown


def _cell(cell: Mapping[str, Any]) -> Text:
    if cell["type"] == "rich_text":
        return Text(" ").join(_spans(element["elements"]) for element in cell["elements"] if "elements" in element)
    return Text(str(cell.get("text", cell.get("value", ""))))


_BLOCKS: Final[Mapping[str, Callable[[Mapping[str, Any]], RenderableType]]] = {
    "header": lambda block: Text(block["text"]["text"], style="bold underline"),
    "divider": lambda _: Rule(style="dim"),
    "section": _section,
    "context": lambda block: Text(" ").join([_object(one) for one in block["elements"]]),
    "actions": lambda block: Text("  ").join([_button(one) for one in block["elements"]]),
    "rich_text": lambda block: Group(*(one for element in block["elements"] for one in _rich(element))),
    "image": lambda block: Text(f"[picture: {block['alt_text']}]", style="italic"),
    "table": _table,
}
