"""What the page says in a browser is what the records say: sums, offers that lost, alternatives, and which volume."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from plimsoll.reports.record import OfferRecord, RecommendationRecord, SpecRecord
from plimsoll.reports.totals import RunTotals
from plimsoll.reports.wording import spec_text, usd
from tests.browser.conftest import Reader
from tests.unit.reports.fleets import a_fleet
from tests.unit.reports.html.pages import written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.once]


def an_offer(size_gib: int, monthly_usd: float | None) -> OfferRecord:
    return OfferRecord(
        spec=SpecRecord(type="gp3", size_gib=size_gib, iops=3000, throughput_mib_s=125),
        monthly_usd=monthly_usd,
        ceiling_iops=3000,
        ceiling_throughput_mib_s=125,
        throttled_minutes=0,
        refused=[],
    )


def kept(*offers: OfferRecord, **fields: object) -> RecommendationRecord:
    """A volume that is kept for $2.00 a month among these offers."""
    present = an_offer(20, 2.0)
    told = {"current": present.spec, "target": present.spec, "monthly_usd_now": 2.0, "monthly_usd_then": 2.0}
    return a_record("keep", offers=[present, *offers], drop_in=None, **{**told, **fields})


def drill_down(reader: Reader, folder: Path, record: RecommendationRecord) -> Page:
    page = reader.open(written(a_run(folder, [record])), f"#volume={record.volume_id}")
    expect(page.locator("#volume h1")).to_be_visible()
    return page


def why_not(page: Page, offer: OfferRecord) -> str:
    named, chosen = (
        page.get_by_role("rowheader", name=f"{mark}{spec_text(offer.spec)}", exact=True) for mark in ("", "→ ")
    )
    row = page.locator("#volume tr", has=named.or_(chosen))
    return row.locator("td").last.inner_text()


def test_why_an_offer_lost_is_told_by_its_price(reader: Reader, tmp_path: Path):
    cheaper, dearer, same, unpriced = an_offer(21, 1.6), an_offer(22, 9.0), an_offer(23, 2.0), an_offer(24, None)
    page = drill_down(reader, tmp_path, kept(cheaper, dearer, same, unpriced))
    assert why_not(page, cheaper) == "carries it, but saves less than the policy asks for"
    assert why_not(page, dearer) == "carries it, but costs more"
    assert why_not(page, same) == "carries it for the same money"
    assert why_not(page, unpriced) == "carries it, but no price is known"
    assert why_not(page, an_offer(20, 2.0)) == "kept"
    expect(page.get_by_text("as offered")).to_have_count(0)


def test_a_drop_in_configuration_that_was_weighed_is_listed_once(reader: Reader, tmp_path: Path):
    cheaper = an_offer(21, 1.6)
    page = drill_down(reader, tmp_path, kept(cheaper).model_copy(update={"drop_in": cheaper}))
    expect(page.get_by_role("rowheader", name=spec_text(cheaper.spec), exact=True)).to_have_count(1)
    assert "the same-limits replacement" in why_not(page, cheaper)


def test_who_wants_no_proof_is_told_the_alternative_with_its_price(reader: Reader, tmp_path: Path):
    record = a_record(drop_in=an_offer(520, 45.0), monthly_usd_saved=10.0, monthly_usd_saved_drop_in=5.0)
    page = drill_down(reader, tmp_path, record)
    told = page.locator("#volume p.drop-in")
    expect(told).to_contain_text("Same-limits replacement: gp3 520 GiB 3,000 IOPS 125 MiB/s keeps the IOPS")
    expect(told).to_contain_text("for $45.00 a month. It saves $5.00.")


def test_a_volume_is_judged_by_the_hours_that_it_was_observed(reader: Reader, tmp_path: Path):
    demand = a_record().demand
    assert demand is not None
    evidence = a_record().evidence
    assert evidence is not None
    page = drill_down(
        reader,
        tmp_path,
        a_record(
            demand=demand.model_copy(update={"hours_observed": 40.0, "hours_expected": 40.0}),
            evidence=evidence.model_copy(update={"grade": "B"}),
            monthly_usd_saved=10.0,
            monthly_usd_saved_drop_in=5.0,
        ),
    )
    expect(page.locator("#volume .reason")).to_contain_text("of the 40 hours observed")
    expect(page.locator("#volume .reason")).not_to_contain_text("14 days")
    expect(page.get_by_text("40 hours observed, judged by the minute")).to_be_visible()


def test_the_table_adds_up_as_the_headline_does(reader: Reader, tmp_path: Path):
    dear = a_record("upgrade", volume_id="vol-dear", monthly_usd_saved=-99.5, monthly_usd_saved_drop_in=0.0)
    fleet = [*a_fleet(12), dear]
    totals = RunTotals.add_up(fleet)
    page = reader.open(written(a_run(tmp_path, fleet)))
    more = f"{usd(totals.usd_upgrades)} a month more for throttled volumes"
    expect(page.locator("#count")).to_have_text(
        f"13 of 13 volumes: {usd(totals.usd_now)} a month, saving {usd(totals.usd_saved)} a month, {more}"
    )


def test_of_two_volumes_with_one_id_each_opens_its_own(reader: Reader, tmp_path: Path):
    regions = ("us-east-1", "eu-west-1")
    twins = [a_record(volume_id="vol-twin", name=f"in {region}", region=region) for region in regions]
    page = reader.open(written(a_run(tmp_path, twins)))
    report = page.url.split("#")[0]
    for twin in twins:
        page.locator("#table").get_by_role("link", name=twin.name or "", exact=True).click()
        expect(page.get_by_role("heading", level=1, name=twin.name or "")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#table").get_by_role("link", name=twin.name or "", exact=True)).to_be_focused()
    page.goto(f"{report}#volume=vol-twin")
    expect(page.get_by_text("There are several volumes vol-twin")).to_be_visible()


def test_leaving_a_volume_whose_row_is_not_shown_keeps_the_focus(reader: Reader, tmp_path: Path):
    fleet = a_fleet(18)
    page = reader.open(written(a_run(tmp_path, fleet)), f"#step=detached&volume={fleet[0].volume_id}")
    expect(page.locator("#volume h1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search")).to_be_focused()


def test_a_printed_table_says_how_many_rows_it_has_and_what_its_columns_are(reader: Reader, tmp_path: Path):
    page = reader.open(written(a_run(tmp_path, a_fleet(130))))
    told = page.get_by_text("Printed: the first 25 of 130 volumes.")
    expect(told).to_be_hidden()
    page.emulate_media(media="print")
    expect(told).to_be_visible()
    # A button is not drawn again in the heads of the pages that follow; its words alone are.
    boxes = page.evaluate(
        "[...document.querySelectorAll('#table thead button')].map((one) => getComputedStyle(one).display)"
    )
    assert set(boxes) == {"contents"}
