"""Whatever goes wrong with a validation: one clear sentence, the right exit code, and no scratch volume left unseen."""

import signal
import subprocess
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from cloud_simulator.aws.managed_instances import ping_of
from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.faults import Effect, Fault
from cloud_simulator.metrics.workloads import Archetype
from cloud_simulator.running import Running
from plimsoll.clouds.aws.names import DOCUMENT_NAME
from plimsoll.model.task import DEADLINE_TAG, SCRATCH_TAG
from tests.unit.cloud_simulator.served import served

from .busy import busy_cpus
from .commands import command, environment, plimsoll, roles

pytestmark = pytest.mark.once

REGION = ("--region", "us-east-1")
ANY_LATENCY = ("--set", "max_p99_latency_us=60000000", "--set", "latency_slack_pct=10000", "--set", "lookback_days=2")
TARGET = "gp3:3000:125"
FAST = {
    "PLIMSOLL_BENCHMARK_RUNTIME_S": "1",
    "PLIMSOLL_BENCHMARK_RAMP_S": "0",
    "PLIMSOLL_POLL_S": "0.1",
    "PLIMSOLL_VOLUME_WAIT_S": "2",
    "PLIMSOLL_MAX_ATTEMPTS": "2",
}
DEAD_AGENT = {"PLIMSOLL_SETTING_UP_S": "10", "PLIMSOLL_COMMAND_GRACE_S": "1"}
WITHIN_S = 300.0


