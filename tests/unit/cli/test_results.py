"""`plimsoll report`, `query` and `diff` as they are called: what goes where, and what is refused in a sentence."""

import csv
import io
import json
import re
from pathlib import Path

import duckdb
import pytest

from plimsoll.cli.exit_codes import UNUSABLE
from plimsoll.cli.run_reports import leave_reports
from plimsoll.cli.screen import Screen
from plimsoll.distribution import Extra
from plimsoll.reports.data.views import VIEWS
from plimsoll.reports.diff.sql import DiffGroup
from plimsoll.reports.run_reader import read_records, read_run
from tests.unit.cli.calls import called
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run, an_unanswered


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "runs")
    monkeypatch.setenv("COLUMNS", "100")
    records = [a_record(action, volume_id=f"vol-{action}") for action in every_action()]
    return a_run(tmp_path / "runs" / "one", records, unanswered=[an_unanswered("vol-f")])


@pytest.fixture
def plimsoll(monkeypatch, capsys):
    """Calls the command line; gives its exit code, what it printed, and what it complained of."""

    return lambda *words: called(monkeypatch, capsys, *words)


FILES = {
    "html": ["report.html"],
    "json": ["recommendations.json"],
    "csv": ["recommendations.csv"],
    "parquet": ["recommendations.parquet", "demand.parquet"],
    "md": ["report.md"],
    "openmetrics": ["plimsoll.prom"],
    "slack-preview": ["slack-preview.html"],
}


@pytest.mark.parametrize("format_", FILES)
def test_a_report_of_the_newest_run_goes_into_its_folder_and_says_so_the_same_bytes_each_time(run, plimsoll, format_):
    code, said, _ = plimsoll("report", "--format", format_)
    assert code == 0
    assert said.split() == [f"runs/one/{name}" for name in FILES[format_]]
    first = [(run / name).read_bytes() for name in FILES[format_]]
    assert all(first)
    plimsoll("report", "runs/one", "--format", format_)
    assert [(run / name).read_bytes() for name in FILES[format_]] == first
    assert not list(run.glob("*.new"))


@pytest.mark.parametrize("format_", ["json", "csv", "md"])
def test_a_report_can_be_piped_on(run, plimsoll, format_):
    code, said, _ = plimsoll("report", "--format", format_, "--out", "-")
    assert code == 0
    assert "vol-migrate" in said
    if format_ == "json":
        assert len(json.loads(said)) == len(every_action())
    if format_ == "csv":
        assert next(csv.reader(io.StringIO(said)))[0] == "account"


@pytest.mark.parametrize("format_", FILES)
def test_a_report_of_a_part_has_its_volumes_alone(run, plimsoll, tmp_path, format_):
    out = tmp_path / "part"
    out.mkdir()
    code, said, _ = plimsoll("report", "--format", format_, "--where", "action = 'keep'", "--out", out)
    assert code == 0
    for path in said.split():
        if path.endswith(".parquet"):
            found = {row[0] for row in duckdb.sql(f"select volume_id from '{path}'").fetchall()}
            assert found == {"vol-keep"}
        elif format_ not in {"html", "slack-preview"}:
            text = (out / FILES[format_][0]).read_text(encoding="utf-8")
            assert "vol-keep" in text or format_ in {"md", "openmetrics"}
            assert "vol-migrate" not in text
    assert sorted(found.name for found in out.iterdir()) == sorted(FILES[format_])


@pytest.mark.parametrize(("format_", "file"), [("tickets", "tickets.csv"), ("focus", "focus-recommendations.csv")])
def test_a_table_for_another_tool_has_what_is_to_be_done_whole_or_of_a_part(run, plimsoll, format_, file):
    run = a_run(run.with_name("two"), [a_record(name, "aws", volume_id=f"vol-{name}") for name in every_action()])
    code, said, _ = plimsoll("report", "--format", format_, run)
    assert (code, said.strip()) == (0, str(run / file))
    with (run / file).open(encoding="utf-8", newline="") as table:
        whole = list(csv.DictReader(table))
    assert {"vol-migrate", "vol-keep"} & {value for row in whole for value in row.values()} == {"vol-migrate"}
    part = ("report", "--format", format_, run, "--volume", "vol-migrate", "--out")
    code, said, _ = plimsoll(*part, "-")
    assert (code, len(list(csv.DictReader(io.StringIO(said))))) == (0, 1)
    assert plimsoll(*part, run / file)[0] == UNUSABLE


