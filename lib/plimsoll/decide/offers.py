"""Offers: what could be bought instead, each with its ceiling, price, trial, losses, and why it is refused if it is.

Bundles: an offer of one type to each of the volumes that change together.

The most that a change can save, before anything is known of what a volume does.

Losses: what a volume has today beside its limits, and no more after a change of its configuration.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from plimsoll.decide.evidence import CODE, FailedMeasurement, believed_ceiling
from plimsoll.demand.trial import Trial, worst
from plimsoll.model.ceiling import NOTHING, UNBOUNDED, Ceiling, LatencyClass, Need, Resource
from plimsoll.model.errors import PolicyError
from plimsoll.model.market import FromIops, FromThroughput, PriceBook, Provisioned, VolumeType
from plimsoll.model.policy import OfferPurpose, Policy
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.model.volume import Host, Volume, VolumeSpec

ROUNDING_UP = 1e-6
"""Needs this little above a whole number are that number: the excess is floating-point noise."""

LATENCY_WORDS: Mapping[LatencyClass, str] = {
    LatencyClass.TENS_OF_MS: "tens of milliseconds",
    LatencyClass.SINGLE_DIGIT_MS: "single-digit milliseconds",
    LatencyClass.SUB_MS: "under a millisecond",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A configuration that can be bought: its ceiling, price, trial and the reasons against it.

    `usd_month` is None without a price, `tried` None if nothing was tried. `ceiling` is the published one on the
    volume's hosts, lowered to what measurements show. `failed` are the measurements against a smaller offer of the
    type, or against this one. `need` has the least figures that pass, as the ceiling counts. Ceiling, need and trial
    are those of the pool if the type is pooled, and `pool_gib` is the size of all in it (None: the spec's own).
    `staying` is the resource that keeps its present figure, because nothing sold of the present type has headroom on it
    (None: each has). `purpose` says what the need and its headroom are for.
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
    def judged_ceiling(self) -> Ceiling:
        """The ceiling that the offer is judged by: a resource that keeps its figure limits nothing."""
        return self.ceiling.without(self.staying)

    @property
    def feasible(self) -> bool:
        return not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One volume type for all volumes that change together: one offer for each, in their order."""

    kind: VolumeType
    offers: tuple[Offer, ...]

    @property
    def usd_month(self) -> float:
        """The cost of all offers together; infinite if one has no price."""
        return sum(math.inf if offer.usd_month is None else offer.usd_month for offer in self.offers)

    @property
    def feasible(self) -> bool:
        return all(offer.feasible for offer in self.offers)

    @property
    def tried(self) -> Trial:
        """The worst trial of any offer; infinite if one was not tried."""
        return worst(offer.tried or Trial(throttled_minutes=math.inf, longest_wait_s=math.inf) for offer in self.offers)

    @property
    def order(self) -> tuple[bool, float, int, float, str]:
        """The key that bundles are sorted by: feasible ones first, then the price, latency class and durability."""
        kind = self.kind
        return not self.feasible, self.usd_month, -kind.latency, -kind.durability_pct, kind.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """The market of a volume: a provider's published types, one region's prices, and measurements that failed there."""

    provider: str
    types: Mapping[str, VolumeType]
    book: PriceBook
    failed_measurements: tuple[FailedMeasurement, ...] = ()

    def failed(self, volume: Volume, type_name: str) -> tuple[FailedMeasurement, ...]:
        """The failed measurements of a type in the volume's account and region."""
        return tuple(
            measurement
            for measurement in self.failed_measurements
            if (measurement.account, measurement.region, measurement.spec.type)
            == (volume.account, volume.region, type_name)
        )


def check_types(policy: Policy, types: Collection[str]) -> None:
    """Checks the target types of a policy and its overrides.

    Raises PolicyError if one is unknown.
    """
    for each_policy in (
        policy,
        *(policy.apply_overrides({override.match.tag: override.match.value or ""}) for override in policy.overrides),
    ):
        for name in each_policy.target_types:
            if name not in types:
                known = ", ".join(sorted(types))
                raise PolicyError(f"policy key target_types names {name}, which is no volume type: it knows {known}.")


