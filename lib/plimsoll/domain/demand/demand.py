"""Demand: what a workload asked for over time, from the sums that a cloud keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import RESOURCES, Accounting, Resource
from plimsoll.domain.demand.busiest import BusiestSeconds, busiest_seconds
from plimsoll.domain.demand.counting import accounted, weighted
from plimsoll.domain.metrics import period
from plimsoll.domain.metrics.grid import Grid, grid_of, observed_hours
from plimsoll.domain.metrics.highest import highest
from plimsoll.domain.metrics.host_seen import HostSeen, SideSeen
from plimsoll.domain.metrics.knowledge import FIVE_MINUTES_S, Knowledge, Track, counted
from plimsoll.domain.metrics.received import Coverage, coverage_of
from plimsoll.domain.metrics.series import (
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
from plimsoll.domain.metrics.sums import Window
from plimsoll.domain.units import HOUR_S, MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How the buckets of a demand are not all of its resolution and read as finely as can be.

    - `lengths_s` is each one's length. In a longer one the rates are means.
    - No bucket of the resolution inside it can have been above `most_iops` and `most_throughput_mib_s`, or of reads
      above `most_read_iops` and `most_read_throughput_mib_s`.
    - Some bucket of the resolution had at least `least_iops`, and `least_throughput_mib_s`: said at one of those in
      which it may be, 0 elsewhere.
    - Operations and bytes may be known over different spans: `begins_iops` and `begins_throughput` are the buckets with
      which one of either begins, `unread_iops` and `unread_throughput` those that could be read more finely. One
      without any work is known as it is, so that it begins anywhere and is not unread.
    - `rates_disagree` says that the cloud's own series of rates is not that of the same minutes, and was not used.
    """

    lengths_s: IntArray
    most_iops: FloatArray
    most_throughput_mib_s: FloatArray
    most_read_iops: FloatArray
    most_read_throughput_mib_s: FloatArray
    begins_iops: BoolArray
    begins_throughput: BoolArray
    least_iops: FloatArray
    least_throughput_mib_s: FloatArray
    unread_iops: BoolArray
    unread_throughput: BoolArray
    rates_disagree: bool = False

    @property
    def joint(self) -> BoolArray:
        """The buckets with which a span of operations and one of bytes begin."""
        return self.begins_iops & self.begins_throughput

    @property
    def unread(self) -> BoolArray:
        """The buckets of which anything could be read more finely."""
        return self.unread_iops | self.unread_throughput

    def scaled(self, operations: FloatArray | float, moved: FloatArray | float) -> "Spread":
        """So many times the operations, and the bytes."""
        return replace(
            self,
            most_iops=self.most_iops * operations,
            most_throughput_mib_s=self.most_throughput_mib_s * moved,
            most_read_iops=self.most_read_iops * operations,
            most_read_throughput_mib_s=self.most_read_throughput_mib_s * moved,
            least_iops=self.least_iops * operations,
            least_throughput_mib_s=self.least_throughput_mib_s * moved,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """IOPS and MiB/s over consecutive buckets from `start_s` (epoch seconds), `resolution_s` long unless `spread`.

    Arrays have one element a bucket. Rates are zero where nothing was `observed`. `busy_share` is the share of the
    bucket in which the volume had work, `balance_pct` the least credit balance in it, `busiest` what its busiest second
    had; None where the cloud publishes no such metric for the volume. `exceeded` are the buckets in which some second
    asked for more than is provisioned, by the resources for which the cloud publishes that. `coarsest_s` is the
    coarsest period of the data, where finer ones had expired. It is `whole` when all work and idle time was read as
    finely as the cloud keeps it. `coverage` says how much was received of what it is made of, None where all was.
    `summed` are the buckets that are published as a part of five minutes, `undecided` those of which it is not known
    whether they are a minute or the sum of five; None where none are. `host` is what was measured of the volume's only
    host, where it was asked by this volume and the cloud measures any.
    """

    start_s: int
    resolution_s: int
    coarsest_s: int
    iops: FloatArray
    throughput_mib_s: FloatArray
    observed: BoolArray
    read_iops: FloatArray
    read_throughput_mib_s: FloatArray
    busy_share: FloatArray | None = None
    balance_pct: FloatArray | None = None
    exceeded: Mapping[Resource, BoolArray] = field(default_factory=dict)
    busiest: BusiestSeconds | None = None
    spread: Spread | None = None
    whole: bool = True
    coverage: Coverage | None = None
    host: HostSeen | None = None
    summed: BoolArray | None = None
    undecided: BoolArray | None = None
    _counted: dict[Accounting, FloatArray] = field(default_factory=dict, init=False, repr=False, compare=False)
    _views: dict[str, "Demand | None"] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def lengths_s(self) -> IntArray | int:
        """The length of each bucket, or of every one."""
        return self.resolution_s if self.spread is None else self.spread.lengths_s

    @property
    def starts_s(self) -> IntArray:
        """When each bucket begins, in epoch seconds."""
        if self.spread is None:
            return self.start_s + self.resolution_s * np.arange(len(self.iops), dtype=np.int64)
        return self.start_s + np.cumsum(self.spread.lengths_s) - self.spread.lengths_s

    @property
    def most_iops(self) -> FloatArray:
        """The most IOPS that a bucket of the resolution can have had, in each bucket."""
        return self.iops if self.spread is None else self.spread.most_iops

    @property
    def most_throughput_mib_s(self) -> FloatArray:
        """The most MiB/s that a bucket of the resolution can have had, in each bucket."""
        return self.throughput_mib_s if self.spread is None else self.spread.most_throughput_mib_s

    def seconds(self, where: BoolArray) -> int:
        """How long some buckets are together."""
        if self.spread is None:
            return int(np.count_nonzero(where)) * self.resolution_s
        return int(self.spread.lengths_s[where].sum())

    @property
    def surely(self) -> "Demand | None":
        """What some bucket of the resolution had at least where it was not read, and nothing elsewhere; None where that
        is not known. Operations and bytes need not be of the same one."""
        if "surely" not in self._views:
            self._views["surely"] = None if self.spread is None else _surely(self, self.spread)
        return self._views["surely"]

    @property
    def at_most(self) -> "Demand | None":
        """The most that a bucket of the resolution can have had in each bucket; None where all were read."""
        if "at_most" not in self._views:
            self._views["at_most"] = None if self.spread is None else _at_most(self, self.spread)
        return self._views["at_most"]

    @property
    def rates(self) -> "Demand":
        """The same where only its rates count, and not how its buckets came to be known."""
        if self.spread is None:
            return self
        found = self._views.get("rates")
        if found is None:
            found = self._views["rates"] = replace(self, spread=None)
        return found

    @property
    def evened(self) -> "Demand":
        """The same with the means of five minutes where a bucket may be the sum of as much: the least that it was."""
        if self.undecided is None:
            return self
        found = self._views.get("evened")
        if found is None:
            found = self._views["evened"] = _evened(self, self.undecided)
        return found

    @property
    def window(self) -> Window:
        """The span from its first bucket to its last."""
        return Window(start_s=self.start_s, end_s=self.start_s + self.window_s)

    @property
    def window_s(self) -> int:
        """How long all of it is."""
        return len(self.iops) * self.resolution_s if self.spread is None else int(self.spread.lengths_s.sum())

    @property
    def disputed(self) -> bool:
        """Whether a part of it is not known because what was received disagrees."""
        return self.coverage is not None and bool(self.coverage.disputes)

    def buckets(self, where: BoolArray) -> int:
        """How many buckets of the resolution some buckets are."""
        return self.seconds(where) // self.resolution_s

    def minutes(self, where: BoolArray) -> float:
        """How many minutes some buckets are."""
        return self.seconds(where) / MINUTE_S

    @property
    def hours_observed(self) -> float:
        """Hours for which the cloud had points."""
        return self.seconds(self.observed) / HOUR_S

    @property
    def gap_hours(self) -> float:
        """Hours without points after the first one: attached, yet nothing reported."""
        after_first = np.logical_or.accumulate(self.observed)
        return self.seconds(after_first & ~self.observed) / HOUR_S

    @property
    def most_read_iops(self) -> FloatArray:
        """The most IOPS of reads that a bucket of the resolution can have had, in each bucket."""
        return self.read_iops if self.spread is None else self.spread.most_read_iops

    @property
    def most_read_throughput_mib_s(self) -> FloatArray:
        """The most MiB/s read that a bucket of the resolution can have had, in each bucket."""
        return self.read_throughput_mib_s if self.spread is None else self.spread.most_read_throughput_mib_s

    def counted_iops(self, accounting: Accounting) -> FloatArray:
        """IOPS as an accounting counts them: a write may cost more or less than a read, a large I/O be several."""
        if accounting not in self._counted:
            cost = accounting.write_iops_cost
            self._counted[accounting] = accounted(
                weighted(self.iops, self.read_iops, cost),
                weighted(self.throughput_mib_s, self.read_throughput_mib_s, cost),
                accounting.io_kib,
            )
        return self._counted[accounting]

    def counted_throughput_mib_s(self, accounting: Accounting) -> FloatArray:
        """MiB/s as an accounting counts them: a write may cost more or less than a read."""
        return weighted(self.throughput_mib_s, self.read_throughput_mib_s, accounting.write_throughput_cost)

    def most_counted(self, accounting: Accounting) -> tuple[FloatArray, FloatArray]:
        """The most operations and MiB a second that a bucket of the resolution can have had, each for itself, as an
        accounting counts them."""
        return (
            weighted(self.most_iops, self.most_read_iops, accounting.write_iops_cost),
            weighted(self.most_throughput_mib_s, self.most_read_throughput_mib_s, accounting.write_throughput_cost),
        )

    def busy(self, rate: FloatArray) -> FloatArray:
        """A rate over the busy share of each bucket: an upper bound where the plain rate is a lower one."""
        return rate if self.busy_share is None else rate / self.busy_share

    def peak(self, rate: FloatArray) -> float:
        """The highest of a rate; 0 where there is none."""
        return float(rate.max(initial=0.0))

    def total(self, rate: FloatArray) -> float:
        """What a rate comes to over the whole demand."""
        if self.spread is None:
            return float(rate.sum()) * self.resolution_s
        return float((rate * self.spread.lengths_s).sum())


def _evened(demand: Demand, where: BoolArray) -> Demand:
    """A demand with the means of each five minutes in some buckets."""
    blocks = demand.starts_s // FIVE_MINUTES_S
    firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), blocks.shape)
    place = np.cumsum(np.diff(blocks, prepend=-1) != 0) - 1

    def mean(rate: FloatArray) -> FloatArray:
        found = np.add.reduceat(rate * lengths_s, firsts) / np.add.reduceat(lengths_s, firsts)
        return np.where(where, found[place], rate)

    return replace(
        demand,
        iops=mean(demand.iops),
        read_iops=mean(demand.read_iops),
        throughput_mib_s=mean(demand.throughput_mib_s),
        read_throughput_mib_s=mean(demand.read_throughput_mib_s),
    )


