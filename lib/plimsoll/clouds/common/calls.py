"""Calls: long lists cut to what one call takes, what a call left over tried again, and quotas of calls kept.

Query batches: queries that are sent together over one window.

Small batches of near windows become one where the datapoints that this adds cost less than a call.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from plimsoll.clouds.common.answers import Deadline, ItemT
from plimsoll.model.errors import CloudError, Endless
from plimsoll.reading.window import Window

if TYPE_CHECKING:
    # Functions that answer Slack call a cloud too, and need nothing of what reading metrics takes.
    from plimsoll.ports import Usage
    from plimsoll.reading.cost import QueryCost
    from plimsoll.reading.known import Ask, Found

CallT = TypeVar("CallT")


def in_chunks(items: Iterable[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """The items in tuples of at most `size`."""
    iterator = iter(items)
    while chunk := tuple(islice(iterator, size)):
        yield chunk


def in_lots(
    items: Iterable[ItemT], *, count: int, weight: float, weigh: Callable[[ItemT], float]
) -> Iterator[Sequence[ItemT]]:
    """The items in lots of at most `count`, together of at most that weight; a heavier one comes alone."""
    lot: list[ItemT] = []
    filled = 0.0
    for item in items:
        item_weight = weigh(item)
        if lot and (len(lot) == count or filled + item_weight > weight):
            yield lot
            lot, filled = [], 0.0
        lot.append(item)
        filled += item_weight
    if lot:
        yield lot


SEND_ATTEMPTS: Final = 8
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 5.0


def send_all(
    items: Sequence[ItemT], attempt: Callable[[Sequence[ItemT]], Sequence[ItemT]], sleep: Callable[[float], None]
) -> Sequence[ItemT]:
    """Sends the items until none is left, at most SEND_ATTEMPTS times; returns those still left.

    An attempt gives back the items that were not taken. Before the next one it waits a random part of a bound, which
    doubles from 0.1 s up to 5 s, so that many callers spread.
    """
    left = items
    for number in range(SEND_ATTEMPTS):
        left = attempt(left)
        if not left:
            break
        if number + 1 < SEND_ATTEMPTS:
            longest_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**number)
            sleep(random.uniform(0, longest_s))  # noqa: S311  # chance, not secrecy
    return left


@dataclass(slots=True)
class Pacer:
    """Lets work through at most at `rate` units a second, with up to `burst_s` seconds' worth at once.

    A quota holds a second's worth; a little less is used, so that calls that bunch up on their way do not overdraw it.
    """

    rate: float
    burst_s: float = 0.8
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _free_at: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take(self, units: float) -> None:
        """Waits until that many units may be spent."""
        with self._lock:
            now = self.clock()
            self._free_at = max(self._free_at, now - self.burst_s) + units / self.rate
            wait = self._free_at - now
        if wait > 0:
            self.sleep(wait)


READ_SETTING: Final = "PLIMSOLL_READ_DEADLINE_S"
READ_DEADLINE_S: Final = 900.0
MOST_CALLS: Final = 5_000_000


@dataclass(slots=True, kw_only=True)
class MetricReader:
    """A reader of metrics: `parallel` calls at a time, within the quota of calls a second.

    A read takes at most `read_deadline_s` seconds, and all of them make at most `most_calls` calls.
    """

    calls: Pacer
    parallel: int
    query_cost: QueryCost
    usage: Usage
    read_deadline_s: float = READ_DEADLINE_S
    most_calls: int = MOST_CALLS
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def read_all(
        self,
        asks: Sequence[Ask],
        calls: Iterable[CallT],
        ask: Callable[[CallT], Mapping[int, CloudError]],
        answer_of: Callable[[int], Found],
    ) -> list[Found | CloudError]:
        """The answer of each look once all calls are made, or the first error of its calls."""
        failed: dict[int, CloudError] = {}
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            for errors in pool.map(ask, calls):
                failed = {**errors, **failed} if errors else failed
        return [failed.get(number) or answer_of(number) for number in range(len(asks))]

    def begin_call(self, what: str, deadline: Deadline) -> None:
        """Waits for a call's turn, and counts it. Raises Endless after the deadline, or if the run may make no more."""
        deadline.check(what, READ_SETTING)
        self.calls.take(1)
        with self._lock:
            if self.usage.calls >= self.most_calls:
                raise Endless(
                    f"cannot {what}: this run has made {self.usage.calls:,} calls for metrics. Go on with it later "
                    "(--resume), audit fewer places at once, or raise PLIMSOLL_METRIC_CALLS_A_RUN."
                )
            self.usage.calls += 1

    def count_answer(self, metrics: int, datapoints: int) -> None:
        """Counts what is billed of a call."""
        with self._lock:
            self.usage.metrics += metrics
            self.usage.datapoints += datapoints