def bare_type_offer(kind: VolumeType, size_gib: int, book: PriceBook) -> Offer | None:
    """Makes the offer of a bare change to a type, with the figures that its price includes; None if it includes none.

    For gp3 these are 3,000 IOPS and 125 MiB/s.
    """
    match kind.iops, kind.throughput:
        case Provisioned(included=iops), Provisioned(included=throughput) if iops and throughput:
            spec = VolumeSpec(type=kind.name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput)
            ceiling, usd_month = kind.ceiling(spec), book.usd_month(spec)
            return Offer(spec=spec, ceiling=ceiling, usd_month=usd_month, tried=None, need=NOTHING)
        case _:
            return None


def fit_spec(kind: VolumeType, size_gib: int, need: Need) -> VolumeSpec:
    """The smallest spec of a type and size that meets a need; the largest sold if none does."""
    iops_needed, throughput_needed = figures_to_buy(kind, need)
    throughput: int | None = None
    if isinstance(kind.throughput, Provisioned):
        throughput = _clamp_figure(kind.throughput, throughput_needed, size_gib)
    if not isinstance(kind.iops, Provisioned):
        return VolumeSpec(type=kind.name, size_gib=size_gib, throughput_mib_s=throughput)
    iops = _clamp_figure(kind.iops, iops_needed, size_gib)
    if isinstance(kind.throughput, Provisioned) and throughput is not None:
        least, most = kind.throughput.least_at(size_gib, iops), kind.throughput.most_at(size_gib, iops)
        throughput = min(max(least, throughput), most)
    return VolumeSpec(type=kind.name, size_gib=size_gib, iops=iops, throughput_mib_s=throughput)


def figures_to_buy(kind: VolumeType, need: Need) -> tuple[float, float]:
    """The IOPS and MiB/s to buy of a type for a need; infinite if none suffice."""
    by_largest_io = need.sustained_throughput_mib_s * KIB_PER_MIB / kind.io_kib if kind.io_kib else 0.0
    iops = max(need.iops, need.sustained_iops, by_largest_io)
    throughput_mib_s = max(need.throughput_mib_s, need.sustained_throughput_mib_s)
    if isinstance(kind.iops, FromThroughput):
        throughput_mib_s = max(throughput_mib_s, kind.iops.least_throughput(max(0.0, iops - ROUNDING_UP)))
    if isinstance(kind.throughput, Provisioned):
        sold = kind.throughput
        bought = sold.most if throughput_mib_s > sold.most else max(sold.least, round_up(throughput_mib_s))
        iops = max(iops, bought / sold.per_iops)
    elif isinstance(kind.throughput, FromIops):
        iops = max(iops, kind.throughput.least_iops(max(0.0, throughput_mib_s - ROUNDING_UP)))
    return iops, throughput_mib_s


@lru_cache(maxsize=16384)
def fit_on_grid(
    kind: VolumeType,
    size_gib: int,
    need: Need,
    steps: tuple[int, int],
    *,
    grows: bool = False,
    present: VolumeSpec | None = None,
) -> VolumeSpec:
    """Fits the smallest spec that answers a need, or the largest sold, in `steps` of IOPS and MiB/s.

    `grows`: it may have a larger size, if that lets enough IOPS be bought. The figures of `present` are steps as well.
    """
    sized = size_for(kind, size_gib, need) if grows else size_gib
    return round_to_grid(kind, fit_spec(kind, sized, need), steps, present)


def size_for(kind: VolumeType, size_gib: int, need: Need) -> int:
    """The least size, from a given one on, at which a type sells the figures that a need takes."""
    least_gib = size_gib
    for sold, asked in zip((kind.iops, kind.throughput), figures_to_buy(kind, need), strict=True):
        if isinstance(sold, Provisioned) and asked > sold.most_at(size_gib):
            least_gib = max(least_gib, math.ceil(min(asked, sold.most) / sold.per_gib - ROUNDING_UP))
    return max(size_gib, min(least_gib, kind.most_size_gib))


