"""Chunks: long lists cut to what one call takes, and what a call left over tried again."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

Item = TypeVar("Item")


def in_chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    """The items in tuples of at most `size`."""
    rest = iter(items)
    while chunk := tuple(islice(rest, size)):
        yield chunk


ATTEMPTS: Final = 8
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 5.0


def send_all(
    items: Sequence[Item], attempt: Callable[[Sequence[Item]], Sequence[Item]], sleep: Callable[[float], None]
) -> Sequence[Item]:
    """Sends the items until none is left, at most ATTEMPTS times; gives what is left then.

    An attempt gives back the items that were not taken. Before the next one it waits a random part of a bound, which
    doubles from 0.1 s up to 5 s, so that many callers spread.
    """
    left = items
    for number in range(ATTEMPTS):
        left = attempt(left)
        if not left:
            break
        if number + 1 < ATTEMPTS:
            longest_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**number)
            sleep(random.uniform(0, longest_s))  # noqa: S311  # chance, not secrecy
    return left
