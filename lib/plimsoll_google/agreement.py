"""Agreement: a check that the eight series of a disk can all be true of the same buckets.

While an instance runs, Cloud Monitoring writes all eight in every minute, zeros too; a minute without a point is one in
which the instance did not run. The busiest second of a minute is no less than its mean second, and is zero if nothing
was done.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray
from plimsoll.model.series import WORK_SERIES
from plimsoll_google.queries import DevicePlace

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


SeriesPlaces = Mapping[str, Mapping[DevicePlace, BoolArray]]
"""By series, the buckets in which each place has points."""


def disagreements(
    series: Mapping[str, FloatArray], places: SeriesPlaces, period_s: int, *, added: bool
) -> Iterator[Disagreement]:
    """The contradictions in the series of one look, each with NaN for no point, in buckets of `period_s`.

    Each place that a disk was at has all series or none. Peaks that are not `added` up are the highest of several
    places, and are not held against means.
    """
    every = sorted({place for present in places.values() for place in present})
    for name, values in series.items():
        present = places.get(name, {})
        lacking = np.isnan(values) & np.any([~np.isnan(other) for other in series.values()], axis=0)
        for place in every:
            anywhere = np.any([others[place] for others in places.values() if place in others], axis=0)
            lacking |= anywhere & ~present[place] if place in present else anywhere
        yield from _where((name,), "has no point where others have", lacking)
    for count in WORK_SERIES:
        peak = f"peak_{count}"
        if count in series and peak in series:
            yield from _peak(series, count, peak, period_s, one_place=added or len(every) <= 1)
    for way in ("read", "write"):
        ops, moved = f"{way}_ops", f"{way}_bytes"
        if ops in series and moved in series:
            yield from _where((ops, moved), "are not both work", (series[ops] > 0) != (series[moved] > 0))


def _peak(
    series: Mapping[str, FloatArray], count: str, peak: str, period_s: int, *, one_place: bool
) -> Iterator[Disagreement]:
    counted, highest = series[count], series[peak]
    yield from _where((count, peak), "are not both work", (counted > 0) != (highest > 0))
    if one_place:
        lower = highest * _NEARLY + _ROUNDED < counted / period_s
        yield from _where((peak, count), "contradict each other (a busiest second below the mean)", lower)


def _where(series: tuple[str, ...], why: str, where: BoolArray) -> Iterator[Disagreement]:
    if where.any():
        yield Disagreement(series, why, where)
