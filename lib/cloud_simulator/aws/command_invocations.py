"""Invocations: a command on one host, from when it is sent until it has ended, with its output cut as AWS cuts it."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from cloud_simulator.aws.ssm_document import Script
from cloud_simulator.devices.script_runs import Ended
from cloud_simulator.faults import Refused

OUTPUT_CHARS: Final = 24_000
ERROR_CHARS: Final = 8_000


@dataclass(slots=True, kw_only=True)
class Invocation:
    """A command on a host. Each of its first states lasts `pace_s`; `ended` is None while the process runs."""

    command_id: str
    host_id: str
    account: str
    region: str
    document: str
    version: str
    comment: str
    script: Script
    bucket: str | None = None
    prefix: str = ""
    pace_s: float
    ended: Ended | None = None
    _sent_s: float = field(default_factory=time.monotonic)
    _requested: datetime = field(default_factory=lambda: datetime.now(UTC))
    _cancelled_s: float | None = None

    def cancel(self) -> None:
        """Marks it; the process goes on."""
        if self.ended is None and self._cancelled_s is None:
            self._cancelled_s = time.monotonic()

    def invocation(self) -> dict[str, Any]:
        """GetCommandInvocation's answer; Refused in the first moment. Output stays empty until the end."""
        age_s = time.monotonic() - self._sent_s
        if age_s < self.pace_s:
            raise Refused("InvocationDoesNotExist", "The command was not found on this instance yet.")
        now = self._now(age_s)
        url = f"https://s3.{self.region}.amazonaws.com/{self.bucket}/{self.key('stdout')}" if self.bucket else ""
        return {
            "CommandId": self.command_id,
            "InstanceId": self.host_id,
            "Comment": self.comment,
            "DocumentName": self.document,
            "DocumentVersion": self.version,
            "PluginName": self.script.step,
            "ResponseCode": now.code,
            "ExecutionStartDateTime": self._requested.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "Status": now.status,
            "StatusDetails": now.details,
            "StandardOutputContent": now.output[:OUTPUT_CHARS],
            "StandardOutputUrl": url,
            "StandardErrorContent": now.errors[:ERROR_CHARS],
            "StandardErrorUrl": "",
        }

    def command(self) -> dict[str, Any]:
        """The command as SendCommand answers."""
        return {
            "CommandId": self.command_id,
            "DocumentName": self.document,
            "DocumentVersion": self.version,
            "Comment": self.comment,
            "RequestedDateTime": self._requested.timestamp(),
            "InstanceIds": [self.host_id],
            "Status": "Pending",
            "StatusDetails": "Pending",
            "OutputS3BucketName": self.bucket or "",
            "OutputS3KeyPrefix": self.prefix,
        }

    def key(self, stream: str) -> str:
        """Where in the bucket its whole output goes."""
        parts = [self.prefix, self.command_id, self.host_id, "awsrunShellScript", self.script.step, stream]
        return "/".join(part for part in parts if part)

    def _now(self, age_s: float) -> Ended:
        if self._cancelled_s is not None:
            under_way = time.monotonic() - self._cancelled_s < self.pace_s
            word = "Cancelling" if under_way else "Cancelled"
            return Ended(status=word, details=word, code=-1)
        if age_s < 2 * self.pace_s:
            return Ended(status="Pending", details="Pending", code=-1)
        return self.ended or Ended(status="InProgress", details="InProgress", code=-1)
