"""Histories: the knowledge of volumes when headroom is chosen for them, in a backtest and in an audit alike."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.model.arrays import FloatArray
from plimsoll.model.ceiling import Need
from plimsoll.model.units import DAY_S

USUAL_DAY: Final = 4
"""Which of a volume's days says what is usual for it: the fourth busiest."""

_LEAST_USUAL: Final = 0.25
"""No history speaks for less than a quarter of the most required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories:
    """The pasts of volumes at a cut: the most required, (volumes, 2), and the share of it that is `usual`."""

    most: FloatArray
    usual: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The past of one volume over its known `days`.

    `most` is the most required before the window that it is sized by, and `usual` the share of it that is usual. If the
    highest rates of its days are not known, these are None and 1.
    """

    days: float
    most: Need | None = None
    usual: float = 1.0


def summarize_histories(before: FloatArray, period_s: int) -> Histories:
    """Summarizes the rates before a cut (volumes, 2, buckets), of whole days, for each volume."""
    in_day = DAY_S // period_s
    begun = before.shape[2] % in_day
    days = before[:, :, begun:].reshape(*before.shape[:2], -1, in_day).max(axis=3)
    return Histories(most=before.max(axis=2, initial=0.0), usual=usual_share(days))


def summarize_history(days: FloatArray) -> History | None:
    """Summarizes the highest rates of a volume's days (2, days), NaN where not known; None if none are known."""
    known = days[:, ~np.isnan(days).any(axis=0)]
    if not known.shape[1]:
        return None
    iops, throughput_mib_s = known.max(axis=1).tolist()
    return History(
        days=float(known.shape[1]),
        most=Need(iops=iops, throughput_mib_s=throughput_mib_s),
        usual=float(usual_share(known[None])[0]),
    )


def usual_share(days: FloatArray) -> FloatArray:
    """The usual share (0 to 1) of each volume's highest rate, by the highest of each day: (volumes, 2, days).

    A peak that only one day or two had returns less often than one that many days had. The share is the geometric mean
    of what the highest day and the fourth highest reached, over the highest; 1 if there are fewer days.
    """
    if days.shape[2] < USUAL_DAY:
        return np.ones(len(days))
    ordered = np.sort(days, axis=2)
    highest, fourth = ordered[:, :, -1], ordered[:, :, -USUAL_DAY]
    shares = np.divide(fourth, highest, out=np.zeros_like(highest), where=highest > 0).max(axis=1)
    share: FloatArray = np.sqrt(np.maximum(shares, _LEAST_USUAL**2))
    return share


_LEAST_SEEN = 0.5
"""The share of a block's days that has to be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastPeaks:
    """The highest minutes of the busiest days of each block of `days`, the latest block first; None if unknown.

    It has as many days as tell what is usual, the highest first on each side, whichever day that was. `free` is what
    the offered type carries without being asked for more, `ceiling` what the volume carries. Of blocks in which it
    carried something else nothing is known.
    """

    days: int
    busiest: tuple[tuple[Need, ...] | None, ...]
    free: Need
    ceiling: Need


def split_into_blocks(days: FloatArray, length: int) -> tuple[tuple[Need, ...] | None, ...]:
    """Splits days into blocks of a length, the latest first, each with its busiest days.

    `days` are IOPS and MiB/s of each day, oldest first, NaN if unknown. Days that fill no block are left out.
    """
    count = days.shape[1] // length
    blocks = days[:, days.shape[1] - count * length :].reshape(2, count, length)
    return tuple(_busiest(blocks[:, at]) for at in range(count))[::-1]


def _busiest(block: FloatArray) -> tuple[Need, ...] | None:
    """The highest rates of a block's days (2, days), the highest first on each side; None if too few days are known."""
    known = block[:, ~np.isnan(block).any(axis=0)]
    if known.shape[1] < _LEAST_SEEN * block.shape[1]:
        return None
    ordered = np.sort(known, axis=1)[:, : -USUAL_DAY - 1 : -1]
    return tuple(Need(iops=iops, throughput_mib_s=rate) for iops, rate in ordered.T.tolist())
