"""The run that a command is about, where none or a wrong one is named."""

import os

import pytest

from plimsoll.api.runs import run_folder
from plimsoll.model.errors import BadInput
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run as write_run


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(tmp_path / "runs"))
    return tmp_path / "runs"


def a_run(folder, *, written_s, answered=1):
    write_run(folder, [a_record()] * answered)
    os.utime(folder / "run.json", (written_s, written_s))
    return folder


def test_the_run_that_was_written_last_is_the_one_that_is_meant(runs):
    a_run(runs / "20270101T000000Z", written_s=1_000)
    newest = a_run(runs / "demo", written_s=2_000)
    a_run(runs / "20260101T000000Z", written_s=1_500)
    (runs / "measured").mkdir()
    assert run_folder(None) == newest


def test_a_newer_run_without_answers_is_passed_over_unless_it_is_named(runs):
    older = a_run(runs / "older", written_s=1_000)
    empty = a_run(runs / "empty", written_s=2_000, answered=0)
    assert run_folder(None) == older
    assert run_folder(empty) == empty


def test_a_run_that_is_named_is_that_run(runs, tmp_path):
    a_run(runs / "newest", written_s=2_000)
    named = a_run(tmp_path / "kept", written_s=1_000)
    assert run_folder(named) == named


def test_without_a_run_it_says_how_to_come_by_one(runs):
    with pytest.raises(BadInput, match=r"no run under .*runs has answers yet: .*begin with `plimsoll audit`"):
        run_folder(None)


def test_a_folder_that_is_no_run_is_refused(runs, tmp_path):
    with pytest.raises(BadInput, match=r"holds no run\.json: give the folder of a run"):
        run_folder(tmp_path)
