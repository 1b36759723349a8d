"""Demand: what a workload asked for over time, from the sums that a cloud keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.arrays import BoolArray, FloatArray, IntArray
from plimsoll.domain.ceiling import Accounting, Resource
from plimsoll.domain.metrics.sums import FIVE_MINUTES_S, Coverage, Window
from plimsoll.domain.units import HOUR_S, KIB_PER_MIB, MINUTE_S


def weighted(total: FloatArray, reads: FloatArray, write_cost: float) -> FloatArray:
    """A total of reads and writes, in reads. Each write counts as `write_cost` reads."""
    return total if write_cost == 1 else write_cost * total + (1 - write_cost) * reads


def accounted(iops: FloatArray, throughput_mib_s: FloatArray, io_kib: float | None) -> FloatArray:
    """IOPS as a volume type counts them. An I/O above `io_kib` counts as several. None: every I/O counts as one."""
    return iops if io_kib is None else np.maximum(iops, throughput_mib_s * (KIB_PER_MIB / io_kib))


@dataclass(frozen=True, slots=True, kw_only=True)
class BusiestSeconds:
    """What the busiest second of each bucket of a demand had of reads and of writes, which need not be the same second.

    Where a bucket is not `exact`, some longer one that it lies in had that, and it may have had less.
    """

    read_iops: FloatArray
    write_iops: FloatArray
    read_throughput_mib_s: FloatArray
    write_throughput_mib_s: FloatArray
    exact: BoolArray

    def only_in(self, where: BoolArray) -> "BusiestSeconds":
        """The same with nothing in the other buckets."""
        return replace(
            self,
            read_iops=self.read_iops * where,
            write_iops=self.write_iops * where,
            read_throughput_mib_s=self.read_throughput_mib_s * where,
            write_throughput_mib_s=self.write_throughput_mib_s * where,
        )

    def counted_iops(self, accounting: Accounting) -> FloatArray:
        """The most IOPS of any second, as an accounting counts them: reads and writes at their busiest together."""
        cost = accounting.write_iops_cost
        return accounted(
            self.read_iops + cost * self.write_iops,
            self.read_throughput_mib_s + cost * self.write_throughput_mib_s,
            accounting.io_kib,
        )

    def counted_throughput_mib_s(self, accounting: Accounting) -> FloatArray:
        """The most MiB/s of any second, as an accounting counts them: reads and writes at their busiest together."""
        return self.read_throughput_mib_s + accounting.write_throughput_cost * self.write_throughput_mib_s

    def one_way(self, accounting: Accounting) -> tuple[FloatArray, FloatArray]:
        """IOPS and MiB/s that some second surely had: of the busier direction alone."""
        cost = accounting.write_iops_cost
        reads = accounted(self.read_iops, self.read_throughput_mib_s, accounting.io_kib)
        writes = accounted(cost * self.write_iops, cost * self.write_throughput_mib_s, accounting.io_kib)
        written_mib_s = accounting.write_throughput_cost * self.write_throughput_mib_s
        return np.maximum(reads, writes), np.maximum(self.read_throughput_mib_s, written_mib_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSeen:
    """One resource of a host: the minutes of each bucket in which more was asked than its maximum, and the least
    balance in percent of the credits of a host that bursts. What is unread could be read more finely.

    NaN where there is no point: neither that the host was the limit nor that it was not.
    """

    exceeded: FloatArray
    balance_pct: FloatArray
    check_unread: BoolArray
    balance_unread: BoolArray

    @property
    def raised(self) -> BoolArray:
        """The buckets in which the check is known to be raised, as finely as it is kept."""
        return (self.exceeded > 0) & ~self.check_unread

    @property
    def only_raised(self) -> "SideSeen":
        """The same with nothing but what is raised."""
        nowhere = np.zeros_like(self.check_unread)
        return SideSeen(
            exceeded=np.where(self.raised, self.exceeded, np.nan),
            balance_pct=np.full(len(self.balance_pct), np.nan),
            check_unread=nowhere,
            balance_unread=nowhere,
        )


HostSeen = Mapping[Resource, SideSeen]


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
