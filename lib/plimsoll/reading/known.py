"""Knowledge of a volume's metrics: the series that were read, some spans finely, others coarsely.

Tracks: looks at a volume's metrics, and the series that were read of each group.

Knowledge: the metrics of one volume that have been read so far, some spans finely, others as coarse buckets.

Cloud sums add up, so a coarse bucket says everything about its span but when. Every span is kept at the finest period
that it was read in; `Demand` is made from it with each coarse bucket spread evenly over its span, beside the highest
rate that any bucket of the resolution inside it can have had.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.errors import CloudError
from plimsoll.model.series import EVERY_MINUTE, FIRST, HOST, LEAST_PERIOD_S, NAMES, PRESENCE, SERIES, WORK, Longer
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.model.volume import Volume
from plimsoll.reading.window import FIVE_MINUTES_S, Doubt, Segment, Window

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

    def slice_in(self, window: Window) -> slice:
        """The slice of the buckets that begin in a window."""
        return slice(*np.searchsorted(self.starts_s, (window.start_s, window.end_s)).tolist())

    def has_read(self, window: Window) -> bool:
        """True if some bucket of the track begins in a window."""
        place = self.slice_in(window)
        return bool(place.stop > place.start)

    @property
    def unread(self) -> BoolArray:
        return self.lengths_s > self.finest_s

    def fold(self, window: Window, step_s: int) -> "Track":
        """The track with the buckets in a window folded into longer ones, each beginning with a step of `step_s`.

        No point lies within a step. Where a step lies across buckets they become one, which can be read in steps again.
        """
        at = self.slice_in(window)
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
    """The old buckets with those in a slice replaced by new ones, which may be more or fewer."""
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


_Made = TypeVar("_Made")


class Knowledge:
    """The metrics that are known of one volume. `segments` say how finely each span of the window can be read at most.

    `first` has each group in the buckets that it was read in first, `tracks` as finely as it has been read since; they
    are one object where nothing was read again. `published` are the series that the cloud publishes for the volume, and
    `disputes` what disagrees of them, asked twice. `steps` are the spans that are not published each minute, with how
    often they are, None where that is not known. From `running_from_s` on (epoch seconds) the volume has been attached
    to a host that runs; None where nobody knows. `version` is another number whenever more was learned.
    """

    __slots__ = (
        "_credited",
        "_hours",
        "_kept",
        "_remembered",
        "disputes",
        "first",
        "published",
        "running_from_s",
        "segments",
        "steps",
        "tracks",
        "version",
        "window",
    )

    def __init__(
        self,
        segments: Sequence[Segment],
        running_from_s: float | None = None,
        credited: Sequence[Window] | None = None,
    ) -> None:
        self.segments = self._kept = tuple(segments)
        self.window = Window(start_s=segments[0].window.start_s, end_s=segments[-1].window.end_s)
        self.running_from_s = running_from_s
        self._credited = (self.window,) if credited is None else tuple(credited)
        self.tracks: dict[str, Track] = {}
        self.first: dict[str, Track] = {}
        self.published: set[str] = set()
        self.steps: tuple[tuple[Window, int | None], ...] = ()
        self.version = 0
        self.disputes: tuple[Doubt, ...] = ()
        self._hours: tuple[BoolArray, BoolArray] | None = None
        self._remembered: dict[str, Any] = {}

    def learn(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Takes in the series that a look found: those that the cloud publishes, NaN where it has no point."""
        self.published.update(series)
        for group in look.groups:
            grid = self._grid_of(look, group)
            track = self.tracks[group] if group in self.tracks else _empty_track(group)
            old = track.slice_in(look.window)
            read = track.with_read(old, grid, series)
            if old.stop == old.start:
                first = self.first.get(group, track)
                whole = read if first is track else first.with_read(first.slice_in(look.window), grid, series)
                self._begin(group, whole)
            self.tracks[group] = read
        self._fold()
        self._mark_changed()

    def _grid_of(self, look: Look, group: str) -> "TrackGrid":
        """The buckets of a look at a group. A volume's step is not that of its host's series."""
        segments = self._kept if group in HOST else self.segments
        return _grid(look.window, look.period_s, segments, LEAST_PERIOD_S[group])

    def publishes(self, window: Window, step_s: int | None) -> None:
        """Takes in that a span of whole hours is published each `step_s` seconds; None: not known."""
        self.steps = (*self.steps, (window, step_s))
        if step_s is not None:
            self.segments = tuple(part for segment in self.segments for part in _cut(segment, window, step_s))
            self._fold()
        self._mark_changed()

    def has_minutes(self, group: str, window: Window) -> bool:
        """A group was read by the minute in a window."""
        track = self.tracks.get(group)
        return (
            track is not None
            and track.has_read(window)
            and bool((track.lengths_s[track.slice_in(window)] <= MINUTE_S).all())
        )

    def step_s(self, starts_s: IntArray) -> IntArray:
        """The seconds between points of what begins at these times, if that is not each minute; 0 elsewhere."""
        steps_s = np.zeros(len(starts_s), dtype=np.int64)
        for window, step_s in self.steps:
            steps_s[(starts_s >= window.start_s) & (starts_s < window.end_s)] = step_s or 0
        return steps_s

    def find_blocks(self) -> Iterator[IntArray]:
        """Yields when each five minutes begin that may be told as one, where that is not decided."""
        for window, step_s in self.steps:
            if step_s is None:
                yield np.arange(window.start_s, window.end_s, FIVE_MINUTES_S, dtype=np.int64)

    def find_undecided(self, starts_s: IntArray) -> BoolArray | None:
        """The times, as a mask, at which the step of publication is not known; None if it is known at all of them."""
        unknown = np.zeros(len(starts_s), dtype=np.bool_)
        for window, step_s in self.steps:
            if step_s is None:
                unknown |= (starts_s >= window.start_s) & (starts_s < window.end_s)
        return unknown if unknown.any() else None

    def is_credited(self, starts_s: IntArray, lengths_s: IntArray) -> BoolArray:
        """Marks the buckets that lie wholly in a span in which a balance is published."""
        credited = np.zeros(len(starts_s), dtype=np.bool_)
        for window in self._credited:
            credited |= (starts_s >= window.start_s) & (starts_s + lengths_s <= window.end_s)
        return credited

    def _fold(self) -> None:
        """Folds buckets that are shorter than the step in which they are published."""
        for window, step_s in self.steps:
            if step_s is None:
                continue
            for group in [group for group in EVERY_MINUTE if group in self.tracks]:
                track, first = self.tracks[group], self.first[group]
                self.tracks[group] = track.fold(window, step_s)
                self._begin(group, self.tracks[group] if first is track else first.fold(window, step_s))

    def learn_again(self, look: Look, series: Mapping[str, FloatArray]) -> None:
        """Takes in a second answer to a look: its points replace the earlier ones, and others stay."""
        for group in look.groups:
            grid = self._grid_of(look, group)
            track = self.tracks[group]
            old = track.slice_in(look.window)
            if not np.array_equal(track.starts_s[old], grid.starts_s):
                continue
            both = {
                name: np.where(np.isnan(again), track.series[name][old], again)
                for name in NAMES[group]
                if (again := series.get(name)) is not None
            }
            read = track.with_read(old, grid, both)
            if self.first[group] is track:
                self._begin(group, read)
            self.tracks[group] = read
        self._mark_changed()

    def _mark_changed(self) -> None:
        self._hours = None
        self.version += 1

    def _begin(self, group: str, track: Track) -> None:
        self.first[group] = track
        self._remembered.clear()

    def work_out_once(self, key: str, made: Callable[["Knowledge"], _Made]) -> _Made:
        """Works out a figure of the buckets that were read first, once."""
        if key not in self._remembered:
            self._remembered[key] = made(self)
        figure: _Made = self._remembered[key]
        return figure

    def hour(self, times_s: Any) -> Any:
        """The number of clock hours from the window's first hour to a time.

        `times_s` is a time in epoch seconds, or an array of them.
        """
        return times_s // HOUR_S - self.window.start_s // HOUR_S

    def unread(self, group: str) -> BoolArray:
        """The buckets of a group's track that could be read more finely."""
        return self.tracks[group].unread

    def hours(self) -> tuple[BoolArray, BoolArray]:
        """The clock hours of the window: a mask of those with any point, and a mask of those of which that is known.

        An hour inside a longer bucket with points is not known.
        """
        if self._hours is None:
            self._hours = _hours_present(self)
        return self._hours


