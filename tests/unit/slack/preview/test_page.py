"""The preview shows what Slack would show of any payload, obeys nothing in it, and asks nobody for anything."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from plimsoll.slack.blocks.message import Conversation, Message
from plimsoll.slack.preview.marks import mrkdwn as marked
from plimsoll.slack.preview.page import preview, preview_view
from tests.profiles import examples
from tests.slack.limits import check_message, check_view
from tests.unit.reports.html.test_looks import contrast
from tests.unit.reports.strategies import HOSTILE
from tests.unit.slack.blocks.payloads import (
    BLOCKS,
    VIEW,
    a_conversation,
    a_message,
    line,
    mrkdwn,
    plain,
    rich_text,
    text,
)

VOID = {"meta", "link", "br", "hr", "img", "rect", "circle", "path"}
ATTACKS = (
    *HOSTILE,
    '"><script>alert(1)</script>',
    "javascript:alert(1)",
    "<javascript:alert(1)|click>",
    "</style><script>",
    "{{ 7 * 7 }}",
    "*_~`" * 500,
    "\ud800\x00",
)


class Drawn(HTMLParser):
    """A page's elements, each closed where it should be, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(page)
        assert self.open == []
        self.text = " ".join(self.words.split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data if "style" not in self.open else ""

    def all(self, tag, **attributes):
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]


def drawn(*blocks, **options) -> Drawn:
    return Drawn(preview(a_conversation(*blocks), **options))


def test_the_payloads_drawn_here_are_such_as_slack_takes():
    check_message(a_message(*BLOCKS).payload)
    check_view(VIEW)


def test_a_message_shows_who_sent_it_when_and_every_block():
    page = drawn(*BLOCKS, sent=datetime(2026, 11, 21, 19, 14, tzinfo=UTC), channel="storage")
    for told in (
        "# storage", "Saturday, November 21", "Plimsoll APP 19:14", "The header", "strong leaning gone", "a link",
        "<b>", "@ann", "quoted", "small words", "bold words", "@U123", "@S123", "#C123", "@here", "\u26a0",
        "\U0001f40c",
        "2027-01-15 08:00 UTC", "first point", "fifth point", "somebody's words", "Validate", "Not this volume",
        "How long", "7 days", "a distant image", "111111111111", "$12.00", "An option",
    ):  # fmt: skip
        assert told in page.text, told
    assert "not draw" not in page.text
    assert [found["start"] for found in page.all("ol")] == ["5"]
    assert page.all("a", href="https://example.com/a?b=1&c=2")
    assert page.all("button", **{"class": "button primary"})
    assert page.all("button", **{"class": "button danger"})
    assert page.all("a", href="https://example.com/report")


def test_the_thread_has_the_pictures_and_then_the_replies_in_order():
    page = Drawn(preview(a_conversation(*BLOCKS, replies=2), pictures={"Savings by account": b"\x89PNG"}))
    assert "3 replies in the thread" in page.text
    assert re.search("Thread .* Savings by account .* answer 0 .* answer 1", page.text)
    (image,) = page.all("img")
    assert image["src"] == "data:image/png;base64,iVBORw=="
    assert image["alt"] == "Savings by account"


def test_a_message_alone_has_no_thread():
    assert "Thread" not in drawn(*BLOCKS).text


def test_a_message_without_blocks_is_its_text():
    said = Conversation(main=Message(text="*Nothing* to &lt;do&gt;", blocks=()))
    assert "Nothing to <do>" in Drawn(preview(said)).text


@pytest.mark.parametrize(
    "block",
    [
        {"type": "data_table", "caption": "x"},
        {"type": "actions", "elements": [{"type": "workflow_button"}]},
        rich_text({"type": "rich_text_poem"}),
        rich_text(line({"type": "sound"})),
        {"type": "<script>"},
    ],
    ids=["block", "element", "rich text", "piece", "hostile"],
)
def test_what_it_cannot_draw_it_names(block):
    page = drawn(block)
    assert re.search(r"not draw(n here| (blocks|elements|rich text) of type (\w+|<script>))", page.text)
    assert not page.all("script")


