"""Files are written whole, over nothing but files, and stay as private as they were."""

import errno
import os
import stat

import pytest

from plimsoll.files import atomic_path, check_place, write_lines
from plimsoll.model.errors import BadInput, DiskFull
from plimsoll.reports.data.database import open_runs
from plimsoll.reports.data.exports import copy_parquet
from plimsoll.reports.html.page import write_html
from tests.unit.reports.recommendations import a_record
from tests.unit.reports.runs import a_run


@pytest.fixture
def run(tmp_path):
    return a_run(tmp_path / "run", [a_record()])


def as_text(_run, out):
    write_lines(["new"], out, "utf-8")


def as_parquet(run, out):
    with open_runs(run) as database:
        copy_parquet(database, "select 1", out)


def as_page(run, out):
    write_html(run, out, envelopes={}, console_link=lambda record: record.volume_id)


WRITERS = [as_text, as_parquet, as_page]


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "place"
    found.mkdir()
    return found


@pytest.mark.parametrize("write", WRITERS)
def test_a_pipe_is_not_written_over_and_still_there(run, place, write):
    pipe = place / "pipe"
    os.mkfifo(pipe)
    link = place / "link"
    link.symlink_to(pipe)
    for out in (pipe, link):
        with pytest.raises(BadInput, match="it is a device, a pipe or a folder and no file"):
            write(run, out)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert len(list(place.iterdir())) == 2


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_is_followed_to_its_file_and_stays_a_link(run, place, write):
    kept, link = place / "kept", place / "link"
    kept.write_text("old", encoding="utf-8")
    link.symlink_to("kept")
    write(run, link)
    assert str(link.readlink()) == "kept"
    assert kept.read_bytes() != b"old"


def test_a_link_to_nothing_yet_makes_its_file(run, place):
    link = place / "link"
    link.symlink_to(place / "there" / "file")
    as_text(run, link)
    assert (place / "there" / "file").read_text(encoding="utf-8") == "new"


def test_links_in_a_circle_are_told_of_in_a_sentence(run, place):
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    with pytest.raises(BadInput, match="cannot be written"):
        as_text(run, place / "a")


@pytest.mark.parametrize("write", WRITERS)
def test_what_stands_beside_the_file_is_left_alone(run, place, write):
    beside = place / "report.new"
    beside.write_text("mine", encoding="utf-8")
    write(run, place / "report")
    assert beside.read_text(encoding="utf-8") == "mine"
    assert {found.name for found in place.iterdir()} == {"report", "report.new"}


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400])
def test_a_file_keeps_its_mode(run, place, write, mode):
    out = place / "report"
    out.write_text("old", encoding="utf-8")
    out.chmod(mode)
    write(run, out)
    assert mode_of(out) == mode
    assert out.read_bytes() != b"old"


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_a_new_file_and_its_new_folder_are_its_owners_alone_whatever_the_umask(run, place, write, umask):
    before = os.umask(umask)
    try:
        write(run, place / "new" / "report")
    finally:
        os.umask(before)
    assert mode_of(place / "new" / "report") == 0o600
    assert mode_of(place / "new") == 0o700


@pytest.mark.parametrize("place", ["a-file/run", "a-file/runs/run", "a-file"])
def test_a_folder_under_a_file_is_refused_before_it_is_needed(tmp_path, place):
    (tmp_path / "a-file").touch()
    with pytest.raises(BadInput, match="a-file is no folder"):
        check_place(tmp_path / place)


def test_a_folder_that_can_be_made_is_not_made(tmp_path):
    check_place(tmp_path / "runs" / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_folder_is_refused_before_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: not mode & os.W_OK)
    with pytest.raises(BadInput, match="is read-only"):
        check_place(tmp_path / "run")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_bad_input(tmp_path, number):
    with pytest.raises(DiskFull, match="Make room"), atomic_path(tmp_path / "report"):
        raise OSError(number, os.strerror(number))
    assert list(tmp_path.iterdir()) == []
