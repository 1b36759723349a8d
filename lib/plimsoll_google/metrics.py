"""Metrics: series of many disks at once from Cloud Monitoring's ListTimeSeries.

Counts are added up over a bucket (ALIGN_SUM) and peaks are its highest (ALIGN_MAX): both aligners are of what was
reported alone and give no point where nothing was, while ALIGN_DELTA and ALIGN_RATE interpolate
(google-cloud-monitoring 2.32, Aggregation.Aligner).

A point covers what ended at its time: an aligned one the whole period before it, start excluded and end included. The
ends of aligned ones are counted back from the end of what was asked. Where nothing was reported there is no point.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from google.api_core.exceptions import NotFound, from_grpc_status
from google.cloud import monitoring_v3

from plimsoll.clouds.common.answers import Deadline, Pages, ask_again, bad_answer
from plimsoll.clouds.common.calls import READ_SETTING, MetricReader
from plimsoll.model.arrays import IntArray
from plimsoll.model.errors import BadAnswer, CloudError
from plimsoll.model.series import SIGNALS
from plimsoll.model.volume import Volume
from plimsoll.ports import CallLimits, Target, Usage
from plimsoll.reading.known import Ask, Found
from plimsoll_google.agreement import disagreements
from plimsoll_google.cells import Cells
from plimsoll_google.clients import Clients
from plimsoll_google.errors import GOOGLE_AUDITING, GOOGLE_FAILURES, google_error
from plimsoll_google.names import LIST_TIME_SERIES
from plimsoll_google.pages import PAGE_TRIES
from plimsoll_google.queries import (
    ALL_METRICS,
    NAMES_A_CALL,
    POINTS_A_PAGE,
    SERIES_METRICS,
    BucketRule,
    DevicePlace,
    MetricCall,
    claims_of,
    metric_calls,
    series_queries,
)
from plimsoll_google.received import Identity, Received, join_times, read_series

GOOGLE_RETENTION_DAYS: Final[Mapping[int, float]] = {60: 42}
"""The days that Cloud Monitoring keeps each period: six weeks as reported (third parties, read 2026-11-22; unverified).
What some metrics keep beyond that, in ten-minute intervals, is not read: it may be means, which hide peaks."""

VISIBLE_AFTER_S: Final = 240
"""The time after its minute in which a point may still be missing (Google's list of Compute Engine metrics, read
2026-11-20)."""

NEVER_WRITTEN: Final = "Cannot find metric"
"""What the refusal says of a metric that nothing in the project has ever written (as users report it of other methods,
read 2026-11-22; unverified here): it has no points."""

_LEFT: Final = (
    "the metrics have work of instances that are deleted or hold the disk no longer: what was measured there under a "
    "disk's own name counts as that disk's; under any other device name nobody can tell whose it was, so that it does "
    "not count."
)

_READING: Final = replace(
    GOOGLE_AUDITING,
    again=f"{GOOGLE_AUDITING.again}, or lower PLIMSOLL_GOOGLE_CALLS_PER_S",
)

_Shape = monitoring_v3.ListTimeSeriesRequest
_Aligner = monitoring_v3.Aggregation.Aligner
_ALIGNERS: Final = {
    BucketRule.SUM: _Aligner.ALIGN_SUM,
    BucketRule.MAX: _Aligner.ALIGN_MAX,
    BucketRule.MEAN: _Aligner.ALIGN_MEAN,
    BucketRule.SHARE: _Aligner.ALIGN_FRACTION_TRUE,
}


_Answer = tuple[list[Received], dict[int, CloudError]]
"""The points of a call, and the errors of what cannot be used, by ask."""


@dataclass(slots=True, kw_only=True)
class GoogleMetrics(MetricReader):
    """Series from Cloud Monitoring.

    `attached` gives the places of a project where a disk is attached now; its CloudError names the place it is given.
    """

    clients: Clients
    usage: Usage = field(default_factory=Usage)
    attached: Callable[[str, str], Collection[DevicePlace]]
    retention_days: Mapping[int, float] = field(default_factory=lambda: GOOGLE_RETENTION_DAYS)
    memory_days: float = 0.0
    visible_after_s: int = VISIBLE_AFTER_S
    _left: set[str] = field(default_factory=set, init=False, repr=False)

    @property
    def call_limits(self) -> CallLimits:
        """The limits of ListTimeSeries: the names of one filter, the points of one page."""
        return CallLimits(queries=NAMES_A_CALL, datapoints=POINTS_A_PAGE)

    def series(self, volume: Volume) -> int:
        """The number of series that Cloud Monitoring publishes of it, at all its known places."""
        return len(SERIES_METRICS) * len(claims_of(volume))

    def host_series(self, _volume: Volume) -> int:
        """None: Cloud Monitoring does not say when a VM was the limit."""
        return 0

    def read(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The answer to each look at a disk, or why not; all disks are of one project and region.

        Series that contradict each other are asked for once more, and are an error if they still do.
        """
        if not asks:
            return []
        if all(SIGNALS in ask.look.groups for ask in asks):
            return [answer if isinstance(answer, CloudError) else _in_units(answer) for answer in self.received(asks)]
        deadline = Deadline(seconds=self.read_deadline_s)
        answers, wrong = self._read_agreeing(asks, asks, deadline)
        again = sorted(wrong)
        if again:
            second, still = self._read_agreeing([asks[number] for number in again], asks, deadline)
            for place, number in enumerate(again):
                answers[number] = still.get(place, second[place])
        return answers

    def received(self, asks: Sequence[Ask]) -> Sequence[Found | CloudError]:
        """The same as `read`, without holding the series of an answer against each other."""
        return self._read_answers(asks, Cells(asks), Deadline(seconds=self.read_deadline_s)) if asks else []

    def _read_agreeing(
        self, asks: Sequence[Ask], known: Sequence[Ask], deadline: Deadline
    ) -> tuple[list[Found | CloudError], dict[int, BadAnswer]]:
        """The answer to each look, and its contradiction if it has one, by the look's number."""
        here = Cells(asks, [ask.volume for ask in known])
        answers = self._read_answers(asks, here, deadline)
        wrong: dict[int, BadAnswer] = {}
        for number, (ask, answer) in enumerate(zip(asks, answers, strict=True)):
            if isinstance(answer, CloudError):
                continue
            added = len(ask.volume.attachments) > 1
            faults = list(disagreements(answer, here.places_of(number), ask.look.period_s, added=added))
            if faults:
                wrong[number] = bad_answer(
                    "; ".join(map(str, faults)),
                    {name: values[:200].tolist() for name, values in answer.items()},
                    call=LIST_TIME_SERIES,
                    place=f"the metrics of disk {ask.volume.name or ask.volume.id} in {here.place}",
                )
        return answers, wrong

    def _read_answers(self, asks: Sequence[Ask], here: Cells, deadline: Deadline) -> list[Found | CloudError]:
        queries = [query for number, ask in enumerate(asks) for query in series_queries(number, ask)]
        calls = metric_calls(queries, datapoints_a_call=self.query_cost.datapoints_a_call)
        client = self.clients.metrics
        return self.read_all(asks, calls, lambda call: self._ask(client, call, here, deadline), here.answer_of)

    def remarks(self, target: Target) -> Sequence[str]:
        """A remark if disks did a part of their work at places where they are no more."""
        return (_LEFT,) if str(target) in self._left else ()

    def _ask(
        self, client: monitoring_v3.MetricServiceClient, call: MetricCall, here: Cells, deadline: Deadline
    ) -> Mapping[int, CloudError]:
        """Puts the points of a call into their cells, once all its pages have come; returns the errors by ask.

        An answer that cannot be used, or has a series that cannot, is asked for once more, from its first page on.
        """
        try:
            points, wrong = ask_again(
                partial(self._points, client, call, here, deadline), PAGE_TRIES, doubted=lambda answer: bool(answer[1])
            )
            self._take(points, call, here)
        except CloudError as error:
            return {query.ask: error for query in call.queries}
        except GOOGLE_FAILURES as error:
            if isinstance(error, NotFound) and NEVER_WRITTEN in str(error):
                return {}
            refusal = google_error(error, f"read metrics in {here.place}", here.place, LIST_TIME_SERIES, _READING)
            return {query.ask: refusal for query in call.queries}
        return wrong

    def _points(
        self, client: monitoring_v3.MetricServiceClient, call: MetricCall, here: Cells, deadline: Deadline
    ) -> _Answer:
        """The points of a call, page by page, and the asks of each series that cannot be used."""
        what = f"read metrics in {here.place}"
        pages = Pages(what=what, deadline=deadline, setting=READ_SETTING)
        request, points = _request(call, here.project), list[Received]()
        known: dict[Identity, IntArray] = {}
        wrong: dict[int, CloudError] = {}
        while True:
            tries = self.clients.tries_within(deadline)
            page = tries["retry"](partial(self._page, client, what, deadline, tries["timeout"]))(request)
            for series in page.time_series:
                try:
                    part = read_series(series, call, here.project, here.place)
                except BadAnswer as error:
                    wrong |= dict.fromkeys(_owners(series, call, error), error)
                    continue
                before = known.get(part.identity)
                known[part.identity] = part.ends_s if before is None else join_times(before, part, call, here.place)
                points.append(part)
            if not pages.follow(page.next_page_token, empty=not page.time_series):
                return points, wrong
            request.page_token = page.next_page_token

    def _page(
        self, client: monitoring_v3.MetricServiceClient, what: str, deadline: Deadline, timeout_s: float, request: Any
    ) -> Any:
        """One page as protobuf, whose fields are read many times faster than through the client's own wrapping.

        An answer that says that it is incomplete is an error.
        """
        self.begin_call(what, deadline)
        pages = client.list_time_series(request=_Shape.wrap(request), retry=None, timeout=timeout_s).pages
        page = monitoring_v3.ListTimeSeriesResponse.pb(next(iter(pages)))
        for status in page.execution_errors:
            lacks = f"the answer lacks something: {status.message}"
            raise from_grpc_status(status.code, lacks)  # type: ignore[no-untyped-call]  # google.api_core has no types
        self.count_answer(len(page.time_series), sum(len(series.points) for series in page.time_series))
        return page

    def _take(self, points: Sequence[Received], call: MetricCall, here: Cells) -> None:
        takers = call.by_place()
        for part in points:
            where = (part.instance_id, part.device)
            for place in (part.instance_id, part.zone):
                for query in takers.get((place, part.device), ()):
                    inside = (part.ends_s > query.window.start_s) & (part.ends_s <= query.window.end_s)
                    if not inside.any() or not self._is_of(query.ask, where, here):
                        continue
                    with self._lock:
                        here.of(query).place(where, part.ends_s, part.values, inside)

    def _is_of(self, ask: int, where: DevicePlace, here: Cells) -> bool:
        """True if a series may be of an ask's disk: no other one has that place now."""
        if where in here.places:
            return here.is_of(ask, where)
        if where in self.attached(here.project, here.place):
            return False
        with self._lock:
            self._left.add(here.place)
        return True


def _owners(series: Any, call: MetricCall, error: BadAnswer) -> set[int]:
    """The asks of a series that cannot be used; raises the error itself if its labels are nobody's."""
    labels, device = dict(series.resource.labels), series.metric.labels.get("device_name", "")
    takers = call.by_place()
    places = (labels.get("instance_id", ""), labels.get("zone", ""))
    asks = {query.ask for place in places for query in takers.get((place, device), ())}
    if not asks:
        raise error
    return asks


def _request(call: MetricCall, project: str) -> Any:
    """A call as protobuf."""
    request = _Shape.pb(_Shape(name=f"projects/{project}", filter=call.filter_in(project), page_size=POINTS_A_PAGE))
    request.interval.start_time.seconds = call.window.start_s
    request.interval.end_time.seconds = call.window.end_s
    request.aggregation.alignment_period.seconds = call.period_s
    request.aggregation.per_series_aligner = _ALIGNERS[call.metric.how]
    return request


def _in_units(answer: Found) -> Found:
    """Signals in the units of their series."""
    return {name: values * ALL_METRICS[name].unit for name, values in answer.items()}
