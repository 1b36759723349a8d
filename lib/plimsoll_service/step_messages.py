"""The audit's messages: the input and output of its functions, as the state machine passes them on.

They are small whatever the fleet: large data lies in the store, and its key is passed.
"""

import json
from json import JSONDecodeError
from operator import attrgetter
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AliasChoices, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from plimsoll.clouds.registry import account_pattern, region_pattern
from plimsoll.clouds.targets import named_target
from plimsoll.model import errors
from plimsoll.model.errors import PlimsollError
from plimsoll.ports import Target
from plimsoll_service.store_keys import VolumeBatch

RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@+=-]{0,79}$")]
"""A run's name, which stands in keys: as Step Functions names executions, without what separates folders."""

AccountName = Annotated[str, StringConstraints(pattern=account_pattern())]
Region = Annotated[str, StringConstraints(pattern=region_pattern())]

_LONGEST: Final = 1000
"""The kept part of a cause, in characters: Lambda's own may hold a traceback."""

_CONFIG: Final = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)
"""Other keys that a state passes on are ignored."""


class StepMessage(BaseModel):
    """A message to a function; `about` is the path to the name of its subject."""

    model_config = _CONFIG

    about: ClassVar[str] = "run_id"

    @property
    def topic(self) -> str:
        """The common key of its log lines: the run, or another subject."""
        return str(attrgetter(self.about)(self))


class StepAnswer(BaseModel):
    """The answer of a function."""

    model_config = _CONFIG


class RunMessage(StepMessage):
    """A message about a run."""

    run_id: RunId


class AuditInput(BaseModel):
    """The input of an audit's execution: nothing, or the run to go on with."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: RunId | None = None


class PlanMessage(StepMessage):
    """An execution of the audit: its ARN, its name, its start, and its input."""

    execution: str
    name: RunId
    started: AwareDatetime
    given: AuditInput = Field(default=AuditInput(), validation_alias=AliasChoices("input", "given"))

    @property
    def run_id(self) -> str:
        """The run to go on with, or a new one with the execution's name."""
        return self.given.run_id or self.name


class AuditPlan(StepAnswer):
    """The plan of an audit: whether it goes on now, and how many accounts are listed under a key."""

    run_id: str
    state: Literal["go", "wait", "stop"]
    busy_with: str | None
    accounts_key: str
    accounts: int


class AccountItem(BaseModel):
    """An account, or a project, as an item of a map."""

    model_config = _CONFIG

    account: AccountName


class TargetItem(BaseModel):
    """A target as an item of a map; its account tells its cloud."""

    model_config = _CONFIG

    account: AccountName
    region: Region

    @classmethod
    def from_target(cls, target: Target) -> "TargetItem":
        return cls(account=target.account, region=target.region)

    @property
    def target(self) -> Target:
        return named_target(self.account, self.region)


class BatchItem(TargetItem):
    """A batch as an item of a map."""

    batch: Annotated[int, Field(ge=0)]

    @classmethod
    def from_batch(cls, batch: VolumeBatch) -> "BatchItem":
        return cls(account=batch.target.account, region=batch.target.region, batch=batch.number)

    @property
    def as_batch(self) -> VolumeBatch:
        return VolumeBatch(target=self.target, number=self.batch)


class AccountMessage(RunMessage):
    """An account of a run."""

    account: AccountItem


class TakenInventory(StepAnswer):
    """The number of an account's targets that have not been asked for their inventory; 0 if it is done."""

    left: int


class BatchMessage(RunMessage):
    """A batch of a run, read while `sharing` batches share its quota."""

    batch: BatchItem
    sharing: Annotated[int, Field(ge=1)] = 1


class LotItem(BaseModel):
    """Batches that one function audits, as an item of a map, and how many items share their quota."""

    model_config = _CONFIG

    batches: list[BatchItem]
    sharing: Annotated[int, Field(ge=1)]


class LotMessage(RunMessage):
    """A lot of a run."""

    lot: LotItem


class Audited(StepAnswer):
    """The number of a lot's batches without an answer."""

    left: int


class PendingMessage(RunMessage):
    """A run, and how many items of its map are under way at once."""

    at_once: Annotated[int, Field(ge=1)] = 1


class ShardItem(BaseModel):
    """A shard as an item of a map, by its number."""

    model_config = _CONFIG

    number: Annotated[int, Field(ge=0)]


class ShardMessage(RunMessage):
    """A shard of a run."""

    shard: ShardItem


class Pending(StepAnswer):
    """The number of batches to audit, listed in lots under a key; if there are none, of shards to combine."""

    run_id: str
    pending_key: str
    pending: int
    shards_key: str
    shards: int


class StepError(BaseModel):
    """An error as Step Functions hands it on: the exception's name, and Lambda's account of it, mostly JSON."""

    model_config = _CONFIG

    error: str = Field(default="States.Unknown", alias="Error")
    cause: str = Field(default="", alias="Cause")

    @property
    def sentence(self) -> str:
        """A sentence on the error: our own errors are sentences, others are told by their names as well."""
        message = self._message
        if _is_ours(self.error) and message:
            return message
        return f"{self.error}: {message}" if message else f"{self.error}, and Step Functions tells no more."

    @property
    def _message(self) -> str:
        """The message in the cause: Lambda writes one as JSON, other services as text."""
        try:
            cause = json.loads(self.cause)
        except JSONDecodeError:
            cause = self.cause
        message = cause.get("errorMessage") if isinstance(cause, dict) else cause
        return " ".join(str(message or "").split())[:_LONGEST]


class FailureMessage(RunMessage):
    """A failure for good in a run: of an account's inventory, or of a lot of batches."""

    account: AccountItem | None = None
    lot: LotItem | None = None
    error: StepError


class Summarized(StepAnswer):
    """The end of a run."""

    run_id: str
    status: Literal["complete", "partial"]


class Reported(Summarized):
    """The end of a run, its report's place, and its main figures; money is USD a month."""

    report: str
    volumes: int
    saved_usd_month: float


def _is_ours(name: str) -> bool:
    kind = getattr(errors, name, None)
    return isinstance(kind, type) and issubclass(kind, PlimsollError)
