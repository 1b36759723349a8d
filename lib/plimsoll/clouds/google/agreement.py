"""Agreement: whether the eight series of a disk can all be true of the same buckets.

While an instance runs, Cloud Monitoring writes all eight in every minute, zeros too; where none has a point the
instance did not run. The busiest second of a minute is no less than its mean second, and is zero where nothing was
done.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.domain.knowledge import BoolArray
from plimsoll.domain.period import FloatArray
from plimsoll.domain.sums import COUNTER_SERIES

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


def disagreements(found: Mapping[str, FloatArray], period_s: int, *, one_place: bool = True) -> Iterator[Disagreement]:
    """What cannot be true of the series of one look, each with NaN where it has no point, in buckets of `period_s`.

    Where work of several places that were not all busy at once is in them (`one_place` is False), peaks are not held
    against means.
    """
    yield from _presence(found)
    for count in COUNTER_SERIES:
        peak = f"peak_{count}"
        if count in found and peak in found:
            yield from _peak(found, count, peak, period_s, one_place=one_place)
    for way in ("read", "write"):
        ops, moved = f"{way}_ops", f"{way}_bytes"
        if ops in found and moved in found:
            yield from _where((ops, moved), "are not both work", (found[ops] > 0) != (found[moved] > 0))


def _presence(found: Mapping[str, FloatArray]) -> Iterator[Disagreement]:
    """The buckets in which one series has a point and another has none."""
    if not found:
        return
    absent = {name: np.isnan(values) for name, values in found.items()}
    every = np.logical_and.reduce(list(absent.values()))
    for name, missing in absent.items():
        yield from _where((name,), "has no point where others have", missing & ~every)


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
