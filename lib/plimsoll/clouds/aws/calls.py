"""Calls: which queries go into one GetMetricData call.

A call has one window for all its queries, at most 500 of them, and at most 100,800 datapoints on a page. Queries of the
same window go together; small lots of near windows are put into one that holds them all where the datapoints it adds
cost less than a call.
"""

import math
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    for lot in _shared(sorted(lots.values(), key=_Lot.order), datapoints_a_call):
        yield from _cut(lot.window, lot.queries)


@dataclass(slots=True)
class _Lot:
    """Queries for one window.

    How many datapoints a second of it brings, what its ends have to be multiples of, and its finest period.
    """

    window: Window
    queries: list[Query] = field(default_factory=list)
    a_second: float = 0.0
    grain_s: int = 1
    finest_s: int = sys.maxsize

    def order(self) -> tuple[int, int]:
        return self.window.start_s, self.window.end_s

    def add(self, query: Query) -> None:
        self.queries.append(query)
        self.a_second += 1 / query.period_s
        self.grain_s = math.lcm(self.grain_s, query.period_s)
        self.finest_s = min(self.finest_s, query.period_s)

    def take(self, other: "_Lot", window: Window) -> None:
        self.window = window
        self.queries += other.queries
        self.a_second += other.a_second
        self.grain_s = math.lcm(self.grain_s, other.grain_s)
        self.finest_s = min(self.finest_s, other.finest_s)

    def added(self, window: Window) -> float:
        """The datapoints that another window for the same queries adds."""
        return (_length_s(window) - _length_s(self.window)) * self.a_second


def _shared(lots: Sequence[_Lot], datapoints_a_call: float) -> Iterator[_Lot]:
    """The lots, each put into a recent one where it adds least, if that is cheaper than a call."""
    kept_from_s = _kept_from_s(lots)
    recent: deque[_Lot] = deque()
    for lot in lots:
        best, least = None, datapoints_a_call
        for held in recent:
            both = _both(held, lot, kept_from_s)
            if both is not None and (more := held.added(both) + lot.added(both)) < least:
                best, least = (held, both), more
        if best is not None:
            held, both = best
            held.take(lot, both)
            continue
        recent.append(lot)
        if len(recent) > RECENT_LOTS:
            yield recent.popleft()
    yield from recent


def _both(one: _Lot, other: _Lot, kept_from_s: Mapping[int, int]) -> Window | None:
    """The window of two lots together.

    None where one call cannot hold both, where it would move buckets, or where it would begin before what is known to
    be kept in the finest period of them (CloudWatch refuses fine periods for windows that begin too long ago).
    """
    start_s = min(one.window.start_s, other.window.start_s)
    end_s = max(one.window.end_s, other.window.end_s)
    grain_s = math.lcm(one.grain_s, other.grain_s)
    if start_s % grain_s or end_s % grain_s or len(one.queries) + len(other.queries) > QUERIES_A_CALL:
        return None
    if start_s < kept_from_s[min(one.finest_s, other.finest_s)]:
        return None
    return Window(start_s=start_s, end_s=end_s)


def _kept_from_s(lots: Iterable[_Lot]) -> dict[int, int]:
    """From when on each period is known to be kept: something as fine was asked for from then."""
    found: dict[int, int] = {}
    earliest_s = sys.maxsize
    for finest_s, start_s in sorted((lot.finest_s, lot.window.start_s) for lot in lots):
        earliest_s = min(earliest_s, start_s)
        found[finest_s] = earliest_s
    return found


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
