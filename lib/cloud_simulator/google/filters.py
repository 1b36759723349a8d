"""Filters: Cloud Monitoring's language for which time series are meant, as far as it is used for disks.

Comparisons by = and !=, one_of, starts_with, ends_with and has_substring; AND, OR, NOT and parentheses; AND may be left
out (Cloud Monitoring API v3, "Monitoring filters", read 2026-11-22).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from cloud_simulator.faults import Refused

Labels = Mapping[str, str]
"""What is compared, by names as `metric.type` and `resource.labels.zone`."""

Matches = Callable[[Labels], bool]

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|!=|[=(),]|[A-Za-z_][\w.]*)')
_ALIASES: Final = (("metric.label.", "metric.labels."), ("resource.label.", "resource.labels."))
_FUNCTIONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "has_substring": str.__contains__,
}


@lru_cache(maxsize=64)
def parsed(text: str) -> Matches:
    """Whether labels are meant by a filter; Refused for what is none, or more than is simulated."""
    reader = _Reader(text, _tokens(text))
    found = reader.either()
    if reader.left:
        raise _bad(text, f"unexpected {reader.left[0]}")
    return found


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _bad(text, f"unexpected {text[at:].strip()[:20]}")
        tokens.append(found[1])
        at = found.end()
    return tokens


@dataclass(slots=True)
class _Reader:
    """What is left to read of a filter."""

    text: str
    left: list[str] = field(default_factory=list)

    def either(self) -> Matches:
        """Terms of which one is enough."""
        terms = [self._both()]
        while self._took("OR"):
            terms.append(self._both())
        return terms[0] if len(terms) == 1 else lambda labels: any(term(labels) for term in terms)

    def _both(self) -> Matches:
        """Terms that all must match."""
        terms = [self._one()]
        while self._took("AND") or (self.left and self.left[0] not in {"OR", ")"}):
            terms.append(self._one())
        return terms[0] if len(terms) == 1 else lambda labels: all(term(labels) for term in terms)

    def _one(self) -> Matches:
        if self._took("NOT"):
            refused = self._one()
            return lambda labels: not refused(labels)
        if self._took("("):
            inner = self.either()
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Matches:
        name = self._next()
        for short, long in _ALIASES:
            name = long + name[len(short) :] if name.startswith(short) else name
        operator = self._next()
        if operator not in {"=", "!="}:
            raise _bad(self.text, f"{operator} is no comparison that the simulated Cloud Monitoring knows")
        meant = self._value()
        wanted = operator == "="
        return lambda labels: meant(labels.get(name, "")) == wanted

    def _value(self) -> Callable[[str], bool]:
        word = self._next()
        if word.startswith('"'):
            only = _plain(word)
            return lambda found: found == only
        self._expect("(")
        given = [_plain(self._next())]
        while self._took(","):
            given.append(_plain(self._next()))
        self._expect(")")
        if word == "one_of":
            return frozenset(given).__contains__
        function = _FUNCTIONS.get(word)
        if function is None or len(given) != 1:
            raise _bad(self.text, f"{word} is no function that the simulated Cloud Monitoring knows")
        return lambda found: function(found, given[0])

    def _next(self) -> str:
        if not self.left:
            raise _bad(self.text, "it ends too early")
        return self.left.pop(0)

    def _took(self, word: str) -> bool:
        if self.left and self.left[0] == word:
            self.left.pop(0)
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._took(word):
            raise _bad(self.text, f"{word} is missing")


def _plain(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1]) if quoted.startswith('"') else quoted


def _bad(text: str, why: str) -> Refused:
    return Refused("INVALID_ARGUMENT", f"Field filter had an invalid value of {text[:200]!r}: {why}.")
