"""The journal: nothing that was appended is lost or left out in silence, and one process at a time appends."""

import errno
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.errors import BadInput, DiskFull
from plimsoll.outcomes import VolumesSeen
from plimsoll.ports import Target
from plimsoll.reports.csv_table import record_line
from plimsoll.reports.run_folder import JOURNAL, EntryKind, Held, Journal, RunFolder, entries
from plimsoll.reports.run_reader import UnansweredRecord, read_records, stream_profiles, stream_unanswered
from plimsoll.reports.totals import RunTotals
from tests.unit.reports.recommendations import a_profile, a_record
from tests.unit.reports.runs import a_run

HERE = Target(account="1", region="r")
REPOSITORY = Path(__file__).parents[3]


LONG = b'"%s"' % (b"x" * 500)


def written(folder, count=6):
    """The lines of a journal with that many recommendations."""
    a_run(folder, [a_record(volume_id=f"vol-{number}") for number in range(count)])
    return (folder / JOURNAL).read_bytes().splitlines(keepends=True)


def answered(folder):
    with RunFolder(folder) as run:
        return sorted(run.answered)


def recommended(lines):
    return sum(b'"recommendation":' in line for line in lines)


@pytest.mark.parametrize("torn", [1, 2, 30, 200])
def test_a_torn_last_line_is_cut_and_the_run_goes_on(tmp_path, torn):
    lines = written(tmp_path)[:-1]
    whole = b"".join(lines)[:-torn]
    (tmp_path / JOURNAL).write_bytes(whole)
    kept = recommended(whole.split(b"\n")[:-1])
    with RunFolder(tmp_path) as run:
        run.add(a_record(volume_id="vol-more"))
    assert answered(tmp_path) == sorted([f"vol-{number}" for number in range(kept)] + ["vol-more"])
    assert len(read_records(tmp_path)) == kept + 1


@pytest.mark.parametrize("garbage", [b"\x00" * 10_000, b"\xff" * 100 + b"\n", b"{}\n{}\n", b'{"crc32":"00000000",'])
def test_garbage_at_the_end_is_cut(tmp_path, garbage):
    written(tmp_path)
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(garbage)
    assert answered(tmp_path) == [f"vol-{number}" for number in range(6)]


@given(at=st.integers(0, 10**6), flip=st.integers(1, 255))
def test_a_byte_that_changed_costs_its_line_which_is_named(tmp_path_factory, at, flip):
    folder = tmp_path_factory.mktemp("run")
    lines = written(folder, 3)
    content = bytearray(b"".join(lines))
    at %= len(content) - len(lines[-1])
    content[at] ^= flip
    (folder / JOURNAL).write_bytes(content)
    first = bytes(b"".join(lines)[:at]).count(b"\n")
    struck = [first, first + 1] if b"".join(lines)[at : at + 1] == b"\n" else [first]  # its end is gone: two are one
    whole = {
        json.loads(line)["recommendation"]["volume_id"]: number
        for number, line in enumerate(lines)
        if number not in struck and b'"recommendation":' in line
    }
    with RunFolder(folder) as run:
        assert run.damaged or struck[-1] == len(lines) - 1
        # What follows a line that may have been its demand is asked for again too.
        assert set(whole) >= run.answered >= {name for name, number in whole.items() if number != struck[-1] + 1}
    assert {one.volume_id for one in read_records(folder)} <= set(whole)


@pytest.mark.parametrize("kind", ["recommendation", "totals", "unanswered", "demand"])
def test_a_line_that_is_there_twice_counts_once(tmp_path, kind):
    record = a_record(volume_id="vol-1")
    with RunFolder(tmp_path) as run:
        run.begin()
        run.add(record, a_profile(of=record))
        run.count(RunTotals.add_up([VolumesSeen(target=HERE, volumes=3)], by=()))
        run.leave_out(UnansweredRecord(account="1", region="r", volume_id="vol-2", outcome="failed", reason="x"))
    path = tmp_path / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if f'"{kind}":'.encode() in line)
    before = [(entry.kind, entry.content) for entry in entries(path)]
    for twice in ([lines[place]], lines[: place + 1]):
        path.write_bytes(b"".join([*lines[: place + 1], *twice, *lines[place + 1 :]]))
        assert [(entry.kind, entry.content) for entry in entries(path)] == before
    assert answered(tmp_path) == ["vol-1"]
    assert len(list(stream_unanswered(tmp_path))) == 1


