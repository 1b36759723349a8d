"""Hosts: the instances that volumes are attached to, with a storage ceiling of their own."""

import math
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource, TokenBucket
from plimsoll.domain.units import DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """A host type's published storage limits. It carries the maximum for `burst_s` seconds, at least once in 24 hours.

    At all other times it carries the baseline. Figures are those of reads. A write counts as `write_iops_cost` or
    `write_throughput_cost` reads.
    """

    baseline_iops: float
    baseline_throughput_mib_s: float
    maximum_iops: float
    maximum_throughput_mib_s: float
    burst_s: float = 0.0
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An instance. `limits` is None where its type publishes none, or where what is published does not apply: then
    `unlimited_by` says why. `nitro` is False on older hypervisors.

    `running_since` is when it was last started, None where it does not run or the cloud does not say. `stopped_since`
    is when it was stopped, None where it runs or the cloud does not say. `caps` is the most that all its volumes of a
    type carry together, by type. A type that is missing there cannot be attached. None: every type can be attached, and
    none is capped.
    """

    id: str
    type: str
    limits: HostLimits | None = None
    unlimited_by: str | None = None
    nitro: bool = True
    tags: tuple[tuple[str, str], ...] = ()
    caps: tuple[tuple[str, Ceiling], ...] | None = None
    running_since: datetime | None = None
    stopped_since: datetime | None = None

    def cap(self, type_name: str) -> Ceiling | None:
        """The most that its volumes of that type carry together. None where none can be attached."""
        if self.caps is None:
            return UNBOUNDED
        return next((ceiling for name, ceiling in self.caps if name == type_name), None)

    def without_limits(self, why: str) -> "Host":
        """The same where its published limits do not apply; as it is where it has none."""
        return self if self.limits is None else replace(self, limits=None, unlimited_by=why)

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
                *_burst(Resource.IOPS, limits.baseline_iops, limits.maximum_iops, limits.burst_s),
                *_burst(
                    Resource.THROUGHPUT,
                    limits.baseline_throughput_mib_s,
                    limits.maximum_throughput_mib_s,
                    limits.burst_s,
                ),
            ),
            write_iops_cost=limits.write_iops_cost,
            write_throughput_cost=limits.write_throughput_cost,
        )

    @property
    def baseline(self) -> tuple[float, float]:
        """IOPS and MiB/s that it carries at any time, its credits spent; infinite where nothing is published."""
        if self.limits is None:
            return math.inf, math.inf
        return self.limits.baseline_iops, self.limits.baseline_throughput_mib_s


def _burst(resource: Resource, baseline: float, maximum: float, burst_s: float) -> tuple[TokenBucket, ...]:
    if maximum <= baseline:
        return ()
    capacity = (maximum - baseline) * burst_s
    return (TokenBucket(resource=resource, free_rate=baseline, refill_rate=capacity / DAY_S, capacity=capacity),)
