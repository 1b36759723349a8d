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
(`anomalies`). IOPS come from the random modes where there are any, because sequential I/O is merged on its way.

The system's roof is the lowest of its modes', because a demand does not say which mode it is. It never exceeds the
published ceiling of the volumes or the maximum of the host: what was measured above is cut. A roof at the host's
maximum, under the volumes' ceiling, is the host's. A side that no mode reached has no roof, and the best seen is only
a lower bound.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from plimsoll.domain.ceiling import UNBOUNDED, Ceiling, Resource, TokenBucket
from plimsoll.domain.envelope import BoundBy, Envelope, Measurement
from plimsoll.domain.volume_types import Provisioned, VolumeType
from plimsoll.envelopes.anomalies import Limits, judged, side_of
from plimsoll.envelopes.campaigns import System
from plimsoll.envelopes.notes import notes

PLATEAU: Final = 0.9
"""A measurement is on a plateau from this share of the best."""

SAME: Final = 0.98
"""Reads and writes that differ by less were stopped by one limit."""

SMALL_KIB: Final = 16.0
LARGE_KIB: Final = 128.0
"""Up to the one, a limit at a single block size is one of IOPS; from the other on, one of throughput."""

_Modes = Mapping[str, Sequence[Measurement]]


def fit(system: System, types: Mapping[str, VolumeType]) -> Envelope:
    """The envelope of a system; `types` are the published volume types that may cut it."""
    published = _published(system, types)
    limits = Limits(
        volume=published or UNBOUNDED,
        host=system.host_maximum or UNBOUNDED,
        host_baseline=system.host_baseline or UNBOUNDED,
    )
    measurements = judged(system.measurements, limits)
    reached = {side: _reached(side, measurements, limits) for side in Resource}
    roofs = {side: min(modes.values(), default=None) for side, modes in reached.items()}
    cut = tuple(side.value for side, roof in roofs.items() if roof is not None and roof > side_of(limits.both, side))
    bound = tuple(side.value for side, roof in roofs.items() if _is_hosts(roof, side, limits))
    return Envelope(
        name=system.name,
        spec=system.spec,
        volumes=system.volumes,
        host_type=system.host_type,
        provider=system.provider,
        iops=_at_most(roofs[Resource.IOPS], limits.both.iops),
        throughput_mib_s=_at_most(roofs[Resource.THROUGHPUT], limits.both.throughput_mib_s),
        measurements=measurements,
        published=published,
        host=system.host_maximum,
        cut=cut,
        host_bound=bound,
        notes=tuple(notes(system, measurements, limits, reached, bound)),
    )


def _published(system: System, types: Mapping[str, VolumeType]) -> Ceiling | None:
    """What is published for the system's volumes together, None where the source tells too little of them."""
    kind = types.get(system.spec.type)
    if kind is not None and _is_told(system, kind):
        return _together(kind.ceiling(system.spec), system.volumes)
    if system.published_iops is not None:
        return Ceiling(iops=system.published_iops, throughput_mib_s=math.inf)
    return None


def _is_told(system: System, kind: VolumeType) -> bool:
    if isinstance(kind.iops, Provisioned):
        return system.spec.iops is not None
    return system.spec.size_gib > 0


def _together(one: Ceiling, volumes: int) -> Ceiling:
    return Ceiling(
        iops=one.iops * volumes,
        throughput_mib_s=one.throughput_mib_s * volumes,
        io_kib=one.io_kib,
        buckets=tuple(
            TokenBucket(
                resource=bucket.resource,
                free_rate=bucket.free_rate * volumes,
                refill_rate=bucket.refill_rate * volumes,
                capacity=bucket.capacity * volumes,
                least_charge_mib=bucket.least_charge_mib,
            )
            for bucket in one.buckets
        ),
    )


def _reached(side: Resource, measurements: Sequence[Measurement], limits: Limits) -> dict[str, float]:
    """The roof of each mode that reached that side."""
    limit = side_of(limits.both, side)
    modes = _modes(side, measurements)
    found = {mode: roof for mode, seen in modes.items() if (roof := _plateau(side, seen, limit)) is not None}
    return found or _both_ways(side, modes)


def _modes(side: Resource, measurements: Sequence[Measurement]) -> _Modes:
    """The measurements that count on a side, by mode."""
    kept = [one for one in measurements if _counts(one, side)]
    random = [one for one in kept if one.job.mode.startswith(("rand", "rnd"))]
    modes: dict[str, list[Measurement]] = {}
    for one in random if random and side is Resource.IOPS else kept:
        modes.setdefault(one.job.mode, []).append(one)
    return modes


def _counts(one: Measurement, side: Resource) -> bool:
    return one.served(side) is not None and one.bound_by is not BoundBy.LOAD


def _plateau(side: Resource, seen: Sequence[Measurement], limit: float) -> float | None:
    best = max(seen, key=lambda one: _figure(one, side))
    found = _stands(side, seen, limit)
    return found if found is not None else _stands(side, [one for one in seen if one is not best], limit)


def _stands(side: Resource, seen: Sequence[Measurement], limit: float) -> float | None:
    best = max((_figure(one, side) for one in seen), default=0.0)
    standing = [one for one in seen if _figure(one, side) >= PLATEAU * best]
    if not standing:
        return None
    roof = median(_figure(one, side) for one in standing)
    sizes = {one.job.block_kib for one in standing}
    return roof if len(sizes) > 1 or roof >= PLATEAU * limit else None


def _both_ways(side: Resource, modes: _Modes) -> dict[str, float]:
    """Reads and writes of one block size that were stopped at the same figure."""
    best = {mode: max(seen, key=lambda one: _figure(one, side)) for mode, seen in modes.items()}
    reads = {mode: one for mode, one in best.items() if mode.endswith(("read", "rd"))}
    writes = {mode: one for mode, one in best.items() if mode.endswith(("write", "wr"))}
    found: dict[str, float] = {}
    for read, one in reads.items():
        for write, other in writes.items():
            low, high = sorted((_figure(one, side), _figure(other, side)))
            if one.job.block_kib == other.job.block_kib and low >= SAME * high and _tells(side, one.job.block_kib):
                found |= {read: _figure(one, side), write: _figure(other, side)}
    return found


def _tells(side: Resource, block_kib: float) -> bool:
    return block_kib <= SMALL_KIB if side is Resource.IOPS else block_kib >= LARGE_KIB


def _figure(one: Measurement, side: Resource) -> float:
    seen = one.figure(side)
    return 0.0 if seen is None else seen


def _is_hosts(roof: float | None, side: Resource, limits: Limits) -> bool:
    host = side_of(limits.host, side)
    return roof is not None and host < side_of(limits.volume, side) and roof >= PLATEAU * host


def _at_most(roof: float | None, limit: float) -> float | None:
    return None if roof is None else min(roof, limit)