def _surely(demand: Demand, spread: Spread) -> Demand | None:
    if not (spread.least_iops.any() or spread.least_throughput_mib_s.any()):
        return None
    return replace(
        demand,
        iops=spread.least_iops,
        read_iops=spread.least_iops,
        throughput_mib_s=spread.least_throughput_mib_s,
        read_throughput_mib_s=spread.least_throughput_mib_s,
    )


def _at_most(demand: Demand, spread: Spread) -> Demand:
    return replace(
        demand,
        iops=spread.most_iops,
        read_iops=spread.most_read_iops,
        throughput_mib_s=spread.most_throughput_mib_s,
        read_throughput_mib_s=spread.most_read_throughput_mib_s,
    )


def scaled(demand: Demand, operations: FloatArray | float, moved: FloatArray | float | None = None) -> Demand:
    """So many times a demand, bucket by bucket: its `operations`, and likewise its bytes unless they are `moved`
    otherwise."""
    moved = operations if moved is None else moved
    if isinstance(operations, float) and isinstance(moved, float) and operations == moved == 1.0:
        return demand
    return replace(
        demand,
        iops=demand.iops * operations,
        read_iops=demand.read_iops * operations,
        throughput_mib_s=demand.throughput_mib_s * moved,
        read_throughput_mib_s=demand.read_throughput_mib_s * moved,
        spread=None if demand.spread is None else demand.spread.scaled(operations, moved),
    )


