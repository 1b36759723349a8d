"""The records of an audit's answers, with the steps of their changes as lines of text.

One rule makes a record of a value of the domain: figures are rounded by the unit in their key. A key takes what the
value has by the same name, or what its `At` says. Enumerations become their value, times ISO 8601 in UTC, and tuples
lists; an infinite figure is null where the key may be.
"""

import math
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from plimsoll.decide.answer import NO_CHANGE, Answer, ChangeStep, ChangeSteps, StepKind
from plimsoll.demand.profile import DemandProfile
from plimsoll.demand.seconds import SecondsSeen
from plimsoll.model.units import Digits
from plimsoll.model.volume import Volume
from plimsoll.outcomes import Answered
from plimsoll.reports.record import (
    SUPPLIED,
    At,
    By,
    CeilingRecord,
    CeilingsRecord,
    DemandProfileRecord,
    Plain,
    RecommendationRecord,
    SecondsSeenRecord,
)
from plimsoll.reports.seconds_seen import seen_lines, seen_title

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


def seen_record(seen: SecondsSeen, ceilings: CeilingsRecord | None) -> SecondsSeenRecord:
    """The record of a volume's seconds beside what the volume sustains now and would sustain then."""
    known: dict[str, CeilingRecord] = {} if ceilings is None else {"now": ceilings.now}
    if ceilings is not None and ceilings.offered is not None:
        known["offered"] = ceilings.offered
    beside = {"title": seen_title(seen), "lines": list(seen_lines(seen, known))}
    return SecondsSeenRecord.model_validate(plain_of(SecondsSeenRecord, seen) | beside)


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


UNIT_DIGITS: Final = {"usd": 2, "minutes": 1, "hours": 1, "days": 1, "share": 3, "pct": None}
"""Decimals of a figure, by the unit in its key; None: as it is."""


RATE_DIGITS: Final = 2
"""Decimals of all other figures: rates, latencies and sizes."""


_Write = Callable[[Any], Plain]


_Key = tuple[str, Callable[[Any], Any], _Write | None]


def plain_of(record: type[BaseModel], value: object) -> dict[str, Plain]:
    """The JSON of a value's record, without the keys that the value does not have."""
    return _writing_of(record)(value)


@cache
def _writing_of(record: type[BaseModel]) -> Callable[[Any], dict[str, Plain]]:
    keys = _keys_of(record)
    return lambda value: {key: take(value) if write is None else write(take(value)) for key, take, write in keys}


def _keys_of(record: type[BaseModel]) -> tuple[_Key, ...]:
    hints = get_type_hints(record, include_extras=True).items()
    return tuple(_key_of(key, hint) for key, hint in hints if SUPPLIED not in get_args(hint))


def _key_of(key: str, hint: Any) -> _Key:
    """The key of a record: where its value is found in an answer, and how it is rounded and written."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    unit = next((UNIT_DIGITS[word] for word in key.split("_") if word in UNIT_DIGITS), RATE_DIGITS)
    digits = next((mark for mark in marks if isinstance(mark, Digits)), Digits(unit))
    place = next((mark.place for mark in marks if isinstance(mark, At)), key)
    writes: list[_Write | None] = [mark.write for mark in marks if isinstance(mark, By)] or [
        _writing(hint, _rounding(digits))
    ]
    return key, _follow(place) if isinstance(place, str) else place, writes[0]


def _follow(path: str) -> Callable[[Any], Any]:
    """The function that follows a dotted path through an object; None if a part of the way is None."""
    first, *others = (attrgetter(name) for name in path.split("."))

    def take(value: Any) -> Any:
        value = first(value)
        for step in others:
            if value is None:
                return None
            value = step(value)
        return value

    return take if others else first


def _writing(hint: Any, figure: _Write) -> _Write | None:
    """The writing of a value of a type, whose figures are written by `figure`; None if it is written as it is."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return _writing(parts[0], figure)
    if kind in {Union, types.UnionType}:
        (known,) = (_writing(part, figure) for part in parts if part is not type(None))
        return None if known is None else _or_null(known, is_figure=known is figure)
    if kind is list:
        entry = _writing(parts[0], figure) or _value
        return lambda values: [] if values is None else [entry(value) for value in values]
    if kind is dict:
        entry = _writing(parts[1], figure) or _value
        return lambda values: {key: entry(value) for key, value in dict(values).items()}
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return _writing_of(hint)
    return {float: figure, str: _text, int: None, bool: None}.get(hint, _value)


def _or_null(known: _Write, *, is_figure: bool) -> _Write:
    """The writer that leaves None as it is; of figures infinity as well, which JSON cannot write."""
    if is_figure:
        return lambda figure: None if figure is None or figure == math.inf else known(figure)
    return lambda value: None if value is None else known(value)


def _rounding(digits: Digits) -> _Write:
    count = digits.count
    return digits.round if digits.floor or count is None else lambda figure: round(figure, count)


def _text(value: Any) -> str:
    """The text of a time, which is in epoch seconds if it is a number, or of anything else."""
    if type(value) is str:
        return value
    if isinstance(value, int):
        value = datetime.fromtimestamp(value, UTC)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date) else str(_value(value))


def _value(value: Any) -> Plain:
    return value.value if isinstance(value, Enum) else value
