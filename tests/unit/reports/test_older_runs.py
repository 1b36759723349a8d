"""Runs that earlier versions wrote are read by every command, whatever their keys were called then."""

import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from plimsoll.orders import read_order
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.diff.comparison import compare_runs
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.record import OLD_KEYS
from plimsoll.reports.run_reader import read_records, read_run
from plimsoll.reports.terminal.run import show_run
from tests.unit.reports.html.pages import read_page, written
from tests.unit.reports.runs import a_run

OLD = Path(__file__).parent / "older_run"
"""A run as version 0.1 wrote it in November 2026: two volumes of the demo."""


@pytest.fixture
def older(tmp_path):
    return Path(shutil.copytree(OLD, tmp_path / "older"))


def test_this_run_is_an_older_one():
    plain = json.loads((OLD / "recommendations.json").read_text(encoding="utf-8"))
    assert all(old in record and new not in record for record in plain for new, old in OLD_KEYS.items())


def test_its_records_have_the_keys_of_today(older):
    plain = json.loads((older / "recommendations.json").read_text(encoding="utf-8"))
    for was, record in zip(plain, read_records(older), strict=True):
        now = record.model_dump(mode="json")
        assert not set(OLD_KEYS.values()) & set(now)
        for new, old in OLD_KEYS.items():
            assert now[new] == was[old]


def test_its_totals_are_shown(older):
    run = read_run(older)
    assert run.monthly_usd.saved_drop_in == 5.5
    console = Console(width=80, record=True, file=None)
    with console.capture() as shown:
        show_run(console, run, read_records(older))
    assert "5.50" in shown.get()


def test_its_volumes_answer_queries(older):
    with open_runs(older) as database:
        found = list(database.rows("select monthly_usd_saved_drop_in, drop_in.spec.type from recommendations"))
        offers = list(database.rows("select count(*) from offers where drop_in"))
    assert len(found) == 2
    assert all(kind is not None for _, kind in found)
    assert offers == [(2,)]


def test_its_page_is_written_and_its_order_can_be_resumed(older):
    assert len(read_page(written(older)).details[0]) == 2
    assert read_order(older).scope["regions"] == ["us-east-1", "eu-west-1"]


def test_a_run_of_today_is_compared_with_it(older, tmp_path):
    today = a_run(tmp_path / "today", read_records(older), places=tuple(read_run(older).prices))
    for pair in ((older, today), (today, older)):
        with compare_runs(*pair) as diff:
            assert set(diff.totals) <= {DiffGroup.OPEN, DiffGroup.SAME}
