"""The validation's messages: what its functions are given and what they answer."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from plimsoll.clouds.registry import volume_pattern
from plimsoll.domain.evidence.validation_order import Mode
from plimsoll.service.step_messages import Account, Answer, Message, Region, RunId, StepError
from plimsoll.validation.job import JobName

VolumeName = Annotated[str, StringConstraints(pattern=volume_pattern())]
"""A volume's id, or account/region/id, which need not be searched for."""


class ValidationInput(BaseModel):
    """What an execution of the validation is begun with: one volume, or a run whose thin evidence is to be measured.

    `target` is `flip` or TYPE[:IOPS[:MIB_S]], by default what is recommended.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    volume_id: VolumeName | None = None
    target: str | None = None
    mode: Mode = Mode.CANARY
    run_id: RunId | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.volume_id is None) == (self.run_id is None):
            raise ValueError('give either {"volume_id": "vol-..."} or {"run_id": "..."}')
        if self.run_id is not None and (self.target is not None or self.mode is not Mode.CANARY):
            raise ValueError("target and mode are of one volume: leave them out with run_id")
        return self


class ChooseMessage(Message):
    """An execution of the validation: its name, and what it was begun with."""

    about = "name"

    name: RunId
    given: ValidationInput = Field(validation_alias=AliasChoices("input", "given"))


class ChosenItem(Answer):
    """A volume that is measured for, and the configuration that is measured, null where that is yet to be decided."""

    account: str
    region: str
    volume_id: str
    target: str | None
    mode: Mode


class Chosen(Answer):
    """What a validation measures.

    `left_out` is how many measurements its budget does not allow. `unmeasured` has a sentence for some of the places
    where nothing can be measured: it says why.
    """

    validation: str
    items: list[ChosenItem]
    left_out: int = 0
    unmeasured: list[str] = Field(default_factory=list)


class ProposeMessage(Message):
    """An item of a validation, by its number from 0."""

    about = "job.holder"

    validation: RunId
    index: Annotated[int, Field(ge=0)]

    @property
    def job(self) -> JobName:
        """The item's job."""
        return JobName(validation=self.validation, index=self.index)


class JobMessage(Message):
    """The job of an item."""

    about = "job.holder"

    key: str = Field(validation_alias=AliasChoices("job", "work", "key"))

    @property
    def job(self) -> JobName:
        """The item's job; BadInput for a key of something else."""
        return JobName.of(self.key)


class LookMessage(JobMessage):
    """What of the job is looked at."""

    at: Literal["volume", "attachment", "command"]


class CleanUpMessage(JobMessage):
    """The job whose scratch volumes are deleted, and why it failed where it did."""

    error: StepError | None = None


class SweepInput(BaseModel):
    """What a sweep is begun with: whether every account is swept, or those alone in which a volume may be."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    everywhere: bool = False


class SweepMessage(Message):
    """An execution of the sweep: its name, and what it was begun with."""

    about: ClassVar[str] = "name"

    name: RunId
    given: SweepInput = Field(default=SweepInput(), validation_alias=AliasChoices("input", "given"))


class SweepItem(BaseModel):
    """An account that is swept, as an item of a map; without regions in all that it has enabled."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    account: Account
    regions: list[Region] | None = None


class SweepEndMessage(Message):
    """Which sweep is meant."""

    about: ClassVar[str] = "sweep"

    sweep: RunId


class SweepAccountMessage(SweepEndMessage):
    """An account of a sweep."""

    account: SweepItem


class SweepPlan(Answer):
    """How many accounts are swept, listed under a key."""

    sweep: str
    accounts_key: str
    accounts: int


class Stepped(Answer):
    """The job whose step was done."""

    job: str


class Cleaned(Stepped):
    """The job that was cleaned up after, and what of it is left to the sweep, a sentence each."""

    left: list[str]


class Proposed(Stepped):
    """What comes next: to create a scratch volume, to send a command at once, to wait for another's measurement of the
    same class, or nothing more."""

    next: Literal["create", "send", "wait", "done"]


class Looked(Stepped):
    """Whether what is waited for is there."""

    ready: bool


class Concluded(Stepped):
    """Whether there is more to measure for the same item, and what the verdict was; None where there is none."""

    again: bool
    passed: bool | None = None
    campaign: str | None = None


class SweptAll(Answer):
    """How many scratch volumes were deleted, are due and still there, or are not due yet, and how many places could not
    be swept; `left_behind` says of some of those what stands in the way. `unswept` are the targets at which a volume
    may be, by the ledger, and at which nobody could look."""

    deleted: int
    left: int
    alive: int
    failed: int
    unswept: int
    left_behind: list[str]
