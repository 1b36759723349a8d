"""Products: a volume type as it is sold to a volume. Prices and ceilings are worked out once for all who ask.

What is sold depends on little of a volume: its spec, its use, and the types of its hosts. So volumes that are alike
share their products.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from plimsoll.decide.evidence import SAME_CLASS, FailedMeasurement, promised_need
from plimsoll.decide.offers import (
    KeptLimits,
    Market,
    Offer,
    ceiling_on_hosts,
    find_too_slow,
    find_unsuited,
    fit_on_grid,
    size_for,
)
from plimsoll.model.ceiling import EVERYTHING, NOTHING, RESOURCES, Ceiling, Need, Resource
from plimsoll.model.market import Provisioned, VolumeType
from plimsoll.model.policy import Policy
from plimsoll.model.volume import Volume, VolumeSpec

_Answer = TypeVar("_Answer")

OTHER: Final = {Resource.IOPS: Resource.THROUGHPUT, Resource.THROUGHPUT: Resource.IOPS}

MOST_ALIKE: Final = 1_000
"""Kinds of volumes whose products are kept at once, so that memory does not grow with the fleet."""


@dataclass(frozen=True, slots=True)
class FigureGrid:
    """Figures that are bought of a resource: every so many, and today's between two. At 0 is the least sold."""

    bought: Resource
    most: float
    step: int
    today: int | None = None

    def make_need_at(self, count: int) -> Need:
        """Makes the need of the figure after a count of steps."""
        if self.today is None or count < self._place_of_today:
            return make_need(self.bought, count * self.step)
        return make_need(self.bought, self.today if count == self._place_of_today else (count - 1) * self.step)

    def count_steps(self, figures: tuple[float, float]) -> int:
        """Counts the steps to the least figure that covers its own of IOPS and MiB/s, or to the most sold."""
        figure = min(figures[RESOURCES.index(self.bought)], self.most)
        count = max(0, math.ceil(figure / self.step - 1e-9))
        if self.today is None or count < self._place_of_today:
            return count
        return self._place_of_today if figure <= self.today + 1e-9 else count + 1

    @property
    def _place_of_today(self) -> int:
        return (self.today or 0) // self.step + 1


