"""Executions of a Step Functions state machine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from plimsoll.clouds.aws.errors import DECIDING, KEEPING, attempted
from plimsoll.domain.errors import BadInput
from plimsoll.ports import NOT_DEPLOYED

_PARTS: Final = 8
"""Of an execution's ARN: arn:PARTITION:states:REGION:ACCOUNT:execution:MACHINE:NAME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecutions:
    """Executions by ARN. `client` is boto3's of Step Functions; `machines` are the ARNs of those to begin, by kind."""

    client: Any
    machines: Mapping[str, str] = field(default_factory=dict)

    def older(self, execution: str, started: datetime) -> str | None:
        """The name of the oldest that runs and was begun before this one; of two begun at once, the first by name.

        Step Functions lists with a delay: where this one is not in the list yet, it was begun when it says.
        """
        machine = machine_of(execution)
        pages = self.client.get_paginator("list_executions").paginate(stateMachineArn=machine, statusFilter="RUNNING")
        with attempted(f"list the executions of {machine}", "states:ListExecutions", KEEPING):
            running = {
                str(one["executionArn"]): (one["startDate"], str(one["name"]))
                for page in pages
                for one in page["executions"]
            }
        own = running.get(execution, (started, execution.rsplit(":", 1)[-1]))
        oldest = min(running.values(), default=own)
        return oldest[1] if oldest < own else None

    def begin(self, kind: Literal["audit", "validation"], name: str, given: Mapping[str, Any]) -> bool:
        """Begins an execution of that name; False where one of that name was begun before, which goes on.

        Step Functions answers a second start with the same input as it did the first, so that it is asked before. It
        remembers a name for 90 days after the execution's end. BadInput where the kind is not deployed.
        """
        machine = self.machines.get(kind)
        if not machine:
            raise BadInput(NOT_DEPLOYED[kind])
        if self._is_begun(machine, name):
            return False
        with attempted(f"begin {name} of {machine}", "states:StartExecution", DECIDING):
            try:
                self.client.start_execution(stateMachineArn=machine, name=name, input=json.dumps(dict(given)))
            except self.client.exceptions.ExecutionAlreadyExists:
                return False
        return True

    def _is_begun(self, machine: str, name: str) -> bool:
        with attempted(f"look whether {machine} began {name}", "states:DescribeExecution", DECIDING):
            try:
                self.client.describe_execution(executionArn=execution_of(machine, name))
            except self.client.exceptions.ExecutionDoesNotExist:
                return False
        return True


def execution_of(machine: str, name: str) -> str:
    """The ARN of the execution of that name of a standard state machine."""
    return f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"


def machine_of(execution: str) -> str:
    """The ARN of the state machine of an execution; BadInput for what is no execution's ARN."""
    parts = execution.split(":")
    if len(parts) != _PARTS or parts[2] != "states" or parts[5] != "execution":
        raise BadInput(f"{execution} is no ARN of an execution of a standard state machine.")
    return ":".join([*parts[:5], "stateMachine", parts[6]])
