"""Products: a type as it is sold to a volume. What it costs and carries there is worked out once for all who ask.

What is sold depends on little of a volume: its spec, what it is used for, and the types of its hosts. So volumes that
are alike share their products.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from plimsoll.domain.ceiling import EVERYTHING, NOTHING, Ceiling, Need, Resource
from plimsoll.domain.evidence.failed_measurement import SAME_CLASS, FailedMeasurement, promised
from plimsoll.domain.offers.offer import KeptLimits, Market, Offer, ceiling_on_hosts, fitted_on_grid, too_slow, unsuited
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import Provisioned, VolumeType

_Told = TypeVar("_Told")

MOST_ALIKE: Final = 1_000
"""Kinds of volumes whose products are kept at once, so that memory does not grow with the fleet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A type as it is sold to one volume: what a spec of it costs (None: no price), and carries on its hosts.

    `ceiling` is what it is believed to carry, and `promised` which figures are believed to carry a need. `refused` says
    why it is not for the volume, whatever the demand, and `failed` what was measured of it here. `refuted` says
    whether a spec was measured to answer too late, and `measured` up to which figures that holds. `present` is what the
    volume has, be it between two steps, with its ceiling: that is known by its own metrics, whatever was measured.
    `least_usd_month` is what it costs at the least, infinite where it is refused or has no price. `floor` is the least
    that is sold, with its ceiling: nothing that passes can cost less. None where a step of the policy is more than
    that, it has no price, or the type was measured. `drop_ins` are what carries all that volumes can today, by their
    limits (`plimsoll.domain.offers.drop_ins`). It is of `size_gib`, or larger where it `grows` and that lets enough
    figures be bought.
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

    def fitted(self, need: Need) -> VolumeSpec:
        """The smallest spec that answers a need, in figures that people use."""
        return fitted_on_grid(self.kind, self.size_gib, need, self.policy.steps, grows=self.grows)

    @property
    def most(self) -> Ceiling:
        """What the largest that is sold at its size carries."""
        return self.ceiling(fitted_on_grid(self.kind, self.size_gib, EVERYTHING, self.policy.steps))

    def step(self, resource: Resource) -> int:
        """The step of its figures of a resource."""
        return self.policy.steps[0 if resource is Resource.IOPS else 1]

    @property
    def has_figures(self) -> bool:
        """Whether anything but its size is bought."""
        return isinstance(self.kind.iops, Provisioned) or isinstance(self.kind.throughput, Provisioned)

    @property
    def sells_both(self) -> bool:
        """Whether IOPS and MiB/s are bought each by itself."""
        return isinstance(self.kind.iops, Provisioned) and isinstance(self.kind.throughput, Provisioned)


Alike = dict[str, Product]
"""The products of volumes that are alike, by type."""


@dataclass(frozen=True, slots=True)
class Products:
    """What is sold to one volume: the product of each type, made when it is first asked for.

    Those that are `alike` are shared. A type whose operations are billed has a price of each volume's own.
    """

    volume: Volume
    market: Market
    policy: Policy
    mean_iops: float
    alike: Alike
    _own: Alike = field(default_factory=dict)

    def of(self, kind: VolumeType) -> Product:
        """The product of a type."""
        price = self.market.book.types.get(kind.name)
        known = self._own if price is not None and price.million_io else self.alike
        if kind.name not in known:
            known[kind.name] = _product_of(self.volume, kind, self.market, self.policy, self.mean_iops)
        return known[kind.name]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The products of all volumes of one market, shared by those that are alike."""

    kept: dict[Hashable, Alike] = field(default_factory=dict)

    def products(self, volume: Volume, market: Market, policy: Policy, mean_iops: float) -> Products:
        """What is sold to a volume that does so many IOPS on average. Where something was measured here and fell short,
        that may be of this volume alone, so that its products are its own."""
        alike: Alike = {}
        if not market.failed_measurements:
            if len(self.kept) >= MOST_ALIKE:
                self.kept.clear()
            alike = self.kept.setdefault((*_likeness(volume), *_preferences(policy, market)), alike)
        return Products(volume, market, policy, mean_iops, alike)


def _likeness(volume: Volume) -> tuple[Hashable, ...]:
    """What of a volume decides what is sold to it."""
    hosts = tuple((host.type, host.limits, host.nitro, host.caps) for host in volume.hosts)
    return volume.spec, volume.boot, len(volume.attachments), hosts


def _preferences(policy: Policy, market: Market) -> tuple[Hashable, ...]:
    """What of a policy, its discounts included, decides what is sold."""
    return (
        policy.target_types,
        policy.latency_floor,
        policy.durability_floor_pct,
        policy.steps,
        policy.max_wait_s,
        tuple(sorted(market.book.discounts_pct.items())),
    )


def _product_of(volume: Volume, kind: VolumeType, market: Market, policy: Policy, mean_iops: float) -> Product:
    """A type as it is sold to a volume that does so many IOPS on average."""
    failed = market.failed(volume, kind.name)
    slow = [one for one in failed if one.volume_id == volume.id]

    published = _once_each(lambda spec: ceiling_on_hosts(kind, spec, volume))
    believed = _once_each(lambda spec: ceiling_on_hosts(kind, spec, volume, failed)) if failed else published
    usd_month = _once_each(lambda spec: market.book.usd_month(spec, mean_iops=mean_iops))
    floor = fitted_on_grid(kind, volume.spec.size_gib, NOTHING, policy.steps)
    step = Need(iops=policy.iops_step, throughput_mib_s=policy.throughput_step_mib_s)
    refused, least_usd = tuple(unsuited(volume, kind, market, policy)), usd_month(floor)
    is_least = floor == fitted_on_grid(kind, volume.spec.size_gib, step, policy.steps)

    def is_too_slow(spec: VolumeSpec) -> bool:
        return bool(slow) and spec != volume.spec and bool(too_slow(volume, published(spec), slow))

    return Product(
        kind=kind,
        size_gib=volume.spec.size_gib,
        policy=policy,
        usd_month=usd_month,
        ceiling=believed,
        promised=(lambda need: promised(need, failed)) if failed else lambda need: need,
        refused=refused,
        failed=failed,
        refuted=is_too_slow,
        measured=[_class_of(one) for one in slow],
        present=(volume.spec, published(volume.spec)) if kind.name == volume.spec.type else None,
        least_usd_month=math.inf if refused or least_usd is None else least_usd,
        floor=(floor, published(floor)) if is_least and not failed and least_usd is not None else None,
    )


def _once_each(told: Callable[[VolumeSpec], _Told]) -> Callable[[VolumeSpec], _Told]:
    """The same, worked out once for each spec."""
    known: dict[VolumeSpec, _Told] = {}

    def remembered(spec: VolumeSpec) -> _Told:
        try:
            return known[spec]
        except KeyError:
            return known.setdefault(spec, told(spec))

    return remembered


def _class_of(one: FailedMeasurement) -> Need:
    """Up to which figures a configuration is of the class that answered too late."""
    return Need(iops=SAME_CLASS * one.ceiling.iops, throughput_mib_s=SAME_CLASS * one.ceiling.throughput_mib_s)
