"""Answers to who asked for a validation: the verdict, measured against needed, or why nothing was measured."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict
from slack_sdk import WebClient

from plimsoll.domain.policy import Policy
from plimsoll.service.service import Service
from plimsoll.service.step_messages import Answer, RunId, StepError
from plimsoll.service.step_messages import Message as ServiceMessage
from plimsoll.slack.actions.asked import Asked
from plimsoll.slack.actions.validate import VALIDATE
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.blocks.verdict import Validated, verdict_message
from plimsoll.slack.client import say
from plimsoll.slack.notifications.ledger import asked_for
from plimsoll.validation.job import Job, JobName, find

_GONE: Final = "it has ended, and the store has nothing of its job any more: ask for it again."

_ENDED: Final = {
    "TIMED_OUT": "the validation took longer than it may, and was ended.",
    "ABORTED": "the validation was stopped before its end, by somebody who may do that in Step Functions.",
}
"""How an execution ended that names no error of its own."""


class ExecutionEnded(BaseModel):
    """How an execution ended (docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html, November 2026).

    `name` is the execution's own. Only one that failed has an `error` and a `cause`.
    """

    model_config = ConfigDict(frozen=True)

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


class ValidationEvent(ServiceMessage):
    """The event `Step Functions Execution Status Change` of the validation's state machine."""

    detail: ExecutionEnded

    @property
    def topic(self) -> str:
        """The validation."""
        return self.detail.name


class VerdictPosted(Answer):
    """Whether a verdict was posted: it is where somebody asked for the validation in Slack."""

    validation: str
    posted: bool


def post_verdict(service: Service, ended: ExecutionEnded, client: WebClient) -> VerdictPosted:
    """Answers who asked for a validation in Slack that has ended, in their thread; nobody where nobody did.

    A CloudError is Slack's; after it the same answer may be given again, and twice is better than never. BadInput where
    what is kept is damaged.
    """
    asked = asked_for(ended.name, service.store)
    if asked is None or asked.do != VALIDATE.name or asked.volume is None:
        return VerdictPosted(validation=ended.name, posted=False)
    jobs = list(_jobs(ended.name, service))
    message = verdict_message(_validated(asked, asked.volume, jobs, ended, service.config.parsed_policy))
    _answer(asked, message, client)
    return VerdictPosted(validation=ended.name, posted=True)


def _jobs(validation: str, service: Service) -> Iterator[Job]:
    """The jobs of a validation, which are numbered from 0."""
    for index in count():
        job = find(JobName(validation=validation, index=index), service.store)
        if job is None:
            return
        yield job


def _validated(asked: Asked, volume: str, jobs: Sequence[Job], ended: ExecutionEnded, policy: Policy) -> Validated:
    last = jobs[-1] if jobs else None
    troubles = [*(job.note for job in jobs), ended.trouble if jobs or ended.trouble else _GONE]
    return Validated(
        user=asked.user,
        volume=f"{last.place}/{last.volume_id}" if last else volume,
        measured=[line for job in jobs for line in job.lines],
        p99_allowed_us=policy.max_p99_latency_us,
        problems=[trouble for trouble in troubles if trouble is not None],
        before=last.before if last else None,
        after=last.after if last else None,
    )


def _answer(asked: Asked, message: Message, client: WebClient) -> None:
    """Posts into the asker's thread; where they asked in none, to them alone, which lasts longer than a response_url:
    that is gone after 30 minutes, and a measurement may take longer."""
    in_thread = asked.channel is not None and asked.thread is not None
    place, thread = (asked.channel, asked.thread) if in_thread else (asked.user, None)
    say(client, message, str(place), thread, to=f"answer who asked in {place}")
