"""The judge of messages: what Block Kit takes passes, and what it refuses fails by its path."""

import copy

import pytest

from tests.slack.limits import check_message, check_view

BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "Explain"}, "action_id": "explain", "value": "r"}
SAID = {"type": "rich_text_section", "elements": [{"type": "text", "text": "a", "style": {"bold": True}}]}
MESSAGE = {
    "text": "what it says",
    "blocks": [
        {"type": "header", "text": {"type": "plain_text", "text": "a", "emoji": False}},
        {"type": "rich_text", "elements": [SAID, {"type": "rich_text_list", "style": "bullet", "elements": [SAID]}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "a"}, "accessory": BUTTON},
        {"type": "actions", "block_id": "one", "elements": [BUTTON]},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "a"}]},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]},
    ],
}
VIEW = {
    "type": "modal",
    "title": {"type": "plain_text", "text": "Snooze"},
    "submit": {"type": "plain_text", "text": "Snooze"},
    "callback_id": "snooze",
    "blocks": [
        {
            "type": "input",
            "block_id": "reason",
            "label": {"type": "plain_text", "text": "Why"},
            "element": {"type": "plain_text_input", "action_id": "reason", "max_length": 300},
        }
    ],
}


def _changed(whole, path, value):
    changed = copy.deepcopy(whole)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def test_what_block_kit_takes_passes():
    check_message(MESSAGE)
    check_view(VIEW)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("text",), "", "text: 0 characters"),
        (("text",), None, "text: None is no string"),
        (("blocks",), [{"type": "divider"}] * 51, "blocks: 51 items"),
        (("blocks",), [{"type": "markdown", "text": "x" * 12_000}], "characters of JSON"),
        (("blocks", 0, "text", "text"), "x" * 151, r"blocks\[0\].text.text: 151"),
        (("blocks", 0, "text", "type"), "mrkdwn", r"blocks\[0\].text.type"),
        (("blocks", 0, "type"), "data_table", r"blocks\[0\].type: 'data_table' is none"),
        (("blocks", 0, "block_id"), "one", "block_id 'one' is there twice"),
        (("blocks", 0, "color"), "red", r"blocks\[0\]: color is unknown"),
        (("blocks", 1, "elements", 0, "elements"), [], r"blocks\[1\].elements\[0\].elements: 0 items"),
        (("blocks", 1, "elements", 0, "elements", 0, "text"), "", r"elements\[0\].text: 0 characters"),
        (("blocks", 1, "elements", 0, "elements", 0, "text"), "a\0", "it holds a NUL"),
        (("blocks", 1, "elements", 1, "elements", 0), {"type": "text", "text": "a"}, "is none of"),
        (("blocks", 2, "text"), ..., "neither text nor fields"),
        (("blocks", 2, "text", "text"), "x" * 3001, r"blocks\[2\].text.text: 3001"),
        (("blocks", 3, "elements"), [BUTTON, BUTTON], "action_id 'explain' is there twice"),
        (("blocks", 3, "elements", 0, "text"), ..., "text is missing"),
        (("blocks", 3, "elements", 0, "value"), "x" * 2001, "value: 2001"),
        (("blocks", 3, "elements", 0, "url"), "javascript:alert(1)", "is no address"),
        (("blocks", 4, "elements"), [{"type": "mrkdwn", "text": "a"}] * 11, "11 items"),
        (("blocks", 5, "rows"), [[{"type": "raw_text", "text": "a"}]] * 101, "101 items"),
        (("blocks", 4), MESSAGE["blocks"][5], "2 tables"),
    ],
)
def test_what_block_kit_refuses_in_a_message_fails_by_its_path(path, value, told):
    with pytest.raises(AssertionError, match=told):
        check_message(_changed(MESSAGE, path, value))


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("title", "text"), "x" * 25, "view.title.text: 25"),
        (("submit",), ..., "no submit"),
        (("private_metadata",), "x" * 3001, "private_metadata: 3001"),
        (("blocks", 0, "element", "type"), "button", r"view.blocks\[0\].element.type"),
        (("blocks", 0, "label"), ..., "label is missing"),
    ],
)
def test_what_block_kit_refuses_in_a_view_fails_by_its_path(path, value, told):
    with pytest.raises(AssertionError, match=told):
        check_view(_changed(VIEW, path, value))
