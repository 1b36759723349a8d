"""Run Command: documents sent to simulated hosts are executed on this machine, each in a thread of its own.

Parameters are checked by the document's patterns, and output is cut as AWS cuts it.
"""

import re
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from moto.s3.models import s3_backends
from moto.ssm.models import ssm_backends

from cloud_simulator.aws import managed_instances
from cloud_simulator.aws.fleet import SimulatedHost
from cloud_simulator.aws.managed_instances import tools_of
from cloud_simulator.aws.scratch_volumes import AccountRegion, ceiling_on_host, disk_of
from cloud_simulator.devices.block_devices import Devices
from cloud_simulator.devices.script_runs import Ended, Place, read_share_of, run_script
from cloud_simulator.faults import Effect, Faults, Refused

_DEFAULT_LIMIT_S: Final = 3600
_REFERENCE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A step of a document, ready to run: its name, its shell script, how long it may take, and what it was given."""

    step: str
    text: str
    limit_s: float
    given: Mapping[str, str]


def script_of(content: Mapping[str, Any], parameters: Mapping[str, Sequence[str]]) -> Script:
    """The script of a document of schema 2.2 with these parameters. Raises Refused, with SSM's codes, for a wrong "
    "one."""
    if str(content.get("schemaVersion")) != "2.2":
        raise Refused("InvalidDocumentSchemaVersion", "The version of the document schema is not supported.")
    steps = [step for step in content.get("mainSteps", []) if step.get("action") == "aws:runShellScript"]
    if len(steps) != 1:
        raise Refused("InvalidDocument", f"The simulated hosts run one aws:runShellScript step, not {len(steps)}.")
    (step,) = steps
    values = _values(content.get("parameters", {}), parameters)
    lines = step["inputs"]["runCommand"]
    limit = _fill_in(str(step["inputs"].get("timeoutSeconds", _DEFAULT_LIMIT_S)), values)
    return Script(
        step=step["name"],
        text="\n".join(_fill_in(line, values) for line in ([lines] if isinstance(lines, str) else lines)) + "\n",
        limit_s=float(limit),
        given=values,
    )


def _values(declared: Mapping[str, Any], parameters: Mapping[str, Sequence[str]]) -> dict[str, str]:
    unknown = sorted(parameters.keys() - declared.keys())
    if unknown:
        raise Refused("InvalidParameters", f"The document has no parameters named {', '.join(unknown)}.")
    return {name: _value(name, rule, parameters.get(name)) for name, rule in declared.items()}


def _value(name: str, rule: Mapping[str, Any], texts: Sequence[str] | None) -> str:
    if texts is None:
        if "default" not in rule:
            raise Refused("InvalidParameters", f"Missing required parameter {name}.")
        return str(rule["default"])
    if len(texts) != 1 or rule.get("type", "String") != "String":
        raise Refused("InvalidParameters", f"Parameter {name} takes one String.")
    (value,) = texts
    pattern, allowed = rule.get("allowedPattern"), rule.get("allowedValues")
    fits = (pattern is None or re.fullmatch(pattern, value)) and (allowed is None or value in allowed)
    if not fits or not int(rule.get("minChars", 0)) <= len(value) <= int(rule.get("maxChars", len(value))):
        raise Refused("InvalidParameters", f"Parameter {name} has a value that its pattern does not allow.")
    return value


def _fill_in(text: str, values: Mapping[str, str]) -> str:
    """A text with every `{{ Name }}` of a parameter replaced by its value. Other names stay."""
    return _REFERENCE.sub(lambda match: values.get(match.group(1), match.group(0)), text)


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
        """The key of its whole output in the bucket."""
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


_COMMENT_CHARS: Final = 100
_LEAST_DELIVERY_S: Final = 30
_DELIVERY_S: Final = 3600
_INSPECTION: Final = "inspect"
"""A parameter with this value says that the script only looks, at the host's own devices."""
_VOLUME: Final = re.compile(r"vol-[0-9a-f]{8,17}")
_SLOW: Final = 50
_KEPT_OF_CUT: Final = 200
"""The characters that a fault leaves of an output."""


