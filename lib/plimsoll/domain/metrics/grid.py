"""The grid: the common buckets of the demands of volumes that are held against each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from plimsoll.domain.arrays import BoolArray, IntArray
from plimsoll.domain.metrics.knowledge import Knowledge
from plimsoll.domain.metrics.series import BYTES, FIRST, HOST, OPERATIONS
from plimsoll.domain.metrics.track import Track
from plimsoll.domain.units import HOUR_S


@dataclass(frozen=True, slots=True)
class Grid:
    """Consecutive buckets: when each begins, in epoch seconds, and how long it is. None is cut by a bucket of a series.

    Volumes that are read alike have series over the same buckets, so that each run of buckets is looked up once.
    """

    starts_s: IntArray
    lengths_s: IntArray
    _firsts: dict[bytes, IntArray] = field(default_factory=dict, init=False, repr=False, compare=False)
    _within: dict[bytes, IntArray] = field(default_factory=dict, init=False, repr=False, compare=False)
    _begins: dict[bytes, BoolArray] = field(default_factory=dict, init=False, repr=False, compare=False)

    def firsts(self, starts_s: IntArray) -> IntArray:
        """The places in the grid at which the buckets of a series begin; `starts_s` are its times in epoch seconds."""
        key = starts_s.tobytes()
        if key not in self._firsts:
            self._firsts[key] = np.searchsorted(self.starts_s, starts_s)
        return self._firsts[key]

    def within(self, starts_s: IntArray) -> IntArray:
        """The bucket of a series in which each bucket of the grid lies, by its place in `starts_s`."""
        key = starts_s.tobytes()
        if key not in self._within:
            self._within[key] = np.searchsorted(starts_s, self.starts_s, side="right") - 1
        return self._within[key]

    def begins(self, starts_s: IntArray) -> BoolArray:
        """The buckets of the grid that begin at one of these times."""
        key = starts_s.tobytes()
        if key not in self._begins:
            self._begins[key] = starts_s[self.within(starts_s)] == self.starts_s
        return self._begins[key]


def make_grid(known: Sequence[Knowledge], *, resolution_s: int, edges: Sequence[IntArray] = ()) -> Grid:
    """Makes the grid of volumes: none of its buckets is cut by a bucket of their series, by a gap or by an edge.

    Longer buckets that cannot be read more finely are cut to those of `resolution_s`. Edges are times in epoch seconds
    at which a bucket has to begin.
    """
    cuts = [*edges, *(cut for knowledge in known for cut in _cuts(knowledge, resolution_s))]
    starts_s = max(cuts, key=len)
    others = {cut.tobytes(): cut for cut in cuts if cut is not starts_s}
    missing = [cut for cut in others.values() if not _are_among(cut, starts_s)]
    if missing:
        every = np.sort(np.concatenate([starts_s, *missing]))
        starts_s = every[np.append(True, every[1:] > every[:-1])]
    return Grid(starts_s, np.append(starts_s[1:], known[0].window.end_s) - starts_s)


def find_observed_hours(knowledge: Knowledge) -> BoolArray:
    """Marks the clock hours of the window that count as observed: those with points, or of which that is not known."""
    present, known = knowledge.hours()
    return present | ~known


def _cuts(knowledge: Knowledge, resolution_s: int) -> Iterator[IntArray]:
    """Yields the times at which buckets begin for the sake of one volume."""
    tracks = [knowledge.tracks[group] for group in (*FIRST, *HOST) if group in knowledge.tracks]
    yield from (track.starts_s for track in tracks)
    for group in (OPERATIONS, BYTES):
        yield from _cut_unreadable(knowledge.tracks[group], resolution_s)
    hours = find_observed_hours(knowledge)
    if not hours.all():
        turns = np.flatnonzero(np.diff(hours.astype(np.int8))) + 1
        yield (knowledge.window.start_s // HOUR_S + turns) * HOUR_S


def _are_among(times_s: IntArray, starts_s: IntArray) -> bool:
    """A bucket begins at each of these times already."""
    if len(times_s) == len(starts_s):
        return bool((times_s == starts_s).all())
    place = np.minimum(np.searchsorted(starts_s, times_s), len(starts_s) - 1)
    return bool((starts_s[place] == times_s).all())


def _cut_unreadable(track: Track, resolution_s: int) -> Iterator[IntArray]:
    """Yields the times that cut longer buckets which cannot be read more finely."""
    spans = (track.lengths_s > resolution_s) & ~track.unread
    for start_s, length_s in zip(track.starts_s[spans], track.lengths_s[spans], strict=True):
        yield np.arange(start_s, start_s + length_s, resolution_s)
