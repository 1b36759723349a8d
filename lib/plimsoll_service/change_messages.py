"""The messages of changes: the input and output of their functions."""

from typing import Annotated, ClassVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from plimsoll.clouds.registry import account_pattern, volume_pattern
from plimsoll.reports.steps import Step
from plimsoll_service.step_messages import RunId, StepAnswer, StepMessage

PlanId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]

_VolumeId = Annotated[str, StringConstraints(pattern=volume_pattern())]
_Account = Annotated[str, StringConstraints(pattern=account_pattern())]


class ChangeInput(BaseModel):
    """The input of a plan's execution: a run, and which of its changes. What is empty chooses all."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: RunId
    steps: tuple[Step, ...] = ()
    accounts: tuple[_Account, ...] = ()
    regions: tuple[str, ...] = ()
    volume_ids: tuple[_VolumeId, ...] = ()


class PlanChangesMessage(StepMessage):
    """An execution that plans: its name, and its input."""

    about = "name"

    name: RunId
    given: ChangeInput = Field(validation_alias=AliasChoices("input", "given"))


class PlannedChanges(StepAnswer):
    """A plan that nobody has approved yet: the digest that an approval repeats, and what it would do."""

    plan: PlanId
    digest: str
    lines: int
    left_out: int
    saved_usd_month: float


class FindChangesMessage(StepMessage):
    """An execution that carries plans on, by its name."""

    about: ClassVar[str] = "name"

    name: RunId


class FoundChanges(StepAnswer):
    """The plans whose next pass is due."""

    plans: list[PlanId]


class ApplyChangesMessage(StepMessage):
    """A plan, and the execution that takes its next pass."""

    about = "plan"

    plan: PlanId
    name: RunId


class AppliedChanges(StepAnswer):
    """The state of a plan after a pass; `halt` says why nothing of it begins, null if changes may begin."""

    plan: PlanId
    under_way: int
    halt: str | None
