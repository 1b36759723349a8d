"""Evidence: what stands behind an offer besides its published limits.

A measurement stands behind an offer on a resource (IOPS, or throughput) when

- it is of the same provider and volume type, on one volume, and its source says enough to know what was bought;
- what it showed lies under the offer's own ceiling, 10 % allowed because short runs overshoot: a larger configuration
  proves nothing above it;
- it delivered at least the need on that resource, counted no higher than the envelope's roof, which published limits
  have cut, and not higher than the host let through.

With both resources proven by measurements of this account and region that are young enough the grade is A; with both
proven by any measurements B; otherwise C, and the text says which side rests on published limits alone. Of several
measurements the one that shows the least above the need stands, then the newest, then the first by name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum
from typing import Final

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.envelope import Envelope, Measurement

OVERSHOOT: Final = 1.1
"""Short runs show up to 10 % more than what is provisioned (campaign aws-gp3-io2-2020)."""


class Grade(IntEnum):
    """How sure: C published limits alone, B measured elsewhere or longer ago, A measured here lately."""

    C = 1
    B = 2
    A = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and when an offer would live, and how old a measurement there may be."""

    provider: str
    account: str
    region: str
    today: date
    max_age_days: int

    def is_here(self, measurement: Measurement) -> bool:
        """Whether it was measured in this account and region, lately enough."""
        made = measurement.provenance
        if made.measured_on is None or (made.account, made.region) != (self.account, self.region):
            return False
        return (self.today - made.measured_on).days <= self.max_age_days


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What stands behind an offer: the grade, the envelope that says most, and one plain sentence with figures."""

    grade: Grade
    envelope: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proof:
    envelope: Envelope
    measurement: Measurement
    shown: float
    here: bool


def evidence_for(
    type_name: str,
    ceiling: Ceiling,
    *,
    need_iops: float,
    need_throughput_mib_s: float,
    envelopes: Sequence[Envelope],
    place: Place,
) -> Evidence:
    """The evidence for an offer of a type with that ceiling, and a need of so many IOPS and MiB/s."""
    alike = [one for one in envelopes if _is_alike(one, type_name, place.provider)]
    iops = _best(_proofs(alike, ceiling, Resource.IOPS, need_iops, place))
    throughput = _best(_proofs(alike, ceiling, Resource.THROUGHPUT, need_throughput_mib_s, place))
    if iops is None and throughput is None:
        return Evidence(grade=Grade.C, envelope=None, text="published limits alone: nothing like it has been measured.")
    if iops is None or throughput is None:
        proof, side, other = (iops, "IOPS", "throughput") if iops else (throughput, "throughput", "IOPS")
        name = proof.envelope.name if proof else None
        shown = _told(proof, side) if proof else ""
        return Evidence(grade=Grade.C, envelope=name, text=f"{shown}; its {other} rests on published limits alone.")
    grade = Grade.A if iops.here and throughput.here else Grade.B
    text = f"{_told(iops, 'IOPS')}; {_told(throughput, 'throughput')}."
    return Evidence(grade=grade, envelope=iops.envelope.name, text=text)


def _is_alike(envelope: Envelope, type_name: str, provider: str) -> bool:
    same = (envelope.provider, envelope.spec.type, envelope.volumes) == (provider, type_name, 1)
    return same and envelope.published is not None


def _proofs(
    envelopes: Sequence[Envelope], ceiling: Ceiling, resource: Resource, need: float, place: Place
) -> Iterator[_Proof]:
    for envelope in envelopes:
        roof = envelope.iops if resource is Resource.IOPS else envelope.throughput_mib_s
        for one in envelope.measurements:
            under = one.iops <= OVERSHOOT * ceiling.iops
            under = under and one.throughput_mib_s <= OVERSHOOT * ceiling.throughput_mib_s
            shown = one.iops if resource is Resource.IOPS else one.throughput_mib_s
            counted = shown if roof is None else min(shown, roof)
            if under and counted >= need and not one.rejected(resource.value):
                yield _Proof(envelope=envelope, measurement=one, shown=shown, here=place.is_here(one))


def _best(proofs: Iterator[_Proof]) -> _Proof | None:
    def rank(proof: _Proof) -> tuple[bool, float, int, str]:
        on = proof.measurement.provenance.measured_on
        return (not proof.here, proof.shown, -on.toordinal() if on else 0, proof.envelope.name)

    return min(proofs, key=rank, default=None)


def _told(proof: _Proof, side: str) -> str:
    one, unit = proof.measurement, "IOPS" if side == "IOPS" else "MiB/s"
    when = f", {one.provenance.measured_on:%Y-%m}" if one.provenance.measured_on else ""
    where = f" on {one.host_type}" if one.host_type else ""
    job = f"{one.job.mode} of {one.job.block_kib:g} KiB"
    source = f"{one.provenance.tool} ({proof.envelope.name}, {job}{where}{when})"
    return f"{side}: {proof.shown:,.0f} {unit} measured by {source}"
