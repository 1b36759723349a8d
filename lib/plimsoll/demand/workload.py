"""A workload's shape: what a benchmark has to do so that it asks of a volume what its workload asks.

Around a peak, the I/O sizes are those of the buckets within 10 % of it, weighted by their operations. A cloud tells
the mean size of a bucket only, and of reads and writes together, so that each mean is split between the two powers of
two around it (which keeps it) and both directions get the same sizes.

A need may ask for more IOPS, or more MiB/s, than the demand's own sizes would make of the other: its I/O was counted
in smaller pieces, or one side was raised to what the volume has today. The *ridge*, the need's MiB/s over its IOPS, is
the size that asks for both at once: at the peak of IOPS no I/O is taken to be larger, at that of throughput none
smaller, so that neither moment asks for more than the need (as far as sizes from 4 KiB to 1 MiB allow).

A need is counted in reads, a written operation being more or less than one (`model.ceiling.Accounting`): the peaks are
those of the counted demand, and what is asked there are operations and MiB of the peak's own mix of directions.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.demand.demand import IOPS, Demand
from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.ceiling import PLAIN, Accounting, Need
from plimsoll.model.errors import NotMeasured
from plimsoll.model.units import KIB_PER_MIB

SIZES_KIB: Final = tuple(1 << power for power in range(2, 11))
"""The I/O sizes that a shape is made of."""

NEAR: Final = 0.9
"""A bucket from this share of the peak on belongs to it."""

SEQUENTIAL_KIB: Final = 128.0
"""From this mean size on, I/O is taken to be sequential: Linux reads ahead, and merges neighbors, up to 128 KiB by
default, and random I/O that large is rare. A heuristic: a cloud's metrics do not tell."""

