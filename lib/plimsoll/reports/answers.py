"""The records of an audit's answers, with the steps of their changes as lines of text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Final

from plimsoll.decide.answer import NO_CHANGE, Answer, ChangeStep, ChangeSteps, StepKind
from plimsoll.demand.profile import DemandProfile
from plimsoll.model.volume import Volume
from plimsoll.outcomes import Answered
from plimsoll.reports.plain import plain_of
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.seconds_seen import seen_record

_RUN: Final = frozenset({StepKind.COMMAND, StepKind.FILE})
_END: Final = "EOF"


def record_of(answer: Answer, change: ChangeSteps = NO_CHANGE, *, provider: str) -> RecommendationRecord:
    """The record of an answer whose volume has the tags alone that are shown.

    `change` is how its owner makes it and takes it back, and `provider` the volume's cloud.
    """
    beside = {
        "change": steps_text(change.forth),
        "way_back": steps_text(change.back),
        "change_steps": _step_records(change.forth),
        "way_back_steps": _step_records(change.back),
        "provider": provider,
    }
    return RecommendationRecord.model_validate(plain_of(RecommendationRecord, answer) | beside)


def _step_records(steps: Sequence[ChangeStep]) -> list[dict[str, str]]:
    return [asdict(step) for step in steps]


def answered_record(answered: Answered) -> RecommendationRecord:
    """The record of an audit's answer."""
    record = record_of(answered.recommendation, answered.change, provider=answered.target.provider)
    if answered.seen is None:
        return record
    return record.model_copy(update={"seconds_seen": seen_record(answered.seen, record.ceilings)})


def profile_record(volume: Volume, profile: DemandProfile) -> DemandProfileRecord:
    """The record of a volume's profile."""
    beside = {"account": volume.account, "region": volume.region, "volume_id": volume.id}
    return DemandProfileRecord.model_validate(plain_of(DemandProfileRecord, profile) | beside)


def steps_text(steps: Sequence[ChangeStep]) -> str:
    """The steps as lines of text. Without an edit they can be pasted into a shell whole: remarks are comments.

    Several commands in a row stop at the first that fails, in a shell as in a script.
    """
    is_shell = all(step.kind is not StepKind.EDIT for step in steps)
    return "\n".join(_lines(steps, is_shell=is_shell))


def _lines(steps: Iterable[ChangeStep], *, is_shell: bool) -> Iterator[str]:
    for is_run, group in groupby(steps, lambda step: step.kind in _RUN):
        if is_run:
            yield from _run_lines(list(group))
            continue
        for step in group:
            text = f"In {step.path}:\n{step.text}" if step.path else step.text
            yield from (f"# {line}" if is_shell else line for line in text.split("\n"))


def _run_lines(steps: Sequence[ChangeStep]) -> Iterator[str]:
    if len(steps) == 1:
        yield _shell(steps[0], "")
        return
    yield "("
    for number, step in enumerate(steps, start=1):
        yield _shell(step, " &&" if number < len(steps) else "")
    yield ")"


def _shell(step: ChangeStep, link: str) -> str:
    """A step as a shell runs it, followed by what links it to the next."""
    if step.kind is StepKind.COMMAND:
        return f"{step.text}{link}"
    return f"kubectl apply -f - <<'{_END}'{link}\n{step.text}\n{_END}"
