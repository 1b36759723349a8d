"""What people should know of the places of a run: each text once, with all the places that it is true of."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.reports.wording import count_of

_NAMED: Final = 3
"""How many places are named; of more, how many there are."""


def noted(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Pairs of the places, in words, and the text, in the order in which they were told."""
    places: dict[str, list[str]] = {}
    for place, texts in run["notices"].items():
        for text in texts:
            places.setdefault(text, []).append(place)
    for text, found in places.items():
        rest = len(found) - _NAMED
        more = f" and {count_of(rest, 'more place')}" if rest > 0 else ""
        yield f"{', '.join(found[:_NAMED])}{more}", text
