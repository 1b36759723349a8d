"""The fit: the roofline of a system, from what was measured on it.

Robust and plain: within each mode, the *plateau* of a side (IOPS or MiB/s) are the measurements within 10 % of the
best on that side, and the roof is the plateau's median, so that one lucky or unlucky run moves it little. A side is
reached only if the plateau says that something stopped it: two block sizes stand on it (IOPS that stay the same while
the I/O doubles, or MiB/s that stay the same while it halves), or it comes within 10 % of what is published for the
volume or its host. Otherwise the roof is unknown, and the best seen is only a lower bound.

Random modes decide where there are any, and of several modes the lowest roof, because a demand does not say which it
is. A roof above the published ceiling is cut to it, and said to be: short runs overshoot. A side whose roof stands at
the host's maximum, under the volume's published ceiling, is the host's, not the volume's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.envelope import Envelope, Measurement
from plimsoll.domain.units import mib_s_from_mb_s
from plimsoll.domain.volume_types import Provisioned, VolumeType
from plimsoll.envelopes.campaigns import System

PLATEAU = 0.9
"""A measurement is on a plateau from this share of the best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One side of the roofline, and what is published for it: by the volume's type, and by the host."""

    name: str
    volume: float
    host: float

    def of(self, measurement: Measurement) -> float:
        """The side's figure of a measurement."""
        return measurement.iops if self.name == "iops" else measurement.throughput_mib_s


def fit(system: System, types: Mapping[str, VolumeType]) -> Envelope:
    """The envelope of a system; `types` are the published volume types that may cut it."""
    published = _published(system, types)
    sides = _sides(system, published)
    roofs = {side.name: _roof(side, _usable(system, side.name)) for side in sides}
    cut = tuple(side.name for side in sides if (roofs[side.name] or 0.0) > side.volume)
    bound = tuple(side.name for side in sides if _is_hosts(side, roofs[side.name]))
    return Envelope(
        name=system.name,
        spec=system.spec,
        volumes=system.volumes,
        host_type=system.host_type,
        provider=system.provider,
        iops=_at_most(roofs["iops"], sides[0].volume),
        throughput_mib_s=_at_most(roofs["throughput"], sides[1].volume),
        measurements=system.measurements,
        published=published,
        cut=cut,
        host_bound=bound,
        notes=tuple(_notes(system, sides, roofs, cut, bound)),
    )


def _published(system: System, types: Mapping[str, VolumeType]) -> Ceiling | None:
    kind = types.get(system.spec.type)
    if kind is not None and _is_told(system, kind):
        ceiling = kind.ceiling(system.spec)
        return Ceiling(
            iops=ceiling.iops * system.volumes,
            throughput_mib_s=ceiling.throughput_mib_s * system.volumes,
            io_kib=ceiling.io_kib,
        )
    if system.published_iops is not None:
        return Ceiling(iops=system.published_iops, throughput_mib_s=math.inf)
    return None


def _is_told(system: System, kind: VolumeType) -> bool:
    """Whether the source says enough of the configuration to know its published ceiling."""
    if isinstance(kind.iops, Provisioned):
        return system.spec.iops is not None
    return system.spec.size_gib > 0


def _sides(system: System, published: Ceiling | None) -> tuple[_Side, _Side]:
    host_throughput = system.host_throughput_mb_s
    return (
        _Side(name="iops", volume=published.iops if published else math.inf, host=system.host_iops or math.inf),
        _Side(
            name="throughput",
            volume=published.throughput_mib_s if published else math.inf,
            host=math.inf if host_throughput is None else mib_s_from_mb_s(host_throughput),
        ),
    )


def _usable(system: System, side: str) -> list[list[Measurement]]:
    """The measurements that count on a side, by mode; random modes alone where there are any."""
    kept = [one for one in system.measurements if not one.rejected(side)]
    random = [one for one in kept if one.job.mode.startswith("rand")]
    modes: dict[str, list[Measurement]] = {}
    for one in random or kept:
        modes.setdefault(one.job.mode, []).append(one)
    return list(modes.values())


def _roof(side: _Side, modes: Sequence[Sequence[Measurement]]) -> float | None:
    found = [_plateau(side, measured) for measured in modes]
    reached = [roof for roof in found if roof is not None]
    return min(reached, default=None)


def _plateau(side: _Side, measured: Sequence[Measurement]) -> float | None:
    best = max(side.of(one) for one in measured)
    standing = [one for one in measured if side.of(one) >= PLATEAU * best]
    roof = median(side.of(one) for one in standing)
    sizes = {one.job.block_kib for one in standing}
    stopped = len(sizes) > 1 or any(roof >= PLATEAU * limit for limit in (side.volume, side.host))
    return roof if stopped else None


def _is_hosts(side: _Side, roof: float | None) -> bool:
    """Whether the host set the roof: it stands at the host's maximum or above it, short of the volume's."""
    return roof is not None and side.host < side.volume and roof >= PLATEAU * side.host and roof < side.volume


def _at_most(roof: float | None, published: float) -> float | None:
    return None if roof is None else min(roof, published)


def _notes(
    system: System,
    sides: Sequence[_Side],
    roofs: Mapping[str, float | None],
    cut: Sequence[str],
    bound: Sequence[str],
) -> list[str]:
    units = {"iops": "IOPS", "throughput": "MiB/s"}
    notes = [system.note] if system.note else []
    for side in sides:
        roof, unit = roofs[side.name], units[side.name]
        if side.name in cut and roof is not None:
            notes.append(f"measured {roof:,.0f} {unit}, cut to the published {side.volume:,.0f}: short runs overshoot")
        if side.name in bound:
            notes.append(
                f"{unit} are what the host {system.host_type} carries ({side.host:,.0f} at most), not the volume's"
            )
        if roof is None:
            notes.append(f"{unit} never reached a roof: the best seen is only a lower bound")
        if side.host < side.volume < math.inf and side.name not in bound:
            notes.append(
                f"no {system.host_type} can carry the volume's {side.volume:,.0f} {unit}: {side.host:,.0f} at most"
            )
    if any(one.job.runtime_s is not None and one.job.runtime_s <= SHORT_S for one in system.measurements):
        notes.append(f"runs of {SHORT_S:g} s or less overstate by 4 to 10 %")
    apart = sum(one.rejected_side is not None for one in system.measurements)
    if apart:
        notes.append(f"measurements kept but not fitted, because their figures are not the device's: {apart}")
    return notes


SHORT_S = 10.0
"""Runs up to this long are known to overshoot what is provisioned (campaign aws-gp3-io2-2020)."""
