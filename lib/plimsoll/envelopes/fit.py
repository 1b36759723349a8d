"""The fit: the roofline of a system, from what was measured on it.

Robust and plain. On each side (IOPS, MiB/s) and within each mode, the *plateau* are the measurements within 10 % of
the best on that side, and the mode's roof is the plateau's median. A mode reaches a side only if something is seen to
have stopped it there:

- two block sizes stand on the plateau: IOPS that stay the same while the I/O grows, MiB/s while it shrinks;
- or the plateau comes within 10 % of what is published for the volumes or their host;
- or, at a single block size, reads and writes stop within 2 % of each other, which two latencies would not: that is an
  IOPS limit up to 16 KiB and a throughput limit from 128 KiB; between, it may be either.

One measurement that stands alone above all others is left out as an outlier where the rest make a plateau. What the
load held back (too few I/Os outstanding) stands on no plateau, and what the device never served counts nowhere
(`admissibility`). IOPS come from the random modes where there are any, because sequential I/O is merged on its way.

The system's roof is the lowest of its modes', because a demand does not say which mode it is; where a write costs
another share of the ceiling than a read, roofs are counted in reads. It never exceeds the published ceiling of the
volumes or the maximum of the host: what was measured above is cut. A roof at the host's maximum, under the volumes'
ceiling, is the host's. A side that no mode reached has no roof, and the best seen is only a lower bound.

Volumes of a pooled type may be lent the share of others on their host: what they show above their own ceiling was
served, and cut, as long as the host can carry it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from plimsoll.decide.evidence import LOCAL
from plimsoll.envelopes.admissibility import judge_measurements
from plimsoll.envelopes.admissibility.device import DOUBTFUL
from plimsoll.envelopes.admissibility.rule import SystemLimits, side_of
from plimsoll.envelopes.admissibility.sweep import PLATEAU, SWEEP_EDGE, with_edges
from plimsoll.envelopes.campaigns import System
from plimsoll.model.ceiling import UNBOUNDED, Ceiling, Resource
from plimsoll.model.envelope import BoundBy, Envelope, Measurement, cost_in_reads
from plimsoll.model.market import FromThroughput, Provisioned, VolumeType
from plimsoll.model.units import mb_s_from_mib_s

SAME_LIMIT: Final = 0.98
"""Reads and writes that differ by less were stopped by one limit."""

SMALL_IO_KIB: Final = 16.0
LARGE_IO_KIB: Final = 128.0
"""A limit at a single block size up to SMALL_KIB is one of IOPS. From LARGE_KIB on it is one of throughput."""

SLOWER: Final = 0.9
"""A mode whose best is under this share of the roof gets a note."""

_LENT: Final = "other volumes of the type on the host lent their share"

Caps = Callable[[str, str], Ceiling | None]
"""The cap of all volumes of a type on a host, by host type and volume type. None if unknown."""

_Modes = Mapping[str, Sequence[Measurement]]


def no_caps(_host_type: str, _volume_type: str) -> None:
    """No host has a known cap."""


def fit_envelope(system: System, types: Mapping[str, VolumeType], caps: Caps = no_caps) -> Envelope:
    """The envelope of a system. Published volume `types` and the hosts' `caps` may cut it."""
    published, host = _published_ceiling(system, types), _host(system, caps)
    kind = types.get(system.spec.type)
    limits = SystemLimits(
        volume=published or UNBOUNDED,
        host=host or UNBOUNDED,
        host_baseline=system.host_baseline or UNBOUNDED,
        pooled=kind is not None and kind.pooled,
    )
    measurements = judge_measurements(system.measurements, limits)
    free = [measurement for measurement in measurements if not measurement.held_back]
    reached = {side: _mode_roofs(side, measurements, free, limits) for side in Resource}
    roofs = {side: min(modes.values(), default=None) for side, modes in reached.items()}
    below = {
        side: None if roof is None else min(roof, side_of(limits.joint_ceiling, side)) for side, roof in roofs.items()
    }
    measurements = with_edges(measurements, roofs)
    cut = tuple(side.value for side in Resource if roofs[side] != below[side])
    bound = tuple(side.value for side, roof in roofs.items() if _is_hosts(roof, side, limits))
    return Envelope(
        name=system.name,
        spec=system.spec,
        volumes=system.volumes,
        host_type=system.host_type,
        provider=system.provider,
        iops=below[Resource.IOPS],
        throughput_mib_s=below[Resource.THROUGHPUT],
        measurements=measurements,
        published=published,
        host=host,
        cut=cut,
        host_bound=bound,
        notes=tuple(envelope_notes(system, measurements, limits, reached, bound)),
    )


