"""Proofs: what measurements show of an offer on one resource, and which of them proves a need."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.evidence.envelope import DELIVERED, Admission, Envelope, Measurement, cost_of
from plimsoll.domain.units import KIB_PER_MIB

OVERSHOOT: Final = 1.1
"""Short runs show up to 10 % more than what is provisioned (a published campaign on gp3 and io2, 2020)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A measurement that stands behind an offer on a resource: what it showed, how much of that counts, and how much of
    that is known to last. `here`: it can make grade A."""

    resource: Resource
    envelope: Envelope
    measurement: Measurement
    shown: float
    counted: float
    lasting: float
    here: bool
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """What proves a need on a resource: that it is reached, and (None: not asked) that as much lasts as the offer does
    without credits, `lasts` at most."""

    highest: Proof
    lasting: Proof | None = None
    lasts: float = math.inf

    @property
    def here(self) -> bool:
        """Whether it can make grade A."""
        return self.highest.here and (self.lasting is None or self.lasting.here)

    @property
    def since(self) -> date:
        """The day of the measurement that reached the need."""
        return self.highest.measurement.provenance.measured_on or date.min

    @property
    def holds(self) -> float:
        """Up to which need it is the same proof."""
        highest = self.highest.counted / DELIVERED
        if self.lasting is None or self.lasting.lasting / DELIVERED >= self.lasts:
            return highest
        return min(highest, self.lasting.lasting / DELIVERED)


def lasts_of(own: Ceiling | None) -> tuple[float, float]:
    """What an offer carries without credits; infinite on a resource for which it has none."""
    credited = set() if own is None else {bucket.resource for bucket in own.buckets}
    return (
        own.sustained_iops if own is not None and Resource.IOPS in credited else math.inf,
        own.sustained_throughput_mib_s if own is not None and Resource.THROUGHPUT in credited else math.inf,
    )


def is_known(one: Measurement, side: Resource) -> bool:
    """Whether nothing that matters for that side's figure is unknown."""
    return one.admission(side) is not Admission.UNKNOWN


def proofs_of(
    envelopes: Sequence[Envelope], ceiling: Ceiling, resource: Resource, is_here: Callable[[Measurement], bool]
) -> Iterator[Proof]:
    """What measurements of an offer's type show of it on a resource; `is_here`: made where it would live, lately."""
    for envelope in envelopes:
        distance = _distance(envelope.published, ceiling)
        most = most_of(envelope, resource)
        for one in envelope.measurements:
            shown, in_reads = one.served(resource), envelope.in_reads(one, resource)
            if shown is None or in_reads is None or not _lies_under(one, ceiling):
                continue
            yield Proof(
                resource=resource,
                envelope=envelope,
                measurement=one,
                shown=shown,
                counted=min(in_reads, most),
                lasting=min(in_reads, most, one.lasting(resource) or 0.0),
                here=is_here(one) and is_known(one, resource),
                distance=distance,
            )


def most_of(envelope: Envelope, resource: Resource) -> float:
    """The most that a measurement of the envelope counts for: its roof, and what volume and host may carry."""
    limits = [
        limit.iops if resource is Resource.IOPS else limit.throughput_mib_s
        for limit in (envelope.published, envelope.host)
        if limit is not None
    ]
    roof = envelope.roof(resource)
    return min([*limits, *([] if roof is None else [roof])], default=math.inf)


def _lies_under(one: Measurement, ceiling: Ceiling) -> bool:
    """Whether all that the device served is within the offer; a side that a source leaves out follows from the I/O
    size, and one that a rule keeps out (merged I/O) is none of the device's."""
    mib = one.job.block_kib / KIB_PER_MIB
    iops = (one.throughput_mib_s or 0.0) / mib if one.iops is None else one.served(Resource.IOPS) or 0.0
    throughput_mib_s = iops * mib if one.throughput_mib_s is None else one.served(Resource.THROUGHPUT) or 0.0
    iops *= cost_of(ceiling, Resource.IOPS, one.job)
    throughput_mib_s *= cost_of(ceiling, Resource.THROUGHPUT, one.job)
    return iops <= OVERSHOOT * ceiling.iops and throughput_mib_s <= OVERSHOOT * ceiling.throughput_mib_s


def _distance(published: Ceiling | None, ceiling: Ceiling) -> float:
    """How far a configuration's published ceiling is from the offer's; infinite where a side is not published."""
    if published is None:
        return math.inf
    sides = ((published.iops, ceiling.iops), (published.throughput_mib_s, ceiling.throughput_mib_s))
    return sum(abs(math.log(one / other)) if 0 < one / other < math.inf else math.inf for one, other in sides)


def rank(proof: Proof) -> tuple[bool, float, float, int, str, str, float]:
    """The order of proofs: the first stands behind an offer."""
    one = proof.measurement
    on = one.provenance.measured_on
    newest = -on.toordinal() if on else 0
    return not proof.here, -proof.counted, proof.distance, newest, proof.envelope.name, one.job.mode, one.job.block_kib


def best_of(ranked: Sequence[Proof], need: float, lasts: float) -> Best | None:
    """The first that proves the need, and where the offer has credits, the first that proves what lasts of it."""
    highest = next((proof for proof in ranked if proof.counted >= DELIVERED * need), None)
    if highest is None or math.isinf(lasts):
        return None if highest is None else Best(highest=highest)
    lasting = next((proof for proof in ranked if proof.lasting >= DELIVERED * min(need, lasts)), None)
    return None if lasting is None else Best(highest=highest, lasting=lasting, lasts=lasts)
