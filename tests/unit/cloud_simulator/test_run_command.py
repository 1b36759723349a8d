"""Run Command as a real client sees it: documents are executed, with Systems Manager's states, limits and refusals."""

import base64
import json
from dataclasses import replace

import pytest
from botocore.config import Config

from cloud_simulator.aws.managed_instances import LOST, ping_of
from cloud_simulator.faults import Effect, Fault

from .commands import Sender, document
from .served import HOME, served

pytestmark = pytest.mark.once

WORD = {"allowedPattern": "^[a-z]{1,9}$", "default": "nothing"}


@pytest.fixture
def sender(fleet):
    with served(fleet, plain=True) as here:
        yield Sender.to(here)


def faulty(fleet, effect, **changes):
    return served(fleet, Fault(operation="SendCommand", effect=effect, **changes), plain=True)


def test_a_script_is_killed_at_the_documents_limit(sender):
    sender.store(document("echo some; sleep 60", limit_s="1"))
    told = sender.ended(sender.send())
    assert (told["Status"], told["StatusDetails"]) == ("TimedOut", "Execution Timed Out")


def test_output_is_cut_and_whole_in_the_bucket(fleet):
    with served(fleet, plain=True) as here:
        sender, s3 = Sender.to(here), here.client("s3")
        s3.create_bucket(Bucket="results")
        sender.store(document("i=0; while [ $i -lt 3000 ]; do echo 123456789; echo 123456789 >&2; i=$((i+1)); done"))
        command_id = sender.send(OutputS3BucketName="results", OutputS3KeyPrefix="plimsoll")
        told = sender.ended(command_id)
        assert (len(told["StandardOutputContent"]), len(told["StandardErrorContent"])) == (24_000, 8_000)
        key = f"plimsoll/{command_id}/{sender.host_id}/awsrunShellScript/measure/stdout"
        assert s3.get_object(Bucket="results", Key=key)["Body"].read() == b"123456789\n" * 3000


def test_what_systems_manager_would_refuse_is_refused(sender):
    assert sender.refused() == "InvalidDocument"
    sender.store(document("true", Word=WORD, Must={}))
    assert sender.refused() == "InvalidParameters"
    must = {"Must": ["x"]}
    assert sender.refused(Parameters={**must, "Word": ["; rm -rf /"]}) == "InvalidParameters"
    assert sender.refused(Parameters={**must, "Word": ["well\n"]}) == "InvalidParameters"
    assert sender.refused(Parameters={**must, "Other": ["well"]}) == "InvalidParameters"
    assert sender.refused(Parameters=must, InstanceIds=["i-0123456789abcdef0"]) == "InvalidInstanceId"
    assert sender.refused(Parameters=must, DocumentVersion="7") == "InvalidDocument"
    assert sender.ended(sender.send(Parameters=must))["Status"] == "Success"


def test_limits_of_the_request_hold_for_clients_that_do_not_check_them(fleet):
    with served(fleet, plain=True) as here:
        sender = Sender.to(here)
        careless = replace(sender, ssm=here.client("ssm", config=Config(parameter_validation=False)))
        sender.store(document("true"))
        assert careless.refused(Comment="c" * 101) == careless.refused(TimeoutSeconds=29) == "ValidationException"


def test_commands_do_not_reach_lost_hosts_and_are_refused_for_unmanaged_ones(fleet, sender):
    sender.store(document("true"))
    hosts = fleet.hosts(HOME, "us-east-1").values()
    lost = next(host.id for host in hosts if ping_of(host) == LOST)
    unmanaged = next(host.id for host in hosts if ping_of(host) is None)
    assert sender.refused(InstanceIds=[unmanaged]) == "InvalidInstanceId"
    there = replace(sender, host_id=lost)
    assert there.ended(there.send())["StatusDetails"] == "Delivery Timed Out"


def test_a_dead_agent_leaves_a_command_in_progress(fleet):
    with faulty(fleet, Effect.HANGS, times=1) as here:
        sender = Sender.to(here)
        sender.store(document("echo ran"))
        hung, well = sender.send(), sender.send()
        assert sender.ended(well)["StandardOutputContent"] == "ran\n"
        assert sender.told(hung)["Status"] == "InProgress"


@pytest.mark.parametrize(
    ("effect", "details", "output"),
    [
        (Effect.CUT, "Success", "x" * 200),
        (Effect.FAILS, "Failed", ""),
        (Effect.UNDELIVERED, "Delivery Timed Out", ""),
    ],
)
def test_effects_end_as_they_say(fleet, effect, details, output):
    with faulty(fleet, effect) as here:
        sender = Sender.to(here)
        sender.store(document("printf x%.0s $(seq 1000)"))
        told = sender.ended(sender.send())
        assert (told["StatusDetails"], told["StandardOutputContent"]) == (details, output)


def test_without_fio_and_network_nothing_installs_it_and_other_tools_are_there(fleet):
    with faulty(fleet, Effect.NO_FIO) as here:
        sender = Sender.to(here)
        sender.store(
            document("command -v fio && exit 1; sed --version | head -1 || exit 2; dnf install -y fio; echo $?")
        )
        told = sender.ended(sender.send())
        assert told["Status"] == "Success"
        assert told["StandardOutputContent"].splitlines()[-1] == "1"
        assert "Could not resolve host" in told["StandardErrorContent"]


@pytest.mark.needs("fio")
def test_without_a_device_fio_holds_itself_to_the_rates_of_the_volume(sender):
    volume_id = sender.attached()
    job = "[global]\nrw=randread\nbs=4k\nsize=16m\ntime_based\nruntime=2\n[one]\nnumjobs=2\ngroup_reporting\n"
    lines = (
        'echo "{{ Job }}" | base64 -d > "$TMPDIR/job.fio"',
        'fio --output-format=json --filename="$PLIMSOLL_SIMULATED_DEVICE" "$TMPDIR/job.fio"',
    )
    sender.store(document(*lines, VolumeId={}, Job={}))
    asked = {"VolumeId": [volume_id], "Job": [base64.b64encode(job.encode()).decode()]}
    told = sender.ended(sender.send(Parameters=asked))
    assert told["Status"] == "Success", told
    measured = json.loads(told["StandardOutputContent"])["jobs"][0]["read"]["iops"]
    assert 0 < measured < 3300
