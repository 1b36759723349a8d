"""Answers to who asked for a validation: the verdict, measured against needed, or why nothing was measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from slack_sdk import WebClient

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.model.policy import Policy
from plimsoll.ports import RunStore
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import GRADE_WORDS, change_words, count_of, duration, outcome_text
from plimsoll_measure.validation.job import Job, JobName, find_job
from plimsoll_service.service import Service
from plimsoll_service.slack.actions.asked import SlackRequest, asked_key
from plimsoll_service.slack.actions.validate import VALIDATE_ACTION
from plimsoll_service.slack.blocks.elements import (
    SENTENCE_CHARACTERS,
    Block,
    bold,
    bullets,
    line,
    note,
    paragraph,
    person,
)
from plimsoll_service.slack.blocks.message import SlackMessage
from plimsoll_service.slack.client import say
from plimsoll_service.slack.notifications.posting import damaged_key
from plimsoll_service.step_messages import RunId, StepAnswer, StepError
from plimsoll_service.step_messages import StepMessage as ServiceMessage

_GONE: Final = "it has ended, but its result is no longer kept: validate again."

_ENDED: Final = {
    "TIMED_OUT": "the validation took longer than it may, and was ended.",
    "ABORTED": "the validation was stopped before its end, by somebody who may do that in Step Functions.",
}
"""The end of an execution that names no error of its own."""


_MOST: Final = 3
"""Measurements, reasons of each and problems that one message tells of, the last ones: a volume has three rounds."""

_CAMPAIGN: Final = 100
"""Characters of a campaign's name, which is made of a region, a time and a few more."""


class ExecutionEnded(BaseModel):
    """The end of an execution (docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html, November 2026).

    `name` is the execution's own. Only one that failed has an `error` and a `cause`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: RunId
    status: Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]
    error: str | None = None
    cause: str | None = None

    @property
    def trouble(self) -> str | None:
        """A sentence on the failure. None if there was none."""
        if self.status == "SUCCEEDED":
            return None
        if self.error is None and self.status in _ENDED:
            return _ENDED[self.status]
        return StepError(Error=self.error or "States.Unknown", Cause=self.cause or "").sentence


class ValidationEvent(ServiceMessage):
    """The event `Step Functions Execution Status Change` of the validation's state machine."""

    about = "detail.name"

    detail: ExecutionEnded


class VerdictPosted(StepAnswer):
    """The outcome for a verdict: posted if somebody asked for the validation in Slack."""

    validation: str
    posted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """The result of a validation that `user` asked for: its measurements, and a sentence for each problem. Its
    measurements, and a sentence for each problem.

    `volume` is its full name. `p99_allowed_us` is the latency that the policy allows. `before` is the recommendation
    when it was begun and `after` the one now; both are None where it never came so far.
    """

    user: str
    volume: str
    measured: Sequence[ValidationLine]
    problems: Sequence[str]
    p99_allowed_us: float
    before: RecommendationRecord | None = None
    after: RecommendationRecord | None = None


def post_verdict(service: Service, ended: ExecutionEnded, client: WebClient) -> VerdictPosted:
    """Answers who asked for a validation in Slack that has ended, in their thread; posts nothing if nobody did.

    A CloudError is Slack's; after it the same answer may be given again, and twice is better than never. Raises
    BadInput if the stored data is damaged.
    """
    asked = request_for(ended.name, service.store)
    if asked is None or asked.do != VALIDATE_ACTION.name or asked.volume is None:
        return VerdictPosted(validation=ended.name, posted=False)
    jobs = list(_jobs(ended.name, service))
    message = verdict_message(_validation_result(asked, asked.volume, jobs, ended, service.config.parsed_policy))
    # Who asked in no thread is told alone, and not by the response_url: after 30 minutes that is gone.
    place, thread = asked.from_thread or (asked.user, None)
    say(client, message, place, thread, to=f"answer who asked in {place}")
    return VerdictPosted(validation=ended.name, posted=True)


def request_for(execution: str, store: RunStore) -> SlackRequest | None:
    """The request for an execution. None if nobody asked in Slack. Raises BadInput if the stored data is damaged."""
    key = asked_key(execution)
    kept = store.get(key)
    try:
        return None if kept is None else SlackRequest.model_validate_json(kept)
    except ValidationError as error:
        raise damaged_key(key) from error


def _jobs(validation: str, service: Service) -> Iterator[Job]:
    for index in count():
        job = find_job(JobName(validation=validation, index=index), service.store)
        if job is None:
            return
        yield job


