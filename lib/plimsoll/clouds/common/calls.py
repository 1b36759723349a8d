"""Calls: long lists cut to what one call takes, what a call left over tried again, and quotas of calls kept.

Query batches: queries that are sent together over one window.

Small batches of near windows become one where the datapoints that this adds cost less than a call.
"""

import math
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Generic, Protocol, TypeVar

from plimsoll.clouds.common.answers import Deadline, ItemT
from plimsoll.model.errors import CloudError, Endless
from plimsoll.ports import Usage
from plimsoll.reading.cost import QueryCost
from plimsoll.reading.known import Ask, Found
from plimsoll.reading.window import Window

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
    usage: Usage = field(default_factory=Usage)
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
    def window(self) -> Window:
        """The window."""
        ...

    @property
    def period_s(self) -> int:
        """The length of its buckets."""
        ...


QueryT = TypeVar("QueryT", bound=Windowed)


@dataclass(slots=True)
class QueryBatch(Generic[QueryT]):
    """Queries for one window.

    `a_second` is how many datapoints a second of it brings, `grain_s` divides its ends, `finest_s` is its finest
    period.
    """

    window: Window
    queries: list[QueryT] = field(default_factory=list)
    a_second: float = 0.0
    grain_s: int = 1
    finest_s: int = sys.maxsize

    def add(self, query: QueryT) -> None:
        """Takes in a query of the same window."""
        self.queries.append(query)
        self.a_second += 1 / query.period_s
        self.grain_s = math.lcm(self.grain_s, query.period_s)
        self.finest_s = min(self.finest_s, query.period_s)

    def take(self, other: "QueryBatch[QueryT]", window: Window) -> None:
        """Takes in the queries of another batch; the window holds both."""
        self.window = window
        self.queries += other.queries
        self.a_second += other.a_second
        self.grain_s = math.lcm(self.grain_s, other.grain_s)
        self.finest_s = min(self.finest_s, other.finest_s)

    def extra_datapoints(self, window: Window) -> float:
        """The datapoints that another window for the same queries adds."""
        return (_length_s(window) - _length_s(self.window)) * self.a_second


def query_batches(
    queries: Iterable[QueryT], *, datapoints_a_call: float, queries_a_call: int
) -> Iterator[QueryBatch[QueryT]]:
    """Batches of queries, each asked in its own buckets; `datapoints_a_call` datapoints are worth a call less.

    A batch of one window may hold more queries than a call takes; one of several windows never does.
    """
    by_window: dict[Window, QueryBatch[QueryT]] = {}
    for query in queries:
        by_window.setdefault(query.window, QueryBatch(query.window)).add(query)
    batches = sorted(by_window.values(), key=lambda batch: (batch.window.start_s, batch.window.end_s))
    return _merge_batches(batches, datapoints_a_call, queries_a_call)


def _merge_batches(
    batches: Sequence[QueryBatch[QueryT]], datapoints_a_call: float, queries_a_call: int
) -> Iterator[QueryBatch[QueryT]]:
    """The batches, each put into a recent one where it adds least, if that is cheaper than a call."""
    kept_from_s = _kept_from_s(batches)
    recent: deque[QueryBatch[QueryT]] = deque()
    for batch in batches:
        best, least = None, datapoints_a_call
        for held in recent:
            if len(held.queries) + len(batch.queries) > queries_a_call:
                continue
            both = _both(held, batch, kept_from_s)
            if both is not None and (extra := held.extra_datapoints(both) + batch.extra_datapoints(both)) < least:
                best, least = (held, both), extra
        if best is not None:
            held, both = best
            held.take(batch, both)
            continue
        recent.append(batch)
        if len(recent) > RECENT_BATCHES:
            yield recent.popleft()
    yield from recent


def _both(first: QueryBatch[QueryT], second: QueryBatch[QueryT], kept_from_s: Mapping[int, int]) -> Window | None:
    """The window of two batches together. None if one call cannot read it.

    That is so if it would move buckets. It is so too if it begins before the time from which the finest period of them
    is surely kept: CloudWatch refuses fine periods for windows that begin too long ago.
    """
    start_s = min(first.window.start_s, second.window.start_s)
    end_s = max(first.window.end_s, second.window.end_s)
    grain_s = math.lcm(first.grain_s, second.grain_s)
    if start_s % grain_s or end_s % grain_s:
        return None
    if start_s < kept_from_s[min(first.finest_s, second.finest_s)]:
        return None
    return Window(start_s=start_s, end_s=end_s)


def _kept_from_s(batches: Iterable[QueryBatch[QueryT]]) -> dict[int, int]:
    """The start from which each period is known to be kept: a period as fine was asked for from then."""
    kept_from_s: dict[int, int] = {}
    earliest_s = sys.maxsize
    for finest_s, start_s in sorted((batch.finest_s, batch.window.start_s) for batch in batches):
        earliest_s = min(earliest_s, start_s)
        kept_from_s[finest_s] = earliest_s
    return kept_from_s


def _length_s(window: Window) -> int:
    return window.end_s - window.start_s
