"""A market of pooled types with limits of their own for reads and writes, hosts that cap types, and busiest seconds."""

from datetime import date

import numpy as np

from cloud_simulator.metrics.sums import Sums
from plimsoll.decide.offers import Market
from plimsoll.model.ceiling import Ceiling, LatencyClass
from plimsoll.model.market import Based, PriceBook, Provisioned, Sized, TypePrice, VolumeType
from plimsoll.model.units import KIB
from plimsoll.model.volume import Host, HostLimits, VolumeSpec

_ALIKE = {
    "least_size_gib": 10,
    "most_size_gib": 65_536,
    "io_kib": None,
    "durability_pct": 99.99,
    "boots": True,
    "multi_attach": False,
    "in_place": False,
    "target": True,
}
SLOW = VolumeType(
    name="slow",
    iops=Sized(per_gib=0.75, cap=7500),
    throughput=Sized(per_gib=0.12, cap=1200),
    latency=LatencyClass.TENS_OF_MS,
    write_iops_cost=0.5,
    write_throughput_cost=2.0,
    pooled=True,
    **_ALIKE,
)
MIDDLE = VolumeType(
    name="middle",
    iops=Based(base=3000, per_gib=6, cap=80_000),
    throughput=Based(base=140, per_gib=0.28, cap=1200),
    latency=LatencyClass.SINGLE_DIGIT_MS,
    pooled=True,
    **_ALIKE,
)
FAST = VolumeType(
    name="fast",
    iops=Based(base=6000, per_gib=30, cap=100_000),
    throughput=Based(base=240, per_gib=0.48, cap=1200),
    latency=LatencyClass.SINGLE_DIGIT_MS,
    pooled=True,
    **_ALIKE,
)
BOUGHT = VolumeType(
    name="bought",
    iops=Provisioned(least=3000, most=160_000, per_gib=500, included=3000),
    throughput=Provisioned(least=140, most=2400, per_iops=0.25, included=140),
    latency=LatencyClass.SUB_MS,
    **_ALIKE,
)
TYPES = {kind.name: kind for kind in (SLOW, MIDDLE, FAST, BOUGHT)}
MARKET = Market(
    provider="made up",
    types=TYPES,
    book=PriceBook(
        region="us-east-1",
        source="made up",
        as_of=date(2026, 11, 20),
        types={
            "slow": TypePrice(gib_month=0.04),
            "middle": TypePrice(gib_month=0.10),
            "fast": TypePrice(gib_month=0.17),
            "bought": TypePrice(
                gib_month=0.08,
                iops_tiers=((None, 0.005),),
                included_iops=3000,
                throughput_mib_s_month=0.04,
                included_throughput_mib_s=140,
            ),
        },
    ),
)


def a_capped_host(write_iops=15_000.0, read_iops=15_000.0, throughput_mib_s=240.0, *, id="i-1"):  # noqa: A002
    """A host that caps every type alike, `slow` at 3,000 reads."""

    def cap(reads):
        return Ceiling(iops=reads, throughput_mib_s=throughput_mib_s, write_iops_cost=reads / write_iops)

    caps = {"slow": cap(3000.0), "middle": cap(read_iops), "fast": cap(read_iops), "bought": cap(read_iops)}
    limits = HostLimits(
        baseline_iops=read_iops,
        baseline_throughput_mib_s=throughput_mib_s,
        maximum_iops=read_iops,
        maximum_throughput_mib_s=throughput_mib_s,
        write_iops_cost=read_iops / write_iops,
    )
    return Host(id=id, type="capped", limits=limits, caps=tuple(caps.items()))


def spec_of(name, size_gib=500):
    """A spec of a type; what is bought is at its least."""
    if name != "bought":
        return VolumeSpec(type=name, size_gib=size_gib)
    return VolumeSpec(type=name, size_gib=size_gib, iops=3000, throughput_mib_s=140)


def sums_of(start_s, iops, *, read_share=0.5, io_kib=16.0, burst=2.0):
    """Minutes at these rates; the busiest second of each minute has `burst` times its mean, of reads and of writes."""
    ops = np.round(np.asarray(iops, dtype=np.float64) * 60)
    reads = np.round(ops * read_share)
    counters = {
        "read_ops": reads,
        "write_ops": ops - reads,
        "read_bytes": reads * io_kib * KIB,
        "write_bytes": (ops - reads) * io_kib * KIB,
    }
    peaks = {
        f"peak_{name}": np.where(np.isnan(values), np.nan, np.ceil(values / 60 * burst))
        for name, values in counters.items()
    }
    return Sums(start_s=start_s, period_s=60, **counters, **peaks)
