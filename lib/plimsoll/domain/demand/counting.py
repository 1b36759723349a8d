"""Rates in the units of a ceiling: writes weighed against reads, large I/O split into several operations."""

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.units import KIB_PER_MIB


def weighted(total: FloatArray, reads: FloatArray, write_cost: float) -> FloatArray:
    """A total of reads and writes, in reads. Each write counts as `write_cost` reads."""
    return total if write_cost == 1 else write_cost * total + (1 - write_cost) * reads


def accounted(iops: FloatArray, throughput_mib_s: FloatArray, io_kib: float | None) -> FloatArray:
    """IOPS as a volume type counts them. An I/O above `io_kib` counts as several. None: every I/O counts as one."""
    return iops if io_kib is None else np.maximum(iops, throughput_mib_s * (KIB_PER_MIB / io_kib))
