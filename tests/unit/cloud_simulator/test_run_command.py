"""Run Command as a real client sees it: documents are executed, with Systems Manager's states, limits and refusals."""

import base64
import json
import time
from dataclasses import replace

import pytest
from botocore.config import Config

from cloud_simulator.aws.managed_instances import LOST, ONLINE, ping_of
from cloud_simulator.faults import Effect, Fault

from .commands import Sender, document
from .served import HOME, served
from .test_scratch import refused, within

pytestmark = pytest.mark.once

WORD = {"allowedPattern": "^[a-z]{1,9}$", "default": "nothing"}


@pytest.fixture
def sender(fleet):
    with served(fleet, plain=True) as here:
        yield Sender.to(here)


def faulty(fleet, effect, **changes):
    return served(fleet, Fault(operation="SendCommand", effect=effect, **changes), plain=True)


def test_a_document_runs_and_its_output_comes_at_the_end(sender, tmp_path):
    sender.store(
        document("echo begun", f"until [ -e {tmp_path}/go ]; do sleep 0.05; done", "echo {{ Word }} >&2", Word=WORD)
    )
    command_id = sender.send(Parameters={"Word": ["well"]}, Comment="c" * 100)
    with pytest.raises(sender.ssm.exceptions.InvocationDoesNotExist):
        sender.told(command_id)
    seen = set()

    def running():
        try:
            told = sender.told(command_id)
        except sender.ssm.exceptions.InvocationDoesNotExist:
            return False
        assert told["StandardOutputContent"] == ""
        seen.add(told["Status"])
        return told["Status"] == "InProgress"

    within(running)
    assert seen <= {"Pending", "InProgress"}
    (tmp_path / "go").touch()
    told = sender.ended(command_id)
    assert (told["Status"], told["ResponseCode"], told["PluginName"]) == ("Success", 0, "measure")
    assert (told["StandardOutputContent"], told["StandardErrorContent"]) == ("begun\n", "well\n")


def test_a_failed_script_tells_its_exit_code(sender):
    sender.store(document("echo some; exit 3"))
    told = sender.ended(sender.send())
    assert (told["Status"], told["StatusDetails"], told["ResponseCode"]) == ("Failed", "Failed", 3)
    assert told["StandardOutputContent"] == "some\n"


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


def test_cancelling_marks_and_does_not_stop(sender, tmp_path):
    sender.store(document(f"until [ -e {tmp_path}/go ]; do sleep 0.05; done; touch {tmp_path}/done"))
    command_id = sender.send()
    within(lambda: time.sleep(0.25) or sender.told(command_id)["Status"] == "InProgress")
    sender.ssm.cancel_command(CommandId=command_id, InstanceIds=[sender.host_id])
    assert sender.told(command_id)["Status"] == "Cancelling"
    assert sender.ended(command_id)["Status"] == "Cancelled"
    (tmp_path / "go").touch()
    within((tmp_path / "done").exists)


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


def test_a_new_version_of_a_document_runs_when_it_is_named(sender):
    sender.store(document("echo one"))
    sender.ssm.update_document(Name=sender.name, Content=document("echo two"), DocumentVersion="$LATEST")

    def output(**asked):
        return sender.ended(sender.send(**asked))["StandardOutputContent"]

    assert [output(), output(DocumentVersion="2"), output(DocumentVersion="$LATEST")] == ["one\n", "two\n", "two\n"]
    sender.ssm.update_document_default_version(Name=sender.name, DocumentVersion="2")
    assert output() == "two\n"
    assert json.loads(sender.ssm.get_document(Name=sender.name)["Content"])["mainSteps"][0]["name"] == "measure"


def test_most_hosts_are_online_some_are_lost_and_some_not_managed(account, fleet):
    ssm = account.client("ssm")
    pages = list(ssm.get_paginator("describe_instance_information").paginate(MaxResults=10))
    found = {one["InstanceId"]: one["PingStatus"] for page in pages for one in page["InstanceInformationList"]}
    hosts = fleet.hosts(HOME, "us-east-1")
    assert found == {host.id: ping_of(host) for host in hosts.values() if ping_of(host)}
    assert len(pages) == -(-len(found) // 10)
    assert set(found.values()) == {ONLINE, LOST}
    assert len(found) < len(hosts) < 1.5 * sum(status == ONLINE for status in found.values())
    benches = [one.host.id for one in fleet.standing if (one.account, one.region) == (HOME, "us-east-1")]
    wanted = [{"Key": "InstanceIds", "Values": benches}, {"Key": "PingStatus", "Values": [ONLINE]}]
    named = ssm.describe_instance_information(Filters=wanted)["InstanceInformationList"]
    assert {one["InstanceId"] for one in named} == set(benches)


def test_commands_do_not_reach_lost_hosts_and_are_refused_for_unmanaged_ones(fleet, sender):
    sender.store(document("true"))
    hosts = fleet.hosts(HOME, "us-east-1").values()
    lost = next(host.id for host in hosts if ping_of(host) == LOST)
    unmanaged = next(host.id for host in hosts if ping_of(host) is None)
    assert sender.refused(InstanceIds=[unmanaged]) == "InvalidInstanceId"
    there = replace(sender, host_id=lost)
    assert there.ended(there.send())["StatusDetails"] == "Delivery Timed Out"


def test_documents_and_commands_are_of_one_account(fleet):
    with served(fleet, plain=True) as here:
        sender = Sender.to(here)
        sender.store(document("true"))
        command_id = sender.send()
        other = here.client("ssm", account="222222222222")
        asked = {"CommandId": command_id, "InstanceId": sender.host_id}
        assert refused(other.get_command_invocation, **asked) == "InvocationDoesNotExist"


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
    assert measured == pytest.approx(3000, rel=0.1)
