"""A disk of a pool in a real browser: who changes with it, its busiest seconds, and what writes alone are carried."""

import pytest
from playwright.sync_api import expect

from plimsoll.reports.record import CeilingsRecord
from tests.browser.conftest import Reader
from tests.unit.reports.html.pages import written
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.once]


def test_a_drill_down_shows_the_pool_the_busiest_seconds_and_the_limits_of_writes(reader: Reader, tmp_path):
    plain = a_record("migrate")
    assert plain.ceilings is not None
    assert plain.demand is not None
    hosts = plain.ceilings.hosts.model_copy(update={"iops": 60_000.0, "write_iops": 15_000.0})
    disk = plain.model_copy(
        update={
            "volume_id": "9001",
            "pool": ["9002"],
            "ceilings": CeilingsRecord(now=plain.ceilings.now, offered=plain.ceilings.offered, hosts=hosts),
            "demand": plain.demand.model_copy(update={"peak_second_iops": 612.5, "peak_second_throughput_mib_s": 31.2}),
        }
    )
    sibling = plain.model_copy(update={"volume_id": "9002", "name": "its-sibling", "pool": ["9001"]})
    page = reader.open(written(a_run(tmp_path / "run", [disk, sibling])), "#volume=9001")
    expect(page.get_by_role("row", name="busiest seconds, at most")).to_contain_text("612.5")
    writes = page.get_by_role("row", name="its host at most, writes alone")
    expect(writes).to_contain_text("15,000")
    expect(page.get_by_role("row", name="writes alone")).to_have_count(1)
    page.get_by_role("region", name="Volumes that share its limit").get_by_role("link", name="9002").click()
    expect(page.get_by_role("heading", level=1, name="its-sibling")).to_be_visible()
