"""Offers: what could be bought instead, each with its ceiling, price, trial, and why it is refused if it is."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from plimsoll.domain.ceiling import NOTHING, UNBOUNDED, Ceiling, Need, Resource
from plimsoll.domain.demand.trial import Trial
from plimsoll.domain.errors import PolicyError
from plimsoll.domain.evidence.failed_measurement import CODE, FailedMeasurement, believed
from plimsoll.domain.headroom import OfferPurpose
from plimsoll.domain.host import Host
from plimsoll.domain.policy import Policy
from plimsoll.domain.prices import PriceBook
from plimsoll.domain.units import KIB_PER_MIB
from plimsoll.domain.volume import Volume, VolumeSpec
from plimsoll.domain.volume_types import FromIops, FromThroughput, LatencyClass, Provisioned, VolumeType

ROUNDING = 1e-6
"""Needs this little above a whole number are that number: the excess is floating-point noise."""

LATENCY_WORDS: Mapping[LatencyClass, str] = {
    LatencyClass.TENS_OF_MS: "tens of milliseconds",
    LatencyClass.SINGLE_DIGIT_MS: "single-digit milliseconds",
    LatencyClass.SUB_MS: "under a millisecond",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A spec one can buy. `usd_month` is None without a price, `tried` None where nothing was tried.

    `ceiling` is what is published of it on its hosts, and no more than it is believed to carry by what `failed`: what
    was measured here and speaks against a smaller offer of the type, or against this one.

    `need` are the least figures that pass, as its ceiling counts. Ceiling, need and trial are those of a pool where the
    type is one that volumes share, and `pool_gib` is the size of all in it (None: the spec's own). `staying` is the
    resource that stays as it is, because nothing sold of the present type has headroom on it (None: each has).
    `purpose` is what it was made for: need and headroom are those of that.
    """

    spec: VolumeSpec
    ceiling: Ceiling
    usd_month: float | None
    tried: Trial | None
    need: Need
    refused: tuple[str, ...] = ()
    failed: tuple[FailedMeasurement, ...] = ()
    pool_gib: int | None = None
    staying: Resource | None = None
    purpose: OfferPurpose = field(default=OfferPurpose.REDUCE, compare=False)

    @property
    def judged(self) -> Ceiling:
        """What it is judged by: a resource that stays as it is limits nothing."""
        return self.ceiling.without(self.staying)

    @property
    def feasible(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What is sold where the volume is: a provider's published types, one region's prices, and what was measured there
    lately and did not deliver."""

    provider: str
    types: Mapping[str, VolumeType]
    book: PriceBook
    failed_measurements: tuple[FailedMeasurement, ...] = ()

    def failed(self, volume: Volume, type_name: str) -> tuple[FailedMeasurement, ...]:
        """What failed of a type where the volume is."""
        return tuple(
            one
            for one in self.failed_measurements
            if (one.account, one.region, one.spec.type) == (volume.account, volume.region, type_name)
        )


def check_types(policy: Policy, types: Collection[str]) -> None:
    """PolicyError for a target type that is none of those known, here or in an override."""
    for found in (policy, *(policy.for_tags({one.match.tag: one.match.value or ""}) for one in policy.overrides)):
        for name in found.target_types:
            if name not in types:
                known = ", ".join(sorted(types))
                raise PolicyError(f"policy key target_types names {name}, which is no volume type: it knows {known}.")


def flip(kind: VolumeType, size_gib: int, book: PriceBook) -> Offer | None:
    """What a bare change to that type gives: what it includes without being asked; None where it includes nothing."""
    match kind.iops, kind.throughput:
        case Provisioned(included=iops), Provisioned(included=throughput) if iops and throughput:
            spec = VolumeSpec(type=kind.name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput)
            ceiling, usd_month = kind.ceiling(spec), book.usd_month(spec)
            return Offer(spec=spec, ceiling=ceiling, usd_month=usd_month, tried=None, need=NOTHING)
        case _:
            return None


def fitted(kind: VolumeType, size_gib: int, need: Need) -> VolumeSpec:
    """The smallest spec of that type and size that answers the need, or the largest sold if that is less."""
    iops_needed, throughput_needed = _asked(kind, need)
    throughput: int | None = None
    if isinstance(kind.throughput, Provisioned):
        throughput = _within(kind.throughput, throughput_needed, size_gib)
    if not isinstance(kind.iops, Provisioned):
        return VolumeSpec(type=kind.name, size_gib=size_gib, throughput_mib_s=throughput)
    iops = _within(kind.iops, iops_needed, size_gib)
    if isinstance(kind.throughput, Provisioned) and throughput is not None:
        least, most = kind.throughput.least_at(size_gib, iops), kind.throughput.most_at(size_gib, iops)
        throughput = min(max(least, throughput), most)
    return VolumeSpec(type=kind.name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput)


def _asked(kind: VolumeType, need: Need) -> tuple[float, float]:
    """The IOPS and MiB/s that a need takes of a type; infinite where none bring it."""
    by_largest_io = need.sustained_throughput_mib_s * KIB_PER_MIB / kind.io_kib if kind.io_kib else 0.0
    iops = max(need.iops, need.sustained_iops, by_largest_io)
    throughput_mib_s = max(need.throughput_mib_s, need.sustained_throughput_mib_s)
    if isinstance(kind.iops, FromThroughput):
        throughput_mib_s = max(throughput_mib_s, kind.iops.least_throughput(iops))
    if isinstance(kind.throughput, Provisioned):
        sold = kind.throughput
        bought = sold.most if throughput_mib_s > sold.most else max(sold.least, whole(throughput_mib_s))
        iops = max(iops, bought / sold.per_iops)
    elif isinstance(kind.throughput, FromIops):
        iops = max(iops, kind.throughput.least_iops(throughput_mib_s))
    return iops, throughput_mib_s


@lru_cache(maxsize=16384)
def fitted_on_grid(
    kind: VolumeType, size_gib: int, need: Need, steps: tuple[int, int], *, grows: bool = False
) -> VolumeSpec:
    """The smallest spec that answers a need, or the largest sold if that is less, in such steps of IOPS and MiB/s.

    `grows`: it may have a larger size, where that is what lets so many IOPS be bought.
    """
    sized = size_for(kind, size_gib, need) if grows else size_gib
    return on_grid(kind, fitted(kind, sized, need), steps)


def size_for(kind: VolumeType, size_gib: int, need: Need) -> int:
    """The least size, from a size on, at which a type sells the figures that a need takes."""
    least_gib = size_gib
    for sold, asked in zip((kind.iops, kind.throughput), _asked(kind, need), strict=True):
        if isinstance(sold, Provisioned) and asked > sold.most_at(size_gib):
            least_gib = max(least_gib, math.ceil(min(asked, sold.most) / sold.per_gib - ROUNDING))
    return max(size_gib, min(least_gib, kind.most_size_gib))


def _within(sold: Provisioned, needed: float, size_gib: int) -> int:
    """What is needed, in whole units, or the nearest that is sold at that size."""
    most = sold.most_at(size_gib)
    return most if needed > most else max(sold.least_at(size_gib), whole(needed))


def on_grid(kind: VolumeType, spec: VolumeSpec, steps: tuple[int, int]) -> VolumeSpec:
    """A spec in the steps of figures that people use, rounded up; the least and the most sold stay what they are."""
    iops = throughput = 0.0
    if spec.iops is not None and isinstance(kind.iops, Provisioned) and spec.iops > kind.iops.least_at(spec.size_gib):
        iops = _up(spec.iops, steps[0])
    if spec.throughput_mib_s is not None and isinstance(kind.throughput, Provisioned):
        least = kind.throughput.least_at(spec.size_gib, spec.iops or 0.0)
        throughput = _up(spec.throughput_mib_s, steps[1]) if spec.throughput_mib_s > least else least
    return fitted(kind, spec.size_gib, Need(iops=max(iops, spec.iops or 0.0), throughput_mib_s=throughput))


def _up(figure: float, step: int) -> int:
    return math.ceil(figure / step) * step


def whole(figure: float) -> int:
    """A figure rounded up to what can be provisioned: whole IOPS and whole MiB/s."""
    return math.ceil(figure - ROUNDING)


def ceiling_on_hosts(
    kind: VolumeType, spec: VolumeSpec, volume: Volume, failed: Sequence[FailedMeasurement] = ()
) -> Ceiling:
    """The spec's published ceiling on the volume's hosts, and no more than is believed by what failed."""
    return ceiling_on(kind, spec, volume.hosts, failed, all_known=len(volume.hosts) == len(volume.attachments))


def ceiling_on(
    kind: VolumeType,
    spec: VolumeSpec,
    hosts: Sequence[Host],
    failed: Sequence[FailedMeasurement] = (),
    *,
    all_known: bool,
) -> Ceiling:
    """The spec's published ceiling, with no more than its hosts let volumes of the type carry, and no more IOPS than
    the type gives on older hosts. Nothing is capped where one of the hosts has no cap of the type, or is not known."""
    if spec.iops is not None and spec.iops > kind.older_host_iops and not all(host.nitro for host in hosts):
        spec = replace(spec, iops=int(kind.older_host_iops))
    ceiling = believed(kind.ceiling(spec), failed)
    caps = [host.cap(kind.name) for host in hosts]
    known = [cap for cap in caps if cap is not None and cap is not UNBOUNDED]
    if not known or not all_known or len(known) < len(hosts):
        return ceiling
    return ceiling & sum(known[1:], start=known[0])


def unsuited(volume: Volume, kind: VolumeType, market: Market, policy: Policy) -> Iterator[str]:
    """Why this type is not for this volume, whatever the demand."""
    zones = market.types[volume.spec.type].zones
    if kind.zones != zones:
        yield f"{kind.name} is kept in {_zones(kind.zones)}, the volume is in {_zones(zones)}"
    if not kind.sold:
        yield f"{kind.name} is of a previous generation"
    if kind.name != volume.spec.type and not _is_target(kind, policy):
        yield f"{kind.name} is not among the policy's target_types"
    if not kind.least_size_gib <= volume.spec.size_gib <= kind.most_size_gib:
        yield f"{kind.name} comes from {kind.least_size_gib:,} to {kind.most_size_gib:,} GiB"
    yield from impossible(volume, kind)
    if policy.latency_floor is not None and kind.latency < policy.latency_floor:
        floor = LATENCY_WORDS[policy.latency_floor]
        yield f"{kind.name} answers in {LATENCY_WORDS[kind.latency]}, the policy wants {floor}"
    if kind.durability_pct < policy.durability_floor_pct:
        yield f"{kind.name} is {kind.durability_pct:g} % durable, the policy wants {policy.durability_floor_pct:g} %"
    if kind.name not in market.book.types:
        yield f"there is no price for {kind.name} in {volume.region}"


def _is_target(kind: VolumeType, policy: Policy) -> bool:
    """Whether volumes may become that type: one that the policy names, or one that is meant for it if none is named."""
    return kind.name in policy.target_types if policy.target_types else kind.target


def _zones(count: int) -> str:
    return "one zone" if count == 1 else f"{count} zones"


def impossible(volume: Volume, kind: VolumeType) -> Iterator[str]:
    """What this volume is used for that the type cannot do."""
    if kind.name != volume.spec.type:
        for host in volume.hosts:
            if host.cap(kind.name) is None:
                yield (
                    f"{kind.name} cannot be attached to {host.type}"
                    if host.caps
                    else f"it is not known what {host.type} carries of {kind.name}"
                )
    if volume.boot and not kind.boots:
        yield f"{kind.name} cannot be a boot volume"
    if len(volume.attachments) > 1 and not kind.multi_attach:
        yield f"{kind.name} cannot be attached to several hosts"


def failed_for(volume: Volume, kind: VolumeType, spec: VolumeSpec, market: Market) -> tuple[FailedMeasurement, ...]:
    """What failed of a type where the volume is; nothing for what the volume has, which its own metrics show."""
    return () if spec == volume.spec else market.failed(volume, kind.name)


def too_slow(volume: Volume, ceiling: Ceiling, failed: Iterable[FailedMeasurement]) -> tuple[FailedMeasurement, ...]:
    """What failed that answered too late for the volume, in the class of an offer."""
    return tuple(one for one in failed if one.is_too_slow(ceiling, volume.id))


def refused_by(failed: Iterable[FailedMeasurement]) -> Iterator[str]:
    """Why an offer is refused by what was measured here."""
    yield from (f"{CODE}: {one.text}" for one in failed)


def too_small(name: str, ceiling: Ceiling, need: Need) -> Iterator[str]:
    """Where the ceiling stays under the need."""
    if ceiling.iops < need.iops - ROUNDING:
        yield _short(name, "IOPS", ceiling.iops, need.iops)
    if need.sustained_iops and ceiling.sustained_iops < need.sustained_iops - ROUNDING:
        yield _short(name, "IOPS sustained", ceiling.sustained_iops, need.sustained_iops)
    if ceiling.throughput_mib_s < need.throughput_mib_s - ROUNDING:
        yield _short(name, "MiB/s", ceiling.throughput_mib_s, need.throughput_mib_s)
    if need.sustained_throughput_mib_s:
        sustained_mib_s = ceiling.sustained_throughput_mib_s
        if sustained_mib_s < need.sustained_throughput_mib_s - ROUNDING:
            yield _short(name, "MiB/s sustained", sustained_mib_s, need.sustained_throughput_mib_s)


def _short(name: str, unit: str, carried: float, needed: float) -> str:
    return f"{name} carries {carried:,.0f} {unit}, needed are {needed:,.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLimits:
    """What a same-limits replacement keeps: `ceiling`, on the volume's hosts or, `anywhere`, as it is published.

    `by_host`: its hosts' maximum takes something from it.
    """

    ceiling: Ceiling
    anywhere: bool = False
    by_host: bool = False


def all_limits(volume: Volume, kind: VolumeType, present: Ceiling) -> KeptLimits:
    """All limits of a volume, whatever host it is on. Caps of a type by the host are limits of the volume."""
    if any(host.caps is not None for host in volume.hosts):
        return KeptLimits(ceiling=present)
    return KeptLimits(ceiling=kind.ceiling(volume.spec), anywhere=True)


def kept_limits(volume: Volume, kind: VolumeType, present: Ceiling, hosts: Ceiling, *, may_move: bool) -> KeptLimits:
    """The limits that a volume can use on hosts that carry so much, all of them where it `may_move` to others.

    Caps of a type by the host are limits of the volume already.
    """
    if may_move or any(host.caps is not None for host in volume.hosts):
        return all_limits(volume, kind, present)
    most = present.counted_as(hosts.accounting)
    if not any(too_small("", hosts, Need(iops=most.iops, throughput_mib_s=most.throughput_mib_s))):
        return KeptLimits(ceiling=present)
    return KeptLimits(ceiling=present & replace(hosts, buckets=()), by_host=True)
