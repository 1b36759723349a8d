"""The report in a real browser: it is read, sorted, filtered, searched, copied from and sent on, and asks nobody."""

import csv
import re
import tarfile
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from plimsoll.reports.change_files import write_changes
from plimsoll.reports.csv_table import cell
from plimsoll.reports.printable import printable
from plimsoll.reports.record import BlockerRecord, OwnerRecord
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.wording import usd
from tests.browser.conftest import Reader
from tests.unit.reports.fleets import a_fleet, special_records
from tests.unit.reports.html.pages import written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.strategies import HOSTILE

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.once]

FLEET = a_fleet(230)
CHANGED = next(record for record in FLEET if record.action == "migrate")


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    return written(a_run(tmp_path_factory.mktemp("run"), FLEET))


def names(page: Page) -> list[str]:
    return page.locator("#table tbody th a").all_inner_texts()


def chooser(page: Page, name: str) -> Locator:
    return page.locator(f"#filters [name={name}]")


def head(page: Page, words: str) -> Locator:
    return page.locator("#table").get_by_role("columnheader", name=words)


def saved(page: Page) -> list[float]:
    cells = page.locator("#table tbody td.number").all_inner_texts()
    figures = [cell.removeprefix("costs ").split()[0].replace("$", "").replace(",", "") for cell in cells]
    return [-float(one) if cell.startswith("costs") else float(one) for cell, one in zip(cells, figures, strict=True)]


def test_the_table_sorts_both_ways_and_says_so(reader: Reader, report: Path):
    page = reader.open(report)
    money = head(page, "saves a month")
    expect(money).to_have_attribute("aria-sort", "descending")
    assert saved(page) == sorted(saved(page), reverse=True)
    money.get_by_role("button").click()
    expect(money).to_have_attribute("aria-sort", "ascending")
    assert saved(page) == sorted(saved(page))
    head(page, "volume").get_by_role("button").click()
    expect(head(page, "volume")).to_have_attribute("aria-sort", "ascending")
    expect(money).to_have_attribute("aria-sort", "none")
    assert names(page)[:3] == ["name-0", "name-1", "name-2"]


def test_a_few_rows_are_shown_and_then_a_hundred_more(reader: Reader, report: Path):
    page = reader.open(report)
    rows = page.locator("#table tbody tr")
    expect(rows).to_have_count(25)
    page.get_by_role("button", name="Show 100 more of 205").click()
    expect(rows).to_have_count(125)
    page.get_by_role("button", name="Show 100 more of 105").click()
    page.get_by_role("button", name="Show 5 more of 5").click()
    expect(rows).to_have_count(230)
    expect(page.locator("#more")).to_be_hidden()


def test_filters_and_search_narrow_the_table_and_are_in_the_address(reader: Reader, report: Path):
    page = reader.open(report)
    page.get_by_label("Step").select_option("detached")
    detached = [record for record in FLEET if step_of(record) is Step("detached")]
    expect(page.locator("#count")).to_contain_text(f"{len(detached)} of 230 volumes")
    chooser(page, "account").select_option("222222222222")
    both = [record for record in detached if record.account == "222222222222"]
    expect(page.locator("#count")).to_contain_text(f"{len(both)} of 230 volumes")
    page.get_by_label("Search").fill(both[0].name)
    assert both[0].name in names(page)
    assert re.search("step=detached.*account=222222222222.*q=", page.url)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_contain_text("230 of 230 volumes")
    page.get_by_label("Search").fill("no such volume")
    expect(page.locator("#table tbody tr")).to_have_count(0)
    expect(page.locator("#count")).to_contain_text("Nothing matches these filters: 0 of 230 volumes")
    expect(page.locator("#table")).to_be_hidden()
    expect(page.locator("#acts")).to_be_hidden()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#table")).to_be_visible()


def test_each_volume_has_its_cost_its_host_and_its_age_and_the_list_sorts_by_them(reader: Reader, report: Path):
    page = reader.open(report, viewport={"width": 1440, "height": 900})
    page.get_by_label("Search").fill(CHANGED.volume_id)
    row = page.locator("#table tbody tr")
    expect(row).to_have_count(1)
    assert CHANGED.monthly_usd_now is not None
    expect(row.locator(".now")).to_have_text(usd(CHANGED.monthly_usd_now))
    expect(row.locator(".host")).to_contain_text(CHANGED.hosts[0])
    expect(row.locator(".age")).to_have_text(re.compile(r"^\d+ (days|months|years)$|^not known$"))
    for words in ("costs a month", "host", "age"):
        head(page, words).get_by_role("button").click()
        expect(head(page, words)).to_have_attribute("aria-sort", re.compile("^(a|de)scending$"))