@dataclass(slots=True)
class RunCommand:
    """The commands of all accounts. Each call raises Refused with Systems Manager's codes."""

    devices: Devices
    faults: Faults = field(default_factory=Faults)
    pace_s: float = 0.3
    _sent: dict[str, Invocation] = field(default_factory=dict, repr=False)

    def answer(self, operation: str, asked: Mapping[str, Any], here: AccountRegion) -> dict[str, Any] | None:
        """The answer to an operation; None for those that are not about hosts and commands."""
        match operation:
            case "DescribeInstanceInformation":
                return managed_instances.describe(asked, here)
            case "SendCommand":
                return {"Command": self._send(asked, here).command()}
            case "GetCommandInvocation":
                return self._invocation(asked["CommandId"], asked["InstanceId"], here).invocation()
            case "CancelCommand":
                self._cancel(asked, here)
                return {}
            case _:
                return None

    def _send(self, asked: Mapping[str, Any], here: AccountRegion) -> Invocation:
        host = _host(asked, here)
        _check(asked)
        version = str(asked.get("DocumentVersion", "$DEFAULT"))
        stored = _find_document(asked["DocumentName"], version, here)
        script = script_of(stored.content_json, asked.get("Parameters", {}))
        sent = Invocation(
            command_id=str(uuid.uuid4()),
            host_id=host.id,
            account=here.account,
            region=here.region,
            document=stored.name,
            version=str(stored.document_version),
            comment=asked.get("Comment", ""),
            script=script,
            bucket=asked.get("OutputS3BucketName") or None,
            prefix=asked.get("OutputS3KeyPrefix", ""),
            pace_s=self.pace_s,
        )
        self._sent[sent.command_id] = sent
        if not self._has_effect(Effect.HANGS, here):
            threading.Thread(target=self._execute, args=(sent, host, here), daemon=True).start()
        return sent

    def _execute(self, sent: Invocation, host: SimulatedHost, here: AccountRegion) -> None:
        if managed_instances.ping_of(host) != managed_instances.ONLINE or self._has_effect(Effect.UNDELIVERED, here):
            sent.ended = Ended(status="TimedOut", details="Delivery Timed Out", code=-1)
        elif self._has_effect(Effect.FAILS, here):
            sent.ended = Ended(status="Failed", details="Failed", code=1, errors="failed to run commands: exit 1")
        else:
            self._run(sent, host, here)

    def _run(self, sent: Invocation, host: SimulatedHost, here: AccountRegion) -> None:
        try:
            place = self._place(sent.script, host, here)
            ended = run_script(sent.script.text, sent.script.limit_s, place, self.devices.folder())
        except OSError as error:
            sent.ended = Ended(status="Failed", details="Failed", code=1, errors=f"the simulated host: {error}")
            return
        if self._has_effect(Effect.CUT, here):
            ended = replace(ended, output=ended.output[:_KEPT_OF_CUT])
        _store(sent, ended)
        sent.ended = ended

    def _place(self, script: Script, host: SimulatedHost, here: AccountRegion) -> Place:
        """The place of a script's run. Volumes of the fleet that it works on get their devices now."""
        named = [text for value in script.given.values() for text in value.split(",") if _VOLUME.fullmatch(text)]
        volume_id = next(iter(named), "")
        host_volumes = [volume for volume in here.volumes() if host in volume.hosts]
        for mounted in (volume for volume in host_volumes if volume.id in named and volume.workload is not None):
            members = (
                [volume for volume in host_volumes if volume.stripe == mounted.stripe] if mounted.stripe else [mounted]
            )
            self.devices.mount([disk_of(member) for member in members], host.id, ceiling_on_host(members, host))
        share = read_share_of(script.given.get("Job", ""))
        surroundings = self.devices.surroundings(host.id, volume_id, share)
        if surroundings.plain is not None and self._has_effect(Effect.SLOW, here):
            full = surroundings.ceiling
            slow = replace(full, iops=full.iops / _SLOW, throughput_mib_s=full.throughput_mib_s / _SLOW)
            surroundings = replace(surroundings, ceiling=slow)
        return Place(
            surroundings=surroundings,
            lock=self.devices.folder() / f"{host.id}.lock",
            read_share=share,
            tools=tools_of(host, host_volumes) if _INSPECTION in script.given.values() else {},
            lacks_fio=self._has_effect(Effect.NO_FIO, here),
        )

    def _cancel(self, asked: Mapping[str, Any], here: AccountRegion) -> None:
        invocation = self._sent.get(asked["CommandId"])
        if invocation is None or invocation.account != here.account or invocation.region != here.region:
            raise Refused("InvalidCommandId", "The command is not known.")
        invocation.cancel()

    def _invocation(self, command_id: str, host_id: str, here: AccountRegion) -> Invocation:
        invocation = self._sent.get(command_id)
        if invocation is None or (invocation.host_id, invocation.account, invocation.region) != (
            host_id,
            here.account,
            here.region,
        ):
            raise Refused("InvocationDoesNotExist", "The command was not sent to this instance.")
        return invocation

    def _has_effect(self, effect: Effect, here: AccountRegion) -> bool:
        return self.faults.has_effect(effect, "SendCommand", here.account, here.region)


def _host(asked: Mapping[str, Any], here: AccountRegion) -> SimulatedHost:
    ids = asked.get("InstanceIds", [])
    if len(ids) != 1:
        raise Refused("ValidationException", "The simulated Run Command takes one instance id a command.")
    host = here.hosts().get(ids[0])
    if host is None or managed_instances.ping_of(host) is None:
        raise Refused("InvalidInstanceId", f"Instances [[{ids[0]}]] not in a valid state for account {here.account}")
    return host


def _check(asked: Mapping[str, Any]) -> None:
    if len(asked.get("Comment", "")) > _COMMENT_CHARS:
        raise Refused("ValidationException", f"The comment is longer than {_COMMENT_CHARS} characters.")
    if int(asked.get("TimeoutSeconds", _DELIVERY_S)) < _LEAST_DELIVERY_S:
        raise Refused("ValidationException", f"TimeoutSeconds is less than {_LEAST_DELIVERY_S}.")


def _find_document(name: str, version: str, here: AccountRegion) -> Any:
    """The document that was created in this place."""
    documents = ssm_backends[here.account][here.region]._documents.get(name)  # moto has no other way
    document = documents and documents.find(None if version == "$DEFAULT" else version, None, strict=False)
    if not document:
        raise Refused("InvalidDocument", f"Document with name {name} does not exist.")
    return document


def _store(sent: Invocation, ended: Ended) -> None:
    """Puts the whole output into the command's bucket, if that exists."""
    storage = s3_backends[sent.account]["aws"]
    if sent.bucket is None or sent.bucket not in storage.buckets:
        return
    for stream, text in (("stdout", ended.output), ("stderr", ended.errors)):
        if text:
            storage.put_object(sent.bucket, sent.key(stream), text.encode())
