"""The need: what an offer must carry, from the demand, the policy, and what the hosts could ever use."""

from dataclasses import dataclass

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource
from plimsoll.domain.demand import Demand
from plimsoll.domain.period import FloatArray
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


def usable(volume: Volume) -> Ceiling:
    """What the attached hosts could ever carry together; unbounded where one of them is not known."""
    if not volume.attachments or len(volume.hosts) < len(volume.attachments):
        return UNBOUNDED
    total = Ceiling(iops=0.0, throughput_mib_s=0.0)
    for host in volume.hosts:
        total = total + host.ceiling
    return total


def need_of(
    demand: Demand, io_kib: float | None, *, present: Ceiling, stood: Saturation, hosts: Ceiling, policy: Policy
) -> Need:
    """What a type whose largest I/O is `io_kib` must carry, by the rule of docs/decision.md, section 4."""
    headroom = 1 + policy.headroom_pct / 100
    floor = Need.of_ceiling(present) if stood.censored else Need()
    raised = _raised(demand, present, stood, policy)
    iops = _peak(demand, demand.accounted_iops(io_kib), policy) * headroom
    throughput_mib_s = _peak(demand, demand.throughput_mib_s, policy) * headroom
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


def _raised(demand: Demand, present: Ceiling, stood: Saturation, policy: Policy) -> Need:
    """A step above what was seen, on each resource that was throttled often."""
    step = 1 + max(policy.upgrade_step_pct, policy.headroom_pct) / 100
    iops = max(_peak(demand, demand.accounted_iops(present.io_kib), policy), present.sustained_iops)
    throughput_mib_s = max(_peak(demand, demand.throughput_mib_s, policy), present.sustained_throughput_mib_s)
    return Need(
        iops=iops * step if Resource.IOPS in stood.frequent else 0.0,
        throughput_mib_s=throughput_mib_s * step if Resource.THROUGHPUT in stood.frequent else 0.0,
    )


def _peak(demand: Demand, rate: FloatArray, policy: Policy) -> float:
    sized = demand.busy(rate) if policy.size_on is SizeOn.BUSY_TIME else rate
    return demand.peak(sized, policy.peak_quantile)
