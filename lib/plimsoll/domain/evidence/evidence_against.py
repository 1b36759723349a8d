"""Evidence against: what envelopes of this place carried less than is published.

Figures count as evidence against by the same rules as for it, and only where the volume was seen to be the limit:

- the load was deep enough for all that is published and got less: four times the depth that is advised, which is one
  outstanding I/O for each 1,000 IOPS (docs/evidence.md names the source);
- or nothing tells the depth, and the envelope has a roof on that side that its host did not set.

A load that was held back (a pause, a target of latency, a sync after writes, one I/O at a time in effect) speaks
against nothing, and a depth counts as far as Little's law shows that it was reached.

Where the type has burst credits, only less than it carries without them speaks against it. What Plimsoll measured for a
validation speaks by its verdict, and not here. `failed_measurement` says what both refuse.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from plimsoll.domain.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.domain.evidence.envelope import DELIVERED, Admission, Envelope, Measurement
from plimsoll.domain.evidence.evidence import Place, is_alike, is_known, most_of
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement

DEPTH_A_1000_IOPS: Final = 4.0
LEAST_DEPTH: Final = 8
LEAST_IOPS: Final = 1_000.0
"""Types sold by less answer in tens of milliseconds, so that no depth shows that they were the limit."""

_AGAINST: Final = frozenset({Admission.COUNTS, Admission.BOUNDED})


def failed_measurements(
    place: Place, envelopes: Iterable[Envelope], by_validation: Iterable[FailedMeasurement]
) -> tuple[FailedMeasurement, ...]:
    """What failed at a place lately, by the verdicts of validations and by the envelopes of whoever measured there,
    each with the figures that were measured there later."""
    here = [one for one in envelopes if any(place.is_here(measurement) for measurement in one.measurements)]
    found = [
        one
        for one in by_validation
        if (one.account, one.region) == (place.account, place.region) and place.is_lately(one.measured_on)
    ]
    found += [one for envelope in here if envelope.provider == place.provider for one in _of_envelope(envelope, place)]
    return tuple(replace(one, newer=_newer(one, here, place)) for one in found)


def _newer(failed: FailedMeasurement, here: Sequence[Envelope], place: Place) -> dict[Resource, tuple[float, ...]]:
    """What was measured of the type on a later day and carried more."""
    alike = [one for one in here if is_alike(one, failed.spec.type, place.provider)]
    return {
        side: tuple(sorted({seen for one in alike for seen in _lasting(one, side, failed, place) if seen > carried}))
        for side, carried in failed.delivered.items()
    }


def _lasting(envelope: Envelope, side: Resource, failed: FailedMeasurement, place: Place) -> Iterator[float]:
    for one in envelope.measurements:
        on, seen = one.provenance.measured_on, envelope.in_reads(one, side)
        if seen is None or on is None or on <= failed.measured_on or not (place.is_here(one) and is_known(one, side)):
            continue
        yield min(seen, most_of(envelope, side), one.lasting(side) or 0.0)


def _of_envelope(envelope: Envelope, place: Place) -> Iterator[FailedMeasurement]:
    published = envelope.published
    if published is None or envelope.volumes != 1:
        return
    found = [(side, short) for side in RESOURCES if (short := _short(envelope, published, side, place.is_here))]
    if found:
        yield FailedMeasurement(
            account=place.account,
            region=place.region,
            spec=envelope.spec,
            ceiling=published,
            measured_on=max(on for _, (_, on) in found),
            delivered={side: carried for side, (carried, _) in found},
            volume_id=None,
            source=envelope.reference,
            text="; ".join(_text(envelope, published, side, *short) for side, short in found),
        )


def _text(envelope: Envelope, published: Ceiling, side: Resource, carried: float, on: date) -> str:
    host = f" on {envelope.host_type}" if envelope.host_type else " on a host that nobody named"
    return (
        f"measured here on {on:%Y-%m-%d}{host}, {carried:,.0f} {side.unit} were all that a volume of "
        f"{_lasts(published, side):,.0f} carried ({envelope.cited})"
    )


def _short(
    envelope: Envelope, published: Ceiling, side: Resource, is_here: Callable[[Measurement], bool]
) -> tuple[float, date] | None:
    """What the volume carried, less than it should, and the day of that; None where it did not fall short."""
    seen = [
        one
        for one in envelope.measurements
        if is_here(one) and not one.provenance.placed and not one.held_back
        if one.admission(side) in _AGAINST and envelope.in_reads(one, side) is not None
    ]
    carried = _carried(envelope, published, side, seen)
    days = [one.provenance.measured_on for one in seen if one.provenance.measured_on is not None]
    if carried is None or not days or carried >= DELIVERED * _lasts(published, side):
        return None
    return carried, max(days)


def _lasts(published: Ceiling, side: Resource) -> float:
    return published.sustained_iops if side is Resource.IOPS else published.sustained_throughput_mib_s


def _carried(envelope: Envelope, published: Ceiling, side: Resource, seen: Sequence[Measurement]) -> float | None:
    """What the volume carried at most where it was seen to be the limit; None where it was not."""
    if not seen or side.value in envelope.host_bound:
        return None
    roof = envelope.roof(side)
    full = [one for one in seen if one.in_flight is None or _keeps_full(one, published)]
    if roof is not None and full:
        return max(roof, *(envelope.in_reads(one, side) or 0.0 for one in full))
    host = envelope.host
    limits = published if host is None else published & host
    deep = [one for one in seen if _is_deep(one, published) and _side_at(limits, one.job.block_kib) is side]
    if host is not None and host.limit(side) < published.limit(side):
        return None
    return max((envelope.in_reads(one, side) or 0.0 for one in deep), default=None)


def _is_deep(one: Measurement, published: Ceiling) -> bool:
    """Whether so much was outstanding that all that is published could have been carried."""
    return one.job.engine is not None and published.iops >= LEAST_IOPS and _keeps_full(one, published)


def _keeps_full(one: Measurement, published: Ceiling) -> bool:
    """Whether four times the depth was in flight that is advised for what is published."""
    wanted = DEPTH_A_1000_IOPS * published.at(one.job.block_kib) / 1_000
    return (one.in_flight or 1) >= max(LEAST_DEPTH, wanted)


def _side_at(limits: Ceiling, block_kib: float) -> Resource:
    """The side that limits I/O of that size."""
    by_iops = limits.iops * block_kib / 1_024
    return Resource.IOPS if by_iops <= limits.throughput_mib_s else Resource.THROUGHPUT
