"""Calls: long lists cut to what one call takes, what a call left over tried again, and quotas of calls kept."""

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

ItemT = TypeVar("ItemT")


def in_chunks(items: Iterable[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """The items in tuples of at most `size`."""
    iterator = iter(items)
    while chunk := tuple(islice(iterator, size)):
        yield chunk


def in_lots(
    items: Iterable[ItemT], *, count: int, weight: float, weigh: Callable[[ItemT], float]
) -> Iterator[Sequence[ItemT]]:
    """The items in lots of at most `count`, together of at most that weight; a heavier one comes alone."""
    lot: list[ItemT] = []
    filled = 0.0
    for item in items:
        item_weight = weigh(item)
        if lot and (len(lot) == count or filled + item_weight > weight):
            yield lot
            lot, filled = [], 0.0
        lot.append(item)
        filled += item_weight
    if lot:
        yield lot


SEND_ATTEMPTS: Final = 8
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 5.0


def send_all(
    items: Sequence[ItemT], attempt: Callable[[Sequence[ItemT]], Sequence[ItemT]], sleep: Callable[[float], None]
) -> Sequence[ItemT]:
    """Sends the items until none is left, at most SEND_ATTEMPTS times; returns those still left.

    An attempt gives back the items that were not taken. Before the next one it waits a random part of a bound, which
    doubles from 0.1 s up to 5 s, so that many callers spread.
    """
    left = items
    for number in range(SEND_ATTEMPTS):
        left = attempt(left)
        if not left:
            break
        if number + 1 < SEND_ATTEMPTS:
            longest_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**number)
            sleep(random.uniform(0, longest_s))  # noqa: S311  # chance, not secrecy
    return left


@dataclass(slots=True)
class Pacer:
    """Lets work through at most at `rate` units a second, with up to `burst_s` seconds' worth at once.

    A quota holds a second's worth; a little less is used, so that calls that bunch up on their way do not overdraw it.
    """

    rate: float
    burst_s: float = 0.8
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _free_at: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self, units: float) -> None:
        """Waits until that many units may be spent."""
        with self._lock:
            now = self.clock()
            self._free_at = max(self._free_at, now - self.burst_s) + units / self.rate
            wait = self._free_at - now
        if wait > 0:
            self.sleep(wait)