def _host(system: System, caps: Caps) -> Ceiling | None:
    """The ceiling of the host for volumes of the system's type. None if it is unknown."""
    cap = caps(system.host_type, system.spec.type) if system.host_type else None
    if cap is None or system.host_maximum is None:
        return cap or system.host_maximum
    return system.host_maximum & cap


def _published_ceiling(system: System, types: Mapping[str, VolumeType]) -> Ceiling | None:
    """The published ceiling of all the system's volumes. None if the source leaves out their spec."""
    kind = types.get(system.spec.type)
    if kind is not None and _is_told(system, kind):
        return _combined_ceiling(kind, system)
    if system.published_iops is not None:
        return Ceiling(iops=system.published_iops, throughput_mib_s=math.inf)
    return None


def _is_told(system: System, kind: VolumeType) -> bool:
    """True if a system tells the figure that its type's limits depend on."""
    if isinstance(kind.iops, Provisioned):
        return system.spec.iops is not None
    if isinstance(kind.iops, FromThroughput):
        return system.spec.throughput_mib_s is not None
    return system.spec.size_gib > 0


def _combined_ceiling(kind: VolumeType, system: System) -> Ceiling:
    """The ceiling of all the system's volumes. Volumes of a pooled type share that of their summed size."""
    if kind.pooled:
        return kind.ceiling(replace(system.spec, size_gib=system.spec.size_gib * system.volumes))
    ceiling = kind.ceiling(system.spec)
    return replace(
        ceiling,
        iops=ceiling.iops * system.volumes,
        throughput_mib_s=ceiling.throughput_mib_s * system.volumes,
        buckets=tuple(bucket.times(system.volumes) for bucket in ceiling.buckets),
    )


def _mode_roofs(
    side: Resource, measurements: Sequence[Measurement], free: Sequence[Measurement], limits: SystemLimits
) -> dict[str, float]:
    """The roof of each mode that reached a side, counted in reads. No load held the `free` measurements back."""
    modes = _modes(side, measurements)
    roofs = {mode: _plateau(side, seen, _limit(side, seen, limits)) for mode, seen in modes.items()}
    mode_roofs = {mode: roof for mode, roof in roofs.items() if roof is not None}
    mode_roofs = mode_roofs or _both_ways(side, _modes(side, free))
    return {mode: roof * cost_in_reads(limits.volume, side, modes[mode][0].job) for mode, roof in mode_roofs.items()}


def _limit(side: Resource, seen: Sequence[Measurement], limits: SystemLimits) -> float:
    return side_of(limits.joint_ceiling, side, writes=seen[0].job.is_write_only)


def _modes(side: Resource, measurements: Sequence[Measurement]) -> _Modes:
    """The measurements that count on a side, by mode."""
    kept = [
        measurement
        for measurement in measurements
        if measurement.served_figure(side) is not None and measurement.bound_by is not BoundBy.LOAD
    ]
    random = [measurement for measurement in kept if measurement.job.mode.startswith(("rand", "rnd"))]
    modes: dict[str, list[Measurement]] = {}
    for measurement in random if random and side is Resource.IOPS else kept:
        modes.setdefault(measurement.job.mode, []).append(measurement)
    return modes


def _plateau(side: Resource, seen: Sequence[Measurement], limit: float) -> float | None:
    """The roof that measurements stand at on a side, if need be without the best of them; None without one."""
    best = max(seen, key=lambda measurement: _figure(measurement, side))
    roof = _plateau_roof(side, seen, limit)
    if roof is not None:
        return roof
    return _plateau_roof(side, [measurement for measurement in seen if measurement is not best], limit)


def _plateau_roof(side: Resource, seen: Sequence[Measurement], limit: float) -> float | None:
    """The median of the measurements near the best; None if only one size shows it and no published limit is near."""
    best = max((_figure(measurement, side) for measurement in seen), default=0.0)
    standing = [measurement for measurement in seen if _figure(measurement, side) >= PLATEAU * best]
    if not standing:
        return None
    roof = median(_figure(measurement, side) for measurement in standing)
    # What a held-back load shows at two sizes is its latency: it reaches a roof by what is published alone.
    sizes = {measurement.job.block_kib for measurement in standing if not measurement.held_back}
    return roof if len(sizes) > 1 or roof >= PLATEAU * limit else None