def test_messages_for_slack_go_to_standard_output_whole_or_of_a_part(run, plimsoll, tmp_path):
    code, said, _ = plimsoll("report", "--format", "slack")
    told = json.loads(said)
    assert code == 0
    assert told["main"]["blocks"][0]["type"] == "header"
    assert [sorted(reply) for reply in told["replies"]] == [["blocks", "key", "text"]]
    code, said, _ = plimsoll("report", "--format", "slack", "--where", "action = 'keep'")
    assert (code, json.loads(said)["replies"]) == (0, [])
    assert "action = 'keep'" in said
    code, said, _ = plimsoll("report", "--format", "slack", "--out", tmp_path)
    assert said.split() == [str(tmp_path / "slack.json")]
    assert json.loads((tmp_path / "slack.json").read_text(encoding="utf-8")) == told


@pytest.mark.parametrize(
    "volumes", [("--volume", "vol-migrate", "--volume", "vol-keep"), ("--volume", "vol-migrate, vol-keep,")]
)
def test_a_ticket_is_of_the_volumes_that_are_named(run, plimsoll, volumes):
    code, said, _ = plimsoll("report", "--format", "md", *volumes, "--out", "-")
    assert code == 0
    assert said.count("\n### Risk") == 2
    assert "console.aws.amazon.com" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["report", "--format", "pdf"],
            "md, tickets, focus, slack, slack-preview, openmetrics, terminal.",
        ),
        (["report", "--out", "-"], "--format html is for a file"),
        (["report", "--format", "parquet", "--out", "-"], "--format parquet is for a file"),
        (["report", "--format", "slack-preview", "--out", "-"], "--format slack-preview is for a file"),
        (["report", "--where", "true"], "give --out a path, or -"),
        (["report", "--volume", "vol-keep"], "give --out a path, or -"),
        (["report", "--volume", "vol-f", "--out", "x.html"], "vol-f has no recommendation in this run: failed"),
        (["report", "--where", "true", "--out", "runs/one/report.html"], "the whole run's own"),
        (["report", "--where", "true", "--out", "runs/one"], "the whole run's own"),
        (["report", "--format", "parquet", "--where", "true", "--out", "runs/one"], "the whole run's own"),
        (["report", "--format", "csv", "--out", "runs/one/run.json"], "the whole run's own"),
        (["report", "nowhere"], "nowhere holds no run.json"),
        (["query", "nowhere", "select 1"], "nowhere holds no run.json"),
        (["query", "select 1", "select 2"], "select 1 holds no run.json"),
        (["query", "a", "b", "c"], "give a run and one query in quotes"),
        (["query", "select 1", "--format", "xml"], "it must be one of table, csv, json, parquet"),
        (["query", "select 1", "--format", "parquet"], "say with --out where it goes"),
        (["query", "select 1", "--out", "x"], "a table is for the terminal"),
        (["query", "select 1", "--format", "csv", "--out", "runs/one/recommendations.csv"], "the whole run's own"),
        (["query", "select nothing from demand"], f"The views are {', '.join(VIEWS)}."),
        (["query", "drop view demand"], "give one query that answers with rows"),
        (["diff", "runs/one", "nowhere"], "nowhere holds no run.json"),
        (["diff", "runs/one", "runs/one", "--format", "xml"], "it must be one of text, json, md"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(run, plimsoll, words, told):
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    code, _, complaint = plimsoll(*words)
    assert code == UNUSABLE
    assert complaint.count("\n") == 1
    assert told in complaint
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


@pytest.mark.parametrize("format_", FILES)
def test_a_place_that_cannot_be_written_is_told_of_in_a_sentence(run, plimsoll, tmp_path, format_):
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, complaint = plimsoll("report", "--format", format_, "--out", tmp_path / "file" / "x")
    assert code == UNUSABLE
    assert "cannot be written" in complaint
    assert complaint.count("\n") == 1


def test_a_run_that_is_damaged_is_told_of_in_a_sentence(run, plimsoll):
    (run / "recommendations.json").write_text("[\n{", encoding="utf-8")
    for words in (["report"], ["report", "--format", "parquet"], ["query", "from offers"], ["diff", run, run]):
        code, _, complaint = plimsoll(*words)
        assert code == UNUSABLE
        assert "move the folder away and run again" in complaint
        assert complaint.count("\n") == 1


# ---- query


def test_a_query_is_answered_as_a_table_csv_json_and_parquet(run, plimsoll, tmp_path):
    sql = "select volume_id, monthly_usd_saved as saved, hosts, owner, now() as time from recommendations order by 1"
    assert "vol-detached" in plimsoll("query", sql)[1]
    rows = list(csv.DictReader(io.StringIO(plimsoll("query", "runs/one", sql, "--format", "csv")[1])))
    found = json.loads(plimsoll("query", sql, "--format", "json")[1])
    assert (
        [row["volume_id"] for row in rows]
        == [one["volume_id"] for one in found]
        == sorted(f"vol-{action}" for action in every_action())
    )
    assert [float(row["saved"]) for row in rows] == [one["saved"] for one in found]
    assert [json.loads(row["hosts"]) for row in rows] == [one["hosts"] for one in found]
    assert plimsoll("query", sql, "--format", "parquet", "--out", tmp_path / "x.parquet")[0] == 0
    assert len(duckdb.sql(f"select volume_id from '{tmp_path / 'x.parquet'}'").fetchall()) == len(rows)


def test_without_a_query_the_columns_are_listed(run, plimsoll):
    for words in (["query"], ["query", "runs/one"]):
        said = plimsoll(*words)[1]
        assert "demand.peak_iops DOUBLE" in said
        assert "failures: one row a volume without an answer" in said


def test_a_table_is_cut_at_its_rows_and_says_so(run, plimsoll):
    said = plimsoll("query", "from range(50)")[1]
    assert "40 of 50 rows; --rows 0 shows all." in said
    assert "50 rows" in plimsoll("query", "from range(50)", "--rows", "0")[1]
    assert "1 row\n" in plimsoll("query", "select 1")[1]


@pytest.mark.parametrize("width", [80, 160])
def test_a_row_with_more_than_fits_is_a_list(run, plimsoll, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    said = plimsoll("query", "from recommendations")[1]
    assert "row 1 ─" in said
    assert max(map(len, said.splitlines())) <= width
    assert "monthly_usd_saved_drop_in" in said


def test_numbers_that_json_does_not_know_are_null_and_names_that_come_twice_are_two(run, plimsoll):
    said = plimsoll(
        "query", "select 'nan'::double as a, 'inf'::double as b, 1 as c, 2 as c, 'NaN' as d", "--format", "json"
    )[1]
    assert json.loads(said) == [{"a": None, "b": None, "c": 1, "c_1": 2, "d": "NaN"}]


def test_csv_of_a_query_runs_nothing(run, plimsoll):
    said = plimsoll("query", "select '=1+1' as \"=head\", -5 as number", "--format", "csv")[1]
    assert said == "'=head,number\r\n'=1+1,-5\r\n"


# ---- diff


@pytest.mark.parametrize("format_", ["text", "json", "md"])
def test_two_runs_are_compared(run, plimsoll, tmp_path, format_):
    other = a_run(tmp_path / "runs" / "two", [a_record("keep", volume_id="vol-keep")])
    code, said, _ = plimsoll("diff", run, other, "--format", format_)
    assert code == 0
    assert "no longer there" in said if format_ != "json" else json.loads(said)["groups"]["gone"]["volumes"] == 6


def test_runs_in_the_wrong_order_are_compared_the_right_way_round_and_told(run, plimsoll, tmp_path):
    later = a_run(tmp_path / "runs" / "two", [a_record("keep", volume_id="vol-keep")], now="2027-01-22T08:00:00+00:00")
    code, said, complaint = plimsoll("diff", later, run, "--format", "json")
    assert (code, said) == (0, plimsoll("diff", run, later, "--format", "json")[1])
    assert f"{later} is the later run" in complaint


def test_a_query_may_stand_before_its_run(run, plimsoll):
    sql = "select volume_id from recommendations order by 1"
    assert plimsoll("query", sql, run)[1] == plimsoll("query", run, sql)[1]


# ---- what an audit leaves behind


def test_an_audit_leaves_a_page_and_parquet_files_are_for_who_asks(run, capsys):
    assert leave_reports(Screen(), run)
    assert (run / "report.html").exists()
    assert not list(run.glob("*.parquet"))
    assert capsys.readouterr().out == f"report: {run / 'report.html'}\n"


def test_parquet_files_of_a_run_are_of_all_its_answers(run, plimsoll, monkeypatch):
    plimsoll("report", run, "--format", "parquet")
    written = {path.name: path.read_bytes() for path in run.glob("*.parquet")}
    assert len(written) == 2
    for path in run.glob("*.parquet"):
        path.write_bytes(b"of an earlier part of the run")
    assert leave_reports(Screen(), run)
    assert {path.name: path.read_bytes() for path in run.glob("*.parquet")} == written
    monkeypatch.setattr(Extra, "is_installed", False)
    assert leave_reports(Screen(), run)
    assert not list(run.glob("*.parquet"))


def test_a_report_that_cannot_be_written_is_a_sentence_and_loses_nothing(run, capsys):
    (run / "report.html").mkdir()
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    assert not leave_reports(Screen(), run)
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before
    assert "the run is whole, but its report could not be written" in capsys.readouterr().out


# ---- the document

PAGE = (Path(__file__).parents[3] / "docs" / "results-as-data.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("sql", blocks("sql"))
def test_the_queries_of_the_document_have_answers(run, plimsoll, sql):
    full_drop_in = a_record(volume_id="vol-safe", monthly_usd_saved_drop_in=1e6)
    refused = [full_drop_in.offers[0].model_copy(update={"refused": ["too slow"], "spec": full_drop_in.current})]
    weighed = [one.model_copy(update={"spec": one.spec.model_copy(update={"type": "gp3"})}) for one in refused]
    seconds = full_drop_in.demand.model_copy(update={"peak_second_iops": 900.0})
    known = {"offers": weighed, "pool": ["9002"], "demand": seconds, "frontier": a_record("wait").frontier}
    other = a_run(run.parent / "two", [full_drop_in.model_copy(update=known)])
    code, said, complaint = plimsoll("query", other, sql)
    assert (code, complaint) == (0, "")
    assert "\n0 rows" not in said


TOTALS = """\
select round(sum(monthly_usd_now), 2) as now,
  round(sum(monthly_usd_saved) filter (not costs_more), 2) as saved,
  round(sum(monthly_usd_saved_drop_in) filter (not costs_more), 2) as saved_drop_in,
  round(sum(monthly_usd_saved) filter (not costs_more and len(blockers) > 0), 2) as saved_but_blocked,
  round(sum(monthly_usd_now) filter (action = 'detached'), 2) as detached,
  round(-sum(monthly_usd_saved) filter (costs_more), 2) as more_for_upgrades,
  round(sum(wait.monthly_usd_saved), 2) as waiting,
  round(sum(too_risky.monthly_usd_saved - monthly_usd_saved), 2) as too_risky
from (select *, action = 'upgrade' and monthly_usd_saved < 0 as costs_more from recommendations)
"""


def test_the_totals_of_a_run_are_sums_of_its_view(run, plimsoll):
    costly = a_record("upgrade", volume_id="vol-costly", monthly_usd_saved=-7.5)
    other = a_run(run.parent / "two", [*read_records(run), costly])
    (found,) = json.loads(plimsoll("query", other, TOTALS, "--format", "json")[1])
    told = read_run(other).monthly_usd.plain
    assert {key: amount or 0.0 for key, amount in found.items()} == {key: told[key] for key in found}
    assert found["more_for_upgrades"] >= 7.5


def test_the_document_has_every_view_and_group():
    for name in (*VIEWS, *DiffGroup):
        assert f"`{name}`" in PAGE
