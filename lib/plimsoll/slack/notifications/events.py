"""What the notifying functions are given: events of EventBridge, of which only the needed keys are read."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.service.step_messages import Answer, Message, RunId, StepError

_ENDED = {
    "TIMED_OUT": "the validation took longer than it may, and was ended.",
    "ABORTED": "the validation was stopped before its end, by somebody who may do that in Step Functions.",
}
"""How an execution ended that names no error of its own."""


class _Detail(BaseModel):
    """A part of an event; what else it has is no concern of the function."""

    model_config = ConfigDict(frozen=True)


class AuditDetail(_Detail):
    """Which run has been reported."""

    run_id: RunId


class AuditEvent(Message):
    """The event `AuditCompleted` of the service's own bus."""

    detail: AuditDetail

    @property
    def topic(self) -> str:
        """The run."""
        return self.detail.run_id


class ExecutionEnded(_Detail):
    """How an execution ended (docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html, November 2026).

    `name` is the execution's own. Only one that failed has an `error` and a `cause`.
    """

    name: RunId
    status: Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
    error: str | None = None
    cause: str | None = None

    @property
    def trouble(self) -> str | None:
        """What went wrong, in a sentence; None where nothing did."""
        if self.status == "SUCCEEDED":
            return None
        if self.error is None and self.status in _ENDED:
            return _ENDED[self.status]
        return StepError(Error=self.error or "States.Unknown", Cause=self.cause or "").sentence


class ValidationEvent(Message):
    """The event `Step Functions Execution Status Change` of the validation's state machine."""

    detail: ExecutionEnded

    @property
    def topic(self) -> str:
        """The validation."""
        return self.detail.name


class RunPosted(Answer):
    """The channels that have a run's report, and a sentence for each part that is missing there.

    `busy`: another function is posting it now, and this one has posted nothing.
    """

    run_id: str
    channels: list[str] = Field(default_factory=list)
    troubles: list[str] = Field(default_factory=list)
    busy: bool = False


class VerdictPosted(Answer):
    """Whether a verdict was posted: it is where somebody asked for the validation in Slack."""

    validation: str
    posted: bool
