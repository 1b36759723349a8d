"""Simulated volumes as real devices: held to their limits, and gone when the simulator is.

A busy machine may carry less than a limit, so that the tests say what is never exceeded.
"""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3
import pytest

from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.devices.io_throttle import rates
from cloud_simulator.devices.paced_fio import paced_job
from cloud_simulator.devices.script_runs import read_share_of
from plimsoll.model.ceiling import Ceiling

from .commands import Sender, document
from .served import ONCE, served
from .test_scratch_volumes import ZONE, becomes, bench, within

BY_ID = Path("/dev/disk/by-id")
FIO = (
    "device=$(readlink -f /dev/disk/by-id/*$(printf %s '{{ VolumeId }}' | tr -d -))",
    'printf %s "{{ Job }}" | base64 -d > "$TMPDIR/job.fio"',
    'fio --output-format=json --filename="$device" "$TMPDIR/job.fio"',
)
GLOBAL = "[global]\ndirect=1\nioengine=libaio\niodepth=32\nsize=1g\ntime_based\nruntime=2\n"
HOLDER = """
import sys, time
from datetime import UTC, datetime
from cloud_simulator.running import running
with running(datetime.now(UTC), pace_s=0.05) as organization:
    print(organization.endpoint, flush=True)
    time.sleep(600)
"""


def links(volume_id: str) -> list[str]:
    return [one.name for one in BY_ID.glob(f"*{volume_id.replace('-', '')}")]


def traces(pid: int) -> set[str]:
    """What the simulator in a process has on this machine."""
    name = f"plimsoll-simulator-{pid}-"
    devices = subprocess.run(["losetup", "--noheadings", "--output", "BACK-FILE"], check=True, capture_output=True)
    told = [*devices.stdout.decode().splitlines(), *Path("/proc/self/mounts").read_text().splitlines()]
    folders = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/blkio"), Path(tempfile.gettempdir()))
    found = [str(one) for folder in folders for one in folder.glob(f"{name}*")]
    return {line for line in told if name in line} | set(found)


def fio(sender: Sender, volume_id: str, *sections: str) -> dict:
    job = base64.b64encode((GLOBAL + "\n".join(sections)).encode()).decode()
    told = sender.ended(sender.send(Parameters={"VolumeId": [volume_id], "Job": [job]}), 60)
    assert told["Status"] == "Success", told["StandardErrorContent"]
    return {one["jobname"]: one for one in json.loads(told["StandardOutputContent"])["jobs"]}


def total(job: dict, figure: str) -> float:
    return job["read"][figure] + job["write"][figure]


@pytest.fixture(scope="module")
def sender(fleet):
    with served(fleet) as here:
        made = Sender.to(here)
        made.store(document(*FIO, VolumeId={}, Job={}))
        yield made
    assert not traces(os.getpid())


@pytest.mark.needs("loop", "fio")
def test_a_volume_carries_no_more_than_is_provisioned_in_either_direction_and_mixed(sender):
    volume_id = sender.attached("/dev/sdf")
    random = fio(sender, volume_id, "[large]\nrw=randread\nbs=256k\n[writes]\nstonewall\nrw=randwrite\nbs=4k\n")
    assert 0 < total(random["writes"], "iops") < 3150
    assert 0 < total(random["large"], "bw_bytes") < 131 * 2**20
    mixed = fio(sender, volume_id, "[mixed]\nrw=randrw\nrwmixread=70\nbs=4k\n")["mixed"]
    assert 0 < total(mixed, "iops") < 3150


@pytest.mark.needs("loop", "fio")
def test_the_hosts_ceiling_holds_where_it_is_lower(sender):
    host = bench(sender.ec2, tag="plimsoll:bench-small")["InstanceId"]
    small = Sender(sender.ec2, sender.ssm, host, sender.name)
    volume_id = small.attached("/dev/sdg", Size=100, Iops=16_000, Throughput=1000)
    measured = fio(small, volume_id, "[reads]\nrw=randread\nbs=256k\n")["reads"]
    assert 0 < total(measured, "bw_bytes") < 625e6


@pytest.mark.needs("loop")
def test_a_device_is_there_while_its_volume_is_attached(sender):
    volume_id = sender.attached("/dev/sdh")
    (link,) = links(volume_id)
    device = (BY_ID / link).resolve()
    assert (Path("/sys/block") / device.name / "size").read_text().strip() == str(8 * 2**21)
    sender.ec2.detach_volume(VolumeId=volume_id)
    becomes(sender.ec2, volume_id, "available")
    assert links(volume_id) == []


