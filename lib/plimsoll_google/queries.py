"""Queries: the series of Cloud Monitoring for a disk's demand, and those that go into one call.

A series names an instance and a device name, never the disk: a claim says which series are a disk's. A call has one
metric, one window and one period, and brings the series of many disks.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.clouds.common.calls import query_batches
from plimsoll.model.units import DAY_S, MINUTE_S
from plimsoll.model.volume import Volume
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesClaim:
    """The series of a device name that are a disk's from a whole minute on (epoch seconds).

    They are those of one instance, or, if `instance_id` is None, of any instance of its zones.
    """

    device: str
    instance_id: str | None
    zones: tuple[str, ...]
    from_s: int


DevicePlace = tuple[str, str]
"""An instance's id and a device name there."""


def claims_of(volume: Volume) -> tuple[SeriesClaim, ...]:
    """The claims of a disk, at every place where it was attached.

    A disk that is attached under its own name is so wherever it goes: gcloud, the console and the Kubernetes driver
    name devices so, and a zone has each name once. Then the series of instances that it has left, or that are gone, are
    its too, since it was made. The same is taken of a disk attached to nothing. Under another device name it is known
    since it was attached there alone: before that, the name may have been another disk's.
    """
    zones = tuple(volume.zone.split("+"))
    by_name = [
        SeriesClaim(device=name, instance_id=None, zones=zones, from_s=_whole_minute_s(volume.created.timestamp()))
        for name in (volume.name,)
        if name is not None and _goes_by(volume, name)
    ]
    by_place = [
        SeriesClaim(
            device=attachment.device,
            instance_id=attachment.host.id,
            zones=zones,
            from_s=_whole_minute_s(attachment.since.timestamp()),
        )
        for attachment in volume.attachments
        if attachment.host is not None and not (by_name and attachment.device == volume.name)
    ]
    return (*by_name, *by_place)


def places_of(volumes: Iterable[Volume]) -> dict[DevicePlace, str]:
    """The disk at each place now, by volume id."""
    return {
        (attachment.host.id, attachment.device): volume.id
        for volume in volumes
        for attachment in volume.attachments
        if attachment.host is not None
    }


def _goes_by(volume: Volume, name: str) -> bool:
    """True if a disk's device name is its own, as far as can be seen."""
    return not volume.attachments or any(attachment.device == name for attachment in volume.attachments)


def _whole_minute_s(at_s: float) -> int:
    """The first whole minute from a time on: points are of whole minutes, and the one before may be another disk's."""
    return math.ceil(at_s / MINUTE_S) * MINUTE_S


METRIC_PREFIX: Final = "compute.googleapis.com/instance/disk/"


class BucketRule(StrEnum):
    """The rule by which minutes become a bucket."""

    SUM = "sum"
    MAX = "max"
    MEAN = "mean"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoogleMetric:
    """A metric by its name.

    A count is added up over a bucket; a peak (operations or bytes of the busiest second of a minute) is the highest of
    it. `how` is the rule for minutes, `unit` the factor from the answer's unit to the series' own. Only series with one
    of `statuses` are wanted.
    """

    name: str
    peak: bool
    how: BucketRule
    unit: float = 1.0
    statuses: frozenset[str] = frozenset()


SERIES_METRICS: Final[Mapping[str, GoogleMetric]] = {
    f"{peak}{way}_{unit}": GoogleMetric(
        name=f"{METRIC_PREFIX}{most}{way}_{unit}_count", peak=bool(peak), how=BucketRule.MAX if peak else BucketRule.SUM
    )
    for peak, most in (("", ""), ("peak_", "max_"))
    for unit in ("ops", "bytes")
    for way in ("read", "write")
}
"""Which metric fills which series; idle time, balances and exceeded checks are not published."""

_LATENCY: Final = f"{METRIC_PREFIX}average_io_latency"
_QUEUE: Final = f"{METRIC_PREFIX}average_io_queue_depth"
_MS_PER_US: Final = 0.001

SIGNAL_METRICS: Final[Mapping[str, GoogleMetric]] = {
    "mean_io_latency_ms": GoogleMetric(name=_LATENCY, peak=True, how=BucketRule.MEAN, unit=_MS_PER_US),
    "highest_io_latency_ms": GoogleMetric(name=_LATENCY, peak=True, how=BucketRule.MAX, unit=_MS_PER_US),
    "mean_queue_length": GoogleMetric(name=_QUEUE, peak=True, how=BucketRule.MEAN),
    "highest_queue_length": GoogleMetric(name=_QUEUE, peak=True, how=BucketRule.MAX),
    "degraded_minutes": GoogleMetric(
        name=f"{METRIC_PREFIX}performance_status",
        peak=True,
        how=BucketRule.SHARE,
        unit=DAY_S / MINUTE_S,
        statuses=frozenset({"Degraded", "Severely Degraded"}),
    ),
}
"""Which metric fills which signal, by the day: latencies in microseconds, reads and writes together, and the share of
the time that a status held (Compute Engine's list of metrics, and "Review disk metrics", read 2026-11-23)."""

ALL_METRICS: Final = {**SERIES_METRICS, **SIGNAL_METRICS}


NAMES_A_CALL: Final = 100
"""The most names that one filter lists: `one_of` takes 100 (constant of Google's own custom-metrics adapter for
Kubernetes, read 2026-11-22; the API's reference gives none). The length of a filter is bounded for alerting policies
alone (2,048 characters, google-cloud-monitoring 2.32); that listing has no such bound is unverified."""

