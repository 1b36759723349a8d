"""Block Kit's published limits, as a judge that is not the product: what Slack would refuse fails with its path.

Figures as docs.slack.dev/reference/block-kit has them in November 2026. Strings are measured as UTF-16 holds them,
which is never less than Slack counts.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

Check = Callable[[Any, str], None]

MOST_BLOCKS: Final = 50
MOST_VIEW_BLOCKS: Final = 100
MOST_CHARACTERS: Final = 12_000
"""Of compact JSON in a message: beyond about that, Slack answers msg_blocks_too_long."""
MOST_VIEW_BYTES: Final = 250_000
MOST_TABLE_CHARACTERS: Final = 10_000


def check_message(payload: Mapping[str, Any]) -> None:
    """AssertionError naming the path of what Slack would refuse in a message: its text and its blocks."""
    text(4000)(payload.get("text"), "text")
    blocks = payload.get("blocks", [])
    array(MESSAGE_BLOCK, MOST_BLOCKS, 0)(blocks, "blocks")
    _unique(blocks, "block_id", "blocks")
    size = _long(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))
    assert size <= MOST_CHARACTERS, f"blocks: {size} characters of JSON, most {MOST_CHARACTERS}"
    tables = sum(block["type"] == "table" for block in blocks)
    assert tables <= 1, f"blocks: {tables} tables, most 1"


def check_view(view: Mapping[str, Any]) -> None:
    """AssertionError naming the path of what Slack would refuse in a modal or a home tab."""
    VIEW(view, "view")
    blocks = view["blocks"]
    _unique(blocks, "block_id", "view.blocks")
    if view["type"] == "modal" and any(block["type"] == "input" for block in blocks):
        assert "submit" in view, "view: it has an input and no submit"
    focused = json.dumps(view).count('"focus_on_load": true')
    assert focused <= 1, f"view: {focused} elements take the focus, most 1"
    size = len(json.dumps(view).encode())
    assert size <= MOST_VIEW_BYTES, f"view: {size} bytes, most {MOST_VIEW_BYTES}"


def text(most: int, least: int = 1) -> Check:
    def check(value: Any, path: str) -> None:
        assert isinstance(value, str), f"{path}: {value!r:.80} is no string"
        assert least <= _long(value) <= most, f"{path}: {_long(value)} characters, {least} to {most} are taken"
        assert "\0" not in value, f"{path}: it holds a NUL"

    return check


def number(least: int, most: int) -> Check:
    def check(value: Any, path: str) -> None:
        assert type(value) is int, f"{path}: {value!r:.80} is no whole number"
        assert least <= value <= most, f"{path}: {value}, {least} to {most} are taken"

    return check


def one_of(*allowed: Any) -> Check:
    def check(value: Any, path: str) -> None:
        assert value in allowed, f"{path}: {value!r:.80} is none of {allowed}"

    return check


def array(item: Check, most: int, least: int = 1) -> Check:
    def check(value: Any, path: str) -> None:
        assert isinstance(value, list | tuple), f"{path}: {value!r:.80} is no list"
        assert least <= len(value) <= most, f"{path}: {len(value)} items, {least} to {most} are taken"
        for at, one in enumerate(value):
            item(one, f"{path}[{at}]")

    return check


def fields(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    known = {**required, **(optional or {})}

    def check(value: Any, path: str) -> None:
        _object(value, path)
        for key in required:
            assert key in value, f"{path}: {key} is missing"
        for key, one in value.items():
            assert key in known, f"{path}: {key} is unknown"
            known[key](one, f"{path}.{key}")

    return check


def typed(*kinds: str) -> Check:
    """An object of one of these types, each as TYPES has it."""

    def check(value: Any, path: str) -> None:
        _object(value, path)
        kind = value.get("type")
        assert kind in kinds, f"{path}.type: {kind!r:.80} is none of {kinds}"
        TYPES[kind](value, path)

    return check


def plain(most: int) -> Check:
    return fields({"type": one_of("plain_text"), "text": text(most)}, {"emoji": flag})


def either(most: int) -> Check:
    """A text of Slack's markup, or plain."""
    marked = fields({"type": one_of("mrkdwn"), "text": text(most)}, {"verbatim": flag})

    def check(value: Any, path: str) -> None:
        (marked if isinstance(value, Mapping) and value.get("type") == "mrkdwn" else plain(most))(value, path)

    return check