def _clamp_figure(sold: Provisioned, needed: float, size_gib: int) -> int:
    """The needed figure in whole units, or the nearest that is sold at that size."""
    most = sold.most_at(size_gib)
    return most if needed > most else max(sold.least_at(size_gib), round_up(needed))


def round_to_grid(
    kind: VolumeType, spec: VolumeSpec, steps: tuple[int, int], present: VolumeSpec | None = None
) -> VolumeSpec:
    """Rounds a spec up to `steps` of IOPS and MiB/s.

    The least and the most sold are steps as well, and so are the figures of `present`.
    """
    iops = throughput = 0.0
    if spec.iops is not None and isinstance(kind.iops, Provisioned):
        least = kind.iops.least_at(spec.size_gib)
        iops = _round_up_to(spec.iops, steps[0], least, None if present is None else present.iops)
    if spec.throughput_mib_s is not None and isinstance(kind.throughput, Provisioned):
        least = kind.throughput.least_at(spec.size_gib, spec.iops or 0.0)
        held = None if present is None else present.throughput_mib_s
        throughput = _round_up_to(spec.throughput_mib_s, steps[1], least, held)
    return fit_spec(kind, spec.size_gib, Need(iops=max(iops, spec.iops or 0.0), throughput_mib_s=throughput))


def _round_up_to(figure: int, step: int, least: float, held: int | None) -> float:
    """The figure in steps, but no less than the least. The one that is held today is a step as well."""
    if figure <= least:
        return least
    rounded = math.ceil(figure / step) * step
    return held if held is not None and figure <= held < rounded else rounded


def round_up(figure: float) -> int:
    """The figure rounded up to what can be provisioned: whole IOPS and whole MiB/s."""
    return math.ceil(figure - ROUNDING_UP)


def ceiling_on_hosts(
    kind: VolumeType, spec: VolumeSpec, volume: Volume, failed: Sequence[FailedMeasurement] = ()
) -> Ceiling:
    """The ceiling of a spec on the volume's hosts, lowered to what failed measurements show."""
    return ceiling_on(kind, spec, volume.hosts, failed, all_known=len(volume.hosts) == len(volume.attachments))


def ceiling_on(
    kind: VolumeType,
    spec: VolumeSpec,
    hosts: Sequence[Host],
    failed: Sequence[FailedMeasurement] = (),
    *,
    all_known: bool,
) -> Ceiling:
    """The ceiling of a spec, capped by its hosts and lowered to what failed measurements show.

    Older hosts give fewer IOPS of some types. Hosts cap nothing if one of them has no cap of the type, or is unknown.
    """
    if spec.iops is not None and spec.iops > kind.older_host_iops and not all(host.nitro for host in hosts):
        spec = replace(spec, iops=int(kind.older_host_iops))
    ceiling = believed_ceiling(kind.ceiling(spec), failed)
    caps = [host.cap(kind.name) for host in hosts]
    known = [cap for cap in caps if cap is not None and cap is not UNBOUNDED]
    if not known or not all_known or len(known) < len(hosts):
        return ceiling
    return ceiling & sum(known[1:], start=known[0])