@pytest.mark.needs("loop")
def test_data_stays_on_a_volume_that_is_detached_and_a_copy_has_some(sender):
    lines = ("device=$(readlink -f /dev/disk/by-id/*$(printf %s '{{ VolumeId }}' | tr -d -))", "{{ Do }}")
    own = Sender(sender.ec2, sender.ssm, sender.host_id, f"{sender.name}-any")
    own.store(document(*lines, VolumeId={}, Do={}))
    volume_id = own.attached("/dev/sdi", Size=1)

    def done(volume_id, command):
        return own.ended(own.send(Parameters={"VolumeId": [volume_id], "Do": [command]}))["StandardOutputContent"]

    done(volume_id, "echo written | dd of=$device conv=notrunc,fsync")
    own.ec2.detach_volume(VolumeId=volume_id)
    becomes(own.ec2, volume_id, "available")
    own.ec2.attach_volume(VolumeId=volume_id, InstanceId=own.host_id, Device="/dev/sdj")
    assert done(volume_id, "head -c 7 $device") == "written"
    (copy,) = own.ec2.copy_volumes(SourceVolumeId=volume_id)["Volumes"]
    becomes(own.ec2, copy["VolumeId"], "available")
    own.ec2.attach_volume(VolumeId=copy["VolumeId"], InstanceId=own.host_id, Device="/dev/sdk")
    assert int(done(copy["VolumeId"], "head -c 1048576 $device | tr -d '\\0' | wc -c")) > 1_000_000


@pytest.mark.needs("loop")
@pytest.mark.parametrize("ending", ["with its starter", "killed"])
def test_nothing_is_left_when_the_simulator_ends_or_after_it_was_killed_when_another_begins(fleet, ending):
    words = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as holder:
        ec2 = client_of(holder.stdout.readline().strip())
        children = Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
        (pid,) = (int(child) for child in children)
        volume_id = ec2.create_volume(AvailabilityZone=ZONE, Size=1, VolumeType="gp3")["VolumeId"]
        becomes(ec2, volume_id, "available")
        ec2.attach_volume(VolumeId=volume_id, InstanceId=bench(ec2)["InstanceId"], Device="/dev/sdf")
        assert links(volume_id)
        assert len(traces(pid)) == 3
        if ending == "killed":
            os.kill(pid, signal.SIGKILL)
            with served(fleet) as here:
                Sender.to(here).attached()
        holder.kill()
    within(lambda: not traces(pid))
    assert not links(volume_id)


def client_of(endpoint: str):
    keys = {"aws_access_key_id": HOME_KEY, "aws_secret_access_key": "simulated"}
    return boto3.Session().client("ec2", region_name="us-east-1", endpoint_url=endpoint, config=ONCE, **keys)


def test_rates_are_split_by_the_share_of_reads_of_a_mixed_job_alone():
    ceiling = Ceiling(iops=3000, throughput_mib_s=100)
    assert rates(ceiling, 0.7) == {"riops": 2100, "wiops": 900, "rbps": 70 * 2**20, "wbps": 30 * 2**20}
    for share in (None, 0.0, 1.0):
        whole = rates(ceiling, share)
        assert (whole["riops"], whole["wiops"]) == (3000, 3000)


@pytest.mark.parametrize(
    ("job", "share"),
    [
        ("[a]\nrw=randread\n", None),
        ("[a]\nrw=randrw\n", 0.5),
        ("[global]\nrwmixread=30\n[a]\nreadwrite=rw\n", 0.3),
        ("[a]\nrw=randrw\nrwmixwrite=20\n", 0.8),
        ("[a]\nrw=write\nrwmixread=30\n", None),
    ],
)
def test_the_share_of_reads_is_that_of_the_job(job, share):
    assert read_share_of(job) == pytest.approx(share)


@pytest.mark.parametrize(
    ("section", "rate"),
    [
        ("bs=4k", "3000,3000"),
        ("bs=1m", "125,125"),
        ("bs=4k\nnumjobs=2", "1500,1500"),
        ("bs=4k\nrate_iops=100", "100,100"),
        ("bs=256k\nrate=10m,5m", "40,20"),
        ("bssplit=4k/50:508k/50", "500,500"),
    ],
)
def test_without_the_kernel_a_job_is_held_to_the_lowest_of_its_rates(section, rate):
    paced = paced_job(f"[global]\n  direct=1\n[a]\n{section}\n", 3000, 125, None)
    assert f"rate_iops={rate}" in paced.splitlines()
    assert "direct=1" in paced.splitlines()
    assert not any(line.startswith("rate=") for line in paced.splitlines())
