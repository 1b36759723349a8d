"""The audit's messages: what its functions are told and what they answer, as the state machine passes them on.

They are small whatever the fleet: what is big lies in the store, and its key is passed.
"""

import json
from json import JSONDecodeError
from operator import attrgetter
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AliasChoices, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from plimsoll.clouds.registry import account_pattern, region_pattern
from plimsoll.clouds.targets import named_target
from plimsoll.domain import errors
from plimsoll.domain.errors import PlimsollError
from plimsoll.ports import Target
from plimsoll.service.store_keys import Batch

RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@+=-]{0,79}$")]
"""A run's name, which stands in keys: as Step Functions names executions, without what separates folders."""

Account = Annotated[str, StringConstraints(pattern=account_pattern())]
Region = Annotated[str, StringConstraints(pattern=region_pattern())]

_LONGEST: Final = 1000
"""How much of a cause is kept, in characters: Lambda's own may hold a traceback."""

_CONFIG: Final = ConfigDict(frozen=True, populate_by_name=True, defer_build=True)
"""What a state passes on besides is no concern of the function."""


class Message(BaseModel):
    """Something that a function is told; `about` is the path to what names it."""

    model_config = _CONFIG

    about: ClassVar[str] = "run_id"

    @property
    def topic(self) -> str:
        """What its log lines have in common: the run, or whatever else this is about."""
        return str(attrgetter(self.about)(self))


class Answer(BaseModel):
    """What a function answers."""

    model_config = _CONFIG


class RunMessage(Message):
    """Which run is meant."""

    run_id: RunId


class AuditInput(BaseModel):
    """What an execution of the audit is begun with: nothing, or the run to go on with."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: RunId | None = None


class PlanMessage(Message):
    """An execution of the audit: its ARN, its name, when it started, and what it was begun with."""

    execution: str
    name: RunId
    started: AwareDatetime
    given: AuditInput = Field(default=AuditInput(), validation_alias=AliasChoices("input", "given"))

    @property
    def run_id(self) -> str:
        """The run to go on with, or a new one with the execution's name."""
        return self.given.run_id or self.name


class AuditPlan(Answer):
    """Whether the audit goes on now, and how many accounts it takes the inventory of, listed under a key."""

    run_id: str
    state: Literal["go", "wait", "stop"]
    busy_with: str | None
    accounts_key: str
    accounts: int


class AccountItem(BaseModel):
    """An account, or a project, as an item of a map."""

    model_config = _CONFIG

    account: Account


class TargetItem(BaseModel):
    """A target as an item of a map; its account tells its cloud."""

    model_config = _CONFIG

    account: Account
    region: Region

    @classmethod
    def of(cls, target: Target) -> "TargetItem":
        """The item of a target."""
        return cls(account=target.account, region=target.region)

    @property
    def target(self) -> Target:
        """The target."""
        return named_target(self.account, self.region)


class BatchItem(TargetItem):
    """A batch as an item of a map."""

    batch: Annotated[int, Field(ge=0)]

    @classmethod
    def of_batch(cls, batch: Batch) -> "BatchItem":
        """The item of a batch."""
        return cls(account=batch.target.account, region=batch.target.region, batch=batch.number)

    @property
    def whole(self) -> Batch:
        """The batch."""
        return Batch(target=self.target, number=self.batch)


class AccountMessage(RunMessage):
    """An account of a run."""

    account: AccountItem


class Taken(Answer):
    """How many of an account's targets are yet to be asked for their inventory; none where it is done."""

    left: int


class BatchMessage(RunMessage):
    """A batch of a run, which is read while so many share its quota."""

    batch: BatchItem
    sharing: Annotated[int, Field(ge=1)] = 1


class LotItem(BaseModel):
    """Batches that one function audits, as an item of a map, and how many such items share a quota of theirs."""

    model_config = _CONFIG

    batches: list[BatchItem]
    sharing: Annotated[int, Field(ge=1)]


class LotMessage(RunMessage):
    """A lot of a run."""

    lot: LotItem


class Audited(Answer):
    """How many of a lot's batches have no answer yet."""

    left: int


class PendingMessage(RunMessage):
    """Which run is meant, and how many items of its map are under way at once."""

    at_once: Annotated[int, Field(ge=1)] = 1


class ShardItem(BaseModel):
    """A shard as an item of a map, by its number."""

    model_config = _CONFIG

    number: Annotated[int, Field(ge=0)]


class ShardMessage(RunMessage):
    """A shard of a run."""

    shard: ShardItem


class Pending(Answer):
    """How many batches are to be audited, listed in lots under a key; where none are, how many shards are to be
    combined."""

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
        """What went wrong, as people read it: our own errors are sentences, others are told by their names as well."""
        said = self._said
        if _is_ours(self.error) and said:
            return said
        return f"{self.error}: {said}" if said else f"{self.error}, and Step Functions tells no more."

    @property
    def _said(self) -> str:
        """The message in the cause: Lambda writes one as JSON, other services as text."""
        try:
            found = json.loads(self.cause)
        except JSONDecodeError:
            found = self.cause
        message = found.get("errorMessage") if isinstance(found, dict) else found
        return " ".join(str(message or "").split())[:_LONGEST]


class FailureMessage(RunMessage):
    """What failed for good in a run: an account's inventory, or a lot of batches."""

    account: AccountItem | None = None
    lot: LotItem | None = None
    error: StepError


class Summarized(Answer):
    """How a run ended."""

    run_id: str
    status: Literal["complete", "partial"]


class Reported(Summarized):
    """How a run ended, where its report lies, and its main figures; money is USD a month."""

    report: str
    volumes: int
    saved_usd_month: float


def _is_ours(name: str) -> bool:
    kind = getattr(errors, name, None)
    return isinstance(kind, type) and issubclass(kind, PlimsollError)
