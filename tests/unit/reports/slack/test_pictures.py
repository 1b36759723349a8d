"""The pictures of a report in Slack: of what there is to show, and of no more than one volume."""

import pytest

from plimsoll.reports.slack.pictures import Pictures, run_pictures
from tests.unit.reports.fleets import a_fleet, fleet_of, special_records
from tests.unit.reports.recommendations import a_profile, a_record
from tests.unit.reports.runs import a_run

pytestmark = pytest.mark.once


def counted(*volumes) -> Pictures:
    pictures = Pictures()
    for volume in volumes:
        pictures.count(volume)
    return pictures


def profiled(record):
    return record, a_profile([100.0], of=record)


def test_the_savings_by_account_add_up_to_those_of_the_fleet():
    fleet = a_fleet(50)
    pictures = counted(*((record, None) for record in fleet))
    assert sum(money.saved_cents for money in pictures.by_account.values()) == fleet_of(fleet).tally.money.saved_cents
    assert [title for title, _ in pictures.drawn({})] == ["Savings by account"]


def test_the_largest_saving_is_drawn_with_its_demand():
    small, large = (a_record(name=f"saves-{usd}", monthly_usd_saved=usd) for usd in (5.0, 50.0))
    drawn = dict(counted(profiled(large), profiled(small)).drawn({}))
    assert list(drawn) == [
        "Savings by account",
        "The largest saving, saves-50.0: its demand and what can carry it",
    ]
    assert all(png.startswith(b"\x89PNG") for png in drawn.values())


def test_where_there_is_nothing_to_show_there_is_no_picture():
    kept = [profiled(a_record("keep", volume_id=f"vol-{number}")) for number in range(3)]
    assert list(counted(*kept).drawn({})) == []
    assert list(counted().drawn({})) == []


@pytest.mark.parametrize("name", ["empty", "no prices", "some prices", "old", "stripes", "hostile"])
def test_whatever_a_run_holds_is_drawn(name):
    pictures = counted(*map(profiled, special_records()[name]))
    for title, png in pictures.drawn({}):
        assert title.isprintable()
        assert png.startswith(b"\x89PNG")


def test_of_a_part_of_a_run_the_pictures_are_of_its_volumes_alone(tmp_path):
    fleet = [
        a_record(name=f"number-{number}", volume_id=f"vol-{number}", monthly_usd_saved=number) for number in (1, 2)
    ]
    run = a_run(tmp_path, fleet)
    whole, part = (list(run_pictures(run, {}, only)) for only in (None, lambda record: record.name == "number-1"))
    assert [title.split(":")[0] for title, _ in whole] == ["Savings by account", "The largest saving, number-2"]
    assert [title.split(":")[0] for title, _ in part] == ["Savings by account", "The largest saving, number-1"]