def plan_first_looks(
    segments: Sequence[Segment], *, every_minute: bool = False, host: bool = False, work_by_minutes: bool = False
) -> list[Look]:
    """Plans the first looks at every volume: its work by the hour, the rest by whole days (UTC) and the hours left.

    Each metric of a call is billed, however many points it has: work that is read by the day first is asked again for
    the hours of today, and most often by the hour then. With `every_minute` everything is read at once, as finely as it
    is kept, and with `work_by_minutes` work is. With `host` its host's series are read as well.
    """
    if every_minute:
        return [look for segment in segments for look in _every_minute(segment, host=host)]
    looks = []
    other_groups = tuple(group for group in (*FIRST, *(HOST if host else ())) if group not in WORK)
    for segment in segments:
        start_s, end_s = segment.window.start_s, segment.window.end_s
        first_day_s = min(-(-start_s // DAY_S) * DAY_S, end_s)
        last_day_s = max(end_s // DAY_S * DAY_S, first_day_s)
        for begin_s, until_s, period_s in (
            (start_s, first_day_s, HOUR_S),
            (first_day_s, last_day_s, DAY_S),
            (last_day_s, end_s, HOUR_S),
        ):
            if begin_s < until_s:
                looks.append(
                    Look(window=Window(start_s=begin_s, end_s=until_s), period_s=period_s, groups=other_groups)
                )
        period_s = segment.period_s if work_by_minutes else max(HOUR_S, segment.period_s)
        looks.append(Look(window=segment.window, period_s=period_s, groups=WORK))
    return looks


def _every_minute(segment: Segment, *, host: bool) -> Iterator[Look]:
    """Yields looks at everything of a segment: one a period, so that a window and a period name what they find."""
    groups = (*EVERY_MINUTE, *(HOST if host else ()))
    for period_s in sorted({max(segment.period_s, LEAST_PERIOD_S[group]) for group in groups}):
        alike = tuple(candidate for candidate in groups if max(segment.period_s, LEAST_PERIOD_S[candidate]) == period_s)
        yield Look(window=segment.window, period_s=period_s, groups=alike)


def _hours_present(knowledge: Knowledge) -> tuple[BoolArray, BoolArray]:
    """The hours with points, and the hours that are known to have points or none.

    Not known are the hours inside a longer bucket with points.
    """
    window = knowledge.window
    count = -(-window.end_s // HOUR_S) - window.start_s // HOUR_S
    present, absent = np.zeros(count, dtype=np.bool_), np.ones(count, dtype=np.bool_)
    for group, track in knowledge.tracks.items():
        if group not in (*WORK, PRESENCE):
            continue
        seen = track.present
        present[knowledge.hour(track.starts_s[seen & (track.lengths_s <= HOUR_S)])] = True
        for bucket in np.flatnonzero(seen & (track.lengths_s > HOUR_S)):
            first = knowledge.hour(track.starts_s[bucket])
            absent[first : first + track.lengths_s[bucket] // HOUR_S] = False
    absent[present] = False
    return present, present | absent


@lru_cache(maxsize=1024)
def _grid(window: Window, period_s: int, segments: tuple[Segment, ...], least_period_s: int) -> TrackGrid:
    """Makes the buckets of a look, shared by all volumes that are looked at alike."""
    buckets = window.buckets(period_s)
    starts_s = window.start_s + period_s * np.arange(buckets, dtype=np.int64)
    finest_s = np.full(buckets, segments[-1].period_s, dtype=np.int64)
    for segment in reversed(segments[:-1]):
        finest_s[: np.searchsorted(starts_s, segment.window.end_s)] = segment.period_s
    finest_s = np.maximum(finest_s, least_period_s)
    return TrackGrid(starts_s, np.full(buckets, period_s, dtype=np.int64), finest_s)


def _empty_track(group: str) -> Track:
    empty = np.empty(0, dtype=np.int64)
    return Track(starts_s=empty, lengths_s=empty, finest_s=empty, series={name: np.empty(0) for name in NAMES[group]})


def _cut(segment: Segment, window: Window, step_s: int) -> Iterator[Segment]:
    """Splits a segment so that nothing in a window is finer than a step."""
    start_s, end_s = segment.window.start_s, segment.window.end_s
    first_s, last_s = max(start_s, window.start_s), min(end_s, window.end_s)
    if first_s >= last_s or segment.period_s >= step_s:
        yield segment
        return
    parts = (start_s, first_s, segment.period_s), (first_s, last_s, step_s), (last_s, end_s, segment.period_s)
    for begin_s, until_s, period_s in parts:
        if begin_s < until_s:
            yield Segment(window=Window(start_s=begin_s, end_s=until_s), period_s=period_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A look at one volume."""

    volume: Volume
    look: Look


def find_only_place(asks: Sequence[Ask]) -> tuple[str, str]:
    """The account and region of all looks. Raises ValueError if they are of several: one place answers for itself."""
    places = {(ask.volume.account, ask.volume.region) for ask in asks}
    if len(places) != 1:
        raise ValueError(f"metrics of {len(places)} places were asked for at once: ask each place by itself.")
    return places.pop()


Found = Mapping[str, FloatArray]
"""What a look found: the buckets of each series that the cloud publishes, NaN where it has no point."""

Fetch = Callable[[Sequence[Ask]], Sequence[Found | CloudError]]
"""Reads metrics: for each ask, in order, what was found or why it could not be read."""
