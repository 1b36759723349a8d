"""Documents stored and sent to simulated hosts, and what comes of them."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from .test_scratch_volumes import ZONE, becomes, bench, refused, within


def document(*lines: str, limit_s: str = "30", **parameters: dict[str, Any]) -> str:
    """A document of schema 2.2 with one shell step named `measure`."""
    step = {"runCommand": list(lines), "timeoutSeconds": limit_s}
    return json.dumps(
        {
            "schemaVersion": "2.2",
            "description": "test",
            "parameters": {name: {"type": "String", **rule} for name, rule in parameters.items()},
            "mainSteps": [{"action": "aws:runShellScript", "name": "measure", "inputs": step}],
        }
    )


@dataclass(frozen=True)
class Sender:
    """Clients of a served fleet, the bench host of one zone, and a document's name that no other test has."""

    ec2: Any
    ssm: Any
    host_id: str
    name: str

    @classmethod
    def to(cls, here: Any) -> "Sender":
        ec2 = here.client("ec2")
        return cls(ec2, here.client("ssm"), bench(ec2)["InstanceId"], f"Test-{uuid.uuid4().hex}")

    def store(self, content: str) -> None:
        self.ssm.create_document(Name=self.name, Content=content, DocumentType="Command", DocumentFormat="JSON")

    def send(self, **asked: Any) -> str:
        sent = self.ssm.send_command(**{"InstanceIds": [self.host_id], "DocumentName": self.name, **asked})
        return sent["Command"]["CommandId"]

    def told(self, command_id: str) -> dict[str, Any]:
        return self.ssm.get_command_invocation(CommandId=command_id, InstanceId=self.host_id)

    def refused(self, **asked: Any) -> str:
        return refused(self.ssm.send_command, **{"InstanceIds": [self.host_id], "DocumentName": self.name, **asked})

    def ended(self, command_id: str, patience_s: float = 120.0) -> dict[str, Any]:
        """The invocation, once it runs no more."""

        def found() -> dict[str, Any] | None:
            try:
                told = self.told(command_id)
            except self.ssm.exceptions.InvocationDoesNotExist:
                return None
            return None if told["Status"] in {"Pending", "InProgress", "Cancelling"} else told

        return within(found, patience_s)

    def attached(self, device: str = "/dev/sdf", **spec: Any) -> str:
        """A new volume on the host."""
        asked = {"AvailabilityZone": ZONE, "Size": 8, "VolumeType": "gp3", "Iops": 3000, "Throughput": 125, **spec}
        volume_id = self.ec2.create_volume(**asked)["VolumeId"]
        becomes(self.ec2, volume_id, "available")
        self.ec2.attach_volume(VolumeId=volume_id, InstanceId=self.host_id, Device=device)
        becomes(self.ec2, volume_id, "in-use", "attached")
        return volume_id
