"""Answers of GetMetricData: the points of a call's queries, checked as they come, all of a page at once.

Nothing is believed that cannot be: an Id that was not asked for, lists of unequal length, times out of the order that
was asked for (they may be another point's), outside the window or off its grid, a figure that is negative, not finite,
or more than any volume can do.

GetMetricData on the wire: what is asked and answered, written and read whole.

botocore would walk its model of the operation for every field of each of 500 queries, and of every datapoint.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any, Final

import cbor2
import numpy as np
from botocore.model import OperationModel
from pydantic_core import from_json

from plimsoll.clouds.aws.queries import Call, Query
from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.model.arrays import FloatArray, IntArray
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import BadAnswer
from plimsoll.model.market import Provisioned
from plimsoll.model.series import SERIES, Longer, Role, Series
from plimsoll.model.units import KIB, MIB, MINUTE_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.reading.window import FIVE_MINUTES_S

PERMISSION: Final = "cloudwatch:GetMetricData"
COMPLETE_STATUS: Final = "Complete"
FORBIDDEN: Final = "Forbidden"
STATUSES: Final = frozenset({COMPLETE_STATUS, FORBIDDEN, "PartialData", "InternalError"})
"""Every StatusCode of a result (Amazon CloudWatch API Reference, MetricDataResult, read 2026-11-22)."""

GENEROUS: Final = 10.0
"""How many times the published maximum of any type a figure may be. Real volumes pass theirs for some seconds."""

_RATES: Final = frozenset({Role.WORK, Role.HIGHEST, Role.SUMMED})

MOST_WAITING: Final = 1e7
"""Milliseconds and operations in a queue: nothing waits for hours."""

_NUMBERS: Final = frozenset({int, float})
VALUE_ROUNDING: Final = 1.01
"""Seconds and percentages may pass their bound by what rounding adds."""


class Points:
    """The series of one call's queries while its pages come.

    `statuses` has the last status of each query that there was a result of, `wrong` why a result cannot be used. Any
    other answer that cannot be used raises BadAnswer.
    """

    def __init__(self, call: Call, place: str) -> None:
        self.ids = {f"q{number}": query for number, query in enumerate(call.queries)}
        self.statuses: dict[Query, str] = {}
        self.wrong: dict[Query, BadAnswer] = {}
        self._call, self._place = call, place
        self._numbers = {name: number for number, name in enumerate(self.ids)}
        self._starts_s = np.array([query.window.start_s for query in call.queries], dtype=np.float64)
        self._periods_s = np.array([query.period_s for query in call.queries], dtype=np.float64)
        self._counts = np.array([query.window.buckets(query.period_s) for query in call.queries], dtype=np.int64)
        self._most = np.array([most_of(query) for query in call.queries])
        self._ends = np.cumsum(self._counts)
        self._values = np.full(int(self._counts.sum()), np.nan)

    def walk_series(self) -> Iterator[tuple[Query, FloatArray]]:
        """Every query with its buckets, NaN where there is no point."""
        start = 0
        for query, end in zip(self._call.queries, self._ends.tolist(), strict=True):
            unit = query.metric.unit
            yield query, self._values[start:end] if unit == 1 else self._values[start:end] * unit
            start = end

    def take(self, page: Mapping[str, Any]) -> str | None:
        """Takes a page in and gives the token of the next one."""
        numbers: list[int] = []
        stamps: list[Any] = []
        values: list[Any] = []
        lengths: list[int] = []
        for number, result in self._results(page):
            if (lists := self._lists_of(number, result)) is not None:
                numbers.append(number)
                stamps += lists[0]
                values += lists[1]
                lengths.append(len(lists[0]))
        if stamps:
            self._place_all(np.repeat(np.array(numbers), lengths), stamps, values)
        token = page.get("NextToken")
        if token is not None and not isinstance(token, str):
            raise self._bad("NextToken is no text", page)
        return token

    def end(self) -> None:
        """There is no further page: a query without any result has none that can be used."""
        for query in self.ids.values():
            if query not in self.statuses and query not in self.wrong:
                self.wrong[query] = self._bad(f"there is no result for {_name(query)}", {})

    def _results(self, page: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
        """The results of a page, each with the number of its query."""
        results = page.get("MetricDataResults")
        if not isinstance(results, list):
            raise self._bad("MetricDataResults is missing", page)
        results_by_number: dict[int, Mapping[str, Any]] = {}
        strange: BadAnswer | None = None
        doubtful = set[int]()
        for result in results:
            name, label = (result.get(key) if isinstance(result, Mapping) else None for key in ("Id", "Label"))
            number, labeled = self._number_of(name), self._number_of(label)
            if number is None and labeled is None:
                strange = self._bad(f"MetricDataResults.Id is {name!r:.60}, which was not asked for", result)
            elif number is None or labeled not in {None, number}:
                what = f"MetricDataResults.Id is {name!r:.60} and its Label {label!r:.60}"
                doubtful |= self._refuse_each((number, labeled), what, result)
            elif number in results_by_number:
                doubtful |= self._refuse_each((number,), f"MetricDataResults.Id {name} is there twice", result)
            else:
                results_by_number[number] = result
        if strange is not None:  # it is of a query that has nothing else on this page: which one, nobody can tell
            self.wrong |= {
                query: strange for number, query in enumerate(self._call.queries) if number not in results_by_number
            }
        return [(number, result) for number, result in results_by_number.items() if number not in doubtful]

    def _number_of(self, name: object) -> int | None:
        """The number of the query that an Id or a Label names; None for anything else."""
        return self._numbers.get(name) if isinstance(name, str) else None

    def _lists_of(self, number: int, result: Mapping[str, Any]) -> tuple[list[Any], list[Any]] | None:
        """The times and figures of a result; None where they cannot be used, or there are none."""
        query, status = self._call.queries[number], result.get("StatusCode")
        if not isinstance(status, str) or status not in STATUSES:
            self._refuse(query, "StatusCode is none that is known", result)
            return None
        self.statuses[query] = status
        stamps, values = result.get("Timestamps"), result.get("Values")
        if status in {FORBIDDEN, "InternalError"} and not stamps and not values:
            return None
        if not isinstance(stamps, list) or not isinstance(values, list):
            self._refuse(query, "Timestamps or Values is no list", result)
            return None
        if len(stamps) != len(values):
            self._refuse(query, f"there are {len(stamps):,} Timestamps and {len(values):,} Values", result)
            return None
        return stamps, values

    def _refuse_each(self, numbers: Iterable[int | None], what: str, result: object) -> set[int]:
        """Refuses a result for each query that it can be of, and gives their numbers."""
        refused = {number for number in numbers if number is not None}
        for number in refused:
            self._refuse(self._call.queries[number], what, result)
        return refused

    def _refuse(self, query: Query, what: str, result: object) -> None:
        self.wrong[query] = self._bad(f"{_name(query)}: {what}", result)

    def _place_all(self, of: IntArray, stamps: Sequence[Any], values: Sequence[Any]) -> None:
        """Puts points, each of the query of that number, where their times say."""
        try:
            times_s, figures = epoch_s(stamps), numbers_of(values)
        except (TypeError, ValueError, AttributeError, OverflowError):
            self._place_each(of, stamps, values)
            return
        index, off_grid = np.divmod(times_s - self._starts_s[of], self._periods_s[of])
        window = self._call.window
        right = (off_grid == 0) & (times_s >= window.start_s) & (times_s < window.end_s)
        right &= (figures >= 0) & (figures <= self._most[of])
        if not right.all():
            wrong = np.flatnonzero(~right)
            numbers, firsts = np.unique(of[wrong], return_index=True)
            for number, first in zip(numbers.tolist(), wrong[firsts].tolist(), strict=True):
                what = f"a point has the time {stamps[first]!r} and the figure {values[first]!r}"
                self._refuse(self._call.queries[number], what, {"Timestamp": stamps[first], "Value": values[first]})
        back = np.flatnonzero((np.diff(times_s) < 0) & (of[1:] == of[:-1]))
        for number in set(of[back].tolist()):
            self._refuse(self._call.queries[number], "Timestamps are not in the order that was asked for", {})
        inside = right & (index >= 0) & (index < self._counts[of])
        of, figures = of[inside], figures[inside]
        at = (self._ends - self._counts)[of] + index[inside].astype(np.int64)
        before = self._values[at]
        self._values[at] = figures
        clash = (self._values[at] != figures) | (~np.isnan(before) & (before != figures))
        for number in set(of[clash].tolist()):
            self._refuse(self._call.queries[number], "a time is there twice, with two figures", {})

    def _place_each(self, of: IntArray, stamps: Sequence[Any], values: Sequence[Any]) -> None:
        """Does as `_place_all` query by query, because something in it is no time or no number."""
        for number in sorted(set(of.tolist())):
            at = np.flatnonzero(of == number).tolist()
            points = [stamps[place] for place in at], [values[place] for place in at]
            try:
                epoch_s(points[0])
                numbers_of(points[1])
            except (TypeError, ValueError, AttributeError, OverflowError):
                what = "Timestamps or Values holds what is no time or no number"
                self._refuse(self._call.queries[number], what, {"Timestamps": points[0], "Values": points[1]})
                continue
            self._place_all(of[at], *points)

    def _bad(self, what: str, raw: object) -> BadAnswer:
        return bad_answer(what, raw, call=PERMISSION, place=self._place)


def epoch_s(stamps: Sequence[Any]) -> FloatArray:
    """Timestamps in epoch seconds, whether the wire had numbers or the decoder made times of them."""
    if stamps and isinstance(stamps[0], datetime):
        stamps = [stamp.timestamp() for stamp in stamps]
    return numbers_of(stamps)


def numbers_of(values: Sequence[Any]) -> FloatArray:
    """Numbers as an array; ValueError for anything else: no text, no truth value and no list is a number."""
    if not _NUMBERS.issuperset(map(type, values)):
        raise ValueError("a value is no number")
    numbers = np.asarray(values)
    if len(numbers) and numbers.dtype.kind not in "iuf":
        raise ValueError("a value is too large for a number")
    return numbers.astype(np.float64)


def _name(query: Query) -> str:
    return f"{query.metric.name} of {query.metric.instance_id if query.metric.host else query.volume_id}"


@cache
def most_a_second() -> tuple[float, float]:
    """The most operations and bytes a second that are published of any type, times what is generous."""
    ceilings = [
        kind.ceiling(
            VolumeSpec(
                type=kind.name,
                size_gib=kind.most_size_gib,
                iops=kind.iops.most if isinstance(kind.iops, Provisioned) else None,
                throughput_mib_s=kind.throughput.most if isinstance(kind.throughput, Provisioned) else None,
            )
        )
        for kind in volume_types(AWS).values()
    ]
    most_mib_s = max(ceiling.throughput_mib_s for ceiling in ceilings)
    return GENEROUS * max(ceiling.iops for ceiling in ceilings), GENEROUS * most_mib_s * MIB


def most_of(query: Query) -> float:
    """The highest figure that a bucket of a query can have."""
    row = SERIES[query.metric.series]
    if row.role in _RATES:
        return _most_work(query, row)
    if row.role is Role.IDLE:
        return VALUE_ROUNDING * max(query.period_s, FIVE_MINUTES_S)  # a minute can hold the sum of five
    if row.unit == "minutes":
        return VALUE_ROUNDING * query.period_s / MINUTE_S
    if row.role is Role.QUEUE or row.unit == "ms":
        return MOST_WAITING
    if row.longer is Longer.SUM:
        return most_a_second()[0] * query.period_s  # no healthy operation takes a second
    return VALUE_ROUNDING * (100.0 if row.unit == "%" else 1.0)


def _most_work(query: Query, row: Series) -> float:
    """The largest sane value of a bucket: operations or bytes, the highest rate, or the sum of its minutes' rates."""
    ops, moved = most_a_second()
    if row.role is Role.WORK:
        return (ops if row.side is Resource.IOPS else moved) * query.period_s
    minutes = query.period_s / MINUTE_S if query.metric.stat == "Sum" else 1.0
    return (ops if row.side is Resource.IOPS else moved / KIB) * minutes


