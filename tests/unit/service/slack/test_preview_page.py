"""The preview shows what Slack would show of any payload, obeys nothing in it, and asks nobody for anything."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from plimsoll_service.slack.blocks.message import Conversation, SlackMessage
from plimsoll_service.slack.preview import preview
from tests.slack.limits import check_message
from tests.unit.reports.html.test_page_files import contrast
from tests.unit.reports.strategies import HOSTILE
from tests.unit.service.slack.blocks.payloads import (
    BLOCKS,
    a_conversation,
    a_message,
    line,
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


def test_the_payload_drawn_here_is_one_that_slack_takes():
    check_message(a_message(*BLOCKS).payload)


def test_a_message_shows_who_sent_it_when_and_every_block():
    page = drawn(*BLOCKS, sent=datetime(2026, 11, 21, 19, 14, tzinfo=UTC), channel="storage")
    for told in (
        "# storage", "Saturday, November 21", "Plimsoll APP 19:14", "The header", "small words", "bold words", "@U123",
        "#C123", "first point", "as it is", "Validate", "Not this volume",
    ):  # fmt: skip
        assert told in page.text, told
    assert "not draw" not in page.text
    assert page.all("a", href="https://example.com/a?b=1&c=2")
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
    said = Conversation(main=SlackMessage(text="Nothing to &lt;do&gt;", blocks=()))
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


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_no_text_of_a_message_is_obeyed(attack):
    option = {"text": plain(attack), "value": attack}
    page = drawn(
        {"type": "header", "text": plain(attack)},
        {"type": "context", "elements": [plain(attack)]},
        rich_text(line(text(attack, bold=True), {"type": "link", "url": attack, "text": attack})),
        {
            "type": "actions",
            "block_id": attack,
            "elements": [
                {"type": "button", "action_id": attack, "text": plain(attack), "url": attack, "style": attack},
                {"type": "overflow", "action_id": attack, "options": [option]},
            ],
        },
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


PAIRS = dict(re.findall(r"--(\w+): light-dark\((#\w{6}, #\w{6})\)", preview(a_conversation())))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["ink", "soft", "link", "code", "alarm"])
@pytest.mark.parametrize("ground", ["paper", "plate"])
def test_text_stands_out_from_its_ground(ground, ink, theme):
    assert contrast(PAIRS[ground].split(", ")[theme], PAIRS[ink].split(", ")[theme]) >= 4.5
