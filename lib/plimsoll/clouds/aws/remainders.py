"""Remainders: calls that take many items, do some of them, and give the others back to be asked again."""

import random
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item")

ATTEMPTS: Final = 8
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 5.0


def remainder(
    items: Sequence[Item], attempt: Callable[[Sequence[Item]], Sequence[Item]], sleep: Callable[[float], None]
) -> Sequence[Item]:
    """What is left of the items after the last attempt; each gives back what it did not do, and waits grow between.

    A wait is a random part of 0.1 s, doubled from attempt to attempt up to 5 s, so that many callers spread.
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
