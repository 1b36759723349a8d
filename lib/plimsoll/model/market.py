"""The market: volume types with their published limits, and what they cost.

Prices: what a configuration costs a month, from one region's dated price book.

Volume types: published limits as formulas whose figures are data, and the ceiling they give a spec.

The figures of a cloud live in its `data` folder with source and date; this module knows only the shapes of the
formulas that clouds publish.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final, NamedTuple

from plimsoll.model.ceiling import Accounting, Ceiling, LatencyClass, Resource, TokenBucket, accounting_of
from plimsoll.model.errors import UnknownVolumeType
from plimsoll.model.units import MONTH_S
from plimsoll.model.volume import VolumeSpec

DOLLARS: Final = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypePrice:
    """List prices in USD a month of one volume type in one region.

    `iops_tiers` are (up to these IOPS or None, USD per IOPS a month), lowest first, charged above `included_iops`;
    likewise throughput above `included_throughput_mib_s`. `million_io` is per million operations.
    """

    gib_month: float
    iops_tiers: tuple[tuple[float | None, float], ...] = ()
    included_iops: int = 0
    throughput_mib_s_month: float = 0.0
    included_throughput_mib_s: int = 0
    million_io: float = 0.0

    def usd_month(self, spec: VolumeSpec, *, mean_iops: float = 0.0) -> float:
        """USD a month of that spec; `mean_iops` matters only where operations are billed."""
        return (
            self.gib_month * spec.size_gib
            + self._iops(spec.iops or 0)
            + self.throughput_mib_s_month * max(0, (spec.throughput_mib_s or 0) - self.included_throughput_mib_s)
            + self.million_io * mean_iops * MONTH_S / 1e6
        )

    def _iops(self, iops: float) -> float:
        """The monthly price of provisioned IOPS in USD: by tiers, above the included ones."""
        usd, charged_to = 0.0, float(self.included_iops)
        for up_to, price in self.iops_tiers:
            tier_end = min(iops, math.inf if up_to is None else up_to)
            usd += price * max(0.0, tier_end - charged_to)
            charged_to = max(charged_to, tier_end)
        return usd


class Meter(NamedTuple):
    """The thing that a row of a bill or of a price list counts.

    `apart` is why its price is not the region's, such as a Local Zone; empty elsewhere. `scale` makes the row's
    quantity one of the dimension's units.
    """

    dimension: str
    type: str = ""
    tier: int = 1
    scale: float = 1.0
    apart: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPrices:
    """A region's list prices of snapshots in USD; None where no source is known."""

    gib_month: float | None = None
    archive_gib_month: float | None = None
    retrieval_gib: float | None = None
    fast_restore_hour: float | None = None


NO_SNAPSHOT_PRICES: Final = SnapshotPrices()


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """One region's prices by volume type, with where they come from and of what date (None: there are none).

    `unlisted` says why they are not the cloud's own list of today, where that was asked for and could not be read: a
    failure. `notice` is what else people should know of where they come from. One in another `currency` has no types:
    what is not in dollars is in no sum of them.
    """

    region: str
    source: str
    as_of: date | None
    types: Mapping[str, TypePrice]
    discounts_pct: Mapping[str, float] = field(default_factory=dict)
    unlisted: str = ""
    notice: str = ""
    currency: str = DOLLARS
    snapshots: SnapshotPrices = NO_SNAPSHOT_PRICES

    def usd_month(self, spec: VolumeSpec, *, mean_iops: float = 0.0) -> float | None:
        """USD a month of that spec after discounts; None where the book has no price for its type."""
        price = self.types.get(spec.type)
        if price is None:
            return None
        discount_pct = self.discounts_pct.get(spec.type, self.discounts_pct.get("*", 0.0))
        return price.usd_month(spec, mean_iops=mean_iops) * (1 - discount_pct / 100)