def test_a_window_has_its_title_its_inputs_and_its_buttons():
    page = Drawn(preview_view(VIEW))
    for told in (
        "Snooze",
        "For how long?",
        "30 days",
        "Why? (optional)",
        "Because",
        "Others will read it.",
        "Leave it",
    ):
        assert told in page.text
    assert len(page.all("li", **{"class": "on"})) == 1
    assert page.all("button", **{"class": "button primary"})


def test_a_home_tab_has_blocks_alone():
    assert "The header" in Drawn(preview_view({"type": "home", "blocks": BLOCKS})).text


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_of_a_message_is_obeyed(attack):
    option = {"text": plain(attack), "value": attack, "description": plain(attack)}
    page = drawn(
        {"type": "header", "text": plain(attack)},
        {"type": "section", "text": mrkdwn(attack), "fields": [mrkdwn(attack), plain(attack)]},
        {"type": "context", "elements": [mrkdwn(attack)]},
        rich_text(line(text(attack, bold=True), {"type": "link", "url": attack, "text": attack})),
        {"type": "image", "image_url": attack, "alt_text": attack, "title": plain(attack)},
        {
            "type": "actions",
            "block_id": attack,
            "elements": [
                {"type": "button", "action_id": attack, "text": plain(attack), "url": attack, "style": attack},
                {"type": "radio_buttons", "action_id": attack, "options": [option], "initial_option": option},
                {"type": "overflow", "action_id": attack, "options": [option]},
            ],
        },
        {"type": "table", "rows": [[{"type": "raw_text", "text": attack}]]},
        {"type": attack},
        pictures={attack: b""},
        channel=attack,
    )
    assert not page.all("script")
    assert len(page.all("style")) == 1
    for tag, found in page.elements:
        assert not [name for name in found if name.startswith("on") or name == "style"], tag
        assert re.match(r"https?:|mailto:|#$|data:", found.get("href") or "#"), tag
        assert (found.get("src") or "data:").startswith("data:"), tag
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"] or ""
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


@settings(max_examples=examples(200), deadline=None)
@given(some.text(alphabet=some.sampled_from("*_~`<>|@#!&;:\n ab\u202e\U0001f40c"), max_size=60))
def test_whatever_is_written_in_slacks_markup_is_well_formed_and_none_of_ours(words):
    found = Drawn(f"<p>{marked(words)}</p>")
    assert {tag for tag, _ in found.elements} <= {"p", "b", "i", "s", "code", "pre", "blockquote", "a", "span"}


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("*a* b", "<b>a</b> b"),
        ("_*both*_", "<i><b>both</b></i>"),
        ("2*3*4 snake_case_name", "2*3*4 snake_case_name"),
        ("* not bold *", "* not bold *"),
        ("`*literal*`", "<code>*literal*</code>"),
        ("```a\n *b*```", "<pre>a\n *b*</pre>"),
        ("&gt; said\nbefore", "<blockquote>said</blockquote>\nbefore"),
        ("a &amp; &lt;b&gt; &amp;lt;", "a &amp; &lt;b&gt; &amp;lt;"),
        ("<!here> <#C1|general> <!subteam^S1|@ops>", "@here #general @ops"),
        ("<!date^1800000000^{date}|in 2027>", "in 2027"),
        ("<mailto:a@b.c|write>", "write"),
        ("<nothing>", "&lt;nothing&gt;"),
        ("<|nothing>", "&lt;|nothing&gt;"),
        (":warning: :no_such_sign:", "\u26a0\ufe0f :no_such_sign:"),
    ],
)
def test_slacks_markup_means_what_it_means_there(words, html):
    assert re.sub(r"</?(span|a)\b[^>]*>", "", str(marked(words))) == html


PAIRS = dict(re.findall(r"--(\w+): light-dark\((#\w{6}, #\w{6})\)", preview(a_conversation())))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft", "link", "code", "alarm"])
@pytest.mark.parametrize("ground", ["paper", "plate"])
def test_text_stands_out_from_its_ground(ground, ink, theme):
    assert contrast(PAIRS[ground].split(", ")[theme], PAIRS[ink].split(", ")[theme]) >= 4.5
