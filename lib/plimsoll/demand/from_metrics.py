"""Demand from metrics: what was asked for, and done each day, by the sums of a cloud, in the buckets of a grid.

The grid: the common buckets of the demands of volumes that are held against each other.

Highest minutes: what a cloud's own series of rates says of the highest minute of a bucket that was not read finely.

Some clouds publish each minute's mean IOPS and throughput as a series of its own, so that the highest minute of a day
is one datapoint. It is held against the counters: the sum of the series, times a minute, is all the work of the bucket.
What is missing in that sum may have been done in one minute, so that no minute of the bucket had more than the highest
one published, or than all that is missing. Where the series has more than the counters, or a minute that was read had
more than it says, it is not the rate of these minutes, and is not used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from plimsoll.demand.days import DaySums, sums_by_day
from plimsoll.demand.demand import ALL, MIB_S, READS, BusiestSeconds, Demand, HostSeen, Rates, Spread
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import RESOURCES, Resource
from plimsoll.model.series import (
    BALANCE,
    BYTES,
    CHECKS,
    FIRST,
    HIGHEST,
    HOST,
    HOST_BALANCES,
    HOST_CHECKS,
    IDLE,
    NAMES,
    OPERATIONS,
    PEAKS,
    PER_UNIT,
    RATE_ROUNDING,
    WORK,
    WORK_OF,
)
from plimsoll.model.units import HOUR_S, MIB, MINUTE_S
from plimsoll.reading.agreement import measure_coverage
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


def demand_of(knowledge: Knowledge, *, resolution_s: int, grid: Grid | None = None) -> Demand:
    """The demand by what is known of a volume, in the buckets of a grid (None: of its own).

    No bucket of a series may cut one of the grid. Coarse buckets are spread evenly over the hours that have points, and
    over buckets of `resolution_s` where finer data has expired.
    """
    grid = make_grid([knowledge], resolution_s=resolution_s) if grid is None else grid
    starts_s, lengths_s = grid.starts_s, grid.lengths_s
    operations, moved = knowledge.tracks[OPERATIONS], knowledge.tracks[BYTES]
    hours = find_observed_hours(knowledge)
    observed = hours[knowledge.hour(starts_s)]
    cells = _Cells(knowledge, grid, hours)
    hours_observed = int(lengths_s[observed].sum()) / HOUR_S
    return Demand(
        start_s=knowledge.window.start_s,
        resolution_s=resolution_s,
        coarsest_s=int(operations.finest_s.max()),
        observed=observed,
        rates=np.stack([cells.rates(group) for group in WORK_OF.values()]) * observed,
        busy_share=_busy_share(cells),
        balance_pct=cells.find_published(BALANCE, *NAMES[BALANCE]),
        exceeded=_find_exceeded(cells),
        busiest=_busiest(cells),
        spread=None if _are_even(operations, moved, starts_s, resolution_s) else _spread(cells, resolution_s, observed),
        whole=not any(knowledge.unread(group).any() for group in WORK),
        coverage=measure_coverage(knowledge, hours, hours_observed),
        host=_host_seen(cells),
        summed=_find_summed(knowledge, starts_s),
        undecided=knowledge.find_undecided(starts_s),
    )


def _find_summed(knowledge: Knowledge, starts_s: IntArray) -> BoolArray | None:
    summed = knowledge.step_s(starts_s) > 0
    return summed if summed.any() else None


def _spread(cells: "_Cells", resolution_s: int, observed: BoolArray) -> Spread:
    """The spread of the cells: the highest and the least rates that their minutes can have had.

    Clouds that publish rates count a write as a read.
    """
    grid = cells.grid
    least_s = np.maximum(resolution_s, cells.knowledge.step_s(grid.starts_s))
    most, least = np.zeros((2, 2, len(observed))), np.zeros((2, len(observed)))
    begins, unread = np.zeros((2, len(observed)), dtype=np.bool_), np.zeros((2, len(observed)), dtype=np.bool_)
    disagree = False
    for side, (resource, group) in enumerate(WORK_OF.items()):
        reads, writes = (cells.sums(group, name) for name in NAMES[group])
        total = (reads + writes) / PER_UNIT[resource]
        means = total / cells.observed_s(group) * observed
        unread[side] = cells.unread(group) & (total > 0)
        begins[side] = grid.mark_beginnings(cells.knowledge.tracks[group].starts_s) | (total == 0)
        most[side, ALL] = total / least_s * observed
        published = find_highest_minutes(resource, cells.knowledge, grid, means, unread[side])
        if published is not None:
            disagree |= published.disagrees
            most[side, ALL] = np.minimum(most[side, ALL], np.maximum(published.most, means))
            least[side] = published.least * observed
        most[side, READS] = np.minimum(most[side, ALL], reads / PER_UNIT[resource] / least_s * observed)
    return Spread(
        lengths_s=grid.lengths_s, most=most, least=least, begins=begins, unread=unread, rates_disagree=disagree
    )


def _are_even(operations: Track, moved: Track, starts_s: IntArray, resolution_s: int) -> bool:
    """True if operations and bytes were read in buckets of the resolution alone, and no edge cuts them."""
    return all(
        len(track.starts_s) == len(starts_s) and (track.lengths_s == resolution_s).all()
        for track in (operations, moved)
    )


class _Cells:
    """The buckets of a demand and, for each, the bucket of every track that it lies in."""

    def __init__(self, knowledge: Knowledge, grid: Grid, hours: BoolArray) -> None:
        self.knowledge, self.grid, self._hours = knowledge, grid, hours

    def _place(self, track: Track) -> IntArray | slice:
        """The place of each cell in a track: all of it where the buckets are the same."""
        if len(track.starts_s) == len(self.grid.starts_s):
            return slice(None)
        return self.grid.places_in(track.starts_s)

    def values(self, group: str, name: str) -> FloatArray:
        track = self.knowledge.tracks[group]
        return track.series[name][self._place(track)]

    def all_values(self, group: str) -> list[FloatArray]:
        return [self.values(group, name) for name in NAMES[group]]

    def sums(self, group: str, name: str) -> FloatArray:
        """A series of the buckets that the cells lie in, zero where there is no point."""
        return zero_if_absent(self.values(group, name))

    def rates(self, group: str) -> Rates:
        """The rates of operations, or of bytes in MiB: [direction, bucket]."""
        reads, writes = (self.sums(group, name) for name in NAMES[group])
        rate, seconds = iops if group == OPERATIONS else throughput_mib_s, self.observed_s(group)
        return np.stack([rate(reads, writes, seconds), rate(reads, np.zeros_like(reads), seconds)])

    def find_published(self, group: str, name: str) -> FloatArray | None:
        """A series, or None where the cloud has no point of it at all."""
        if np.isnan(self.knowledge.tracks[group].series[name]).all():
            return None
        return self.values(group, name)

    def lengths_s(self, group: str) -> FloatArray:
        track = self.knowledge.tracks[group]
        return track.lengths_s[self._place(track)].astype(np.float64)

    def unread(self, group: str) -> BoolArray:
        track = self.knowledge.tracks[group]
        return track.unread[self._place(track)]

    def observed_s(self, group: str) -> FloatArray:
        """The observed seconds of the buckets that the cells lie in; of a bucket without any point, its length."""
        track = self.knowledge.tracks[group]
        lengths_s = track.lengths_s.astype(np.float64)
        if not self._hours.all():
            zero_if_absent = np.concatenate([[0], np.cumsum(self._hours)])
            first = self.knowledge.hour(track.starts_s)
            last = np.minimum(first + -(-track.lengths_s // HOUR_S), len(self._hours))
            seen_s = (zero_if_absent[last] - zero_if_absent[first]) * HOUR_S
            lengths_s = np.where((track.lengths_s > HOUR_S) & (seen_s > 0), seen_s, lengths_s)
        return lengths_s[self._place(track)]


def _busy_share(cells: _Cells) -> FloatArray | None:
    """The share of each cell with work; all of it in those that could be read more finely."""
    idle_s = cells.find_published(IDLE, *NAMES[IDLE])
    if idle_s is None:
        return None
    share = busy_share(zero_if_absent(idle_s), cells.lengths_s(IDLE))
    unread = np.logical_or.reduce([cells.unread(group) for group in WORK])
    return np.where(unread, 1.0, share)


def _busiest(cells: _Cells) -> BusiestSeconds | None:
    """The busiest seconds of each cell; None where the cloud publishes none."""
    if all(cells.find_published(PEAKS, name) is None for name in NAMES[PEAKS]):
        return None
    return busiest_seconds(cells.all_values(PEAKS), exact=~cells.unread(PEAKS))


def _host_seen(cells: _Cells) -> HostSeen | None:
    """The metrics of the host in each cell; None if nobody asked for them, or the cloud publishes none."""
    names = [name for group in HOST for name in NAMES[group]]
    asked = all(group in cells.knowledge.tracks for group in HOST)
    if not asked or not cells.knowledge.published.intersection(names):
        return None
    return HostSeen(
        exceeded=np.stack([np.fmax.reduce(cells.all_values(HOST_CHECKS[side])) for side in RESOURCES]),
        balance_pct=np.stack([np.fmin.reduce(cells.all_values(HOST_BALANCES[side])) for side in RESOURCES]),
        check_unread=np.stack([cells.unread(HOST_CHECKS[side]) for side in RESOURCES]),
        balance_unread=np.stack([cells.unread(HOST_BALANCES[side]) for side in RESOURCES]),
    )


def _find_exceeded(cells: _Cells) -> dict[Resource, BoolArray]:
    """The cells in which a check is raised, by resource. One without a published check is left out."""
    exceeded: dict[Resource, BoolArray] = {}
    for side, group in CHECKS.items():
        checks = [cells.find_published(group, name) for name in NAMES[group]]
        raised = [check > 0 for check in checks if check is not None]
        if raised:
            exceeded[side] = np.logical_or.reduce(raised)
    return exceeded


def sums_of_knowledge(knowledge: Knowledge) -> DaySums:
    """The operations and bytes of each whole day of the window, exact however finely it was read.

    NaN on days without a point.
    """
    tracks = [knowledge.tracks[group] for group in (OPERATIONS, BYTES)]
    done = [
        np.sum([zero_if_absent(track.series[name]) for name in NAMES[group]], axis=0)
        for group, track in zip((OPERATIONS, BYTES), tracks, strict=True)
    ]
    rows = [(track.starts_s, row, track.present) for track, row in zip(tracks, done, strict=True)]
    return sums_by_day(knowledge.window, rows)


def busiest_seconds(series: Sequence[FloatArray], *, exact: BoolArray) -> BusiestSeconds:
    """The busiest seconds in the four series of `PEAKS`, in their order: operations and bytes, NaN for nothing."""
    peaks = np.array([zero_if_absent(values) for values in series]).reshape(2, 2, -1)
    peaks[MIB_S] /= MIB
    return BusiestSeconds(peaks=peaks, exact=exact)


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


def busy_share(idle_s: FloatArray, period_s: FloatArray | float) -> FloatArray:
    """Share of a bucket in which the volume had work, at least one second's worth.

    A rate over the whole bucket divided by this is the rate while busy: it bounds the true rate inside the bucket
    from above as the plain rate does from below (VolumeIdleTime: seconds without a pending operation).
    """
    return np.clip(period_s - idle_s, np.minimum(LEAST_BUSY_S, period_s), period_s) / period_s
