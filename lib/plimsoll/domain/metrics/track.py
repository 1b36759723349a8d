"""Tracks: looks at a volume's metrics, and the series that were read of each group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.metrics.series import (
    EVERY_MINUTE,
    NAMES,
    SERIES,
    Longer,
)
from plimsoll.domain.metrics.sums import Doubt, Window

FEW_IOPS: Final = 5.0
"""Work under this rate may hide in the rounding of idle time."""

EXACT: Final = 1e-9
"""Sums of whole numbers are exact, but for the last digits of a floating point figure."""

_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A window to read in buckets of `period_s` seconds, and the groups of series to read."""

    window: Window
    period_s: int
    groups: tuple[str, ...] = EVERY_MINUTE

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in NAMES[group])


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One group's series over consecutive buckets from `starts_s` (epoch seconds), each `lengths_s` long.

    NaN where the cloud has no point. `finest_s` is the finest period in which each bucket can be read.
    """

    starts_s: IntArray
    lengths_s: IntArray
    finest_s: IntArray
    series: Mapping[str, FloatArray]

    @property
    def present(self) -> BoolArray:
        """The buckets for which the cloud has any point."""
        any_point = np.zeros(len(self.starts_s), dtype=np.bool_)
        for values in self.series.values():
            any_point |= ~np.isnan(values)
        return any_point

    def within(self, window: Window) -> slice:
        """The slice of the buckets that begin in a window."""
        return slice(*np.searchsorted(self.starts_s, (window.start_s, window.end_s)).tolist())

    def has(self, window: Window) -> bool:
        """Some of a window has been read."""
        place = self.within(window)
        return bool(place.stop > place.start)

    @property
    def unread(self) -> BoolArray:
        return self.lengths_s > self.finest_s

    def folded(self, window: Window, step_s: int) -> "Track":
        """Folds the buckets in a window into ones that begin with a step, since no point lies within one.

        Where a step lies across buckets they become one, which can be read in steps again.
        """
        at = self.within(window)
        starts_s, lengths_s = self.starts_s[at], self.lengths_s[at]
        firsts = np.flatnonzero((starts_s % step_s == 0) | (np.arange(len(starts_s)) == 0))
        if not len(firsts):
            return self
        whole_s = np.add.reduceat(lengths_s, firsts)
        finest_s = np.maximum(np.maximum.reduceat(self.finest_s[at], firsts), step_s)
        finest_s = np.where((whole_s > step_s) & (whole_s % step_s > 0), whole_s, finest_s)
        grid = TrackGrid(starts_s[firsts], whole_s, finest_s)
        return self.with_read(at, grid, {name: _fold(name, values[at], firsts) for name, values in self.series.items()})

    def with_read(self, old: slice, grid: "TrackGrid", series: Mapping[str, FloatArray]) -> "Track":
        """Replaces some buckets of the track by the series that were read there, in the buckets of a grid."""
        absent = np.full(len(grid.starts_s), np.nan)
        return Track(
            starts_s=_splice(self.starts_s, old, grid.starts_s),
            lengths_s=_splice(self.lengths_s, old, grid.lengths_s),
            finest_s=_splice(self.finest_s, old, grid.finest_s),
            series={name: _splice(values, old, series.get(name, absent)) for name, values in self.series.items()},
        )


@dataclass(frozen=True, slots=True)
class TrackGrid:
    """The buckets of a look: their beginnings, their lengths, and the finest period in which they can be read."""

    starts_s: IntArray
    lengths_s: IntArray
    finest_s: IntArray


def zero_if_absent(values: FloatArray) -> FloatArray:
    """Replaces NaN, where the cloud has no point, by zero."""
    return np.where(np.isnan(values), 0.0, values)


def _fold(name: str, values: FloatArray, firsts: IntArray) -> FloatArray:
    """Folds a series into longer buckets that begin at `firsts`; NaN if none in one has a point."""
    if SERIES[name].longer is Longer.LEAST:
        return np.asarray(np.fmin.reduceat(values, firsts))
    if SERIES[name].longer is Longer.HIGHEST:
        return np.asarray(np.fmax.reduceat(values, firsts))
    has_point = np.logical_or.reduceat(~np.isnan(values), firsts)
    return np.where(has_point, np.add.reduceat(zero_if_absent(values), firsts), np.nan)


def _splice(old: npt.NDArray[_Number], place: slice, new: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    if place.start == 0 and place.stop == len(old):
        return new
    return np.concatenate([old[: place.start], new, old[place.stop :]])


def buckets_without_series(starts_s: IntArray, lengths_s: IntArray) -> Track:
    return Track(starts_s=starts_s, lengths_s=lengths_s, finest_s=lengths_s, series={})


def find_spans(series: str, track: Track, where: BoolArray) -> Iterator[Doubt]:
    """Yields neighboring buckets of a track as one span of doubt each."""
    if not where.any():
        return
    edges = np.flatnonzero(np.diff(where.astype(np.int8), prepend=0, append=0))
    for first, after in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        end_s = int(track.starts_s[after - 1] + track.lengths_s[after - 1])
        yield Doubt(series, int(track.starts_s[first]), end_s)
