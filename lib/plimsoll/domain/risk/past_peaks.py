"""Past peaks: the highest minute of each block of days, which is all that learning needs of a volume's past."""

from dataclasses import dataclass

import numpy as np

from plimsoll.domain.demand.need import Need
from plimsoll.domain.metrics.period import FloatArray

_LEAST_SEEN = 0.5
"""The share of a block's days that has to be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPeaks:
    """The highest minute of each block of `days`, the latest first; None where it is not known.

    `free` is what the offered type carries without being asked for more, `ceiling` what the volume carries. Of blocks
    in which it carried something else nothing is known.
    """

    days: int
    highest: tuple[Need | None, ...]
    free: Need
    ceiling: Need


def blocks_of(days: FloatArray, length: int) -> tuple[Need | None, ...]:
    """The highest of each block of so many days, the latest first; `days` are IOPS and MiB/s of each day, oldest first,
    NaN where one is not known. Days that fill no block are left out."""
    count = days.shape[1] // length
    blocks = days[:, days.shape[1] - count * length :].reshape(2, count, length)
    known = ~np.isnan(blocks).any(axis=0)
    most = np.where(known, blocks, 0.0).max(axis=2, initial=0.0)
    seen = known.mean(axis=1) >= _LEAST_SEEN if count else np.zeros(0, dtype=np.bool_)
    found = [
        Need(iops=float(most[0, at]), throughput_mib_s=float(most[1, at])) if seen[at] else None for at in range(count)
    ]
    return tuple(found[::-1])