def _validation_result(
    asked: SlackRequest, volume: str, jobs: Sequence[Job], ended: ExecutionEnded, policy: Policy
) -> ValidationResult:
    last = jobs[-1] if jobs else None
    troubles = [*(job.note for job in jobs), ended.trouble if jobs or ended.trouble else _GONE]
    return ValidationResult(
        user=asked.user,
        volume=f"{last.place}/{last.volume_id}" if last else volume,
        measured=[line for job in jobs for line in job.lines],
        p99_allowed_us=policy.max_p99_latency_us,
        problems=[trouble for trouble in troubles if trouble is not None],
        before=last.before if last else None,
        after=last.after if last else None,
    )


def verdict_message(result: ValidationResult) -> SlackMessage:
    """The message that answers who asked for a validation: the verdict is in its first words."""
    called = _volume_name(result)
    if not result.measured:
        why = [line(problem, SENTENCE_CHARACTERS) for problem in result.problems[-_MOST:]] or ["no reason is known."]
        blocks = [paragraph(bold(f"Nothing was measured for {called}.")), *bullets([problem] for problem in why)]
        return SlackMessage.compose(f"Nothing was measured for {called}: {why[0]}", [*blocks, _asker(result)])
    last = result.measured[-1]
    blocks = [
        *(
            block
            for measurement in result.measured[-_MOST:]
            for block in _measurement_blocks(measurement, called, result.p99_allowed_us)
        ),
        *bullets([line(problem, SENTENCE_CHARACTERS)] for problem in result.problems[-_MOST:]),
        *_recommendation_blocks(result),
        note(_footnote(result)),
        _asker(result),
    ]
    return SlackMessage.compose(f"{_word(last)}: {last.spec} for {called}", blocks)


def _measurement_blocks(measurement: ValidationLine, called: str, p99_allowed_us: float) -> Iterator[Block]:
    verb = "meets the need" if measurement.passed else "is not enough"
    yield paragraph(bold(f"{_word(measurement)}: "), f"{measurement.spec} {verb} for {called}.")
    p99 = "not known" if measurement.p99_latency_us is None else f"{measurement.p99_latency_us:,.0f} us"
    yield from bullets(
        [
            [bold(f"{measurement.shown_iops:,.0f} IOPS"), f" measured, {measurement.need_iops:,.0f} needed"],
            [
                bold(f"{measurement.shown_throughput_mib_s:,.0f} MiB/s"),
                f" measured, {measurement.need_throughput_mib_s:,.0f} needed",
            ],
            [bold(f"p99 latency {p99}"), f" at the workload's rate, {p99_allowed_us:,.0f} us allowed"],
            *([f"why not: {line(reason, SENTENCE_CHARACTERS)}"] for reason in measurement.failures[:_MOST]),
        ]
    )
    if measurement.simulated:
        yield paragraph(bold("Simulated: "), "no device was measured, only fio's own rate limits.")


def _recommendation_blocks(result: ValidationResult) -> Iterator[Block]:
    """The recommendation since, and the one before if it differs."""
    if result.after is None:
        return
    yield paragraph(bold("Recommended now: "), _answer(result.after))
    if result.before is not None and _answer(result.before) != _answer(result.after):
        yield paragraph(bold("Before: "), _answer(result.before))


def _answer(record: RecommendationRecord) -> str:
    grade = f", evidence {record.evidence.grade}: {GRADE_WORDS[record.evidence.grade]}" if record.evidence else ""
    return f"{record.action}, {change_words(record)}, {outcome_text(record)}{grade}"


def _footnote(result: ValidationResult) -> str:
    """The place, duration and cost of the measurements, and where they are kept."""
    usd = [measurement.usd for measurement in result.measured]
    cost = "" if None in usd else f", ${sum(cost_usd or 0.0 for cost_usd in usd):,.3f} for scratch volumes"
    last = result.measured[-_MOST:]
    hosts = (f"{measurement.bench_host} ({measurement.bench_host_type}) in {measurement.zone}" for measurement in last)
    places = ", ".join(dict.fromkeys(line(host) for host in hosts))
    campaigns = ", ".join(line(measurement.campaign, _CAMPAIGN) for measurement in last)
    taken = duration(sum(measurement.seconds for measurement in result.measured))
    return f"{count_of(len(result.measured), 'measurement')} on {places}, {taken}{cost}. Kept as {campaigns}."


def _word(measurement: ValidationLine) -> str:
    return "Passed" if measurement.passed else "Did not pass"


def _volume_name(result: ValidationResult) -> str:
    """The volume's id, and its name if it may be shown."""
    record = result.after or result.before
    volume_id = result.volume.rpartition("/")[2]
    return f"{volume_id} ({line(record.name)})" if record is not None and record.name else volume_id


def _asker(result: ValidationResult) -> Block:
    return paragraph("asked by ", person(result.user))