def test_the_sum_follows_the_filters_and_the_selection(reader: Reader, report: Path):
    page = reader.open(report)
    count, of_picked = page.locator("#count"), page.locator("#picked")
    whole = sum(record.monthly_usd_now or 0 for record in FLEET)
    expect(count).to_contain_text(f"230 of 230 volumes: {usd(whole)} a month")
    page.get_by_label("Search").fill(CHANGED.volume_id)
    assert CHANGED.monthly_usd_now is not None
    expect(count).to_contain_text(f"1 of 230 volumes: {usd(CHANGED.monthly_usd_now)} a month")
    page.get_by_label("Search").fill("")
    for place in (0, 1):
        page.locator("#table tbody .pick input").nth(place).check()
    costs = [float(text[1:].replace(",", "")) for text in page.locator("#table tbody td.now").all_inner_texts()[:2]]
    expect(of_picked).to_contain_text(f"These 2 volumes, selected: {usd(sum(costs))} a month")


def test_a_step_and_a_line_of_a_breakdown_lead_to_their_volumes(reader: Reader, report: Path):
    page = reader.open(report)
    page.locator(".step > a[href='#step=throttled']").click()
    expect(page.get_by_label("Step")).to_have_value("throttled")
    expect(page.locator("#volumes")).to_be_focused()
    page.get_by_role("link", name="333333333333", exact=True).click()
    expect(chooser(page, "account")).to_have_value("333333333333")
    page.go_back()
    expect(page.get_by_label("Step")).to_have_value("throttled")
    expect(chooser(page, "account")).to_have_value("")


