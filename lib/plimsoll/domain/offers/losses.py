"""Losses: what a volume has today beside its limits, and no more after a change of its configuration."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Need
from plimsoll.domain.offers.offer import LATENCY_WORDS, ROUNDING_UP
from plimsoll.domain.volume import VolumeSpec
from plimsoll.domain.volume_types import VolumeType


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
    need = Need.of_ceiling(present.counted_as(offered.accounting))
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


def published_cuts(now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType]) -> tuple[str, ...]:
    """The limits that are published lower of a configuration than of the present one, whatever host it is on."""
    if now == then or now.type not in types or then.type not in types:
        return ()
    return find_cuts(types[then.type].ceiling(then), types[now.type].ceiling(now))


def _type_losses(now: VolumeSpec, then: VolumeSpec, types: Mapping[str, VolumeType]) -> Iterator[Loss]:
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
