"""Mode inspect: it only reads, and leaves out what the host has no tool for."""

import json

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll.model.task import TaskMode
from plimsoll_measure.bench.answer import read_bench_answer
from plimsoll_measure.bench.inspection import stacks
from tests.unit.measure.bench.hosts import a_task, commands_at, run
from tests.unit.measure.bench.trees import LVM, LVM_LVS, RAID0, RAID0_DETAIL, RAID0_EXPORT

INSPECT = a_task(mode=TaskMode.INSPECT, volume_id="", job="")


def printing(text):
    return f"cat <<'EOF'\n{text}\nEOF"


def test_an_array_of_two_volumes_is_found(tmp_path):
    path = commands_at(
        tmp_path,
        lsblk=printing(json.dumps(RAID0, indent=3)),
        mdadm=f'case "$*" in *--export*/dev/md0) {printing(RAID0_EXPORT)}\n;; *) {printing(RAID0_DETAIL)}\n;; esac',
        lvs="exit 5",
    )
    told = run(INSPECT, tmp_path, PATH=path)
    assert told.stdout.count("\n") == 1
    inspection = read_bench_answer(told.stdout).inspection
    (stack,) = stacks(inspection)
    assert (stack.level, stack.mounts) == ("raid0", ("/var/lib/data",))
    assert inspection.mdadm["md0"]["CHUNK_KIB"] == "512"
    assert stack.members == ("vol-0aaaaaaaaaaaaaaa1", "vol-0aaaaaaaaaaaaaaa2")


def test_a_logical_volume_of_three_volumes_is_found(tmp_path):
    path = commands_at(
        tmp_path, lsblk=printing(json.dumps(LVM, indent=3)), lvs=printing(json.dumps(LVM_LVS, indent=2)), mdadm="exit 1"
    )
    (stack,) = stacks(read_bench_answer(run(INSPECT, tmp_path, PATH=path).stdout).inspection)
    assert (stack.name, stack.level, len(stack.members)) == ("vg-data/store", "raid0", 3)


def test_values_with_quotes_and_backslashes_are_still_json(tmp_path):
    path = commands_at(
        tmp_path,
        lsblk=printing(json.dumps(RAID0, indent=3)),
        mdadm=printing('MD_NAME=a "quoted" \\ name\nMD_LEVEL=raid0\n$(reboot)=1'),
    )
    inspection = read_bench_answer(run(INSPECT, tmp_path, PATH=path).stdout).inspection
    assert inspection.mdadm["md0"]["MD_NAME"] == 'a "quoted" \\ name'
    assert set(inspection.mdadm["md0"]) == {"MD_NAME", "MD_LEVEL"}


@pytest.mark.parametrize("lsblk", ["echo 'lsblk: unrecognized option -J' >&2; exit 1", "exit 1"])
def test_an_lsblk_that_is_too_old_is_said_so(lsblk, tmp_path):
    with pytest.raises(NotMeasured, match=r"\(inspect\): lsblk tells nothing.*util-linux 2.27"):
        read_bench_answer(run(INSPECT, tmp_path, PATH=commands_at(tmp_path, lsblk=lsblk)).stdout)


def test_this_machine_can_be_inspected_without_root_and_without_a_lock(tmp_path):
    assert read_bench_answer(run(INSPECT, tmp_path).stdout).inspection is not None
    assert not (tmp_path / "lock").exists()
    assert not list((tmp_path / "tmp").iterdir())
