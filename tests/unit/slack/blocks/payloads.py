"""Messages and windows with everything that Block Kit has, for what must draw any of them."""

from typing import Any

from plimsoll.slack.blocks.message import Conversation, Message, Reply


def text(words: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": words, **({"style": style} if style else {})}


def line(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def rich_text(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def plain(words: str, **options: Any) -> dict[str, Any]:
    return {"type": "plain_text", "text": words, **options}


def mrkdwn(words: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": words}


def option(words: str, value: str) -> dict[str, Any]:
    return {"text": plain(words), "value": value}


DAYS = [option("7 days", "7"), option("30 days", "30")]

RICH = rich_text(
    line(
        text("bold words", bold=True),
        text(" struck", strike=True, italic=True),
        text("coded", code=True),
        {"type": "link", "url": "https://example.com/a?b=1&c=2", "text": "a place"},
        {"type": "user", "user_id": "U123"},
        {"type": "usergroup", "usergroup_id": "S123"},
        {"type": "channel", "channel_id": "C123"},
        {"type": "broadcast", "range": "here"},
        {"type": "emoji", "name": "warning"},
        {"type": "emoji", "name": "snail", "unicode": "1f40c"},
        {"type": "date", "timestamp": 1_800_000_000, "format": "{date}"},
    ),
    {"type": "rich_text_list", "style": "bullet", "elements": [line(text("first point"))]},
    {"type": "rich_text_list", "style": "ordered", "indent": 1, "offset": 4, "elements": [line(text("fifth point"))]},
    {"type": "rich_text_preformatted", "elements": [text("as\n  it is")]},
    {"type": "rich_text_quote", "elements": [text("somebody's words")]},
)

BLOCKS: list[dict[str, Any]] = [
    {"type": "header", "text": plain("The header")},
    {
        "type": "section",
        "text": mrkdwn(
            "*strong* _leaning_ ~gone~ `code` <https://example.com|a link> &lt;b&gt; <@U7|ann>\n&gt; quoted"
        ),
        "accessory": {"type": "overflow", "action_id": "more", "options": [option("An option", "1")]},
    },
    {"type": "section", "fields": [mrkdwn("*left*"), plain("right :bulb:"), plain("as is :bulb:", emoji=False)]},
    {"type": "context", "elements": [mrkdwn("small words"), plain("smaller")]},
    {"type": "divider"},
    RICH,
    {
        "type": "actions",
        "block_id": "volume:111111111111/us-east-1/vol-1",
        "elements": [
            {"type": "button", "action_id": "validate", "text": plain("Validate"), "style": "primary", "value": "run"},
            {"type": "button", "action_id": "exclude", "text": plain("Not this volume"), "style": "danger"},
            {"type": "button", "action_id": "open", "text": plain("Open"), "url": "https://example.com/report"},
            {"type": "static_select", "action_id": "days", "placeholder": plain("How long"), "options": DAYS},
        ],
    },
    {"type": "image", "image_url": "https://example.com/x.png", "alt_text": "a distant image", "title": plain("Far")},
    {
        "type": "table",
        "column_settings": [{"is_wrapped": True}, {"align": "right"}],
        "rows": [
            [{"type": "raw_text", "text": "account"}, {"type": "raw_text", "text": "saved"}],
            [rich_text(line(text("111111111111"))), {"type": "raw_number", "value": 12, "text": "$12.00"}],
        ],
    },
]

VIEW: dict[str, Any] = {
    "type": "modal",
    "title": plain("Snooze"),
    "submit": plain("Snooze it"),
    "close": plain("Leave it"),
    "blocks": [
        RICH,
        {
            "type": "input",
            "label": plain("For how long?"),
            "element": {"type": "radio_buttons", "action_id": "days", "options": DAYS, "initial_option": DAYS[1]},
        },
        {
            "type": "input",
            "label": plain("Why?"),
            "hint": plain("Others will read it."),
            "optional": True,
            "element": {
                "type": "plain_text_input",
                "action_id": "reason",
                "multiline": True,
                "placeholder": plain("Because"),
            },
        },
    ],
}


def a_message(*blocks: dict[str, Any], words: str = "A message") -> Message:
    return Message(text=words, blocks=blocks)


def a_conversation(*blocks: dict[str, Any], replies: int = 0) -> Conversation:
    found = tuple(
        Reply(key=f"{number}", message=a_message(rich_text(line(text(f"answer {number}")))))
        for number in range(replies)
    )
    return Conversation(main=a_message(*blocks), replies=found)