def test_a_drill_down_is_opened_read_and_left_by_keyboard(reader: Reader, report: Path):
    page = reader.open(report)
    page.get_by_label("Search").fill(CHANGED.volume_id)
    link = page.get_by_role("link", name=CHANGED.name, exact=True).last
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=CHANGED.name)).to_be_visible()
    expect(page.locator("#volume")).to_be_focused()
    expect(page.locator("#fleet")).to_be_hidden()
    for heading in ("Demand", "Limits", "Why this and not another", "Why", "Evidence"):
        expect(page.get_by_role("heading", level=2, name=heading, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#fleet")).to_be_visible()
    expect(page.locator("#table").get_by_role("link", name=CHANGED.name, exact=True)).to_be_focused()
    expect(page.get_by_label("Search")).to_have_value(CHANGED.volume_id)


def test_both_pictures_are_drawn_and_told_in_words(reader: Reader, report: Path):
    page = reader.open(report, f"#volume={CHANGED.volume_id}")
    pictures = page.get_by_role("img")
    expect(pictures).to_have_count(2)
    for picture in pictures.all():
        expect(picture.locator("svg path").first).to_be_attached()
        assert len(picture.get_attribute("aria-label") or "") > 20
    assert page.locator("figure svg .mark-area path, figure svg .mark-line path").count() >= 4
    page.get_by_text("The picture in figures").click()
    expect(page.get_by_role("table", name="Demand by day")).to_be_visible()


def test_an_address_opens_a_volume_and_back_leads_to_the_fleet(reader: Reader, report: Path):
    page = reader.open(report, f"#account={CHANGED.account}&volume={CHANGED.volume_id}")
    expect(page.get_by_role("heading", level=1, name=CHANGED.name)).to_be_visible()
    page.get_by_role("link", name="All volumes").click()
    expect(chooser(page, "account")).to_have_value(CHANGED.account)
    page.go_back()
    expect(page.get_by_role("heading", level=1, name=CHANGED.name)).to_be_visible()


def test_an_address_of_no_volume_says_so(reader: Reader, report: Path):
    page = reader.open(report, "#volume=vol-nowhere")
    expect(page.get_by_text("There is no volume vol-nowhere in this report.")).to_be_visible()
    expect(page.locator("#fleet")).to_be_visible()


def test_the_change_is_copied_as_it_is_and_that_is_said(reader: Reader, report: Path):
    page = reader.open(report, f"#q={CHANGED.volume_id}", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator("#table").get_by_role("button", name=re.compile("Copy the change of"))
    button.click()
    expect(button).to_have_text("Copied")
    expect(page.get_by_text("Copied the change of")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CHANGED.change


def test_the_change_is_copied_without_a_clipboard_for_pages(reader: Reader, report: Path):
    page = reader.open(report, f"#volume={CHANGED.volume_id}", permissions=["clipboard-read"])
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')); }")
    page.get_by_role("button", name="Copy the change", exact=False).last.click()
    expect(page.get_by_text("Copied the change.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CHANGED.change


def test_the_changes_of_selected_volumes_are_copied_and_of_none_selected_those_of_all(reader: Reader, report: Path):
    page = reader.open(report, f"#step={step_of(CHANGED)}", permissions=["clipboard-read", "clipboard-write"])
    listed = [record for record in FLEET if step_of(record) is step_of(CHANGED)]
    assert len(listed) > 2
    acts = page.locator("#acts")
    acts.get_by_role("button", name=f"Copy {len(listed)} changes").click()
    expect(page.get_by_text(f"Copied {len(listed)} changes.")).to_be_visible()
    assert sorted(page.evaluate("navigator.clipboard.readText()").split("\n")) == sorted(one.change for one in listed)
    first = names(page)[:2]
    for name in first:
        page.get_by_label(f"Select {name}", exact=True).check()
    expect(page.locator("#picked")).to_contain_text("These 2 volumes, selected: ")
    acts.get_by_role("button", name="Copy 2 changes").click()
    expect(page.get_by_text("Copied 2 changes.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert sorted(copied) == sorted(one.change for one in listed if one.name in first)
    page.get_by_label("Select all of these volumes").check()
    expect(page.locator("#picked")).to_contain_text(f"These {len(listed)} volumes, selected: ")


def test_changes_are_saved_as_the_files_of_the_command_line_and_rows_as_a_table(reader: Reader, tmp_path: Path):
    owners = {"hand": None, "terraform": "net", "kubernetes": "shop/db"}
    fleet = [
        a_record(volume_id=f"vol-{account}-{kind}-{saved}", name="=HYPERLINK(1)", change=f"change of {kind}",
                 way_back=f"back of {kind}", owner=OwnerRecord(kind=kind, name=name), tags={"team": "payments"},
                 account=account, monthly_usd_saved=saved, monthly_usd_saved_drop_in=saved)
        for account in ("111111111111", "222222222222")
        for kind, name in owners.items()
        for saved in (2.0, 30.25, 4.0)
    ]  # fmt: skip
    blocked = [BlockerRecord(code="state", text="it is being changed")]
    fleet.append(a_record(volume_id="vol-blocked", change="change of a blocked one", blockers=blocked))
    page = reader.open(written(a_run(tmp_path, fleet)))

    def saved_as(words: str) -> tuple[str, Path]:
        with page.expect_download() as download:
            page.locator("#acts").get_by_role("button", name=words).click()
        return download.value.suggested_filename, download.value.path()

    name, path = saved_as("Save as files")
    assert name == "changes.tar"
    with tarfile.open(path) as archive:
        members = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        saved = {name: file.read().decode() for name, file in members.items() if file is not None}
    wanted = {path.name: path.read_text() for path in write_changes(fleet, tmp_path / "changes")}
    assert len(wanted) == 2 * 2 * len(owners) + 1
    assert saved == wanted
    name, path = saved_as("CSV")
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    assert sorted(row["volume_id"] for row in rows) == sorted(one.volume_id for one in fleet)
    assert {row["name"] for row in rows if row["name"]} >= {cell("=HYPERLINK(1)")}
    assert {row["tags"] for row in rows} >= {"team=payments"}


def test_a_saved_link_names_a_team_and_a_group_leads_to_its_volumes(reader: Reader, tmp_path: Path):
    teams = ("payments", "payments", "search")
    fleet = [a_record(volume_id=f"vol-{at}", name=f"n{at}", tags={"team": team}) for at, team in enumerate(teams)]
    report = written(a_run(tmp_path, fleet))
    page = reader.open(report, "?owner=payments")
    expect(page.locator("#count")).to_contain_text("2 of 3 volumes")
    expect(chooser(page, "owner")).to_have_value("payments")
    page = reader.open(report, "#group=tag:team")
    rows = page.locator("#groups tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("payments")
    page.get_by_role("link", name="search", exact=True).click()
    expect(page.locator("#count")).to_contain_text("1 of 3 volumes")
    assert "tag=team%3Dsearch" in page.url


def test_dark_is_the_systems_or_the_readers_and_is_kept(reader: Reader, report: Path):
    page = reader.open(report, color_scheme="light")

    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.get_by_role("button", name="Dark").click()
    dark = ground()
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Light")).to_be_visible()
    assert ground() == dark
    page.emulate_media(media="print")
    assert ground() == "rgb(255, 255, 255)"


def test_a_drill_down_prints_alone_on_white_with_light_pictures(reader: Reader, report: Path):
    page = reader.open(report, f"#volume={CHANGED.volume_id}", color_scheme="dark")
    expect(page.locator(".drawing.paper svg").first).to_be_attached()
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".drawing.paper").first).to_be_visible()
    expect(page.get_by_role("img").first).to_be_hidden()
    expect(page.locator("#fleet")).to_be_hidden()
    expect(page.get_by_role("link", name="All volumes")).to_be_hidden()


def test_a_narrow_window_shows_cards_and_never_scrolls_sideways(reader: Reader, report: Path):
    for place in ("", f"#volume={CHANGED.volume_id}"):
        page = reader.open(report, place, viewport={"width": 390, "height": 800})
        if place:
            expect(page.locator("figure svg").last).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_text_of_a_card_lies_over_another(reader: Reader, tmp_path: Path):
    record = a_record("migrate", volume_id="vol-0123456789abcdef0", monthly_usd_saved=117.0)
    half = record.model_copy(update={"monthly_usd_saved_drop_in": 40.35, "name": "svc-5334"})
    page = reader.open(written(a_run(tmp_path, [half])), viewport={"width": 390, "height": 800})
    expect(page.locator("#table td.number")).to_contain_text("same limits")
    boxes = page.locator("#table tbody tr").evaluate(
        """row => {
          const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT), boxes = [];
          while (texts.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(texts.currentNode);
            boxes.push(...[...range.getClientRects()].map(box => [box.left, box.top, box.right, box.bottom]));
          }
          return boxes;
        }"""
    )
    lying = [
        (one, other)
        for one, other in combinations(boxes, 2)
        if min(one[2], other[2]) - max(one[0], other[0]) > 1 and min(one[3], other[3]) - max(one[1], other[1]) > 6
    ]
    assert lying == []


def test_what_to_do_first_stands_on_the_first_screen_then_the_table_and_none_of_it_is_cut(reader: Reader, report: Path):
    page = reader.open(report)
    for width in (1440, 1280, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        first, table = (page.locator(one).bounding_box()["y"] for one in ("#first-title", "#volumes"))
        assert first < 450 < table < 1200
        wide, room = page.locator("#volumes .scroll").evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert wide <= room, width


def test_the_fleet_fits_into_any_window_and_leaves_room_for_what_steps_say(reader: Reader, report: Path):
    page = reader.open(report)
    for width in (1280, 1057, 1056, 961, 960, 800, 737, 736, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator(".step details").evaluate_all("found => found.forEach((one) => { one.open = true; })")
        changes = page.locator(".step .change").evaluate_all("found => found.map(one => one.offsetWidth)")
        assert min(changes) > 150, width


def test_the_first_link_skips_to_the_volumes(reader: Reader, report: Path):
    page = reader.open(report)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the volumes")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#volumes")).to_be_focused()


def test_everything_that_can_be_used_has_a_name(reader: Reader, report: Path):
    for place in ("", f"#volume={CHANGED.volume_id}"):
        page = reader.open(report, place)
        if place:
            expect(page.locator("figure svg").last).to_be_attached()
        for role in ("button", "link", "combobox", "searchbox", "table", "img"):
            found = page.get_by_role(role)
            assert page.get_by_role(role, name=re.compile(r"\S")).count() == found.count()
        expect(page.get_by_role("main")).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_hostile_names_are_text(reader: Reader, tmp_path: Path):
    report = written(a_run(tmp_path, special_records()["hostile"]))
    page = reader.open(report)
    shown = " ".join(names(page))
    assert "<script>alert(1)</script>" in shown
    assert "</script><script>alert(1)</script>" in shown
    assert "javascript:alert(1)" in shown
    for number, name in enumerate(HOSTILE):
        page.goto(f"{report.as_uri()}#volume=vol-{number}")
        expect(page.locator(f"#volume[data-key$='/vol-{number}'] h1")).to_contain_text(printable(name).split()[0][:50])
    expect(page.locator("#volume img, #volume script")).to_have_count(0)


@pytest.mark.parametrize("name", special_records())
def test_runs_at_the_edge_open_with_every_drill_down(reader: Reader, tmp_path: Path, name: str):
    records = special_records()[name]
    page = reader.open(written(a_run(tmp_path, records, profiles=name != "old")))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for record in records[:3]:
        page.goto(f"{page.url.split('#')[0]}#volume={record.volume_id}")
        expect(page.locator("#volume h1")).to_be_visible()
        pictures = page.locator("#volume figure").count()
        expect(page.locator("#volume figure:has(svg)")).to_have_count(pictures)


def test_without_scripts_the_page_still_says_what_to_do_first(chromium: Browser, report: Path):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile("can be saved|nothing is given up"))
    expect(page.get_by_role("heading", name="What to do first")).to_be_visible()
    expect(page.get_by_text("need JavaScript")).to_be_visible()
    expect(page.locator("#filters")).to_be_hidden()
    context.close()
