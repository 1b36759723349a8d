"""The deployed service's claims in DynamoDB, its EventBridge bus, Step Functions, and a function of its own.

The function that answers Slack imports this too, so it imports nothing that an audit needs.
"""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError
from pydantic import AwareDatetime, Field, model_validator

from plimsoll.clouds.aws.errors import DECIDING, KEEPING, cloud_error, translate_errors
from plimsoll.clouds.aws.lists import Asker, AwsAnswer, Page
from plimsoll.clouds.aws.names import CLAIM_PREFIX, EVENT_SOURCE
from plimsoll.clouds.common.answers import CloudAnswer, bad_answer, read_answer
from plimsoll.clouds.common.calls import in_lots, send_all
from plimsoll.model.errors import BadInput, Unanswered

_FREE: Final = "attribute_not_exists(id) OR expiration <= :now OR #holder = :holder"
_HELD: Final = "#holder = :holder"
_NAMES: Final = {"#holder": "holder"}
_EXECUTIONS: Final = "states:ListExecutions"


class Text(CloudAnswer):
    """A text as DynamoDB has it."""

    text: str = Field(alias="S")


class Number(CloudAnswer):
    """A number as DynamoDB has it."""

    number: float = Field(alias="N")


class Claim(CloudAnswer):
    """A claim's item."""

    holder: Text
    expiration: Number


class Claimed(AwsAnswer):
    """The answer to looking a claim up; without an item nobody has it."""

    item: Claim | None = None


class PutEntry(AwsAnswer):
    """The outcome of one event: an id, or why it was not taken."""

    event_id: str | None = None
    error_code: str | None = None
    error_message: str = ""

    @model_validator(mode="after")
    def _check_outcome(self) -> "PutEntry":
        if not (self.event_id or self.error_code):
            raise ValueError("EventId is missing")
        return self


class Put(AwsAnswer):
    """The outcomes of events, in their order."""

    entries: tuple[PutEntry, ...]


class Execution(CloudAnswer):
    """An execution that runs."""

    arn: str = Field(alias="executionArn")
    name: str
    began: AwareDatetime = Field(alias="startDate")


class ExecutionsPage(Page):
    """A page of executions."""

    executions: tuple[Execution, ...] = Field(alias="executions")
    next_token: str | None = Field(default=None, alias="nextToken")


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoClaims:
    """Items of a table with the key `id` and, as its time to live, `expiration` in epoch seconds.

    `client` is boto3's of DynamoDB. A claim ends with the whole second in which its time is up.
    """

    table: str
    client: Any

    def claim(self, key: str, holder: str, until: datetime, now: datetime) -> bool:
        """Takes a key for a holder until that time; False where another has it."""
        item = {**_id(key), "holder": {"S": holder}, "expiration": {"N": str(math.ceil(until.timestamp()))}}
        with self._translate_errors("claim", key, "dynamodb:PutItem"):
            try:
                self.client.put_item(
                    TableName=self.table,
                    Item=item,
                    ConditionExpression=_FREE,
                    ExpressionAttributeNames=_NAMES,
                    ExpressionAttributeValues={":now": {"N": str(now.timestamp())}, ":holder": {"S": holder}},
                )
            except self.client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def release(self, key: str, holder: str) -> None:
        """Gives a key up; another's stays."""
        with self._translate_errors("release", key, "dynamodb:DeleteItem"):
            try:
                self.client.delete_item(
                    TableName=self.table,
                    Key=_id(key),
                    ConditionExpression=_HELD,
                    ExpressionAttributeNames=_NAMES,
                    ExpressionAttributeValues={":holder": {"S": holder}},
                )
            except self.client.exceptions.ConditionalCheckFailedException:
                return  # another has it, or nobody any more

    def holder(self, key: str, now: datetime) -> str | None:
        """Who has a key now, None where nobody has."""
        with self._translate_errors("look up", key, "dynamodb:GetItem"):
            answer = self.client.get_item(TableName=self.table, Key=_id(key), ConsistentRead=True)
        item = read_answer(Claimed, answer, call="dynamodb:GetItem", place=f"{key} in the table {self.table}").item
        return None if item is None or item.expiration.number <= now.timestamp() else item.holder.text

    def _translate_errors(self, verb: str, key: str, permission: str) -> AbstractContextManager[None]:
        return translate_errors(f"{verb} {key} in the table {self.table}", permission, KEEPING)


def _id(key: str) -> Mapping[str, Mapping[str, str]]:
    return {"id": {"S": f"{CLAIM_PREFIX}{key}"}}


ENTRIES_A_CALL: Final = 10
BYTES_A_CALL: Final = 1_000_000
"""Limits of one PutEvents call: 10 entries, and less than 1 MB (Amazon EventBridge API Reference, read 2026-11-21)."""

