"""Messages for Slack on the terminal: every kind of block as it reads there, and nothing that a terminal obeys."""

import pytest
from rich.console import Console

from plimsoll_service.slack.preview import show_conversation

TEXT = {"type": "plain_text", "text": "plain"}


def shown(*blocks, width=80, text="told"):
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        show_conversation(console, {"main": {"text": text, "blocks": list(blocks)}, "replies": []})
    return captured.get()


def rich(*elements):
    return {"type": "rich_text", "elements": list(elements)}


def said(text, **style):
    return {"type": "text", "text": text, **({"style": style} if style else {})}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "header", "text": TEXT}, "plain"),
        ({"type": "context", "elements": [TEXT]}, "plain"),
        ({"type": "actions", "elements": [{"type": "button", "text": TEXT}]}, "[ plain ]"),
        (
            {"type": "actions", "elements": [{"type": "overflow", "options": [{"text": TEXT}, {"text": TEXT}]}]},
            "[ ⋯ plain | plain ]",
        ),
        (rich({"type": "rich_text_section", "elements": [said("bold", bold=True), said(" [red]&amp;")]}), "[red]&amp;"),
        (
            rich(
                {
                    "type": "rich_text_list",
                    "style": "bullet",
                    "elements": [{"type": "rich_text_section", "elements": [said("first")]}],
                }
            ),
            "• first",
        ),
        (rich({"type": "rich_text_preformatted", "elements": [said("a  b")]}), "a  b"),
        (
            rich({"type": "rich_text_section", "elements": [{"type": "link", "url": "https://a.example"}]}),
            "https://a.",
        ),
        ({"type": "unheard-of"}, "[unheard-of]"),
    ],
)
def test_every_kind_of_block_is_read(block, words):
    assert words in shown(block)


def test_a_name_is_shown_and_not_obeyed():
    found = shown(rich({"type": "rich_text_section", "elements": [said("\x1b[2Jgone")]}), text="&lt;&amp;&gt; \x07")
    assert "\x1b[2J" not in found
    assert "notification: <&>" in found


@pytest.mark.parametrize("width", [20, 80, 160])
def test_no_line_is_wider_than_the_screen(width):
    long = rich({"type": "rich_text_section", "elements": [said("a volume's name " * 40)]})
    assert max(map(len, shown(long, width=width).splitlines())) <= min(width, 110)
