"""Lots: queries that are asked together over one window.

Small lots of near windows are put into one that holds them all where the datapoints it adds cost less than a call.
"""

import math
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from plimsoll.domain.sums import Window

RECENT_LOTS: Final = 64
"""How many lots a further one is held against."""


class Windowed(Protocol):
    """What is asked over a window in a period."""

    @property
    def window(self) -> Window:
        """The window."""
        ...

    @property
    def period_s(self) -> int:
        """The length of its buckets."""
        ...


Query = TypeVar("Query", bound=Windowed)


@dataclass(slots=True)
class Lot(Generic[Query]):
    """Queries for one window.

    How many datapoints a second of it brings, what its ends have to be multiples of, and its finest period.
    """

    window: Window
    queries: list[Query] = field(default_factory=list)
    a_second: float = 0.0
    grain_s: int = 1
    finest_s: int = sys.maxsize

    def add(self, query: Query) -> None:
        """Takes a query of the same window in."""
        self.queries.append(query)
        self.a_second += 1 / query.period_s
        self.grain_s = math.lcm(self.grain_s, query.period_s)
        self.finest_s = min(self.finest_s, query.period_s)

    def take(self, other: "Lot[Query]", window: Window) -> None:
        """Takes the queries of another lot in; the window holds both."""
        self.window = window
        self.queries += other.queries
        self.a_second += other.a_second
        self.grain_s = math.lcm(self.grain_s, other.grain_s)
        self.finest_s = min(self.finest_s, other.finest_s)

    def added(self, window: Window) -> float:
        """The datapoints that another window for the same queries adds."""
        return (_length_s(window) - _length_s(self.window)) * self.a_second


def lots_of(queries: Iterable[Query], *, datapoints_a_call: float, queries_a_call: int) -> Iterator[Lot[Query]]:
    """Lots of some queries, each asked in buckets of its own; `datapoints_a_call` is how many are worth a call less.

    A lot of one window may hold more queries than a call takes; one of several windows never does.
    """
    by_window: dict[Window, Lot[Query]] = {}
    for query in queries:
        by_window.setdefault(query.window, Lot(query.window)).add(query)
    lots = sorted(by_window.values(), key=lambda lot: (lot.window.start_s, lot.window.end_s))
    return _shared(lots, datapoints_a_call, queries_a_call)


def _shared(lots: Sequence[Lot[Query]], datapoints_a_call: float, queries_a_call: int) -> Iterator[Lot[Query]]:
    """The lots, each put into a recent one where it adds least, if that is cheaper than a call."""
    kept_from_s = _kept_from_s(lots)
    recent: deque[Lot[Query]] = deque()
    for lot in lots:
        best, least = None, datapoints_a_call
        for held in recent:
            if len(held.queries) + len(lot.queries) > queries_a_call:
                continue
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


def _both(one: Lot[Query], other: Lot[Query], kept_from_s: Mapping[int, int]) -> Window | None:
    """The window of two lots together.

    None where it would move buckets, or where it would begin before what is known to be kept in the finest period of
    them (CloudWatch refuses fine periods for windows that begin too long ago).
    """
    start_s = min(one.window.start_s, other.window.start_s)
    end_s = max(one.window.end_s, other.window.end_s)
    grain_s = math.lcm(one.grain_s, other.grain_s)
    if start_s % grain_s or end_s % grain_s:
        return None
    if start_s < kept_from_s[min(one.finest_s, other.finest_s)]:
        return None
    return Window(start_s=start_s, end_s=end_s)


def _kept_from_s(lots: Iterable[Lot[Query]]) -> dict[int, int]:
    """From when on each period is known to be kept: something as fine was asked for from then."""
    found: dict[int, int] = {}
    earliest_s = sys.maxsize
    for finest_s, start_s in sorted((lot.finest_s, lot.window.start_s) for lot in lots):
        earliest_s = min(earliest_s, start_s)
        found[finest_s] = earliest_s
    return found


def _length_s(window: Window) -> int:
    return window.end_s - window.start_s
