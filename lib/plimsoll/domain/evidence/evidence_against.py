"""Evidence against: envelopes of this place in which a volume carried less than is published.

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
from plimsoll.domain.evidence.evidence import Place, is_alike, is_known, most_counted
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement

DEPTH_A_1000_IOPS: Final = 4.0
LEAST_DEPTH: Final = 8
LEAST_IOPS: Final = 1_000.0
"""Types sold by less answer in tens of milliseconds, so that no depth shows that they were the limit."""

_AGAINST: Final = frozenset({Admission.COUNTS, Admission.BOUNDED})


def failed_measurements(
    place: Place, envelopes: Iterable[Envelope], by_validation: Iterable[FailedMeasurement]
) -> tuple[FailedMeasurement, ...]:
    """The failed measurements of a place lately, by verdicts of validations and by envelopes.

    Each has the figures that were measured there later.
    """
    here = [failed for failed in envelopes if any(place.is_here(measurement) for measurement in failed.measurements)]
    failures = [
        failed
        for failed in by_validation
        if (failed.account, failed.region) == (place.account, place.region) and place.is_lately(failed.measured_on)
    ]
    failures += [
        failed
        for envelope in here
        if envelope.provider == place.provider
        for failed in _failures_of_envelope(envelope, place)
    ]
    return tuple(replace(failed, newer=_newer(failed, here, place)) for failed in failures)


def _newer(failed: FailedMeasurement, here: Sequence[Envelope], place: Place) -> dict[Resource, tuple[float, ...]]:
    """The figures of the type that were measured on a later day and are higher."""
    alike = [envelope for envelope in here if is_alike(envelope, failed.spec.type, place.provider)]
    return {
        side: tuple(
            sorted({seen for envelope in alike for seen in _lasting(envelope, side, failed, place) if seen > carried})
        )
        for side, carried in failed.delivered.items()
    }


def _lasting(envelope: Envelope, side: Resource, failed: FailedMeasurement, place: Place) -> Iterator[float]:
    for measurement in envelope.measurements:
        on, seen = measurement.provenance.measured_on, envelope.count_in_reads(measurement, side)
        if (
            seen is None
            or on is None
            or on <= failed.measured_on
            or not (place.is_here(measurement) and is_known(measurement, side))
        ):
            continue
        yield min(seen, most_counted(envelope, side), measurement.lasting(side) or 0.0)


def _failures_of_envelope(envelope: Envelope, place: Place) -> Iterator[FailedMeasurement]:
    published = envelope.published
    if published is None or envelope.volumes != 1:
        return
    shortfalls = [(side, short) for side in RESOURCES if (short := _short(envelope, published, side, place.is_here))]
    if shortfalls:
        yield FailedMeasurement(
            account=place.account,
            region=place.region,
            spec=envelope.spec,
            ceiling=published,
            measured_on=max(on for _, (_, on) in shortfalls),
            delivered={side: carried for side, (carried, _) in shortfalls},
            volume_id=None,
            source=envelope.reference,
            text="; ".join(_text(envelope, published, side, *short) for side, short in shortfalls),
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
    """The figure that fell short of the published one, and the day of its measurement; None if it did not."""
    seen = [
        measurement
        for measurement in envelope.measurements
        if is_here(measurement) and not measurement.provenance.placed and not measurement.held_back
        if measurement.admission(side) in _AGAINST and envelope.count_in_reads(measurement, side) is not None
    ]
    carried = _most_carried(envelope, published, side, seen)
    days = [
        measurement.provenance.measured_on for measurement in seen if measurement.provenance.measured_on is not None
    ]
    if carried is None or not days or carried >= DELIVERED * _lasts(published, side):
        return None
    return carried, max(days)


def _lasts(published: Ceiling, side: Resource) -> float:
    return published.sustained_iops if side is Resource.IOPS else published.sustained_throughput_mib_s


def _most_carried(envelope: Envelope, published: Ceiling, side: Resource, seen: Sequence[Measurement]) -> float | None:
    """The most that the volume carried where it was the limit; None if it was not."""
    if not seen or side.value in envelope.host_bound:
        return None
    roof = envelope.roof(side)
    full = [
        measurement for measurement in seen if measurement.io_in_flight is None or _keeps_full(measurement, published)
    ]
    if roof is not None and full:
        return max(roof, *(envelope.count_in_reads(measurement, side) or 0.0 for measurement in full))
    host = envelope.host
    limits = published if host is None else published & host
    deep = [
        measurement
        for measurement in seen
        if _is_deep(measurement, published) and _side_at(limits, measurement.job.block_kib) is side
    ]
    if host is not None and host.limit(side) < published.limit(side):
        return None
    return max((envelope.count_in_reads(measurement, side) or 0.0 for measurement in deep), default=None)


def _is_deep(measurement: Measurement, published: Ceiling) -> bool:
    """The I/O in flight was enough to carry all that is published."""
    return measurement.job.engine is not None and published.iops >= LEAST_IOPS and _keeps_full(measurement, published)


def _keeps_full(measurement: Measurement, published: Ceiling) -> bool:
    """At least four times the advised depth was in flight."""
    wanted = DEPTH_A_1000_IOPS * published.at(measurement.job.block_kib) / 1_000
    return (measurement.io_in_flight or 1) >= max(LEAST_DEPTH, wanted)


def _side_at(limits: Ceiling, block_kib: float) -> Resource:
    """The side that limits I/O of that size."""
    by_iops = limits.iops * block_kib / 1_024
    return Resource.IOPS if by_iops <= limits.throughput_mib_s else Resource.THROUGHPUT
