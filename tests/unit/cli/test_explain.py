"""`plimsoll explain`: a volume as a run knows it, without a cloud, and what is said where there is none."""

import re

import pytest

from plimsoll.cli.exit_codes import UNUSABLE
from plimsoll.reports.run_reader import find_record
from tests.unit.cli.calls import called
from tests.unit.reports.charts.profiles import DEMO
from tests.unit.reports.terminal.screens import TWO_SCREENS, screen_lines

VOLUME = "vol-003af0c4e4d581b53"
"""One of the demo's that is throttled."""


@pytest.fixture
def plimsoll(tmp_path, monkeypatch, capsys):
    """Calls the command line where the demo is the newest run, and no cloud could be asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "demo").symlink_to(DEMO)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "runs")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return lambda *words: called(monkeypatch, capsys, *words)


def test_a_volume_is_explained_from_the_newest_run_without_a_cloud(plimsoll):
    code, said, complaint = plimsoll("explain", VOLUME)
    assert (code, complaint) == (0, "")
    record = find_record(DEMO, VOLUME)
    shown = " ".join(said.split())
    assert f"{record.demand.peak_iops:,.1f}" in shown
    assert f"{record.ceilings.now.iops:,.0f}" in shown
    assert f"saves ${record.monthly_usd_saved:,.2f}" in shown or record.monthly_usd_saved <= 0
    for offer in record.offers:
        assert offer.spec.type in shown
    assert "█" in said
    assert "From the run runs/demo" in shown
    assert "add --all" in shown
    assert "add --fresh" in shown
    assert screen_lines(said) <= TWO_SCREENS
    assert "https://" not in said


def test_all_of_a_volume_is_everything_that_its_record_says(plimsoll, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, said, _ = plimsoll("explain", VOLUME, "--all")
    record, shown = find_record(DEMO, VOLUME), " ".join(said.split())
    assert code == 0
    assert all(reason in shown for reason in record.reasons)
    assert record.evidence.text in shown
    for offer in record.offers:
        for refusal in offer.refused:
            assert refusal.removeprefix(f"{offer.spec.type} ").removeprefix("is ") in shown
    assert shown.count("over time") == 2
    assert "add --all" not in shown


@pytest.mark.parametrize(
    "words", [("explain",), ("chart", "demand", "--out", "a.svg"), ("chart", "roofline", "--out", "a.svg")]
)
def test_a_name_and_the_beginning_of_an_id_work_where_an_id_does(plimsoll, words):
    name = find_record(DEMO, VOLUME).name
    assert name is not None
    by_id = plimsoll(*words, VOLUME)
    assert by_id[0] == 0
    assert plimsoll(*words, name) == by_id
    assert plimsoll(*words, VOLUME[:12]) == by_id


@pytest.mark.parametrize(
    "words",
    [("--run", "runs/demo", VOLUME), (VOLUME, "runs/demo"), ("runs/demo", VOLUME), (VOLUME, "runs/demo/run.json")],
)
def test_the_run_may_be_named_before_or_after_the_volume_or_by_a_file_of_it(plimsoll, words):
    if words[-1].endswith("run.json"):
        words = ("--run", words[-1], words[0])
    assert plimsoll("explain", *words)[1] == plimsoll("explain", VOLUME)[1]


def test_no_word_is_broken_at_80_columns(plimsoll, monkeypatch):
    narrow = plimsoll("explain", VOLUME, "--all")[1]
    monkeypatch.setenv("COLUMNS", "300")
    wide = plimsoll("explain", VOLUME, "--all")[1]
    narrow, wide = ({*re.findall(r"[A-Za-z][\w-]*[\w]", text)} for text in (narrow, wide))
    assert narrow - wide == set()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("explain", f"{VOLUME[:-1]}x"), f"did you mean {VOLUME}?"),
        (("explain", "runs/demo"), "is a run: name one of its volumes too"),
        (("explain", VOLUME, "vol-2"), "give one volume"),
        (("explain", VOLUME, "--run", "runs/demo", "--fresh"), "Give one of the two."),
        (("explain", VOLUME, "--run", "runs/demo", "--region", "us-east-1"), "Give one of the two."),
        (("report", VOLUME), f"See it with: plimsoll explain {VOLUME}"),
        (("diff", VOLUME, "runs/demo"), "is a volume"),
        (("validate", "runs/demo"), "give it as --recommendation runs/demo"),
    ],
)
def test_what_is_in_the_wrong_place_is_explained(plimsoll, words, told):
    code, _, complaint = plimsoll(*words)
    assert code == UNUSABLE
    assert told in complaint
    assert complaint.count("\n") == 1


def test_without_a_run_it_says_how_to_ask_the_cloud(plimsoll, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "none")
    code, _, complaint = plimsoll("explain", VOLUME)
    assert code == UNUSABLE
    assert "add --fresh" in complaint
    assert "begin with `plimsoll audit`" in complaint
