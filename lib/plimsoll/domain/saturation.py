"""Saturation: where demand stood at what the volume, or its host, could carry just then.

A volume is at its ceiling by what was seen of it. A host is where its token bucket, replayed on what all its volumes
did, left no room for more.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand import Demand
from plimsoll.domain.host import Host
from plimsoll.domain.knowledge import BoolArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.policy import Policy
from plimsoll.domain.replay import credits_left, never_spent

LEAST_HOST_SHARE = 0.05
"""A volume with less of its host's traffic than this does not count as held back by the host."""


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
class HostRoom:
    """What the hosts could have let through in each bucket, as their ceiling counts, and where that was the limit.

    `carried` is what they could of all their volumes, IOPS and MiB/s, `room` what that left to this one: never less
    than was observed. Both are infinite where it was on others. `ceiling` is the most that they carry. `known` is False
    where it is not known what a volume on the host did, so that the host may have been the limit in any minute.
    """

    ceiling: Ceiling
    carried: tuple[FloatArray, FloatArray]
    room: tuple[FloatArray, FloatArray]
    bound: BoolArray = field(repr=False, compare=False)
    known: bool = True

    def only_in(self, where: BoolArray) -> "HostRoom":
        """The same where the volume was on these hosts, and no limit where it was on others."""
        if where.all():
            return self
        return replace(
            self,
            carried=(np.where(where, self.carried[0], np.inf), np.where(where, self.carried[1], np.inf)),
            room=(np.where(where, self.room[0], np.inf), np.where(where, self.room[1], np.inf)),
            bound=self.bound & where,
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


def host_room(demand: Demand, load: HostLoad | None, hosts: Ceiling, policy: Policy) -> HostRoom:
    """The room of a volume on its only host, whose traffic is the `load`; without one what all its `hosts` carry."""
    if load is None:
        rates = np.full(len(demand.iops), hosts.iops), np.full(len(demand.iops), hosts.throughput_mib_s)
        return HostRoom(ceiling=hosts, carried=rates, room=rates, bound=np.zeros_like(demand.observed))
    ceiling = load.host.ceiling
    own = demand.counted_iops(ceiling.accounting), demand.counted_throughput_mib_s(ceiling.accounting)
    totals = load.iops, load.throughput_mib_s
    carried = (
        _carried(ceiling, Resource.IOPS, load.iops, demand),
        _carried(ceiling, Resource.THROUGHPUT, load.throughput_mib_s, demand),
    )
    bound = np.zeros_like(demand.observed)
    for mine, total, most in zip(own, totals, carried, strict=True):
        bound |= (total >= policy.saturation_pct / 100 * most) & (mine >= LEAST_HOST_SHARE * total) & (mine > 0)
    return HostRoom(
        ceiling=ceiling,
        carried=carried,
        room=(
            np.maximum(own[0], carried[0] - (totals[0] - own[0])),
            np.maximum(own[1], carried[1] - (totals[1] - own[1])),
        ),
        bound=bound & demand.observed,
        known=load.complete,
    )


def _carried(ceiling: Ceiling, resource: Resource, total: FloatArray, demand: Demand) -> FloatArray:
    """What a host could have let through on a resource, its credits spent by what was done."""
    carried = np.full(len(total), ceiling.iops if resource is Resource.IOPS else ceiling.throughput_mib_s)
    for bucket in ceiling.buckets:
        if bucket.resource is resource and not never_spent(total, bucket, demand.lengths_s):
            left = credits_left(total, bucket, demand.lengths_s)
            carried = np.minimum(carried, bucket.sustained_rate + left / demand.resolution_s)
    return carried
