"""Counting: rates as the ceiling counts them that they meet."""

import numpy as np

from plimsoll.domain.period import FloatArray
from plimsoll.domain.units import KIB_PER_MIB


def weighted(total: FloatArray, reads: FloatArray, write_cost: float) -> FloatArray:
    """A total with its writes counted for so many reads each."""
    return total if write_cost == 1 else write_cost * total + (1 - write_cost) * reads


def accounted(iops: FloatArray, throughput_mib_s: FloatArray, io_kib: float | None) -> FloatArray:
    """IOPS as a type counts them whose largest I/O is `io_kib` (None: every I/O is one)."""
    return iops if io_kib is None else np.maximum(iops, throughput_mib_s * (KIB_PER_MIB / io_kib))