def test_an_answer_whose_demand_is_damaged_is_asked_for_again_and_no_others_demand_is_its(tmp_path):
    records = [a_record(volume_id=f"vol-{number}") for number in range(3)]
    with RunFolder(tmp_path) as run:
        for record in records:
            run.add(record, a_profile(of=record))
    path = tmp_path / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    demands = [number for number, line in enumerate(lines) if b'"demand":{"account"' in line]
    lines[demands[1]] = lines[demands[1]].replace(b"vol-1", b"vol-7")
    path.write_bytes(b"".join(lines))
    assert answered(tmp_path) == ["vol-0", "vol-2"]
    assert [one.volume_id for one in stream_profiles(tmp_path)] == ["vol-0", "vol-2"]


def test_journals_of_earlier_versions_without_numbers_are_read(tmp_path):
    bodies = [b'"opened":{}', b'"begun":{}', b'"recommendation":%b' % record_line(a_record(volume_id="vol-1"))]
    lines = [b'{"crc32":"%08x",%b}\n' % (zlib.crc32(body), body) for body in bodies]
    (tmp_path / JOURNAL).write_bytes(b"".join(lines))
    assert [entry.number for entry in entries(tmp_path / JOURNAL)] == [None, None, None]
    assert answered(tmp_path) == ["vol-1"]
    with RunFolder(tmp_path) as run:
        run.add(a_record(volume_id="vol-2"))
    assert answered(tmp_path) == ["vol-1", "vol-2"]


def test_what_is_written_is_what_is_read(tmp_path):
    added = [(kind, b'{"a": "%d"}' % number) for number, kind in enumerate([*EntryKind] * 3)]
    with Journal(tmp_path / JOURNAL) as journal:
        journal.append(*added)
    found = list(entries(tmp_path / JOURNAL))
    assert [(entry.kind, entry.content) for entry in found] == added
    assert found[-1].end == (tmp_path / JOURNAL).stat().st_size


def test_another_process_is_refused_with_the_one_that_writes_and_follows_when_it_is_dead(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from plimsoll.reports.run_folder import RunFolder;"
        "folder = RunFolder(Path(sys.argv[1])); folder.__enter__(); print('held', flush=True); time.sleep(600)"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "run")]
    with subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(Held, match=rf"is being written by process {process.pid} on \S+ since \S+: wait"):
            RunFolder(tmp_path / "run").__enter__()
        process.kill()
    with RunFolder(tmp_path / "run") as run:
        assert run.answered == set()


def test_a_disk_that_becomes_full_keeps_what_was_whole_and_says_so(tmp_path, monkeypatch):
    room = [3_000]

    def write(descriptor, content):
        if len(content) <= room[0]:
            room[0] -= len(content)
            return real(descriptor, content)
        if room[0]:
            part, room[0] = room[0], 0
            return real(descriptor, content[:part])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real = os.write
    with Journal(tmp_path / JOURNAL) as journal:
        monkeypatch.setattr(os, "write", write)
        added = 5
        for _ in range(added):
            journal.append((EntryKind.RECOMMENDATION, LONG))
        with pytest.raises(DiskFull, match="its disk is full"):
            journal.append((EntryKind.RECOMMENDATION, LONG))
        monkeypatch.undo()
        assert len(list(entries(journal.path))) == added
        assert journal.path.read_bytes().count(b"\n") == added
        journal.append((EntryKind.WRITTEN, b"{}"))
    assert len(list(entries(tmp_path / JOURNAL))) == added + 1


def test_an_error_of_the_disk_that_comes_late_is_told_to_who_appends_next(tmp_path, monkeypatch):
    def fail(_descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    journal = Journal(tmp_path / JOURNAL).__enter__()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BadInput, match="cannot be written"):
        journal.__exit__()
