"""The service as CDK synthesizes it, deployed as `cdk deploy` does: assets to their bucket, then the templates."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tests.e2e.emulator import HOME, REGION, Emulator
from tests.e2e.lacking import without

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """What CDK wrote: a folder with templates and assets."""

    folder: Path

    def stacks(self) -> list[Mapping[str, Any]]:
        """The stacks' artifacts, each after those that it depends on."""
        found = json.loads((self.folder / "manifest.json").read_text())["artifacts"]
        stacks = {name: one for name, one in found.items() if one["type"] == "aws:cloudformation:stack"}
        ordered: dict[str, Mapping[str, Any]] = {}
        while len(ordered) < len(stacks):
            ready = [
                name
                for name, one in stacks.items()
                if name not in ordered and not {*one.get("dependencies", ())} & stacks.keys() - ordered.keys()
            ]
            ordered |= {name: stacks[name] for name in ready}
        return list(ordered.values())

    def template(self, stack: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / stack["properties"]["templateFile"]).read_text())
        return found

    def files(self) -> Iterator[tuple[Path, str, str]]:
        """Every asset that is a file, with its bucket and key."""
        for manifest in sorted(self.folder.glob("*.assets.json")):
            for file in json.loads(manifest.read_text())["files"].values():
                assert file["source"]["packaging"] == "file", file
                for place in file["destinations"].values():
                    bucket = place["bucketName"].replace("${AWS::AccountId}", HOME).replace("${AWS::Region}", REGION)
                    yield self.folder / file["source"]["path"], bucket, place["objectKey"]


def synthesize(folder: Path, **settings: str) -> Synthesized:
    """Synthesizes the app with these settings; AssertionError with what it says where it cannot."""
    named = {f"PLIMSOLL_DEPLOY_{name.upper()}": value for name, value in settings.items()}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_", "CDK_"))}
    done = subprocess.run(
        [sys.executable, "-m", "infra.app"],
        cwd=PROJECT,
        env={**kept, **named, "CDK_OUTDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return Synthesized(folder=folder)


def deploy(synthesized: Synthesized, emulator: Emulator, member: str) -> None:
    """Deploys all stacks, the roles of members there, the others in the service's own account; those that are there
    are updated."""
    _publish(synthesized, emulator)
    for account in (HOME, member):
        _bucket(f"templates-{account}", emulator, account)
    for stack in synthesized.stacks():
        name, template = str(stack["properties"]["stackName"]), without(synthesized.template(stack))
        account, parameters = (member, {"ServiceAccount": HOME}) if "-member-" in name else (HOME, {})
        create(name, template, emulator, account, parameters)


def remove(synthesized: Synthesized, emulator: Emulator, member: str) -> None:
    """Deletes all stacks, each before those that it depends on. What a stack keeps stays."""
    for stack in reversed(synthesized.stacks()):
        name = str(stack["properties"]["stackName"])
        cloudformation = emulator.client("cloudformation", account=member if "-member-" in name else HOME)
        cloudformation.delete_stack(StackName=name)
        _wait_until_gone(cloudformation, name)


def _wait_until_gone(cloudformation: Any, name: str) -> None:
    while stacks := [one for one in cloudformation.describe_stacks()["Stacks"] if one["StackName"] == name]:
        assert stacks[0]["StackStatus"] != "DELETE_FAILED", stacks[0].get("StackStatusReason")
        time.sleep(0.5)


def _publish(synthesized: Synthesized, emulator: Emulator) -> None:
    """What `cdk bootstrap` and the publishing of assets leave: a bucket with them, and the version it is of."""
    s3 = emulator.client("s3")
    emulator.client("ssm").put_parameter(
        Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String", Overwrite=True
    )
    files = list(synthesized.files())
    for bucket in {bucket for _, bucket, _ in files}:
        _bucket(bucket, emulator, HOME)
    for file, bucket, key in files:
        s3.upload_file(str(file), bucket, key)


def _bucket(name: str, emulator: Emulator, account: str) -> None:
    s3 = emulator.client("s3", account=account)
    if name not in {one["Name"] for one in s3.list_buckets()["Buckets"]}:
        s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})


def create(
    name: str, template: Mapping[str, Any], emulator: Emulator, account: str, parameters: Mapping[str, str]
) -> None:
    """Creates a stack, or updates it, from a template in S3: one in the call may have 51,200 bytes at most."""
    cloudformation = emulator.client("cloudformation", account=account)
    bucket, key = f"templates-{account}", f"{name}.json"
    emulator.client("s3", account=account).put_object(Bucket=bucket, Key=key, Body=json.dumps(template).encode())
    there = {one["StackName"] for one in cloudformation.describe_stacks()["Stacks"]}
    put = cloudformation.update_stack if name in there else cloudformation.create_stack
    try:
        put(
            StackName=name,
            TemplateURL=f"https://s3.amazonaws.com/{bucket}/{key}",
            Capabilities=["CAPABILITY_NAMED_IAM"],
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()],
        )
    except ClientError as error:
        if "No updates are to be performed" not in str(error):
            raise
    while (stack := cloudformation.describe_stacks(StackName=name)["Stacks"][0])["StackStatus"].endswith("PROGRESS"):
        time.sleep(0.5)
    if stack["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        events = cloudformation.describe_stack_events(StackName=name)["StackEvents"]
        why = [f"{one['LogicalResourceId']}: {one.get('ResourceStatusReason')}" for one in events]
        raise AssertionError(f"{name} is {stack['StackStatus']}:\n" + "\n".join(why))
