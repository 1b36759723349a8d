"""The headline: totals that are those of the volumes, and nothing that is not known."""

from pathlib import Path

import pytest

from plimsoll.reports.summary.headline import figures, headline, incomplete, resume_command
from plimsoll.reports.summary.todos import todos
from plimsoll.reports.totals import Totals
from tests.builders import a_policy
from tests.unit.reports.fleets import overview_of, special_records
from tests.unit.reports.recommendations import a_record

FOLDER = Path("plimsoll-runs/a run")
RUN = {
    "id": "r",
    "status": "complete",
    "volumes": {"seen": 0, "failed": 0, "skipped": {}},
    "failures": {"targets": {}, "volumes": {}},
}


def test_the_headline_says_what_can_be_saved_of_what():
    records = [a_record(monthly_usd_now=100.0, monthly_usd_saved=36.0), a_record("keep", monthly_usd_now=20.0)]
    said = headline(Totals.of(records), RUN, whole=True)
    assert said == "$36.00 a month can be saved: 30 % of the $120.00 that these 2 volumes cost."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "No volumes were found."),
        ("keeps", "Nothing can be saved on these 3 volumes"),
        ("no prices", "No price is known for these 2 volumes, so that no saving can be told."),
        ("dear upgrade", "Nothing can be saved on this one volume"),
    ],
)
def test_what_cannot_be_told_is_not_told_as_money(name, said):
    assert headline(Totals.of(special_records()[name]), RUN, whole=True).startswith(said)


def test_an_upgrade_that_costs_more_is_beside_the_saving_and_not_in_it():
    fleet = Totals.of(special_records()["dear upgrade"])
    assert [figure.kind for figure in figures(fleet, "the peak")] == ["upgrades"]
    (todo,) = todos(overview_of(special_records()["dear upgrade"]), a_policy(), FOLDER)
    assert todo.money == "costs $99.50 a month more"


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_run_that_has_not_ended_says_how_to_go_on(status):
    run = {**RUN, "status": status}
    assert "volumes are missing" in incomplete(run, whole=True)
    assert "volumes are missing" in incomplete(run, whole=False)
    assert resume_command(run, FOLDER) == "plimsoll audit --resume 'plimsoll-runs/a run'"


def test_what_could_not_be_read_is_counted_and_a_part_of_a_run_is_not_blamed_for_it():
    failures = {
        "targets": {"1/us-east-1": "gone"},
        "volumes": {"1/us-east-1": {"gone": ["a"]}, "2/us-east-1": {"x": ["b", "c"]}},
    }
    run = {**RUN, "status": "partial", "failures": failures}
    assert incomplete(run, whole=True) == "Not in these figures, because unreadable: 1 place and 2 volumes."
    assert incomplete(run, whole=False) == ""
    assert incomplete(RUN, whole=True) == ""
    assert resume_command(run, FOLDER) is None


def test_what_has_no_price_is_not_among_what_costs():
    records = special_records()["some prices"]
    now = records[0].monthly_usd_now
    said = headline(Totals.of(records), RUN, whole=True)
    assert said.endswith(f"of the ${now:,.2f} that this one volume costs; no price is known for 1 other.")


@pytest.mark.parametrize(
    ("saved", "share"), [(99.6, "more than 99 %"), (99.4, "99 %"), (0.4, "less than 1 %"), (100.0, "all")]
)
def test_nearly_all_is_not_all_and_little_is_not_nothing(saved, share):
    records = [a_record(monthly_usd_now=100.0, monthly_usd_saved=saved)]
    assert f"can be saved: {share} of the $100.00" in headline(Totals.of(records), RUN, whole=True)


def test_the_drop_in_saving_is_not_told_as_what_is_recommended():
    records = [a_record(monthly_usd_saved=10.0, monthly_usd_saved_drop_in=4.0)]
    drop_in, proof = figures(Totals.of(records), "the peak")
    assert (drop_in.amount, proof.amount) == ("$4.00", "$6.00")
    assert "instead of the recommended one" in drop_in.meaning
    assert "no proof" not in f"{drop_in.label} {drop_in.meaning}".lower()
    (todo,) = todos(overview_of(records), a_policy(), FOLDER)
    assert todo.money == "saves $10.00 a month ($4.00 as a drop-in replacement instead)"
