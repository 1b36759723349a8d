"""Run Command: the document, a task sent to one host, what came of it, and its whole output."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from botocore.exceptions import ClientError
from pydantic import Field

from plimsoll.clouds.aws.errors import CLEANING, MEASURING, PROBING, WRITING_DOCUMENT, code_of, translate_errors
from plimsoll.clouds.aws.lists import Asker, AwsAnswer
from plimsoll.clouds.aws.names import PROBE_DOCUMENT_NAME
from plimsoll.clouds.aws.objects import every_key
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.answers import read_answer
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import CloudError
from plimsoll.model.task import Task, TaskEnd, TaskOutcome
from plimsoll.ports import Target
from plimsoll_measure.bench.document import document, document_name, parameters_of, version_name

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


CUT_CHARS: Final = 24_000
"""What GetCommandInvocation gives of a standard output at most (AWS Systems Manager API Reference, read 2026-11-20)."""

RESULTS_PREFIX: Final = "plimsoll"
"""Where whole outputs are in the bucket of results."""

LOOKS: Final = 10
"""How often a version that has just been made is looked for, a second apart, until it can be run."""

_MISSING: Final = {"InvalidDocument", "InvalidDocumentVersion"}
_THERE_ALREADY: Final = {"DuplicateDocumentVersionName", "DuplicateDocumentContent"}


_SEND: Final = "ssm:SendCommand"
_INVOCATION: Final = "ssm:GetCommandInvocation"
_DOCUMENT: Final = "ssm:GetDocument"


class Command(AwsAnswer):
    """A command that was sent."""

    command_id: Annotated[str, Field(min_length=1)]


class Sent(AwsAnswer):
    """The answer to sending one."""

    command: Command


class Invocation(AwsAnswer):
    """The outcome of a command on one host."""

    status: Annotated[str, Field(min_length=1)]
    status_details: str | None = None
    response_code: int = -1
    standard_output_content: str = ""
    standard_error_content: str = ""


class Document(AwsAnswer):
    """A version of the document."""

    content: str
    document_version: Annotated[str, Field(min_length=1)]
    version_name: str | None = None
    status: str = "Active"


@dataclass(kw_only=True)
class RunCommand:
    """Tasks by Run Command. Outputs go to the bucket `results` too; without one they are cut where the API cuts them.

    The hosts' instance profiles must be allowed to put them there. `tags` are given to a document that is made.
    """

    sessions: Sessions
    tags: Mapping[str, str] = field(default_factory=dict)
    results: str | None = None
    sleep: Callable[[float], None] = time.sleep
    _versions: dict[tuple[Target, str], str] = field(default_factory=dict, repr=False)

    def send(self, target: Target, host_id: str, task: Task) -> str:
        """SendCommand with this version's document, which is made in the target where it is missing."""
        ssm, name = self._ssm(target), document_name(task)
        if (target, name) not in self._versions:
            self._versions[target, name] = ensure_document(ssm, target, name, self.sleep, tags=self.tags)
        volumes = task.volume_id or " ".join(task.volume_ids)
        request: dict[str, Any] = {
            "InstanceIds": [host_id],
            "DocumentName": name,
            "DocumentVersion": self._versions[target, name],
            "TimeoutSeconds": DELIVERY_S,
            "Comment": f"plimsoll {task.mode.value} {volumes}".strip()[:_COMMENT_CHARS],
            "Parameters": parameters_of(task),
        }
        if self.results is not None:
            request |= {"OutputS3BucketName": self.results, "OutputS3KeyPrefix": RESULTS_PREFIX}
        if task.alarm is not None:
            # Without the alarm's state there is no circuit breaker, so then the command is to stop as well.
            request["AlarmConfiguration"] = {"Alarms": [{"Name": task.alarm}], "IgnorePollAlarmFailure": False}
        with translate_errors(f"run {name} on {host_id} in {target}", _SEND, _purpose(name)):
            sent = ssm.send_command(**request)
        return read_answer(Sent, sent, call=_SEND, place=f"the command on {host_id} in {target}").command.command_id

    def outcome(self, target: Target, host_id: str, command_id: str) -> TaskOutcome | None:
        """GetCommandInvocation, and S3 for what it cuts. A host whose agent died stays None.

        A command that was only just sent is not known yet, which is None as well.
        """
        what = f"read the result of command {command_id} on {host_id} in {target}"
        asker = Asker(place=f"the result of command {command_id} on {host_id} in {target}")
        with translate_errors(what, _INVOCATION, MEASURING):
            try:
                ask = self._ssm(target).get_command_invocation
                invocation = asker.one(Invocation, ask, _INVOCATION, CommandId=command_id, InstanceId=host_id)
            except ClientError as error:
                if code_of(error) == "InvocationDoesNotExist":
                    return None
                raise
        if invocation.status in _RUNNING:
            return None
        details = invocation.status_details or invocation.status
        end = _ENDS.get(_plain(details)) or _ENDS.get(_plain(invocation.status)) or TaskEnd.FAILED
        reason = "" if end is TaskEnd.SUCCESS else _reason(invocation, details)
        output = invocation.standard_output_content
        if self.results is not None and len(output) >= CUT_CHARS:
            # A bucket that cannot be read loses no measurement: the answer's line comes first in the output, so that
            # it is often whole.
            try:
                output = self._read_output(self.results, target, host_id, command_id) or output
            except CloudError as error:
                reason = "; ".join(filter(None, (reason, str(error))))
        return TaskOutcome(end=end, output=output, reason=reason)

    def cancel(self, target: Target, host_id: str, command_id: str) -> None:
        """CancelCommand: the process may go on until the document's own limit."""
        with translate_errors(f"cancel command {command_id} on {host_id} in {target}", "ssm:CancelCommand", CLEANING):
            self._ssm(target).cancel_command(CommandId=command_id, InstanceIds=[host_id])

    def _read_output(self, bucket: str, target: Target, host_id: str, command_id: str) -> str:
        """All that the command's steps printed to standard output, empty where nothing has arrived."""
        s3 = self.sessions.client("s3", target.account, target.region)
        folder = f"{RESULTS_PREFIX}/{command_id}/{host_id}/"
        what = f"read the whole output of command {command_id} in s3://{bucket}/{folder}"
        with translate_errors(what, "s3:ListBucket", MEASURING):
            keys = list(every_key(s3, bucket, folder))
        with translate_errors(what, "s3:GetObject", MEASURING):
            parts = [
                s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in sorted(keys) if key.endswith("/stdout")
            ]
        return b"".join(parts).decode("utf-8", errors="replace")

    def _ssm(self, target: Target) -> Any:
        return self.sessions.client("ssm", target.account, target.region)


