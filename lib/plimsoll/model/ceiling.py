"""Ceilings: what a configuration can carry, as a storage roofline with token buckets on top."""

import math
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

from plimsoll.model.units import KIB_PER_MIB


class Resource(StrEnum):
    """The two sides of a roofline."""

    IOPS = "iops"
    THROUGHPUT = "throughput"

    @property
    def unit(self) -> str:
        """The unit of the side: "IOPS" or "MiB/s"."""
        return "IOPS" if self is Resource.IOPS else "MiB/s"

    @property
    def side(self) -> int:
        """Its place in an array of both."""
        return 0 if self is Resource.IOPS else 1


RESOURCES: Final = tuple(Resource)
"""Both, for where they are gone through for every offer: an enumeration is slow to iterate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """The way in which a ceiling counts work: in reads.

    A written operation counts as `write_iops_cost` read ones, and a written MiB as `write_throughput_cost`. An I/O of
    more than `io_kib` KiB counts as several operations; None: as one, however large.
    """

    io_kib: float | None = None
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0

    @property
    def per_operation(self) -> "Accounting":
        """The accounting in which an I/O is one operation, however large."""
        return self if self.io_kib is None else replace(self, io_kib=None)

    def mean_iops_cost(self, read_share: float) -> float:
        """The mean cost of an operation, in reads, if `read_share` (0 to 1) of the operations are reads."""
        return read_share + (1 - read_share) * self.write_iops_cost

    def mean_throughput_cost(self, read_share: float) -> float:
        """The mean cost of a MiB, in MiB read, if `read_share` (0 to 1) of the bytes are read."""
        return read_share + (1 - read_share) * self.write_throughput_cost


PLAIN: Final = Accounting()
"""Every I/O is one, and a write is what a read is."""


@lru_cache(maxsize=256)
def accounting_of(io_kib: float | None, write_iops_cost: float, write_throughput_cost: float) -> Accounting:
    """The accounting of these figures, made once: every look at a ceiling asks for it."""
    return Accounting(io_kib=io_kib, write_iops_cost=write_iops_cost, write_throughput_cost=write_throughput_cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBucket:
    """Credits for work above a free rate.

    Work at up to `free_rate` a second is free; each unit above it costs one credit; `refill_rate` credits come back a
    second, up to `capacity`. All but `spent_at_start` of that is there in the beginning. When the bucket is empty only
    `free_rate + refill_rate` is carried. Units: operations for IOPS, MiB for throughput. An operation is charged at
    least `least_charge_mib` of a throughput bucket (st1 and sc1 charge a whole MiB for a random one).
    """

    resource: Resource
    free_rate: float
    refill_rate: float
    capacity: float
    least_charge_mib: float = 0.0
    spent_at_start: float = 0.0

    @property
    def sustained_rate(self) -> float:
        """The rate that an empty bucket still carries, in operations or MiB a second."""
        return self.free_rate + self.refill_rate

    def times(self, factor: float) -> "TokenBucket":
        """The bucket with its rates and credits times a factor; the least charge stays."""
        return replace(
            self,
            free_rate=self.free_rate * factor,
            refill_rate=self.refill_rate * factor,
            capacity=self.capacity * factor,
            spent_at_start=self.spent_at_start * factor,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """A roofline: at I/O size b it carries min(iops, throughput / b), while its buckets last.

    `io_kib` is the largest I/O that counts as one operation: larger ones count as several (None: no such rule). Reads
    and writes share it. Where they have limits of their own, `iops` and `throughput_mib_s` are those of reads, and a
    write counts for `write_iops_cost` or `write_throughput_cost` reads: the two limits' ratio.
    """

    iops: float
    throughput_mib_s: float
    io_kib: float | None = None
    buckets: tuple[TokenBucket, ...] = ()
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0

    def limit(self, resource: Resource) -> float:
        """The highest rate of a side, bursts included: IOPS or MiB/s, of reads."""
        return self.iops if resource is Resource.IOPS else self.throughput_mib_s

    def without(self, resource: Resource | None) -> "Ceiling":
        """The same where a resource is not limited (None: as it is)."""
        match resource:
            case None:
                return self
            case Resource.IOPS:
                return replace(self, iops=math.inf)
            case Resource.THROUGHPUT:
                return replace(self, throughput_mib_s=math.inf)

    @property
    def accounting(self) -> Accounting:
        """The way in which the ceiling counts work."""
        return accounting_of(self.io_kib, self.write_iops_cost, self.write_throughput_cost)

    @property
    def write_iops(self) -> float:
        """IOPS carried when nothing is read."""
        return self.iops / self.write_iops_cost

    @property
    def write_throughput_mib_s(self) -> float:
        """MiB/s carried when nothing is read."""
        return self.throughput_mib_s / self.write_throughput_cost

    def __and__(self, other: "Ceiling") -> "Ceiling":
        """Both at once (a volume on a host): the lower of each side, and every bucket."""
        sizes = [size for size in (self.io_kib, other.io_kib) if size is not None]
        return _make_ceiling(
            (min(self.iops, other.iops), min(self.write_iops, other.write_iops)),
            (
                min(self.throughput_mib_s, other.throughput_mib_s),
                min(self.write_throughput_mib_s, other.write_throughput_mib_s),
            ),
            io_kib=min(sizes, default=None),
            buckets=self.buckets + other.buckets,
        )

    def __add__(self, other: "Ceiling") -> "Ceiling":
        """Side by side (the hosts that share a multi-attached volume): the sum of each side."""
        return _make_ceiling(
            (self.iops + other.iops, self.write_iops + other.write_iops),
            (
                self.throughput_mib_s + other.throughput_mib_s,
                self.write_throughput_mib_s + other.write_throughput_mib_s,
            ),
        )

    def counted_as(self, accounting: Accounting) -> "Ceiling":
        """The ceiling in the units of another accounting, at its most.

            carries 3,000 reads or 3,000 writes, counted where a write costs 2: 6,000

        All of it is spent on the direction that costs most there beside its cost here. The ceiling itself if that is no
        more.
        """
        iops = max(1.0, accounting.write_iops_cost / self.write_iops_cost)
        throughput = max(1.0, accounting.write_throughput_cost / self.write_throughput_cost)
        if iops == throughput == 1:
            return self
        factors = {Resource.IOPS: iops, Resource.THROUGHPUT: throughput}
        return replace(
            self,
            iops=self.iops * iops,
            throughput_mib_s=self.throughput_mib_s * throughput,
            buckets=tuple(bucket.times(factors[bucket.resource]) for bucket in self.buckets),
        )

    def divide(self, parts: int) -> "Ceiling":
        """The ceiling of one of `parts` equal parts: its limits and buckets divided by that number."""
        return replace(
            self,
            iops=self.iops / parts,
            throughput_mib_s=self.throughput_mib_s / parts,
            buckets=tuple(bucket.times(1 / parts) for bucket in self.buckets),
        )

    def iops_at(self, io_size_kib: float) -> float:
        """IOPS carried at that mean I/O size."""
        per_io = max(1.0, io_size_kib / self.io_kib) if self.io_kib else 1.0
        return min(self.iops / per_io, self.throughput_mib_s * KIB_PER_MIB / io_size_kib)

    @property
    def sustained_iops(self) -> float:
        """IOPS that are sustained."""
        return min([self.iops, *self._sustained_rates(Resource.IOPS)])

    @property
    def sustained_throughput_mib_s(self) -> float:
        """MiB/s that are sustained at the largest I/O."""
        by_iops = self.sustained_iops * self.io_kib / KIB_PER_MIB if self.io_kib else math.inf
        return min([self.throughput_mib_s, by_iops, *self._sustained_rates(Resource.THROUGHPUT)])

    @property
    def burst_s(self) -> float:
        """For how long full buckets let it carry its most, in seconds; 0 where it has no bucket."""
        most = {Resource.IOPS: self.iops, Resource.THROUGHPUT: self.throughput_mib_s}
        return max(
            (
                bucket.capacity / (most[bucket.resource] - bucket.sustained_rate)
                for bucket in self.buckets
                if most[bucket.resource] > bucket.sustained_rate
            ),
            default=0.0,
        )

    def _sustained_rates(self, resource: Resource) -> list[float]:
        return [bucket.sustained_rate for bucket in self.buckets if bucket.resource is resource]


def _make_ceiling(
    iops: tuple[float, float],
    throughput_mib_s: tuple[float, float],
    *,
    io_kib: float | None = None,
    buckets: tuple[TokenBucket, ...] = (),
) -> Ceiling:
    """The ceiling of a limit of reads and one of writes on each side."""
    return Ceiling(
        iops=iops[0],
        throughput_mib_s=throughput_mib_s[0],
        io_kib=io_kib,
        buckets=buckets,
        write_iops_cost=_cost(*iops),
        write_throughput_cost=_cost(*throughput_mib_s),
    )


def _cost(reads: float, writes: float) -> float:
    return 1.0 if reads == writes else reads / writes


UNBOUNDED = Ceiling(iops=math.inf, throughput_mib_s=math.inf)
"""What is not known to limit anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The rates that an offer must reach, at its highest and without end."""

    iops: float = 0.0
    throughput_mib_s: float = 0.0
    sustained_iops: float = 0.0
    sustained_throughput_mib_s: float = 0.0

    @classmethod
    def from_ceiling(cls, ceiling: Ceiling) -> "Need":
        """All that a ceiling ever carries."""
        return cls(
            iops=ceiling.iops,
            throughput_mib_s=ceiling.throughput_mib_s,
            sustained_iops=ceiling.sustained_iops,
            sustained_throughput_mib_s=ceiling.sustained_throughput_mib_s,
        )

    def without(self, resource: Resource | None) -> "Need":
        """The same where nothing of a resource is needed (None: as it is)."""
        match resource:
            case None:
                return self
            case Resource.IOPS:
                return replace(self, iops=0.0, sustained_iops=0.0)
            case Resource.THROUGHPUT:
                return replace(self, throughput_mib_s=0.0, sustained_throughput_mib_s=0.0)

    def times(self, factor: float) -> "Need":
        """The need with every rate times a factor."""
        return Need(
            iops=factor * self.iops,
            throughput_mib_s=factor * self.throughput_mib_s,
            sustained_iops=factor * self.sustained_iops,
            sustained_throughput_mib_s=factor * self.sustained_throughput_mib_s,
        )

    def no_less_than(self, other: "Need") -> "Need":
        """The need with the greater rate of both on each side."""
        if other is NOTHING:
            return self
        return Need(
            iops=max(self.iops, other.iops),
            throughput_mib_s=max(self.throughput_mib_s, other.throughput_mib_s),
            sustained_iops=max(self.sustained_iops, other.sustained_iops),
            sustained_throughput_mib_s=max(self.sustained_throughput_mib_s, other.sustained_throughput_mib_s),
        )

    def no_more_than(self, other: "Need") -> "Need":
        """The need with the lower rate of both on each side."""
        return Need(
            iops=min(self.iops, other.iops),
            throughput_mib_s=min(self.throughput_mib_s, other.throughput_mib_s),
            sustained_iops=min(self.sustained_iops, other.sustained_iops),
            sustained_throughput_mib_s=min(self.sustained_throughput_mib_s, other.sustained_throughput_mib_s),
        )


NOTHING: Final = Need()
"""The need that every offer carries."""

EVERYTHING: Final = Need(iops=math.inf, throughput_mib_s=math.inf)
"""More than anything carries."""


class LatencyClass(IntEnum):
    """Typical latency, the better the higher."""

    TENS_OF_MS = 0
    SINGLE_DIGIT_MS = 1
    SUB_MS = 2
