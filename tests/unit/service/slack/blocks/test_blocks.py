"""Blocks and texts: what anybody wrote is shown as it is, within Slack's limits, and nothing of it is obeyed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll_service.slack.actions.registry import CONTROLS
from plimsoll_service.slack.blocks import elements as blocks
from plimsoll_service.slack.blocks.elements import cut_text, fallback, line, utf16_length
from plimsoll_service.slack.blocks.message import MOST_BLOCKS, MessageBudget, SlackMessage, size
from tests.slack.limits import check_message
from tests.unit.cli.test_imports import imported

anything = st.text(st.characters(), max_size=400) | st.sampled_from(["x" * 20_000, "\U0001f6a2" * 9_000, "\n" * 5_000])


@given(text=anything)
def test_whatever_is_said_makes_blocks_that_slack_takes(text):
    for made in (
        [blocks.header_block(text), blocks.note(text)],
        [blocks.paragraph(text, blocks.bold(text), blocks.marked_name(text))],
        blocks.bullets([[text], [blocks.marked_name(text)]]),
        blocks.preformatted_text(text),
        blocks.controls(text, CONTROLS),
        blocks.report_link(text),
    ):
        check_message(SlackMessage.compose(text, made).payload)


@given(text=anything, most=st.integers(1, 200))
def test_a_text_is_cut_to_its_length_and_stands_on_its_line(text, most):
    assert utf16_length(cut_text(text, most)) <= most
    assert utf16_length(line(text, most)) <= most
    assert len(line(text, most).splitlines()) <= 1


def test_what_orders_or_turns_or_hides_text_is_shown_as_an_escape():
    assert line("a\u202eb\u200b c\0d\ud800\r\n  e") == r"a\u202eb\u200b c\x00d\ud800 e"


def test_a_notification_mentions_nobody():
    assert fallback("<!channel> & <@U1>\nnow") == "&lt;!channel&gt; &amp; &lt;@U1&gt; now"
    assert len(fallback("&" * 5_000)) <= 3_000
    assert fallback("&amp;") == "&amp;amp;"


def test_a_screen_is_shown_whole_where_it_fits_and_says_where_it_is_cut():
    (shown,) = blocks.preformatted_text("\n".join(f"line {number}" for number in range(100)))
    text = shown["elements"][0]["elements"][0]["text"]
    assert text.splitlines()[-1] == "line 99"
    (shown,) = blocks.preformatted_text("\n".join('"quoted"' * 10 for _ in range(1000)))
    text = shown["elements"][0]["elements"][0]["text"]
    assert text.endswith("\n… cut here")
    assert utf16_length(text) > 4_000
    check_message(SlackMessage.compose("a screen", [shown]).payload)


def test_buttons_stand_in_their_order_and_name_their_volume():
    (row,) = blocks.controls("1/us-east-1/vol-1", CONTROLS)
    explain, validate, menu = row["elements"]
    assert [explain["action_id"], validate["action_id"], menu["action_id"]] == ["explain", "validate", blocks.MENU]
    assert [one["value"] for one in menu["options"]] == ["probe", "snooze", "done", "exclude"]
    assert blocks.volume_of_block(row["block_id"]) == "1/us-east-1/vol-1"
    assert blocks.volume_of_block("report") is None


@pytest.mark.parametrize("volume", ["x" * 250, "1/us-east-1/vol-\0"])
def test_a_volume_that_no_block_can_name_has_no_buttons(volume):
    assert blocks.controls(volume, CONTROLS) == []


def test_a_budget_gives_room_for_as_much_as_slack_takes():
    budget, row = MessageBudget(), blocks.note("a line")
    taken = 0
    while budget.take([row]):
        taken += 1
    assert taken == MOST_BLOCKS
    budget, row = MessageBudget(), blocks.paragraph("é\U0001f6a2" * 100)
    made = [row for _ in range(MOST_BLOCKS) if budget.take([row])]
    check_message(SlackMessage.compose("much", made).payload)
    assert size([*made, row]) > 12_000 - 1


def test_blocks_and_texts_are_light():
    heavy = {"altair", "boto3", "duckdb", "numpy", "pydantic", "rich", "yaml"}
    assert (
        imported("import plimsoll_service.slack.blocks.elements, plimsoll_service.slack.blocks.message") & heavy
        == set()
    )
