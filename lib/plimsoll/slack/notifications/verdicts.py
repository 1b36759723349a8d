"""Answers to who asked for a validation: the verdict, measured against needed, or why nothing was measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from slack_sdk import WebClient

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.policy import Policy
from plimsoll.ports import RunStore
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import GRADE_WORDS, change_words, count_of, duration, outcome_text
from plimsoll.service.service import Service
from plimsoll.service.step_messages import Answer, RunId, StepError
from plimsoll.service.step_messages import Message as ServiceMessage
from plimsoll.slack.actions.asked import Asked, asked_key
from plimsoll.slack.actions.validate import VALIDATE
from plimsoll.slack.blocks.elements import SENTENCE, Block, bold, bullets, line, note, person, said
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.client import say
from plimsoll.slack.notifications.posting import damaged
from plimsoll.validation.job import Job, JobName, find_job

_GONE: Final = "it has ended, and the store has nothing of its job any more: ask for it again."

_ENDED: Final = {
    "TIMED_OUT": "the validation took longer than it may, and was ended.",
    "ABORTED": "the validation was stopped before its end, by somebody who may do that in Step Functions.",
}
"""How an execution ended that names no error of its own."""


_MOST: Final = 3
"""Measurements, reasons of each and problems that one message tells of, the last ones: a volume has three rounds."""

_CAMPAIGN: Final = 100
"""Characters of a campaign's name, which is made of a region, a time and a few more."""


class ExecutionEnded(BaseModel):
    """How an execution ended (docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html, November 2026).

    `name` is the execution's own. Only one that failed has an `error` and a `cause`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

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

    about = "detail.name"

    detail: ExecutionEnded


class VerdictPosted(Answer):
    """Whether a verdict was posted: it is where somebody asked for the validation in Slack."""

    validation: str
    posted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """What came of a validation that `user` asked for: its measurements, and a sentence for each problem.

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
    """Answers who asked for a validation in Slack that has ended, in their thread; nobody where nobody did.

    A CloudError is Slack's; after it the same answer may be given again, and twice is better than never. BadInput where
    what is kept is damaged.
    """
    asked = asked_for(ended.name, service.store)
    if asked is None or asked.do != VALIDATE.name or asked.volume is None:
        return VerdictPosted(validation=ended.name, posted=False)
    jobs = list(_jobs(ended.name, service))
    message = verdict_message(_validated(asked, asked.volume, jobs, ended, service.config.parsed_policy))
    # Who asked in no thread is told alone, and not by the response_url: after 30 minutes that is gone.
    place, thread = asked.from_thread or (asked.user, None)
    say(client, message, place, thread, to=f"answer who asked in {place}")
    return VerdictPosted(validation=ended.name, posted=True)


def asked_for(execution: str, store: RunStore) -> Asked | None:
    """Who asked for an execution, None where nobody did in Slack; BadInput where what is kept is damaged."""
    key = asked_key(execution)
    kept = store.get(key)
    try:
        return None if kept is None else Asked.model_validate_json(kept)
    except ValidationError as error:
        raise damaged(key) from error


def _jobs(validation: str, service: Service) -> Iterator[Job]:
    for index in count():
        job = find_job(JobName(validation=validation, index=index), service.store)
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


def verdict_message(found: Validated) -> Message:
    """The message that answers who asked for a validation: the verdict is in its first words."""
    called = _called(found)
    if not found.measured:
        why = [line(one, SENTENCE) for one in found.problems[-_MOST:]] or ["no reason is known."]
        blocks = [said(bold(f"Nothing was measured for {called}.")), *bullets([one] for one in why)]
        return Message.of(f"Nothing was measured for {called}: {why[0]}", [*blocks, _asked_by(found)])
    last = found.measured[-1]
    blocks = [
        *(block for one in found.measured[-_MOST:] for block in _measured(one, called, found.p99_allowed_us)),
        *bullets([line(one, SENTENCE)] for one in found.problems[-_MOST:]),
        *_recommended(found),
        note(_footnote(found)),
        _asked_by(found),
    ]
    return Message.of(f"{_word(last)}: {last.spec} for {called}", blocks)


def _measured(one: ValidationLine, called: str, p99_allowed_us: float) -> Iterator[Block]:
    verb = "carries what is needed" if one.passed else "is not enough"
    yield said(bold(f"{_word(one)}: "), f"{one.spec} {verb} for {called}.")
    p99 = "not known" if one.p99_latency_us is None else f"{one.p99_latency_us:,.0f} us"
    yield from bullets(
        [
            [bold(f"{one.shown_iops:,.0f} IOPS"), f" measured, {one.need_iops:,.0f} needed"],
            [
                bold(f"{one.shown_throughput_mib_s:,.0f} MiB/s"),
                f" measured, {one.need_throughput_mib_s:,.0f} needed",
            ],
            [bold(f"p99 latency {p99}"), f" at the workload's rate, {p99_allowed_us:,.0f} us allowed"],
            *([f"why not: {line(reason, SENTENCE)}"] for reason in one.failures[:_MOST]),
        ]
    )
    if one.simulated:
        yield said(bold("Simulated: "), "no device was measured, only fio's own rate limits.")


def _recommended(found: Validated) -> Iterator[Block]:
    """What is recommended since, and what was before where that is another thing."""
    if found.after is None:
        return
    yield said(bold("Recommended now: "), _answer(found.after))
    if found.before is not None and _answer(found.before) != _answer(found.after):
        yield said(bold("Before: "), _answer(found.before))


def _answer(record: RecommendationRecord) -> str:
    grade = f", evidence {record.evidence.grade}: {GRADE_WORDS[record.evidence.grade]}" if record.evidence else ""
    return f"{record.action}, {change_words(record)}, {outcome_text(record)}{grade}"


def _footnote(found: Validated) -> str:
    """Where and how long was measured, what that cost, and where the measurements are kept."""
    usd = [one.usd for one in found.measured]
    cost = "" if None in usd else f", ${sum(one or 0.0 for one in usd):,.3f} for scratch volumes"
    last = found.measured[-_MOST:]
    hosts = (f"{one.bench_host} ({one.bench_host_type}) in {one.zone}" for one in last)
    places = ", ".join(dict.fromkeys(line(host) for host in hosts))
    campaigns = ", ".join(line(one.campaign, _CAMPAIGN) for one in last)
    taken = duration(sum(one.seconds for one in found.measured))
    return f"{count_of(len(found.measured), 'measurement')} on {places}, {taken}{cost}. Kept as {campaigns}."


def _word(one: ValidationLine) -> str:
    return "Passed" if one.passed else "Did not pass"


def _called(found: Validated) -> str:
    """The volume by its id, and by its name where it may be shown."""
    record = found.after or found.before
    volume_id = found.volume.rpartition("/")[2]
    return f"{volume_id} ({line(record.name)})" if record is not None and record.name else volume_id


def _asked_by(found: Validated) -> Block:
    return said("asked by ", person(found.user))
