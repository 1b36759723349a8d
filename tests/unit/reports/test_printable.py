"""Nothing that a run holds is obeyed by a terminal."""

import io
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from plimsoll.cli.main import main
from plimsoll.decide.answer import ChangeSteps, command_step
from plimsoll.reports.answers import record_of
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.query_answer import show_answer
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.render import show_diff
from plimsoll.reports.printable import printable, put_out
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.terminal.explain import show_explanation
from plimsoll.reports.terminal.run import show_plan, show_run
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run, an_unanswered

CLEARS = "\x1b[2J"
LINKS = "\x1b]8;;http://example.org\x1b\\here\x1b]8;;\x1b\\"
CONTROLS = "\x00\x07\x08\x0b\x0c\x1f\x7f\x80\x9b2J\x9f\u202e\u2066\u200b"
EVIL = f"a{CLEARS}{LINKS}{CONTROLS}z"


UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode's categories of signs that give orders, turn or hide text, are half a sign, or end a line."""


def obeyed(text):
    return {sign for sign in text if unicodedata.category(sign) in UNSEEN and sign not in "\n\t"}


def test_every_sign_that_is_obeyed_or_not_seen_is_an_escape_and_no_other_is():
    for sign in map(chr, range(sys.maxunicode + 1)):
        if sign in "\n\t" or unicodedata.category(sign) not in UNSEEN | {"Cn"}:
            assert printable(sign) == sign
        elif unicodedata.category(sign) in UNSEEN:
            assert printable(sign) == sign.encode("unicode_escape").decode()


@pytest.fixture
def runs(tmp_path):
    move = a_record(name=EVIL, account=EVIL, monthly_usd_saved=50.0)
    places = (f"{EVIL}/us-east-1", "111122223333/us-east-1")
    failed = {f"profile {EVIL}": EVIL}
    before = a_run(tmp_path / "one", [move], places=places, id=EVIL)
    changed = move.model_copy(update={"action": "upgrade", "hosts": [EVIL]})
    unanswered = [an_unanswered("vol-f", reason=EVIL)]
    after = a_run(tmp_path / "other", [changed], unanswered=unanswered, places=places, failed_places=failed, id=EVIL)
    return before, after


def printed(show, *, width=160):
    console = Console(width=width, file=io.StringIO(), highlight=False)
    show(console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("sql", ["select name, account from recommendations", "from recommendations"])
def test_a_querys_table_and_lists_are_harmless(runs, width, sql):
    def show(console):
        with open_runs(runs[0]) as database:
            show_answer(console, database, f'select *, 1 as "{EVIL.replace(chr(0), "")}" from ({sql})', 0)

    text = printed(show, width=width)
    assert "a\\x1b[2J" in text
    assert not obeyed(text)


@pytest.mark.parametrize("width", [80, 160])
def test_a_difference_is_harmless(runs, width):
    def show(console):
        with compare_runs(*runs) as diff:
            show_diff(console, diff, 0)

    text = printed(show, width=width)
    assert "a\\x1b[2J" in text
    assert not obeyed(text)


def test_a_run_is_harmless(runs):
    run = read_run(runs[1]).model_copy(update={"notices": {EVIL: [EVIL]}})
    text = printed(lambda console: show_run(console, run, [a_record(name=EVIL, account=EVIL)]))
    assert text.count("a\\x1b[2J") >= 5
    assert not obeyed(text)


def test_a_plan_and_what_failed_are_harmless():
    plan = dict.fromkeys(
        (
            "least_datapoints",
            "most_datapoints",
            "volumes",
            "calls",
            "metrics",
            "datapoints",
            "seconds",
            "estimated_usd",
        ),
        1,
    )
    text = printed(lambda console: show_plan(console, plan, {EVIL: EVIL}, {"aws": 1.0}))
    assert text.count("a\\x1b[2J") == 2
    assert not obeyed(text)


def test_an_explanation_is_harmless():
    evil = (command_step(EVIL),)
    recommendation = every_action()["migrate"]
    text = printed(
        lambda console: show_explanation(
            console,
            recommendation,
            None,
            record_of(
                recommendation,
                ChangeSteps(forth=evil, back=evil),
                provider=FIRST_PROVIDER,
            ),
            None,
        )
    )
    assert "a\\x1b[2J" in text
    assert not obeyed(text)


def test_a_complaint_is_harmless(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["plimsoll", "query", EVIL.replace("\x00", ""), "select 1"])
    with pytest.raises(SystemExit):
        main()
    told = capsys.readouterr().err
    assert "a\\x1b[2J" in told
    assert not obeyed(told)


@pytest.mark.parametrize("terminal", [True, False])
def test_data_is_harmless_on_a_terminal_and_as_it_is_elsewhere(monkeypatch, terminal):
    written = io.StringIO()
    monkeypatch.setattr(written, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", written)
    put_out([f"{EVIL}\r\n"])
    assert written.getvalue() == f"{printable(EVIL) if terminal else EVIL}\r\n"


@given(st.text())
def test_what_is_printable_is_not_obeyed_and_the_same_twice(text):
    shown = printable(text)
    assert not obeyed(shown.replace("\r\n", "\n"))
    assert printable(shown) == shown
    shown.encode()
