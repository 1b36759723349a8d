"""Calls: which queries go into one GetMetricData call.

A call has one window for all its queries, at most 500 of them, and at most 100,800 datapoints on a page. Queries of the
same window go together; small lots of near windows are put into one that holds them all where the datapoints it adds
cost less than a call.
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from plimsoll.clouds.aws.queries import Query
from plimsoll.domain.sums import Window

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_CALL: Final = 100_800
"""Limits of one GetMetricData call (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

RECENT_LOTS: Final = 64
"""How many lots a further one is held against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Queries that are asked together, over one window."""

    window: Window
    queries: tuple[Query, ...]

    @property
    def datapoints(self) -> int:
        """How many datapoints are asked for."""
        return sum(self.window.buckets(query.period_s) for query in self.queries)


def calls_of(queries: Iterable[Query], *, datapoints_a_call: float) -> Iterator[Call]:
    """The calls that ask some queries; `datapoints_a_call` is how many datapoints more are worth one call less."""
    lots: dict[Window, _Lot] = {}
    for query in queries:
        lots.setdefault(query.window, _Lot(query.window)).add(query)
    for lot in _shared(lots.values(), datapoints_a_call):
        yield from _cut(lot.window, lot.queries)


@dataclass(slots=True)
class _Lot:
    """Queries for one window: how many datapoints a second of it brings, and what its ends have to be multiples of."""

    window: Window
    queries: list[Query] = field(default_factory=list)
    a_second: float = 0.0
    grain_s: int = 1

    def add(self, query: Query) -> None:
        self.queries.append(query)
        self.a_second += 1 / query.period_s
        self.grain_s = math.lcm(self.grain_s, query.period_s)

    def with_lot(self, other: "_Lot") -> tuple[Window, float]:
        """The window of both, and the datapoints that one call for both adds; infinite where it would move buckets."""
        both = Window(
            start_s=min(self.window.start_s, other.window.start_s), end_s=max(self.window.end_s, other.window.end_s)
        )
        grain_s = math.lcm(self.grain_s, other.grain_s)
        if both.start_s % grain_s or both.end_s % grain_s or len(self.queries) + len(other.queries) > QUERIES_A_CALL:
            return both, math.inf
        length_s = both.end_s - both.start_s
        more = (length_s - _length_s(self.window)) * self.a_second + (
            length_s - _length_s(other.window)
        ) * other.a_second
        return both, more

    def take(self, other: "_Lot", window: Window) -> None:
        self.window = window
        self.queries += other.queries
        self.a_second += other.a_second
        self.grain_s = math.lcm(self.grain_s, other.grain_s)


def _shared(lots: Iterable[_Lot], datapoints_a_call: float) -> Iterator[_Lot]:
    """Lots in order of their windows, each put into the one where it adds least, if that is cheaper than a call."""
    recent: deque[_Lot] = deque()
    for lot in sorted(lots, key=lambda one: (one.window.start_s, one.window.end_s)):
        both, more, best = min(
            ((*held.with_lot(lot), held) for held in recent), key=lambda found: found[1], default=(None, math.inf, None)
        )
        if both is not None and best is not None and more < datapoints_a_call:
            best.take(lot, both)
            continue
        recent.append(lot)
        if len(recent) > RECENT_LOTS:
            yield recent.popleft()
    yield from recent


def _cut(window: Window, lot: Sequence[Query]) -> Iterator[Call]:
    """Calls of a lot within both limits; one query alone may need several pages."""
    chosen: list[Query] = []
    datapoints = 0
    for query in lot:
        more = window.buckets(query.period_s)
        if chosen and (len(chosen) == QUERIES_A_CALL or datapoints + more > DATAPOINTS_A_CALL):
            yield Call(window=window, queries=tuple(chosen))
            chosen, datapoints = [], 0
        chosen.append(query)
        datapoints += more
    if chosen:
        yield Call(window=window, queries=tuple(chosen))


def _length_s(window: Window) -> int:
    return window.end_s - window.start_s
