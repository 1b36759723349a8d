"""Slack's texts as HTML, for the preview: its markup (mrkdwn) and its emoji, with everything else as it is written."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from markupsafe import Markup, escape

EMOJI: Final[Mapping[str, str]] = {
    "anchor": "\u2693",
    "bulb": "\U0001f4a1",
    "chart_with_downwards_trend": "\U0001f4c9",
    "hourglass": "\u231b",
    "information_source": "\u2139\ufe0f",
    "lock": "\U0001f512",
    "mag": "\U0001f50d",
    "moneybag": "\U0001f4b0",
    "new": "\U0001f195",
    "no_entry": "\u26d4",
    "rotating_light": "\U0001f6a8",
    "warning": "\u26a0\ufe0f",
    "white_check_mark": "\u2705",
    "zzz": "\U0001f4a4",
}
"""Emoji by Slack's name; the others are shown by their names."""

_STYLES: Final = {
    "bold": Markup("<b>{}</b>"),
    "italic": Markup("<i>{}</i>"),
    "strike": Markup("<s>{}</s>"),
    "underline": Markup("<u>{}</u>"),
    "code": Markup("<code>{}</code>"),
}
_MARKS: Final = {"bold": r"\*", "italic": "_", "strike": "~"}
_STYLED: Final = "|".join(
    rf"(?<![\w{mark}]){mark}(?P<{style}>[^\s{mark}](?:[^{mark}\n]*[^\s{mark}])?){mark}(?!\w)"
    for style, mark in _MARKS.items()
)
_PIECE: Final = re.compile(rf"`(?P<code>[^`\n]+)`|<(?P<told>[^<>\n]+)>|{_STYLED}")
_BLOCK: Final = re.compile(r"```\n?(.+?)\n?```", re.DOTALL)
_QUOTED: Final = ("&gt;", ">")
_EMOJI_NAME: Final = re.compile(r":([a-z0-9_+-]+):")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
_ADDRESS: Final = re.compile(r"(https?|mailto):", re.IGNORECASE)


def shown(text: Mapping[str, Any]) -> Markup:
    """A text object of Block Kit, marked up or plain, as HTML."""
    if text["type"] == "mrkdwn":
        return mrkdwn(text["text"])
    return _with_emoji(text["text"]) if text.get("emoji", True) else escape(text["text"])


def mrkdwn(text: str) -> Markup:
    """Slack's markup as HTML; what is no markup of Slack's is text, whatever HTML would make of it."""
    parts = _BLOCK.split(text)
    return Markup("").join(
        Markup("<pre>{}</pre>").format(_unescaped(part)) if place % 2 else _lines(part)
        for place, part in enumerate(parts)
    )


def styled(text: Markup, styles: Mapping[str, bool]) -> Markup:
    """HTML in the styles of Slack's that are true."""
    for style, is_on in styles.items():
        if is_on and style in _STYLES:
            text = _STYLES[style].format(text)
    return text


def safe_address(address: str) -> str:
    """An address of the web or for mail; of anything else, which a click might run, a place of no page."""
    return address if _ADDRESS.match(address) else "#"


def link(address: str, label: str = "") -> Markup:
    """A link to an address, to the web or by mail; of any other the text alone."""
    if not _ADDRESS.match(address):
        return escape(label or address)
    return Markup('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>').format(address, label or address)


def emoji(name: str, codes: str = "") -> str:
    """An emoji by its code points in hexadecimal where they are told, or by its name."""
    try:
        return "".join(chr(int(code, 16)) for code in codes.split("-")) if codes else EMOJI.get(name, f":{name}:")
    except (ValueError, OverflowError):
        return f":{name}:"


def _lines(text: str) -> Markup:
    groups = groupby(text.split("\n"), key=lambda line: line.startswith(_QUOTED))
    return Markup("\n").join(_quote(lines) if is_quoted else _inline("\n".join(lines)) for is_quoted, lines in groups)


def _quote(lines: Iterator[str]) -> Markup:
    inner = "\n".join(re.sub(r"^(&gt;|>)\s?", "", line) for line in lines)
    return Markup("<blockquote>{}</blockquote>").format(_inline(inner))


def _inline(text: str, inside: frozenset[str] = frozenset()) -> Markup:
    """Markup within lines. A style inside itself is none, so that this goes no deeper than there are styles."""
    parts, end = [], 0
    for piece in _PIECE.finditer(text):
        parts += [_with_emoji(_unescaped(text[end : piece.start()])), _marked(piece, inside)]
        end = piece.end()
    return Markup("").join([*parts, _with_emoji(_unescaped(text[end:]))])


def _marked(piece: re.Match[str], inside: frozenset[str]) -> Markup:
    kind, inner = next((kind, inner) for kind, inner in piece.groupdict().items() if inner is not None)
    if kind == "told":
        return _told(inner)
    if kind == "code":
        return _STYLES["code"].format(_unescaped(inner))
    if kind in inside:
        return _with_emoji(_unescaped(piece[0]))
    return _STYLES[kind].format(_inline(inner, inside | {kind}))


def _told(inner: str) -> Markup:
    """What stands in angle brackets: somebody, a channel, a date or an address."""
    what, _, label = inner.partition("|")
    if what.startswith("!date^"):
        return escape(_unescaped(label))
    if what.startswith(("@", "#", "!")):
        sign = "#" if what.startswith("#") else "@"
        name = _unescaped(label or what[1:].rpartition("^")[2]).removeprefix(sign)
        return mention(sign + name)
    if _ADDRESS.match(what):
        return link(_unescaped(what), _unescaped(label))
    return escape(f"<{_unescaped(inner)}>")


def mention(name: str) -> Markup:
    """Somebody, a group or a channel that a message names."""
    return Markup('<span class="mention">{}</span>').format(name)


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)


def _with_emoji(text: str) -> Markup:
    return escape(_EMOJI_NAME.sub(lambda found: emoji(found[1]), text))