def find_unsuited(volume: Volume, kind: VolumeType, market: Market, policy: Policy) -> Iterator[str]:
    """Yields the reasons why a type is not for a volume, whatever its demand."""
    zones = market.types[volume.spec.type].zones
    if kind.zones != zones:
        yield f"{kind.name} is kept in {_zones(kind.zones)}, the volume is in {_zones(zones)}"
    if not kind.sold:
        yield f"{kind.name} is of a previous generation"
    if kind.name != volume.spec.type and not _is_target(kind, policy):
        yield f"{kind.name} is not among the policy's target_types"
    if not kind.least_size_gib <= volume.spec.size_gib <= kind.most_size_gib:
        yield f"{kind.name} comes from {kind.least_size_gib:,} to {kind.most_size_gib:,} GiB"
    yield from find_impossible_uses(volume, kind)
    if policy.latency_floor is not None and kind.latency < policy.latency_floor:
        floor = LATENCY_WORDS[policy.latency_floor]
        yield f"{kind.name} answers in {LATENCY_WORDS[kind.latency]}, the policy wants {floor}"
    if kind.durability_pct < policy.durability_floor_pct:
        yield f"{kind.name} is {kind.durability_pct:g} % durable, the policy wants {policy.durability_floor_pct:g} %"
    if kind.name not in market.book.types:
        yield f"there is no price for {kind.name} in {volume.region}"


def _is_target(kind: VolumeType, policy: Policy) -> bool:
    """The policy lets volumes become that type: it names it, or names none and the type is meant for it."""
    return kind.name in policy.target_types if policy.target_types else kind.target


def _zones(count: int) -> str:
    return "one zone" if count == 1 else f"{count} zones"


def find_impossible_uses(volume: Volume, kind: VolumeType) -> Iterator[str]:
    """Yields the uses of a volume that a type cannot serve: its hosts, booting, several attachments."""
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


def find_failed(volume: Volume, kind: VolumeType, spec: VolumeSpec, market: Market) -> tuple[FailedMeasurement, ...]:
    """The failed measurements of a type where the volume is; none for the present spec, which its own metrics show."""
    return () if spec == volume.spec else market.failed(volume, kind.name)


def find_too_slow(
    volume: Volume, ceiling: Ceiling, failed: Iterable[FailedMeasurement]
) -> tuple[FailedMeasurement, ...]:
    """The failed measurements that answered too late for the volume, in the class of an offer."""
    return tuple(measurement for measurement in failed if measurement.is_too_slow(ceiling, volume.id))


def refusals_by_measurements(failed: Iterable[FailedMeasurement]) -> Iterator[str]:
    """Yields the refusals by failed measurements, in words."""
    yield from (f"{CODE}: {measurement.text}" for measurement in failed)


def find_shortfalls(name: str, ceiling: Ceiling, need: Need) -> Iterator[str]:
    """Yields each limit of a ceiling that is below the need, in words. `name` is the spec's."""
    if ceiling.iops < need.iops - ROUNDING_UP:
        yield _shortfall_text(name, "IOPS", ceiling.iops, need.iops)
    if need.sustained_iops and ceiling.sustained_iops < need.sustained_iops - ROUNDING_UP:
        yield _shortfall_text(name, "IOPS sustained", ceiling.sustained_iops, need.sustained_iops)
    if ceiling.throughput_mib_s < need.throughput_mib_s - ROUNDING_UP:
        yield _shortfall_text(name, "MiB/s", ceiling.throughput_mib_s, need.throughput_mib_s)
    if need.sustained_throughput_mib_s:
        sustained_mib_s = ceiling.sustained_throughput_mib_s
        if sustained_mib_s < need.sustained_throughput_mib_s - ROUNDING_UP:
            yield _shortfall_text(name, "MiB/s sustained", sustained_mib_s, need.sustained_throughput_mib_s)


def is_reduction(offer: Offer, present: Ceiling) -> bool:
    """The offer carries less than the present ceiling on any side."""
    return any(find_shortfalls("", offer.ceiling, Need.from_ceiling(present.counted_as(offer.ceiling.accounting))))


def _shortfall_text(name: str, unit: str, carried: float, needed: float) -> str:
    return f"{name} carries {carried:,.0f} {unit}, needed are {needed:,.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLimits:
    """The limits that a same-limits replacement keeps.

    `ceiling` holds on the volume's hosts or, if `anywhere`, as published. `by_host`: the hosts' maximum lowers it.
    """

    ceiling: Ceiling
    anywhere: bool = False
    by_host: bool = False


