"""Metrics: series of many disks at once from Cloud Monitoring's ListTimeSeries.

Counts are added up over a bucket (ALIGN_SUM) and peaks are its highest (ALIGN_MAX): both aligners are of what was
reported alone and give no point where nothing was, while ALIGN_DELTA and ALIGN_RATE interpolate
(google-cloud-monitoring 2.32, Aggregation.Aligner).

A point covers what ended at its time: an aligned one the whole period before it, start excluded and end included. The
ends of aligned ones are counted back from the end of what was asked. Where nothing was reported there is no point.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
from google.api_core.exceptions import NotFound, from_grpc_status
from google.cloud import monitoring_v3

from plimsoll.clouds.common.calls import Pacer
from plimsoll.clouds.google.clients import CALL_S, Clients
from plimsoll.clouds.google.errors import AUDITING, FAILURES, refused
from plimsoll.clouds.google.names import LIST_TIME_SERIES
from plimsoll.clouds.google.queries import (
    METRICS,
    NAMES_A_CALL,
    POINTS_A_PAGE,
    Call,
    Place,
    Query,
    calls_of,
    claims_of,
    grid_s,
    places_of,
    queries_of,
)
from plimsoll.domain.branch_and_bound import Ask, Found
from plimsoll.domain.errors import CloudError, Unexpected
from plimsoll.domain.knowledge import BoolArray, IntArray, Look
from plimsoll.domain.period import FloatArray
from plimsoll.domain.query_cost import QueryCost
from plimsoll.domain.volume import Volume
from plimsoll.ports import CallLimits, Target, Usage

_DOUBLE: Final = 3
"""google.api.MetricDescriptor.ValueType of values that are not whole numbers."""


def points_of(series: Any) -> tuple[IntArray, FloatArray]:
    """When each point of a `TimeSeries` (the protobuf message itself) ends, in epoch seconds, and its value."""
    points = series.points
    ends_s = np.array([point.interval.end_time.seconds for point in points], dtype=np.int64)
    if series.value_type == _DOUBLE:
        values = np.array([point.value.double_value for point in points], dtype=np.float64)
    else:
        values = np.array([point.value.int64_value for point in points], dtype=np.float64)
    return ends_s, values


@dataclass(slots=True, kw_only=True)
class Cell:
    """One series of one look while its points arrive, in any order and from any number of series.

    In buckets of `grid_s`, of which the look's are a multiple; `added` where points of one bucket are added up, else
    the highest stands. `highest` where buckets of the grid become those of the look by their highest.
    """

    look: Look
    grid_s: int
    added: bool
    highest: bool
    _values: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Begins with no point."""
        self._values = np.full(self.look.window.buckets(self.look.period_s) * self.look.period_s // self.grid_s, np.nan)

    def place(self, ends_s: IntArray, values: FloatArray, inside: BoolArray) -> None:
        """Takes in those points that are `inside`."""
        at = (ends_s[inside] - 1 - self.look.window.start_s) // self.grid_s
        if self.added:
            self._values[at[np.isnan(self._values[at])]] = 0.0
            np.add.at(self._values, at, values[inside])
        else:
            np.fmax.at(self._values, at, values[inside])

    def folded(self) -> FloatArray:
        """The buckets of the look, NaN where there is no point."""
        factor = self.look.period_s // self.grid_s
        if factor == 1:
            return self._values
        buckets = self._values.reshape(-1, factor)
        folded = np.fmax.reduce(buckets, axis=1) if self.highest else np.nansum(buckets, axis=1)
        return np.where(np.isnan(buckets).all(axis=1), np.nan, folded)


class Cells:
    """The cells of all asks at one project and region, and which disk is where now (`places`, by volume id)."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        self.project = asks[0].volume.account
        self.place = f"{self.project}/{asks[0].volume.region}"
        self.places = places_of(ask.volume for ask in asks)
        self._asks = asks
        self._cells = {
            (number, series): _cell(ask, series)
            for number, ask in enumerate(asks)
            for series in ask.look.series
            if series in METRICS
        }

    def is_of(self, number: int, where: Place) -> bool:
        """Whether an ask's disk is at a place that is known."""
        return self.places[where] == self._asks[number].volume.id

    def of(self, query: Query) -> Cell:
        """Where the points of a query go."""
        return self._cells[query.ask, query.series]

    def found(self, number: int) -> Found:
        """What an ask found."""
        series = self._asks[number].look.series
        return {name: self._cells[number, name].folded() for name in series if name in METRICS}


def _cell(ask: Ask, series: str) -> Cell:
    """Counts are added up; so are peaks of a disk on several instances, and else the highest stands."""
    peak = METRICS[series].peak
    return Cell(
        look=ask.look,
        grid_s=grid_s(ask, series),
        added=not peak or len(ask.volume.attachments) > 1,
        highest=peak,
    )


RETENTION_DAYS: Final[Mapping[int, float]] = {60: 42}
"""How long Cloud Monitoring keeps each period: six weeks as reported (third parties, read 2026-11-22; unverified).
What some metrics keep beyond that, in ten-minute intervals, is not read: it may be means, which hide peaks."""

VISIBLE_AFTER_S: Final = 240
"""How long after its minute a point may still be missing (Google's list of Compute Engine metrics, read 2026-11-20)."""

NEVER_WRITTEN: Final = "Cannot find metric"
"""What the refusal says of a metric that nothing in the project has ever written (as users report it of other methods,
read 2026-11-22; unverified here): it has no points."""

_LEFT: Final = (
    "the metrics have work of instances that are deleted or hold the disk no longer: what was measured there under a "
    "disk's own name counts as that disk's; under any other device name nobody can tell whose it was, so that it does "
    "not count."
)

_READING: Final = replace(
    AUDITING,
    again=f"{AUDITING.again}, or lower PLIMSOLL_GOOGLE_CALLS_PER_S",
)

_Shape = monitoring_v3.ListTimeSeriesRequest
_SUM, _MAX = monitoring_v3.Aggregation.Aligner.ALIGN_SUM, monitoring_v3.Aggregation.Aligner.ALIGN_MAX


@dataclass(slots=True, kw_only=True)
class GoogleMetrics:
    """Series from Cloud Monitoring, `parallel` calls at a time, within the pacer's quota of calls a second.

    `attached` gives the places of a project where a disk is attached now; its CloudError names the place it is given.
    """

    clients: Clients
    calls: Pacer
    parallel: int
    query_cost: QueryCost
    attached: Callable[[str, str], Collection[Place]]
    usage: Usage = field(default_factory=Usage)
    retention_days: Mapping[int, float] = field(default_factory=lambda: RETENTION_DAYS)
    visible_after_s: int = VISIBLE_AFTER_S
    _left: set[str] = field(default_factory=set, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def call_limits(self) -> CallLimits:
        """Those of ListTimeSeries: what one filter names, what one page holds."""
        return CallLimits(queries=NAMES_A_CALL, datapoints=POINTS_A_PAGE)

    def series(self, volume: Volume) -> int:
        """How many series Cloud Monitoring publishes of it: those of each place that it is known to be at."""
        return len(METRICS) * len(claims_of(volume))

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """What each look at a disk found, or why not; all disks are of one project and region."""
        if not asks:
            return []
        here = Cells(asks)
        queries = [query for number, ask in enumerate(asks) for query in queries_of(number, ask)]
        calls = list(calls_of(queries, datapoints_a_call=self.query_cost.datapoints_a_call))
        client = self.clients.metrics
        with ThreadPoolExecutor(max_workers=self.parallel) as pool:
            outcomes = list(pool.map(lambda call: self._ask(client, call, here), calls))
        failed: dict[int, CloudError] = {}
        for call, error in zip(calls, outcomes, strict=True):
            if error is not None:
                failed |= {query.ask: error for query in call.queries if query.ask not in failed}
        return [failed.get(number) or here.found(number) for number in range(len(asks))]

    def remarks(self, target: Target) -> Sequence[str]:
        """Whether disks did a part of their work where they are no more."""
        return (_LEFT,) if str(target) in self._left else ()

    def _ask(self, client: monitoring_v3.MetricServiceClient, call: Call, here: Cells) -> CloudError | None:
        """Puts the points of a call into their cells, page by page; the error that ended it."""
        request = _request(call, here.project)
        try:
            while True:
                page = self.clients.retry(partial(self._page, client))(request)
                self._take(page, call, here)
                if not page.next_page_token:
                    return None
                if page.next_page_token == request.page_token:
                    return Unexpected(
                        f"cannot read metrics in {here.place}: Cloud Monitoring gave the same page twice. "
                        f"{_READING.goes_on}; run again later."
                    )
                request.page_token = page.next_page_token
        except CloudError as error:
            return error
        except FAILURES as error:
            if isinstance(error, NotFound) and NEVER_WRITTEN in str(error):
                return None
            return refused(error, f"read metrics in {here.place}", here.place, LIST_TIME_SERIES, _READING)

    def _page(self, client: monitoring_v3.MetricServiceClient, request: Any) -> Any:
        """One page as protobuf, whose fields are read many times faster than through the client's own wrapping.

        An answer that says that it lacks something is an error.
        """
        self.calls.take(1)
        with self._lock:
            self.usage.calls += 1
        pages = client.list_time_series(request=_Shape.wrap(request), retry=None, timeout=CALL_S).pages
        page = monitoring_v3.ListTimeSeriesResponse.pb(next(iter(pages)))
        for status in page.execution_errors:
            lacks = f"the answer lacks something: {status.message}"
            raise from_grpc_status(status.code, lacks)  # type: ignore[no-untyped-call]  # google.api_core has no types
        return page

    def _take(self, page: Any, call: Call, here: Cells) -> None:
        takers = call.by_place()
        points = 0
        for series in page.time_series:
            instance_id, device = series.resource.labels["instance_id"], series.metric.labels["device_name"]
            ends_s, values = points_of(series)
            points += len(values)
            for place in (instance_id, series.resource.labels["zone"]):
                for query in takers.get((place, device), ()):
                    inside = (ends_s > query.window.start_s) & (ends_s <= query.window.end_s)
                    if not inside.any() or not self._is_of(query.ask, (instance_id, device), here):
                        continue
                    with self._lock:
                        here.of(query).place(ends_s, values, inside)
        with self._lock:
            self.usage.metrics += len(page.time_series)
            self.usage.datapoints += points

    def _is_of(self, ask: int, where: Place, here: Cells) -> bool:
        """Whether a series may be of an ask's disk: no other one has that place now."""
        if where in here.places:
            return here.is_of(ask, where)
        if where in self.attached(here.project, here.place):
            return False
        with self._lock:
            self._left.add(here.place)
        return True


def _request(call: Call, project: str) -> Any:
    """A call as protobuf."""
    request = _Shape.pb(_Shape(name=f"projects/{project}", filter=call.filter_in(project), page_size=POINTS_A_PAGE))
    request.interval.start_time.seconds = call.window.start_s
    request.interval.end_time.seconds = call.window.end_s
    request.aggregation.alignment_period.seconds = call.period_s
    request.aggregation.per_series_aligner = _MAX if call.metric.peak else _SUM
    return request