def demand_of(knowledge: Knowledge, *, resolution_s: int, grid: Grid | None = None) -> Demand:
    """The demand behind what is known of a volume, in the buckets of a grid, none of which any of its series cuts.

    Coarse buckets are spread evenly over the hours that have points, and over buckets of `resolution_s` where finer
    data has expired. None: a grid of its own.
    """
    grid = grid_of([knowledge], resolution_s=resolution_s) if grid is None else grid
    starts_s, lengths_s = grid.starts_s, grid.lengths_s
    operations, moved = knowledge.tracks[OPERATIONS], knowledge.tracks[BYTES]
    hours = observed_hours(knowledge)
    observed = hours[knowledge.hour(starts_s)]
    cells = _Cells(knowledge, grid, hours)
    reads, writes = (cells.sums(OPERATIONS, name) for name in NAMES[OPERATIONS])
    read_bytes, write_bytes = (cells.sums(BYTES, name) for name in NAMES[BYTES])
    over_s, moved_s = cells.observed_s(OPERATIONS), cells.observed_s(BYTES)
    hours_observed = int(lengths_s[observed].sum()) / HOUR_S
    return Demand(
        start_s=knowledge.window.start_s,
        resolution_s=resolution_s,
        coarsest_s=int(operations.finest_s.max()),
        observed=observed,
        iops=period.iops(reads, writes, over_s) * observed,
        throughput_mib_s=period.throughput_mib_s(read_bytes, write_bytes, moved_s) * observed,
        read_iops=reads / over_s * observed,
        read_throughput_mib_s=period.throughput_mib_s(read_bytes, np.zeros_like(read_bytes), moved_s) * observed,
        busy_share=_busy_share(cells),
        balance_pct=cells.published(BALANCE, *NAMES[BALANCE]),
        exceeded=_exceeded(cells),
        busiest=_busiest(cells),
        spread=None if _are_even(operations, moved, starts_s, resolution_s) else _spread(cells, resolution_s, observed),
        whole=not any(knowledge.unread(group).any() for group in WORK),
        coverage=coverage_of(knowledge, hours, hours_observed),
        host=_host_seen(cells),
        summed=_summed(knowledge, starts_s),
        undecided=knowledge.undecided(starts_s),
    )


