"""Evidence against: what was measured here lately, and carried less than is published.

It speaks against an offer of its type that needs more than was carried. A larger offer is believed to carry more in
proportion: what was half of what was promised is believed to be half of what a larger one promises. Figures count as
evidence against by the same rules as for it, and only where the volume was seen to be the limit:

- the envelope has a roof on that side that its host did not set;
- or the load was deep enough for all that is published and got less: four times the depth that is advised, which is
  one outstanding I/O for each 1,000 IOPS (docs/evidence.md names the source).

Where the type has burst credits, only less than it carries without them speaks against it. What Plimsoll measured for a
validation speaks by its verdict (`verdict`), and not here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import DELIVERED, Admission, BoundBy, Envelope, Measurement

DEPTH_A_1000_IOPS: Final = 4.0
LEAST_DEPTH: Final = 8
LEAST_IOPS: Final = 1_000.0
"""Types sold by less answer in tens of milliseconds, so that no depth shows that they were the limit."""

_AGAINST: Final = frozenset({Admission.COUNTS, Admission.BOUNDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """What an envelope carried on a resource here lately, of what is published of it."""

    resource: Resource
    envelope: Envelope
    carried: float
    published: float
    measured_on: date

    def holds(self, ceiling: Ceiling) -> float:
        """Up to which need an offer with that ceiling is believed to carry it."""
        offered = ceiling.iops if self.resource is Resource.IOPS else ceiling.throughput_mib_s
        return self.carried * max(1.0, offered / self.published) / DELIVERED

    @property
    def text(self) -> str:
        """What speaks against an offer, with figures."""
        host = f" on {self.envelope.host_type}" if self.envelope.host_type else ""
        unit = self.resource.unit
        return (
            f"measured here on {self.measured_on:%Y-%m-%d}{host}, {self.carried:,.0f} {unit} were all that a volume of "
            f"{self.published:,.0f} carried ({self.envelope.name})"
        )


def shortfalls(envelopes: Sequence[Envelope], is_here: Callable[[Measurement], bool]) -> tuple[Shortfall, ...]:
    """What these envelopes, all of one type, carried less than is published; `is_here`: measured here lately."""
    return tuple(found for one in envelopes for side in Resource for found in _of(one, side, is_here))


def _of(envelope: Envelope, side: Resource, is_here: Callable[[Measurement], bool]) -> Iterator[Shortfall]:
    published = envelope.published
    if published is None:
        return
    lasts = published.sustained_iops if side is Resource.IOPS else published.sustained_throughput_mib_s
    seen = [
        one
        for one in envelope.measurements
        if is_here(one) and not one.provenance.placed and one.bound_by is not BoundBy.LOAD
        if one.admission(side) in _AGAINST and envelope.in_reads(one, side) is not None
    ]
    carried = _carried(envelope, published, side, seen)
    days = [one.provenance.measured_on for one in seen if one.provenance.measured_on is not None]
    if carried is None or not days or carried >= DELIVERED * lasts:
        return
    yield Shortfall(resource=side, envelope=envelope, carried=carried, published=lasts, measured_on=max(days))


def _carried(envelope: Envelope, published: Ceiling, side: Resource, seen: Sequence[Measurement]) -> float | None:
    """What the volume carried at most where it was seen to be the limit; None where it was not."""
    if not seen or side.value in envelope.host_bound:
        return None
    roof = envelope.roof(side)
    if roof is not None:
        return max(roof, *(envelope.in_reads(one, side) or 0.0 for one in seen))
    host = envelope.host
    limits = published if host is None else published & host
    deep = [one for one in seen if _is_deep(one, published) and _side_at(limits, one.job.block_kib) is side]
    if host is not None and _of_side(host, side) < _of_side(published, side):
        return None
    return max((envelope.in_reads(one, side) or 0.0 for one in deep), default=None)


def _is_deep(one: Measurement, published: Ceiling) -> bool:
    """Whether so much was outstanding that all that is published could have been carried."""
    outstanding = (one.job.iodepth or 1) * (one.job.jobs or 1)
    if one.job.engine is None or published.iops < LEAST_IOPS:
        return False
    wanted = DEPTH_A_1000_IOPS * published.at(one.job.block_kib) / 1_000
    return outstanding >= max(LEAST_DEPTH, wanted)


def _side_at(limits: Ceiling, block_kib: float) -> Resource:
    """The side that limits I/O of that size."""
    by_iops = limits.iops * block_kib / 1_024
    return Resource.IOPS if by_iops <= limits.throughput_mib_s else Resource.THROUGHPUT


def _of_side(ceiling: Ceiling, side: Resource) -> float:
    return ceiling.iops if side is Resource.IOPS else ceiling.throughput_mib_s
