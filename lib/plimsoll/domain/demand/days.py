"""Days: what a volume did on each day (UTC), before its window and in it, and whether it takes what it gets.

A cloud's sums add up, so that they are the same however finely a day was read.

Jobs that take what they get only end earlier with more speed, so that they are not given more. Work that a ceiling
held back and that is not done later is done where the ceiling is higher: whatever was at the higher ceiling would have
been at the lower one too. Where a volume does no more a day than it did under a lower ceiling, its work had only waited
(docs/decision.md, section 3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.demand.rates import ALL
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
    done = demand.rates[:, ALL] * np.array([[1], [MIB]]) * lengths_s
    return sums_by_day(window, [(starts_s, row, demand.observed) for row in done])


LEAST_DAYS: Final = 5
"""Days of an epoch that tell what a volume does a day: a weekend among them says little by itself."""

LAST_DAYS: Final = 28
"""The last days of an earlier epoch that count. What was long before is another workload."""

LEAST_SHARE: Final = 0.1
"""The least share of a day's work that a higher ceiling should have brought: days differ by a few percent anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """The work a day of a volume under a ceiling: operations, and MiB."""

    ceiling: Ceiling
    a_day: Mapping[Resource, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The whole days of an epoch: their buckets, how `many` they are, and the work of each epoch before."""

    buckets: BoolArray
    many: int
    did: tuple[Did, ...]


def sum_days(epochs: Sequence[Epoch], days: DaySums) -> Iterator[Did]:
    """The work a day of each epoch of which that and the ceiling are known."""
    for epoch in epochs:
        last = np.flatnonzero(days.whole_in(epoch.window))[-LAST_DAYS:]
        if epoch.ceiling is not None and len(last) >= LEAST_DAYS:
            operations, moved = days.totals[:, last].mean(axis=1).tolist()
            a_day = {Resource.IOPS: operations, Resource.THROUGHPUT: moved / MIB}
            yield Did(ceiling=epoch.ceiling, a_day=a_day)


def takes_what_it_gets(demand: Demand, ceiling: Ceiling, told: Told, saturated: BoolArray, resource: Resource) -> bool:
    """More of a resource than it once had brought a volume no more work a day.

    What it does in its `saturated` buckets is held against the last earlier ceiling that was lower. At least half of
    what that one would not have let through must have come on top of what was done then.
    """
    lower = next((one for one in reversed(told.did) if one.ceiling.limit(resource) < ceiling.limit(resource)), None)
    if lower is None or told.many < LEAST_DAYS:
        return False
    done = demand.rates[resource.side, ALL] * demand.lengths_s
    now, before = float(done[told.buckets].sum()) / told.many, lower.a_day[resource]
    held = float(done[told.buckets & saturated].sum()) / told.many
    brought = held * (1 - lower.ceiling.limit(resource) / ceiling.limit(resource))
    return brought >= LEAST_SHARE * before and now - before < brought / 2
