"""The data files of a run hold what the run holds, whole or in part, and the same bytes each time."""

import csv
import io
import json
import shutil

import duckdb
import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.files import write_lines
from plimsoll.model.errors import BadInput
from plimsoll.reports.data.database import open_runs, select
from plimsoll.reports.data.exports import PARQUET, check_not_of_run, csv_lines, json_lines, write_parquet
from plimsoll.reports.printable import printable
from plimsoll.reports.run_reader import read_records, stream_profiles
from plimsoll_backtest.rows_fleet import fleet_of_rows
from tests.faults.on_disk import cut, flip_bit, line_twice
from tests.unit.reports.recommendations import a_record, every_action
from tests.unit.reports.runs import a_run, an_unanswered
from tests.unit.reports.strategies import HOSTILE


@pytest.fixture
def run(tmp_path):
    records = [a_record(action, volume_id=f"vol-{action}") for action in every_action()]
    return a_run(tmp_path / "run", records[::-1], unanswered=[an_unanswered("vol-f")])


def chosen(run, where=None, volumes=()):
    with open_runs(run) as database:
        return select(database, where, volumes)


def parquet(run, out, where=None):
    with open_runs(run) as database:
        return write_parquet(database, out, select(database, where, ()))


def rows(path, order="all"):
    return duckdb.sql(f"select * from read_parquet('{path}') order by {order}").fetchall()


def test_the_whole_run_as_json_and_csv_is_what_the_audit_wrote(run):
    assert "".join(json_lines(run, None)) == (run / "recommendations.json").read_text(encoding="utf-8")
    written = (run / "recommendations.csv").read_bytes().decode("utf-8-sig")
    assert "".join(csv_lines(run, None)) == written


@pytest.mark.parametrize("count", [0, 1, 2])
def test_json_of_a_part_is_a_list_of_its_records(tmp_path, count):
    run = a_run(tmp_path, [a_record(volume_id=f"vol-{number}") for number in range(3)])
    selection = chosen(run, f"volume_id < 'vol-{count}'") if count else None
    if selection is not None:
        found = json.loads("".join(json_lines(run, selection)))
        assert found == [one.model_dump(mode="json") for one in read_records(run) if one.volume_id < f"vol-{count}"]


def test_a_csv_has_what_a_finops_lead_asks_for_first(run):
    found = {row["volume_id"]: row for row in csv.DictReader(io.StringIO("".join(csv_lines(run, None))))}
    row = found["vol-migrate"]
    assert (row["step"], row["zone"], row["hosts"]) == ("measure", "us-east-1a", "i-1")
    assert row["evidence"]
    assert float(row["monthly_usd_saved"]) > 0
    assert found["vol-detached"]["target_size_gib"] == ""


def test_the_tables_hold_every_record_and_span_in_the_order_of_their_keys(run):
    recommendations, demand = parquet(run, run)
    records = {one.volume_id: one for one in read_records(run)}
    found = duckdb.sql(f"select volume_id, monthly_usd_saved, demand.peak_iops from '{recommendations}'").fetchall()
    assert found == [
        (name, one.monthly_usd_saved, one.demand.peak_iops if one.demand else None)
        for name, one in sorted(records.items())
    ]
    spans = duckdb.sql(f"select volume_id, epoch(start), iops from '{demand}'").fetchall()
    assert len(spans) == sum(len(profile.iops) for profile in stream_profiles(run))
    assert spans == sorted(spans, key=lambda row: row[:2])


def test_the_same_run_makes_the_same_bytes(run, tmp_path):
    first = [path.read_bytes() for path in parquet(run, tmp_path / "one")]
    assert first == [path.read_bytes() for path in parquet(run, tmp_path / "other")]


def test_a_part_of_the_tables_is_of_its_volumes_alone(run, tmp_path):
    for path in parquet(run, tmp_path / "part", "action = 'migrate'"):
        assert {row[0] for row in duckdb.sql(f"select volume_id from '{path}'").fetchall()} == {"vol-migrate"}


def test_tables_of_an_empty_run_have_their_columns(run, tmp_path):
    empty = a_run(tmp_path / "empty")
    for path, other in zip(parquet(run, run), parquet(empty, empty), strict=True):
        assert duckdb.sql(f"from '{path}'").columns == duckdb.sql(f"from '{other}'").columns
        assert duckdb.sql(f"from '{path}'").types == duckdb.sql(f"from '{other}'").types
        assert not rows(other)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_in_every_file(tmp_path, name):
    run = a_run(tmp_path, [a_record(name=name)])
    assert json.loads("".join(json_lines(run, None)))[0]["name"] == name
    assert duckdb.sql(f"select name from '{parquet(run, tmp_path)[0]}'").fetchall() == [(name,)]
    (row,) = csv.DictReader(io.StringIO("".join(csv_lines(run, None)), newline=""))
    assert row["name"].replace("'", "") == printable(name).replace("'", "")


def test_what_cannot_be_written_whole_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")

    def lines():
        yield "new"
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError):
        write_lines(lines(), path, "utf-8")
    assert path.read_text(encoding="utf-8") == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["report.md"]


# ---- selections


def test_a_condition_and_volumes_both_hold(run):
    assert chosen(run) is None
    assert {key[2] for key in chosen(run, "action in ('keep', 'migrate')").keys} == {"vol-keep", "vol-migrate"}
    both = chosen(run, "monthly_usd_saved > 0 or true", ["vol-keep"])
    assert {key[2] for key in both.keys} == {"vol-keep"}
    assert both.words == "vol-keep and monthly_usd_saved > 0 or true"


def test_a_selection_takes_the_records_of_its_volumes_alone(run):
    selection = chosen(run, "action = 'keep'")
    assert [one.volume_id for one in read_records(run) if selection.includes(one)] == ["vol-keep"]


