"""Demand from metrics: what was asked for, and done each day, by the sums of a cloud, in the buckets of a grid."""

from collections.abc import Sequence

import numpy as np

from plimsoll.demand.days import DaySums, sums_by_day
from plimsoll.demand.demand import ALL, MIB_S, READS, BusiestSeconds, Demand, HostSeen, Rates, Spread
from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import RESOURCES, Resource
from plimsoll.model.series import (
    BALANCE,
    BYTES,
    CHECKS,
    HOST,
    HOST_BALANCES,
    HOST_CHECKS,
    IDLE,
    NAMES,
    OPERATIONS,
    PEAKS,
    PER_UNIT,
    WORK,
    WORK_OF,
)
from plimsoll.model.units import HOUR_S, MIB
from plimsoll.reading import grid as period
from plimsoll.reading.agreement import measure_coverage
from plimsoll.reading.grid import Grid, find_highest_minutes, find_observed_hours, make_grid
from plimsoll.reading.known import Knowledge, Track, zero_if_absent


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
        rate, seconds = period.iops if group == OPERATIONS else period.throughput_mib_s, self.observed_s(group)
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
    share = period.busy_share(zero_if_absent(idle_s), cells.lengths_s(IDLE))
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
