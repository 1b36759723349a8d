"""Side by side: places that may be slow or hang, several at once, so that one of them does not hold the others."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Final, TypeVar

AT_ONCE: Final = 8
"""Places under way at once, or done and not yet taken: what is kept of the fleet is theirs alone."""

PATIENCE_S: Final = 30.0
"""Seconds that places which are done wait for an earlier one that is not."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], *, at_once: int = AT_ONCE, patience_s: float = PATIENCE_S
) -> Iterator[Result]:
    """The results in the order of their items, but that one which takes longer than `patience_s` lets others go first.

    At most `at_once` are under way or not yet taken. What `work` raises goes on to the caller. When the caller stops,
    what is under way is left to itself, and does not keep the process from ending.
    """
    waiting = iter(items)
    under_way = [_begin(work, item) for item in islice(waiting, at_once)]
    while under_way:
        result = under_way.pop(_next_of(under_way, patience_s)).result()
        under_way += [_begin(work, item) for item in islice(waiting, 1)]
        yield result


def _next_of(under_way: Sequence[Future[Result]], patience_s: float) -> int:
    """The place of the first one; where it is not done in time, of the first that is done."""
    if not wait(under_way[:1], timeout=patience_s).done:
        wait(under_way, return_when=FIRST_COMPLETED)
    return next(place for place, future in enumerate(under_way) if future.done())


def _begin(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    """The future of an item's work, in a thread of its own. The process does not wait for it at its end."""
    future = Future[Result]()

    def carry_out() -> None:
        try:
            future.set_result(work(item))
        except BaseException as error:  # noqa: BLE001  # it goes on to who asks for the result
            future.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    return future