def unusable(spec: VolumeSpec, unit: str, usable: float, book: PriceBook) -> float:
    """The IOPS or MiB/s (`unit`) that are provisioned and paid for beyond what is `usable`.

    0 for what the price includes, for a figure without a price of its own, and for a type that the book does not list.
    """
    price, bought = book.types.get(spec.type), spec.iops if unit == "IOPS" else spec.throughput_mib_s
    if price is None or bought is None:
        return 0.0
    is_charged = bool(price.iops_tiers) if unit == "IOPS" else price.throughput_mib_s_month > 0
    included = price.included_iops if unit == "IOPS" else price.included_throughput_mib_s
    return max(0.0, bought - max(usable, included)) if is_charged else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """Grows with the volume: per_gib * size, never under `floor` or over `cap`."""

    per_gib: float = 0.0
    floor: float = 0.0
    cap: float = math.inf

    def figure_at(self, size_gib: float) -> float:
        """The figure at that size."""
        return min(self.cap, max(self.floor, self.per_gib * size_gib))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """Constant over ranges of size: (largest size in GiB or None, figure), smallest size first."""

    steps: tuple[tuple[float | None, float], ...]

    def figure_at(self, size_gib: float) -> float:
        """The figure at that size."""
        for up_to_gib, figure in self.steps:
            if up_to_gib is None or size_gib <= up_to_gib:
                return figure
        return self.steps[-1][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """Bought from `least` to `most`, within `per_gib` of the size and `per_iops` of the provisioned IOPS.

    `least` can be had at any size, or only within `per_gib` where that is `strict`; it grows to `least_per_gib` of the
    size and `least_per_iops` of the provisioned IOPS where they are more. `included` is what a volume has when nothing
    is asked for (0: must be asked for).
    """

    least: int
    most: int
    per_gib: float = math.inf
    per_iops: float = math.inf
    included: int = 0
    strict: bool = False
    least_per_gib: float = 0.0
    least_per_iops: float = 0.0

    def least_at(self, size_gib: float, iops: float = 0.0) -> int:
        """The least that can be bought at that size and with that many provisioned IOPS."""
        least = max(self.least, self.least_per_gib * size_gib, self.least_per_iops * iops)
        return math.ceil(min(least, self.per_gib * size_gib) if self.strict else least)

    def most_at(self, size_gib: float, iops: float = math.inf) -> int:
        """The most that can be bought at that size and with that many provisioned IOPS."""
        most = min(self.most, self.per_gib * size_gib, self.per_iops * iops)
        return int(max(most, self.least_at(size_gib, iops if math.isfinite(iops) else 0.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FromIops:
    """Follows the provisioned IOPS by bands: (up to these IOPS or None, MiB/s per IOPS, cap), lowest band first."""

    bands: tuple[tuple[float | None, float, float], ...]

    def figure_at(self, iops: float) -> float:
        """MiB/s of that many provisioned IOPS."""
        for up_to_iops, per_iops, cap in self.bands:
            if up_to_iops is None or iops <= up_to_iops:
                return min(cap, per_iops * iops)
        return self.bands[-1][2]

    def least_iops(self, throughput_mib_s: float) -> float:
        """The fewest IOPS that bring that throughput; infinite where none do."""
        for up_to_iops, per_iops, cap in self.bands:
            iops = throughput_mib_s / per_iops
            if throughput_mib_s <= cap and (up_to_iops is None or iops <= up_to_iops):
                return iops
        return math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class FromThroughput:
    """Follows the provisioned throughput: so many IOPS per MiB/s, never over `cap`."""

    per_mib_s: float
    cap: float = math.inf

    def figure_at(self, throughput_mib_s: float) -> float:
        """IOPS of that throughput."""
        return min(self.cap, self.per_mib_s * throughput_mib_s)

    def least_throughput(self, iops: float) -> float:
        """The least MiB/s that bring that many IOPS; infinite where none do."""
        return iops / self.per_mib_s if iops <= self.cap else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """A higher rate of one resource while credits last; credits refill at the sustained rate.

    `credits` and `credits_per_gib` add up to the bucket: operations for IOPS, MiB for throughput. No burst where the
    sustained rate reaches `rate`.
    """

    resource: Resource
    rate: Sized
    credits: float = 0.0
    credits_per_gib: float = 0.0
    least_charge_mib: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Based:
    """Grows with the volume from a base: base + per_gib * size, never over `cap`."""

    base: float
    per_gib: float
    cap: float = math.inf

    def figure_at(self, size_gib: float) -> float:
        """The figure at that size."""
        return min(self.cap, self.base + self.per_gib * size_gib)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLimit:
    """The limit on changes of one volume: a number in a span of hours."""

    most: int
    hours: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """At least that share of what is provisioned, for that share of the time, both in percent."""

    share_pct: float
    time_pct: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeType:
    """One kind of volume that can be bought, as its cloud publishes it.

    Figures are those of reads; a write counts for `write_iops_cost` or `write_throughput_cost` of a read. `pooled`
    volumes of the type on one host share what the sum of their sizes gives, and any of them may use all of it. `zones`
    is in how many a volume is kept. It is a `target` where the policy names none. Its volumes become another type
    `in_place`, while they are used, or not; `changes` is how often they may be changed, and `shared_changes` whether
    one with Multi-Attach can be at all. What is provisioned it `delivers` so far (None: nothing is published).
    """

    name: str
    least_size_gib: int
    most_size_gib: int
    iops: Sized | Based | Provisioned | FromThroughput
    throughput: Sized | Based | Stepped | Provisioned | FromIops
    io_kib: float | None
    latency: LatencyClass
    durability_pct: float
    boots: bool
    multi_attach: bool
    burst: Burst | None = None
    older_host_iops: float = math.inf
    sold: bool = True
    billed_per_io: bool = False
    write_iops_cost: float = 1.0
    write_throughput_cost: float = 1.0
    pooled: bool = False
    zones: int = 1
    target: bool = False
    in_place: bool = True
    changes: ChangeLimit | None = None
    shared_changes: bool = True
    delivers: Delivery | None = None

    @property
    def accounting(self) -> Accounting:
        """The way in which the ceilings of the type count work."""
        return accounting_of(self.io_kib, self.write_iops_cost, self.write_throughput_cost)

    def __hash__(self) -> int:
        """By the name alone, since what is worked out of a type is kept by type."""
        return hash(self.name)

    @lru_cache(maxsize=4096)  # noqa: B019  # types are few and live as long as the process
    def ceiling(self, spec: VolumeSpec) -> Ceiling:
        """The published roofline of a spec of this type, buckets included."""
        sustained_iops = self._iops(spec)
        throughput = self._throughput(spec, sustained_iops)
        if self.burst is None:
            return self._roofline(sustained_iops, throughput, ())
        sustained = sustained_iops if self.burst.resource is Resource.IOPS else throughput
        rate = max(sustained, self.burst.rate.figure_at(spec.size_gib))
        return self._roofline(
            rate if self.burst.resource is Resource.IOPS else sustained_iops,
            rate if self.burst.resource is Resource.THROUGHPUT else throughput,
            _bucket(self.burst, sustained, spec.size_gib) if rate > sustained else (),
        )

    def _roofline(self, iops: float, throughput_mib_s: float, buckets: tuple[TokenBucket, ...]) -> Ceiling:
        return Ceiling(
            iops=iops,
            throughput_mib_s=throughput_mib_s,
            io_kib=self.io_kib,
            buckets=buckets,
            write_iops_cost=self.write_iops_cost,
            write_throughput_cost=self.write_throughput_cost,
        )

    def _iops(self, spec: VolumeSpec) -> float:
        """The IOPS that a spec sustains: provisioned (or what a volume has unasked), by its throughput, or by its
        size."""
        match self.iops:
            case Provisioned() as bought:
                asked = spec.iops
                return float(asked if asked is not None else max(bought.included, bought.least_at(spec.size_gib)))
            case FromThroughput() as follows:
                return follows.figure_at(self._throughput(spec, 0.0))
            case Sized() | Based() as sized:
                return sized.figure_at(spec.size_gib)

    def _throughput(self, spec: VolumeSpec, iops: float) -> float:
        """The MiB/s that a spec sustains: provisioned (or what a volume has unasked), by `iops`, or by its size."""
        match self.throughput:
            case Provisioned() as bought:
                asked = spec.throughput_mib_s
                least = bought.least_at(spec.size_gib, iops)
                return float(asked if asked is not None else max(bought.included, least))
            case FromIops() as follows:
                return follows.figure_at(iops)
            case Sized() | Based() | Stepped() as sized:
                return sized.figure_at(spec.size_gib)


def _bucket(burst: Burst, sustained: float, size_gib: float) -> tuple[TokenBucket, ...]:
    return (
        TokenBucket(
            resource=burst.resource,
            free_rate=0.0,
            refill_rate=sustained,
            capacity=burst.credits + burst.credits_per_gib * size_gib,
            least_charge_mib=burst.least_charge_mib,
        ),
    )


def type_of(spec: VolumeSpec, types: Mapping[str, VolumeType]) -> VolumeType:
    """The published type of a spec; UnknownVolumeType, with what to do, where there is none."""
    try:
        return types[spec.type]
    except KeyError:
        known = ", ".join(sorted(types))
        raise UnknownVolumeType(
            f"volume type {spec.type} has no published limits in this version of Plimsoll (it knows {known}): "
            "update Plimsoll, or exclude such volumes by tag in the policy."
        ) from None