RECENT_BATCHES: Final = 64
"""The batches with which a further one is compared."""


class Windowed(Protocol):
    """A query over a window in a period."""

    @property
    def window(self) -> Window: ...  # named by its class
    @property
    def period_s(self) -> int: ...


QueryT = TypeVar("QueryT", bound=Windowed)


@dataclass(slots=True)
class QueryBatch(Generic[QueryT]):
    """Queries for one window."""

    window: Window
    queries: list[QueryT]
    a_second: float  # datapoints a second of the window
    grain_s: int  # divides both ends of the window
    finest_s: int  # the finest period

    def take(self, other: QueryBatch[QueryT], window: Window) -> None:
        """Takes in the queries of another batch; the window holds both."""
        self.window = window
        self.queries += other.queries
        self.a_second += other.a_second
        self.grain_s = math.lcm(self.grain_s, other.grain_s)
        self.finest_s = min(self.finest_s, other.finest_s)


def query_batches(
    queries: Iterable[QueryT], *, datapoints_a_call: float, queries_a_call: int
) -> Sequence[QueryBatch[QueryT]]:
    """Batches of queries, each asked in its own buckets; `datapoints_a_call` datapoints are worth a call less.

    A batch is put into the recent one where that adds the fewest datapoints. A batch of one window may hold more
    queries than a call takes; one of several windows never does. None begins before its finest period was asked for
    anyway: CloudWatch refuses fine periods for windows that begin too long ago.
    """
    by_window: dict[Window, QueryBatch[QueryT]] = {}
    for query in queries:
        batch = QueryBatch(query.window, [query], 1 / query.period_s, query.period_s, query.period_s)
        before = by_window.setdefault(query.window, batch)
        if before is not batch:
            before.take(batch, query.window)
    batches = sorted(by_window.values(), key=lambda batch: (batch.window.start_s, batch.window.end_s))
    kept_from_s: dict[int, int] = {}
    for batch in batches:
        kept_from_s.setdefault(batch.finest_s, batch.window.start_s)
    merged: list[QueryBatch[QueryT]] = []
    for batch in batches:
        best, least, length_s = None, datapoints_a_call, batch.window.buckets(1)
        for held in merged[-RECENT_BATCHES:]:
            start_s, end_s = held.window.start_s, max(held.window.end_s, batch.window.end_s)
            extra = (end_s - held.window.end_s) * held.a_second + (end_s - start_s - length_s) * batch.a_second
            if extra < least and len(held.queries) + len(batch.queries) <= queries_a_call:
                grain_s, finest_s = math.lcm(held.grain_s, batch.grain_s), min(held.finest_s, batch.finest_s)
                kept = any(period_s <= finest_s and from_s <= start_s for period_s, from_s in kept_from_s.items())
                if kept and not start_s % grain_s and not end_s % grain_s:
                    best, least = (held, Window(start_s=start_s, end_s=end_s)), extra
        if best is None:
            merged.append(batch)
        else:
            best[0].take(batch, best[1])
    return merged
