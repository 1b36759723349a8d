"""Products: a type as it is sold to one volume. What it costs and carries there is worked out once for all who ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.demand.need import Need
from plimsoll.domain.evidence.failed_measurement import SAME_CLASS, FailedMeasurement, promised
from plimsoll.domain.offers.offer import Market, ceiling_on_hosts, fitted_on_grid, too_slow, unsuited
from plimsoll.domain.policy import Policy
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import Provisioned, VolumeType

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """A type as it is sold to one volume: what a spec of it costs (None: no price), and carries on its hosts.

    `ceiling` is what it is believed to carry, and `promised` which figures are believed to carry a need. `refused` says
    why it is not for the volume, whatever the demand, and `failed` what was measured of it here. `refuted` says
    whether a spec was measured to answer too late, and `measured` up to which figures that holds. `present` is what the
    volume has, be it between two steps, with its ceiling: that is known by its own metrics, whatever was measured.
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

    def fitted(self, need: Need) -> VolumeSpec:
        """The smallest spec that answers a need, in figures that people use."""
        return fitted_on_grid(self.kind, self.size_gib, need, self.policy.steps)

    def step(self, resource: Resource) -> int:
        """The step of its figures of a resource."""
        return self.policy.steps[0 if resource is Resource.IOPS else 1]

    @property
    def has_figures(self) -> bool:
        """Whether anything but its size is bought."""
        return isinstance(self.kind.iops, Provisioned) or isinstance(self.kind.throughput, Provisioned)


def product_of(volume: Volume, kind: VolumeType, market: Market, policy: Policy, mean_iops: float) -> Product:
    """A type as it is sold to a volume that does so many IOPS on average."""
    failed = market.failed(volume, kind.name)
    slow = [one for one in failed if one.volume_id == volume.id]

    published = _once_each(lambda spec: ceiling_on_hosts(kind, spec, volume))
    believed = _once_each(lambda spec: ceiling_on_hosts(kind, spec, volume, failed)) if failed else published

    def is_too_slow(spec: VolumeSpec) -> bool:
        return bool(slow) and spec != volume.spec and bool(too_slow(volume, published(spec), slow))

    return Product(
        kind=kind,
        size_gib=volume.spec.size_gib,
        policy=policy,
        usd_month=_once_each(lambda spec: market.book.usd_month(spec, mean_iops=mean_iops)),
        ceiling=believed,
        promised=(lambda need: promised(need, failed)) if failed else lambda need: need,
        refused=tuple(unsuited(volume, kind, market, policy)),
        failed=failed,
        refuted=is_too_slow,
        measured=[_class_of(one) for one in slow],
        present=(volume.spec, published(volume.spec)) if kind.name == volume.spec.type else None,
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