class Here(SimpleNamespace):
    """One simulated account with something wrong in it, and commands run over it in a folder."""

    def run(self, *words, **more):
        return plimsoll(self.organization, self.folder, *words, **{**FAST, **more})

    def validate(self, *words, **more):
        return self.run("validate", *self.words, *words, **more)

    def begin(self, **more):
        """A validation that runs by itself and speaks into a file, so that nothing waits for a reader."""
        with (self.folder / "said").open("w", encoding="utf-8") as said:
            return subprocess.Popen(
                command("validate", *self.words),
                cwd=self.folder,
                env=environment(self.organization, **{**FAST, **more}),
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    def said(self):
        return (self.folder / "said").read_text(encoding="utf-8")

    @property
    def words(self):
        return (self.volume.id, "--target", TARGET, "--yes", *REGION, *ANY_LATENCY)

    @property
    def scratch(self):
        found = self.ec2.describe_volumes(Filters=[{"Name": "tag-key", "Values": [SCRATCH_TAG]}])["Volumes"]
        return [one for one in found if one["State"] not in {"deleting", "deleted"}]

    def heal(self):
        """Nothing is refused from now on."""
        self.faults.given = ()

    def made(self):
        return self.calls.get("CreateVolume", 0)

    def lines(self):
        book = self.folder / "plimsoll-runs" / "measured" / "validations.jsonl"
        return book.read_text(encoding="utf-8").splitlines() if book.exists() else []

    def scratch_volume(self, from_now):
        tags = {SCRATCH_TAG: "v-1", DEADLINE_TAG: (datetime.now(UTC) + from_now).isoformat()}
        tagged = {"ResourceType": "volume", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        request = {"AvailabilityZone": "us-east-1a", "Size": 1, "VolumeType": "gp3", "TagSpecifications": [tagged]}
        made = self.ec2.create_volume(**request)["VolumeId"]
        self.until(lambda: {one["VolumeId"]: one["State"] for one in self.scratch}[made] == "available")
        return made

    def until(self, seen):
        """Waits for something to be seen; a test that never sees it fails."""
        end = time.monotonic() + WITHIN_S
        while not seen():
            assert time.monotonic() < end
            time.sleep(0.05)


@contextmanager
def organization(folder, *faults, mix=Mix.EVERYDAY):
    fleet = fleet_of(30, datetime.now(UTC), mix=mix)
    with served(fleet, *faults, plain=True) as here:
        ssm = here.client("ssm")
        if any(one["Name"] == DOCUMENT_NAME for one in ssm.list_documents()["DocumentIdentifiers"]):
            ssm.delete_document(Name=DOCUMENT_NAME)
        # One that works every day: whatever day it is, two days of it are enough to decide on.
        steady = (one for one in fleet.volumes if one.workload and one.workload.archetype is Archetype.STEADY)
        volume = next(one for one in steady if one.spec.type == "gp2" and one.hosts)
        yield Here(
            organization=Running(endpoint=here.endpoint, fleet=fleet),
            folder=folder,
            volume=volume,
            calls=here.front.calls,
            faults=here.front.faults,
            ec2=here.client("ec2"),
        )


def a_fault(operation, code=None, effect=None, **more):
    return Fault(operation=operation, code=code, effect=effect, **more)


def line_with(said, *parts):
    """The one line with all of these parts: the thing, the place and the remedy."""
    lines = [line for line in said.splitlines() if all(part in line for part in parts)]
    assert len(lines) == 1, said
    return lines[0]


AT_ONCE = a_fault("SendCommand", effect=Effect.FAILS)
"""The measurement ends at once, for tests of what comes after it."""

REFUSED = {
    "the volume may not be made": (
        a_fault("CreateVolume", "UnauthorizedOperation", status=403),
        ("UnauthorizedOperation for ec2:CreateVolume", "us-east-1a of 111111111111", "deploy the validation role"),
    ),
    "the volume is over quota": (
        a_fault("CreateVolume", "VolumeLimitExceeded"),
        ("VolumeLimitExceeded", "us-east-1a of 111111111111", "ask for a higher EBS quota in Service Quotas"),
    ),
    "attaching is refused": (
        a_fault("AttachVolume", "AttachmentLimitExceeded"),
        ("cannot attach vol-", "AttachmentLimitExceeded", "name another with --bench-host"),
    ),
    "attaching never completes": (
        a_fault("AttachVolume", effect=Effect.HANGS),
        ("scratch volume vol-", "was not attached to i-", "within 2 s: try again"),
    ),
    "the document may not be made": (
        a_fault("CreateDocument", "AccessDeniedException"),
        ("cannot create the document", "AccessDeniedException for ssm:CreateDocument", "deploy the validation role"),
    ),
    "the document is refused": (
        a_fault("SendCommand", "InvalidDocument"),
        ("cannot run Plimsoll-Benchmark on i-", "InvalidDocument", "delete the document in Systems Manager"),
    ),
    "fio is missing and there is no network": (
        a_fault("SendCommand", effect=Effect.NO_FIO),
        ("fio is not installed", "Could not resolve host", "Install fio on the host"),
    ),
    "the command fails without a word": (
        AT_ONCE,
        ("the command", "on i-", "failed (status Failed, exit code 1)", "try again"),
    ),
    "the command is never delivered": (
        a_fault("SendCommand", effect=Effect.UNDELIVERED),
        ("the command", "on i-", "could not be delivered to the agent", "try again"),
    ),
    "the output is cut": (
        a_fault("SendCommand", effect=Effect.CUT),
        ("output ends in the middle", "Set PLIMSOLL_RESULTS_BUCKET"),
    ),
    "the agent dies": (
        a_fault("SendCommand", effect=Effect.HANGS),
        ("the command", "on i-", "did not end within 16 s: its agent may be dead", "--bench-host"),
    ),
}


ON_A_PUSH = ("the volume may not be made", "the command fails without a word", "the output is cut")
"""The others before a release: a push has them in memory (tests/pipelines/test_validation_rounds.py)."""


MEASURED = frozenset({"the output is cut"})
"""The cases in which fio has to end, for which a busy machine may take any time."""


@pytest.mark.needs("fio")
@pytest.mark.parametrize(
    ("fault", "parts", "waits"),
    [
        pytest.param(
            *REFUSED[name],
            {} if name in MEASURED else DEAD_AGENT,
            id=name,
            marks=() if name in ON_A_PUSH else pytest.mark.release,
        )
        for name in REFUSED
    ],
)
def test_what_goes_wrong_is_one_sentence_and_no_volume_is_left(tmp_path, fault, parts, waits):
    with organization(tmp_path, fault) as here:
        done = here.validate(**waits)
        assert done.returncode == 3
        assert line_with(done.stdout, *parts).startswith("not measured  gp3 100 GiB 3,000 IOPS 125 MiB/s: ")
        assert here.scratch == []
        assert here.lines() == []


@pytest.mark.needs("root")
def test_a_device_that_never_appears_is_told_with_how_to_look_for_it(tmp_path):
    with organization(tmp_path, a_fault("AttachVolume", effect=Effect.NO_DEVICE)) as here:
        done = here.validate(**DEAD_AGENT)
        assert done.returncode == 3
        line_with(done.stdout, "no block device of this host has the serial vol", "See on the host with `lsblk")
        assert here.scratch == []


def test_a_host_that_is_not_managed_is_refused_before_anything_is_made(tmp_path):
    with organization(tmp_path) as here:
        attached = [one for one in here.organization.fleet.volumes if one.hosts and one.workload]
        here.volume = next(one for one in attached if ping_of(one.hosts[0]) is None)
        unmanaged = here.volume.hosts[0].id
        done = here.validate("--bench-host", unmanaged)
        assert done.returncode == 3
        told = f"{unmanaged} in 111111111111/us-east-1 is not managed by SSM: give it an instance profile"
        line_with(done.stdout, told, "or name another with --bench-host")
        assert here.made() == 0


def test_a_volume_that_hangs_at_detaching_is_detached_by_force(tmp_path):
    with organization(tmp_path, AT_ONCE, a_fault("DetachVolume", effect=Effect.HANGS, times=1)) as here:
        done = here.validate()
        assert "left behind" not in done.stdout
        assert here.calls["DetachVolume"] == 2
        assert here.scratch == []


def test_a_deletion_that_fails_twice_is_tried_a_third_time(tmp_path):
    with organization(tmp_path, AT_ONCE, a_fault("DeleteVolume", "InternalError", times=2)) as here:
        done = here.validate(PLIMSOLL_MAX_ATTEMPTS="1")
        assert "left behind" not in done.stdout
        assert here.calls["DeleteVolume"] == 3
        assert here.scratch == []


@pytest.mark.release
@pytest.mark.needs("fio")
def test_on_a_busy_bench_a_slow_volume_is_not_measured_and_nothing_is_refuted(tmp_path):
    with organization(tmp_path, a_fault("SendCommand", effect=Effect.SLOW)) as here, busy_cpus():
        there = here.organization.fleet.at("111111111111", "us-east-1")
        nightly = [one for one in there if one.workload and one.workload.archetype is Archetype.NIGHTLY]
        here.volume = max(nightly, key=lambda one: one.workload.high_iops)
        done = here.validate()
        assert done.returncode == 3
        told = line_with(done.stdout, "not measured  gp3", "3,000 IOPS 125 MiB/s: the bench was the limit")
        assert "(bench-cpu)" in told
        assert "This was seen 3 times" in told
        assert "name an idle one (--bench-host)" in told
        assert "failed  gp3" not in done.stdout
        assert here.made() == 3
        assert here.scratch == []
        assert here.lines() == []


LEFT = {
    "it never detaches": (
        [AT_ONCE, a_fault("DetachVolume", effect=Effect.HANGS, times=2)],
        ("could not be detached from i-", "nor by force"),
    ),
    "it may not be deleted": (
        [a_fault("DeleteVolume", "UnauthorizedOperation", status=403)],
        ("UnauthorizedOperation for ec2:DeleteVolume", "deploy the validation role"),
    ),
}


@pytest.mark.needs("fio")
@pytest.mark.parametrize(("faults", "parts"), LEFT.values(), ids=LEFT)
def test_a_volume_that_is_left_behind_is_named_keeps_its_verdict_and_is_the_sweeps(tmp_path, faults, parts):
    with organization(tmp_path, *faults) as here:
        done = here.validate()
        assert done.returncode == 3
        assert ("passed  gp3 100 GiB" in done.stdout) is (AT_ONCE not in faults)
        assert len(here.lines()) == int(AT_ONCE not in faults)
        left = [one["VolumeId"] for one in here.scratch]
        assert len(left) == here.made() > 0
        for volume_id in left:
            line_with(done.stdout, f"scratch volume {volume_id} in 111111111111/us-east-1 is left behind", *parts)
        here.heal()
        kept = here.run("sweep", *REGION)
        assert (kept.returncode, "0 scratch volumes deleted" in kept.stdout) == (0, True)
        for volume_id in left:
            line_with(kept.stdout, f"kept {volume_id} in 111111111111/us-east-1: it is due")
        swept = here.run("sweep", "--all", *REGION)
        counted = "1 scratch volume" if len(left) == 1 else f"{len(left)} scratch volumes"
        assert (swept.returncode, f"{counted} deleted" in swept.stdout) == (0, True)
        assert here.scratch == []


@pytest.mark.needs("fio")
def test_killed_between_create_and_attach_the_volume_is_the_sweeps_from_its_deadline_on(tmp_path):
    with organization(tmp_path, a_fault("AttachVolume", "RequestLimitExceeded")) as here:
        killed = here.begin(PLIMSOLL_MAX_ATTEMPTS="20")
        here.until(lambda: here.calls.get("AttachVolume"))
        killed.kill()
        assert killed.wait(WITHIN_S) == -signal.SIGKILL
        (left,) = here.scratch
        assert (left["State"], left["Attachments"]) == ("available", [])
        assert "kept " in here.run("sweep", *REGION).stdout
        past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
        here.ec2.create_tags(Resources=[left["VolumeId"]], Tags=[{"Key": DEADLINE_TAG, "Value": past}])
        swept = here.run("sweep", *REGION)
        assert (swept.returncode, "1 scratch volume deleted" in swept.stdout) == (0, True)
        assert here.scratch == []
        # What it had claimed is free again: the next one measures, and does not wait for the dead.
        again = here.validate()
        assert "AttachVolume" in line_with(again.stdout, "not measured  gp3 100 GiB")
        assert here.made() == 2


@pytest.mark.needs("fio")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_measures_everything_is_deleted(tmp_path, number):
    with organization(tmp_path, a_fault("SendCommand", effect=Effect.HANGS)) as here:
        interrupted = here.begin()
        here.until(lambda: here.calls.get("GetCommandInvocation"))
        interrupted.send_signal(number)
        assert interrupted.wait(WITHIN_S) == 130
        said = here.said()
        assert "Traceback" not in said
        line_with(said, "interrupted; scratch volumes were deleted")
        assert here.calls["CancelCommand"] == 1
        assert here.scratch == []


@pytest.mark.needs("fio")
def test_two_validations_of_one_class_make_one_measurement(tmp_path):
    with organization(tmp_path) as here:
        first = here.begin()
        here.until(lambda: here.calls.get("CreateVolume"))
        second = here.validate()
        assert first.wait(WITHIN_S) == 0
        assert second.returncode == 0
        line_with(second.stdout, "this class is being measured by another validation: waiting for its result")
        verdicts = [
            line_with(said, "passed  gp3 100 GiB 3,000 IOPS 125 MiB/s") for said in (here.said(), second.stdout)
        ]
        assert verdicts[0] == verdicts[1]
        assert all("simulated: no device was measured" in said for said in (here.said(), second.stdout))
        assert here.made() == 1
        assert len(here.lines()) == 1
        assert here.scratch == []


def test_one_denied_account_does_not_stop_a_sweep_of_the_others(tmp_path):
    denied = "222222222222"
    fault = a_fault("DescribeVolumes", "UnauthorizedOperation", account=denied, status=403)
    with organization(tmp_path, fault, mix=Mix.ORGANIZATION) as here:
        due, later = (here.scratch_volume(timedelta(minutes=minutes)) for minutes in (-1, 60))
        done = here.run("sweep", *REGION, *roles(here.organization))
        assert done.returncode == 3
        line_with(done.stdout, f"failed {denied}/us-east-1", "UnauthorizedOperation for ec2:DescribeVolumes")
        line_with(done.stdout, f"deleted {due} in 111111111111/us-east-1")
        line_with(done.stdout, f"kept {later} in 111111111111/us-east-1")
        assert [one["VolumeId"] for one in here.scratch] == [later]


def test_nobody_is_asked_where_there_is_no_terminal(tmp_path):
    with organization(tmp_path) as here:
        done = here.run("validate", *(word for word in here.words if word != "--yes"))
        assert done.returncode == 2
        line_with(done.stderr, "--yes")
        assert here.made() == 0
