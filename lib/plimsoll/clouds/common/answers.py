"""Answers: data from a cloud, read into types of ours, or refused by a sentence that names call, place and field.

Nothing of a cloud's own dictionaries goes beyond this: a caller gets a typed answer or a BadAnswer.

Bounds: every answer, every list and every read ends, by its time, a number of pages, and no page twice.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
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
from plimsoll.model.errors import BadAnswer, Endless
from plimsoll.settings import Settings

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

LIST_PAGES: Final = 5_000
"""Pages of one list by default: at 500 volumes a page, 2.5 million volumes of one account and region."""

EMPTY_PAGES: Final = 10
"""Pages in a row that have nothing and yet name a next one, after which a list is given up. Clouds may send a few."""


LEAST_S: Final = 0.1
"""Seconds that an answer is given though its deadline has passed: whoever counts pages says so, not the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """The time limits for a connection, for silence in the middle of an answer, and for a whole answer.

    The APIs that are called here answer within seconds. An answer that drips is never silent, but has an end.
    """

    connect_s: float = 5.0
    silence_s: float = 20.0
    answer_s: float = 60.0

    @classmethod
    def of(cls, settings: Settings) -> "Waits":
        """The time limits of the settings."""
        return cls(
            connect_s=settings.connect_timeout_s,
            silence_s=settings.silence_timeout_s,
            answer_s=settings.answer_timeout_s,
        )


def carry_out_within(seconds: float, work: Callable[[], ResultT]) -> ResultT:
    """The result of some work. Raises TimeoutError if it takes longer.

    The work goes on in a thread then, which neither the caller nor the end of the process waits for.
    """
    future = Future[ResultT]()

    def carry_out() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # it goes on to the caller
            future.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        if future.done():
            raise  # the work's own
        raise TimeoutError(f"it took longer than {seconds:g} seconds in all") from None


@dataclass(slots=True, kw_only=True)
class Deadline:
    """The end of a task, in seconds of the monotonic clock after it was made."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        """Begins now."""
        self._ends_at = self.clock() + self.seconds

    @property
    def left_s(self) -> float:
        """Seconds that are left, negative when it has passed."""
        return self._ends_at - self.clock()

    def check(self, what: str, setting: str) -> None:
        """Raises Endless if it has passed; `what` follows "cannot", `setting` is the variable that allows more time."""
        if self.left_s <= 0:
            raise Endless(
                f"cannot {what}: it took longer than {self.seconds:g} seconds. Run again later, or raise {setting}."
            )


def doubt_nothing(_answer: object) -> bool:
    """False for every answer."""
    return False


def ask_again(
    ask: Callable[[], ResultT],
    tries: int,
    *,
    doubted: Callable[[ResultT], bool] = doubt_nothing,
    deadline: Deadline | None = None,
    pause: Callable[[int], object] = doubt_nothing,
) -> ResultT:
    """The first answer that can be used and is not `doubted`, or the last, whatever it is, even a BadAnswer.

    No try follows one that begins after the deadline. `pause` waits after a try, by its number.
    """
    for number in count(1):
        is_last = number == tries or (deadline is not None and deadline.left_s <= 0)
        try:
            answer = ask()
            if is_last or not doubted(answer):
                break
        except BadAnswer:
            if is_last:
                raise
        pause(number)
    return answer


def ask_in_halves(
    items: Sequence[ItemT], ask: Callable[[Sequence[ItemT]], ResultT], spoiled: Callable[[ResultT], object], most: int
) -> Iterator[tuple[Sequence[ItemT], ResultT]]:
    """The answers to parts of the items: at most `most` that are `spoiled` are asked for in halves."""
    waiting, halved = deque([items]), 0
    while waiting:
        part = waiting.popleft()
        answer = ask(part)
        if len(part) > 1 and halved < most and spoiled(answer):
            halved += 1
            waiting += [part[: len(part) // 2], part[len(part) // 2 :]]
        else:
            yield part, answer


@dataclass(slots=True, kw_only=True)
class Pages:
    """Counts the pages of one list. Each page is announced by the token that asks for the next one.

    Pages in a row that have what earlier ones had are the same pages again, whatever their tokens are.
    """

    what: str
    deadline: Deadline
    most: int = LIST_PAGES
    setting: str = "PLIMSOLL_LIST_DEADLINE_S"
    most_empty: int = EMPTY_PAGES
    _seen: set[str] = field(default_factory=set, init=False, repr=False)
    _contents: set[int] = field(default_factory=set, init=False, repr=False)
    _again: int = field(default=0, init=False, repr=False)
    _empty: int = field(default=0, init=False, repr=False)

    def follow(self, token: str | None, *, empty: bool = False, content: Hashable = None) -> bool:
        """True if there is a next page; `empty` says that this one had nothing, `content` is all of it but the token.

        Raises Endless if its token came before, if the deadline has passed, or if there were too many pages, in all or
        one after the other without anything new.
        """
        if not token:
            return False
        self._empty = self._empty + 1 if empty else 0
        if self._empty >= self.most_empty:
            raise Endless(f"cannot {self.what}: {self.most_empty} pages in a row had nothing. Run again later.")
        self._again = self._again + 1 if content is not None and hash(content) in self._contents else 0
        self._contents.add(hash(content))
        if token in self._seen or self._again >= self.most_empty:
            raise Endless(f"cannot {self.what}: the cloud gave the same page twice. Run again later.")
        self._seen.add(token)
        if len(self._seen) >= self.most:
            raise Endless(f"cannot {self.what}: there were over {self.most:,} pages. Name fewer places, and run again.")
        self.deadline.check(self.what, self.setting)
        return True


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
