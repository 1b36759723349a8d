"""Calls: which queries go into one GetMetricData call.

A call has one window for all its queries, at most 500 of them, and at most 100,800 datapoints on a page. Queries of the
same window go together; small lots of near windows are put into one that holds them all where the datapoints it adds
cost less than a call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.aws.queries import Query
from plimsoll.domain.sums import Window

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_CALL: Final = 100_800
"""Limits of one GetMetricData call (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""


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
    lots: dict[Window, list[Query]] = {}
    for query in queries:
        lots.setdefault(query.window, []).append(query)
    for window, lot in _shared(lots, datapoints_a_call):
        yield from _cut(window, lot)


def _shared(lots: dict[Window, list[Query]], datapoints_a_call: float) -> Iterator[tuple[Window, list[Query]]]:
    """Lots in order of their windows, neighbours put together where that is cheaper."""
    held: tuple[Window, list[Query]] | None = None
    for window in sorted(lots, key=lambda one: (one.start_s, one.end_s)):
        lot = lots[window]
        if held is None:
            held = window, lot
            continue
        both = Window(start_s=min(held[0].start_s, window.start_s), end_s=max(held[0].end_s, window.end_s))
        more = _datapoints(both, held[1]) + _datapoints(both, lot) - _datapoints(*held) - _datapoints(window, lot)
        if len(held[1]) + len(lot) <= QUERIES_A_CALL and more < datapoints_a_call and _aligned(both, [*held[1], *lot]):
            held = both, held[1] + lot
        else:
            yield held
            held = window, lot
    if held is not None:
        yield held


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


def _datapoints(window: Window, lot: Sequence[Query]) -> int:
    return sum(window.buckets(query.period_s) for query in lot)


def _aligned(window: Window, lot: Sequence[Query]) -> bool:
    """Whether every query's buckets begin where they do in its own window, and the longer one ends with a bucket."""
    return all(
        (query.window.start_s - window.start_s) % query.period_s == 0
        and (window.end_s - window.start_s) % query.period_s == 0
        for query in lot
    )