_OPERATION: Final = "cloudwatch.GetMetricData"
_QUERIES: Final = "MetricDataQueries"
_NO_QUERIES: Final = f'"{_QUERIES}": []'.encode()
_WRITTEN: Final = "json"
"""The protocol whose requests are written here; botocore writes those of others."""

_OK: Final = 200
_OTHER_PROTOCOL: Final = "text/xml"
_PROTOCOLS: Final[dict[str, tuple[Callable[[bytes], Any], bytes]]] = {
    "application/x-amz-json": (from_json, b"{}"),
    "application/cbor": (cbor2.loads, cbor2.dumps({})),
}
"""By the beginning of the content type: the decoder, and an empty answer."""


def without_models(client: Any, place: str) -> None:
    """Makes a CloudWatch client write the queries of GetMetricData, and decode its answers, whole.

    `epoch_s` reads the timestamps. An answer that is none, such as a page of a proxy, raises BadAnswer.
    """
    hooks = {"provide-client-params": _set_aside, "before-call": _write, "before-parse": partial(_decode, place)}
    for event, hook in hooks.items():
        client.meta.events.register(f"{event}.{_OPERATION}", hook, unique_id=f"plimsoll-{event}")


def _set_aside(
    params: Mapping[str, Any], model: OperationModel, context: dict[str, Any], **_others: object
) -> dict[str, Any] | None:
    """The request without its queries, which wait until the rest is written; None where botocore writes all of it."""
    if model.service_model.resolved_protocol != _WRITTEN:
        return None
    context[_QUERIES] = params[_QUERIES]
    return {**params, _QUERIES: []}


def _write(params: dict[str, Any], context: Mapping[str, Any], **_others: object) -> None:
    """Puts queries that wait in, before the request is signed."""
    if _QUERIES in context:
        written = f'"{_QUERIES}": {json.dumps(context[_QUERIES])}'
        params["body"] = params["body"].replace(_NO_QUERIES, written.encode(), 1)


def _decode(
    place: str, response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_others: object
) -> None:
    kind = response_dict["headers"].get("content-type", "")
    if response_dict["status_code"] != _OK or kind.startswith(_OTHER_PROTOCOL):
        return
    body = response_dict["body"]
    protocol = next((protocol for start, protocol in _PROTOCOLS.items() if kind.startswith(start)), None)
    try:
        decoded = None if protocol is None else protocol[0](body)
    except (ValueError, cbor2.CBORDecodeError):
        decoded = None
    if protocol is None or not isinstance(decoded, dict):
        what = f"the body, of type {kind or 'none'}, is no answer"
        raise bad_answer(what, body.decode(errors="replace"), call=PERMISSION, place=place)
    response_dict["body"] = protocol[1]
    customized_response_dict.update(decoded)
