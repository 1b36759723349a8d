"""The grid: the common buckets of demands that are held against each other, and the rates in them.

The grid: the common buckets of the demands of volumes that are held against each other.

Highest minutes: what a cloud's own series of rates says of the highest minute of a bucket that was not read finely.

Some clouds publish each minute's mean IOPS and throughput as a series of its own, so that the highest minute of a day
is one datapoint. It is held against the counters: the sum of the series, times a minute, is all the work of the bucket.
What is missing in that sum may have been done in one minute, so that no minute of the bucket had more than the highest
one published, or than all that is missing. Where the series has more than the counters, or a minute that was read had
more than it says, it is not the rate of these minutes, and is not used.

PERIOD math: rates from the sums of one bucket, as code and as metric math.

A cloud answers with sums over buckets of `period_s` seconds. The formulas here turn them into rates, elementwise
over numpy arrays; the strings are the same formulas in the metric-math grammar of consoles, for dashboards, alarms and
links. A test evaluates the strings and holds both forms equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import Resource
from plimsoll.model.series import BYTES, FIRST, HIGHEST, HOST, NAMES, OPERATIONS, PER_UNIT, RATE_ROUNDING, WORK_OF
from plimsoll.model.units import HOUR_S, KIB, MIB, MINUTE_S
from plimsoll.reading.known import Knowledge, Track, zero_if_absent


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

    def places_in(self, starts_s: IntArray) -> IntArray:
        """The bucket of a series in which each bucket of the grid lies, by its place in `starts_s`."""
        key = starts_s.tobytes()
        if key not in self._within:
            self._within[key] = np.searchsorted(starts_s, self.starts_s, side="right") - 1
        return self._within[key]

    def mark_beginnings(self, starts_s: IntArray) -> BoolArray:
        """The buckets of the grid that begin at one of these times."""
        key = starts_s.tobytes()
        if key not in self._begins:
            self._begins[key] = starts_s[self.places_in(starts_s)] == self.starts_s
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
    yield from knowledge.find_blocks()
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


LATE_S: Final = 3 * HOUR_S
"""Points at the end of the window may still come in while it is read, so that one series can be ahead of the other."""

COMPLETE: Final = 0.01
"""The series is complete enough to say that some minute had its highest rate where it has all work but this share."""


@dataclass(frozen=True, slots=True)
class HighestMinutes:
    """The highest minutes of each bucket of a demand."""

    most: FloatArray
    """No minute of the bucket was above this."""
    least: FloatArray
    """A minute of the bucket reached this; 0 if that is not known, or was in a bucket that was read."""
    disagrees: bool = False
    """The series is not used, and says nothing."""


def find_highest_minutes(
    side: Resource, knowledge: Knowledge, grid: Grid, rates: FloatArray, unread: BoolArray
) -> HighestMinutes | None:
    """The highest minutes of the buckets of a grid, by the published rates of a side; None where there are none.

    `rates` are the mean rates of the buckets, and `unread` those that could be read more finely.
    """
    group, work_group = HIGHEST[side], WORK_OF[side]
    if group not in knowledge.tracks:
        return None
    track, unit = knowledge.tracks[group], 1 / PER_UNIT[side]
    peaks, sums = (track.series[name] for name in NAMES[group])
    if np.isnan(peaks).all():
        return None
    rounding = RATE_ROUNDING[side]
    missing = _find_missing(knowledge.tracks[work_group], NAMES[work_group], unit, track, sums)
    at, firsts = grid.places_in(track.starts_s), grid.firsts(track.starts_s)
    absent = np.isnan(peaks)
    wrong = missing.work < -missing.tolerance
    wrong |= ~absent & (np.maximum.reduceat(rates, firsts) > zero_if_absent(peaks) + rounding + missing.rate)
    if wrong[track.starts_s + track.lengths_s <= knowledge.window.end_s - LATE_S].any():
        return HighestMinutes(most=np.full(len(rates), np.inf), least=np.zeros(len(rates)), disagrees=True)
    most = np.where(wrong | absent, np.inf, np.maximum(zero_if_absent(peaks) + rounding, missing.rate))
    read = np.maximum.reduceat(np.where(unread, 0.0, rates), firsts)
    least = np.where(missing.few & ~wrong, zero_if_absent(peaks) - rounding, 0.0)
    least[(least <= 0) | (read >= least)] = 0.0
    return HighestMinutes(most=most[at], least=_place_once(least, at, unread))


@dataclass(frozen=True, slots=True)
class _Missing:
    """The work that a series of rates lacks, by its buckets."""

    work: FloatArray
    rate: FloatArray
    """The missing work as the rate of one minute."""
    tolerance: FloatArray
    """The rounding that the sum may have."""
    few: BoolArray
    """Hardly any work is missing."""


def _find_missing(work: Track, names: tuple[str, ...], unit: float, track: Track, sums: FloatArray) -> _Missing:
    """The missing work over the spans that both have buckets for."""
    starts_s = np.intersect1d(work.starts_s, track.starts_s, assume_unique=True)
    of_rates, of_work = np.searchsorted(track.starts_s, starts_s), np.searchsorted(work.starts_s, starts_s)
    done = np.add.reduceat(sum(zero_if_absent(work.series[name]) for name in names) * unit, of_work)
    published = np.add.reduceat(zero_if_absent(sums), of_rates) * MINUTE_S
    lengths_s = np.add.reduceat(track.lengths_s, of_rates).astype(np.float64)
    rounding = 1.0 if unit == 1 else 1.0 / 1024
    span = np.repeat(np.arange(len(of_rates)), np.diff(np.append(of_rates, len(track.starts_s))))
    lacking = done - published
    return _Missing(
        work=lacking[span],
        rate=np.maximum(lacking, 0.0)[span] / MINUTE_S,
        tolerance=(rounding * lengths_s + 1e-6 * done)[span],
        few=(np.abs(lacking) <= COMPLETE * done)[span],
    )


def _place_once(least: FloatArray, at: IntArray, unread: BoolArray) -> FloatArray:
    """The figures of a series' buckets, each at one grid bucket inside: the first one unread. 0 elsewhere."""
    once = np.zeros(len(at))
    places = np.flatnonzero(unread)
    if len(places):
        _, first = np.unique(at[places], return_index=True)
        once[places[first]] = least[at[places[first]]]
    return once