def make_need(resource: Resource, figure: float) -> Need:
    """Makes the need of a figure of one resource alone."""
    return Need(iops=figure) if resource is Resource.IOPS else Need(throughput_mib_s=figure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A type as it is sold to one volume: what a spec of it costs (None: no price), and carries on its hosts.

    `ceiling` is the believed one, and `promised_need` the figures that are believed to carry a need. `refused` has the
    reasons why it is not for the volume, whatever the demand, and `failed` what was measured of it here. `refuted` is
    true of a spec that was measured to answer too late, and `measured` are the figures up to which that holds.
    `present` is the volume's own spec, be it between two steps, with its ceiling: that is known by its own metrics,
    whatever was measured. `least_usd_month` is the least price, infinite if it is refused or has none. `floor` is the
    least that is sold, with its ceiling: nothing that passes can cost less. None if it has no price, or the type was
    measured. `drop_ins` are the offers that carry all that volumes can today, by their limits
    (`plimsoll.decide.type_offers`). It is of `size_gib`, or larger if it `grows` and enough figures can be bought so.
    """

    kind: VolumeType
    size_gib: int
    policy: Policy
    usd_month: Callable[[VolumeSpec], float | None]
    ceiling: Callable[[VolumeSpec], Ceiling]
    promised: Callable[[Need], Need] = lambda need: need
    refused: tuple[str, ...] = ()
    failed: tuple[FailedMeasurement, ...] = ()
    refuted: Callable[[VolumeSpec], bool] = lambda _spec: False
    measured: Sequence[Need] = ()
    present: tuple[VolumeSpec, Ceiling] | None = None
    least_usd_month: float = math.inf
    floor: tuple[VolumeSpec, Ceiling] | None = None
    grows: bool = True
    drop_ins: dict[KeptLimits, Offer] = field(default_factory=dict, init=False, repr=False, compare=False)

    def fit(self, need: Need) -> VolumeSpec:
        """Fits the smallest spec that answers a need, in steps of figures that people use, or of today's."""
        present = None if self.present is None else self.present[0]
        return fit_on_grid(self.kind, self.size_gib, need, self.policy.steps, grows=self.grows, present=present)

    def fit_smaller(self, grown: VolumeSpec) -> Iterator[VolumeSpec]:
        """Fits the largest specs of sizes at which less than a step less is sold than a grown spec has."""
        iops, throughput_mib_s = grown.iops or 0, grown.throughput_mib_s or 0
        step_iops, step_mib_s = self.policy.steps
        less = Need(iops=max(0, iops - step_iops), throughput_mib_s=max(0, throughput_mib_s - step_mib_s))
        same = Need(iops=iops, throughput_mib_s=throughput_mib_s)
        for size_gib in range(size_for(self.kind, self.size_gib, less), grown.size_gib):
            yield fit_on_grid(self.kind, size_gib, same, self.policy.steps)

    @property
    def most(self) -> Ceiling:
        """The ceiling of the largest spec that is sold at its size."""
        return self.ceiling(fit_on_grid(self.kind, self.size_gib, EVERYTHING, self.policy.steps))

    def grid(self, resource: Resource) -> FigureGrid:
        """The figures that it may have for a resource, e.g. every 100 IOPS, and that of today.

        Throughput that is not sold by itself is bought by IOPS, and IOPS by throughput.
        """
        sold = dict(zip(RESOURCES, (self.kind.iops, self.kind.throughput), strict=True))
        bought = resource if isinstance(sold[resource], Provisioned) else OTHER[resource]
        place, limit, today = RESOURCES.index(bought), sold[bought], None
        if self.present is not None:
            today = (self.present[0].iops, self.present[0].throughput_mib_s)[place]
        step, most = self.policy.steps[place], limit.most if isinstance(limit, Provisioned) else 0
        return FigureGrid(bought, most, step, today if today is not None and today % step else None)

    @property
    def has_figures(self) -> bool:
        """IOPS or MiB/s are bought beside the size."""
        return isinstance(self.kind.iops, Provisioned) or isinstance(self.kind.throughput, Provisioned)

    @property
    def sells_both(self) -> bool:
        """IOPS and MiB/s are bought each by itself."""
        return isinstance(self.kind.iops, Provisioned) and isinstance(self.kind.throughput, Provisioned)


Alike = dict[str, Product]
"""The products of volumes that are alike, by type."""


@dataclass(frozen=True, slots=True)
class Products:
    """The products of one volume by type, made when they are first asked for.

    Those in `alike` are shared with like volumes. A type whose operations are billed has a price of each volume's own.
    """

    volume: Volume
    market: Market
    policy: Policy
    mean_iops: float
    alike: Alike
    _own: Alike = field(default_factory=dict)

    def of(self, kind: VolumeType) -> Product:
        """The product of a type for this volume, made once."""
        price = self.market.book.types.get(kind.name)
        known = self._own if price is not None and price.million_io else self.alike
        if kind.name not in known:
            known[kind.name] = _make_product(self.volume, kind, self.market, self.policy, self.mean_iops)
        return known[kind.name]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The products of all volumes of one market, shared by those that are alike."""

    kept: dict[Hashable, Alike] = field(default_factory=dict)

    def products(self, volume: Volume, market: Market, policy: Policy, mean_iops: float) -> Products:
        """The products of a volume with a mean of IOPS, shared with volumes that are alike.

        Failed measurements may be of this volume alone: then its products are its own.
        """
        alike: Alike = {}
        if not market.failed_measurements:
            if len(self.kept) >= MOST_ALIKE:
                self.kept.clear()
            alike = self.kept.setdefault((*_likeness(volume), *_preferences(policy, market)), alike)
        return Products(volume, market, policy, mean_iops, alike)


def _likeness(volume: Volume) -> tuple[Hashable, ...]:
    """The traits of a volume that decide what is sold to it."""
    hosts = tuple((host.type, host.limits, host.nitro, host.caps) for host in volume.hosts)
    return volume.spec, volume.boot, len(volume.attachments), hosts


def _preferences(policy: Policy, market: Market) -> tuple[Hashable, ...]:
    """The parts of a policy, its discounts included, that decide what is sold."""
    return (
        policy.target_types,
        policy.latency_floor,
        policy.durability_floor_pct,
        policy.steps,
        policy.max_wait_s,
        tuple(sorted(market.book.discounts_pct.items())),
    )


def _make_product(volume: Volume, kind: VolumeType, market: Market, policy: Policy, mean_iops: float) -> Product:
    """Makes the product of a type for a volume with a mean of IOPS."""
    failed = market.failed(volume, kind.name)
    slow = [measurement for measurement in failed if measurement.volume_id == volume.id]

    published = _cache_by_spec(lambda spec: ceiling_on_hosts(kind, spec, volume))
    believed = _cache_by_spec(lambda spec: ceiling_on_hosts(kind, spec, volume, failed)) if failed else published
    usd_month = _cache_by_spec(lambda spec: market.book.usd_month(spec, mean_iops=mean_iops))
    floor = fit_on_grid(kind, volume.spec.size_gib, NOTHING, policy.steps)
    refused, least_usd = tuple(find_unsuited(volume, kind, market, policy)), usd_month(floor)

    def is_too_slow(spec: VolumeSpec) -> bool:
        return bool(slow) and spec != volume.spec and bool(find_too_slow(volume, published(spec), slow))

    return Product(
        kind=kind,
        size_gib=volume.spec.size_gib,
        policy=policy,
        usd_month=usd_month,
        ceiling=believed,
        promised=(lambda need: promised_need(need, failed)) if failed else lambda need: need,
        refused=refused,
        failed=failed,
        refuted=is_too_slow,
        measured=[_slow_class(measurement) for measurement in slow],
        present=(volume.spec, published(volume.spec)) if kind.name == volume.spec.type else None,
        least_usd_month=math.inf if refused or least_usd is None else least_usd,
        floor=(floor, published(floor)) if not failed and least_usd is not None else None,
    )


def _cache_by_spec(work_out: Callable[[VolumeSpec], _Answer]) -> Callable[[VolumeSpec], _Answer]:
    """Remembers the function's answer for each spec."""
    known: dict[VolumeSpec, _Answer] = {}

    def work_out_once(spec: VolumeSpec) -> _Answer:
        try:
            return known[spec]
        except KeyError:
            return known.setdefault(spec, work_out(spec))

    return work_out_once


def _slow_class(measurement: FailedMeasurement) -> Need:
    """The figures up to which a configuration is of the class that answered too late."""
    return Need(
        iops=SAME_CLASS * measurement.ceiling.iops, throughput_mib_s=SAME_CLASS * measurement.ceiling.throughput_mib_s
    )