def _summed(knowledge: Knowledge, starts_s: IntArray) -> BoolArray | None:
    summed = knowledge.step_s(starts_s) > 0
    return summed if summed.any() else None


def _spread(cells: "_Cells", resolution_s: int, observed: BoolArray) -> Spread:
    """What is known of the buckets that were not read finely. Clouds that publish rates count a write as a read."""
    grid = cells.grid
    least_s = np.maximum(resolution_s, cells.knowledge.step_s(grid.starts_s))
    most: list[FloatArray] = []
    least: list[FloatArray] = []
    unread: list[BoolArray] = []
    begins: list[BoolArray] = []
    disagree = False
    most_reads: list[FloatArray] = []
    for side, group in WORK_OF.items():
        reads, writes = (cells.sums(group, name) for name in NAMES[group])
        total = (reads + writes) / PER_UNIT[side]
        means = total / cells.observed_s(group) * observed
        unread.append(cells.unread(group) & (total > 0))
        begins.append(grid.begins(cells.knowledge.tracks[group].starts_s) | (total == 0))
        known = highest(side, cells.knowledge, grid, means, unread[-1])
        most.append(total / least_s * observed)
        least.append(np.zeros(len(grid.starts_s)))
        if known is not None:
            disagree |= known.disagrees
            most[-1], least[-1] = np.minimum(most[-1], np.maximum(known.most, means)), known.least * observed
        most_reads.append(np.minimum(most[-1], reads / PER_UNIT[side] / least_s * observed))
    return Spread(
        lengths_s=grid.lengths_s,
        most_iops=most[0],
        most_throughput_mib_s=most[1],
        most_read_iops=most_reads[0],
        most_read_throughput_mib_s=most_reads[1],
        begins_iops=begins[0],
        begins_throughput=begins[1],
        least_iops=least[0],
        least_throughput_mib_s=least[1],
        unread_iops=unread[0],
        unread_throughput=unread[1],
        rates_disagree=disagree,
    )


