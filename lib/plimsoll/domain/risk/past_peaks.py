"""Past peaks: the busiest days of each block of days, which is all that learning needs of a volume's past."""

from dataclasses import dataclass

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.demand.need import Need
from plimsoll.domain.risk.histories import USUAL_DAY

_LEAST_SEEN = 0.5
"""The share of a block's days that has to be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPeaks:
    """The highest minutes of the busiest days of each block of `days`, the latest block first; None where it is not
    known. As many days as tell what is usual, the highest first on each side, whichever day that was.

    `free` is what the offered type carries without being asked for more, `ceiling` what the volume carries. Of blocks
    in which it carried something else nothing is known.
    """

    days: int
    busiest: tuple[tuple[Need, ...] | None, ...]
    free: Need
    ceiling: Need


def blocks_of(days: FloatArray, length: int) -> tuple[tuple[Need, ...] | None, ...]:
    """The busiest days of each block of so many, the latest block first; `days` are IOPS and MiB/s of each day, oldest
    first, NaN where one is not known. Days that fill no block are left out."""
    count = days.shape[1] // length
    blocks = days[:, days.shape[1] - count * length :].reshape(2, count, length)
    return tuple(_busiest(blocks[:, at]) for at in range(count))[::-1]


def _busiest(block: FloatArray) -> tuple[Need, ...] | None:
    known = block[:, ~np.isnan(block).any(axis=0)]
    if known.shape[1] < _LEAST_SEEN * block.shape[1]:
        return None
    ordered = np.sort(known, axis=1)[:, : -USUAL_DAY - 1 : -1]
    return tuple(Need(iops=iops, throughput_mib_s=rate) for iops, rate in ordered.T.tolist())
