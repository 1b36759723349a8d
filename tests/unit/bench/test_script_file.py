"""Mode file: one bounded file without a name on the volume's filesystem, and what stops it beside other work."""

import json
import subprocess

import pytest

from plimsoll.bench.answer import read_answer
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.task import TaskMode
from tests.unit.bench.hosts import (
    JOB,
    LONG,
    a_filesystem,
    a_partition,
    a_task,
    a_volume,
    commands,
    environment,
    formatted,
    mounted,
    run,
    source_of,
    volume_at,
)

pytestmark = [pytest.mark.needs("loop", "fio")]

QUIET = "   7       0 {name} {done} 0 0 {spent} 0 0 0 0 {waiting} 0 0"


def a_file_task(place, **changes):
    return a_task(**{"mode": TaskMode.FILE, "volume_id": volume_at(place), "file_size_mib": 16, **changes})


@pytest.mark.parametrize("kind", ["ext4", pytest.param("xfs", marks=pytest.mark.needs("xfs"))])
def test_a_file_is_measured_on_the_mounted_filesystem_and_nothing_stays(kind, tmp_path):
    with a_filesystem(tmp_path, kind=kind) as place:
        before = sorted(place.iterdir())
        answer = read_answer(run(a_file_task(place), tmp_path).stdout)
        assert answer.filesystem == kind
        assert answer.filesystem_on == answer.device
        assert answer.stopped is None
        (mixed,) = json.loads(answer.fio)["jobs"]
        assert mixed["read"]["total_ios"] > 0
        assert mixed["write"]["total_ios"] > 0
        assert sorted(place.iterdir()) == before
    assert not list((tmp_path / "tmp").iterdir())


def test_a_filesystem_on_a_partition_is_found(tmp_path):
    with a_volume(tmp_path, 2048) as volume:
        part = f"{volume.device}p1"
        with a_partition(volume.device, 2048), mounted(part, tmp_path / "place", make="mkfs.ext4"):
            task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
            answer = read_answer(run(task, tmp_path).stdout)
        assert (answer.device, answer.filesystem_on) == (volume.device, part)


def test_a_filesystem_on_what_is_built_of_the_volume_is_found(tmp_path):
    """This kernel may have neither md nor LVM: another device stands for one, among the holders of the volume."""
    with a_volume(tmp_path) as volume, a_filesystem(tmp_path) as place:
        built = source_of(place)
        holders = tmp_path / "holders"
        (holders / built.removeprefix("/dev/")).mkdir(parents=True)
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        told = run(task, tmp_path, over={f"/sys/class/block/{volume.device.removeprefix('/dev/')}/holders": holders})
        answer = read_answer(told.stdout)
        assert (answer.device, answer.filesystem_on, answer.filesystem) == (volume.device, built, "ext4")


def test_a_file_that_would_not_leave_room_is_not_begun(tmp_path):
    with a_filesystem(tmp_path) as place:
        with pytest.raises(NotMeasured, match=r"\(room\).*a tenth of it and 1 GiB"):
            read_answer(run(a_file_task(place, file_size_mib=1200), tmp_path).stdout)
        assert [entry.name for entry in place.iterdir()] == ["lost+found"]


def test_a_volume_whose_filesystem_is_not_mounted_is_not_measured(tmp_path):
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume:
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        with pytest.raises(NotMeasured, match=r"\(filesystem\): no filesystem of vol-"):
            read_answer(run(task, tmp_path).stdout)


def test_a_filesystem_that_is_read_only_is_not_measured(tmp_path):
    with a_filesystem(tmp_path) as place:
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        with pytest.raises(NotMeasured, match=r"\(filesystem\): no folder can be made"):
            read_answer(run(a_file_task(place), tmp_path).stdout)


def test_latency_above_the_limit_stops_the_run_and_keeps_what_was_measured(tmp_path):
    with a_filesystem(tmp_path) as place:
        answer = read_answer(run(a_file_task(place, job=LONG, most_latency_us=1), tmp_path).stdout)
        assert answer.stopped == "latency"
        assert not [entry for entry in place.iterdir() if entry.name.startswith(".plimsoll")]


def _run_with_statistics(place, folder, lines, **limits):
    """Runs the document where /proc/diskstats is a file of the test's; a line of it follows the other each second."""
    statistics = folder / "diskstats"
    steps = [folder / f"diskstats.{number}" for number in range(len(lines))]
    device = source_of(place)
    for step, values in zip(steps, lines, strict=True):
        step.write_text(QUIET.format(name=device.removeprefix("/dev/"), **values) + "\n")
    statistics.write_text(steps[0].read_text())
    script = folder / "script"
    script.write_text(commands(a_file_task(place, job=JOB.replace("runtime=1", "runtime=8"), **limits)))
    played = " ".join(str(step) for step in steps)
    acted = (
        f"mount --bind {statistics} /proc/diskstats || exit 99\n"
        f"( for step in {played}; do cat $step > {statistics}; sleep 1; done ) >/dev/null 2>&1 &\n"
        f"/bin/sh {script}; code=$?; kill $! 2>/dev/null; exit $code"
    )
    told = subprocess.run(
        ["unshare", "--mount", "/bin/sh", "-c", acted],
        env=environment(folder, {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return read_answer(told.stdout)


def test_a_queue_above_the_limit_stops_the_run(tmp_path):
    with a_filesystem(tmp_path) as place:
        busy = [{"done": number * 1000, "spent": number, "waiting": 9} for number in range(20)]
        assert _run_with_statistics(place, tmp_path, busy, most_queue=8).stopped == "queue"
        assert _run_with_statistics(place, tmp_path, busy, most_queue=9).stopped is None


def test_the_mean_latency_is_that_of_the_last_second(tmp_path):
    with a_filesystem(tmp_path) as place:
        two_ms = [{"done": number * 1000, "spent": number * 2000, "waiting": 0} for number in range(20)]
        assert _run_with_statistics(place, tmp_path, two_ms, most_latency_us=1500).stopped == "latency"
        assert _run_with_statistics(place, tmp_path, two_ms, most_latency_us=5000).stopped is None


def test_io_that_waits_while_none_is_served_counts_as_latency(tmp_path):
    with a_filesystem(tmp_path) as place:
        stalled = [{"done": 1000, "spent": 10, "waiting": 1}] * 12
        assert _run_with_statistics(place, tmp_path, stalled, most_latency_us=500_000).stopped == "latency"
