"""The commands on fleets: what they print, and what they leave behind."""

import json

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.learned_table import load_table
from plimsoll.model.errors import PlimsollError
from tests.unit.backtest.fleets import bursty, write_fleet

SMALL = ["--memory", "14", "--days", "7", "--budget-min", "60"]


def run(*words) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert found.exit_code == 0
    return found.output


def test_a_backtest_is_printed_and_kept_as_a_page_and_as_json(tmp_path):
    fleet = write_fleet(tmp_path / "fleet.npz", bursty(60, 50))
    told = run("backtest", fleet, *SMALL, "--out", tmp_path / "out")
    written = json.loads((tmp_path / "out" / "fleet" / "backtest.json").read_text(encoding="utf-8"))
    for one in written["rules"]:
        assert f"{one['saving_pct']:.1f} %" in told
    assert (tmp_path / "out" / "fleet" / "backtest.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_learned_is_a_table_that_an_audit_reads(tmp_path):
    fleets = [write_fleet(tmp_path / f"{seed}.npz", bursty(80, 50, seed)) for seed in (1, 2)]
    run("learn", *fleets, *SMALL, "--table", tmp_path / "learned.json", "--out", tmp_path / "out")
    table = load_table(tmp_path / "learned.json")
    assert (table.days, table.budget_min, table.source.volumes, table.source.public) == (7, 60, 160, False)
    assert [band.memory_days for band in table.bands] == [14]
    factors = [table.bands[0].learned.factors[level] for level in (5.0, 10.0, 20.0)]
    assert None not in factors
    assert factors == sorted(factors, reverse=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--region", "mars-1"), "no prices for mars-1"),
        (("--type", "gp9"), "gp9 has no published limits"),
        (("--to", "io3"), "io3 has no published limits"),
        (("--memory", "300"), "has 50.0 days"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path, options, words):
    fleet = write_fleet(tmp_path / "fleet.npz", bursty(5, 50))
    with pytest.raises(PlimsollError, match=words):
        run("backtest", fleet, "--out", tmp_path / "out", *options)
