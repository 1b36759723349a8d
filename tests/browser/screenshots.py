"""The pictures of the reports in the README: `python -m tests.browser.screenshots RUN` writes docs/report-*.png and
docs/slack-message.png."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import expect, sync_playwright

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.report import FORMATS, write_report
from plimsoll.cli.run_reports import Report
from plimsoll.reports.html.page import write_html
from tests.browser.conftest import launched

DOCS = Path(__file__).parents[2] / "docs"
WIDTH_PX, HEIGHT_PX = 1280, 1250


def main(run: Path) -> None:
    """Draws the fleet, the first volume whose change measurements prove, and the message in Slack."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        write_html(run, report, envelopes=envelope_library().envelopes, console_link=lambda _record: "https://")
        browser = launched(playwright)
        page = browser.new_page(viewport={"width": WIDTH_PX, "height": HEIGHT_PX}, color_scheme="light")
        page.goto(report.as_uri())
        expect(page.locator("#count")).to_contain_text(" of ")
        page.screenshot(path=DOCS / "report-fleet.png")
        page.locator("li.step.proved summary").click()
        page.locator("li.step.proved li a").first.click()
        expect(page.locator("#volume figure:has(svg)")).to_have_count(2)
        page.screenshot(path=DOCS / "report-volume.png")
        preview = Path(folder) / "slack-preview.html"
        write_report(Report(folder=run), FORMATS["slack-preview"], preview)
        page.goto(preview.as_uri())
        page.screenshot(path=DOCS / "slack-message.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
