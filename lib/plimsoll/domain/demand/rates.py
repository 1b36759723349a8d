"""Rates: what is done a second, as one array [side, direction, bucket].

    rates[IOPS, ALL]     operations a second, reads and writes together
    rates[MIB_S, READS]  MiB a second that are read

Sides are in the order of `RESOURCES`. Adding, scaling, masking and the highest of several are numpy's.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray
from plimsoll.domain.ceiling import Accounting, Ceiling
from plimsoll.domain.units import KIB_PER_MIB

Rates = FloatArray
"""Figures a second: [side, direction, bucket]."""

CountedRates = FloatArray
"""Rates as an accounting counts them: [side, bucket]."""

IOPS: Final = 0
MIB_S: Final = 1
"""The sides."""

ALL: Final = 0
READS: Final = 1
"""The directions."""

LEAST_RATE: Final = 1e-9
"""A rate under this is none: a bucket without work has no mix that could be lifted."""


def scale_rates(rates: Rates, times: FloatArray | float) -> Rates:
    """Rates times a number, or a figure for each [bucket] or [side, bucket]."""
    return rates * (times if np.ndim(times) < 2 else np.asarray(times)[:, np.newaxis])


def weigh_writes(rates: Rates, cost: FloatArray | float) -> CountedRates:
    """Rates in reads: a write counts as `cost` reads, a number or [side, 1]."""
    if isinstance(cost, float) and cost == 1:
        return rates[:, ALL]
    return cost * rates[:, ALL] + (1 - cost) * rates[:, READS]


def count_rates(rates: Rates, accounting: Accounting) -> CountedRates:
    """Rates as an accounting counts them: a write may cost more or less than a read, a large I/O be several."""
    return count_weighed(lambda cost: weigh_writes(rates, cost), accounting)


def count_weighed(weigh: Callable[[float], CountedRates], accounting: Accounting) -> CountedRates:
    """Rates as an accounting counts them; `weigh` gives both sides in reads for the cost of a write."""
    by_iops = weigh(accounting.write_iops_cost)
    same = accounting.write_iops_cost == accounting.write_throughput_cost
    iops = by_iops[IOPS]
    pieces = None if accounting.io_kib is None else by_iops[MIB_S] * (KIB_PER_MIB / accounting.io_kib)
    if pieces is None or (pieces <= iops).all():
        if same:
            return by_iops  # nothing is copied where no I/O is large, which is nearly always
    else:
        iops = np.maximum(iops, pieces)
    return np.stack([iops, (by_iops if same else weigh(accounting.write_throughput_cost))[MIB_S]])


def limits_of(ceiling: Ceiling) -> FloatArray:
    """The limits of a ceiling as [side, 1], to be held against counted rates."""
    return np.array([[ceiling.iops], [ceiling.throughput_mib_s]])


def either_side(where: BoolArray) -> BoolArray:
    """The buckets of either side, of [side, bucket]."""
    either: BoolArray = where[IOPS] | where[MIB_S]
    return either


def divide_rates(limits: FloatArray, rates: CountedRates) -> CountedRates:
    """Limits over rates, how many times each rate fits; infinite where there is none."""
    return np.divide(limits, rates, out=np.full_like(rates, np.inf), where=rates > LEAST_RATE)


def find_fit(limits: FloatArray, rates: CountedRates) -> FloatArray | float:
    """The share of each rate that limits let through; 1.0 if that is all of every rate."""
    if (rates <= limits).all():
        return 1.0
    return np.minimum(1.0, divide_rates(limits, rates))
