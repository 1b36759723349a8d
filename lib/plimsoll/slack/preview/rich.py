"""Slack's rich text as HTML, for the preview."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

from plimsoll.slack.preview.marks import emoji, link, mention, styled

Element = Mapping[str, Any]


def rich(elements: Iterable[Element]) -> Markup:
    """The elements of a line of rich text; one of a type that is not known here says so."""
    return Markup("").join(styled(_drawn(one), one.get("style") or {}) for one in elements)


def _drawn(one: Element) -> Markup:
    match one["type"]:
        case "text":
            drawn = escape(one["text"])
        case "link":
            drawn = link(one["url"], one.get("text", ""))
        case "emoji":
            drawn = escape(emoji(one["name"], one.get("unicode", "")))
        case "user":
            drawn = mention(f"@{one['user_id']}")
        case "usergroup":
            drawn = mention(f"@{one['usergroup_id']}")
        case "channel":
            drawn = mention(f"#{one['channel_id']}")
        case "broadcast":
            drawn = mention(f"@{one['range']}")
        case "date":
            drawn = escape(one.get("fallback") or _day(one["timestamp"]))
        case unknown:
            drawn = Markup('<span class="unknown">[{}: not drawn here]</span>').format(unknown)
    return drawn


def _day(timestamp_s: int) -> str:
    return f"{datetime.fromtimestamp(timestamp_s, UTC):%Y-%m-%d %H:%M} UTC"
