"""Metrics: series of many volumes at once from CloudWatch's GetMetricData.

Raw sums are asked for and divided elsewhere, because math expressions cannot be paged. Pages are merged by query and
checked as they come (`metric_answers`). What comes back partial, broken or wrong is asked again, within a bound.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from plimsoll.clouds.aws.endpoints import limit_retries
from plimsoll.clouds.aws.errors import FAILURES, cloud_error
from plimsoll.clouds.aws.metric_answers import COMPLETE_STATUS, FORBIDDEN, PERMISSION, Points, without_models
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
from plimsoll.clouds.common.answers import Deadline, Pages, ask_in_halves
from plimsoll.clouds.common.calls import READ_SETTING, MetricReader, Pacer
from plimsoll.model.arrays import FloatArray
from plimsoll.model.errors import AccessDenied, BadAnswer, CloudError, Endless, Unexpected
from plimsoll.model.volume import Volume
from plimsoll.ports import CallLimits, Target, Usage
from plimsoll.reading.known import Ask, Found, find_only_place

ATTEMPTS: Final = 4
"""How often a query is asked whose answer stays partial or broken."""

TRIES: Final = 3
"""How often a query is asked whose answers cannot be used. One call in twenty may be such."""

MOST_HALVED: Final = 20
"""Answers of one call that are asked for in halves: enough for two that are spoiled by one query of 500 each."""

PAGES_SPARE: Final = 10
LEAST_DATAPOINTS_A_PAGE: Final = 1_000
"""Pages of fewer datapoints than this, all through a call, are no answer that ends."""

RETENTION_DAYS: Final[Mapping[int, float]] = {60: 15, 300: 63, 3600: 455}
"""How long CloudWatch keeps data of each period (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

CALL_LIMITS: Final = CallLimits(queries=QUERIES_A_CALL, datapoints=DATAPOINTS_A_CALL)

Answers = dict[Query, FloatArray | CloudError]


@dataclass(slots=True, kw_only=True)
class AwsMetrics(MetricReader):
    """Series from CloudWatch, within the quotas of calls and of datapoints a second."""

    sessions: Sessions
    usage: Usage = field(default_factory=Usage)
    datapoints: Pacer
    sleep: Callable[[float], None] = time.sleep
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    memory_days: float = max(RETENTION_DAYS.values())
    visible_after_s: int = 0
    call_limits: CallLimits = CALL_LIMITS

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
        account, region = find_only_place(asks)
        place = f"metrics in {account}/{region}"
        client = self.sessions.client("cloudwatch", account, region)
        without_models(client, place)
        deadline = Deadline(seconds=self.read_deadline_s)
        queries = [query for number, ask in enumerate(asks) for query in queries_of(number, ask)]
        calls = calls_of(queries, datapoints_a_call=self.query_cost.datapoints_a_call)
        series_by_ask: list[dict[str, FloatArray]] = [{} for _ in asks]

        def ask_and_fill(call: Call) -> dict[int, CloudError]:
            answers = self._ask(client, call, place, deadline)
            with self._lock:
                return _fill_series(series_by_ask, answers)

        def answer_of(number: int) -> Found:
            series = series_by_ask[number]
            return {name: series[name] for name in asks[number].look.series if name in series}

        return self.read_all(asks, calls, ask_and_fill, answer_of)

    def remarks(self, _target: Target) -> Sequence[str]:
        """None: a series of CloudWatch names its volume."""
        return ()

    def _ask(self, client: Any, call: Call, place: str, deadline: Deadline) -> Answers:
        """The series of one call's queries; the error of each that could not be read.

        Queries whose answer cannot be used as a whole are asked in halves, until what spoils it is alone.
        """
        answers = Answers()
        for _, asked in ask_in_halves(
            call.queries,
            lambda queries: self._ask_together(
                client, Call(window=call.window, queries=tuple(queries)), place, deadline
            ),
            lambda asked: asked.unreadable,
            MOST_HALVED,
        ):
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
                f"cannot read {place}: CloudWatch answered {asked.status} {ATTEMPTS} times. These volumes are left "
                "out; continue the same run later (--resume; in the service, its run_id)."
            )
        )
        return asked

    def _pages(self, client: Any, call: Call, place: str, deadline: Deadline) -> Points:
        """The points of all pages of one call; BadAnswer and Endless where they cannot be used or do not end."""
        what, points = f"read {place}", Points(call, place)
        request: dict[str, Any] = {
            "MetricDataQueries": [query.asked_as(name) for name, query in points.ids.items()],
            "StartTime": datetime.fromtimestamp(call.window.start_s, UTC),
            "EndTime": datetime.fromtimestamp(call.window.end_s, UTC),
            "ScanBy": "TimestampAscending",
            "MaxDatapoints": DATAPOINTS_A_CALL,
        }
        pages = Pages(what=what, deadline=deadline, most=_most_pages(call), setting=READ_SETTING)
        self.datapoints.take(call.datapoints)
        self.count_answer(call.billed_metrics, call.datapoints)
        while True:
            self.begin_call(what, deadline)
            with limit_retries(deadline):
                page = client.get_metric_data(**request)
            token = points.take(page)
            if not pages.follow(token):
                points.end()
                return points
            request["NextToken"] = token


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


def _fill_series(series_by_ask: Sequence[dict[str, FloatArray]], answers: Answers) -> dict[int, CloudError]:
    """Puts answers in; returns the errors by ask. A series under several instances has the highest of them."""
    failed: dict[int, CloudError] = {}
    for query, answer in answers.items():
        if isinstance(answer, CloudError):
            failed.setdefault(query.ask, answer)
            continue
        series, name = series_by_ask[query.ask], query.metric.series
        series[name] = np.fmax(series[name], answer) if name in series else answer
    return failed
