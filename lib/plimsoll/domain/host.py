"""Hosts: the instances that volumes are attached to, with a storage ceiling of their own."""

from dataclasses import dataclass
from typing import Final

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource, TokenBucket
from plimsoll.domain.units import DAY_S

BURST_S: Final = 30 * 60
"""A host whose maximum exceeds its baseline carries the maximum for 30 minutes at least once in 24 hours (AWS EC2
User Guide, "Amazon EBS-optimized instances", read 2026-11-20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """A host type's published storage limits: baseline for ever, maximum while its credits last."""

    baseline_iops: float
    baseline_throughput_mib_s: float
    maximum_iops: float
    maximum_throughput_mib_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An instance. `limits` is None where its type publishes none; `nitro` is False on older hypervisors."""

    id: str
    type: str
    limits: HostLimits | None
    nitro: bool = True
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def ceiling(self) -> Ceiling:
        """The host's roofline; unbounded where nothing is published."""
        if self.limits is None:
            return UNBOUNDED
        limits = self.limits
        return Ceiling(
            iops=limits.maximum_iops,
            throughput_mib_s=limits.maximum_throughput_mib_s,
            buckets=(
                *_burst(Resource.IOPS, limits.baseline_iops, limits.maximum_iops),
                *_burst(Resource.THROUGHPUT, limits.baseline_throughput_mib_s, limits.maximum_throughput_mib_s),
            ),
        )


def _burst(resource: Resource, baseline: float, maximum: float) -> tuple[TokenBucket, ...]:
    if maximum <= baseline:
        return ()
    capacity = (maximum - baseline) * BURST_S
    return (TokenBucket(resource=resource, free_rate=baseline, refill_rate=capacity / DAY_S, capacity=capacity),)
