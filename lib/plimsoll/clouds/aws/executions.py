"""Executions of a Step Functions state machine."""

from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.errors import KEEPING, attempted
from plimsoll.domain.errors import BadInput

_PARTS: Final = 8
"""Of an execution's ARN: arn:PARTITION:states:REGION:ACCOUNT:execution:MACHINE:NAME."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecutions:
    """Executions by ARN. `client` is boto3's of Step Functions."""

    client: Any

    def older(self, execution: str) -> str | None:
        """The name of the oldest that runs and was begun before this one; of two begun at once, the first by name.

        Step Functions lists with a delay: where this one is not in the list yet, all that are were begun before it.
        """
        machine = machine_of(execution)
        pages = self.client.get_paginator("list_executions").paginate(stateMachineArn=machine, statusFilter="RUNNING")
        with attempted(f"list the executions of {machine}", "states:ListExecutions", KEEPING):
            listed = [one for page in pages for one in page["executions"]]
        running = sorted((one["startDate"], str(one["name"]), str(one["executionArn"])) for one in listed)
        _started, name, arn = running[0] if running else (None, None, execution)
        return None if arn == execution else name


def machine_of(execution: str) -> str:
    """The ARN of the state machine of an execution; BadInput for what is no execution's ARN."""
    parts = execution.split(":")
    if len(parts) != _PARTS or parts[2] != "states" or parts[5] != "execution":
        raise BadInput(f"{execution} is no ARN of an execution of a standard state machine.")
    return ":".join([*parts[:5], "stateMachine", parts[6]])
