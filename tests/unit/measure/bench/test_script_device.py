"""Mode device: the raw volume, and only when it is the volume, unused and empty."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll_measure.bench.answer import read_bench_answer
from tests.unit.measure.bench.hosts import (
    JOB,
    MIB,
    READS,
    TABLE,
    a_partition,
    a_task,
    a_volume,
    commands_at,
    formatted,
    holding,
    linked,
    mounted,
    run,
)

pytestmark = [pytest.mark.needs("loop", "fio")]


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_empty_volume_is_measured_and_can_be_measured_again(tmp_path):
    with a_volume(tmp_path) as volume:
        for _ in range(2):
            answer = read_bench_answer(run(a_task(volume_id=volume.id), tmp_path).stdout)
            assert (answer.mode, answer.volume_id, answer.device) == ("device", volume.id, volume.device)
            assert not answer.simulated
            assert answer.stopped is None
            (mixed,) = json.loads(answer.fio)["jobs"]
            assert mixed["error"] == 0
            assert mixed["read"]["total_ios"] > 0
            assert mixed["write"]["total_ios"] > 0
        written = volume.image.read_bytes()
        assert any(written)
        assert not any(written[:MIB])
        assert not any(written[-MIB:])
    assert not list((tmp_path / "tmp").iterdir())


PREPARED = {
    "ext4": formatted("ext4"),
    "swap": holding((4086, b"SWAPSPACE2")),
    "partitions": TABLE,
    "LVM": holding((512, b"LABELONE")),
    "RAID 1.2": holding((4096, b"\xfc\x4e\x2b\xa9")),
    "RAID 0.9": holding((64 * MIB - 65536, b"\xfc\x4e\x2b\xa9")),
    "data without a signature, at the front": holding((70_000, b"x")),
    "data without a signature, at the end": holding((64 * MIB - 1, b"x")),
}


@pytest.mark.parametrize("what", PREPARED)
def test_a_volume_that_holds_anything_is_not_touched(what, tmp_path):
    with a_volume(tmp_path, prepare=PREPARED[what]) as volume:
        before = _digest(volume.image)
        told = run(a_task(volume_id=volume.id), tmp_path)
        assert told.returncode == 1
        with pytest.raises(NotMeasured, match=r"\((not-empty|in-use)\).*Nothing was written"):
            read_bench_answer(told.stdout)
        assert _digest(volume.image) == before


def test_a_mounted_volume_is_neither_written_nor_read(tmp_path):
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume, mounted(volume.device, tmp_path / "place"):
        for changes in ({}, {"initialize": True, "job": READS}):
            with pytest.raises(NotMeasured, match=r"\(in-use\).*it is mounted"):
                read_bench_answer(run(a_task(volume_id=volume.id, **changes), tmp_path).stdout)


def test_a_volume_with_partitions_is_in_use_whatever_it_holds(tmp_path):
    with a_volume(tmp_path) as volume, a_partition(volume.device, 64):
        with pytest.raises(NotMeasured, match=r"\(in-use\).*it has partitions"):
            read_bench_answer(run(a_task(volume_id=volume.id), tmp_path).stdout)
        assert not any(volume.image.read_bytes())


def test_a_volume_that_something_is_built_on_is_in_use_whatever_it_holds(tmp_path):
    (tmp_path / "holders" / "md0").mkdir(parents=True)
    with a_volume(tmp_path) as volume:
        holders = {f"/sys/class/block/{volume.device.removeprefix('/dev/')}/holders": tmp_path / "holders"}
        with pytest.raises(NotMeasured, match=r"\(in-use\).*md0 is built on it"):
            read_bench_answer(run(a_task(volume_id=volume.id), tmp_path, over=holders).stdout)
        assert not any(volume.image.read_bytes())


def test_a_copy_is_read_as_a_whole_first_and_never_written(tmp_path):
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume:
        before = _digest(volume.image)
        answer = read_bench_answer(run(a_task(volume_id=volume.id, initialize=True, job=READS), tmp_path).stdout)
        assert json.loads(answer.fio)["jobs"][0]["read"]["total_ios"] > 0
        with pytest.raises(NotMeasured, match="only reads are measured on a copy"):
            read_bench_answer(run(a_task(volume_id=volume.id, initialize=True, job=JOB), tmp_path).stdout)
        assert _digest(volume.image) == before


def test_another_volume_is_never_taken_for_the_one_that_was_asked_for(tmp_path):
    with a_volume(tmp_path) as volume:
        before = _digest(volume.image)
        beginning = volume.id[:12]  # the id of an older kind, with which the longer one begins
        for other in ("vol-0ffffffffffffffff", beginning):
            with pytest.raises(NotMeasured, match=r"\(find-device\).*no block device of this host has the serial"):
                read_bench_answer(run(a_task(volume_id=other, limit_s=10), tmp_path).stdout)
        assert _digest(volume.image) == before


def test_two_devices_that_say_the_same_are_both_left_alone(tmp_path):
    with a_volume(tmp_path) as volume, a_volume(tmp_path) as other:
        link = f"{volume.id}_1"
        with linked(link, other.device), pytest.raises(NotMeasured, match="several devices"):
            read_bench_answer(run(a_task(volume_id=volume.id, limit_s=10), tmp_path).stdout)
        assert not any(volume.image.read_bytes())
        assert not any(other.image.read_bytes())


def test_a_device_that_appears_late_is_waited_for(tmp_path):
    with a_volume(tmp_path) as volume:
        late = "vol-0123456789abcdef9"
        link = f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{late.replace('-', '')}"
        with subprocess.Popen(["/bin/sh", "-c", f"sleep 2; ln -s {volume.device} {link}"]) as later:
            try:
                answer = read_bench_answer(run(a_task(volume_id=late), tmp_path).stdout)
            finally:
                later.wait()
                subprocess.run(["rm", "-f", link], check=True)
        assert answer.device == volume.device


def test_what_is_measured_stays_within_the_limit_and_says_so(tmp_path):
    with a_volume(tmp_path) as volume:
        job = READS.replace("runtime=1", "runtime=600")
        with pytest.raises(NotMeasured, match=r"\(limit\): fio did not end within the limit of 10 s"):
            read_bench_answer(run(a_task(volume_id=volume.id, job=job, limit_s=10), tmp_path).stdout)


def test_a_second_measurement_on_one_host_is_told_that_it_is_busy(tmp_path):
    with a_volume(tmp_path) as volume, (tmp_path / "lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(NotMeasured, match=r"\(busy\): another measurement is running"):
            read_bench_answer(run(a_task(volume_id=volume.id, limit_s=10), tmp_path).stdout)
        assert not any(volume.image.read_bytes())


def _acting(folder, device, acts):
    """A PATH on which fio does something to the device, as the script waits for it, before it is fio."""
    acted = f"[ -e {folder}/acted ] || {{ : >{folder}/acted; {acts.format(device=device)}; }} >>{folder}/said 2>&1"
    (folder / "front").mkdir()
    (folder / "front" / "fio").write_text(f'#!/bin/sh\n{acted}\nexec {shutil.which("fio")} "$@"\n')
    (folder / "front" / "fio").chmod(0o755)
    return f"{folder}/front:{os.environ['PATH']}"


@pytest.mark.parametrize(
    "acts",
    [
        "mkfs.ext4 -q -F {device}",
        "printf LABELONE | dd of={device} bs=1 seek=512",
        "printf theirs | dd of={device} bs=1 seek=70000",
        "addpart {device} 1 2048 4096",
    ],
)
def test_what_becomes_of_the_device_while_fio_is_made_ready_is_seen_before_the_first_write(acts, tmp_path):
    """What the first look finds is asked again after fio was installed and tried without the device."""
    with a_volume(tmp_path) as volume:
        path = _acting(tmp_path, volume.device, f"{acts}; sync; md5sum {{device}} >{tmp_path}/theirs")
        try:
            told = run(a_task(volume_id=volume.id), tmp_path, PATH=path)
        finally:
            subprocess.run(["delpart", volume.device, "1"], check=False, capture_output=True)
        held = "mkfs.ext4" in acts and "apparently in use" in (tmp_path / "said").read_text()
        if not held:
            with pytest.raises(NotMeasured, match=r"\((not-empty|in-use)\).*Nothing was written"):
                read_bench_answer(told.stdout)
            md5 = subprocess.run(["md5sum", volume.device], check=True, capture_output=True, text=True).stdout
            assert md5 == (tmp_path / "theirs").read_text()


def test_nobody_can_mount_what_is_measured(tmp_path):
    """Also where the filesystem comes to it only after it was looked at: the device is held from the checks on."""
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume:
        place = tmp_path / "place"
        place.mkdir()
        path = _acting(tmp_path, volume.device, f"mount {{device}} {place}")
        answer = read_bench_answer(
            run(a_task(volume_id=volume.id, initialize=True, job=READS), tmp_path, PATH=path).stdout
        )
        assert answer.fio
        assert "already mounted or mount point busy" in (tmp_path / "said").read_text()
        assert not place.is_mount()
        subprocess.run(["mount", volume.device, place], check=True)  # nobody holds it any more
        subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("lacks", ["python3", "both"])
def test_the_device_is_held_by_python_or_perl_and_without_either_it_is_left_alone(lacks, tmp_path):
    path = commands_at(tmp_path)
    for name in ("fio", "mkfifo", *(() if lacks == "both" else ("perl",))):
        (tmp_path / "granted" / name).symlink_to(shutil.which(name))
    with a_volume(tmp_path) as volume:
        before = _digest(volume.image)
        told = run(a_task(volume_id=volume.id), tmp_path, PATH=path)
        if lacks == "both":
            with pytest.raises(NotMeasured, match=r"\(in-use\).*neither python3 nor perl"):
                read_bench_answer(told.stdout)
            assert _digest(volume.image) == before
        else:
            assert read_bench_answer(told.stdout).fio


def test_a_device_that_somebody_else_holds_is_left_alone(tmp_path):
    with a_volume(tmp_path) as volume:
        before = _digest(volume.image)
        descriptor = os.open(volume.device, os.O_RDONLY | os.O_EXCL)
        try:
            with pytest.raises(NotMeasured, match=r"\(in-use\).*cannot be had for itself"):
                read_bench_answer(run(a_task(volume_id=volume.id), tmp_path).stdout)
        finally:
            os.close(descriptor)
        assert _digest(volume.image) == before


@pytest.mark.parametrize("tool", ["wipefs", "blkid", "dd", "tr", "wc", "grep", "cat", "readlink", "mkfifo"])
@pytest.mark.parametrize("end", ["exit 0", "exit 1", "exit 2", "exit 127"])
def test_a_check_of_the_device_that_could_not_run_is_a_refusal(tool, end, tmp_path):
    """A volume that holds data stays as it is, whichever tool does nothing instead of its work."""
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume:
        before = _digest(volume.image)
        front = tmp_path / "front"
        front.mkdir()
        (front / tool).write_text(f"#!/bin/sh\n{end}\n")
        (front / tool).chmod(0o755)
        told = run(a_task(volume_id=volume.id, limit_s=10), tmp_path, PATH=f"{front}:{os.environ['PATH']}")
        assert told.returncode != 0
        assert _digest(volume.image) == before


@pytest.mark.parametrize("initialize", [False, True], ids=["empty", "copy"])
def test_a_run_that_did_no_io_is_no_success(initialize, tmp_path):
    """fio ends with 0, and its result has nothing in it."""
    result = _nothing_done()
    script = f"""
for word; do case $word in --output=*) out=${{word#--output=}} ;; esac; done
case "$*" in
*terse*) echo "3;fio-3.33;reads;0;0;0;1;1;{";".join("1" for _ in range(60))}" >"$out" ;;
*) cat {tmp_path}/result >"$out" ;;
esac"""
    (tmp_path / "result").write_text(json.dumps(result, indent=2).replace('":', '" :'))
    path = f"{commands_at(tmp_path, fio=script).partition(':')[0]}:{os.environ['PATH']}"
    with a_volume(tmp_path) as volume:
        told = run(a_task(volume_id=volume.id, job=READS, initialize=initialize), tmp_path, PATH=path)
    assert told.returncode == 1
    stage = "initialize" if initialize else "fio"
    with pytest.raises(NotMeasured, match=rf"\({stage}\): fio did no I/O"):
        read_bench_answer(told.stdout)


def _nothing_done():
    sides = {side: {"io_bytes": 0, "total_ios": 0, "iops": 0.0, "bw": 0} for side in ("read", "write", "trim")}
    return {"fio version": "fio-3.33", "jobs": [{"jobname": "reads", "error": 0, **sides, "sync": {"total_ios": 7}}]}
