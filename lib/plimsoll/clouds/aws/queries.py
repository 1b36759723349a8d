"""Queries: which CloudWatch series say what a volume was asked for, and which queries go into one call.

A call of GetMetricData has one window for all its queries, at most 500 of them, and a page of 100,800 datapoints.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final

from plimsoll.clouds.common.calls import in_lots, query_batches
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.registry import AWS
from plimsoll.demand.epochs import find_credited_windows
from plimsoll.model.ceiling import Resource
from plimsoll.model.series import SIGNALS
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.model.volume import Volume
from plimsoll.reading.known import Ask
from plimsoll.reading.window import Window

NAMESPACE: Final = "AWS/EBS"

COUNTERS: Final = {
    "read_ops": "VolumeReadOps",
    "write_ops": "VolumeWriteOps",
    "read_bytes": "VolumeReadBytes",
    "write_bytes": "VolumeWriteBytes",
}
_EXCEEDED: Final = {
    "iops_exceeded": "VolumeIOPSExceededCheck",
    "throughput_exceeded": "VolumeThroughputExceededCheck",
}


_HOST_NAMESPACE: Final = "AWS/EC2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A CloudWatch metric of a volume, and the series that it fills.

    One of the metric is `unit` of the series. A metric of its `host` is of the instance alone.
    """

    series: str
    name: str
    stat: str
    instance_id: str | None = None
    host: bool = False
    unit: float = 1.0


_QUEUE_LENGTH: Final = Metric(series="mean_queue_length", name="VolumeQueueLength", stat="Average")

_RATES: Final = (
    Metric(series="highest_iops", name="VolumeAvgIOPS", stat="Maximum"),
    Metric(series="summed_iops", name="VolumeAvgIOPS", stat="Sum"),
    Metric(series="highest_throughput_mib_s", name="VolumeAvgThroughput", stat="Maximum", unit=1 / KIB_PER_MIB),
    Metric(series="summed_throughput_mib_s", name="VolumeAvgThroughput", stat="Sum", unit=1 / KIB_PER_MIB),
)
"""Each minute's rate as a series, in operations and KiB a second: the highest minute of a bucket, and the sum of all by
which it is held against the counters. Published under volume and instance together, on Nitro (Amazon EBS User Guide,
"Amazon CloudWatch metrics for Amazon EBS", and Amazon CloudWatch User Guide, metrics with related entities, both read
2026-11-20)."""

RATES: Final = frozenset(metric.series for metric in _RATES)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """One metric over a window in a period; `ask` is the place among those asked together of what it answers.

    A query is itself alone, and so is found among others without looking at its figures.
    """

    ask: int
    volume_id: str
    metric: Metric
    window: Window
    period_s: int

    @property
    def subject(self) -> tuple[str | None, str | None]:
        """The volume, the instance, or both that the metric is published under."""
        return None if self.metric.host else self.volume_id, self.metric.instance_id

    def asked_as(self, name: str) -> dict[str, Any]:
        """The query as GetMetricData takes it; its result repeats the Label, which shows whose it is beside the Id."""
        dimensions = [] if self.metric.host else [{"Name": "VolumeId", "Value": self.volume_id}]
        if self.metric.instance_id is not None:
            dimensions.append({"Name": "InstanceId", "Value": self.metric.instance_id})
        namespace = _HOST_NAMESPACE if self.metric.host else NAMESPACE
        metric = {"Namespace": namespace, "MetricName": self.metric.name, "Dimensions": dimensions}
        asked = {"Metric": metric, "Period": self.period_s, "Stat": self.metric.stat}
        return {"Id": name, "Label": name, "MetricStat": asked}


def queries_of(number: int, ask: Ask) -> Iterator[Query]:
    """The queries that answer an ask; `number` is its place among those asked together."""
    window, period_s = ask.look.window, ask.look.period_s
    wanted = set(ask.look.series)
    if SIGNALS in ask.look.groups:
        metrics = signals_of(ask.volume)
    else:
        metrics = chain(metrics_of(ask.volume, window), host_metrics_of(ask.volume), (_QUEUE_LENGTH,))
    for metric in metrics:
        if metric.series in wanted:
            yield Query(ask=number, volume_id=ask.volume.id, metric=metric, window=window, period_s=period_s)


def metrics_of(volume: Volume, window: Window | None = None) -> Iterator[Metric]:
    """The metrics that CloudWatch publishes for a volume, or did earlier in a `window`.

    Idle time, exceeded checks and rates are not published for Multi-Attach, the last two on Nitro hosts alone, under
    volume and instance together, and not for magnetic volumes; balances only while there is a bucket (Amazon EBS User
    Guide, "Amazon CloudWatch metrics for Amazon EBS", read 2026-11-20).
    """
    for series, name in COUNTERS.items():
        yield Metric(series=series, name=name, stat="Sum")
    types = volume_types(AWS)
    kind = types.get(volume.spec.type)
    bursts = kind is not None and bool(kind.ceiling(volume.spec).buckets)
    if bursts or (window is not None and find_credited_windows(volume, window, types)):
        yield Metric(series="burst_balance_pct", name="BurstBalance", stat="Minimum")
    if volume.multi_attach:
        return
    yield Metric(series="idle_s", name="VolumeIdleTime", stat="Sum")
    if volume.spec.type == "standard":
        return
    for host in volume.hosts:
        if host.nitro:
            for series, name in _EXCEEDED.items():
                yield Metric(series=series, name=name, stat="Maximum", instance_id=host.id)
            yield from (replace(metric, instance_id=host.id) for metric in _RATES)


