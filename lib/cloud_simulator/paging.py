"""Paging: the part of a list that a call asks for. A token is the place of the first that was not given yet."""

from collections.abc import Sequence
from typing import TypeVar

from cloud_simulator.faults import Refused

T = TypeVar("T")


def page_of(
    items: Sequence[T], token: object, size: object, *, most: int, refusal: str, least: int = 1
) -> tuple[Sequence[T], str | None]:
    """A page of the items, and the token of the next (None: there is none).

    `token` and `size` are as they came, None or empty where nothing came; no page has more than `most`. Refused by
    the code `refusal` for a token that no page has, and for a size under `least`.
    """
    begin, wanted = place_of(token, refusal), str(size or most)
    if not wanted.isdecimal() or int(wanted) < least:
        raise Refused(refusal, f"The page size {wanted} is invalid: it is {least} to {most}.")
    end = begin + min(int(wanted), most)
    return items[begin:end], str(end) if end < len(items) else None


def place_of(token: object, refusal: str) -> int:
    """The place that a token names, the first where none came. Refused by that code where it names none."""
    text = str(token or 0)
    if not text.isdecimal():
        raise Refused(refusal, f"The token {text} is invalid.")
    return int(text)
