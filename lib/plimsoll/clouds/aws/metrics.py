"""Metrics: series of many volumes at once from CloudWatch's GetMetricData.

Raw sums are asked for and divided elsewhere, because math expressions cannot be paged. Pages are merged by query, and
what comes back partial or broken is asked again, within a bound.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

import cbor2
import numpy as np

from plimsoll.clouds.aws.errors import FAILURES, refused
from plimsoll.clouds.aws.queries import DATAPOINTS_A_CALL, QUERIES_A_CALL, Call, Query, calls_of, metrics_of, queries_of
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.common.calls import Pacer
from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import AccessDenied, CloudError, Unexpected
from plimsoll.domain.period import FloatArray
from plimsoll.domain.query_cost import QueryCost
from plimsoll.domain.volume import Volume
from plimsoll.ports import CallLimits, Target, Usage

ATTEMPTS: Final = 4
"""How often a query is asked whose answer stays partial or broken."""

PERMISSION: Final = "cloudwatch:GetMetricData"
RETENTION_DAYS: Final[Mapping[int, float]] = {60: 15, 300: 63, 3600: 455}
"""How long CloudWatch keeps data of each period (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""

CALL_LIMITS: Final = CallLimits(queries=QUERIES_A_CALL, datapoints=DATAPOINTS_A_CALL)

Answers = dict[Query, FloatArray | CloudError]


@dataclass(slots=True, kw_only=True)
class AwsMetrics:
    """Series from CloudWatch, `parallel` calls at a time, within the pacers' quotas of calls and datapoints a
    second."""

    sessions: Sessions
    calls: Pacer
    datapoints: Pacer
    parallel: int
    query_cost: QueryCost
    sleep: Callable[[float], None] = time.sleep
    usage: Usage = field(default_factory=Usage)
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    visible_after_s: int = 0
    call_limits: CallLimits = CALL_LIMITS
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def series(self, volume: Volume) -> int:
        """How many metrics CloudWatch publishes of it."""
        return sum(1 for _ in metrics_of(volume))

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What each look at a volume found, or why not; all volumes are of one account and region."""
        if not asks:
            return []
        place = f"metrics in {asks[0].volume.account}/{asks[0].volume.region}"
        client = self.sessions.client("cloudwatch", asks[0].volume.account, asks[0].volume.region)
        decode_fast(client)
        queries = [query for number, ask in enumerate(asks) for query in queries_of(number, ask)]
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            calls = calls_of(queries, datapoints_a_call=self.query_cost.datapoints_a_call)
            answers = list(pool.map(lambda call: self._ask(client, call, place), calls))
        return _found(asks, answers)

    def remarks(self, _target: Target) -> Sequence[str]:
        """None: a series of CloudWatch names its volume."""
        return ()

    def _ask(self, client: Any, call: Call, place: str) -> Answers:
        """The series of one call's queries; the error of each that could not be read."""
        answers: Answers = {query: np.full(query.window.buckets(query.period_s), np.nan) for query in call.queries}
        pending, status = call.queries, ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self.sleep(2.0 ** (attempt - 1))
            try:
                statuses = self._pages(client, Call(window=call.window, queries=pending), answers)
            except FAILURES as error:
                return {**answers, **dict.fromkeys(pending, refused(error, f"read {place}", PERMISSION))}
            for query in pending:
                if statuses.get(query) == "Forbidden":
                    answers[query] = AccessDenied(
                        f"cannot read {place}: Forbidden for {PERMISSION} on {query.volume_id}. Allow the action."
                    )
            pending = tuple(query for query in pending if statuses.get(query) not in {"Complete", "Forbidden"})
            if not pending:
                return answers
            status = statuses.get(pending[0], "nothing")
        gave_up = Unexpected(
            f"cannot read {place}: CloudWatch answered {status} {ATTEMPTS} times. The audit goes on without these "
            "volumes; go on with the same run later (--resume; in the service, its run_id)."
        )
        return {**answers, **dict.fromkeys(pending, gave_up)}

    def _pages(self, client: Any, call: Call, answers: Answers) -> dict[Query, str]:
        """Fills the answers from all pages of one call; gives the last status of each query."""
        by_id = {f"q{index}": query for index, query in enumerate(call.queries)}
        request: dict[str, Any] = {
            "MetricDataQueries": [query.asked_as(name) for name, query in by_id.items()],
            "StartTime": datetime.fromtimestamp(call.window.start_s, UTC),
            "EndTime": datetime.fromtimestamp(call.window.end_s, UTC),
            "ScanBy": "TimestampAscending",
            "MaxDatapoints": DATAPOINTS_A_CALL,
        }
        self.datapoints.take(call.datapoints)
        with self._lock:
            self.usage.metrics += len(call.queries)
            self.usage.datapoints += call.datapoints
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
                    _place(series, result, query.window.start_s, query.period_s)
            if not page.get("NextToken"):
                return statuses
            request["NextToken"] = page["NextToken"]


def _place(series: FloatArray, result: Mapping[str, Any], start_s: int, period_s: int) -> None:
    """Puts a page's values where their timestamps say; points outside the window are dropped."""
    index = np.floor((epoch_s(result.get("Timestamps", ())) - start_s) / period_s).astype(np.int64)
    inside = (index >= 0) & (index < len(series))
    series[index[inside]] = np.asarray(result.get("Values", ()), dtype=np.float64)[inside]


def _found(asks: Sequence[Ask], answers: Iterable[Answers]) -> list[Found | CloudError]:
    """The answers by ask; a series that is published under several instances has the highest of them."""
    found: list[dict[str, FloatArray]] = [{} for _ in asks]
    failed: dict[int, CloudError] = {}
    for query, answer in (pair for some in answers for pair in some.items()):
        if isinstance(answer, CloudError):
            failed.setdefault(query.ask, answer)
            continue
        series = found[query.ask]
        before = series.get(query.metric.series)
        series[query.metric.series] = answer if before is None else np.fmax(before, answer)
    return [failed.get(number, series) for number, series in enumerate(found)]


_EVENT: Final = "before-parse.cloudwatch.GetMetricData"
_OK: Final = 200
_PROTOCOLS: Final[dict[str, tuple[Callable[[bytes], Any], bytes]]] = {
    "application/x-amz-json": (json.loads, b"{}"),
    "application/cbor": (cbor2.loads, cbor2.dumps({})),
}
"""By the beginning of the content type: the decoder, and an empty answer."""


def decode_fast(client: Any) -> None:
    """Makes a CloudWatch client decode GetMetricData's answers whole; `epoch_s` reads their timestamps."""
    client.meta.events.register(_EVENT, _decode, unique_id="plimsoll-wire")


def epoch_s(stamps: Sequence[Any]) -> FloatArray:
    """Timestamps in epoch seconds, whether the wire had numbers or the decoder made times of them."""
    if stamps and isinstance(stamps[0], datetime):
        stamps = [stamp.timestamp() for stamp in stamps]
    return np.asarray(stamps, dtype=np.float64)


def _decode(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_others: object) -> None:
    kind = response_dict["headers"].get("content-type", "")
    found = next((found for start, found in _PROTOCOLS.items() if kind.startswith(start)), None)
    if response_dict["status_code"] != _OK or found is None:
        return
    decode, empty = found
    try:
        decoded = decode(response_dict["body"])
    except (ValueError, cbor2.CBORDecodeError):
        return  # botocore reads it again and raises what it raises for a broken answer
    if isinstance(decoded, dict):
        response_dict["body"] = empty
        customized_response_dict.update(decoded)
