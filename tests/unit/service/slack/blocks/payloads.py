"""Messages with every kind of block that Plimsoll posts, for what must draw any of them."""

from typing import Any

from plimsoll_service.slack.blocks.message import Conversation, Reply, SlackMessage


def text(words: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def line(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def rich_text(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def plain(words: str, **options: Any) -> dict[str, Any]:
    return {"type": "plain_text", "text": words, **options}


def option(words: str, value: str) -> dict[str, Any]:
    return {"text": plain(words), "value": value}


RICH = rich_text(
    line(
        text("bold words", bold=True),
        text("coded", code=True),
        {"type": "link", "url": "https://example.com/a?b=1&c=2", "text": "a place"},
        {"type": "user", "user_id": "U123"},
        {"type": "channel", "channel_id": "C123"},
    ),
    {"type": "rich_text_list", "style": "bullet", "elements": [line(text("first point"))]},
    {"type": "rich_text_preformatted", "elements": [text("as\n  it is")]},
)

BLOCKS: list[dict[str, Any]] = [
    {"type": "header", "text": plain("The header")},
    {"type": "context", "elements": [plain("small words")]},
    RICH,
    {
        "type": "actions",
        "block_id": "volume:111111111111/us-east-1/vol-1",
        "elements": [
            {"type": "button", "action_id": "validate", "text": plain("Validate")},
            {"type": "button", "action_id": "open", "text": plain("Open"), "url": "https://example.com/report"},
            {"type": "overflow", "action_id": "menu", "options": [option("Not this volume", "exclude")]},
        ],
    },
]


def a_message(*blocks: dict[str, Any], words: str = "A message") -> SlackMessage:
    return SlackMessage(text=words, blocks=blocks)


def a_conversation(*blocks: dict[str, Any], replies: int = 0) -> Conversation:
    found = tuple(
        Reply(key=f"{number}", message=a_message(rich_text(line(text(f"answer {number}")))))
        for number in range(replies)
    )
    return Conversation(main=a_message(*blocks), replies=found)
