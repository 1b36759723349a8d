"""Answers: what a cloud sent, read into types of ours, or refused by a sentence that names call, place and field.

Nothing of a cloud's own dictionaries goes beyond this: who calls gets a typed answer or a BadAnswer.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.domain.errors import BadAnswer

MOST_RAW_CHARACTERS: Final = 20_000
"""How much of an answer is kept to be looked at."""

_SECRET: Final = re.compile(
    r"token|secret|password|credential|authorization|signature|external.?id|access.?key", re.IGNORECASE
)
_HIDDEN: Final = "(hidden)"
_SECRET_TEXT: Final = re.compile(
    rf"((?:{_SECRET.pattern})[\w.-]*[\"']?\s*[>:=]\s*[\"']?)[^<>\"',&\s}}]+", re.IGNORECASE
)
"""A secret and what names it, in XML, JSON or a form that nobody could parse."""


class Answer(BaseModel):
    """A part of a cloud's answer. Fields that are not named are left out; a number may be written as a text."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True, populate_by_name=True)


Read = TypeVar("Read", bound=Answer)


def read_answer(kind: type[Read], raw: object, *, call: str, place: str) -> Read:
    """An answer as that type. BadAnswer names the first field that is missing or wrong, the call and the place."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise bad_answer(field_of(error), raw, call=call, place=place) from error


def field_of(error: ValidationError) -> str:
    """The first field that could not be read, with what was wrong there, as words: `Size is missing`."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "the answer"
    if first["type"] == "missing":
        return f"{name} is missing"
    return f"{name} is {_shown(first['input'])}: {first['msg'].lower()}"


def bad_answer(what: str, raw: object, *, call: str, place: str) -> BadAnswer:
    """The error for an answer that cannot be used, with the answer itself, shortened and without secrets."""
    return BadAnswer(
        f"cannot read {place}: the answer to {call} cannot be used ({what}). Run again later; if it stays so, report "
        "it with the answer that is kept beside the run.",
        raw=raw_text(raw),
    )


def raw_text(raw: object) -> str:
    """An answer as text to be kept: of bounded length, with `(hidden)` in the place of secrets."""
    if isinstance(raw, str):
        shown = _SECRET_TEXT.sub(rf"\g<1>{_HIDDEN}", raw[: 2 * MOST_RAW_CHARACTERS])
    else:
        shown = json.dumps(_without_secrets(raw), default=str, ensure_ascii=False)
    if len(shown) <= MOST_RAW_CHARACTERS:
        return shown
    return f"{shown[:MOST_RAW_CHARACTERS]}... ({len(shown):,} characters in all)"


def _without_secrets(raw: object) -> object:
    if isinstance(raw, Mapping):
        return {
            str(key): _HIDDEN if _SECRET.search(str(key)) else _without_secrets(value) for key, value in raw.items()
        }
    if isinstance(raw, list | tuple):
        return [_without_secrets(value) for value in raw]
    return raw


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
