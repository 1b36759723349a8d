"""The headline: totals that are those of the volumes, and nothing that is not known."""

from pathlib import Path

import pytest

from plimsoll.reports.markdown.run import run_markdown
from plimsoll.reports.story.run import changes_since, part_of_run, tell_headline, tell_incomplete, tell_money
from plimsoll.reports.wording import usd
from tests.builders import a_policy
from tests.unit.reports.fleets import run_of, special_records, steps_of
from tests.unit.reports.html.pages import written
from tests.unit.reports.markdown.rendered import shown
from tests.unit.reports.plain_runs import a_run_record
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.terminal import test_run as terminal

FOLDER = Path("plimsoll-runs/a run")
RUN = a_run_record(id="r")


def test_the_headline_says_what_can_be_saved_of_what():
    records = [a_record(monthly_usd_now=100.0, monthly_usd_saved=36.0), a_record("keep", monthly_usd_now=20.0)]
    said = tell_headline(run_of(records), whole=True).text
    assert said == "$36.00 a month can be saved: 30 % of the $120 that these 2 volumes cost."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "No volumes were found."),
        ("keeps", "Nothing can be saved on these 3 volumes"),
        ("no prices", "No price is known for these 2 volumes, so no saving is known."),
        ("dear upgrade", "Nothing can be saved on this one volume"),
    ],
)
def test_what_cannot_be_told_is_not_told_as_money(name, said):
    assert tell_headline(run_of(special_records()[name]), whole=True).text.startswith(said)


def test_an_upgrade_that_costs_more_is_beside_the_saving_and_not_in_it():
    fleet = special_records()["dear upgrade"]
    money = tell_money(run_of(fleet).monthly_usd, a_policy()).rows
    assert [(row[0], row[1]) for row in money] == [("$99.50", "a month more for throttled volumes")]
    (todo,) = steps_of(fleet, a_policy(), FOLDER).steps
    assert todo.money == "costs $99.50 a month more"


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_run_that_has_not_ended_says_how_to_go_on(status):
    run = a_run_record(status=status)
    for told in (tell_incomplete(run, FOLDER), tell_incomplete(part_of_run(run), FOLDER)):
        assert "volumes are missing" in told.lines[0]
        assert told.copy == "plimsoll audit --resume 'plimsoll-runs/a run'"


def test_what_could_not_be_read_is_counted_and_a_part_of_a_run_is_not_blamed_for_it():
    failures = {
        "targets": {"1/us-east-1": "gone"},
        "volumes": {"1/us-east-1": {"gone": ["a"]}, "2/us-east-1": {"x": ["b", "c"]}},
    }
    run = a_run_record(status="partial", failures=failures)
    told = tell_incomplete(run, FOLDER)
    assert told.lines == ("Not in these figures, because unreadable: 1 place and 2 volumes.",)
    assert told.copy == ""
    assert tell_incomplete(part_of_run(run), FOLDER).lines == ()
    assert tell_incomplete(part_of_run(run, ["2"]), FOLDER).lines == (
        "Not in these figures, because unreadable: 2 volumes.",
    )
    assert tell_incomplete(RUN, FOLDER).lines == ()


def test_what_has_no_price_is_not_among_what_costs():
    records = special_records()["some prices"]
    now = records[0].monthly_usd_now
    said = tell_headline(run_of(records), whole=True).text
    assert said.endswith(f"of the {usd(now)} that this one volume costs; no price is known for 1 other.")


@pytest.mark.parametrize(
    ("saved", "share"), [(99.6, "more than 99 %"), (99.4, "99 %"), (0.4, "less than 1 %"), (100.0, "all")]
)
def test_nearly_all_is_not_all_and_little_is_not_nothing(saved, share):
    records = [a_record(monthly_usd_now=100.0, monthly_usd_saved=saved)]
    assert f"can be saved: {share} of the $100" in tell_headline(run_of(records), whole=True).text


def test_the_drop_in_saving_is_not_told_as_what_is_recommended():
    records = [a_record(monthly_usd_saved=10.0, monthly_usd_saved_drop_in=4.0)]
    drop_in, proof = tell_money(run_of(records).monthly_usd, a_policy()).rows
    assert (drop_in[0], proof[0]) == ("$4.00", "$6.00")
    assert "no proof" not in " ".join(drop_in).lower()
    (todo,) = steps_of(records, a_policy(), FOLDER).steps
    assert todo.money == "saves $10.00 a month ($4.00 with the same limits)"


TOLD = {"new": 2, "snoozed": 1, "done": 14, "done_now": 3, "saved_usd_month_since": 512.3}
SENTENCE = (
    "2 recommendations are new; 14 volumes have been changed as recommended, 3 of them seen for the first time, "
    "which saves $512 a month; 1 recommendation is snoozed."
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, SENTENCE),
        ({"new": 0, "snoozed": 0, "done": 0, "done_now": 0}, "No recommendation is new."),
        (
            {"new": 1, "snoozed": 0, "done": 1, "done_now": 1, "saved_usd_month_since": 0.0},
            "1 recommendation is new; 1 volume has been changed as recommended.",
        ),
    ],
)
def test_it_is_said_in_one_sentence(changes, said):
    assert changes_since(a_run_record(history={**TOLD, **changes})) == said


def test_a_run_without_a_history_says_nothing_of_it():
    assert changes_since(RUN) == changes_since(a_run_record(history=None)) == ""


@pytest.mark.parametrize("history", [TOLD, None])
def test_the_page_the_markdown_and_the_terminal_say_it_of_a_whole_run(tmp_path, history):
    run = a_run(tmp_path / "run", [a_record()], history=history)
    page = written(run).read_text(encoding="utf-8")
    screen = " ".join(terminal.shown_run(160, terminal.a_run([a_record()], history=history)).split())
    for text in (page, shown(run_markdown(run, None, "")).text, screen):
        assert (SENTENCE in text) is (history is not None)
    part = run_markdown(run, lambda record: True, "all of it")
    assert SENTENCE not in shown(part).text
