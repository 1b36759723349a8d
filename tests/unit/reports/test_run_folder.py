"""The run folder: its files hold what its journal does; it is continued, and harmless in a spreadsheet."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.model.errors import BadInput
from plimsoll.reports.run_folder import RunFolder, bring_up_to_date
from plimsoll.reports.run_reader import (
    UnansweredRecord,
    find_profile,
    find_record,
    full_name,
    read_records,
    read_run,
    stream_profiles,
    stream_records,
    stream_unanswered,
)
from plimsoll.reports.totals import RunTotals
from tests.unit.reports.plain_runs import a_plain_run, a_run_record
from tests.unit.reports.recommendations import a_profile, a_record
from tests.unit.reports.runs import a_run

REPOSITORY = Path(__file__).parents[3]


def records(count):
    return [a_record(volume_id=f"vol-{number}") for number in range(count)]


def ids_on_disk(folder):
    return [one["volume_id"] for one in json.loads((folder / "recommendations.json").read_text(encoding="utf-8"))]


def rows(folder):
    with (folder / "recommendations.csv").open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def test_the_files_are_made_of_all_that_was_added_when_the_block_ends(tmp_path):
    with RunFolder(tmp_path) as folder:
        for record in records(5):
            folder.add(record)
        assert not (tmp_path / "recommendations.json").exists()
    assert ids_on_disk(tmp_path) == [f"vol-{each}" for each in range(5)]
    assert len(rows(tmp_path)) == 5


def test_what_was_added_is_read_back_the_same(tmp_path):
    given = [a_record(action, volume_id=f"vol-{action}") for action in ("migrate", "keep", "detached", "upgrade")]
    with RunFolder(tmp_path) as folder:
        for record in given:
            folder.add(record)
    assert read_records(tmp_path) == given
    assert find_record(tmp_path, "vol-keep") == given[1]
    assert find_record(tmp_path, full_name(given[1])) == given[1]
    assert find_record(tmp_path, "vol-nowhere") is None


def test_files_of_a_run_that_is_still_written_hold_what_it_has_by_now(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.describe(a_plain_run(status="running"))
        for number, record in enumerate(records(3), start=1):
            folder.add(record, a_profile(of=record))
            bring_up_to_date(tmp_path)
            assert ids_on_disk(tmp_path) == [f"vol-{each}" for each in range(number)]
            assert len(list(stream_profiles(tmp_path))) == number
        assert read_run(tmp_path) == a_run_record(status="running")


# ---- demands, and volumes without an answer


def left_out(volume_id, outcome="skipped"):
    return UnansweredRecord(
        account="111122223333", region="us-east-1", volume_id=volume_id, outcome=outcome, reason="a <reason>, said so"
    )


def test_a_demand_stands_beside_its_recommendation(tmp_path):
    with RunFolder(tmp_path) as folder:
        for number, record in enumerate(records(20)):
            folder.add(record, a_profile(of=record) if number % 2 else None)
    assert [profile.volume_id for profile in stream_profiles(tmp_path)] == [f"vol-{each}" for each in range(1, 20, 2)]
    assert find_profile(tmp_path, "vol-7") == a_profile(of=records(8)[7])
    assert find_profile(tmp_path, "vol-8") is None


def test_a_continued_folder_keeps_the_demands_of_what_it_answers_once_each(tmp_path):
    given = records(2)
    with RunFolder(tmp_path) as folder:
        folder.add(given[0], a_profile(of=given[0]))
        folder.add(given[1])
    for name in ("journal.jsonl", "checksums.json"):
        (tmp_path / name).unlink()  # as in runs of versions that kept none
    with (tmp_path / "demand.jsonl").open("a", encoding="utf-8") as demand:
        demand.write(a_profile(of=a_record(volume_id="vol-gone")).model_dump_json() + "\n" + '{"account": "1111')
    with RunFolder(tmp_path) as folder:
        folder.add(a_record(volume_id="vol-2"), a_profile(of=a_record(volume_id="vol-2")))
    assert [profile.volume_id for profile in stream_profiles(tmp_path)] == ["vol-0", "vol-2"]


def test_volumes_without_an_answer_are_told_and_asked_again_by_who_continues(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.leave_out(left_out("vol-a"))
        folder.leave_out(left_out("vol-b", "failed"))
    assert list(stream_unanswered(tmp_path)) == [left_out("vol-a"), left_out("vol-b", "failed")]
    with RunFolder(tmp_path) as folder:
        folder.begin()
        folder.leave_out(left_out("vol-b", "failed"))
    assert [one.volume_id for one in stream_unanswered(tmp_path)] == ["vol-b"]


def test_a_demand_that_is_none_is_refused_with_its_file(tmp_path):
    (tmp_path / "demand.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"demand\.jsonl is damaged"):
        list(stream_profiles(tmp_path))


def test_recommendations_that_another_tool_laid_out_anew_are_read(tmp_path):
    with RunFolder(tmp_path) as folder:
        for record in records(3):
            folder.add(record)
    path = tmp_path / "recommendations.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    for indent in (None, 2):
        path.write_text(json.dumps(told, indent=indent), encoding="utf-8")
        assert read_records(tmp_path) == records(3)


def test_a_process_that_dies_at_once_loses_nothing(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from plimsoll.reports.run_folder import RunFolder;"
        "from tests.unit.reports.recommendations import a_record;"
        "folder = RunFolder(Path(sys.argv[1])).__enter__();"
        "[folder.add(a_record(volume_id=f'vol-{number}')) for number in range(30)];"
        "os._exit(9)"
    )
    died = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=REPOSITORY, check=False)
    assert died.returncode == 9
    with RunFolder(tmp_path) as folder:
        assert folder.answered == {f"vol-{number}" for number in range(30)}
    assert ids_on_disk(tmp_path) == [f"vol-{number}" for number in range(30)]


def test_an_exception_on_the_way_keeps_what_was_added(tmp_path):
    def stopped():
        with RunFolder(tmp_path) as folder:
            folder.add(a_record(volume_id="vol-1"))
            raise RuntimeError("the lights went out")

    with pytest.raises(RuntimeError, match="the lights went out"):
        stopped()
    assert ids_on_disk(tmp_path) == ["vol-1"]


def test_a_folder_that_is_continued_keeps_its_records_and_knows_what_they_answer(tmp_path):
    with RunFolder(tmp_path) as folder:
        for record in records(2):
            folder.add(record)
    with RunFolder(tmp_path) as folder:
        assert folder.answered == {"vol-0", "vol-1"}
        folder.add(a_record(volume_id="vol-2"))
        assert folder.answered == {"vol-0", "vol-1", "vol-2"}
    assert ids_on_disk(tmp_path) == ["vol-0", "vol-1", "vol-2"]
    assert [row["volume_id"] for row in rows(tmp_path)] == ["vol-0", "vol-1", "vol-2"]


def test_a_folder_that_is_not_there_is_made_with_its_parents_and_goes_where_nothing_is_noted(tmp_path):
    with RunFolder(tmp_path / "runs" / "one"):
        assert (tmp_path / "runs" / "one").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_recommendation_that_is_changed_stands_in_its_place_with_the_demand_of_before(tmp_path):
    given = records(3)
    with RunFolder(tmp_path) as folder:
        folder.begin()
        for record in given:
            folder.add(record, a_profile(of=record))
        folder.leave_out(left_out("vol-x"))
    with RunFolder(tmp_path) as folder:
        folder.change(given[1].model_copy(update={"reasons": ["measured"]}))
    assert [record.reasons == ["measured"] for record in read_records(tmp_path)] == [False, True, False]
    assert [profile.volume_id for profile in stream_profiles(tmp_path)] == ["vol-0", "vol-1", "vol-2"]
    assert [one.volume_id for one in stream_unanswered(tmp_path)] == ["vol-x"]


def test_a_killed_run_s_files_are_made_when_it_is_read_and_run_json_says_what_is_there(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.begin()
        folder.describe(a_plain_run(status="running"))
        folder.count(RunTotals(seen=4))
        for record in records(2):
            folder.add(record)
        folder.leave_out(left_out("vol-x"))
    (tmp_path / "recommendations.json").unlink()  # as where the process was killed before it wrote any
    bring_up_to_date(tmp_path)
    run = read_run(tmp_path)
    assert (run.status, run.volumes.seen, run.volumes.answered) == ("interrupted", 4, 2)
    assert ids_on_disk(tmp_path) == ["vol-0", "vol-1"]
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    bring_up_to_date(tmp_path)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_a_folder_without_a_run_has_no_records(tmp_path):
    assert read_records(tmp_path) == []


@pytest.mark.parametrize(
    "text", ["", "[", "[\n{}\n]\n", '{"a": 1}', '[{"volume_id": "vol-1"', "not json", "\x00", "null"]
)
def test_a_damaged_folder_is_refused_and_left_as_it_is(tmp_path, text):
    path = tmp_path / "recommendations.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"recommendations\.json is not a list of recommendations: move the folder"):
        RunFolder(tmp_path).__enter__()
    assert path.read_text(encoding="utf-8") == text


def test_a_record_with_a_key_of_another_version_is_refused(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.add(a_record())
    path = tmp_path / "recommendations.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    written[0]["surprise"] = 1
    path.write_text(json.dumps(written), encoding="utf-8")
    with pytest.raises(BadInput):
        read_records(tmp_path)


# ---- the table


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_name_that_a_spreadsheet_would_run_is_made_inert(tmp_path, start):
    name = f"{start}cmd|' /C calc'!A0"
    with RunFolder(tmp_path) as folder:
        folder.add(a_record(name=name))
    (row,) = rows(tmp_path)
    assert row["name"] == (f"'{name}" if start != "\r" else name.replace(start, r"\r"))
    assert read_records(tmp_path)[0].name == name


@pytest.mark.parametrize("name", ['a "quoted", name', "two\nlines", "데이터 볼륨", "<script>", "[red]", "a=b", ""])
def test_a_name_that_harms_nobody_stands_as_it_is(tmp_path, name):
    with RunFolder(tmp_path) as folder:
        folder.add(a_record(name=name))
    (row,) = rows(tmp_path)
    assert row["name"] == name


def test_no_cell_of_text_begins_a_formula_wherever_it_comes_from(tmp_path):
    hostile = "=HYPERLINK(0)"
    record = a_record(account=hostile, region=hostile, volume_id=hostile, name=hostile, reasons=[hostile, "and more"])
    owner = record.owner.model_copy(update={"name": hostile})
    with RunFolder(tmp_path) as folder:
        folder.add(record.model_copy(update={"owner": owner}))
    (row,) = rows(tmp_path)
    assert not [column for column, cell in row.items() if cell.startswith(("=", "+", "@"))]
    assert row["reasons"] == "'=HYPERLINK(0); and more"


def test_tags_are_one_cell_that_no_spreadsheet_runs(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.add(a_record(tags={"team": "payments", "=cmd()": "=1+1"}))
        folder.add(a_record(volume_id="vol-2"))
    assert [row["tags"] for row in rows(tmp_path)] == ["team=payments;' =cmd()==1+1", ""]
    assert read_records(tmp_path)[0].tags == {"team": "payments", "=cmd()": "=1+1"}


def test_a_negative_saving_stays_a_number(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.add(a_record(monthly_usd_saved=-12.5))
    assert rows(tmp_path)[0]["monthly_usd_saved"] == "-12.5"


def test_what_is_null_is_an_empty_cell_and_never_none_or_zero(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.add(a_record("detached", monthly_usd_now=None, monthly_usd_then=None))
    (row,) = rows(tmp_path)
    for column in ("monthly_usd_now", "monthly_usd_then", "target_type", "peak_iops", "evidence_grade", "name"):
        assert row[column] == ""


# ---- run.json


def test_the_run_s_account_is_read_back_and_replaced_whole(tmp_path):
    with RunFolder(tmp_path) as folder:
        folder.describe(a_plain_run(status="running", name="데이터"))
        assert read_run(tmp_path) == a_run_record(status="running", name="데이터")
        folder.describe(a_plain_run())
    assert read_run(tmp_path) == a_run_record()
    assert not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("text", [None, "", "{", "\x00"])
def test_a_folder_without_a_readable_account_says_which_folder_to_give(tmp_path, text):
    if text is not None:
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"holds no readable run\.json: give the folder of a run"):
        read_run(tmp_path)


@pytest.mark.parametrize("text", ["[]", "3", "[1, 2]", "null"])
def test_an_account_that_is_no_mapping_is_not_readable(tmp_path, text):
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        read_run(tmp_path)


def test_an_id_that_two_volumes_have_is_refused_with_both(tmp_path):
    one, other = a_record(), a_record(account="222222222222")
    given = [(record, a_profile(of=record)) for record in (one, other)]
    with RunFolder(tmp_path) as folder:
        for record, profile in given:
            folder.add(record, profile)
    for find in (find_record, find_profile):
        with pytest.raises(BadInput, match=f"{full_name(one)} or {full_name(other)}"):
            find(tmp_path, one.volume_id)
    for record, profile in given:
        assert find_record(tmp_path, full_name(record)) == record
        assert find_profile(tmp_path, full_name(record)) == profile


@pytest.mark.parametrize("name", ["recommendations.json", "demand.jsonl", "unanswered.jsonl"])
@pytest.mark.parametrize(
    ("status", "told"),
    [("running", "its run is still being written: wait until that has ended"), ("complete", ": move the folder away")],
)
def test_a_file_that_is_still_being_written_is_not_to_be_moved_away(tmp_path, name, status, told):
    run = a_run(tmp_path / "run", status=status)
    (run / name).write_text("[\n{\n", encoding="utf-8")
    readers = {"recommendations.json": stream_records, "demand.jsonl": stream_profiles}
    with pytest.raises(BadInput, match=told):
        list(readers.get(name, stream_unanswered)(run))


def an_ended_run(folder, count):
    """A run of so many volumes, and one that failed, that has ended."""
    with RunFolder(folder) as run:
        run.begin()
        for record in records(count):
            run.add(record)
        failed = {"account": "1", "region": "r", "volume_id": "vol-failed", "outcome": "failed", "reason": "no"}
        run.leave_out(UnansweredRecord(**failed))
        run.count(RunTotals(failed_volumes={"1/r": {"no": ["vol-failed"]}}))
        counts = {"seen": count + 1, "answered": count, "skipped": {}, "failed": 1}
        run.describe(a_plain_run(status="partial", volumes=counts))
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def test_the_journal_of_an_ended_run_is_refused_wherever_it_was_cut(tmp_path):
    lines = an_ended_run(tmp_path, 3)
    opened = next(place for place, line in enumerate(lines) if b'"opened"' in line) + 1
    for kept in range(opened, len(lines) - 1):
        (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:kept]))
        with pytest.raises(BadInput, match=r"journal\.jsonl is damaged: its end is missing"):
            bring_up_to_date(tmp_path)
        assert ids_on_disk(tmp_path) == ["vol-0", "vol-1", "vol-2"]


def test_what_was_killed_before_its_files_were_written_is_read_all_the_same(tmp_path):
    lines = an_ended_run(tmp_path, 3)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    bring_up_to_date(tmp_path)
    assert ids_on_disk(tmp_path) == ["vol-0", "vol-1", "vol-2"]


def test_an_ended_run_that_is_gone_on_with_and_killed_at_once_is_read(tmp_path):
    an_ended_run(tmp_path, 3)
    with RunFolder(tmp_path) as run:
        run.begin()
    lines = (tmp_path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    bring_up_to_date(tmp_path)
    assert ids_on_disk(tmp_path) == ["vol-0", "vol-1", "vol-2"]
