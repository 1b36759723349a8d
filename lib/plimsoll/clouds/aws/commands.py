"""Run Command: the document, a task sent to one host, what came of it, and its whole output."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from plimsoll.bench.document import DOCUMENT_NAME, document, document_hash, parameters_of
from plimsoll.clouds.aws.errors import CLEANING, MEASURING, attempted, code_of
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.domain.errors import CloudError
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


CUT_CHARS: Final = 24_000
"""What GetCommandInvocation gives of a standard output at most (AWS Systems Manager API Reference, read 2026-11-20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsBucket:
    """Where the whole output of commands is kept: the host's instance profile must be allowed to put it there."""

    name: str
    prefix: str = "plimsoll"

    @property
    def storage(self) -> Mapping[str, str]:
        """What SendCommand is told."""
        return {"OutputS3BucketName": self.name, "OutputS3KeyPrefix": self.prefix}

    def read(self, sessions: Sessions, target: Target, host_id: str, command_id: str) -> str | None:
        """All that the command's steps printed to standard output, None where nothing has arrived."""
        s3 = sessions.client("s3", target.account, target.region)
        folder = f"{self.prefix}/{command_id}/{host_id}/"
        what = f"read the whole output of command {command_id} in s3://{self.name}/{folder}"
        with attempted(what, "s3:ListBucket", MEASURING):
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=folder)
            keys = [one["Key"] for page in pages for one in page.get("Contents", ())]
        wanted = sorted(key for key in keys if key.endswith("/stdout"))
        with attempted(what, "s3:GetObject", MEASURING):
            parts = [_text(s3.get_object(Bucket=self.name, Key=key)) for key in wanted]
        return "".join(parts) if parts else None


def _text(found: Mapping[str, Any]) -> str:
    body: bytes = found["Body"].read()
    return body.decode("utf-8", errors="replace")


LOOKS: Final = 10
"""How often a version that has just been made is looked for, a second apart, until it can be run."""

_MISSING: Final = {"InvalidDocument", "InvalidDocumentVersion"}
_THERE_ALREADY: Final = {"DuplicateDocumentVersionName", "DuplicateDocumentContent"}


def ensure_document(ssm: Any, target: Target, sleep: Callable[[float], None] = time.sleep) -> str:
    """The number of the document's version that is exactly this Plimsoll's document.

    A version is found by its name, which is the content's hash, and its content is compared. Commands name the version
    that they run, so the default version is left as it is, and two versions of Plimsoll do not disturb each other.
    """
    content = document()
    name = version_name()
    found = _version(ssm, target, name)
    if found is None:
        _make(ssm, target, content, name)
    for look in range(LOOKS):
        if found is not None and found.get("Status", "Active") == "Active":
            return _checked(found, content, target)
        if look:
            sleep(1.0)
        found = _version(ssm, target, name)
    raise CloudError(
        f"cannot run {DOCUMENT_NAME} in {target}: its version {name} is {(found or {}).get('Status', 'missing')}. Run "
        "again; if it stays so, delete the document in Systems Manager, Documents."
    )


def version_name() -> str:
    """The name of the version with this content."""
    return f"plimsoll-{document_hash()}"


def _version(ssm: Any, target: Target, name: str) -> Mapping[str, Any] | None:
    with attempted(f"read the document {DOCUMENT_NAME} in {target}", "ssm:GetDocument", MEASURING):
        try:
            return dict(ssm.get_document(Name=DOCUMENT_NAME, VersionName=name, DocumentFormat="JSON"))
        except ClientError as error:
            if code_of(error) in _MISSING:
                return None
            raise


def _make(ssm: Any, target: Target, content: Mapping[str, Any], name: str) -> None:
    request = {"Name": DOCUMENT_NAME, "Content": json.dumps(content), "VersionName": name, "DocumentFormat": "JSON"}
    with attempted(f"create the document {DOCUMENT_NAME} in {target}", "ssm:CreateDocument", MEASURING):
        try:
            ssm.create_document(**request, DocumentType="Command", TargetType="/AWS::EC2::Instance")
        except ClientError as error:
            if code_of(error) != "DocumentAlreadyExists":
                raise
        else:
            return
    with attempted(f"update the document {DOCUMENT_NAME} in {target}", "ssm:UpdateDocument", MEASURING):
        try:
            ssm.update_document(**request, DocumentVersion="$LATEST", TargetType="/AWS::EC2::Instance")
        except ClientError as error:
            if code_of(error) not in _THERE_ALREADY:  # another of us was faster
                raise


def _checked(found: Mapping[str, Any], content: Mapping[str, Any], target: Target) -> str:
    try:
        same = json.loads(found["Content"]) == content
    except ValueError:
        same = False
    if not same:
        raise CloudError(
            f"cannot run {DOCUMENT_NAME} in {target}: its version {found.get('VersionName')} is not what this Plimsoll "
            "wrote. See who changed it, and delete the document in Systems Manager, Documents: it is made anew."
        )
    return str(found["DocumentVersion"])
