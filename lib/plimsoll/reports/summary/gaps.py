"""What a run could not read, what it left out, and what people should know of its places, in sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.reports.wording import count_of

_NAMED: Final = 3
"""How many places or volumes are named; of more, how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Something that is not in the report: where, what, and why."""

    place: str
    what: str
    why: str


def unread(run: Mapping[str, Any]) -> Iterator[Unread]:
    """Every place that could not be read, and every volume of the others that could not, by reason."""
    failures = run["failures"]
    for place, reason in failures["targets"].items():
        yield Unread(place=place, what="everything", why=reason)
    for place, reasons in failures["volumes"].items():
        if place in failures["targets"]:
            continue
        for reason, ids in reasons.items():
            what = ids[0] if len(ids) == 1 else f"{count_of(len(ids), 'volume')}: {', '.join(ids[:3])}"
            yield Unread(place=place, what=f"{what}, …" if len(ids) > 3 else what, why=reason)


def left_out(run: Mapping[str, Any]) -> Iterator[str]:
    """Volumes that were left out on purpose, with the reason."""
    for reason, count in run["volumes"]["skipped"].items():
        yield f"{count_of(count, 'volume')} left out: {reason}."


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
