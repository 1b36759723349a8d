"""Queries: which CloudWatch series say what a volume was asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.limits import volume_types
from plimsoll.domain.volume import Volume

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One CloudWatch series, and the series of `Sums` it fills."""

    volume_id: str
    series: str
    metric: str
    stat: str
    instance_id: str | None = None

    def asked_as(self, name: str, period_s: int) -> dict[str, Any]:
        """The query as GetMetricData takes it."""
        dimensions = [{"Name": "VolumeId", "Value": self.volume_id}]
        if self.instance_id is not None:
            dimensions.append({"Name": "InstanceId", "Value": self.instance_id})
        metric = {"Namespace": NAMESPACE, "MetricName": self.metric, "Dimensions": dimensions}
        return {"Id": name, "MetricStat": {"Metric": metric, "Period": period_s, "Stat": self.stat}}


def queries_of(volume: Volume) -> Iterator[Query]:
    """The series that CloudWatch publishes for such a volume.

    Idle time and exceeded checks are not published for Multi-Attach, exceeded checks on Nitro hosts alone, under volume
    and instance together, and not for magnetic volumes; balances only where there is a bucket (Amazon EBS User Guide,
    "Amazon CloudWatch metrics for Amazon EBS", read 2026-11-20).
    """
    for series, metric in COUNTERS.items():
        yield Query(volume_id=volume.id, series=series, metric=metric, stat="Sum")
    kind = volume_types().get(volume.spec.type)
    if kind is not None and kind.ceiling(volume.spec).buckets:
        yield Query(volume_id=volume.id, series="burst_balance_pct", metric="BurstBalance", stat="Minimum")
    if volume.multi_attach:
        return
    yield Query(volume_id=volume.id, series="idle_s", metric="VolumeIdleTime", stat="Sum")
    if volume.spec.type == "standard":
        return
    for host in volume.hosts:
        if host.nitro:
            for series, metric in _EXCEEDED.items():
                yield Query(volume_id=volume.id, series=series, metric=metric, stat="Maximum", instance_id=host.id)
