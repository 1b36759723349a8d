"""The record: what is on record of a ceiling, held against what was carried.

Clouds keep the latest modification alone. Where clearly more was carried than the record allows, another configuration
was in place: from there back the ceiling of that epoch is not known. A little more is the ceiling. One point of twice
the ceiling between ordinary ones is a point that was counted twice (docs/decision.md, section 1).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from plimsoll.domain.arrays import FloatArray
from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.demand.demand import Demand
from plimsoll.domain.demand.epoch import Epoch

SLIGHTLY: Final = 1.05
"""So many times its ceiling is what a volume that stands at it may show."""

LEAST_TWICE: Final = 1.9
MOST_TWICE: Final = 2.1
"""Between these a rate is twice the ceiling."""


def hold_against_record(demand: Demand, buckets: slice, ceiling: Ceiling) -> tuple[int, int | None]:
    """The first of an epoch's buckets from which on its ceiling on record holds, and one that was counted twice (None:
    none was)."""
    first, after, _ = buckets.indices(len(demand.iops))
    times = _times_of_ceiling(demand, ceiling)
    above = first + np.flatnonzero(times[first:after] > SLIGHTLY)
    if not len(above):
        return first, None
    last = int(above[-1])
    if len(above) == 1 and _is_doubled(demand, times, last):
        return first, last
    return last + 1, None


def find_epochs_on_record(demand: Demand, ceiling: Ceiling) -> list[Epoch]:
    """The epochs of a demand that had one ceiling by the record."""
    first, _ = hold_against_record(demand, slice(None), ceiling)
    unknown = [Epoch(window=demand.window, spec=None, buckets=slice(0, first))] if first else []
    known = Epoch(window=demand.window, spec=None, ceiling=ceiling, buckets=slice(first, len(demand.iops)))
    return [*unknown, known]


def clip_to_record(demand: Demand, epochs: Sequence[Epoch]) -> FloatArray | float:
    """How many times each bucket counts, so that none is above the ceiling of its epoch."""
    clip = np.ones_like(demand.iops)
    for epoch in epochs:
        if epoch.ceiling is not None:
            times = _times_of_ceiling(demand, epoch.ceiling)[epoch.buckets]
            clip[epoch.buckets] = 1 / np.maximum(1.0, times)
    return clip if (clip < 1).any() else 1.0


def _times_of_ceiling(demand: Demand, ceiling: Ceiling) -> FloatArray:
    """How many times a ceiling each bucket was; 0 where it is not known whether it is the sum of several minutes."""
    accounting = ceiling.accounting
    times = np.maximum(
        demand.counted_iops(accounting) / ceiling.iops,
        demand.counted_throughput_mib_s(accounting) / ceiling.throughput_mib_s,
    )
    return times if demand.undecided is None else np.where(demand.undecided, 0.0, times)


def _is_doubled(demand: Demand, times: FloatArray, place: int) -> bool:
    """Whether one minute has twice the ceiling between two that were observed and have not."""
    if not 0 < place < len(times) - 1 or not LEAST_TWICE <= times[place] <= MOST_TWICE:
        return False
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), times.shape)
    beside = [place - 1, place + 1]
    return bool(
        lengths_s[place] == demand.resolution_s and demand.observed[beside].all() and (times[beside] <= SLIGHTLY).all()
    )
