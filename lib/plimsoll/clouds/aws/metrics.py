"""Metrics: sums of many volumes at once from CloudWatch's GetMetricData.

Raw sums are asked for and divided elsewhere, because math expressions cannot be paged. A call holds as many queries as
fit both of CloudWatch's limits, 500 queries and 100,800 datapoints; pages are merged by query, and what comes back
partial or broken is asked again, within a bound.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from plimsoll.clouds.aws.errors import FAILURES, translate
from plimsoll.clouds.aws.pacing import Pacer
from plimsoll.clouds.aws.paging import in_chunks
from plimsoll.clouds.aws.queries import Query, queries_of
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.aws.wire import decode_fast, epoch_s
from plimsoll.domain.errors import AccessDenied, CloudError, Unexpected
from plimsoll.domain.period import FloatArray
from plimsoll.domain.sums import COUNTER_SERIES, Sums, Window
from plimsoll.domain.volume import Volume
from plimsoll.ports import Reading, Usage

QUERIES_A_CALL: Final = 500
DATAPOINTS_A_CALL: Final = 100_800
"""Limits of one GetMetricData call (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

ATTEMPTS: Final = 4
"""How often a query is asked whose answer stays partial or broken."""

PERMISSION: Final = "cloudwatch:GetMetricData"
RETENTION_DAYS: Final[Mapping[int, float]] = {60: 15, 300: 63, 3600: 455}
"""How long CloudWatch keeps data of each period (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

Answers = dict[Query, FloatArray | CloudError]


@dataclass(slots=True, kw_only=True)
class AwsMetrics:
    """Sums from CloudWatch, `parallel` calls at a time, within the pacers' quotas of calls and datapoints a second."""

    sessions: Sessions
    calls: Pacer
    datapoints: Pacer
    parallel: int
    sleep: Callable[[float], None] = time.sleep
    usage: Usage = field(default_factory=Usage)
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def read(self, volumes: Sequence[Volume], window: Window, period_s: int) -> Reading:
        """The sums of volumes of one account and region; each volume is in exactly one of `sums` and `failed`."""
        if not volumes:
            return Reading(sums={})
        place = f"metrics in {volumes[0].account}/{volumes[0].region}"
        client = self.sessions.client("cloudwatch", volumes[0].account, volumes[0].region)
        decode_fast(client)
        queries = [query for volume in volumes for query in queries_of(volume)]
        size = max(1, min(QUERIES_A_CALL, DATAPOINTS_A_CALL // max(1, window.buckets(period_s))))
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            asked = pool.map(lambda chunk: self._ask(client, chunk, window, period_s, place), in_chunks(queries, size))
            answers: Answers = {query: answer for found in asked for query, answer in found.items()}
        return _reading(volumes, answers, window, period_s)

    def _ask(self, client: Any, queries: Sequence[Query], window: Window, period_s: int, place: str) -> Answers:
        """The series of some queries; the error of each that could not be read."""
        answers: Answers = {query: np.full(window.buckets(period_s), np.nan) for query in queries}
        pending, status = queries, ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self.sleep(2.0 ** (attempt - 1))
            try:
                statuses = self._pages(client, pending, window, period_s, answers)
            except FAILURES as error:
                return {**answers, **dict.fromkeys(pending, translate(error, place, PERMISSION))}
            for query in pending:
                if statuses.get(query) == "Forbidden":
                    answers[query] = AccessDenied(
                        f"cannot read {place}: Forbidden for {PERMISSION} on {query.volume_id}. Allow the action."
                    )
            pending = [query for query in pending if statuses.get(query) not in {"Complete", "Forbidden"}]
            if not pending:
                return answers
            status = statuses.get(pending[0], "nothing")
        gave_up = Unexpected(
            f"cannot read {place}: CloudWatch answered {status} {ATTEMPTS} times. The audit goes on without these "
            "volumes; run again with --resume."
        )
        return {**answers, **dict.fromkeys(pending, gave_up)}

    def _pages(
        self, client: Any, queries: Sequence[Query], window: Window, period_s: int, answers: Answers
    ) -> dict[Query, str]:
        """Fills the answers from all pages of one call; gives the last status of each query."""
        by_id = {f"q{index}": query for index, query in enumerate(queries)}
        request: dict[str, Any] = {
            "MetricDataQueries": [query.asked_as(name, period_s) for name, query in by_id.items()],
            "StartTime": datetime.fromtimestamp(window.start_s, UTC),
            "EndTime": datetime.fromtimestamp(window.end_s, UTC),
            "ScanBy": "TimestampAscending",
            "MaxDatapoints": DATAPOINTS_A_CALL,
        }
        self.datapoints.take(len(queries) * window.buckets(period_s))
        with self._lock:
            self.usage.metrics += len(queries)
            self.usage.datapoints += len(queries) * window.buckets(period_s)
        statuses: dict[Query, str] = {}
        while True:
            self.calls.take(1)
            with self._lock:
                self.usage.calls += 1
            page = client.get_metric_data(**request)
            for result in page.get("MetricDataResults", ()):
                query = by_id[result["Id"]]
                statuses[query] = result.get("StatusCode", "Complete")
                series = answers[query]
                if isinstance(series, np.ndarray):
                    _place(series, result, window.start_s, period_s)
            if not page.get("NextToken"):
                return statuses
            request["NextToken"] = page["NextToken"]


def _place(series: FloatArray, result: Mapping[str, Any], start_s: int, period_s: int) -> None:
    """Puts a page's values where their timestamps say; points outside the window are dropped."""
    index = np.floor((epoch_s(result.get("Timestamps", ())) - start_s) / period_s).astype(np.int64)
    inside = (index >= 0) & (index < len(series))
    series[index[inside]] = np.asarray(result.get("Values", ()), dtype=np.float64)[inside]


def _reading(volumes: Iterable[Volume], answers: Answers, window: Window, period_s: int) -> Reading:
    found: dict[str, dict[str, FloatArray]] = {}
    failed: dict[str, CloudError] = {}
    for query, answer in answers.items():
        if isinstance(answer, CloudError):
            failed.setdefault(query.volume_id, answer)
            continue
        series = found.setdefault(query.volume_id, {})
        before = series.get(query.series)
        series[query.series] = answer if before is None else np.fmax(before, answer)
    sums = {
        volume.id: Sums(start_s=window.start_s, period_s=period_s, **_published(found[volume.id]))
        for volume in volumes
        if volume.id not in failed
    }
    return Reading(sums=sums, failed=failed)


def _published(series: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The four sums, and of the others those that CloudWatch has any point of."""
    return {name: values for name, values in series.items() if name in COUNTER_SERIES or not np.isnan(values).all()}
