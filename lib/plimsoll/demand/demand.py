"""Demand: what a workload asked for over time, from the sums that a cloud keeps.

Rates: what is done a second, as one array [side, direction, bucket].

    rates[IOPS, ALL]     operations a second, reads and writes together
    rates[MIB_S, READS]  MiB a second that are read

Sides are in the order of `RESOURCES`. Adding, scaling, masking and the highest of several are numpy's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from plimsoll.model.arrays import BoolArray, FloatArray, IntArray
from plimsoll.model.ceiling import Accounting, Ceiling, Resource
from plimsoll.model.units import HOUR_S, KIB_PER_MIB, MINUTE_S
from plimsoll.reading.window import FIVE_MINUTES_S, Coverage, Window

Rates = FloatArray
"""Figures a second: [side, direction, bucket]."""

CountedRates = FloatArray
"""Rates as an accounting counts them: [side, bucket]."""

IOPS: Final = 0
MIB_S: Final = 1
"""The sides."""

ALL: Final = 0
READS: Final = 1
"""The directions."""

LEAST_RATE: Final = 1e-9
"""A rate under this is none: a bucket without work has no mix that could be lifted."""


def scale_rates(rates: Rates, times: FloatArray | float) -> Rates:
    """Rates times a number, or a figure for each [bucket] or [side, bucket]."""
    return rates * (times if np.ndim(times) < 2 else np.asarray(times)[:, np.newaxis])


def weigh_writes(rates: Rates, cost: FloatArray | float) -> CountedRates:
    """Rates in reads: a write counts as `cost` reads, a number or [side, 1]."""
    if isinstance(cost, float) and cost == 1:
        return rates[:, ALL]
    return cost * rates[:, ALL] + (1 - cost) * rates[:, READS]


def count_rates(rates: Rates, accounting: Accounting) -> CountedRates:
    """Rates as an accounting counts them: a write may cost more or less than a read, a large I/O be several."""
    return count_weighed(lambda cost: weigh_writes(rates, cost), accounting)


def count_weighed(weigh: Callable[[float], CountedRates], accounting: Accounting) -> CountedRates:
    """Rates as an accounting counts them; `weigh` gives both sides in reads for the cost of a write."""
    by_iops = weigh(accounting.write_iops_cost)
    same = accounting.write_iops_cost == accounting.write_throughput_cost
    iops = by_iops[IOPS]
    pieces = None if accounting.io_kib is None else by_iops[MIB_S] * (KIB_PER_MIB / accounting.io_kib)
    if pieces is None or (pieces <= iops).all():
        if same:
            return by_iops  # nothing is copied where no I/O is large, which is nearly always
    else:
        iops = np.maximum(iops, pieces)
    return np.stack([iops, (by_iops if same else weigh(accounting.write_throughput_cost))[MIB_S]])


def limits_of(ceiling: Ceiling) -> FloatArray:
    """The limits of a ceiling as [side, 1], to be held against counted rates."""
    return np.array([[ceiling.iops], [ceiling.throughput_mib_s]])


def either_side(where: BoolArray) -> BoolArray:
    """The buckets of either side, of [side, bucket]."""
    either: BoolArray = where[IOPS] | where[MIB_S]
    return either


def divide_rates(limits: FloatArray, rates: CountedRates) -> CountedRates:
    """Limits over rates, how many times each rate fits; infinite where there is none."""
    return np.divide(limits, rates, out=np.full_like(rates, np.inf), where=rates > LEAST_RATE)


def find_fit(limits: FloatArray, rates: CountedRates) -> FloatArray | float:
    """The share of each rate that limits let through; 1.0 if that is all of every rate."""
    if (rates <= limits).all():
        return 1.0
    return np.minimum(1.0, divide_rates(limits, rates))


@dataclass(frozen=True, slots=True, kw_only=True)
class BusiestSeconds:
    """The busiest second of each bucket of a demand: one of reads and one of writes, not always the same second."""

    peaks: FloatArray
    """[side, reads or writes, bucket]"""
    exact: BoolArray
    """Elsewhere the peaks are those of a longer bucket, and this one may have had less."""

    def count(self, accounting: Accounting) -> CountedRates:
        """The highest rates of any second, as an accounting counts them: reads and writes at their busiest together."""
        return count_weighed(lambda cost: self.peaks[:, 0] + cost * self.peaks[:, 1], accounting)

    def count_one_way(self, accounting: Accounting) -> CountedRates:
        """The rates that a second surely had: of the busier direction alone."""
        reads = count_weighed(lambda _: self.peaks[:, 0], accounting)
        return np.maximum(reads, count_weighed(lambda cost: cost * self.peaks[:, 1], accounting))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSeen:
    """The metrics of a host, each [side, bucket].

    NaN where there is no point: neither that the host was the limit nor that it was not.
    """

    exceeded: FloatArray
    """The minutes in which more was asked than the host's maximum."""
    balance_pct: FloatArray
    """The least balance of the credits of a host that bursts."""
    check_unread: BoolArray
    balance_unread: BoolArray
    """The buckets that could be read more finely."""

    @property
    def raised_checks(self) -> BoolArray:
        """The buckets, [side, bucket], in which a check is known to be raised, as finely as it is kept."""
        return (self.exceeded > 0) & ~self.check_unread

    @property
    def drop_unraised(self) -> "HostSeen":
        """The same metrics with raised checks alone: all else is unknown."""
        nowhere = np.zeros_like(self.check_unread)
        return HostSeen(
            exceeded=np.where(self.raised_checks, self.exceeded, np.nan),
            balance_pct=np.full_like(self.balance_pct, np.nan),
            check_unread=nowhere,
            balance_unread=nowhere,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The buckets of a demand that are not all of its resolution, or not read as finely as can be."""

    lengths_s: IntArray
    """In a bucket longer than the resolution rates are means."""
    most: Rates
    """No bucket of the resolution inside was above this."""
    least: CountedRates
    """A bucket of the resolution reached this. It stands at one bucket in which that may have been, 0 elsewhere."""
    begins: BoolArray
    """[side, bucket]: a bucket of operations, or of bytes, begins here; without work anywhere."""
    unread: BoolArray
    """[side, bucket]: it has work, and could be read more finely."""
    rates_disagree: bool = False
    """The cloud's own series of rates is not that of the same minutes, and was not used."""

    @property
    def joint(self) -> BoolArray:
        """The buckets with which a span of operations and one of bytes begin."""
        joint: BoolArray = self.begins[IOPS] & self.begins[MIB_S]
        return joint

    @property
    def any_unread(self) -> BoolArray:
        """The buckets whose operations or bytes could be read more finely."""
        return either_side(self.unread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Rates over consecutive buckets from `start_s` (epoch seconds), `resolution_s` long unless `spread`."""

    start_s: int
    resolution_s: int
    coarsest_s: int
    """The coarsest period of the data, where finer ones had expired."""
    rates: Rates
    """Zero where nothing was observed."""
    observed: BoolArray
    busy_share: FloatArray | None = None
    """The share of a bucket in which the volume had work, None if the cloud does not publish it."""
    balance_pct: FloatArray | None = None
    """The least credit balance in a bucket, None if the cloud does not publish it."""
    exceeded: Mapping[Resource, BoolArray] = field(default_factory=dict)
    """The buckets in which a second asked for more than is provisioned, if the cloud publishes that."""
    busiest: BusiestSeconds | None = None
    spread: Spread | None = None
    whole: bool = True
    """All work and idle time was read as finely as the cloud keeps it."""
    coverage: Coverage | None = None
    """The part of the metrics that was received; None if all was."""
    host: HostSeen | None = None
    """The metrics of the volume's only host, if they were asked by this volume and the cloud has any."""
    summed: BoolArray | None = None
    """The buckets that are published as a part of five minutes, None if none are."""
    undecided: BoolArray | None = None
    """The buckets that may be a minute or the sum of five, None if none are."""
    _counted: dict[Accounting, CountedRates] = field(default_factory=dict, init=False, repr=False, compare=False)
    _views: dict[str, "Demand"] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def iops(self) -> FloatArray:
        """IOPS in each bucket."""
        iops: FloatArray = self.rates[IOPS, ALL]
        return iops

    @property
    def throughput_mib_s(self) -> FloatArray:
        """MiB/s in each bucket."""
        throughput_mib_s: FloatArray = self.rates[MIB_S, ALL]
        return throughput_mib_s

    @property
    def most(self) -> Rates:
        """The highest rates that a bucket of the resolution can have had, in each bucket."""
        return self.rates if self.spread is None else self.spread.most

    @property
    def lengths_s(self) -> IntArray | int:
        """The length of each bucket, or of every one."""
        return self.resolution_s if self.spread is None else self.spread.lengths_s

    @property
    def starts_s(self) -> IntArray:
        """When each bucket begins, in epoch seconds."""
        if self.spread is None:
            return self.start_s + self.resolution_s * np.arange(len(self.observed), dtype=np.int64)
        return self.start_s + np.cumsum(self.spread.lengths_s) - self.spread.lengths_s

    def seconds(self, where: BoolArray) -> int:
        """The length in seconds of the marked buckets together."""
        if self.spread is None:
            return int(np.count_nonzero(where)) * self.resolution_s
        return int(self.spread.lengths_s[where].sum())

    @property
    def least_demand(self) -> "Demand | None":
        """The demand by the rates that some minute of each bucket surely had; None if none is known.

        Operations and bytes need not be of the same minute.
        """
        if self.spread is None or not self.spread.least.any():
            return None
        least = self.spread.least
        return self._view("least_demand", lambda: replace(self, rates=np.stack([least, least], axis=1)))

    @property
    def most_demand(self) -> "Demand | None":
        """The demand by the highest rates that a minute of each bucket can have had; None if every bucket was read."""
        spread = self.spread
        return None if spread is None else self._view("most_demand", lambda: replace(self, rates=spread.most))

    @property
    def without_spread(self) -> "Demand":
        """The demand with its rates alone, as if every bucket had been read."""
        return self if self.spread is None else self._view("without_spread", lambda: replace(self, spread=None))

    @property
    def even_demand(self) -> "Demand":
        """The demand with means of five minutes, its least, where a bucket may be the sum of five."""
        where = self.undecided
        return self if where is None else self._view("even_demand", lambda: _even_out(self, where))

    def _view(self, name: str, make: Callable[[], "Demand"]) -> "Demand":
        """The view of that name, made once."""
        if name not in self._views:
            self._views[name] = make()
        return self._views[name]

    @property
    def window(self) -> Window:
        """The span from its first bucket to its last."""
        return Window(start_s=self.start_s, end_s=self.start_s + self.window_s)

    @property
    def window_s(self) -> int:
        """The length of the whole demand in seconds."""
        return len(self.observed) * self.resolution_s if self.spread is None else int(self.spread.lengths_s.sum())

    @property
    def is_disputed(self) -> bool:
        """True if a part of it is not known because series disagree."""
        return self.coverage is not None and bool(self.coverage.disputes)

    def buckets(self, where: BoolArray) -> int:
        """The number of buckets of the resolution that fit into the marked buckets."""
        return self.seconds(where) // self.resolution_s

    def minutes(self, where: BoolArray) -> float:
        """The length in minutes of the marked buckets together."""
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

    def count(self, accounting: Accounting) -> CountedRates:
        """The rates as an accounting counts them."""
        if accounting not in self._counted:
            self._counted[accounting] = count_rates(self.rates, accounting)
        return self._counted[accounting]

    def count_most(self, accounting: Accounting) -> CountedRates:
        """The highest operations and MiB a second that a bucket of the resolution can have had, each for itself."""
        return count_rates(self.most, accounting.per_operation)

    def busy(self, rate: FloatArray) -> FloatArray:
        """A rate over the busy share of each bucket, its upper bound; the rate itself if no idle time is published."""
        return rate if self.busy_share is None else rate / self.busy_share

    def peak(self, rate: FloatArray) -> float:
        """The highest of a rate; 0 where there is none."""
        return float(rate.max(initial=0.0))

    def total(self, rate: FloatArray) -> float:
        """The sum of a rate over the whole demand: of IOPS, operations; of MiB/s, MiB."""
        if self.spread is None:
            return float(rate.sum()) * self.resolution_s
        return float((rate * self.spread.lengths_s).sum())


def _even_out(demand: Demand, where: BoolArray) -> Demand:
    """A demand with the means of each five minutes in some buckets."""
    blocks = demand.starts_s // FIVE_MINUTES_S
    begins = np.diff(blocks, prepend=-1) != 0
    firsts = np.flatnonzero(begins)
    lengths_s = np.broadcast_to(np.asarray(demand.lengths_s), blocks.shape)
    means = np.add.reduceat(demand.rates * lengths_s, firsts, axis=-1) / np.add.reduceat(lengths_s, firsts)
    return replace(demand, rates=np.where(where, means[..., np.cumsum(begins) - 1], demand.rates))


def scale_demand(demand: Demand, times: FloatArray | float) -> Demand:
    """A demand times a number, or a figure for each [bucket] or [side, bucket]."""
    if isinstance(times, float) and times == 1.0:
        return demand
    spread = demand.spread
    if spread is not None:
        spread = replace(spread, most=scale_rates(spread.most, times), least=spread.least * times)
    return replace(demand, rates=scale_rates(demand.rates, times), spread=spread)


def find_highest(demands: Sequence[Demand]) -> Demand | None:
    """The highest of several demands in each bucket, None if there are none; reads are those of the highest."""
    if not demands:
        return None
    highest = demands[0].rates
    for demand in demands[1:]:
        highest = np.where(demand.rates[:, :1] > highest[:, :1], demand.rates, highest)
    return demands[0] if highest is demands[0].rates else replace(demands[0], rates=highest)


def add_demands(demands: Sequence[Demand]) -> Demand:
    """The demand of several volumes together, from demands on one grid.

    Exceeded checks, burst balances, idle time, coverage and the host are left out, since they have no sum. The busiest
    seconds of all volumes are taken to be the same second.
    """
    return replace(
        demands[0],
        coarsest_s=max(demand.coarsest_s for demand in demands),
        rates=np.sum([demand.rates for demand in demands], axis=0),
        observed=np.logical_or.reduce([demand.observed for demand in demands]),
        busy_share=None,
        balance_pct=None,
        exceeded={},
        busiest=add_exact_seconds([demand.busiest for demand in demands if demand.busiest is not None]),
        spread=_add_spreads(demands),
        whole=all(demand.whole for demand in demands),
        coverage=None,
        host=None,
        summed=_find_anywhere([demand.summed for demand in demands]),
        undecided=_find_anywhere([demand.undecided for demand in demands]),
    )


def _find_anywhere(buckets: Sequence[BoolArray | None]) -> BoolArray | None:
    known = [where for where in buckets if where is not None]
    return np.logical_or.reduce(known) if known else None


def _add_spreads(demands: Sequence[Demand]) -> Spread | None:
    """The spread of a sum: no bucket had more than the most of each, and some bucket had the least of any."""
    spreads = [demand.spread for demand in demands if demand.spread is not None]
    if not spreads:
        return None
    return Spread(
        lengths_s=np.broadcast_to(demands[0].lengths_s, demands[0].observed.shape),
        most=np.sum([demand.most for demand in demands], axis=0),
        least=np.maximum.reduce([spread.least for spread in spreads]),
        begins=np.logical_and.reduce([spread.begins for spread in spreads]),
        unread=np.logical_or.reduce([spread.unread for spread in spreads]),
    )


def add_exact_seconds(seconds: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """The exact busiest seconds of several volumes together: the least that there was."""
    return add_seconds([replace(each, peaks=each.peaks * each.exact) for each in seconds])


def add_seconds(seconds: Sequence[BusiestSeconds]) -> BusiestSeconds | None:
    """The busiest seconds of several volumes as if they were the same seconds, None if there are none."""
    if not seconds:
        return None
    return BusiestSeconds(peaks=np.sum([each.peaks for each in seconds], axis=0), exact=np.ones_like(seconds[0].exact))
