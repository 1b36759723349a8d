"""The account that the service is deployed in: a simulated organization with Lambda and Step Functions."""

import json
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import boto3
from botocore.config import Config
from moto.core.config import default_user_config
from moto.moto_api._internal import moto_api_backend

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.organization import ACCOUNTS, AWS_REGIONS
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.faults import Fault, Faults
from cloud_simulator.running import Running

from .environments import Function
from .functions_front import FunctionsFront
from .pace import hurried
from .rules import DEFAULT_BUS, Rule, event_of

HOME: Final = ACCOUNTS[0]
REGION: Final = AWS_REGIONS[0]
_PACE_S: Final = 0.1
"""How long each passing state of a scratch volume or a command lasts."""

_ENDED: Final = {"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"}
_ROLE: Final = "arn:aws:iam::{account}:role/machines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An execution that has ended: its status, its output or its error, and when it began."""

    arn: str
    status: str
    started: Any
    output: Any = None
    error: str | None = None
    cause: str | None = None


@dataclass(slots=True, kw_only=True)
class Account:
    """A running organization, the state machines in its first account, and what their functions did."""

    organization: Running
    front: FunctionsFront
    machines: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def id(self) -> str:
        return self.organization.fleet.accounts[0]

    def client(self, service: str) -> Any:
        """A client of the account, one for each service."""
        environment = self.organization.environment
        if service not in self._clients:
            self._clients[service] = boto3.Session().client(
                service,
                region_name=REGION,
                endpoint_url=environment["AWS_ENDPOINT_URL"],
                aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
                config=Config(retries={"total_max_attempts": 1}),
            )
        return self._clients[service]

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{REGION}:{self.id}:{resource}"

    def deploy(self, machine: str, definition: str) -> None:
        """Makes a state machine of a definition."""
        made = self.client("stepfunctions").create_state_machine(
            name=machine, definition=definition, roleArn=_ROLE.format(account=self.id)
        )
        self.machines[machine] = made["stateMachineArn"]

    def begin(self, machine: str, name: str, given: Mapping[str, Any] | None = None) -> str:
        """Starts an execution and gives its arn."""
        begun = self.client("stepfunctions").start_execution(
            stateMachineArn=self.machines[machine], name=name, input=json.dumps(given or {})
        )
        return str(begun["executionArn"])

    def end(self, arn: str, *, within_s: float = 900.0) -> Execution:
        """Waits for an execution's end."""
        client = self.client("stepfunctions")
        limit_s = time.monotonic() + within_s
        while (described := client.describe_execution(executionArn=arn))["status"] not in _ENDED:
            assert time.monotonic() < limit_s, f"{arn} has not ended within {within_s} s"
            time.sleep(0.25)  # each look is a request that this very process serves
        self._tell_of(described)
        output = described.get("output")
        return Execution(
            arn=arn,
            status=described["status"],
            started=described["startDate"],
            output=json.loads(output) if output else None,
            error=described.get("error"),
            cause=described.get("cause"),
        )

    def _tell_of(self, described: Mapping[str, Any]) -> None:
        """The event that Step Functions sends of an execution's end (Developer Guide, "EventBridge (CloudWatch Events)
        for Step Functions execution status changes", read 2026-11-22)."""
        told = ("executionArn", "stateMachineArn", "name", "status", "input", "output", "error", "cause")
        detail = {key: described.get(key) for key in told}
        kind = "Step Functions Execution Status Change"
        event = event_of("aws.states", kind, detail, account=self.id, region=REGION)
        self.front.hear(DEFAULT_BUS, event)

    def run(self, machine: str, name: str, given: Mapping[str, Any] | None = None) -> Execution:
        """Starts an execution and waits for its end."""
        return self.end(self.begin(machine, name, given))


@contextmanager
def account(
    fleet: Fleet,
    functions: Mapping[str, Function],
    logs: Path,
    *,
    faults: Sequence[Fault] = (),
    plain_files: bool = False,
    rules: Sequence[Rule] = (),
) -> Iterator[Account]:
    """Serves the organization on loopback for as long as the block lasts; nothing is left of it in moto's memory."""
    met = Faults(faults)
    cloud = Front(fleet, CloudWatch(fleet, met), faults=met, devices=Devices(plain=plain_files), pace_s=_PACE_S)
    front = FunctionsFront(cloud, functions, logs, rules=rules)
    server = serve(front)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    settings = {"stepfunctions": {"execute_state_machine": True}}
    # What fails on purpose would fill screens: the interpreter logs every error with the whole state.
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)
    with (
        patch.dict(default_user_config, settings),
        patch.dict(os.environ, {"MOTO_PORT": str(server.server_port)}),
        hurried(),
    ):
        moto_api_backend.reset()
        thread.start()
        try:
            organization = Running(endpoint=f"http://127.0.0.1:{server.server_port}", fleet=fleet)
            front.variables = organization.environment
            yield Account(organization=organization, front=front)
        finally:
            front.close()
            server.shutdown()
            server.server_close()
            thread.join()
            front.front.close()
            moto_api_backend.reset()
