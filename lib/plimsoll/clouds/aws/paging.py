"""Paging: long lists cut to what one call takes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_chunks(items: Iterable[Item], size: int) -> Iterator[Sequence[Item]]:
    """The items in tuples of at most `size`."""
    rest = iter(items)
    while chunk := tuple(islice(rest, size)):
        yield chunk
