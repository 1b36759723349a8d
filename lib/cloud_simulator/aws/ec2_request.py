"""EC2's way of asking: lists of ids, filters and pages in the form's fields."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from cloud_simulator.faults import Refused

_PAGE: Final = 500
_LEAST_PAGE: Final = 5
_FILTER_NAME: Final = re.compile(r"Filter\.(\d+)\.Name")

Parameters = Mapping[str, str]
Item = TypeVar("Item")
Fields = Mapping[str, Callable[[Item], Iterable[str]]]
"""By the name of a filter: what an item has to hold against its values."""


def named(asked: Parameters, parameter: str, known: Mapping[str, Item], code: str) -> list[Item]:
    """The items that are asked for by id, or all; Refused with that code for an id that is none of them."""
    ids = listed(asked, parameter)
    if ids and "MaxResults" in asked:
        raise Refused("InvalidParameterCombination", f"The parameters {parameter} and MaxResults exclude each other.")
    for one in ids:
        if one not in known:
            raise Refused(code, f"The ID '{one}' does not exist")
    return [known[one] for one in ids] if ids else list(known.values())


def filtered(
    asked: Parameters, items: Sequence[Item], fields: Fields[Item], tags: Callable[[Item], Iterable[tuple[str, str]]]
) -> list[Item]:
    """The items that pass every filter; Refused for a filter that EC2, or this simulator, does not know."""
    found = list(items)
    for name, values in _filters(asked).items():
        has = _field(name, fields, tags)
        if any("*" in value or "?" in value for value in values):
            found = [item for item in found if any(fnmatchcase(had, value) for had in has(item) for value in values)]
        else:
            found = [item for item in found if not values.isdisjoint(has(item))]
    return found


def page(asked: Parameters, found: Sequence[Item]) -> tuple[Sequence[Item], str | None]:
    """One page of what was found, and the token of the next."""
    token = asked.get("NextToken", "0")
    size = int(asked.get("MaxResults", _PAGE))
    if size < _LEAST_PAGE:
        raise Refused("InvalidParameterValue", f"Value ( {size} ) for parameter maxResults is invalid.")
    if not token.isdecimal():
        raise Refused("InvalidParameterValue", "The token is invalid.")
    start, size = int(token), min(size, _PAGE)
    following = start + size
    return found[start:following], str(following) if following < len(found) else None


def listed(asked: Parameters, prefix: str) -> list[str]:
    """The values of a list of fields: `prefix.1`, `prefix.2`, ..."""
    return [value for key, value in asked.items() if key.startswith(f"{prefix}.")]


def _field(
    name: str, fields: Fields[Item], tags: Callable[[Item], Iterable[tuple[str, str]]]
) -> Callable[[Item], Collection[str]]:
    if name.startswith("tag:"):
        return lambda item: [value for key, value in tags(item) if key == name.removeprefix("tag:")]
    if name == "tag-key":
        return lambda item: [key for key, _ in tags(item)]
    if name not in fields:
        raise Refused("InvalidParameterValue", f"The filter '{name}' is invalid")
    return lambda item: list(fields[name](item))


def _filters(asked: Parameters) -> dict[str, set[str]]:
    numbers = {match.group(1): name for key, name in asked.items() if (match := _FILTER_NAME.fullmatch(key))}
    return {name: set(listed(asked, f"Filter.{number}.Value")) for number, name in numbers.items()}
