"""What is new and what was done: one sentence that every report says, and nothing where no history is kept."""

import pytest

from plimsoll.reports.markdown.run import run_markdown
from plimsoll.reports.summary.since import since_before
from tests.unit.reports.html.pages import written
from tests.unit.reports.markdown.rendered import shown
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run
from tests.unit.reports.terminal import test_run as terminal

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
    assert since_before({"history": {**TOLD, **changes}}) == said


def test_a_run_without_a_history_says_nothing_of_it():
    assert since_before({}) == ""
    assert since_before({"history": None}) == ""


@pytest.mark.parametrize("history", [TOLD, None])
def test_the_page_the_markdown_and_the_terminal_say_it_of_a_whole_run(tmp_path, history):
    run = a_run(tmp_path / "run", [a_record()], history=history)
    page = written(run).read_text(encoding="utf-8")
    screen = " ".join(terminal.shown_run(160, terminal.a_run([a_record()], history=history)).split())
    for text in (page, shown(run_markdown(run, None, "")).text, screen):
        assert (SENTENCE in text) is (history is not None)
    part = run_markdown(run, lambda record: True, "all of it")
    assert SENTENCE not in shown(part).text
