"""The live page in a real browser: it follows an audit, shows a volume's history, and asks its own server alone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from plimsoll.reports.run_folder import RunFolder
from tests.browser.conftest import PATIENCE_MS
from tests.unit.reports.fleets import a_fleet
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.serving.served import served

pytestmark = [pytest.mark.needs("chromium", "serve"), pytest.mark.once]

FLEET = a_fleet(40)
"""The page asks every three seconds, and the server makes no report for five after the last one."""


@pytest.fixture
def runs(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(folder))
    return folder


@pytest.fixture
def url(runs, tmp_path):
    with served(tmp_path / "served") as found:
        yield found


@pytest.fixture
def page(chromium: Browser, url: str):
    """A page that may ask the server alone, and on which nothing goes wrong."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    complaints: list[str] = []
    one = context.new_page()
    one.on("request", lambda asked: asked.url.startswith((url, "data:")) or complaints.append(asked.url))
    one.on("console", lambda said: said.type in {"error", "warning"} and complaints.append(said.text))
    one.on("pageerror", lambda error: complaints.append(str(error)))
    yield one
    context.close()
    assert complaints == []


def opened(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#count")).to_contain_text(" of ")


def test_a_page_that_was_opened_before_the_first_run_becomes_its_report(chromium: Browser, url: str, runs: Path):
    page = chromium.new_page()
    page.goto(url)
    expect(page.get_by_role("heading", name="There is nothing to show yet")).to_be_visible()
    a_run(runs / "one", FLEET)
    expect(page.locator("#count")).to_contain_text(" of ")
    page.close()


def test_it_shows_the_newest_run_and_says_what_it_is(page: Page, url: str, runs: Path):
    a_run(runs / "one", FLEET)
    opened(page, url)
    expect(page.locator("#live-told")).to_contain_text("Audited 2027-01-15 08:00 UTC: complete.")
    expect(page.locator("#live-renew")).to_be_hidden()
    expect(page.locator("#live-history")).to_be_hidden()


def test_newer_answers_come_by_themselves_where_the_run_has_ended(page: Page, url: str, runs: Path):
    a_run(runs / "one", FLEET)
    opened(page, url)
    shown = page.locator("#live").get_attribute("data-version")
    a_run(runs / "two", [*FLEET, a_record("migrate", volume_id="vol-new", name="just-seen")])
    expect(page.locator("#live")).not_to_have_attribute("data-version", shown or "")
    expect(page.locator("#count")).to_contain_text(" of ")
    page.get_by_label("Search").fill("just-seen")
    expect(page.locator("#table tbody tr")).to_have_count(1)


def test_who_looks_at_a_volume_is_not_interrupted(page: Page, url: str, runs: Path):
    folder = a_run(runs / "one", FLEET, status="running")
    with RunFolder(folder) as written:
        opened(page, url)
        expect(page.locator("#live-told")).to_contain_text("Auditing: 40 of 40 volumes")
        page.locator("#table tbody th a").first.click()
        written.add(a_record("migrate", volume_id="vol-new"))
        expect(page.locator("#live-renew")).to_be_visible()
        expect(page.locator("#volume")).to_be_visible()


def test_a_volumes_history_is_one_step_away_and_leads_back(page: Page, url: str, runs: Path):
    a_run(runs / "old", FLEET, now="2027-01-01T08:00:00+00:00")
    a_run(runs / "one", FLEET)
    opened(page, url)
    page.locator("#table tbody th a").first.click()
    name = page.locator("#volume h1, #volume h2").first.inner_text()
    page.get_by_role("link", name="History of this volume").click()
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    expect(page.locator("section").first.locator("tbody tr")).to_have_count(2)
    expect(page.locator("#explained")).to_contain_text(re.compile("demand|offers", re.IGNORECASE))
    page.get_by_role("link", name="Back to the report").click()
    expect(page.locator("#volume h1, #volume h2").first).to_have_text(name)


def test_nothing_is_wider_than_the_page(chromium: Browser, url: str, runs: Path):
    a_run(runs / "one", FLEET)
    context = chromium.new_context()
    page = context.new_page()
    record = FLEET[0]
    for path in ("/", f"/volume/{record.account}/{record.region}/{record.volume_id}"):
        page.goto(url + path)
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, (path, width)
    context.close()