Sizes = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The load of a benchmark at one of the demand's peaks: the rates to hold, and the mix of I/O.

    `read_sizes_kib` and `write_sizes_kib` are the shares of reads and of writes by I/O size in whole KiB (powers of two
    from 4 to 1,024); each sums to 1, or is empty where there are none. `read_share` is the reads' share of operations.
    """

    iops: float
    throughput_mib_s: float
    read_share: float
    read_sizes_kib: Sizes
    write_sizes_kib: Sizes

    @property
    def mean_kib(self) -> float:
        """The mean size of its I/O, reads and writes together."""
        reads, writes = mean_size_kib(self.read_sizes_kib), mean_size_kib(self.write_sizes_kib)
        return self.read_share * reads + (1 - self.read_share) * writes


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadShape:
    """The moments of most IOPS and of most throughput, and whether the I/O is taken to be sequential."""

    at_most_iops: Moment
    at_most_throughput: Moment
    sequential: bool


def mean_size_kib(sizes: Sizes) -> float:
    """The mean of a mix of sizes; 0 of none."""
    return sum(size_kib * share for size_kib, share in sizes)


def shape_of(demand: Demand, need: Need, accounting: Accounting = PLAIN) -> WorkloadShape:
    """The shape of a demand's peaks, at the rates of a need that is counted so; NotMeasured where nothing was ever
    asked."""
    if not demand.peak(demand.iops) or not need.iops:
        raise NotMeasured("the volume had no operations in the window: there is no workload to measure a volume with.")
    sizes_kib = np.zeros_like(demand.iops)
    np.divide(demand.throughput_mib_s * KIB_PER_MIB, demand.iops, out=sizes_kib, where=demand.iops > 0)
    busy, wide = _near_peaks(demand, accounting)
    read_share = _read_share(demand, busy)
    iops, throughput_mib_s = _operations(need, read_share, accounting)
    sizes = _sizes(demand, busy, np.minimum(sizes_kib, throughput_mib_s * KIB_PER_MIB / iops))
    at_most_iops = _moment(iops, iops * mean_size_kib(sizes) / KIB_PER_MIB, read_share, sizes)
    read_share = _read_share(demand, wide)
    iops, throughput_mib_s = _operations(need, read_share, accounting)
    sizes = _sizes(demand, wide, np.maximum(sizes_kib, throughput_mib_s * KIB_PER_MIB / iops))
    iops = throughput_mib_s * KIB_PER_MIB / mean_size_kib(sizes)
    return WorkloadShape(
        at_most_iops=at_most_iops,
        at_most_throughput=_moment(iops, throughput_mib_s, read_share, sizes),
        sequential=mean_size_kib(sizes) >= SEQUENTIAL_KIB,
    )


def recount_need(need: Need, demand: Demand, counted: Accounting, wanted: Accounting) -> Need:
    """The need in the units of another accounting, by the mix of reads and writes at the demand's peaks.

    The need itself if nothing was ever asked.
    """
    if not demand.peak(demand.iops):
        return need
    busy, wide = (_read_share(demand, near) for near in _near_peaks(demand, counted))
    iops = wanted.mean_iops_cost(busy) / counted.mean_iops_cost(busy)
    throughput = wanted.mean_throughput_cost(wide) / counted.mean_throughput_cost(wide)
    return Need(
        iops=need.iops * iops,
        throughput_mib_s=need.throughput_mib_s * throughput,
        sustained_iops=need.sustained_iops * iops,
        sustained_throughput_mib_s=need.sustained_throughput_mib_s * throughput,
    )


def split(sizes_kib: FloatArray, weights: FloatArray) -> Sizes:
    """The shares of `SIZES_KIB` that keep the weighted mean of sizes in KiB; what is outside counts as the edge."""
    steps = np.asarray(SIZES_KIB, dtype=np.float64)
    held = np.clip(sizes_kib, steps[0], steps[-1])
    lower = np.minimum(np.searchsorted(steps, held, side="right") - 1, len(steps) - 2)
    upper_share = (held - steps[lower]) / (steps[lower + 1] - steps[lower])
    shares = np.bincount(lower, weights * (1 - upper_share), len(steps))
    shares += np.bincount(lower + 1, weights * upper_share, len(steps))
    shares = shares / shares.sum()
    return tuple((size_kib, float(share)) for size_kib, share in zip(SIZES_KIB, shares, strict=True) if share > 0)


def _operations(need: Need, read_share: float, accounting: Accounting) -> tuple[float, float]:
    """The real IOPS and MiB/s of a need in counted units, if `read_share` of the operations are reads."""
    return (
        need.iops / accounting.mean_iops_cost(read_share),
        need.throughput_mib_s / accounting.mean_throughput_cost(read_share),
    )


def _near_peaks(demand: Demand, accounting: Accounting) -> tuple[BoolArray, BoolArray]:
    """The buckets near the peak of IOPS, and those near that of throughput, as an accounting counts their writes."""
    busy, wide = (_near_peak(demand, rate) for rate in demand.count(accounting.per_operation))
    return busy, wide


def _near_peak(demand: Demand, rate: FloatArray) -> BoolArray:
    """The buckets with work that reach `NEAR` of the rate's peak."""
    worked = demand.iops > 0
    near: BoolArray = worked & (rate >= NEAR * demand.peak(rate * worked))
    return near


def _read_share(demand: Demand, near: BoolArray) -> float:
    """The reads' share of the operations of some buckets."""
    operations, reads = ((rate * demand.lengths_s)[near].sum() for rate in demand.rates[IOPS])
    return float(np.clip(reads / operations, 0.0, 1.0))


def _sizes(demand: Demand, near: BoolArray, sizes_kib: FloatArray) -> Sizes:
    """The mix of sizes of some buckets, by their operations."""
    return split(sizes_kib[near], (demand.iops * demand.lengths_s)[near])


def _moment(iops: float, throughput_mib_s: float, read_share: float, sizes: Sizes) -> Moment:
    return Moment(
        iops=iops,
        throughput_mib_s=throughput_mib_s,
        read_share=read_share,
        read_sizes_kib=sizes if read_share > 0 else (),
        write_sizes_kib=sizes if read_share < 1 else (),
    )
