"""axe-core finds nothing to complain about, on the report, on the live page, and in either color scheme."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.unit.reports.fleets import a_fleet
from tests.unit.reports.html.pages import written
from tests.unit.reports.runs import a_run
from tests.unit.serving.served import served

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.once]

FLEET = a_fleet(40)
WIDTHS = (390, 1024, 1440)
SCHEMES = ("light", "dark")
ON_A_PUSH = ((390, "light"), (1440, "dark"))
"""Both schemes and both ends of the widths: a release tries every pair."""


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    return written(a_run(tmp_path_factory.mktemp("run"), FLEET))


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        pytest.param(width, scheme, marks=() if (width, scheme) in ON_A_PUSH else pytest.mark.release)
        for width in WIDTHS
        for scheme in SCHEMES
    ],
)
def test_the_report_has_no_violation(reader: Reader, report: Path, width: int, scheme: str):
    for place in ("", "#group=account&region=us-east-1", f"#volume={FLEET[0].volume_id}"):
        page = reader.open(report, place, viewport={"width": width, "height": 900}, color_scheme=scheme)
        if "volume" in place:
            expect(page.locator("#volume figure:has(svg)")).to_have_count(2)
        assert violations(page) == [], place


@pytest.mark.needs("serve")
@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.release), "dark"])
def test_the_live_page_has_no_violation(chromium: Browser, tmp_path: Path, monkeypatch, scheme: str):
    runs = tmp_path / "runs"
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(runs))
    name = f"{FLEET[0].account}/{FLEET[0].region}/{FLEET[0].volume_id}"
    with served(tmp_path / "served") as url:
        for width in WIDTHS:
            page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.goto(url)
            if width == WIDTHS[0]:
                assert violations(page) == [], "no run"
                a_run(runs / "one", FLEET)
            expect(page.locator("#count")).to_contain_text(" of ")
            expect(page.locator("#live-told")).to_contain_text("Audited")
            assert violations(page) == []
            page.goto(f"{url}/volume/{name}")
            expect(page.get_by_role("heading", name="History")).to_be_visible()
            assert violations(page) == [], "a volume"
            page.close()
