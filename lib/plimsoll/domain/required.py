"""The required demand: what an offer has to carry.

(1 + headroom) times what was observed, at least the lifted figure where the bucket is saturated, and never more than
the present host could have let through in that bucket (docs/decision.md, section 4).
"""

from dataclasses import dataclass, replace

import numpy as np

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand import Demand
from plimsoll.domain.knowledge import BoolArray
from plimsoll.domain.lifting import LEAST_RATE, Lifted
from plimsoll.domain.period import FloatArray
from plimsoll.domain.trial import Required

NOTHING = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """What a host could have let through in each bucket, as its ceiling counts, and where it was the limit."""

    ceiling: Ceiling
    iops: FloatArray
    throughput_mib_s: FloatArray
    bound: BoolArray


def required_of(demand: Demand, lifted: Lifted, host: HostRoom | None, *, headroom_pct: float) -> Required:
    """What has to be carried of a demand, its saturated buckets lifted, with headroom on what was observed."""
    work = scaled(demand, 1 + headroom_pct / 100)
    short = only(lifted.demand, lifted.any)
    if host is None:
        return Required(work=work, short=short)
    return Required(work=let_through(work, host), short=let_through(short, host))


def bound_by_host(required: Required, demand: Demand, host: HostRoom, present: Ceiling) -> Required:
    """The same for reductions: where the host was the limit the workload may have wanted all that it and the volume
    could carry at most."""
    limits = (
        min(present.iops, host.ceiling.iops),
        min(present.throughput_mib_s, host.ceiling.throughput_mib_s),
    )
    rates = (
        demand.counted_iops(host.ceiling.accounting),
        demand.counted_throughput_mib_s(host.ceiling.accounting),
    )
    factor = np.ones_like(demand.iops)
    room = np.minimum(
        *(
            np.divide(limit, rate, out=np.full_like(factor, np.inf), where=rate > LEAST_RATE)
            for limit, rate in zip(limits, rates, strict=True)
        )
    )
    factor = np.where(host.bound & np.isfinite(room), np.maximum(1.0, room), NOTHING)
    return replace(required, short=highest(required.short, scaled(demand, factor)))


def scaled(demand: Demand, factor: FloatArray | float) -> Demand:
    """So many times a demand, bucket by bucket."""
    return replace(
        demand,
        iops=demand.iops * factor,
        read_iops=demand.read_iops * factor,
        throughput_mib_s=demand.throughput_mib_s * factor,
        read_throughput_mib_s=demand.read_throughput_mib_s * factor,
    )


def only(demand: Demand, where: BoolArray) -> Demand:
    """A demand with nothing in the other buckets."""
    return scaled(demand, where.astype(np.float64))


def highest(one: Demand, other: Demand) -> Demand:
    """The higher of two demands in each bucket, figure by figure."""
    return replace(
        one,
        iops=np.maximum(one.iops, other.iops),
        read_iops=np.maximum(one.read_iops, other.read_iops),
        throughput_mib_s=np.maximum(one.throughput_mib_s, other.throughput_mib_s),
        read_throughput_mib_s=np.maximum(one.read_throughput_mib_s, other.read_throughput_mib_s),
    )


def let_through(demand: Demand, host: HostRoom) -> Demand:
    """A demand without what the host could not have let through."""
    accounting = host.ceiling.accounting
    operations = _share(host.iops, demand.counted_iops(accounting))
    moved = _share(host.throughput_mib_s, demand.counted_throughput_mib_s(accounting))
    return replace(
        demand,
        iops=demand.iops * operations,
        read_iops=demand.read_iops * operations,
        throughput_mib_s=demand.throughput_mib_s * moved,
        read_throughput_mib_s=demand.read_throughput_mib_s * moved,
    )


def _share(room: FloatArray, rate: FloatArray) -> FloatArray:
    found: FloatArray = np.minimum(1.0, np.divide(room, rate, out=np.ones_like(rate), where=rate > LEAST_RATE))
    return found