def _are_even(operations: Track, moved: Track, starts_s: IntArray, resolution_s: int) -> bool:
    """Whether both were read in buckets of the resolution alone, and no edge cuts them."""
    return all(
        len(track.starts_s) == len(starts_s) and (track.lengths_s == resolution_s).all()
        for track in (operations, moved)
    )


class _Cells:
    """The buckets of a demand and, for each, the bucket of every track that it lies in."""

    def __init__(self, knowledge: Knowledge, grid: Grid, hours: BoolArray) -> None:
        self.knowledge, self.grid, self._hours = knowledge, grid, hours

    def _place(self, track: Track) -> IntArray | slice:
        if len(track.starts_s) == len(self.grid.starts_s):
            return slice(None)
        return self.grid.within(track.starts_s)

    def values(self, group: str, name: str) -> FloatArray:
        track = self.knowledge.tracks[group]
        return track.series[name][self._place(track)]

    def all_values(self, group: str) -> list[FloatArray]:
        return [self.values(group, name) for name in NAMES[group]]

    def sums(self, group: str, name: str) -> FloatArray:
        """A series of the buckets that the cells lie in, zero where there is no point."""
        return counted(self.values(group, name))

    def published(self, group: str, name: str) -> FloatArray | None:
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
        """How many seconds of the buckets were observed; those of one without any point are its length."""
        track = self.knowledge.tracks[group]
        lengths_s = track.lengths_s.astype(np.float64)
        if not self._hours.all():
            counted = np.concatenate([[0], np.cumsum(self._hours)])
            first = self.knowledge.hour(track.starts_s)
            last = np.minimum(first + -(-track.lengths_s // HOUR_S), len(self._hours))
            seen_s = (counted[last] - counted[first]) * HOUR_S
            lengths_s = np.where((track.lengths_s > HOUR_S) & (seen_s > 0), seen_s, lengths_s)
        return lengths_s[self._place(track)]


def _busy_share(cells: _Cells) -> FloatArray | None:
    """The share of each cell with work; all of it in those that could be read more finely."""
    idle_s = cells.published(IDLE, *NAMES[IDLE])
    if idle_s is None:
        return None
    share = period.busy_share(counted(idle_s), cells.lengths_s(IDLE))
    unread = np.logical_or.reduce([cells.unread(group) for group in WORK])
    return np.where(unread, 1.0, share)


def _busiest(cells: _Cells) -> BusiestSeconds | None:
    """The busiest seconds of each cell; None where the cloud publishes none."""
    if all(cells.published(PEAKS, name) is None for name in NAMES[PEAKS]):
        return None
    return busiest_seconds(cells.all_values(PEAKS), exact=~cells.unread(PEAKS))


def _host_seen(cells: _Cells) -> HostSeen | None:
    """What was measured of the host in each cell; None where nobody asked, or the cloud measures none of it."""
    names = [name for group in HOST for name in NAMES[group]]
    asked = all(group in cells.knowledge.tracks for group in HOST)
    if not asked or not cells.knowledge.published.intersection(names):
        return None
    return {
        side: SideSeen(
            exceeded=np.fmax.reduce(cells.all_values(HOST_CHECKS[side])),
            balance_pct=np.fmin.reduce(cells.all_values(HOST_BALANCES[side])),
            check_unread=cells.unread(HOST_CHECKS[side]),
            balance_unread=cells.unread(HOST_BALANCES[side]),
        )
        for side in RESOURCES
    }


def _exceeded(cells: _Cells) -> dict[Resource, BoolArray]:
    """The cells in which a check is raised, by resource. One without a published check is left out."""
    exceeded: dict[Resource, BoolArray] = {}
    for side, group in CHECKS.items():
        checks = [cells.published(group, name) for name in NAMES[group]]
        raised = [check > 0 for check in checks if check is not None]
        if raised:
            exceeded[side] = np.logical_or.reduce(raised)
    return exceeded