BusEntry = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BusEvents:
    """Events of the source "plimsoll". `client` is boto3's of EventBridge; `sleep` waits before another attempt."""

    bus: str
    client: Any
    sleep: Callable[[float], None] = time.sleep

    def send(self, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Puts every event on the bus; CloudError where one is not taken after the retries, with the last reason."""
        what = f"send events to the bus {self.bus}"
        refusals: list[PutEntry] = []

        def put(entries: Sequence[BusEntry]) -> Sequence[BusEntry]:
            with translate_errors(what, "events:PutEvents", KEEPING):
                answer = self.client.put_events(Entries=list(entries))
            outcomes = read_answer(Put, answer, call="events:PutEvents", place=f"the bus {self.bus}").entries
            if len(outcomes) != len(entries):
                reason = f"it has {len(outcomes)} Entries for {len(entries)}"
                raise bad_answer(reason, answer, call="events:PutEvents", place=f"the bus {self.bus}")
            failed = [(entry, answer) for entry, answer in zip(entries, outcomes, strict=True) if answer.error_code]
            refusals[:] = [answer for _entry, answer in failed]
            return [entry for entry, _answer in failed]

        # One that is too long by itself is left to EventBridge to refuse.
        entries = [self._entry(kind, detail) for kind, detail in events]
        for lot in in_lots(entries, count=ENTRIES_A_CALL, weight=BYTES_A_CALL, weigh=_bytes):
            if send_all(lot, put, self.sleep):
                last = refusals[-1]
                body: Any = {"Error": {"Code": last.error_code, "Message": last.error_message}}
                raise cloud_error(ClientError(body, "PutEvents"), what, "events:PutEvents", KEEPING)

    def _entry(self, kind: str, detail: Mapping[str, Any]) -> BusEntry:
        written = json.dumps(dict(detail), allow_nan=False, ensure_ascii=False)
        return {"Source": EVENT_SOURCE, "DetailType": kind, "Detail": written, "EventBusName": self.bus}


def _bytes(entry: BusEntry) -> int:
    return sum(len(text.encode()) for text in entry.values())


_PARTS: Final = 8
"""Of an execution's ARN: arn:PARTITION:states:REGION:ACCOUNT:execution:MACHINE:NAME."""


NOT_DEPLOYED: Final[Mapping[str, str]] = {
    "audit": "this part of the service does not know the state machine of its audits: deploy the service again.",
    "validation": "this service has no validation: deploy it without with_validation=false.",
    "probe": "this service has no probe: deploy it with with_probe=true.",
}
"""What is said of a kind of run that cannot be begun from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecutions:
    """Executions by ARN. `client` is boto3's of Step Functions; `machines` are the ARNs of those to begin, by kind."""

    client: Any
    machines: Mapping[str, str] = field(default_factory=dict)

    def older(self, execution: str, started: datetime) -> str | None:
        """The name of the oldest execution that runs and was begun before this one; of two begun at once, the first by
        name.

        Step Functions lists with a delay. Where this one is not in the list yet, it was begun when it says.
        """
        machine = machine_of(execution)
        asker = Asker(place=machine)
        request: dict[str, Any] = {"stateMachineArn": machine, "statusFilter": "RUNNING"}
        with translate_errors(f"list the executions of {machine}", _EXECUTIONS, KEEPING):
            pages = asker.pages(
                ExecutionsPage, self.client.list_executions, _EXECUTIONS, asks_with="nextToken", **request
            )
            running = {entry.arn: (entry.began, entry.name) for page in pages for entry in page.executions}
        this = running.get(execution, (started, execution.rsplit(":", 1)[-1]))
        oldest = min(running.values(), default=this)
        return oldest[1] if oldest < this else None

    def begin(self, kind: Literal["audit", "validation", "probe"], name: str, inputs: Mapping[str, Any]) -> bool:
        """Begins an execution of that name; False where one of that name was begun before, which goes on.

        Step Functions answers a second start with the same input as it did the first, so that it is asked before. It
        remembers a name for 90 days after the execution's end. BadInput where the kind is not deployed.
        """
        machine = self.machines.get(kind)
        if not machine:
            raise BadInput(NOT_DEPLOYED[kind])
        if self._is_begun(machine, name):
            return False
        with translate_errors(f"begin {name} of {machine}", "states:StartExecution", DECIDING):
            try:
                self.client.start_execution(stateMachineArn=machine, name=name, input=json.dumps(dict(inputs)))
            except self.client.exceptions.ExecutionAlreadyExists:
                return False
        return True

    def _is_begun(self, machine: str, name: str) -> bool:
        with translate_errors(f"look whether {machine} began {name}", "states:DescribeExecution", DECIDING):
            try:
                self.client.describe_execution(
                    executionArn=f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"
                )
            except self.client.exceptions.ExecutionDoesNotExist:
                return False
        return True


def machine_of(execution: str) -> str:
    """The ARN of the state machine of an execution; BadInput for what is no execution's ARN."""
    parts = execution.split(":")
    if len(parts) != _PARTS or parts[2] != "states" or parts[5] != "execution":
        raise BadInput(f"{execution} is no ARN of an execution of a standard state machine.")
    return ":".join([*parts[:5], "stateMachine", parts[6]])


HANDING: Final = replace(KEEPING, goes_on="Nothing of it was done", again="ask again later")


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaWorker:
    """A function by its name or ARN; `client` is boto3's of Lambda."""

    function: str
    client: Any

    def hand_over(self, message: str) -> None:
        """Hands over a message, JSON of at most 1 MB (Lambda's quota for asynchronous events, 2026); CloudError.

        Unanswered where it may have been taken all the same; so the same message may come to the function twice.
        """
        what = f"hand a request over to the function {self.function}"
        with translate_errors(what, "lambda:InvokeFunction", HANDING):
            try:
                self.client.invoke(FunctionName=self.function, InvocationType="Event", Payload=message.encode())
            except (ReadTimeoutError, ConnectionClosedError) as error:
                raise Unanswered(
                    f"cannot {what}: Lambda took the request and did not answer ({type(error).__name__}), "
                    "so it may or may not be carried out. Wait for its answer, and ask again if none "
                    "comes."
                ) from error
