"""The pictures in a report's thread: of what there is to show, of the volumes that the report is of."""

import pytest

from plimsoll.reports.charts.savings import ACCOUNTS
from plimsoll.reports.totals import RunTotals
from plimsoll_service.slack.blocks.pictures import Draft, run_drafts
from tests.unit.reports.fleets import a_fleet, special_records
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

pytestmark = pytest.mark.once


def titles(drafts: tuple[Draft, ...]) -> list[str]:
    return [draft.title for draft in drafts]


def saving(usd_month: float, **fields):
    return a_record(name=f"saves-{usd_month}", volume_id=f"vol-{usd_month}", monthly_usd_saved=usd_month, **fields)


def test_the_savings_by_account_add_up_to_those_of_the_fleet(tmp_path):
    fleet = a_fleet(50)
    savings, _ = run_drafts(a_run(tmp_path, fleet), {})
    drawn_usd = sum(row["usd_month"] for row in savings.chart.datasets[ACCOUNTS])
    assert drawn_usd == pytest.approx(RunTotals.add_up(fleet).usd_saved)


def test_the_largest_saving_is_shown_with_its_demand(tmp_path):
    run = a_run(tmp_path, [saving(5.0), saving(50.0), saving(7.0)])
    assert titles(run_drafts(run, {})) == ["The largest saving, saves-50.0: its demand and what can carry it"]


def test_one_account_alone_is_not_compared_with_others(tmp_path):
    alone = a_run(tmp_path / "one", [saving(5.0, account="111111111111")])
    several = a_run(tmp_path / "two", [saving(5.0, account=account) for account in ("111111111111", "222222222222")])
    assert "Savings by account" not in titles(run_drafts(alone, {}))
    assert titles(run_drafts(several, {}))[0] == "Savings by account"


def test_where_there_is_nothing_to_show_there_is_no_picture(tmp_path):
    kept = [a_record("keep", volume_id=f"vol-{number}") for number in range(3)]
    assert run_drafts(a_run(tmp_path / "kept", kept), {}) == ()
    assert run_drafts(a_run(tmp_path / "empty"), {}) == ()
    assert run_drafts(a_run(tmp_path / "not observed", [saving(5.0)], profiles=False), {}) == ()


def test_of_a_part_of_a_run_the_pictures_are_of_its_volumes_alone(tmp_path):
    run = a_run(tmp_path, [saving(5.0), saving(50.0)])
    (part,) = run_drafts(run, {}, lambda record: record.name == "saves-5.0")
    assert part.title.startswith("The largest saving, saves-5.0:")


@pytest.mark.parametrize("name", ["no prices", "some prices", "old", "stripes", "hostile"])
def test_whatever_a_run_holds_is_drawn(tmp_path, name):
    for draft in run_drafts(a_run(tmp_path, special_records()[name]), {}):
        assert draft.title.isprintable()
        png = draft.png()
        assert png.startswith(b"\x89PNG")
        assert abs(int.from_bytes(png[16:20], "big") - 2 * draft.width_px) <= 4
