"""Places in an answer: which fields it has, and where each of them stands."""

from collections.abc import Iterator
from typing import Any

EACH = "*"
"""Stands in a path for every element of a list."""
SAMPLED = 40
"""How many elements of a list are looked at to know what fields they have."""

Path = tuple[str, ...]
Place = tuple[Any, Any]
"""A dict or a list, and the key or index in it."""


def paths_in(tree: Any) -> list[Path]:
    """Every field of an answer, sorted."""
    return sorted(set(_paths(tree, ())))


def _paths(tree: Any, above: Path) -> Iterator[Path]:
    if above:
        yield above
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _paths(value, (*above, key))
    elif isinstance(tree, list):
        for value in tree[:SAMPLED]:
            yield from _paths(value, (*above, EACH))


def places_of(tree: Any, path: Path) -> list[Place]:
    """Where a field stands, in the answer's order."""
    return list(_places(tree, path))


def _places(tree: Any, path: Path) -> Iterator[Place]:
    key, rest = path[0], path[1:]
    if key == EACH:
        inside = list(enumerate(tree)) if isinstance(tree, list) else []
    else:
        inside = [(key, tree[key])] if isinstance(tree, dict) and key in tree else []
    for at, value in inside:
        if rest:
            yield from _places(value, rest)
        else:
            yield tree, at
