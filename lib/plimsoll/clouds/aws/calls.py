"""Calls: which queries go into one GetMetricData call.

A call has one window for all its queries, at most 500 of them, and at most 100,800 datapoints on a page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.clouds.aws.queries import Query
from plimsoll.clouds.common.query_batches import query_batches
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
    for batch in query_batches(queries, datapoints_a_call=datapoints_a_call, queries_a_call=QUERIES_A_CALL):
        yield from _cut(batch.window, batch.queries)


def _cut(window: Window, batch: Sequence[Query]) -> Iterator[Call]:
    """Calls of a batch within both limits; one query alone may need several pages."""
    chosen: list[Query] = []
    datapoints = 0
    for query in batch:
        more = window.buckets(query.period_s)
        if chosen and (len(chosen) == QUERIES_A_CALL or datapoints + more > DATAPOINTS_A_CALL):
            yield Call(window=window, queries=tuple(chosen))
            chosen, datapoints = [], 0
        chosen.append(query)
        datapoints += more
    if chosen:
        yield Call(window=window, queries=tuple(chosen))
