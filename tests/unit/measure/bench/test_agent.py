"""The agent of bench VMs: it runs the task that its metadata hold, once, and nothing that a task's values say."""

import base64
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cloud_simulator.google.bench_agents import Metadata, VmKey
from cloud_simulator.google.http_front import loopback
from plimsoll.model.task import Task, TaskMode
from plimsoll_measure.bench.agent import CANCEL_KEY, TASK_KEY, agent_script, agent_version, task_text
from plimsoll_measure.bench.answer import read_bench_answer
from tests.unit.measure.bench.hosts import JOB, LONG, MIB, eventually

VM = VmKey("p-1", "us-central1-a", "bench")
DISK = "4263976033879601115"


@contextmanager
def a_vm(folder, **variables: str) -> Iterator[Metadata]:
    """A VM's metadata server; with its address and a disk of 64 MiB in the environment of what runs there."""
    metadata = Metadata()
    disk = folder / "disk.img"
    with disk.open("wb") as file:
        file.truncate(64 * MIB)
    with loopback(metadata.answer) as port:
        own = {
            "GCE_METADATA_HOST": f"127.0.0.1:{port}{VM.path}",
            "PLIMSOLL_HOME": str(folder / "home"),
            "PLIMSOLL_TASKS": "1",
            "PLIMSOLL_PAUSE": "1",
            "PLIMSOLL_LOCK": str(folder / "lock"),
            "PLIMSOLL_SIMULATED_DEVICE": str(disk),
            "TMPDIR": str(folder),
            "PATH": os.environ["PATH"],
            **variables,
        }
        command = ["/bin/sh", "-c", agent_script()]
        with subprocess.Popen(command, env=own, stderr=subprocess.PIPE, text=True) as agent:
            try:
                yield metadata
            finally:
                agent.kill()
                metadata.close()


def give(metadata, text, **others):
    metadata.set(VM, {TASK_KEY: text, **others}, metadata.of(VM).fingerprint)


def a_text(task_id="t-1", job=JOB, late_s=0, **changes) -> str:
    task = Task(mode=TaskMode.DEVICE, volume_id=DISK, job=job, limit_s=60, **changes)
    return task_text(task, f"plimsoll-{DISK}", task_id=task_id, until_s=int(time.time()) + 60 - late_s)


def end_of(metadata, task_id="t-1"):
    assert eventually(lambda: f"{task_id}-end" in metadata.of(VM).guest)
    return dict(line.split("=", 1) for line in metadata.of(VM).guest[f"{task_id}-end"].splitlines())


@pytest.mark.needs("fio")
def test_a_task_is_measured_and_answered_in_guest_attributes(tmp_path):
    with a_vm(tmp_path) as metadata:
        assert eventually(lambda: metadata.of(VM).guest.get("ready", "").startswith(agent_version()))
        give(metadata, a_text())
        end = end_of(metadata)
        assert (end["how"], end["exit"]) == ("ended", "0")
        output = "".join(metadata.of(VM).guest[f"t-1-{number}"] for number in range(int(end["pieces"])))
        answer = read_bench_answer(output)
        assert (answer.mode, answer.volume_id, answer.simulated) == ("device", DISK, True)
        assert answer.fio


@pytest.mark.needs("fio")
def test_a_task_that_is_cancelled_stops_and_says_so(tmp_path):
    with a_vm(tmp_path) as metadata:
        text = a_text(job=LONG)
        give(metadata, text)
        assert eventually(lambda: metadata.of(VM).guest.get("t-1-state") == "running")
        give(metadata, text, **{CANCEL_KEY: "t-1"})
        assert end_of(metadata)["how"] == "cancelled"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Job", "$(touch harmed)"),
        ("DeviceName", "x;touch${IFS}harmed"),
        ("Mode", "erase"),
        ("VolumeId", "`touch harmed`"),
        ("LimitSeconds", "60; touch harmed"),
    ],
)
def test_a_value_that_its_pattern_does_not_allow_runs_nothing(tmp_path, name, value):
    with a_vm(tmp_path) as metadata:
        lines = [line for line in a_text().splitlines() if not line.startswith(f"{name}=")]
        give(metadata, "\n".join([*lines, f"{name}={value}"]))
        end = end_of(metadata)
        assert (end["exit"], end["pieces"]) == ("64", "0")
        assert end["error"] == f"the task's value of {name} is refused"
    assert not list(tmp_path.rglob("harmed"))


def _front(folder, name, text) -> str:
    """A PATH on which a command is this text first; `$real` is the command itself."""
    (folder / "front").mkdir()
    (folder / "front" / name).write_text(f"#!/bin/sh\nreal={shutil.which(name)}\n{text}\n")
    (folder / "front" / name).chmod(0o755)
    return f"{folder / 'front'}:{os.environ['PATH']}"


@pytest.mark.needs("fio")
@pytest.mark.parametrize("looks", [1, 2, 9])
def test_a_task_of_which_nobody_can_tell_whether_it_was_cancelled_is_not_begun(tmp_path, looks):
    """The metadata server may be away for a moment; a third look that fails is a refusal."""
    fails = f"""case "$*" in
*plimsoll-cancel*) echo >>{tmp_path}/looks; [ "$(wc -l <{tmp_path}/looks)" -gt {looks} ] || exit 7 ;;
esac
exec $real "$@\""""
    with a_vm(tmp_path, PATH=_front(tmp_path, "curl", fails)) as metadata:
        give(metadata, a_text())
        assert end_of(metadata)["how"] == ("cancelled" if looks > 2 else "ended")
    assert any((tmp_path / "disk.img").read_bytes()) == (looks <= 2)


def test_a_task_of_which_nobody_can_tell_whether_it_was_begun_is_left_alone(tmp_path):
    fails = f"""case "$*" in */taken) echo >>{tmp_path}/looks; exit 2 ;; esac
exec $real "$@\""""
    with a_vm(tmp_path, PATH=_front(tmp_path, "grep", fails)) as metadata:
        give(metadata, a_text())
        assert eventually((tmp_path / "looks").exists)
        give(metadata, a_text("t-2"))
        assert eventually(lambda: len((tmp_path / "looks").read_text().splitlines()) > 1)
        assert set(metadata.of(VM).guest) == {"ready"}
    assert not any((tmp_path / "disk.img").read_bytes())


def test_a_task_that_comes_too_late_is_left_alone_and_the_next_one_is_not(tmp_path):
    with a_vm(tmp_path) as metadata:
        give(metadata, a_text("late", late_s=120))
        assert eventually((tmp_path / "home" / "taken").exists)
        give(metadata, a_text("next", job="[j]\nfilename=/etc/passwd\n"))
        end = end_of(metadata, "next")
        assert end["exit"] == "1"
        assert "the job may not say" in metadata.of(VM).guest["next-0"]
        assert not [key for key in metadata.of(VM).guest if key.startswith("late")]


def test_the_whole_script_fits_into_metadata_and_a_task_is_plain_lines():
    assert len(agent_script()) < 256 * 1024
    lines = dict(line.split("=", 1) for line in a_text().splitlines())
    assert base64.b64decode(lines["Job"]).decode() == JOB
    assert lines["DeviceName"] == f"plimsoll-{DISK}"


@pytest.mark.needs("shellcheck")
def test_the_startup_script_is_clean():
    words = ["shellcheck", "--shell=sh", "--enable=all", "--exclude=SC2310,SC2312", "-"]
    found = subprocess.run(words, input=agent_script(), capture_output=True, text=True, check=False)
    assert found.stdout == ""
    assert found.returncode == 0
