"""Bounds: every list and every read ends, by a deadline, a number of pages, and no page twice."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from plimsoll.domain.errors import Endless

LIST_PAGES: Final = 5_000
"""Pages of one list by default: at 500 volumes a page, 2.5 million volumes of one account and region."""

EMPTY_PAGES: Final = 10
"""Pages in a row that have nothing and yet name a next one, after which a list is given up. Clouds may send a few."""


@dataclass(slots=True, kw_only=True)
class Deadline:
    """When something has to have ended, in seconds of the monotonic clock after it was made."""

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
        """Endless where it has passed; `what` follows "cannot", `setting` is the variable that allows more time."""
        if self.left_s <= 0:
            raise Endless(
                f"cannot {what}: it took longer than {self.seconds:g} seconds. Run again later, or raise {setting}."
            )


@dataclass(slots=True, kw_only=True)
class Pages:
    """Counts the pages of one list. Each page is announced by the token that asks for the next one."""

    what: str
    deadline: Deadline
    most: int = LIST_PAGES
    setting: str = "PLIMSOLL_LIST_DEADLINE_S"
    most_empty: int = EMPTY_PAGES
    _seen: set[str] = field(default_factory=set, init=False, repr=False)
    _empty: int = field(default=0, init=False, repr=False)

    def follow(self, token: str | None, *, empty: bool = False) -> bool:
        """Whether there is a next page; `empty` where this one had nothing.

        Endless where its token came before, where the deadline has passed, or where there were too many pages, in all
        or one after the other without anything.
        """
        if not token:
            return False
        self._empty = self._empty + 1 if empty else 0
        if self._empty >= self.most_empty:
            raise Endless(f"cannot {self.what}: {self.most_empty} pages in a row had nothing. Run again later.")
        if token in self._seen:
            raise Endless(f"cannot {self.what}: the cloud gave the same page twice. Run again later.")
        self._seen.add(token)
        if len(self._seen) >= self.most:
            raise Endless(f"cannot {self.what}: there were over {self.most:,} pages. Name fewer places, and run again.")
        self.deadline.check(self.what, self.setting)
        return True