def all_limits(volume: Volume, kind: VolumeType, present: Ceiling) -> KeptLimits:
    """The limits of a volume, whatever host it is on. A host's caps of a type are limits of the volume."""
    if any(host.caps is not None for host in volume.hosts):
        return KeptLimits(ceiling=present)
    return KeptLimits(ceiling=kind.ceiling(volume.spec), anywhere=True)


def kept_limits(volume: Volume, kind: VolumeType, present: Ceiling, hosts: Ceiling, *, may_move: bool) -> KeptLimits:
    """The limits that a volume can use on its present hosts, or all of them if it `may_move` to others.

    A host's caps of a type are limits of the volume already.
    """
    if may_move or any(host.caps is not None for host in volume.hosts):
        return all_limits(volume, kind, present)
    most = present.counted_as(hosts.accounting)
    if not any(find_shortfalls("", hosts, Need(iops=most.iops, throughput_mib_s=most.throughput_mib_s))):
        return KeptLimits(ceiling=present)
    return KeptLimits(ceiling=present & replace(hosts, buckets=()), by_host=True)


def most_saved_usd_month(volume: Volume, market: Market, policy: Policy) -> float:
    """The USD a month between the present price and the least price of a suitable type; 0 if prices are unknown."""
    now = market.book.usd_month(volume.spec)
    prices = (
        market.book.usd_month(fit_spec(kind, volume.spec.size_gib, NOTHING))
        for kind in market.types.values()
        if next(find_unsuited(volume, kind, market, policy), None) is None
    )
    least = min((price for price in prices if price is not None), default=None)
    return 0.0 if now is None or least is None else max(0.0, now - least)


class LossCode(StrEnum):
    """The kinds of loss, in the order in which they are listed."""

    LATENCY_CLASS = "latency-class"
    DURABILITY = "durability"
    CONSISTENCY = "consistency"
    NOT_KNOWN = "not-known"
    LARGER_HOST = "larger-host"
    CANNOT_SHRINK = "cannot-shrink"
    TAKEOVER = "takeover"


LOSS_WORDS: Final[Mapping[LossCode, str]] = {
    LossCode.LATENCY_CLASS: "latency",
    LossCode.DURABILITY: "durability",
    LossCode.CONSISTENCY: "consistency",
    LossCode.NOT_KNOWN: "what is known of its consistency",
    LossCode.LARGER_HOST: "speed on a larger host",
    LossCode.CANNOT_SHRINK: "the way back to a smaller size",
    LossCode.TAKEOVER: "room to take over from another volume",
}
"""Each loss in a few words."""

_UNPUBLISHED: Final = "not published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A property that a change gives up: as it is now, and as it would be then."""

    code: LossCode
    now: str
    then: str

    @property
    def text(self) -> str:
        return loss_text(self.code, self.now, self.then)


def loss_text(code: LossCode, now: str, then: str) -> str:
    """The loss in words, e.g. "durability (99.999 % now, 99.8 % then)"."""
    return f"{LOSS_WORDS[code]} ({now} now, {then} then)"


def find_losses(
    now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType], cuts: Collection[str] = ()
) -> tuple[Loss, ...]:
    """The losses of a change from one configuration to another, of published types.

    `cuts` are the limits that are lower than today's on the present hosts: these are no loss, but a reduction.
    """
    return (*_type_losses(now, then, types), *_host_losses(now, then, types, cuts), *_size_losses(now, then))


def takeover_loss(now: Ceiling, then: Ceiling) -> Loss:
    """The loss of a volume that is suspected to take over from a busier one, whatever its own demand is."""
    carried = (f"{ceiling.iops:,.0f} IOPS and {ceiling.throughput_mib_s:,.0f} MiB/s" for ceiling in (now, then))
    return Loss(code=LossCode.TAKEOVER, now=next(carried), then=next(carried))


def cuts_of(offered: Ceiling, present: Ceiling, usable: Ceiling) -> tuple[str, ...]:
    """The limits that a reduction has lower than the present volume; none if the offer has all that is usable today."""
    return find_cuts(offered, present) if find_cuts(offered, usable) else ()


