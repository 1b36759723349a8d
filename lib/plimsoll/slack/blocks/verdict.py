"""The verdict of a measurement as a message: whether it passed, measured against needed, and what follows from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.validation_book import ValidationLine
from plimsoll.domain.volume import VolumeSpec
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.wording import GRADE_WORDS, change_words, count_of, duration, outcome_text
from plimsoll.slack.blocks.elements import Block, bold, bullets, note, person, said
from plimsoll.slack.blocks.message import Message
from plimsoll.slack.blocks.text import SENTENCE, line

_MOST: Final = 3
"""Measurements, reasons of each and problems that one message tells of, the last ones: a volume has three rounds."""

_CAMPAIGN: Final = 100
"""Characters of a campaign's name, which is made of a region, a time and a few more."""


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
    return Message.of(f"{_word(last)}: {_spec(last)} for {called}", blocks)


def _measured(one: ValidationLine, called: str, p99_allowed_us: float) -> Iterator[Block]:
    verb = "carries what is needed" if one.passed else "is not enough"
    yield said(bold(f"{_word(one)}: "), f"{_spec(one)} {verb} for {called}.")
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
    places = ", ".join(dict.fromkeys(line(_place(one)) for one in found.measured[-_MOST:]))
    campaigns = ", ".join(line(one.campaign, _CAMPAIGN) for one in found.measured[-_MOST:])
    taken = duration(sum(one.seconds for one in found.measured))
    return f"{count_of(len(found.measured), 'measurement')} on {places}, {taken}{cost}. Kept as {campaigns}."


def _place(one: ValidationLine) -> str:
    return f"{one.bench_host} ({one.bench_host_type}) in {one.zone}"


def _spec(one: ValidationLine) -> VolumeSpec:
    return VolumeSpec(**one.spec.model_dump())


def _word(one: ValidationLine) -> str:
    return "Passed" if one.passed else "Did not pass"


def _called(found: Validated) -> str:
    """The volume by its id, and by its name where it may be shown."""
    record = found.after or found.before
    volume_id = found.volume.rpartition("/")[2]
    return f"{volume_id} ({line(record.name)})" if record is not None and record.name else volume_id


def _asked_by(found: Validated) -> Block:
    """Who asked, so that Slack tells them."""
    return said("asked by ", person(found.user))
