"""However it ends: nothing of a run stays, neither a process nor a file."""

import os
import signal
from pathlib import Path

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll.model.task import TaskMode
from plimsoll_measure.bench.answer import read_bench_answer
from tests.unit.measure.bench.hosts import (
    LONG,
    a_filesystem,
    a_task,
    eventually,
    processes_in,
    running,
    source_of,
    volume_at,
)

pytestmark = [pytest.mark.needs("loop", "fio")]


def _fio_measures(place):
    """Whether fio reads: before it does, hardly anything is read of the device."""
    statistics = Path("/sys/class/block", source_of(place).removeprefix("/dev/"), "stat")

    def reads():
        return int(statistics.read_text().split()[0])

    before = reads()
    return lambda: reads() > before + 1000


def _nothing_stays(folder, place):
    def holds():
        left = [entry for entry in place.iterdir() if entry.name != "lost+found"]
        return not processes_in(folder) and not list((folder / "tmp").iterdir()) and not left

    return holds


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_fio_and_is_told(sent, tmp_path):
    with a_filesystem(tmp_path) as place:
        task = a_task(mode=TaskMode.FILE, volume_id=volume_at(place), job=LONG, file_size_mib=16, limit_s=600)
        with running(task, tmp_path) as process:
            assert eventually(_fio_measures(place))
            process.send_signal(sent)
            output, _ = process.communicate(timeout=300)
            assert process.returncode == 128 + sent
            with pytest.raises(NotMeasured, match=rf"\(stopped\): the script was stopped by {sent.name}"):
                read_bench_answer(output)
            assert eventually(_nothing_stays(tmp_path, place))


@pytest.mark.parametrize("whole_group", [False, True])
def test_a_shell_that_is_killed_outright_takes_fio_with_it(whole_group, tmp_path):
    with a_filesystem(tmp_path) as place:
        task = a_task(mode=TaskMode.FILE, volume_id=volume_at(place), job=LONG, file_size_mib=16, limit_s=600)
        with running(task, tmp_path) as process:
            assert eventually(_fio_measures(place))
            if whole_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            assert eventually(_nothing_stays(tmp_path, place))


def test_fio_is_bounded_even_when_nothing_is_left_that_watches_it(tmp_path):
    with a_filesystem(tmp_path) as place:
        task = a_task(mode=TaskMode.FILE, volume_id=volume_at(place), job=LONG, file_size_mib=16, limit_s=30)
        with running(task, tmp_path) as process:
            assert eventually(_fio_measures(place))
            guards = [pid for pid in _pids() if _is_guard(pid, process.pid)]
            assert len(guards) == 1
            os.kill(guards[0], signal.SIGKILL)
            process.kill()
            assert eventually(lambda: not processes_in(tmp_path))


def test_fio_has_no_process_that_outlives_its_group(tmp_path):
    """The processes that fio makes for its jobs leave its group; threads cannot."""
    with a_filesystem(tmp_path) as place:
        task = a_task(mode=TaskMode.FILE, volume_id=volume_at(place), job=LONG, file_size_mib=16, limit_s=600)
        with running(task, tmp_path) as process:
            assert eventually(_fio_measures(place))
            (group,) = (tmp_path / "tmp").glob("plimsoll-*/engine")
            os.killpg(int(group.read_text()), signal.SIGKILL)
            output, _ = process.communicate(timeout=300)
            with pytest.raises(NotMeasured, match=r"\(fio\): fio ended with 137"):
                read_bench_answer(output)
            assert eventually(_nothing_stays(tmp_path, place))


def _pids():
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]


def _is_guard(pid, parent):
    try:
        return f"\0guard\0{parent}\0".encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