def _both_ways(side: Resource, modes: _Modes) -> dict[str, float]:
    """Reads and writes of one block size that were stopped at the same figure."""
    best = {mode: max(seen, key=lambda measurement: _figure(measurement, side)) for mode, seen in modes.items()}
    reads = {mode: measurement for mode, measurement in best.items() if measurement.job.is_write_only is False}
    writes = {mode: measurement for mode, measurement in best.items() if measurement.job.is_write_only}
    roofs: dict[str, float] = {}
    for read, measurement in reads.items():
        for write, other in writes.items():
            low, high = sorted((_figure(measurement, side), _figure(other, side)))
            size_kib = measurement.job.block_kib
            tells = size_kib <= SMALL_IO_KIB if side is Resource.IOPS else size_kib >= LARGE_IO_KIB
            if tells and size_kib == other.job.block_kib and low >= SAME_LIMIT * high:
                roofs |= {read: _figure(measurement, side), write: _figure(other, side)}
    return roofs


def _figure(measurement: Measurement, side: Resource) -> float:
    return measurement.figure(side) or 0.0


def _is_hosts(roof: float | None, side: Resource, limits: SystemLimits) -> bool:
    host = side_of(limits.host, side)
    return roof is not None and host < side_of(limits.volume, side) and roof >= PLATEAU * host


def envelope_notes(
    system: System,
    measurements: Sequence[Measurement],
    limits: SystemLimits,
    reached: Mapping[Resource, Mapping[str, float]],
    host_bound: Sequence[str],
) -> Iterator[str]:
    """The envelope's notes, the most important first. `reached` are the uncut roofs by side and mode."""
    if system.note:
        yield system.note.strip()
    for side in Resource:
        yield from _side(side, system, limits, reached[side], side.value in host_bound)
        yield from _slower(side, measurements, reached[side])
    yield from _ruling_notes(measurements)


def _side(
    side: Resource, system: System, limits: SystemLimits, reached: Mapping[str, float], host_bound: bool
) -> Iterator[str]:
    """Yields the notes about one side of a fit: no roof, the host's limit, or a figure off the published one."""
    unit, volume, host = side.unit, side_of(limits.volume, side), side_of(limits.host, side)
    roof = min(reached.values(), default=None)
    if roof is None:
        yield f"{unit} never reached a roof: the best seen is only a lower bound"
    elif host_bound:
        most = _host_words(side, host)
        yield f"the host {system.host_type} set the {unit}, not the volume: measured {roof:,.0f}, {most}"
    elif roof > volume:
        why = _LENT if limits.pooled and roof > DOUBTFUL * volume else "short runs overshoot"
        yield f"measured {roof:,.0f} {unit}, cut to the published {volume:,.0f}: {why}"
    elif math.isinf(host) and roof < PLATEAU * volume < math.inf and system.provider != LOCAL:
        yield f"{unit} stopped at {roof:,.0f} of {volume:,.0f}: nothing is known of the host, which may have set that"
    if host < volume < math.inf:
        yield f"no {system.host_type} can carry the volume's {volume:,.0f} {unit}: {_host_words(side, host)}"


def _host_words(side: Resource, host: float) -> str:
    if side is Resource.IOPS:
        return f"its maximum is {host:,.0f}"
    return f"its maximum is {host:,.0f} ({mb_s_from_mib_s(host):,.10g} MB/s)"


def _slower(side: Resource, measurements: Sequence[Measurement], reached: Mapping[str, float]) -> Iterator[str]:
    """Yields a note for each mode that stayed below the IOPS roof of the others."""
    if side is not Resource.IOPS or not reached:
        return
    roof = min(reached.values())
    small = [
        measurement
        for measurement in measurements
        if measurement.job.block_kib <= SMALL_IO_KIB and measurement.served_figure(side) is not None
    ]
    for mode in dict.fromkeys(measurement.job.mode for measurement in small if measurement.job.mode not in reached):
        of_mode = [measurement for measurement in small if measurement.job.mode == mode]
        best = max(measurement.iops or 0.0 for measurement in of_mode)
        held = all(measurement.held_back for measurement in of_mode)
        if best < SLOWER * roof:
            why = "its load held it back" if held else "nothing shows what stopped it"
            yield f"{mode} was seen at {best:,.0f} {side.unit} at most: {why}"


def _ruling_notes(measurements: Sequence[Measurement]) -> Iterator[str]:
    """The texts of the rulings, each once with its count."""
    texts = [ruling.text for measurement in measurements for ruling in measurement.rulings if ruling.rule != SWEEP_EDGE]
    for text, count in Counter(texts).items():
        yield text if count in {1, len(measurements)} else f"{text} ({count} of {len(measurements)} results)"
