"""A real browser: Debian's Chromium, headless, that may open the report's file and nothing else."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Route,
    expect,
    sync_playwright,
)


def launched(playwright: Playwright) -> Browser:
    """The machine's own Chromium; without its sandbox, which root cannot have."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])


PATIENCE_MS = 120_000
"""As long as a busy machine may take over what is done at once on a quiet one."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


class Reader:
    """Somebody who opens a report: `open` gives its page, and `complaints` is all that went wrong on it."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def open(self, report: Path, place: str = "", **options: object) -> Page:
        """The report at that place (what follows #), when its table can be used."""
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        address = report.resolve().as_uri()
        page = context.new_page()
        page.route("**/*", lambda route: self._only(route, address))
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.goto(address + place)
        if page.locator("#count").count():
            expect(page.locator("#count")).to_contain_text(" of ")
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _only(self, route: Route, address: str) -> None:
        if re.split("[?#]", route.request.url)[0] == address:
            route.continue_()
        else:
            self.complaints.append(f"asked for {route.request.url}")
            route.abort()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    someone = Reader(chromium)
    yield someone
    someone.close()
    assert someone.complaints == []
