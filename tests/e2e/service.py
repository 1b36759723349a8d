"""The deployed service as its users meet it: executions of its state machine, and what they leave in the bucket."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.e2e.deployment import Synthesized
from tests.e2e.emulator import HOME, REGION, Emulator

BUCKET: Final = f"plimsoll-main-{HOME}-{REGION}"
AUDIT: Final = f"arn:aws:states:{REGION}:{HOME}:stateMachine:plimsoll-main-audit"
DONE_WITHIN_S: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The service on an emulator, with the other account of its Organization."""

    emulator: Emulator
    member: str
    synthesized: Synthesized

    def audit(self, name: str, **given: str) -> Mapping[str, Any]:
        """Starts an audit of that name, waits for its end and gives its output; AssertionError with its history."""
        machine = self.emulator.client("stepfunctions")
        execution = machine.start_execution(stateMachineArn=AUDIT, name=name, input=json.dumps(given))["executionArn"]
        until = time.monotonic() + DONE_WITHIN_S
        while (found := machine.describe_execution(executionArn=execution))["status"] == "RUNNING":
            assert time.monotonic() < until, self._told(execution)
            time.sleep(0.5)
        assert found["status"] == "SUCCEEDED", self._told(execution)
        output: Mapping[str, Any] = json.loads(found["output"])
        return output

    def objects(self, prefix: str) -> dict[str, tuple[str, str]]:
        """The keys under a prefix, each with what tells whether it was written again."""
        pages = self.emulator.client("s3").get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return {
            one["Key"]: (one["ETag"], str(one["LastModified"])) for page in pages for one in page.get("Contents", [])
        }

    def read(self, key: str) -> bytes:
        content: bytes = self.emulator.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return content

    def bring(self, prefix: str, folder: Path) -> list[Path]:
        """Downloads the objects under a prefix."""
        found = []
        for key in self.objects(prefix):
            found.append(folder / key.replace("/", "-"))
            found[-1].write_bytes(self.read(key))
        return found

    def _told(self, execution: str) -> str:
        machine = self.emulator.client("stepfunctions")
        events = machine.get_execution_history(executionArn=execution, maxResults=1000)["events"]
        failed = [json.dumps(one, default=str) for one in events if "Failed" in one["type"]]
        return "\n".join([*failed, self.emulator.log.read_text()[-4000:]])
