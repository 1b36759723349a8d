"""A job run here is placed where it was said, stopped when it must be, and leaves the place as it was."""

import json
import os
import shutil
import signal

import pytest

from plimsoll.model.errors import BadInput, NotMeasured
from plimsoll_measure.bench.jobs import load_job
from plimsoll_measure.bench.local import PHASE_EMPTYING, PHASE_MEASURING, PHASE_PREPARING, fio_path, place_job, run
from plimsoll_measure.bench.write_places import BenchTarget, target_at
from tests.unit.measure.bench.loops import a_loop_device
from tests.unit.measure.bench.processes import working_in

MIB = 1 << 20

SHORT = """[global]
ioengine=libaio
direct=1
iodepth=4
numjobs=2
size=1g
filename_format=data.$jobnum
time_based
runtime=1
ramp_time=0
group_reporting

[randread-4k]
stonewall
rw=randread
bs=4k

[randwrite-4k]
stonewall
rw=randwrite
bs=4k
"""


def unwatched(_phase, _spent_s):
    pass


def a_device(size_mib):
    return BenchTarget(path="/dev/nvme1n1", is_device=True, size_bytes=size_mib * MIB)


def test_processes_share_a_device_without_touching_each_others_part():
    one = place_job(load_job("sweep", runtime_s=1, ramp_s=0), a_device(100 * 1024))
    for job in (one.job, one.preparation):
        assert f"filename=/dev/nvme1n1\noffset_increment={1024 * MIB}\n" in job
        assert job.count("size=") == 1
    assert one.taken_bytes == 16 * 1024 * MIB


def test_a_small_device_is_shared_out():
    one = place_job(SHORT, a_device(1001))
    assert f"size={500 * MIB}\n" in one.job
    assert one.taken_bytes == 1000 * MIB


def test_what_is_too_small_to_mean_anything_is_refused():
    with pytest.raises(BadInput, match=r"2 files of 50 MiB on /dev/nvme1n1 are too small .* each needs 64 MiB"):
        place_job(SHORT, a_device(100))


@pytest.mark.needs("fio")
def test_a_directory_is_filled_measured_and_left_as_it_was(tmp_path):
    (tmp_path / "mine").write_text("mine")
    phases, sizes = set(), set()

    def watch(phase, _spent_s):
        phases.add(phase)
        if phase == PHASE_MEASURING:
            sizes.update(file.stat().st_size for file in tmp_path.glob("plimsoll-benchmark-*/data.*"))

    found = json.loads(run(place_job(SHORT, target_at(tmp_path), file_bytes=64 * MIB), limit_s=60, watch=watch))
    assert [job["jobname"] for job in found["jobs"]] == ["randread-4k", "randwrite-4k"]
    assert found["jobs"][0]["read"]["total_ios"]
    assert found["jobs"][1]["write"]["total_ios"]
    assert (phases, sizes) == ({PHASE_PREPARING, PHASE_MEASURING}, {64 * MIB})
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


@pytest.mark.needs("fio", "loop")
def test_a_device_is_measured_within_its_bounds_and_as_empty_as_before(tmp_path):
    with a_loop_device(tmp_path) as device:
        phases = []
        one = place_job(SHORT, target_at(device), file_bytes=64 * MIB)
        found = json.loads(run(one, limit_s=60, watch=lambda phase, _: phases.append(phase)))
        assert found["jobs"][1]["write"]["total_ios"]
        assert PHASE_EMPTYING in phases
        assert not any(device.read_bytes())


@pytest.mark.needs("fio")
def test_what_takes_longer_than_it_may_is_stopped_and_removed(tmp_path):
    job = SHORT.replace("runtime=1\n", "runtime=600\n")
    with pytest.raises(NotMeasured, match="longer than it may and was stopped: allow more with --max-minutes"):
        run(place_job(job, target_at(tmp_path), file_bytes=64 * MIB), limit_s=2, watch=unwatched)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("fio")
@pytest.mark.parametrize("deaf", [False, True], ids=["fio-obeys", "fio-does-not-answer"])
def test_what_stops_the_watcher_stops_fio_and_removes_what_it_wrote(tmp_path, deaf):
    job = SHORT.replace("runtime=1\n", "runtime=600\n")

    def interrupt(phase, spent_s):
        if phase == PHASE_MEASURING and spent_s > (2 if deaf else 0.3):
            for process in working_in(tmp_path) if deaf else ():
                os.kill(int(process), signal.SIGSTOP)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(place_job(job, target_at(tmp_path), file_bytes=64 * MIB), limit_s=60, watch=interrupt)
    assert list(tmp_path.iterdir()) == []
    assert working_in(tmp_path) == []


@pytest.mark.needs("fio")
def test_fios_own_reason_is_told(tmp_path):
    with pytest.raises(NotMeasured, match=r"fio failed: .*no-such-engine.*what was written is removed"):
        run(
            place_job(SHORT.replace("libaio", "no-such-engine"), target_at(tmp_path), file_bytes=64 * MIB),
            limit_s=60,
            watch=unwatched,
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "result", ["", "{", '{"jobs": []}', '{"jobs": [{"jobname": "a", "read": {"total_ios": 0, "iops": 0}}]}']
)
def test_a_run_without_io_is_no_measurement_and_leaves_nothing(result, monkeypatch, tmp_path):
    """fio ends with 0 all the same."""
    front = tmp_path / "front"
    front.mkdir()
    (front / "fio").write_text(f"""#!/bin/sh
for word; do case $word in --output=*) out=${{word#--output=}} ;; esac; done
printf '%s' '{result}' >"$out"
""")
    (front / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{front}:{os.environ['PATH']}")
    with pytest.raises(NotMeasured, match=r"fio's (result|job a)|fio printed no result"):
        run(place_job(SHORT, target_at(tmp_path), file_bytes=64 * MIB), limit_s=60, watch=unwatched)
    assert list(tmp_path.iterdir()) == [front]


def test_a_missing_fio_is_told_with_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotMeasured, match=r"apt-get install fio.*dnf.*yum.*zypper.*brew install fio"):
        fio_path()
    assert shutil.which("fio") is None
