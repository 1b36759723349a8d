"""The document itself, sent to simulated hosts and executed: what it measures, what it finds, how it fails."""

import json
from dataclasses import replace

import pytest

from cloud_simulator.aws.organization import organization
from cloud_simulator.faults import Effect, Fault
from plimsoll.bench.answer import read_answer
from plimsoll.bench.document import document, parameters_of
from plimsoll.bench.inspection import stacks
from plimsoll.domain.errors import NotMeasured
from plimsoll.domain.task import Task, TaskMode

from .commands import Sender
from .served import NOW, named, served
from .test_scratch import becomes, bench

JOB = "[global]\nioengine=libaio\niodepth=32\ndirect=1\ntime_based\nruntime=2\nrw=randread\nbs=4k\n[unbounded-iops]\n"


def answered(sender: Sender, task: Task):
    command_id = sender.send(Parameters=parameters_of(task))
    return read_answer(sender.ended(command_id, 90)["StandardOutputContent"])


def iops(answer) -> float:
    return json.loads(answer.fio)["jobs"][0]["read"]["iops"]


@pytest.fixture(scope="module")
def striped():
    with served(organization(NOW, striped=True)) as here:
        sender = Sender.to(here)
        sender.store(json.dumps(document()))
        yield here, sender


def on_host_of(here, sender, name):
    volume = named(here.fleet, name)
    return volume, replace(sender, host_id=volume.hosts[0].id)


@pytest.mark.needs("loop", "fio")
def test_a_scratch_volume_is_measured_at_its_provisioned_rate(striped):
    _, sender = striped
    volume_id = sender.attached()
    answer = answered(sender, Task(mode=TaskMode.DEVICE, volume_id=volume_id, job=JOB, limit_s=60))
    assert not answer.simulated
    assert iops(answer) == pytest.approx(3000, rel=0.05)


@pytest.mark.needs("loop", "fio")
def test_a_volume_is_measured_in_place_in_a_file_of_its_filesystem(striped):
    here, sender = striped
    volume, there = on_host_of(here, sender, "web")
    task = Task(mode=TaskMode.FILE, volume_id=volume.id, job=JOB, limit_s=60, file_size_mib=32)
    answer = answered(there, task)
    assert answer.filesystem == "ext4"
    assert iops(answer) == pytest.approx(3000, rel=0.05)


@pytest.mark.needs("loop", "fio")
def test_a_copy_is_read_through_and_measured(striped):
    here, sender = striped
    source = named(here.fleet, "raid-0")
    (copy,) = sender.ec2.copy_volumes(SourceVolumeId=source.id, Iops=4000, Throughput=1000)["Volumes"]
    becomes(sender.ec2, copy["VolumeId"], "available")
    there = replace(sender, host_id=bench(sender.ec2, source.zone)["InstanceId"])
    there.ec2.attach_volume(VolumeId=copy["VolumeId"], InstanceId=there.host_id, Device="/dev/sdf")
    task = Task(mode=TaskMode.DEVICE, volume_id=copy["VolumeId"], job=JOB, limit_s=60, initialize=True)
    assert iops(answered(there, task)) == pytest.approx(4000, rel=0.05)


@pytest.mark.needs("root")
def test_an_inspection_finds_the_stripe_and_no_other(striped):
    here, sender = striped
    volume, there = on_host_of(here, sender, "stripe-0")
    (found,) = stacks(answered(there, Task(mode=TaskMode.INSPECT, limit_s=60)).inspection)
    other = named(here.fleet, "stripe-1")
    assert (found.level, found.chunk_kib, found.name) == ("raid0", 512, "/dev/md0")
    assert set(found.members) == {volume.id, other.id}
    _, apart = on_host_of(here, sender, "raid-0")
    inspection = answered(apart, Task(mode=TaskMode.INSPECT, limit_s=60)).inspection
    ids = {device.volume_id for device in inspection.devices}
    assert {named(here.fleet, "raid-0").id, named(here.fleet, "raid-1").id} <= ids
    assert stacks(inspection) == ()


@pytest.mark.needs("loop", "fio")
def test_a_stripe_is_measured_in_place_with_all_its_members(striped):
    here, sender = striped
    _, there = on_host_of(here, sender, "stripe-0")
    for name in ("stripe-0", "stripe-1"):
        task = Task(mode=TaskMode.FILE, volume_id=named(here.fleet, name).id, job=JOB, limit_s=60, file_size_mib=32)
        assert iops(answered(there, task)) == pytest.approx(8000, rel=0.1)


def test_the_stripe_is_an_addition_alone(fleet):
    striped = organization(NOW, striped=True)
    added = [volume for volume in striped.volumes if volume not in fleet.volumes]
    assert [dict(volume.tags)["Name"] for volume in added] == ["stripe-0", "stripe-1"]
    assert [volume for volume in striped.volumes if volume in fleet.volumes] == list(fleet.volumes)
    one, other = (replace(volume, id="", tags=(), device="") for volume in added)
    assert one == other


@pytest.mark.needs("fio")
def test_without_devices_a_file_is_measured_and_the_answer_says_so(fleet):
    with served(fleet, plain=True) as here:
        sender = Sender.to(here)
        sender.store(json.dumps(document()))
        volume_id = sender.attached()
        answer = answered(sender, Task(mode=TaskMode.DEVICE, volume_id=volume_id, job=JOB, limit_s=60))
        assert answer.simulated
        assert iops(answer) == pytest.approx(3000, rel=0.1)


@pytest.mark.needs("loop")
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Fault(operation="SendCommand", effect=Effect.NO_FIO), "fio"),
        (Fault(operation="SendCommand", effect=Effect.CUT), "ends|damaged|middle"),
        (Fault(operation="SendCommand", effect=Effect.FAILS), "nothing"),
        (Fault(operation="AttachVolume", effect=Effect.NO_DEVICE), "find-device"),
    ],
)
def test_faults_are_told_by_the_document_or_seen_in_its_answer(fleet, fault, says):
    with served(fleet, fault) as here:
        sender = Sender.to(here)
        sender.store(json.dumps(document()))
        volume_id = sender.attached()
        with pytest.raises(NotMeasured, match=says):
            answered(sender, Task(mode=TaskMode.DEVICE, volume_id=volume_id, job=JOB, limit_s=20))
        sender.ec2.detach_volume(VolumeId=volume_id)
        becomes(sender.ec2, volume_id, "available")
