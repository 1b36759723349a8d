"""A deployment's life on the emulator: the last release, today's, back to it, a copy of what is kept, and removal."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from plimsoll.cli.exit_codes import PARTIAL
from tests.e2e.deployment import Synthesized, deploy, remove, synthesize
from tests.e2e.emulator import HOME, REGION, Emulator
from tests.e2e.released import OF_THE_RELEASE, SETTINGS, STAGE, last_release

BUCKET = f"plimsoll-{STAGE}-{HOME}-{REGION}"
HISTORY = f"plimsoll-{STAGE}-history"
KEPT = {"place": {"S": "111122223333/eu-west-1"}, "volume_id": {"S": "vol-0123456789abcdef0"}, "since": {"S": "2026"}}
KEY = {name: KEPT[name] for name in ("place", "volume_id")}
RUN = "reports/first/run.json"
UNLISTED = {"AWS::CloudFormation::StackSet", "AWS::SSM::Document"}
"""What the emulator cannot list, so that the command never says there that nothing is left."""

MEMORY_MIB = {"released": OF_THE_RELEASE["audit_memory_mib"], "today": "2048"}
AT_ONCE = {"released": OF_THE_RELEASE["max_concurrency"], "today": "10"}


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Synthesized]:
    """The last release and what is synthesized today."""
    folder = tmp_path_factory.mktemp("versions")
    return {"released": last_release(folder / "released"), "today": synthesize(folder / "today", **SETTINGS)}


@pytest.fixture(scope="module")
def member(emulator: Emulator) -> str:
    created = emulator.client("organizations").create_account(Email="life@example.com", AccountName="life")
    return str(created["CreateAccountStatus"]["AccountId"])


@pytest.fixture(scope="module")
def deployed(emulator: Emulator, versions: Mapping[str, Synthesized], member: str) -> Iterator[Synthesized]:
    """The last release, with a run and a row of the history; whatever becomes of it, its stacks go at the end."""
    deploy(versions["released"], emulator, member)
    emulator.client("s3").put_object(Bucket=BUCKET, Key=RUN, Body=b"{}")
    emulator.client("dynamodb").put_item(TableName=HISTORY, Item=KEPT)
    yield versions["released"]
    remove(versions["today"], emulator, member)


def test_an_upgrade_and_the_way_back_change_functions_and_machines_and_keep_what_is_kept(
    emulator: Emulator, versions: Mapping[str, Synthesized], deployed: Synthesized, member: str
) -> None:
    for version in ("released", "today", "released", "today"):
        deploy(versions[version], emulator, member)
        assert memory_mib(emulator, "audit_batch") == MEMORY_MIB[version]
        assert f'"MaxConcurrency":{AT_ONCE[version]}' in definition(emulator)
        assert emulator.client("s3").get_object(Bucket=BUCKET, Key=RUN)["Body"].read() == b"{}"
        assert emulator.client("dynamodb").get_item(TableName=HISTORY, Key=KEY)["Item"] == KEPT


def test_a_copy_of_the_bucket_and_a_lost_table_come_back(emulator: Emulator, deployed: Synthesized) -> None:
    """As docs/deploy.md does it: objects by copying them there and back, the table from its last backup, by name."""
    s3, dynamodb = emulator.client("s3"), emulator.client("dynamodb")
    s3.create_bucket(Bucket="copy", CreateBucketConfiguration={"LocationConstraint": REGION})
    copy(s3, BUCKET, "copy")
    empty(s3, BUCKET)
    copy(s3, "copy", BUCKET)
    assert s3.get_object(Bucket=BUCKET, Key=RUN)["Body"].read() == b"{}"
    backup = dynamodb.create_backup(TableName=HISTORY, BackupName="weekly")["BackupDetails"]["BackupArn"]
    delete_table(dynamodb)
    dynamodb.restore_table_from_backup(TargetTableName=HISTORY, BackupArn=backup)
    dynamodb.get_waiter("table_exists").wait(TableName=HISTORY)
    # A restored table has neither again by itself.
    dynamodb.update_table(TableName=HISTORY, DeletionProtectionEnabled=True)
    dynamodb.update_continuous_backups(
        TableName=HISTORY, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    assert dynamodb.get_item(TableName=HISTORY, Key=KEY)["Item"] == KEPT
    empty(s3, "copy")
    s3.delete_bucket(Bucket="copy")


def test_what_a_removal_leaves_is_told_and_nothing_is_left_when_that_was_removed(
    emulator: Emulator, versions: Mapping[str, Synthesized], deployed: Synthesized, member: str, tmp_path: Path
) -> None:
    before = leftovers(emulator, tmp_path)
    assert {kind for kind, _ in before} >= {"AWS::CloudFormation::Stack", "AWS::Lambda::Function", "AWS::IAM::Role"}

    remove(versions["today"], emulator, member)
    left = leftovers(emulator, tmp_path)
    assert {name for _, name in left} >= {BUCKET, HISTORY}
    assert {kind for kind, _ in left} <= {"AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Logs::LogGroup"}

    s3, logs = emulator.client("s3"), emulator.client("logs")
    delete_table(emulator.client("dynamodb"))
    for kind, name in left:
        if kind == "AWS::S3::Bucket":
            empty(s3, name)
            s3.delete_bucket(Bucket=name)
        if kind == "AWS::Logs::LogGroup":
            logs.delete_log_group(logGroupName=name)
    assert leftovers(emulator, tmp_path) == leftovers(emulator, tmp_path, account=member) == set()


def leftovers(emulator: Emulator, folder: Path, account: str = HOME) -> set[tuple[str, str]]:
    """The kinds and names that `plimsoll leftovers` tells; of what the emulator cannot list it says that it cannot."""
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "leftovers", "--stage", STAGE, "--region", REGION],
        cwd=folder,
        env=dict(emulator.environment(account)),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    unknown = {line.partition(": ")[0] for line in lines if line.split()[0].endswith(":")}
    assert (done.returncode, done.stderr, unknown) == (PARTIAL, "", UNLISTED), done.stdout
    told = [line.split()[:2] for line in lines if not line.split()[0].endswith(":")]
    return {(kind, name.removesuffix(":")) for kind, name in told}


def copy(s3: Any, source: str, target: str) -> None:
    """As `aws s3 sync s3://source s3://target`."""
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=source):
        for one in page.get("Contents", []):
            s3.copy_object(Bucket=target, Key=one["Key"], CopySource={"Bucket": source, "Key": one["Key"]})


def empty(s3: Any, bucket: str) -> None:
    """As the console empties a bucket: every version and every delete marker goes."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        for one in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
            s3.delete_object(Bucket=bucket, Key=one["Key"], VersionId=one["VersionId"])


def delete_table(dynamodb: Any) -> None:
    """The history's table, which is protected: deleted as it is, AWS refuses."""
    with pytest.raises(ClientError, match="ValidationException"):
        dynamodb.delete_table(TableName=HISTORY)
    dynamodb.update_table(TableName=HISTORY, DeletionProtectionEnabled=False)
    dynamodb.delete_table(TableName=HISTORY)
    dynamodb.get_waiter("table_not_exists").wait(TableName=HISTORY)


def memory_mib(emulator: Emulator, function: str) -> str:
    """The memory of a function as it is deployed."""
    found = emulator.client("lambda").get_function_configuration(FunctionName=f"plimsoll-{STAGE}-{function}")
    return str(found["MemorySize"])


def definition(emulator: Emulator) -> str:
    """The audit's state machine as it is deployed."""
    arn = f"arn:aws:states:{REGION}:{HOME}:stateMachine:plimsoll-{STAGE}-audit"
    found = emulator.client("stepfunctions").describe_state_machine(stateMachineArn=arn)
    return str(found["definition"]).replace(" ", "")
