"""Run Command: a task sent to one host, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.bench.document import DOCUMENT_NAME, parameters_of
from plimsoll.clouds.aws.errors import CLEANING, MEASURING, attempted, code_of
from plimsoll.domain.task import Task, TaskEnd
from plimsoll.ports import Target

DELIVERY_S: Final = 60
"""How long the agent may take to fetch a command; the document bounds the task itself."""

_COMMENT_CHARS: Final = 100
_RUNNING: Final = {"Pending", "InProgress", "Delayed", "Cancelling"}
_ENDS: Final[Mapping[str, TaskEnd]] = {
    "success": TaskEnd.SUCCESS,
    "executiontimedout": TaskEnd.TIMED_OUT,
    "deliverytimedout": TaskEnd.UNDELIVERED,
    "undeliverable": TaskEnd.UNDELIVERED,
    "invalidplatform": TaskEnd.UNDELIVERED,
    "accessdenied": TaskEnd.UNDELIVERED,
    "cancelled": TaskEnd.CANCELLED,
    "canceled": TaskEnd.CANCELLED,
    "terminated": TaskEnd.CANCELLED,
    "timedout": TaskEnd.TIMED_OUT,
}
"""By status details, which tell a command that never arrived from one that ran too long (AWS Systems Manager User
Guide, "Understanding command statuses", read 2026-11-20). Both spellings of cancelled occur."""

_NOISE: Final = ("failed to run commands", "----")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A command that has ended on its host: its output as the API gives it, and why it failed."""

    end: TaskEnd
    output: str
    reason: str


def send_command(
    ssm: Any, target: Target, host_id: str, task: Task, *, version: str, storage: Mapping[str, str]
) -> str:
    """Sends the task and gives the command's id; `storage` says where the whole output goes, if anywhere."""
    request: dict[str, Any] = {
        "InstanceIds": [host_id],
        "DocumentName": DOCUMENT_NAME,
        "DocumentVersion": version,
        "TimeoutSeconds": DELIVERY_S,
        "Comment": f"plimsoll {task.mode.value} {task.volume_id}".strip()[:_COMMENT_CHARS],
        "Parameters": parameters_of(task),
        **storage,
    }
    if task.alarm is not None:
        # Without the alarm's state there is no circuit breaker, so then the command is to stop as well.
        request["AlarmConfiguration"] = {"Alarms": [{"Name": task.alarm}], "IgnorePollAlarmFailure": False}
    with attempted(f"run {DOCUMENT_NAME} on {host_id} in {target}", "ssm:SendCommand", MEASURING):
        return str(ssm.send_command(**request)["Command"]["CommandId"])


def invocation(ssm: Any, target: Target, host_id: str, command_id: str) -> Invocation | None:
    """How a command ended, None while it runs; a command that was only just sent is not known yet."""
    what = f"see what came of command {command_id} on {host_id} in {target}"
    with attempted(what, "ssm:GetCommandInvocation", MEASURING):
        try:
            found = ssm.get_command_invocation(CommandId=command_id, InstanceId=host_id)
        except ClientError as error:
            if code_of(error) == "InvocationDoesNotExist":
                return None
            raise
    if found["Status"] in _RUNNING:
        return None
    details = found.get("StatusDetails") or found["Status"]
    end = _ENDS.get(_plain(details)) or _ENDS.get(_plain(found["Status"])) or TaskEnd.FAILED
    reason = "" if end is TaskEnd.SUCCESS else _reason(found, details)
    return Invocation(end=end, output=found.get("StandardOutputContent", ""), reason=reason)


def cancel_command(ssm: Any, target: Target, host_id: str, command_id: str) -> None:
    """Asks a command to stop."""
    with attempted(f"cancel command {command_id} on {host_id} in {target}", "ssm:CancelCommand", CLEANING):
        ssm.cancel_command(CommandId=command_id, InstanceIds=[host_id])


def _plain(status: str) -> str:
    return status.replace(" ", "").lower()


def _reason(found: Mapping[str, Any], details: str) -> str:
    """The end, the exit code if there was one, and the last thing that the script complained of."""
    text = f"status {details}"
    if found.get("ResponseCode", -1) > 0:
        text += f", exit code {found['ResponseCode']}"
    lines = [line.strip() for line in found.get("StandardErrorContent", "").splitlines() if line.strip()]
    complaints = [line for line in lines if not line.startswith(_NOISE)]
    return f"{text}: {complaints[-1].rstrip('.')}" if complaints else text
