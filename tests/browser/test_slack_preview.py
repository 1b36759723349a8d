"""The preview of a message in Slack, in a real browser: it reads on any screen, and asks nobody for anything."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from plimsoll.reports.charts.render import to_png, vega_spec
from plimsoll.reports.charts.savings import savings_chart
from plimsoll.reports.charts.theme import LIGHT
from plimsoll_service.slack.preview import preview
from tests.browser.conftest import Reader
from tests.unit.service.slack.blocks.payloads import BLOCKS, a_conversation, line, plain, rich_text, text

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.once]

WIDE = {"viewport": {"width": 1280, "height": 900}}
NARROW = {"viewport": {"width": 390, "height": 800}}
LONG_NAME = rich_text(line(text("x" * 3000)))
LONG_LABEL = {"type": "actions", "elements": [{"type": "button", "action_id": "long", "text": plain("y" * 75)}]}


@pytest.fixture(scope="module")
def page_of_a_message(tmp_path_factory) -> Path:
    png = to_png(vega_spec(savings_chart({"111111111111": 12.0, "222222222222": 7.5}), None, LIGHT, 560), 2)
    said = a_conversation(*BLOCKS, LONG_NAME, LONG_LABEL, replies=2)
    page = tmp_path_factory.mktemp("slack") / "slack-preview.html"
    page.write_text(preview(said, pictures={"Savings by account": png}), encoding="utf-8")
    return page


def assert_within_the_window(page: Page) -> None:
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths[0] <= widths[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [WIDE, NARROW], ids=["wide", "narrow"])
def test_nothing_is_wider_than_the_window_and_the_picture_is_there(reader: Reader, page_of_a_message, screen, theme):
    page = reader.open(page_of_a_message, **screen, color_scheme=theme)
    assert_within_the_window(page)
    picture = page.get_by_role("img", name="Savings by account")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") > 0


def test_the_thread_is_beside_the_message_where_there_is_room_and_else_below(reader: Reader, page_of_a_message):
    for screen, is_beside in ((WIDE, True), (NARROW, False)):
        page = reader.open(page_of_a_message, **screen)
        message, thread = (page.get_by_role(role).bounding_box() for role in ("main", "complementary"))
        assert message is not None
        assert thread is not None
        assert (thread["x"] >= message["x"] + message["width"]) == is_beside
        assert (thread["y"] >= message["y"] + message["height"]) != is_beside


def test_a_menu_opens_by_the_keyboard(reader: Reader, page_of_a_message):
    page = reader.open(page_of_a_message)
    expect(page.get_by_text("Not this volume")).to_be_hidden()
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Not this volume")).to_be_visible()