def flag(value: Any, path: str) -> None:
    assert isinstance(value, bool), f"{path}: {value!r:.80} is neither true nor false"


def url(value: Any, path: str) -> None:
    text(3000)(value, path)
    assert re.match(r"https?://\S+$", value), f"{path}: {value!r:.80} is no address"


def _object(value: Any, path: str) -> None:
    assert isinstance(value, Mapping), f"{path}: {value!r:.80} is no object"


def _long(value: str) -> int:
    return len(value.encode("utf-16-le")) // 2


def _unique(values: Any, key: str, path: str) -> None:
    counts = Counter(one[key] for one in values if key in one)
    twice = [one for one, count in counts.items() if count > 1]
    assert not twice, f"{path}: {key} {twice[0]!r} is there twice"


def _kind(name: str, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> dict[str, Check]:
    return {name: fields({"type": one_of(name), **required}, optional)}


def _block(name: str, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> dict[str, Check]:
    return _kind(name, required, {"block_id": text(255), **(optional or {})})


def _element(name: str, required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> dict[str, Check]:
    return _kind(name, required, {"action_id": text(255), "confirm": _confirm, **(optional or {})})


def _input(name: str, optional: Mapping[str, Check], required: Mapping[str, Check] | None = None) -> dict[str, Check]:
    return _element(name, required or {}, {"placeholder": plain(150), "focus_on_load": flag, **optional})


def _section(value: Any, path: str) -> None:
    fields(
        {"type": one_of("section")},
        {
            "block_id": text(255),
            "text": either(3000),
            "fields": array(either(2000), 10),
            "accessory": typed("image", *INTERACTIVE),
            "expand": flag,
        },
    )(value, path)
    assert "text" in value or "fields" in value, f"{path}: neither text nor fields"


def _actions(value: Any, path: str) -> None:
    shape = {"type": one_of("actions"), "elements": array(typed(*INTERACTIVE), 25)}
    fields(shape, {"block_id": text(255)})(value, path)
    _unique(value["elements"], "action_id", f"{path}.elements")


def _context(value: Any, path: str) -> None:
    def element(one: Any, where: str) -> None:
        image = isinstance(one, Mapping) and one.get("type") == "image"
        (typed("image") if image else either(2000))(one, where)

    fields({"type": one_of("context"), "elements": array(element, 10)}, {"block_id": text(255)})(value, path)


def _image(value: Any, path: str) -> None:
    place = {"image_url": url, "slack_file": fields({}, {"id": text(255), "url": url})}
    optional = {**place, "block_id": text(255), "title": plain(2000)}
    fields({"type": one_of("image"), "alt_text": text(2000)}, optional)(value, path)
    assert len(place.keys() & value) == 1, f"{path}: it needs image_url or slack_file, one of them"


def _table(value: Any, path: str) -> None:
    column = fields({}, {"align": one_of("left", "center", "right"), "is_wrapped": flag})
    cells = array(typed("rich_text", "raw_text", "raw_number"), 20)
    fields(
        {"type": one_of("table"), "rows": array(cells, 100)},
        {"block_id": text(255), "column_settings": array(column, 20)},
    )(value, path)
    size = sum(_long(one) for one in _texts(value["rows"]))
    assert size <= MOST_TABLE_CHARACTERS, f"{path}: {size} characters in cells, most {MOST_TABLE_CHARACTERS}"


def _texts(value: Any) -> list[str]:
    """What an object shows: the strings that are somebody's text."""
    if isinstance(value, Mapping):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [one for inner in value.values() for one in _texts(inner)]
    return [one for inner in value for one in _texts(inner)] if isinstance(value, list | tuple) else []


def _option(label: Check) -> Check:
    return fields({"text": label, "value": text(150)}, {"description": either(75), "url": url})


_confirm = fields(
    {"title": plain(100), "text": either(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)
_options = array(_option(plain(75)), 100)
_few = array(_option(either(75)), 10)
_style = fields({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), flag))
_said = typed("text", "link", "user", "channel", "usergroup", "emoji", "broadcast", "date")
_date = re.compile(r"\d{4}-\d{2}-\d{2}")


def _day(value: Any, path: str) -> None:
    text(10, 10)(value, path)
    assert _date.fullmatch(value), f"{path}: {value!r:.80} is no date"


INTERACTIVE: Final = ("button", "overflow", "static_select", "checkboxes", "radio_buttons", "datepicker")
INPUTS: Final = ("plain_text_input", "number_input", "static_select", "checkboxes", "radio_buttons", "datepicker")
_COMMON: Final = ("section", "header", "divider", "actions", "context", "image", "rich_text", "input")

TYPES: Final[Mapping[str, Check]] = {
    "section": _section,
    "actions": _actions,
    "context": _context,
    "image": _image,
    "table": _table,
    **_block("header", {"text": plain(150)}),
    **_block("divider", {}),
    **_block("markdown", {"text": text(12_000)}),
    **_block(
        "rich_text",
        {
            "elements": array(
                typed("rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"), 500
            )
        },
    ),
    **_block(
        "input",
        {"label": plain(2000), "element": typed(*INPUTS)},
        {"hint": plain(2000), "optional": flag, "dispatch_action": flag},
    ),
    **_element(
        "button",
        {"text": plain(75)},
        {"value": text(2000), "url": url, "style": one_of("primary", "danger"), "accessibility_label": text(75)},
    ),
    **_element("overflow", {"options": array(_option(plain(75)), 5)}),
    **_input("static_select", {"initial_option": _option(plain(75))}, {"options": _options}),
    **_input("checkboxes", {"initial_options": _few}, {"options": _few}),
    **_input("radio_buttons", {"initial_option": _option(either(75))}, {"options": _few}),
    **_input("datepicker", {"initial_date": _day}),
    **_input(
        "plain_text_input",
        {
            "initial_value": text(3000, 0),
            "multiline": flag,
            "min_length": number(0, 3000),
            "max_length": number(1, 3000),
        },
    ),
    **_input(
        "number_input",
        {"initial_value": text(40), "min_value": text(40), "max_value": text(40)},
        {"is_decimal_allowed": flag},
    ),
    **_kind("rich_text_section", {"elements": array(_said, 500)}),
    **_kind("rich_text_quote", {"elements": array(_said, 500)}, {"border": number(0, 1)}),
    **_kind("rich_text_preformatted", {"elements": array(typed("text", "link"), 500)}, {"border": number(0, 1)}),
    **_kind(
        "rich_text_list",
        {"elements": array(typed("rich_text_section"), 500), "style": one_of("bullet", "ordered")},
        {"indent": number(0, 8), "offset": number(0, 10_000), "border": number(0, 1)},
    ),
    **_kind("text", {"text": text(MOST_CHARACTERS)}, {"style": _style}),
    **_kind("link", {"url": url}, {"text": text(MOST_CHARACTERS), "style": _style, "unsafe": flag}),
    **_kind("user", {"user_id": text(255)}, {"style": _style}),
    **_kind("channel", {"channel_id": text(255)}, {"style": _style}),
    **_kind("usergroup", {"usergroup_id": text(255)}, {"style": _style}),
    **_kind("emoji", {"name": text(255)}, {"unicode": text(255), "style": _style}),
    **_kind("broadcast", {"range": one_of("here", "channel", "everyone")}),
    **_kind("date", {"timestamp": number(0, 2**40), "format": text(255)}, {"url": url, "fallback": text(255)}),
    **_kind("raw_text", {"text": text(MOST_TABLE_CHARACTERS)}),
    **_kind("raw_number", {"value": number(-(2**53), 2**53)}, {"text": text(255)}),
}

MESSAGE_BLOCK: Final = typed(*_COMMON, "table", "markdown")
_shown: Final = {"type": one_of("modal", "home"), "blocks": array(typed(*_COMMON), MOST_VIEW_BLOCKS, 0)}
_kept: Final = {"private_metadata": text(3000, 0), "callback_id": text(255), "external_id": text(255)}


def VIEW(view: Any, path: str) -> None:  # noqa: N802 - reads as the other shapes
    modal = isinstance(view, Mapping) and view.get("type") == "modal"
    buttons = {"submit": plain(24), "close": plain(24), "clear_on_close": flag, "notify_on_close": flag}
    fields(
        {**_shown, **({"title": plain(24)} if modal else {})},
        {**_kept, **({**buttons, "submit_disabled": flag} if modal else {})},
    )(view, path)
