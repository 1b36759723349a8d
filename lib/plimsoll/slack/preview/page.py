"""`slack-preview.html`: what a conversation looks like in Slack, as one file that opens offline.

It draws the blocks that Plimsoll posts, and names any other.
"""

import html
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup, escape

from plimsoll.reports.html.page_files import templates_of
from plimsoll.reports.printable import printable
from plimsoll.slack.blocks.message import Conversation

CHANNEL: Final = "cloud-costs"
"""The channel that a preview shows where none is named."""

_STYLES: Final = {
    "bold": Markup("<b>{}</b>"),
    "italic": Markup("<i>{}</i>"),
    "code": Markup("<code>{}</code>"),
}
_LINK: Final = Markup('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>')
_MENTION: Final = Markup('<span class="mention">{}</span>')
_UNKNOWN: Final = Markup('<span class="unknown">[{}: not drawn here]</span>')
_ADDRESS: Final = re.compile(r"(https?|mailto):", re.IGNORECASE)


def preview(
    conversation: Conversation,
    *,
    pictures: Mapping[str, bytes] | None = None,
    sent: datetime | None = None,
    channel: str = CHANNEL,
) -> str:
    """A page that resembles Slack's window with a message and its thread; it asks nothing of any network.

    `pictures` are PNG images by title, which stand in the thread first. A block that the page cannot draw says so.
    """
    found = {title: _inline(png) for title, png in (pictures or {}).items()}
    page = _environment().get_template("client.html.j2")
    drawn = page.render(
        conversation=conversation,
        pictures=found,
        answers=len(found) + len(conversation.replies),
        sent=sent,
        channel=channel,
        style=(files(__package__) / "styles" / "preview.css").read_text(encoding="utf-8"),
    )
    return printable(drawn)


def _inline(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode('ascii')}"


@cache
def _environment() -> Environment:
    environment = templates_of("plimsoll.slack.preview")
    environment.filters.update(rich=_rich, address=_address, unescaped=html.unescape)
    return environment


def _rich(elements: Iterable[Mapping[str, Any]]) -> Markup:
    """The elements of a line of rich text as HTML."""
    return Markup("").join(_styled(_piece(one), one.get("style") or {}) for one in elements)


def _piece(one: Mapping[str, Any]) -> Markup:
    match one["type"]:
        case "text":
            return escape(one["text"])
        case "link" if _ADDRESS.match(one["url"]):
            return _LINK.format(one["url"], one.get("text") or one["url"])
        case "link":
            return escape(one.get("text") or one["url"])
        case "user":
            return _MENTION.format(f"@{one['user_id']}")
        case "channel":
            return _MENTION.format(f"#{one['channel_id']}")
        case unknown:
            return _UNKNOWN.format(unknown)


def _styled(text: Markup, styles: Mapping[str, bool]) -> Markup:
    for style, is_on in styles.items():
        if is_on and style in _STYLES:
            text = _STYLES[style].format(text)
    return text


def _address(address: str) -> str:
    """An address of the web or for mail; for any other, which a click might run, a place on no page."""
    return address if _ADDRESS.match(address) else "#"
