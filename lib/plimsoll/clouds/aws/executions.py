"""Executions of a Step Functions state machine."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from plimsoll.clouds.aws.errors import KEEPING, attempted
from plimsoll.domain.errors import BadInput

_PARTS: Final = 8
"""Of an execution's ARN: arn:PARTITION:states:REGION:ACCOUNT:execution:MACHINE:NAME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecutions:
    """Executions by ARN. `client` is boto3's of Step Functions."""

    client: Any

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


def machine_of(execution: str) -> str:
    """The ARN of the state machine of an execution; BadInput for what is no execution's ARN."""
    parts = execution.split(":")
    if len(parts) != _PARTS or parts[2] != "states" or parts[5] != "execution":
        raise BadInput(f"{execution} is no ARN of an execution of a standard state machine.")
    return ":".join([*parts[:5], "stateMachine", parts[6]])
