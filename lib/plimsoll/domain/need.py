"""The need: what an offer must carry, from the demand, the policy, and what the hosts could ever use."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from plimsoll.domain.ceiling import UNBOUNDED, Accounting, Ceiling, Resource
from plimsoll.domain.demand import Demand
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.saturation import Saturation
from plimsoll.domain.volume import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What an offer must reach: at its highest, and for ever."""

    iops: float = 0.0
    throughput_mib_s: float = 0.0
    sustained_iops: float = 0.0
    sustained_throughput_mib_s: float = 0.0

    @classmethod
    def of_ceiling(cls, ceiling: Ceiling) -> "Need":
        """All that a ceiling ever carries."""
        return cls(
            iops=ceiling.iops,
            throughput_mib_s=ceiling.throughput_mib_s,
            sustained_iops=ceiling.sustained_iops,
            sustained_throughput_mib_s=ceiling.sustained_throughput_mib_s,
        )

    def __add__(self, other: "Need") -> "Need":
        """Both at once, of workloads that do not know of each other."""
        return self._with(operator.add, other)

    def no_less_than(self, other: "Need") -> "Need":
        """The greater of both on each side."""
        return self._with(max, other)

    def _with(self, chosen: Callable[[float, float], float], other: "Need") -> "Need":
        return Need(
            iops=chosen(self.iops, other.iops),
            throughput_mib_s=chosen(self.throughput_mib_s, other.throughput_mib_s),
            sustained_iops=chosen(self.sustained_iops, other.sustained_iops),
            sustained_throughput_mib_s=chosen(self.sustained_throughput_mib_s, other.sustained_throughput_mib_s),
        )


NeedBy = Callable[[Accounting], Need]
"""What a volume must carry, by how the ceiling counts that is to carry it."""


def usable(volume: Volume) -> Ceiling:
    """What the attached hosts could ever carry together; unbounded where one of them is not known."""
    if not volume.attachments or len(volume.hosts) < len(volume.attachments):
        return UNBOUNDED
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for host in volume.hosts:
        total = total + host.ceiling
    return total


def need_of(
    demand: Demand, accounting: Accounting, *, present: Ceiling, stood: Saturation, hosts: Ceiling, policy: Policy
) -> Need:
    """What a ceiling that counts work so must carry, by the rule of docs/decision.md, section 4."""
    headroom = 1 + policy.headroom_pct / 100
    present, hosts = present.counted_as(accounting), hosts.counted_as(accounting)
    floor = Need.of_ceiling(present) if stood.censored else Need()
    raised = _raised(demand, accounting, present, stood, policy)
    iops, throughput_mib_s = (peak * headroom for peak in _peaks(demand, accounting, policy))
    return Need(
        iops=min(hosts.iops, max(iops, floor.iops, raised.iops)),
        throughput_mib_s=min(
            hosts.throughput_mib_s, max(throughput_mib_s, floor.throughput_mib_s, raised.throughput_mib_s)
        ),
        sustained_iops=min(hosts.iops, max(floor.sustained_iops, raised.iops)),
        sustained_throughput_mib_s=min(
            hosts.throughput_mib_s, max(floor.sustained_throughput_mib_s, raised.throughput_mib_s)
        ),
    )


def needing(demand: Demand, *, present: Ceiling, stood: Saturation, hosts: Ceiling, policy: Policy) -> NeedBy:
    """`need_of` for any accounting, worked out once for each."""
    return cache(partial(need_of, demand, present=present, stood=stood, hosts=hosts, policy=policy))


def _raised(demand: Demand, accounting: Accounting, present: Ceiling, stood: Saturation, policy: Policy) -> Need:
    """A step above what was seen, on each resource that was throttled often; operations as large as the present type's
    count as one."""
    step = 1 + max(policy.upgrade_step_pct, policy.headroom_pct) / 100
    peak_iops, peak_mib_s = _peaks(demand, replace(accounting, io_kib=present.io_kib), policy)
    iops = max(peak_iops, present.sustained_iops)
    throughput_mib_s = max(peak_mib_s, present.sustained_throughput_mib_s)
    return Need(
        iops=iops * step if Resource.IOPS in stood.frequent else 0.0,
        throughput_mib_s=throughput_mib_s * step if Resource.THROUGHPUT in stood.frequent else 0.0,
    )


def _peaks(demand: Demand, accounting: Accounting, policy: Policy) -> tuple[float, float]:
    """The peaks of IOPS and MiB/s that size an offer, as an accounting counts them."""
    rates = [demand.counted_iops(accounting), demand.counted_throughput_mib_s(accounting)]
    busiest = None if policy.size_on is SizeOn.AVERAGE else demand.busiest
    if busiest is not None:
        seconds = (busiest.counted_iops(accounting), busiest.counted_throughput_mib_s(accounting))
        rates = [np.maximum(rate, most * busiest.exact) for rate, most in zip(rates, seconds, strict=True)]
    elif policy.size_on is SizeOn.BUSY_TIME:
        rates = [demand.busy(rate) for rate in rates]
    iops, throughput_mib_s = (demand.peak(rate, policy.peak_quantile) for rate in rates)
    return iops, throughput_mib_s
