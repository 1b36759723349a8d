"""Metrics: series of many volumes at once from CloudWatch's GetMetricData.

Raw sums are asked for and divided elsewhere, because math expressions cannot be paged. Pages are merged by query and
checked as they come (`metric_answers`). What comes back partial, broken or wrong is asked again, within a bound.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from plimsoll.clouds.aws.endpoints import limit_retries
from plimsoll.clouds.aws.errors import FAILURES, cloud_error
from plimsoll.clouds.aws.metric_answers import COMPLETE_STATUS, FORBIDDEN, PERMISSION, Points
from plimsoll.clouds.aws.metric_wire import without_models
from plimsoll.clouds.aws.queries import (
    DATAPOINTS_A_CALL,
    QUERIES_A_CALL,
    RATES,
    Call,
    Query,
    calls_of,
    host_metrics_of,
    metrics_of,
    queries_of,
)
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.bounds import Deadline, Pages
from plimsoll.clouds.common.calls import Pacer
from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.errors import AccessDenied, BadAnswer, CloudError, Endless, Unexpected
from plimsoll.domain.metrics.knowledge import Ask, Found
from plimsoll.domain.metrics.reading_cost import QueryCost
from plimsoll.domain.volume import Volume
from plimsoll.ports import CallLimits, Target, Usage

ATTEMPTS: Final = 4
"""How often a query is asked whose answer stays partial or broken."""

TRIES: Final = 3
"""How often a query is asked whose answers cannot be used. One call in twenty may be such."""

MOST_HALVED: Final = 20
"""Answers of one call that are asked for in halves: enough for two that are spoiled by one query of 500 each."""

PAGES_SPARE: Final = 10
LEAST_DATAPOINTS_A_PAGE: Final = 1_000
"""Pages of fewer datapoints than this, all through a call, are no answer that ends."""

DEADLINE_SETTING: Final = "PLIMSOLL_READ_DEADLINE_S"
READ_DEADLINE_S: Final = 900.0
MOST_CALLS: Final = 5_000_000
RETENTION_DAYS: Final[Mapping[int, float]] = {60: 15, 300: 63, 3600: 455}
"""How long CloudWatch keeps data of each period (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

CALL_LIMITS: Final = CallLimits(queries=QUERIES_A_CALL, datapoints=DATAPOINTS_A_CALL)

Answers = dict[Query, FloatArray | CloudError]


@dataclass(slots=True, kw_only=True)
class AwsMetrics:
    """Series from CloudWatch, `parallel` calls at a time, within the pacers' quotas of calls and datapoints a second.

    One `read` takes at most `read_deadline_s` seconds, and all of them make at most `most_calls` calls.
    """

    sessions: Sessions
    calls: Pacer
    datapoints: Pacer
    parallel: int
    query_cost: QueryCost
    sleep: Callable[[float], None] = time.sleep
    usage: Usage = field(default_factory=Usage)
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    memory_days: float = max(RETENTION_DAYS.values())
    visible_after_s: int = 0
    call_limits: CallLimits = CALL_LIMITS
    read_deadline_s: float = READ_DEADLINE_S
    most_calls: int = MOST_CALLS
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def series(self, volume: Volume) -> int:
        """The number of metrics that CloudWatch publishes of a volume and that are read where every minute is."""
        return sum(1 for metric in metrics_of(volume) if metric.series not in RATES)

    def host_series(self, volume: Volume) -> int:
        """The number of metrics that CloudWatch publishes of the limits of its only host."""
        return sum(1 for _ in host_metrics_of(volume))

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The series of each look at a volume, or why there are none; all volumes are of one account and region."""
        if not asks:
            return []
        place = f"metrics in {asks[0].volume.account}/{asks[0].volume.region}"
        client = self.sessions.client("cloudwatch", asks[0].volume.account, asks[0].volume.region)
        without_models(client, place)
        deadline = Deadline(seconds=self.read_deadline_s)
        queries = [query for number, ask in enumerate(asks) for query in queries_of(number, ask)]
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            calls = calls_of(queries, datapoints_a_call=self.query_cost.datapoints_a_call)
            answers = list(pool.map(lambda call: self._ask(client, call, place, deadline), calls))
        return _series_of_asks(asks, answers)

    def remarks(self, _target: Target) -> Sequence[str]:
        """None: a series of CloudWatch names its volume."""
        return ()

    def _ask(self, client: Any, call: Call, place: str, deadline: Deadline) -> Answers:
        """The series of one call's queries; the error of each that could not be read.

        Queries whose answer cannot be used as a whole are asked in halves, until what spoils it is alone.
        """
        waiting, halved, answers = deque([call.queries]), 0, Answers()
        while waiting:
            part = replace(call, queries=waiting.popleft())
            asked = self._ask_together(client, part, place, deadline)
            if asked.unreadable and len(part.queries) > 1 and halved < MOST_HALVED:
                halved += 1
                middle = len(part.queries) // 2
                waiting += [part.queries[:middle], part.queries[middle:]]
            else:
                answers |= asked.answers
        return answers

    def _ask_together(self, client: Any, call: Call, place: str, deadline: Deadline) -> "_Asked":
        """The state of one call's queries. What is partial, broken or cannot be used is asked again a few times."""
        asked = _Asked(place=place, pending=call.queries)
        for attempt in range(ATTEMPTS):
            if attempt:
                self.sleep(2.0 ** (attempt - 1))
            try:
                asked.take(self._pages(client, Call(window=call.window, queries=asked.pending), place, deadline))
            except FAILURES as error:
                reason = cloud_error(error, f"read {place}", PERMISSION)
                asked.unreadable = isinstance(reason, BadAnswer) and asked.pending == call.queries
                asked.fail(reason)
            except BadAnswer as error:
                asked.refuse(error)
                asked.unreadable = not asked.pending and len(asked.answers) == len(call.queries)
            except Endless as error:
                asked.fail(error)
            if not asked.pending:
                return asked
        asked.fail(
            Unexpected(
                f"cannot read {place}: CloudWatch answered {asked.status} {ATTEMPTS} times. The audit goes on without "
                "these volumes; go on with the same run later (--resume; in the service, its run_id)."
            )
        )
        return asked

    def _pages(self, client: Any, call: Call, place: str, deadline: Deadline) -> Points:
        """The points of all pages of one call; BadAnswer and Endless where they cannot be used or do not end."""
        points = Points(call, place)
        request: dict[str, Any] = {
            "MetricDataQueries": [query.asked_as(name) for name, query in points.ids.items()],
            "StartTime": datetime.fromtimestamp(call.window.start_s, UTC),
            "EndTime": datetime.fromtimestamp(call.window.end_s, UTC),
            "ScanBy": "TimestampAscending",
            "MaxDatapoints": DATAPOINTS_A_CALL,
        }
        pages = Pages(what=f"read {place}", deadline=deadline, most=_most_pages(call), setting=DEADLINE_SETTING)
        self.datapoints.take(call.datapoints)
        with self._lock:
            self.usage.metrics += call.billed_metrics
            self.usage.datapoints += call.datapoints
        while True:
            deadline.check(f"read {place}", DEADLINE_SETTING)
            self.calls.take(1)
            self._count_call(place)
            with limit_retries(deadline):
                page = client.get_metric_data(**request)
            token = points.take(page)
            if not pages.follow(token):
                points.end()
                return points
            request["NextToken"] = token

    def _count_call(self, place: str) -> None:
        """Counts a call; Endless where the run has made all that it may."""
        with self._lock:
            if self.usage.calls >= self.most_calls:
                raise Endless(
                    f"cannot read {place}: this run has made {self.most_calls:,} calls for metrics. Go on with it "
                    "later (--resume), or raise PLIMSOLL_METRIC_CALLS_A_RUN."
                )
            self.usage.calls += 1


@dataclass(slots=True, kw_only=True)
class _Asked:
    """Queries that are asked together until each has an answer; `pending` have none, the last for the `status` said.

    They are `unreadable` if no answer as a whole could be used. What came of those that were partial is kept, and of
    those that could not be used that they were so before.
    """

    place: str
    pending: tuple[Query, ...]
    answers: Answers = field(default_factory=dict)
    status: str = "nothing"
    unreadable: bool = False
    _partly: dict[Query, FloatArray] = field(default_factory=dict)
    _wrong_before: Counter[Query] = field(default_factory=Counter)

    def take(self, points: Points) -> None:
        """Takes in what a round brought."""
        again: list[Query] = []
        for query, series in points.walk_series():
            wrong, status = points.wrong.get(query), points.statuses.get(query, "nothing")
            if wrong is not None:
                if not self._is_given_up(query, wrong):
                    again.append(query)
                continue
            merged = self._partly[query] = _merge_series(series, self._partly.get(query))
            if status == FORBIDDEN:
                self.answers[query] = AccessDenied(
                    f"cannot read {self.place}: Forbidden for {PERMISSION} on {query.volume_id}. Allow the action."
                )
            elif status == COMPLETE_STATUS:
                self.answers[query] = merged
            else:
                again.append(query)
                self.status = status
        self.pending = tuple(again)

    def refuse(self, error: BadAnswer) -> None:
        """Nothing of a round can be used."""
        self.pending = tuple([query for query in self.pending if not self._is_given_up(query, error)])

    def fail(self, error: CloudError) -> None:
        """Nothing more will come."""
        self.answers |= dict.fromkeys(self.pending, error)
        self.pending = ()

    def _is_given_up(self, query: Query, error: BadAnswer) -> bool:
        """True once a query could not be used too often, which is its answer."""
        self._wrong_before[query] += 1
        if self._wrong_before[query] < TRIES:
            return False
        self.answers[query] = error
        return True


def _merge_series(series: FloatArray, before: FloatArray | None) -> FloatArray:
    """A series, and where it has no point what was there before."""
    return series if before is None else np.where(np.isnan(series), before, series)


def _most_pages(call: Call) -> int:
    """More pages than a call can need: each brings a result or its share of the datapoints."""
    return PAGES_SPARE + len(call.queries) + call.datapoints // LEAST_DATAPOINTS_A_PAGE


def _series_of_asks(asks: Sequence[Ask], answers: Iterable[Answers]) -> list[Found | CloudError]:
    """The answers by ask; a series that is published under several instances has the highest of them."""
    series_by_ask: list[dict[str, FloatArray]] = [{} for _ in asks]
    failed: dict[int, CloudError] = {}
    for query, answer in (pair for batch in answers for pair in batch.items()):
        if isinstance(answer, CloudError):
            failed.setdefault(query.ask, answer)
            continue
        series = series_by_ask[query.ask]
        before = series.get(query.metric.series)
        series[query.metric.series] = answer if before is None else np.fmax(before, answer)
    return [failed.get(number, series) for number, series in enumerate(series_by_ask)]
