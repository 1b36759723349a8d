"""Agreement: whether the eight series of a disk can all be true of the same buckets.

While an instance runs, Cloud Monitoring writes all eight in every minute, zeros too; where none has a point the
instance did not run. The busiest second of a minute is no less than its mean second, and is zero where nothing was
done.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.clouds.google.queries import Place
from plimsoll.domain.metrics.knowledge import BoolArray
from plimsoll.domain.metrics.period import FloatArray
from plimsoll.domain.metrics.sums import COUNTER_SERIES

_ROUNDED = 1.0
"""Peaks are whole numbers, so that one may be this much lower than it was."""
_NEARLY = 1.01
"""A minute of the one series may begin a little later than that of the other."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Series that cannot all be true, and the buckets in which they are not."""

    series: tuple[str, ...]
    why: str
    where: BoolArray

    def __str__(self) -> str:
        count, buckets = int(np.count_nonzero(self.where)), len(self.where)
        return f"{' and '.join(self.series)} {self.why} in {count:,} of {buckets:,} buckets"


Places = Mapping[str, Mapping[Place, BoolArray]]
"""By series, the buckets in which each place has points."""


def disagreements(
    found: Mapping[str, FloatArray], places: Places, period_s: int, *, added: bool
) -> Iterator[Disagreement]:
    """What cannot be true of the series of one look, each with NaN where it has no point, in buckets of `period_s`.

    Each place that a disk was at has all series or none. Where the highest of several places' peaks stands (they are
    not `added` up), peaks are not held against means.
    """
    every = sorted({place for there in places.values() for place in there})
    for name, values in found.items():
        there = places.get(name, {})
        lacking = np.isnan(values) & np.any([~np.isnan(other) for other in found.values()], axis=0)
        for place in every:
            some = np.any([others[place] for others in places.values() if place in others], axis=0)
            lacking |= some & ~there[place] if place in there else some
        yield from _where((name,), "has no point where others have", lacking)
    for count in COUNTER_SERIES:
        peak = f"peak_{count}"
        if count in found and peak in found:
            yield from _peak(found, count, peak, period_s, one_place=added or len(every) <= 1)
    for way in ("read", "write"):
        ops, moved = f"{way}_ops", f"{way}_bytes"
        if ops in found and moved in found:
            yield from _where((ops, moved), "are not both work", (found[ops] > 0) != (found[moved] > 0))


def _peak(
    found: Mapping[str, FloatArray], count: str, peak: str, period_s: int, *, one_place: bool
) -> Iterator[Disagreement]:
    counted, highest = found[count], found[peak]
    yield from _where((count, peak), "are not both work", (counted > 0) != (highest > 0))
    if one_place:
        lower = highest * _NEARLY + _ROUNDED < counted / period_s
        yield from _where((peak, count), "contradict each other (a busiest second below the mean)", lower)


def _where(series: tuple[str, ...], why: str, where: BoolArray) -> Iterator[Disagreement]:
    if where.any():
        yield Disagreement(series, why, where)