POINTS_A_PAGE: Final = 100_000
"""The most points of one page (google-cloud-monitoring 2.32, ListTimeSeriesRequest.page_size)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesQuery:
    """One series of one ask, over that part of its window and in that period which a claim allows."""

    ask: int
    series: str
    claim: SeriesClaim
    window: Window
    period_s: int


def series_queries(number: int, ask: Ask) -> Iterator[SeriesQuery]:
    """The queries that answer an ask; `number` is its place among those asked together."""
    for series in ask.look.series:
        if series in ALL_METRICS:
            period_s = grid_s(ask, series)
            for claim in claims_of(ask.volume):
                for window, read_s in _parts(ask.look, claim.from_s, period_s):
                    yield SeriesQuery(ask=number, series=series, claim=claim, window=window, period_s=read_s)


def grid_s(ask: Ask, series: str) -> int:
    """The period that a series of an ask is read in.

    The peaks of a disk on several instances are added up minute by minute, because those of longer buckets need not
    have been in the same minute.
    """
    by_minute = series in SERIES_METRICS and SERIES_METRICS[series].peak and len(ask.volume.attachments) > 1
    return MINUTE_S if by_minute else ask.look.period_s


def _parts(look: Look, from_s: int, period_s: int) -> Iterator[tuple[Window, int]]:
    """The readable part of a window from a time on: the bucket with that time by the minute, then whole ones."""
    start_s, end_s = look.window.start_s, look.window.start_s + look.window.buckets(look.period_s) * look.period_s
    if from_s > start_s:
        start_s = min(start_s - (start_s - from_s) // period_s * period_s, end_s)
        if from_s < start_s:
            yield Window(start_s=from_s, end_s=start_s), MINUTE_S
    if start_s < end_s:
        yield Window(start_s=start_s, end_s=end_s), period_s


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCall:
    """Queries for one metric that are asked together: one window, one period, and all by place or all by name."""

    series: str
    window: Window
    period_s: int
    queries: tuple[SeriesQuery, ...]

    @property
    def metric(self) -> GoogleMetric:
        """The metric of the call."""
        return ALL_METRICS[self.series]

    def filter_in(self, project: str) -> str:
        """The filter of ListTimeSeries for the wanted series; `project` because a scope may show several."""
        claims = [query.claim for query in self.queries]
        instances = {claim.instance_id for claim in claims if claim.instance_id is not None}
        clauses = [
            f'metric.type = "{self.metric.name}"',
            'resource.type = "gce_instance"',
            f'resource.labels.project_id = "{project}"',
            _one_of("metric.labels.device_name", {claim.device for claim in claims}),
        ]
        if self.metric.statuses:
            clauses.append(_one_of("metric.labels.performance_status", self.metric.statuses))
        if instances:
            clauses.append(_one_of("resource.labels.instance_id", instances))
        else:
            clauses.append(_one_of("resource.labels.zone", {zone for claim in claims for zone in claim.zones}))
        return " AND ".join(clauses)

    def asks_for(self, instance_id: str, zone: str, device: str) -> bool:
        """True if the filter lets a series with these labels through."""
        claims = [query.claim for query in self.queries]
        instances = {claim.instance_id for claim in claims if claim.instance_id is not None}
        zones = {name for claim in claims for name in claim.zones}
        where = instance_id in instances if instances else bool(instance_id) and zone in zones
        return where and bool(zone) and any(claim.device == device for claim in claims)

    def by_place(self) -> dict[tuple[str, str], list[SeriesQuery]]:
        """The queries by the place of their series: an instance's id or a zone, and the device name."""
        queries: dict[tuple[str, str], list[SeriesQuery]] = {}
        for query in self.queries:
            claim = query.claim
            for place in (claim.instance_id,) if claim.instance_id is not None else claim.zones:
                queries.setdefault((place, claim.device), []).append(query)
        return queries


def metric_calls(queries: Iterable[SeriesQuery], *, datapoints_a_call: float) -> Iterator[MetricCall]:
    """The calls for some queries; `datapoints_a_call` datapoints more are worth one call less."""
    kinds: dict[tuple[str, int, bool], list[SeriesQuery]] = {}
    for query in queries:
        kinds.setdefault((query.series, query.period_s, query.claim.instance_id is None), []).append(query)
    for (series, period_s, _), alike in kinds.items():
        for batch in query_batches(alike, datapoints_a_call=datapoints_a_call, queries_a_call=NAMES_A_CALL):
            for part in _cut(batch.queries):
                yield MetricCall(series=series, window=batch.window, period_s=period_s, queries=tuple(part))


def _cut(queries: Sequence[SeriesQuery]) -> Iterator[list[SeriesQuery]]:
    """The queries in parts that one filter can name; the devices of an instance stay together."""
    chosen: list[SeriesQuery] = []
    devices: set[str] = set()
    instances: set[str | None] = set()
    for query in sorted(queries, key=lambda query: (query.claim.instance_id or "", query.claim.device)):
        devices.add(query.claim.device)
        instances.add(query.claim.instance_id)
        if max(len(devices), len(instances)) > NAMES_A_CALL:
            yield chosen
            chosen, devices, instances = [], {query.claim.device}, {query.claim.instance_id}
        chosen.append(query)
    if chosen:
        yield chosen


def _one_of(label: str, values: Iterable[str]) -> str:
    quoted = ",".join(json.dumps(value, ensure_ascii=False) for value in sorted(values))
    return f"{label} = one_of({quoted})"