LEAST_BUSY_S: Final = 1.0
"""Exceeded checks and limits are judged per second, so no rate is concentrated into less than one."""


def iops(read_ops: FloatArray, write_ops: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """The operations a second of a bucket of `period_s` seconds."""
    return (read_ops + write_ops) / period_s


def throughput_mib_s(read_bytes: FloatArray, write_bytes: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """The MiB a second of a bucket of `period_s` seconds."""
    return (read_bytes + write_bytes) / MIB / period_s


def io_size_kib(total_bytes: FloatArray, total_ops: FloatArray) -> FloatArray:
    """The mean KiB of an operation; NaN if there was no operation."""
    size = np.full(np.shape(total_ops), np.nan)
    np.divide(total_bytes / KIB, total_ops, out=size, where=np.asarray(total_ops) > 0)
    return size


def busy_share(idle_s: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """Share of a bucket in which the volume had work, at least one second's worth.

    A rate over the whole bucket divided by this is the rate while busy: it bounds the true rate inside the bucket
    from above as the plain rate does from below (VolumeIdleTime: seconds without a pending operation).
    """
    return np.clip(period_s - idle_s, np.minimum(LEAST_BUSY_S, period_s), period_s) / period_s


def iops_expression(read_ops: str, write_ops: str, *, period_s: int | None = None) -> str:
    """IOPS in metric math from the ids of the two Ops sums; see `throughput_expression` for `period_s`."""
    return f"({_fill(read_ops, period_s)}+{_fill(write_ops, period_s)})/{_period(read_ops, period_s)}"


def throughput_expression(read_bytes: str, write_bytes: str, *, period_s: int | None = None) -> str:
    """MiB/s in metric math from the ids of the two Bytes sums.

    Without `period_s` the bucket is `PERIOD(first id)`, for metrics known to have data. With `period_s` the bucket is
    that literal and absent points count as zero, for metrics of which one may have no data at all.
    """
    total = f"({_fill(read_bytes, period_s)}+{_fill(write_bytes, period_s)})"
    return f"{total}/{MIB}/{_period(read_bytes, period_s)}"


def _fill(metric_id: str, period_s: int | None) -> str:
    return metric_id if period_s is None else f"FILL({metric_id},0)"


def _period(metric_id: str, period_s: int | None) -> str:
    return f"PERIOD({metric_id})" if period_s is None else str(period_s)