def _plain(status: str) -> str:
    return status.replace(" ", "").lower()


def _reason(invocation: "Invocation", details: str) -> str:
    """The end, the exit code if there was one, and the last thing that the script complained of."""
    text = f"status {details}"
    if invocation.response_code > 0:
        text += f", exit code {invocation.response_code}"
    lines = [line.strip() for line in invocation.standard_error_content.splitlines() if line.strip()]
    complaints = [line for line in lines if not line.startswith(_NOISE)]
    return f"{text}: {complaints[-1].rstrip('.')}" if complaints else text


def ensure_document(
    ssm: Any, target: Target, document_name: str, sleep: Callable[[float], None], *, tags: Mapping[str, str]
) -> str:
    """The number of the document's version that is exactly this Plimsoll's document of that name.

    A version is found by its name, which is the content's hash; its content is then compared. Commands name the version
    that they run. So the default version stays as it is, and two versions of Plimsoll do not disturb each other.
    """
    content = document(document_name)
    version = version_name(document_name)
    answer = _version(ssm, target, document_name, version)
    if answer is None:
        _make(ssm, target, document_name, content, version, tags)
    for look in range(LOOKS):
        if answer is not None and answer.status == "Active":
            return _check_content(answer, document_name, content, target)
        if look:
            sleep(1.0)
        answer = _version(ssm, target, document_name, version)
    status = answer.status if answer else "missing"
    raise CloudError(
        f"cannot run {document_name} in {target}: its version {version} is {status}. Run "
        "again; if it stays so, delete the document in Systems Manager, Documents."
    )


def _purpose(document_name: str) -> CallPurpose:
    """The purpose that a refusal of a document names."""
    return PROBING if document_name == PROBE_DOCUMENT_NAME else MEASURING


def _version(ssm: Any, target: Target, document_name: str, version: str) -> Document | None:
    what = f"the document {document_name} in {target}"
    asker = Asker(place=what)
    request: dict[str, Any] = {"Name": document_name, "VersionName": version, "DocumentFormat": "JSON"}
    with translate_errors(f"read {what}", _DOCUMENT, _purpose(document_name)):
        try:
            return asker.one(Document, ssm.get_document, _DOCUMENT, **request)
        except ClientError as error:
            if code_of(error) in _MISSING:
                return None
            raise


def _make(
    ssm: Any, target: Target, document_name: str, content: Mapping[str, Any], version: str, tags: Mapping[str, str]
) -> None:
    request = {"Name": document_name, "Content": json.dumps(content), "VersionName": version, "DocumentFormat": "JSON"}
    purpose = PROBING if document_name == PROBE_DOCUMENT_NAME else WRITING_DOCUMENT
    with translate_errors(f"create the document {document_name} in {target}", "ssm:CreateDocument", purpose):
        try:
            ssm.create_document(
                **request,
                DocumentType="Command",
                TargetType="/AWS::EC2::Instance",
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
        except ClientError as error:
            if code_of(error) != "DocumentAlreadyExists":
                raise
        else:
            return
    with translate_errors(f"update the document {document_name} in {target}", "ssm:UpdateDocument", purpose):
        try:
            ssm.update_document(**request, DocumentVersion="$LATEST", TargetType="/AWS::EC2::Instance")
        except ClientError as error:
            if code_of(error) not in _THERE_ALREADY:  # another of us was faster
                raise


def _check_content(answer: Document, document_name: str, content: Mapping[str, Any], target: Target) -> str:
    try:
        same = json.loads(answer.content) == content
    except ValueError:
        same = False
    if not same:
        raise CloudError(
            f"cannot run {document_name} in {target}: its version {answer.version_name} is not what this Plimsoll "
            "wrote. See who changed it, and delete the document in Systems Manager, Documents: it is made anew."
        )
    return answer.document_version
