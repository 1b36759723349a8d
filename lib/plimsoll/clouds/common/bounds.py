"""Bounds: every answer, every list and every read ends, by its time, a number of pages, and no page twice."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, TypeVar

from plimsoll.domain.errors import Endless
from plimsoll.settings import Settings

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
