"""Working ahead: some items are worked on in threads while the caller still takes the results of earlier ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Iterable[Item], at_once: int) -> Iterator[Result]:
    """The results in the order of their items, at most `at_once` under way or not yet taken.

    When the caller stops, nothing new is begun; what is under way is waited for.
    """
    pool = ThreadPoolExecutor(max_workers=at_once)
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(pool.submit(work, item))
            if len(under_way) == at_once:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
