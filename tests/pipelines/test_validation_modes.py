"""Volumes measured where they are, or on a copy: what is asked of them, what is claimed, and what is refused."""

import json
from dataclasses import replace

import pytest

from plimsoll.envelopes.library import load_library
from plimsoll.model.task import TaskMode
from plimsoll.model.volume import Modification
from plimsoll_measure.runs import Mode
from plimsoll_measure.validate import ConcludedRun, UnmeasuredRun
from tests.builders import NOW, a_volume

from .lab import TYPES, Lab, the, work


def test_in_place_is_held_under_the_free_headroom_and_called_no_worse_than(tmp_path):
    lab = Lab(tmp_path, work_of={"vol-1": work(500.0, 8.0)})
    events = lab.validate(mode=Mode.IN_PLACE)
    asked, task = lab.tasks
    assert (asked.mode, task.mode) == (TaskMode.INSPECT, TaskMode.FILE)
    assert "unbounded" not in task.job
    assert "create" not in lab.bench.calls
    line = the(ConcludedRun, events).line
    assert line.shown_iops <= 0.5 * (3000 - 500)
    assert line.passed
    assert line.shown_iops == pytest.approx(500, rel=0.02)
    assert line.reasons[0].endswith("IOPS beside its own workload: no worse than this")
    (envelope,) = load_library([tmp_path], TYPES).envelopes.values()
    assert any("no worse than this" in note for note in envelope.notes)
    assert envelope.iops is None


def test_in_place_refuses_a_volume_without_headroom_and_one_that_is_being_modified(tmp_path):
    busy = Lab(tmp_path, a_volume("gp2", 100, id="vol-1"), work_of={"vol-1": work(3000.0, 30.0)})
    assert "no headroom" in str(the(UnmeasuredRun, busy.validate(mode=Mode.IN_PLACE)).error)
    modified = replace(a_volume("gp2", 500, id="vol-1"), modification=Modification(state="optimizing", started=NOW))
    changing = Lab(tmp_path, modified)
    assert "is being modified (optimizing)" in str(the(UnmeasuredRun, changing.validate(mode=Mode.IN_PLACE)).error)
    assert "is being modified (optimizing)" in str(
        the(UnmeasuredRun, changing.validate(mode=Mode.COPY, target="gp3:3000:125")).error
    )
    assert "create" not in changing.bench.calls


def test_in_place_a_member_of_a_stripe_set_shows_what_all_carried_and_claims_its_share_alone(tmp_path):
    volumes = [a_volume("gp2", 500, id=f"vol-0000000{number}") for number in (1, 2)]
    lab = Lab(tmp_path, *volumes, work_of={volume.id: work(500.0, 8.0) for volume in volumes})
    plain = lab.measure
    disks = [
        {
            "name": f"nvme{number}n1",
            "type": "disk",
            "serial": volume.id.replace("-", ""),
            "children": [{"name": "md0", "type": "raid0", "mountpoint": "/data"}],
        }
        for number, volume in enumerate(volumes)
    ]
    tree = json.dumps({"plimsoll": 1, "mode": "inspect", "lsblk": {"blockdevices": disks}}, separators=(",", ":"))
    lab.bench.measure = lambda spec, task: tree if task.mode is TaskMode.INSPECT else plain(spec, task)
    line = the(ConcludedRun, lab.validate("vol-00000001", mode=Mode.IN_PLACE)).line
    assert line.shown_iops == pytest.approx(250, rel=0.02)
    (envelope,) = load_library([tmp_path], TYPES).envelopes.values()
    assert envelope.volumes == 2


def test_in_place_nothing_is_refuted_whatever_is_carried(tmp_path):
    lab = Lab(tmp_path, work_of={"vol-1": work(1000.0, 16.0)}, shares={"gp2": 0.1})
    line = the(ConcludedRun, lab.validate(mode=Mode.IN_PLACE)).line
    assert not line.passed
    assert "was to carry 1,000 IOPS beside its own workload and carried only" in line.failures[0]
    assert not lab.book.failed_measurements()


def test_a_copy_is_only_read_and_first_read_whole(tmp_path):
    lab = Lab(tmp_path)
    assert the(ConcludedRun, lab.validate(mode=Mode.COPY)).line.passed
    (task,) = lab.tasks
    assert task.initialize
    modes = {line.partition("=")[2] for line in task.job.splitlines() if line.startswith("rw=")}
    assert modes <= {"read", "randread"}
    assert not lab.leaked


def test_a_copy_too_large_to_be_read_in_one_command_is_refused_before_anything_is_made(tmp_path):
    lab = Lab(tmp_path, a_volume("gp2", 16_000, id="vol-1"), work_of={"vol-1": work(6000.0, 96.0)})
    error = the(UnmeasuredRun, lab.validate(mode=Mode.COPY)).error
    assert "takes about 46 hours, longer than one command may: use the mode canary" in str(error)
    assert "create" not in lab.bench.calls
