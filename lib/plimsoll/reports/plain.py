"""The one rule by which a value of the domain becomes a record: figures are rounded by the unit in their key.

A key takes what the value has by the same name, or what its `At` says. Enumerations become their value, times ISO 8601
in UTC, and tuples lists; an infinite figure is null where the key may be.
"""

import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from plimsoll.model.units import Digits

Plain = Any
"""A value as JSON has it."""

UNIT_DIGITS: Final = {"usd": 2, "minutes": 1, "hours": 1, "days": 1, "share": 3, "pct": None}
"""Decimals of a figure, by the unit in its key; None: as it is."""

RATE_DIGITS: Final = 2
"""Decimals of all other figures: rates, latencies and sizes."""


@dataclass(frozen=True, slots=True)
class At:
    """The origin of a key: a path of names from the value, which ends at what is None, or a function of the value."""

    place: str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class By:
    """The writing of a key's value, where the rule is not enough."""

    write: Callable[[Any], Plain]


SUPPLIED: Final = At("")
"""The origin of a key that the value does not have."""

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
