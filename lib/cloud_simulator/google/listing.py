"""Listing: pages of resources, those that a filter means, as Compute lists them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from cloud_simulator.faults import Refused

PAGE: Final = 500
"""The most of a page (google-cloud-compute 1.57, maxResults)."""

_TERM: Final = re.compile(r'\(?\s*([\w.\-]+)\s*(!=|=|:)\s*("[^"]*"|[^\s()"]+)\s*\)?\s*(?:AND\s+|$)')

T = TypeVar("T")


def page(query: Mapping[str, str], found: Sequence[T]) -> tuple[Sequence[T], str | None]:
    """The part of what was found that a call asks for, and the token for the rest."""
    token, size = query.get("pageToken") or "0", query.get("maxResults") or str(PAGE)
    if not token.isdecimal():
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'pageToken': '{token}'.")
    if not size.isdecimal() or not 0 < int(size) <= PAGE:
        raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'maxResults': '{size}'. It must be 1 to {PAGE}.")
    begin, end = int(token), int(token) + int(size)
    return found[begin:end], str(end) if end < len(found) else None


def meant(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a resource matches a filter: comparisons by =, != and : (has), all of which must hold."""
    terms, at = [], 0
    while at < len(text.strip()):
        term = _TERM.match(text.strip(), at)
        if term is None:
            raise Refused("INVALID_ARGUMENT", f"Invalid value for field 'filter': '{text}'.")
        terms.append((term[1], term[2], term[3].strip('"')))
        at = term.end()
    return lambda resource: all(_holds(_at(resource, name), operator, value) for name, operator, value in terms)


def _at(resource: Mapping[str, Any], name: str) -> str | None:
    found: Any = resource
    for part in name.split(".", 1):
        found = found.get(part) if isinstance(found, Mapping) else None
    return None if found is None else str(found)


def _holds(found: str | None, operator: str, value: str) -> bool:
    if operator == ":":
        return found is not None and value in {"*", found}
    return (found == value) is (operator == "=")
