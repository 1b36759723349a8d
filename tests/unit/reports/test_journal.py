"""The journal: nothing that was appended is lost or left out in silence, and one process at a time appends."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.errors import BadInput, DiskFull
from plimsoll.reports.journal import JOURNAL, Held, Journal, Kind, entries
from plimsoll.reports.run_folder import RunFolder, write_files
from plimsoll.reports.run_reader import read_records
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run

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
def test_a_byte_that_changed_before_whole_lines_is_named_with_its_line(tmp_path_factory, at, flip):
    folder = tmp_path_factory.mktemp("run")
    lines = written(folder, 3)
    content = bytearray(b"".join(lines))
    at %= len(content) - len(lines[-1])
    content[at] ^= flip
    (folder / JOURNAL).write_bytes(content)
    line = bytes(b"".join(lines)[:at]).count(b"\n") + 1
    for read in (write_files, answered):
        with pytest.raises(BadInput, match=rf"line {line} of .*{JOURNAL} is damaged: .*head -n {line - 1}"):
            read(folder)


def test_what_is_written_is_what_is_read(tmp_path):
    added = [(kind, b'{"a": "%d"}' % number) for number, kind in enumerate([*Kind] * 3)]
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
            journal.append((Kind.RECOMMENDATION, LONG))
        with pytest.raises(DiskFull, match="its disk is full"):
            journal.append((Kind.RECOMMENDATION, LONG))
        monkeypatch.undo()
        assert len(list(entries(journal.path))) == added
        assert journal.path.read_bytes().count(b"\n") == added
        journal.append((Kind.WRITTEN, b"{}"))
    assert len(list(entries(tmp_path / JOURNAL))) == added + 1


def test_an_error_of_the_disk_that_comes_late_is_told_to_who_appends_next(tmp_path, monkeypatch):
    def fail(_descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    journal = Journal(tmp_path / JOURNAL).__enter__()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BadInput, match="cannot be written"):
        journal.__exit__()
