"""The validation's messages: the input and output of its functions."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from plimsoll.clouds.registry import volume_pattern
from plimsoll_measure.runs import Mode
from plimsoll_measure.validation.job import JobName
from plimsoll_service.step_messages import AccountName, Region, RunId, StepAnswer, StepError, StepMessage

VolumeName = Annotated[str, StringConstraints(pattern=volume_pattern())]
"""A volume's id, or account/region/id, which need not be searched for."""


MOST_LEFT_NAMED: Final = 100
"""The most sentences on scratch volumes that are left."""


class ValidationInput(BaseModel):
    """The input of a validation's execution: one volume, or a run whose thin evidence is to be measured."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    volume_id: VolumeName | None = None
    target: str | None = None  # `flip` or TYPE[:IOPS[:MIB_S]], by default what is recommended
    mode: Mode = Mode.CANARY
    run_id: RunId | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.volume_id is None) == (self.run_id is None):
            raise ValueError('give either {"volume_id": "vol-..."} or {"run_id": "..."}')
        if self.run_id is not None and (self.target is not None or self.mode is not Mode.CANARY):
            raise ValueError("target and mode are of one volume: leave them out with run_id")
        return self


class ChooseMessage(StepMessage):
    """An execution of the validation: its name, and its input."""

    about = "name"

    name: RunId
    given: ValidationInput = Field(validation_alias=AliasChoices("input", "given"))


class ChosenItem(StepAnswer):
    """A volume that is measured for, and the configuration to measure. None if that is not decided yet."""

    account: str
    region: str
    volume_id: str
    target: str | None
    mode: Mode


class Chosen(StepAnswer):
    """The measurements of a validation."""

    validation: str
    items: list[ChosenItem]
    left_out: int = 0  # measurements that the budget does not allow
    unmeasured: list[str] = Field(default_factory=list)  # why nothing can be measured in some places


class ProposeMessage(StepMessage):
    """An item of a validation, by its number from 0."""

    about = "job.holder"

    validation: RunId
    index: Annotated[int, Field(ge=0)]

    @property
    def job(self) -> JobName:
        """The item's job."""
        return JobName(validation=self.validation, index=self.index)


class JobMessage(StepMessage):
    """The job of an item."""

    about = "job.holder"

    key: str = Field(validation_alias=AliasChoices("job", "work", "key"))

    @property
    def job(self) -> JobName:
        """The item's job. Raises BadInput for a key of something else."""
        return JobName.from_key(self.key)


class LookMessage(JobMessage):
    """A look at a part of the job."""

    at: Literal["volume", "attachment", "command"]


class CleanUpMessage(JobMessage):
    """The job whose scratch volumes are deleted, and why it failed, if it did."""

    error: StepError | None = None


class SweepInput(BaseModel):
    """The input of a sweep: every account, or only those in which a volume may be."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    everywhere: bool = False


class SweepMessage(StepMessage):
    """An execution of the sweep: its name, and its input."""

    about: ClassVar[str] = "name"

    name: RunId
    given: SweepInput = Field(default=SweepInput(), validation_alias=AliasChoices("input", "given"))


class SweepItem(BaseModel):
    """An account that is swept, as an item of a map; without regions, in all that it has enabled."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    account: AccountName
    regions: list[Region] | None = None


class SweepEndMessage(StepMessage):
    """A message about a sweep."""

    about: ClassVar[str] = "sweep"

    sweep: RunId


class SweepAccountMessage(SweepEndMessage):
    """An account of a sweep."""

    account: SweepItem


class SweepPlan(StepAnswer):
    """The number of accounts to sweep, listed under a key."""

    sweep: str
    accounts_key: str
    accounts: int


class SteppedJob(StepAnswer):
    """The job whose step was done."""

    job: str


class Cleaned(SteppedJob):
    """The job that was cleaned up after, and a sentence for each part that is left to the sweep."""

    left: list[str]


class Proposed(SteppedJob):
    """The next step: create a scratch volume, send a command at once, wait for another job of the class, or none."""

    next: Literal["create", "send", "wait", "done"]


class Looked(SteppedJob):
    """The result of a look: ready or not."""

    ready: bool


class ConcludedJob(SteppedJob):
    """The verdict of a measurement, None if there is none; `again` if the same item needs another."""

    again: bool
    passed: bool | None = None
    campaign: str | None = None


class SweptAll(StepAnswer):
    """The counts of a sweep."""

    deleted: int = 0
    left: int = 0  # although due
    alive: int = 0  # until later
    failed: int = 0  # places
    unswept: int = 0  # targets at which a volume may be, by the ledger, and at which nobody could look
    left_behind: list[str] = Field(default_factory=list)  # what stands in the way of some

    def __add__(self, other: "SweptAll") -> "SweptAll":
        sums = {name: getattr(self, name) + getattr(other, name) for name in SweptAll.model_fields}
        return SweptAll(**{**sums, "left_behind": sums["left_behind"][:MOST_LEFT_NAMED]})
