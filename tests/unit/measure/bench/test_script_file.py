"""Mode file: one bounded file without a name on the volume's filesystem, and what stops it beside other work."""

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll.model.task import TaskMode
from plimsoll_measure.bench.answer import read_bench_answer
from tests.unit.measure.bench.hosts import (
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
WIDTH = 100


def a_file_task(place, **changes):
    return a_task(**{"mode": TaskMode.FILE, "volume_id": volume_at(place), "file_size_mib": 16, **changes})


@pytest.mark.parametrize("kind", ["ext4", pytest.param("xfs", marks=pytest.mark.needs("xfs"))])
def test_a_file_is_measured_on_the_mounted_filesystem_and_nothing_stays(kind, tmp_path):
    with a_filesystem(tmp_path, kind=kind) as place:
        before = sorted(place.iterdir())
        answer = read_bench_answer(run(a_file_task(place), tmp_path).stdout)
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
            answer = read_bench_answer(run(task, tmp_path).stdout)
        assert (answer.device, answer.filesystem_on) == (volume.device, part)


def test_a_filesystem_on_what_is_built_of_the_volume_is_found(tmp_path):
    """This kernel may have neither md nor LVM: another device stands for one, among the holders of the volume."""
    with a_volume(tmp_path) as volume, a_filesystem(tmp_path) as place:
        built = source_of(place)
        holders = tmp_path / "holders"
        (holders / built.removeprefix("/dev/")).mkdir(parents=True)
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        told = run(task, tmp_path, over={f"/sys/class/block/{volume.device.removeprefix('/dev/')}/holders": holders})
        answer = read_bench_answer(told.stdout)
        assert (answer.device, answer.filesystem_on, answer.filesystem) == (volume.device, built, "ext4")


@contextmanager
def a_stack(folder, *mappings, leaf=None):
    """A filesystem on mappings that stand on a volume, as the kernel's tree of block devices would tell of them.

    This kernel may have no device mapper. So a filesystem on another loop device stands for the one on the uppermost
    mapping, in a copy of the tree; `leaf` is a device that takes the place of the volume below the mappings.
    """
    tree = folder / "tree"
    tree.mkdir()
    for entry in Path("/sys/class/block").iterdir():
        (tree / entry.name).symlink_to(entry.resolve())
    with a_volume(folder) as volume, a_filesystem(folder) as place:
        names = [f"dm-{number}" for number in range(len(mappings))]
        below = [*names[1:], leaf or volume.device.removeprefix("/dev/")]
        own = tree / volume.device.removeprefix("/dev/")
        real = own.resolve()
        own.unlink()
        own.mkdir()
        for entry in ("dev", "size", "loop", "slaves"):
            (own / entry).symlink_to(real / entry)
        for name in [own.name, *names]:
            (tree / name / "holders").mkdir(parents=True)
        for name, on, mapping in zip(names, below, mappings, strict=True):
            (tree / name / "slaves" / on).mkdir(parents=True)
            (tree / name / "dm").mkdir()
            (tree / name / "dm" / "name").write_text(f"{mapping}\n")
            (tree / name / "dev").write_text("253:99\n")
        (tree / "dm-0" / "dev").write_text((Path("/sys/class/block") / source_of(place)[5:] / "dev").read_text())
        (own / "holders" / "dm-0").mkdir()
        yield volume, place, {"/sys/class/block": tree}


def _dmsetup(folder, **tables):
    """A PATH on which dmsetup tells these tables, by the mappings' names, and fails for any other."""
    (folder / "front").mkdir(exist_ok=True)
    cases = "".join(f"  *{name}) printf '{table}\\n' ;;\n" for name, table in tables.items())
    (folder / "front" / "dmsetup").write_text(f'#!/bin/sh\ncase "$*" in\n{cases}  *) exit 1 ;;\nesac\n')
    (folder / "front" / "dmsetup").chmod(0o755)
    return f"{folder / 'front'}:{os.environ['PATH']}"


WHOLE = (
    "0 4194304 linear 259:1 2048",
    "0 4194304 striped 2 128 259:1 0 259:2 0",
    "0 4194304 crypt aes-xts-plain64 0000 0 259:1 4096",
    "0 4096 linear 259:1 2048\\n4096 4096 linear 259:2 2048",
    "0 4194304 raid raid1 3 0 region_size 4096 2 253:1 253:2 253:3 253:4",
)
PROMISED = (
    "0 4194304 thin 253:2 1",
    "0 4194304 thin-pool 253:3 253:4 128 0 0",
    "0 4194304 snapshot 253:3 253:4 P 8",
    "0 4194304 snapshot-origin 253:3",
    "0 4194304 snapshot-merge 253:3 253:4 P 8",
    "0 4194304 vdo V4 /dev/dm-1 262144 4096 32768 16380 maxDiscard 1",
    "0 4194304 cache 253:3 253:4 253:5 128 1 writeback default 0",
    "0 4194304 era 253:3 253:4 4096",
    "0 4194304 zero",
    "0 4096 linear 259:1 2048\\n4096 4096 thin 253:2 1",
    "some-kind-of-tomorrow",
    "",
)


@pytest.mark.parametrize("table", WHOLE)
def test_a_filesystem_on_a_mapping_whose_storage_is_there_is_measured(table, tmp_path):
    with a_stack(tmp_path, "vg-data") as (volume, _place, tree):
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        told = run(task, tmp_path, over=tree, PATH=_dmsetup(tmp_path, **{"vg-data": table}))
        assert (read_bench_answer(told.stdout).filesystem, read_bench_answer(told.stdout).filesystem_on) == (
            "ext4",
            "/dev/dm-0",
        )


@pytest.mark.parametrize("table", PROMISED)
@pytest.mark.parametrize("depth", [1, 3])
def test_a_filesystem_on_storage_that_is_promised_is_refused_by_name(table, depth, tmp_path):
    names = ("vg-data", "vg-middle", "vg-below")[:depth]
    plain = dict.fromkeys(names[:-1], WHOLE[0])
    with a_stack(tmp_path, *names) as (volume, place, tree):
        before = sorted(place.iterdir())
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        told = run(task, tmp_path, over=tree, PATH=_dmsetup(tmp_path, **plain, **{names[-1]: table}))
        kind = table.split()[2] if len(table.split()) > 2 and "\\n" not in table else ""
        with pytest.raises(NotMeasured, match=rf"\(storage\): .*dm-{depth - 1}.*{kind}.*Nothing was written"):
            read_bench_answer(told.stdout)
        assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("dmsetup", ["exit 1", "exit 0", "exit 127", "kill -9 $$"])
def test_a_mapping_that_nobody_can_tell_of_is_refused(dmsetup, tmp_path):
    with a_stack(tmp_path, "vg-data") as (volume, _place, tree):
        path = _dmsetup(tmp_path)
        (tmp_path / "front" / "dmsetup").write_text(f"#!/bin/sh\n{dmsetup}\n")
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        with pytest.raises(NotMeasured, match=r"\(storage\): .*dm-0"):
            read_bench_answer(run(task, tmp_path, over=tree, PATH=path).stdout)


@pytest.mark.parametrize("leaf", ["zram0", "nbd0", "rbd0", "zd0", "ram0", "bcache0", "md127", "dm-9"])
def test_a_mapping_over_a_device_that_is_no_disk_is_refused(leaf, tmp_path):
    with a_stack(tmp_path, "vg-data", leaf=leaf) as (volume, _place, tree):
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        told = run(task, tmp_path, over=tree, PATH=_dmsetup(tmp_path, **{"vg-data": WHOLE[0]}))
        with pytest.raises(NotMeasured, match=rf"\(storage\): .*it is on {leaf}, of which cannot be told"):
            read_bench_answer(told.stdout)


def test_a_sparse_file_that_promises_more_than_lies_below_it_is_refused(tmp_path):
    """df tells of 8 GiB in the inner filesystem; the outer one has 1.9, and would be full for everybody on it."""
    with a_filesystem(tmp_path, 2048) as outer, a_filesystem(outer, 8192) as inner:
        before = sorted(inner.iterdir())
        with pytest.raises(NotMeasured, match=rf"\(room\): {outer}/.*\.img has .* must stay free"):
            read_bench_answer(run(a_file_task(inner, file_size_mib=1024), tmp_path).stdout)
        assert sorted(inner.iterdir()) == before
        assert read_bench_answer(run(a_file_task(inner, file_size_mib=16), tmp_path).stdout).fio


def test_a_file_in_memory_below_a_loop_device_is_refused(tmp_path):
    memory = tmp_path / "memory"
    memory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", memory], check=True)
    try:
        with (
            a_filesystem(memory) as place,
            pytest.raises(NotMeasured, match=r"\(storage\): .*loop device of .*tmpfs.*cannot be told"),
        ):
            read_bench_answer(run(a_file_task(place), tmp_path).stdout)
    finally:
        subprocess.run(["umount", memory], check=True)


@pytest.mark.parametrize("kind", ["btrfs", "zfs", "bcachefs", "overlay", "fuseblk", "nfs4", "f2fs", "vfat"])
def test_a_filesystem_that_does_not_tell_its_own_room_is_refused_by_name(kind, tmp_path):
    with a_filesystem(tmp_path) as place:
        mounts = tmp_path / "mountinfo"
        told_by_kernel = Path("/proc/self/mountinfo").read_text()
        mounts.write_text(told_by_kernel.replace(f"- ext4 {source_of(place)}", f"- {kind} {source_of(place)}"))
        told = run(a_file_task(place), tmp_path, over={"/proc/$$/mountinfo": mounts})
        with pytest.raises(NotMeasured, match=rf"\(storage\): .*it is {kind}, "):
            read_bench_answer(told.stdout)
        assert [entry.name for entry in place.iterdir()] == ["lost+found"]


def test_another_filesystem_over_the_place_is_not_taken_for_the_volumes_own(tmp_path):
    with a_filesystem(tmp_path) as place, a_volume(tmp_path, 2048, prepare=formatted("ext4")) as other:
        subprocess.run(["mount", other.device, place], check=True)
        try:
            with pytest.raises(NotMeasured, match=r"\(filesystem\): .* does not lead to the filesystem on"):
                read_bench_answer(run(a_file_task(place), tmp_path).stdout)
        finally:
            subprocess.run(["umount", place], check=True)
        assert [entry.name for entry in place.iterdir()] == ["lost+found"]


@pytest.mark.parametrize("tool", ["df", "awk", "sed", "readlink", "cat", "mktemp", "sort"])
@pytest.mark.parametrize("end", ["exit 0", "exit 1", "exit 127"])
def test_a_check_of_the_place_that_could_not_run_is_a_refusal(tool, end, tmp_path):
    with a_filesystem(tmp_path) as place:
        (tmp_path / "front").mkdir()
        (tmp_path / "front" / tool).write_text(f"#!/bin/sh\n{end}\n")
        (tmp_path / "front" / tool).chmod(0o755)
        task = a_file_task(place, limit_s=12)
        told = run(task, tmp_path, PATH=f"{tmp_path / 'front'}:{os.environ['PATH']}")
        assert told.returncode != 0
        assert [entry.name for entry in place.iterdir() if entry.name != "lost+found"] == []


def test_a_run_that_nothing_would_stop_ends(tmp_path):
    """The kernel counts nothing of the volume: its queue and its latency cannot be seen."""
    with a_filesystem(tmp_path) as place:
        statistics = tmp_path / "diskstats"
        statistics.write_text(QUIET.format(name="another", done=1, spent=1, waiting=0) + "\n")
        task = a_file_task(place, most_queue=8)
        with pytest.raises(NotMeasured, match=r"\(find-device\): the kernel counts nothing of loop"):
            read_bench_answer(run(task, tmp_path, over={"/proc/diskstats": statistics}).stdout)


def test_a_file_that_would_not_leave_room_is_not_begun(tmp_path):
    with a_filesystem(tmp_path) as place:
        with pytest.raises(NotMeasured, match=r"\(room\).*a tenth of it and 1 GiB"):
            read_bench_answer(run(a_file_task(place, file_size_mib=1200), tmp_path).stdout)
        assert [entry.name for entry in place.iterdir()] == ["lost+found"]


def test_a_volume_whose_filesystem_is_not_mounted_is_not_measured(tmp_path):
    with a_volume(tmp_path, prepare=formatted("ext4")) as volume:
        task = a_task(mode=TaskMode.FILE, volume_id=volume.id, file_size_mib=16)
        with pytest.raises(NotMeasured, match=r"\(filesystem\): no filesystem of vol-"):
            read_bench_answer(run(task, tmp_path).stdout)


def test_a_filesystem_that_is_read_only_is_not_measured(tmp_path):
    with a_filesystem(tmp_path) as place:
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        with pytest.raises(NotMeasured, match=r"\(filesystem\): no folder can be made"):
            read_bench_answer(run(a_file_task(place), tmp_path).stdout)


def test_latency_above_the_limit_stops_the_run_and_keeps_what_was_measured(tmp_path):
    with a_filesystem(tmp_path) as place:
        answer = read_bench_answer(run(a_file_task(place, job=LONG, most_latency_us=1), tmp_path).stdout)
        assert answer.stopped == "latency"
        assert not [entry for entry in place.iterdir() if entry.name.startswith(".plimsoll")]


def _run_with_statistics(place, folder, *, done, spent, waiting, **limits):
    """Runs the document where /proc/diskstats is a file of the test's: a line each second, of the shell's `$n`th.

    Lines of one width are written over one another, so that none is ever seen in part.
    """
    statistics, script = folder / "diskstats", folder / "script"
    name = source_of(place).removeprefix("/dev/")
    statistics.write_text(QUIET.format(name=name, done=0, spent=0, waiting=waiting).ljust(WIDTH) + "\n")
    script.write_text(commands(a_file_task(place, job=JOB.replace("runtime=1", "runtime=8"), **limits)))
    line = QUIET.format(name=name, done=f"$(({done}))", spent=f"$(({spent}))", waiting=waiting)
    one_line = f'printf "%-{WIDTH}s\\n" "{line}" | dd of={statistics} conv=notrunc'
    acted = (
        f"mount --bind {statistics} /proc/diskstats || exit 99\n"
        f"( n=0; while :; do n=$((n + 1)); {one_line}; sleep 1; done ) >/dev/null 2>&1 &\n"
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
    return read_bench_answer(told.stdout)


def test_a_queue_above_the_limit_stops_the_run(tmp_path):
    with a_filesystem(tmp_path) as place:
        busy = {"done": "n * 1000", "spent": "n", "waiting": 9}
        assert _run_with_statistics(place, tmp_path, **busy, most_queue=8).stopped == "queue"
        assert _run_with_statistics(place, tmp_path, **busy, most_queue=9).stopped is None


def test_the_mean_latency_is_that_of_the_last_second(tmp_path):
    with a_filesystem(tmp_path) as place:
        two_ms = {"done": "n * 1000", "spent": "n * 2000", "waiting": 0}
        assert _run_with_statistics(place, tmp_path, **two_ms, most_latency_us=1500).stopped == "latency"
        assert _run_with_statistics(place, tmp_path, **two_ms, most_latency_us=5000).stopped is None


def test_io_that_waits_while_none_is_served_counts_as_latency(tmp_path):
    with a_filesystem(tmp_path) as place:
        stalled = {"done": 1000, "spent": 10, "waiting": 1}
        assert _run_with_statistics(place, tmp_path, **stalled, most_latency_us=500_000).stopped == "latency"