def signals_of(volume: Volume) -> Iterator[Metric]:
    """The metrics of how a volume and its host answered.

    Those of a volume and its instance, and of an instance, are of Nitro hosts alone; balances of hosts that burst. The
    time of operations is not published for Multi-Attach (Amazon EBS User Guide, "Amazon CloudWatch metrics for Amazon
    EBS", and Amazon EC2 User Guide, "CloudWatch metrics that are available for your instances", read 2026-11-20).
    """
    if not volume.multi_attach:
        for series, name in _TIMES.items():
            yield Metric(series=series, name=name, stat="Sum")
    yield _QUEUE_LENGTH
    if len(volume.hosts) != 1 or not volume.hosts[0].nitro or volume.multi_attach:
        return
    host = volume.hosts[0]
    yield Metric(series="highest_queue_length", name="VolumeQueueLength", stat="Maximum")
    for series, (name, stat) in _ATTACHED.items():
        yield Metric(series=series, name=name, stat=stat, instance_id=host.id)
    yield from host_metrics_of(volume)


def host_metrics_of(volume: Volume) -> Iterator[Metric]:
    """The metrics of a volume's only host, on Nitro: whether more was asked of it than its maximum in each minute, and,
    of sizes that burst, what was left of their credits in each five minutes.

    The check is held against the maximum, not against the baseline. Bare metal publishes none, which shows as series
    without points (Amazon EC2 User Guide, "CloudWatch metrics that are available for your instances", and re:Post,
    "How do I check whether my EC2 instance exceeds its Amazon EBS quotas?", both read 2026-11-23).
    """
    if len(volume.hosts) != 1 or not volume.hosts[0].nitro or volume.multi_attach:
        return
    host = volume.hosts[0]
    bursts = {bucket.resource for bucket in host.ceiling.buckets}
    for series, (name, stat, resource) in _OF_HOST.items():
        if stat == "Sum" or resource in bursts:
            yield Metric(series=series, name=name, stat=stat, instance_id=host.id, host=True)


_TIMES: Final = {
    "read_time_s": "VolumeTotalReadTime",
    "write_time_s": "VolumeTotalWriteTime",
    "timed_reads": "VolumeReadOps",
    "timed_writes": "VolumeWriteOps",
}
_ATTACHED: Final = {
    "highest_read_latency_ms": ("VolumeAvgReadLatency", "Maximum"),
    "highest_write_latency_ms": ("VolumeAvgWriteLatency", "Maximum"),
    "stalled_minutes": ("VolumeStalledIOCheck", "Sum"),
}
_OF_HOST: Final = {
    "host_iops_exceeded_minutes": ("InstanceEBSIOPSExceededCheck", "Sum", Resource.IOPS),
    "host_throughput_exceeded_minutes": ("InstanceEBSThroughputExceededCheck", "Sum", Resource.THROUGHPUT),
    "host_iops_balance_pct": ("EBSIOBalance%", "Minimum", Resource.IOPS),
    "host_throughput_balance_pct": ("EBSByteBalance%", "Minimum", Resource.THROUGHPUT),
}


QUERIES_A_CALL: Final = 500
DATAPOINTS_A_CALL: Final = 100_800
"""Limits of one GetMetricData call (Amazon CloudWatch API Reference, GetMetricData, read 2026-11-20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Queries that are asked together, over one window."""

    window: Window
    queries: tuple[Query, ...]

    @property
    def billed_metrics(self) -> int:
        """The number of metrics that are billed. Statistics of one metric count once (Amazon CloudWatch pricing, "up
        to five statistics for the same metric", read 2026-11-26)."""
        return len({(query.subject, query.metric.name) for query in self.queries})

    @property
    def datapoints(self) -> int:
        """The number of datapoints that the call asks for."""
        return sum(_datapoints(self.window, query) for query in self.queries)


def _datapoints(window: Window, query: Query) -> int:
    return window.buckets(query.period_s)


def calls_of(queries: Iterable[Query], *, datapoints_a_call: float) -> Iterator[Call]:
    """The calls that ask some queries; `datapoints_a_call` is how many datapoints more are worth one call less."""
    for batch in query_batches(queries, datapoints_a_call=datapoints_a_call, queries_a_call=QUERIES_A_CALL):
        weigh = partial(_datapoints, batch.window)
        for lot in in_lots(batch.queries, count=QUERIES_A_CALL, weight=DATAPOINTS_A_CALL, weigh=weigh):
            yield Call(window=batch.window, queries=tuple(lot))  # one query alone may need several pages
