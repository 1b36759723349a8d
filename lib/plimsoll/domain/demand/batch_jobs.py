"""Jobs that take what they get: more speed only ends them earlier, so that they are not given more.

Work that a ceiling held back and that is not done later is done where the ceiling is higher: whatever was at the higher
ceiling would have been at the lower one too. Where a volume does no more a day than it did under a lower ceiling, its
work had only waited (docs/decision.md, section 3).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from plimsoll.domain.arrays import BoolArray
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.day_sums import DaySums
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epoch import Epoch
from plimsoll.domain.units import MIB

LEAST_DAYS: Final = 5
"""Days of an epoch that tell what a volume does a day: a weekend among them says little by itself."""

LAST_DAYS: Final = 28
"""Of an earlier epoch its last four weeks are told of: what was long before is another workload."""

LEAST_SHARE: Final = 0.1
"""What a higher ceiling should have brought a day is held against what was done only from this share on: days differ
by a few percent for no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """What a volume did a day under a ceiling: operations, and MiB."""

    ceiling: Ceiling
    a_day: Mapping[Resource, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is known of whole days: which buckets are in such days of an epoch and how `many` there are, and what the
    epochs before it `did`, oldest first."""

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
    """Whether more of a resource than it once had brought a volume no more work a day.

    What it does in its `saturated` buckets is held against the last earlier ceiling that was lower. At least half of
    what that one would not have let through must have come on top of what was done then.
    """
    lower = next((one for one in reversed(told.did) if one.ceiling.limit(resource) < ceiling.limit(resource)), None)
    if lower is None or told.many < LEAST_DAYS:
        return False
    rate = demand.iops if resource is Resource.IOPS else demand.throughput_mib_s
    done = rate * demand.lengths_s
    now, before = float(done[told.buckets].sum()) / told.many, lower.a_day[resource]
    held = float(done[told.buckets & saturated].sum()) / told.many
    brought = held * (1 - lower.ceiling.limit(resource) / ceiling.limit(resource))
    return brought >= LEAST_SHARE * before and now - before < brought / 2