@pytest.mark.parametrize(
    ("where", "volumes", "told"),
    [
        ("action = 'nothing'", (), "no volume of this run answers to action = 'nothing'"),
        ("action = ", (), "cannot be answered: Parser Error"),
        ("saving > 1", (), "cannot be answered: Binder Error.*saving"),
        ("true) union (select 1, 2, 3", (), "cannot be answered"),
        ("true); drop view demand; select (1", (), "cannot be answered"),
        ("true) or (true", ("vol-keep",), "cannot be answered: Parser Error"),
        ("true) or (true", (), "cannot be answered: Parser Error"),
        ("(true", (), "cannot be answered: Parser Error"),
        ("true)", (), "cannot be answered: Parser Error"),
        ("true -- and no more", ("vol-keep",), "give one condition without a comment"),
        ("true /* and no more */", (), "give one condition without a comment"),
        ("true; select 1", (), "cannot be answered"),
        ("true, false", (), "give one condition, not several"),
        ("true from offers", (), "cannot be answered"),
        ("true order by 1", (), "cannot be answered"),
        ("", (), "cannot be answered"),
        (None, ("vol-f",), "vol-f has no recommendation in this run: failed, AccessDenied"),
        (None, ("vol-x",), "vol-x is not in this run"),
        (None, ("vol-keep", "x'y"), "x'y is not in this run"),
    ],
)
def test_what_selects_nothing_says_why(run, where, volumes, told):
    with pytest.raises(BadInput, match=told):
        chosen(run, where, volumes)


@pytest.mark.parametrize("name", ["a--b", "a)b", "(c", "d;e", "f/*g*/"])
def test_a_condition_may_name_anything(tmp_path, name):
    run = a_run(tmp_path / "run", [a_record(name=name), a_record(volume_id="vol-other")])
    assert {key[2] for key in chosen(run, f"name = '{name}'").keys} == {a_record().volume_id}


def test_volumes_of_one_id_are_told_apart_by_their_places(tmp_path):
    one, other = a_record(), a_record(account="222222222222")
    run = a_run(tmp_path / "run", [one, other])
    full = [f"{record.account}/{record.region}/{record.volume_id}" for record in (one, other)]
    with pytest.raises(BadInput, match=f"{one.volume_id} may be 2 volumes: give {full[0]} or"):
        chosen(run, None, [one.volume_id])
    assert chosen(run, None, [full[1]]).keys == {("222222222222", one.region, one.volume_id)}
    assert len(chosen(run, None, full).keys) == 2


def test_a_volume_is_chosen_by_its_name_or_by_how_its_id_begins(tmp_path):
    run = a_run(tmp_path / "run", [a_record(volume_id="vol-1a", name="it's"), a_record(volume_id="vol-1b", name=None)])
    for word in ("vol-1a", "it's"):
        assert {key[2] for key in chosen(run, None, [word]).keys} == {"vol-1a"}
    with pytest.raises(BadInput, match=r"may be 2 volumes: give .*/vol-1a \(it's\) or .*/vol-1b\."):
        chosen(run, None, ["vol-1"])
    with pytest.raises(BadInput, match=r"vol-1x is not in this run: did you mean vol-1[ab]\?"):
        chosen(run, None, ["vol-1x"])


@pytest.mark.parametrize("name", ["run.json", "recommendations.json", "demand.jsonl", "report.html", "demand.parquet"])
def test_a_runs_own_files_are_not_to_be_overwritten(run, name, monkeypatch):
    with pytest.raises(BadInput, match="the whole run's own"):
        check_not_of_run(run / name, run)
    monkeypatch.chdir(run)
    with pytest.raises(BadInput, match="the whole run's own"):
        check_not_of_run(run / ".." / "run" / name, run)
    check_not_of_run(run / "payments.json", run)
    check_not_of_run(run.parent / name, run)


@pytest.fixture
def exported(run):
    """A run's own Parquet files, as `plimsoll report --format parquet` writes them."""
    outcome = CliRunner().invoke(app, ["report", str(run), "--format", "parquet"])
    assert outcome.exit_code == 0, outcome.output
    return [run / name for name in PARQUET]


def asked(path):
    with open_runs(path.parent, files=[str(path)]) as database:
        return database.connection.execute(f"select count(*) from '{path}'").fetchone()


@pytest.mark.parametrize("damage", [flip_bit, cut, line_twice])
@pytest.mark.parametrize("name", PARQUET)
def test_a_runs_own_parquet_that_is_damaged_is_named_by_what_reads_it(exported, name, damage):
    (path,) = [one for one in exported if one.name == name]
    assert asked(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BadInput, match=f"{name} is damaged"):
        asked(path)
    with pytest.raises(BadInput, match=f"{name} is damaged"):
        fleet_of_rows([path], path.with_suffix(".npz"), period_s=300)


def test_parquet_elsewhere_is_nobodys_and_read_as_it_is(exported, tmp_path):
    elsewhere = tmp_path / "elsewhere" / exported[0].name
    elsewhere.parent.mkdir()
    shutil.copyfile(exported[1], elsewhere)
    (elsewhere.parent / "checksums.json").write_text(json.dumps({elsewhere.name: "of something else"}))
    with open_runs(exported[0].parent, files=[str(elsewhere)]) as database:
        assert database.connection.execute(f"select count(*) from '{elsewhere}'").fetchone()


def test_the_checksums_of_answers_stay_beside_those_of_parquet(exported):
    noted = json.loads((exported[0].parent / "checksums.json").read_text(encoding="utf-8"))
    assert {"recommendations.json", "demand.jsonl", *PARQUET} <= set(noted)
