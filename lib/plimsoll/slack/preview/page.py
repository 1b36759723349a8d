"""`slack-preview.html`: what a conversation or a window looks like in Slack, as one file that opens offline."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment

from plimsoll.reports.screen import printable
from plimsoll.reports.templating import templates_of
from plimsoll.slack.blocks.message import Conversation
from plimsoll.slack.preview.marks import mrkdwn, safe_address, shown
from plimsoll.slack.preview.rich import rich

CHANNEL: Final = "cloud-costs"
"""The channel that a preview shows where none is named."""

_DRAWN: Final = frozenset(
    ("header", "section", "context", "divider", "rich_text", "actions", "image", "table", "input")
)


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
    return _page(
        "client.html.j2",
        conversation=conversation,
        pictures=found,
        answers=len(found) + len(conversation.replies),
        sent=sent,
        channel=channel,
    )


def preview_view(view: Mapping[str, Any]) -> str:
    """A page that resembles a window that Slack opens, such as after a button; otherwise as `preview`."""
    return _page("view.html.j2", view=view)


def _page(template: str, **said: Any) -> str:
    style = (files(__package__) / "styles" / "preview.css").read_text(encoding="utf-8")
    return printable(_environment().get_template(template).render(**said, style=style))


def _inline(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode('ascii')}"


@cache
def _environment() -> Environment:
    environment = templates_of("plimsoll.slack.preview")
    environment.globals["drawn"] = _DRAWN
    environment.filters.update(shown=shown, mrkdwn=mrkdwn, rich=rich, address=safe_address)
    return environment