def find_cuts(offered: Ceiling, present: Ceiling) -> tuple[str, ...]:
    """The limits that an offer has lower than the present volume: IOPS, MiB/s, both or none."""
    need = Need.from_ceiling(present.counted_as(offered.accounting))
    sides = (
        ("IOPS", offered.iops, need.iops, offered.sustained_iops, need.sustained_iops),
        (
            "MiB/s",
            offered.throughput_mib_s,
            need.throughput_mib_s,
            offered.sustained_throughput_mib_s,
            need.sustained_throughput_mib_s,
        ),
    )
    return tuple(
        unit
        for unit, most, needed, sustained, needed_sustained in sides
        if most < needed - ROUNDING_UP or sustained < needed_sustained - ROUNDING_UP
    )


def lowered_sides(offer: Offer, usable: Ceiling) -> tuple[bool, bool]:
    """The sides, (IOPS, MiB/s), on which an offer is lower than what can be used today.

    Demand that outgrows a limit that stays would do so today.
    """
    cuts = find_cuts(offer.ceiling, usable)
    return "IOPS" in cuts, "MiB/s" in cuts


def published_cuts(now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType]) -> tuple[str, ...]:
    """The limits that are published lower of a configuration than of the present one, whatever host it is on."""
    if now == then or now.type not in types or then.type not in types:
        return ()
    return find_cuts(types[then.type].ceiling(then), types[now.type].ceiling(now))


def _type_losses(now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[Loss]:
    """Yields the losses by a change of type: latency, durability, consistency; one that is not known for unknown
    types."""
    if now.type == then.type:
        return
    before, after = types.get(now.type), types.get(then.type)
    if before is None or after is None:
        yield Loss(code=LossCode.NOT_KNOWN, now=now.type, then=then.type)
        return
    if after.latency < before.latency:
        words = LATENCY_WORDS[before.latency], LATENCY_WORDS[after.latency]
        yield Loss(code=LossCode.LATENCY_CLASS, now=words[0], then=words[1])
    if after.durability_pct < before.durability_pct:
        shares = f"{before.durability_pct:g} %", f"{after.durability_pct:g} %"
        yield Loss(code=LossCode.DURABILITY, now=shares[0], then=shares[1])
    if after.delivers is None:
        yield Loss(code=LossCode.NOT_KNOWN, now=_consistency(before), then=_consistency(after))
    elif before.delivers is not None and _delivered_share(after) < _delivered_share(before):
        yield Loss(code=LossCode.CONSISTENCY, now=_consistency(before), then=_consistency(after))


def _host_losses(
    now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType], cuts: Collection[str]
) -> Iterator[Loss]:
    """Yields the limits that only the present hosts keep the volume from having."""
    for unit in published_cuts(now, then, types):
        if unit not in cuts:
            limits = [_limit(types[spec.type].ceiling(spec), unit) for spec in (now, then)]
            yield Loss(code=LossCode.LARGER_HOST, now=f"{limits[0]:,.0f} {unit}", then=f"{limits[1]:,.0f} {unit}")


def _size_losses(now: VolumeSpec, then: VolumeSpec) -> Iterator[Loss]:
    if then.size_gib > now.size_gib:
        yield Loss(code=LossCode.CANNOT_SHRINK, now=f"{now.size_gib:,} GiB", then=f"{then.size_gib:,} GiB")


def _limit(ceiling: Ceiling, unit: str) -> float:
    return ceiling.iops if unit == "IOPS" else ceiling.throughput_mib_s


def _delivered_share(kind: VolumeType) -> tuple[float, float]:
    return (kind.delivers.share_pct, kind.delivers.time_pct) if kind.delivers is not None else (0.0, 0.0)


def _consistency(kind: VolumeType) -> str:
    if kind.delivers is None:
        return _UNPUBLISHED
    return f"{kind.delivers.share_pct:g} % of its limits {kind.delivers.time_pct:g} % of the time"
