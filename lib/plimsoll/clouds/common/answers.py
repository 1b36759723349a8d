"""Answers: data from a cloud, read into types of ours, or refused by a sentence that names call, place and field.

Nothing of a cloud's own dictionaries goes beyond this: a caller gets a typed answer or a BadAnswer.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from plimsoll.clouds.common.hiding import (
    ALL_HIDDEN,
    HIDDEN,
    UNKEPT,
    is_named_secret,
    is_one_word,
    kept_text,
    without_secrets,
)
from plimsoll.domain.errors import BadAnswer

MOST_RAW_CHARACTERS: Final = 20_000
"""The kept part of an answer, in characters."""


class CloudAnswer(BaseModel):
    """A part of a cloud's answer. Fields that are not named are left out; a number may be written as a text."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, defer_build=True, populate_by_name=True, hide_input_in_errors=True
    )


AnswerT = TypeVar("AnswerT", bound=CloudAnswer)


def read_answer(kind: type[AnswerT], raw: object, *, call: str, place: str) -> AnswerT:
    """An answer as that type. Raises BadAnswer with the first missing or wrong field, the call and the place."""
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise bad_answer(field_of(error, is_quoted=is_kept(call)), raw, call=call, place=place) from error


def is_kept(call: str) -> bool:
    """True if the answer to a call may be kept and quoted: it holds no credentials."""
    return call.partition(":")[0] not in UNKEPT


def field_of(error: ValidationError, *, is_quoted: bool = True) -> str:
    """The first field that could not be read, with its fault, as words: `Size is missing`."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "the answer"
    if first["type"] == "missing":
        return f"{name} is missing"
    shown = _show_value(first["input"]) if is_quoted else "unusable"
    return f"{name} is {shown}: {first['msg'].lower()}"


def bad_answer(what: str, raw: object, *, call: str, place: str) -> BadAnswer:
    """The error for an answer that cannot be used, with the answer itself, shortened and without secrets.

    An answer to a call for credentials is left out.
    """
    return BadAnswer(
        f"cannot read {place}: the answer to {call} cannot be used ({what}). Run again later; if it stays so, report "
        "it with the answer that is kept beside the run.",
        raw=raw_text(raw) if is_kept(call) else "",
    )


def raw_text(raw: object) -> str:
    """An answer as text to be kept: of bounded length, with `(hidden)` in place of possible secrets."""
    if isinstance(raw, str):
        shown = ALL_HIDDEN if is_one_word(raw) else kept_text(raw)
    else:
        shown = json.dumps(_hidden_within(raw), default=str, ensure_ascii=False)
    if len(shown) <= MOST_RAW_CHARACTERS:
        return shown
    return f"{shown[:MOST_RAW_CHARACTERS]}... ({len(shown):,} characters in all)"


def _hidden_within(raw: object) -> object:
    if isinstance(raw, Mapping):
        return {
            kept_text(str(key)): HIDDEN if is_named_secret(str(key)) else _hidden_within(value)
            for key, value in raw.items()
        }
    if isinstance(raw, list | tuple):
        return [_hidden_within(value) for value in raw]
    return kept_text(raw) if isinstance(raw, str) else raw


def _show_value(value: Any) -> str:
    text = without_secrets(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."
