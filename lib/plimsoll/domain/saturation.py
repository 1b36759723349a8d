"""Saturation: when demand stood at a ceiling, so that the true demand is unknown and at least that."""

from dataclasses import dataclass, field

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource, TokenBucket
from plimsoll.domain.demand import Demand
from plimsoll.domain.host import Host
from plimsoll.domain.knowledge import BoolArray, IntArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.replay import never_spent, spent

LEAST_HOST_SHARE = 0.05
"""A volume with less of its host's traffic than this does not count as held back by the host."""

ROUNDING = 1e-9
"""A share of a count this little under a whole number is that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoad:
    """One host's traffic in each bucket as its ceiling counts it, and the most that a bucket of the resolution inside
    it can have had.

    It is not `complete` where it is not known what a volume on the host did, and the host may have been the limit.
    """

    host: Host
    iops: FloatArray
    throughput_mib_s: FloatArray
    most_iops: FloatArray
    most_throughput_mib_s: FloatArray
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """Minutes throttled by the volume on each resource and on either, and minutes bound by the host.

    `host_known` is False where it is not known what a volume on the host did, so that the host may have been the
    bottleneck in any minute. `throttled` and `host_bound` are the buckets that these minutes are.
    """

    iops_minutes: float
    throughput_minutes: float
    throttled_minutes: float
    host_minutes: float
    host_known: bool
    censored: bool
    frequent: frozenset[Resource]
    throttled: BoolArray = field(repr=False, compare=False)
    host_bound: BoolArray = field(repr=False, compare=False)


def saturation(demand: Demand, ceiling: Ceiling, host: HostLoad | None, policy: Policy) -> Saturation:
    """How often demand stood at the volume's ceiling, or at its only host's (None: several, or unknown)."""
    iops, throughput = throttled(demand, ceiling, policy)
    bound = host_bound(demand, host, policy) if host else np.zeros_like(demand.observed)
    buckets = demand.buckets(demand.observed)
    ignorable = (1 - policy.peak_quantile) * buckets
    least_frequent = max(1.0, policy.upgrade_throttled_share_pct / 100 * buckets)
    counts = {Resource.IOPS: demand.buckets(iops), Resource.THROUGHPUT: demand.buckets(throughput)}
    host_known = host is None or host.complete
    frequent = frozenset(resource for resource, count in counts.items() if count >= least_frequent)
    held_back = demand.buckets(iops | throughput | bound)
    return Saturation(
        iops_minutes=demand.minutes(iops),
        throughput_minutes=demand.minutes(throughput),
        throttled_minutes=demand.minutes(iops | throughput),
        host_minutes=demand.minutes(bound),
        host_known=host_known,
        censored=bool(frequent) or held_back > ignorable + ROUNDING,
        frequent=frequent,
        throttled=iops | throughput,
        host_bound=bound,
    )


def throttled(demand: Demand, ceiling: Ceiling, policy: Policy) -> tuple[BoolArray, BoolArray]:
    """The observed buckets at the volume's ceiling, on IOPS and on throughput.

    At `saturation_pct` of the highest it can carry, in the mean or in some second, or any exceeded check, or its
    credits spent.
    """
    share = policy.saturation_pct / 100
    accounting = ceiling.accounting
    iops = demand.counted_iops(accounting) >= share * ceiling.iops
    throughput = demand.counted_throughput_mib_s(accounting) >= share * ceiling.throughput_mib_s
    if demand.busiest is not None:
        surely_iops, surely_mib_s = demand.busiest.one_way(accounting)
        iops |= demand.busiest.exact & (surely_iops >= share * ceiling.iops)
        throughput |= demand.busiest.exact & (surely_mib_s >= share * ceiling.throughput_mib_s)
    if demand.iops_exceeded is not None:
        iops |= demand.iops_exceeded
    if demand.throughput_exceeded is not None:
        throughput |= demand.throughput_exceeded
    if demand.burst_balance_pct is not None:
        empty = demand.burst_balance_pct < policy.empty_balance_pct
        credited = {bucket.resource for bucket in ceiling.buckets}
        iops |= empty & (Resource.IOPS in credited)
        throughput |= empty & (Resource.THROUGHPUT in credited)
    return iops & demand.observed, throughput & demand.observed


def host_bound(demand: Demand, load: HostLoad, policy: Policy) -> BoolArray:
    """The observed buckets in which the host's traffic stood at what the host could carry just then."""
    ceiling = load.host.ceiling
    accounting = ceiling.accounting
    own_mib_s = demand.counted_throughput_mib_s(accounting)
    bound = np.zeros_like(demand.observed)
    for resource, own, total, maximum in (
        (Resource.IOPS, demand.counted_iops(accounting), load.iops, ceiling.iops),
        (Resource.THROUGHPUT, own_mib_s, load.throughput_mib_s, ceiling.throughput_mib_s),
    ):
        available = np.full(len(total), maximum)
        for bucket in ceiling.buckets:
            if bucket.resource is resource and not never_spent(total, bucket, demand.lengths_s):
                available[_exhausted(total, bucket, demand.lengths_s)] = bucket.sustained_rate
        bound |= (total >= policy.saturation_pct / 100 * available) & (own >= LEAST_HOST_SHARE * total) & (own > 0)
    return bound & demand.observed


def _exhausted(total: FloatArray, bucket: TokenBucket, lengths_s: IntArray | int) -> BoolArray:
    return spent(total, bucket, lengths_s) > bucket.capacity
