"""The permissions that are declared for a validation and for a sweep are exactly those that the bench uses."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from plimsoll.clouds.aws.permissions import (
    COPIES,
    ON_SCRATCH_ALONE,
    PROBE,
    PROBE_DOCUMENT,
    SCRATCH_CONDITION,
    SWEEP,
    VALIDATION,
)
from plimsoll.clouds.aws.sessions import Credential, Sessions
from plimsoll.model.policy import TagMatch
from plimsoll.model.task import SCRATCH_TAG, ScratchOrder, Task, TaskMode
from plimsoll_measure.aws.bench import AwsBench
from plimsoll_measure.aws.commands import CUT_CHARS, RESULTS_PREFIX
from tests.builders import a_spec
from tests.contract.aws_bench import HOME, served

BUCKET = "results-of-permissions"
NOT_A_CALL = {"ec2:CreateTags", "ssm:AddTagsToResource"}
"""Allow the tags that volumes and documents are made with."""


@pytest.fixture
def used(monkeypatch):
    """The IAM actions of every call from here on."""
    found: set[str] = set()
    made = Sessions.client

    def listened(sessions, service, account, region):
        client = made(sessions, service, account, region)
        prefix = {"monitoring": "cloudwatch"}.get(client.meta.service_model.signing_name)
        prefix = prefix or client.meta.service_model.signing_name

        def note(model, **_others):
            action = f"{prefix}:{model.name}"
            found.add({"s3:ListObjectsV2": "s3:ListBucket"}.get(action, action))

        client.meta.events.register("before-call", note, unique_id="listened")
        return client

    monkeypatch.setattr(Sessions, "client", listened)
    return found


@pytest.fixture(scope="module")
def aws():
    with served() as found:
        boto3.Session().client("s3", region_name=HOME.region).create_bucket(Bucket=BUCKET)
        yield found


def an_order(aws, name, source=None):
    place = {"account": HOME.account, "region": HOME.region, "zone": aws.zone}
    deadline = datetime(2026, 11, 20, tzinfo=UTC)
    return ScratchOrder(validation_id=name, spec=a_spec("gp3", 100), deadline=deadline, source=source, **place)


def a_bench(results=None):
    """One whose clients are listened to."""
    sessions = Sessions(attempts=1, connections=4)
    sessions.sign_in([Credential()])
    assert not sessions.failed
    return AwsBench(sessions=sessions, results=results, sleep=lambda _s: None)


def clean_up(bench, made):
    bench.detach(HOME, made)
    bench.delete(HOME, made)


def test_a_validation_uses_exactly_what_it_declares(aws, used):
    ssm = boto3.Session().client("ssm", region_name=HOME.region)
    ssm.create_document(
        Name="Plimsoll-Benchmark", Content='{"schemaVersion":"2.2"}', DocumentType="Command", DocumentFormat="JSON"
    )
    bench = a_bench(BUCKET)
    bench.hosts(HOME, [TagMatch(tag="plimsoll:bench")], [])
    made = bench.create(an_order(aws, "empty"))
    copied = bench.create(an_order(aws, "copy", source=made))
    bench.attach(HOME, made, aws.host_id)
    command = bench.send(HOME, aws.host_id, Task(mode=TaskMode.INSPECT))
    aws.front.answers["GetCommandInvocation"] = lambda _call: {
        "Status": "Success",
        "StandardOutputContent": "x" * CUT_CHARS,
    }
    key = f"{RESULTS_PREFIX}/{command}/{aws.host_id}/awsrunShellScript/measure/stdout"
    boto3.Session().client("s3", region_name=HOME.region).put_object(Bucket=BUCKET, Key=key, Body=b"whole")
    assert bench.outcome(HOME, aws.host_id, command).output == "whole"
    bench.cancel(HOME, aws.host_id, command)
    end = datetime.now(UTC)
    bench.mean_latency_us(HOME, made, end - timedelta(hours=2), end)
    for volume_id in (made, copied):
        clean_up(bench, volume_id)
    assert used | NOT_A_CALL == VALIDATION | COPIES


def test_a_probe_uses_exactly_what_it_declares_and_more_only_to_make_its_document(aws, used):
    task = Task(mode=TaskMode.PROBE, volume_ids=("vol-0123456789abcdef0",), seconds=60)
    probe(a_bench(), aws, task)
    assert used == PROBE | {"ssm:CreateDocument"}
    used.clear()
    probe(a_bench(), aws, task)
    assert used == PROBE
    boto3.Session().client("ssm", region_name=HOME.region).delete_document(Name="Plimsoll-Probe")
    boto3.Session().client("ssm", region_name=HOME.region).create_document(
        Name="Plimsoll-Probe", Content='{"schemaVersion":"2.2"}', DocumentType="Command", DocumentFormat="JSON"
    )
    used.clear()
    probe(a_bench(), aws, task)
    assert used == (PROBE | PROBE_DOCUMENT) - NOT_A_CALL


def probe(bench, aws, task):
    bench.hosts(HOME, [], [aws.host_id])
    command = bench.send(HOME, aws.host_id, task)
    bench.outcome(HOME, aws.host_id, command)
    bench.cancel(HOME, aws.host_id, command)


def test_a_sweep_uses_exactly_what_it_declares(aws, used):
    made = aws.bench.create(an_order(aws, "swept"))
    aws.bench.attach(HOME, made, aws.host_id)
    used.clear()
    sweeper = a_bench()
    for found in sweeper.scratch(HOME):
        clean_up(sweeper, found.id)
    assert used == SWEEP


def test_what_can_take_a_volume_away_is_granted_on_scratch_volumes_alone():
    changes = {action for action in VALIDATION if action.endswith(("DeleteVolume", "DetachVolume", "AttachVolume"))}
    assert changes == ON_SCRATCH_ALONE
    assert {"Null": {f"aws:ResourceTag/{SCRATCH_TAG}": "false"}} == SCRATCH_CONDITION
