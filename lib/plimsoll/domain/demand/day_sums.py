"""Day sums: what a volume did on each day (UTC), before its window and in it.

A cloud's sums add up, so that they are the same however finely a day was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S, MIB
from plimsoll.domain.volume import Volume

Totals = npt.NDArray[np.float64]
"""Two rows, operations and bytes, one column a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySums:
    """Operations and bytes of consecutive days from `start_s` on (a midnight in epoch seconds), NaN where not known."""

    start_s: int
    totals: Totals

    @property
    def end_s(self) -> int:
        """When the last day ends."""
        return self.start_s + len(self.totals[0]) * DAY_S

    @property
    def starts_s(self) -> IntArray:
        """When each day begins."""
        return np.arange(self.start_s, self.end_s, DAY_S, dtype=np.int64)

    @property
    def known(self) -> BoolArray:
        """The days that are known."""
        unknown: BoolArray = np.isnan(self.totals[0])
        return ~unknown

    def whole_in(self, window: Window) -> BoolArray:
        """The known days that are wholly in a window."""
        found, starts_s = self.known, self.starts_s
        found &= starts_s >= window.start_s
        found &= starts_s + DAY_S <= window.end_s
        return found

    def before(self, later: "DaySums") -> "DaySums":
        """These, and those that come after them; what lies between is not known."""
        between = np.full((2, (later.start_s - self.end_s) // DAY_S), np.nan)
        return DaySums(start_s=self.start_s, totals=np.concatenate([self.totals, between, later.totals], axis=1))

    def as_history(self, volume: Volume, policy: Policy) -> "DaySums":
        """The days that are the workload's own: neither those in which the volume was filled, nor a day on which it
        was attached to a host."""
        out = (self.starts_s < policy.filled_s(volume.created)) | np.isin(self.starts_s, days_of_moves(volume))
        return DaySums(start_s=self.start_s, totals=np.where(out, np.nan, self.totals))


def days_of_moves(volume: Volume) -> list[int]:
    """The days (their midnights in epoch seconds) on which a volume was attached to a host that it has now."""
    moved = [one.since for one in volume.attachments if not one.at_start]
    return [int(when.timestamp()) // DAY_S * DAY_S for when in moved]


def sums_by_day(window: Window, rows: Sequence[tuple[IntArray, FloatArray, BoolArray]]) -> DaySums:
    """The sums of the whole days of a window, of a row of operations and one of bytes.

    Each row has when its buckets begin (none lasts beyond its day), what was done in each, and whether the cloud has a
    point of it. A day without any point is not known.
    """
    start_s, end_s = -(-window.start_s // DAY_S) * DAY_S, window.end_s // DAY_S * DAY_S
    days = max(0, (end_s - start_s) // DAY_S)
    totals, seen = np.zeros((2, days)), np.zeros(days, dtype=np.bool_)
    for row, (starts_s, done, present) in enumerate(rows):
        inside = present & (starts_s >= start_s) & (starts_s < end_s)
        day = (starts_s[inside] - start_s) // DAY_S
        totals[row] = np.bincount(day, weights=done[inside], minlength=days)
        seen[day] = True
    return DaySums(start_s=start_s, totals=np.where(seen, totals, np.nan))


def sums_of_demand(demand: Demand) -> DaySums:
    """The days of a demand."""
    starts_s = demand.starts_s
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), starts_s.shape)
    window = Window(start_s=int(starts_s[0]), end_s=int(starts_s[-1] + lengths_s[-1]))
    done = demand.iops * lengths_s, demand.throughput_mib_s * MIB * lengths_s
    return sums_by_day(window, [(starts_s, row, demand.observed) for row in done])
