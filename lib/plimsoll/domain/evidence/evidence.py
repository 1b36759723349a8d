"""Evidence: what stands behind an offer besides its published limits.

A measurement stands behind an offer on a resource (IOPS, or throughput) when

- it is of the same provider and volume type, on one volume (not a stripe), and its source says enough to know what was
  bought;
- the rules of admissibility let that figure count (no page cache, no merged I/O, no engine without a device);
- what it showed, on both resources, lies under the offer's own ceiling, 10 % allowed because short runs overshoot: a
  larger configuration proves nothing above it (where a host lets less through than the offer publishes by itself, its
  ceiling is that without the host);
- it delivered the need on that resource, to 2 %, counted no higher than the envelope's roof, the volume's published
  ceiling and the host's maximum;
- where the offer itself has credits, what it carries without them was seen as well, by a run that spent them.

With both resources proven by measurements of this account and region that are young enough, and of which nothing that
matters is unknown, the grade is A; with both proven by any measurements B; otherwise C, and the text says which side
rests on published limits alone. Of several measurements those made here stand first, then the one that counts for most,
then those of the closest configuration (the smallest sum of the logarithms of the two ratios between its published
ceiling and the offer's), then the newest, then the first by envelope name. docs/evidence.md has the rule with examples.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from plimsoll.domain.ceiling import RESOURCES, Ceiling, Resource
from plimsoll.domain.evidence.envelope import DELIVERED, Admission, Envelope, Measurement, cost_of
from plimsoll.domain.evidence.grade import Grade
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


ZONES_DAYS: Final = 1
"""Time zones differ by so much: what is dated later than tomorrow has a wrong date."""


def is_lately(on: date, today: date, max_age_days: int) -> bool:
    """Whether a day is young enough, and no day of the future."""
    return -ZONES_DAYS <= (today - on).days <= max_age_days


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
        return self.is_lately(made.measured_on)

    def is_lately(self, on: date) -> bool:
        """Whether a day is young enough."""
        return is_lately(on, self.today, self.max_age_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What stands behind an offer: the grade, the envelope that says most, and one plain sentence with figures.

    `covers` are the resources that measurements prove, `measurements` those that do (in the same order), and
    `age_days` the age of the oldest of them, None where nothing is proven or its date is not known. Any greater need up
    to `holds_iops` and `holds_throughput_mib_s` has the same evidence (infinite where nothing is proven: nor would
    more be).
    """

    grade: Grade
    envelope: str | None
    text: str
    covers: tuple[Resource, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    age_days: int | None = None
    holds_iops: float = math.inf
    holds_throughput_mib_s: float = math.inf

    @property
    def sources(self) -> tuple[str, ...]:
        """The places where the measurements were published, each once."""
        return tuple(dict.fromkeys(measurement.provenance.reference for measurement in self.measurements))


Rankings = dict[tuple[str, Ceiling, Place], tuple[list[Proof], ...]]
"""What stands behind offers of a type with a ceiling at a place, on IOPS and on throughput, best first."""

MOST_RANKINGS: Final = 1024


def evidence_for(
    type_name: str,
    ceiling: Ceiling,
    *,
    need_iops: float,
    need_throughput_mib_s: float,
    envelopes: Sequence[Envelope],
    place: Place,
    own: Ceiling | None = None,
    rankings: Rankings | None = None,
) -> Evidence:
    """The evidence for an offer of a type with that ceiling, and a need of so many IOPS and MiB/s.

    `own` is the offer's ceiling without its host, where it has credits: then what lasts has to be proven as well.
    `rankings` keeps what the same envelopes say of an offer, so that it is ranked once for all needs.
    """
    kept = {} if rankings is None else rankings
    key = (type_name, ceiling, place)
    ranked = kept.get(key)
    if ranked is None:
        alike = [one for one in envelopes if is_alike(one, type_name, place.provider)]
        ranked = tuple(sorted(proofs_of(alike, ceiling, resource, place.is_here), key=rank) for resource in RESOURCES)
        if len(kept) >= MOST_RANKINGS:
            kept.clear()
        kept[key] = ranked
    needs = (need_iops, need_throughput_mib_s)
    found = [best_of(proofs, need, lasts) for proofs, need, lasts in zip(ranked, needs, lasts_of(own), strict=True)]
    return _for([one for one in found if one is not None], place)


def _for(best: Sequence[Best], place: Place) -> Evidence:
    """What the proofs alone make."""
    proven = [one.highest for one in best]
    if not proven:
        return Evidence(grade=Grade.C, envelope=None, text="published limits alone: nothing like it has been measured.")
    return Evidence(
        grade=_grade(best),
        envelope=proven[0].envelope.name,
        text=_text(best),
        covers=tuple(proof.resource for proof in proven),
        measurements=tuple(proof.measurement for proof in proven),
        age_days=_age_days(proven, place.today),
        holds_iops=_holds(best, Resource.IOPS),
        holds_throughput_mib_s=_holds(best, Resource.THROUGHPUT),
    )


LOCAL: Final = "local"
"""The provider of what `plimsoll benchmark` measured on the machine itself, unless told of a cloud."""


def best_grade(envelope: Envelope, today: date, max_age_days: int) -> Grade:
    """The best grade that an envelope's measurements can give anywhere: A in the account and region where they were
    made, or on this very machine, while they are young enough; B elsewhere and later, or where what matters is unknown;
    C where nothing of it counts."""
    if all(one.served(side) is None for one in envelope.measurements for side in RESOURCES):
        return Grade.C
    for one in envelope.measurements:
        made = one.provenance
        if not any(one.served(side) is not None and is_known(one, side) for side in RESOURCES):
            continue
        owned = made.account is not None and made.region is not None
        if made.measured_on is None or not (owned or made.provider == LOCAL):
            continue
        if is_lately(made.measured_on, today, max_age_days):
            return Grade.A
    return Grade.B


def _holds(best: Sequence[Best], resource: Resource) -> float:
    return min((one.holds for one in best if one.highest.resource is resource), default=math.inf)


def is_alike(envelope: Envelope, type_name: str, provider: str) -> bool:
    """Whether an envelope is of one volume of that type, of which is published what it should carry."""
    same = (envelope.provider, envelope.spec.type, envelope.volumes) == (provider, type_name, 1)
    return same and envelope.published is not None


def _grade(best: Sequence[Best]) -> Grade:
    if len(best) < len(Resource):
        return Grade.C
    return Grade.A if all(one.here for one in best) else Grade.B


def _age_days(proven: Sequence[Proof], today: date) -> int | None:
    made = [proof.measurement.provenance.measured_on for proof in proven]
    ages = [(today - on).days for on in made if on is not None]
    return max(ages) if len(ages) == len(made) else None


def _text(best: Sequence[Best]) -> str:
    told = "; ".join(f"{_told(one.highest)}{_sustained(one)}" for one in best)
    if len(best) == len(Resource):
        return f"{told}."
    other = "throughput" if best[0].highest.resource is Resource.IOPS else "IOPS"
    return f"{told}; its {other} rests on published limits alone."


def _sustained(one: Best) -> str:
    """What stands behind the need without credits, where that was asked for."""
    if one.lasting is None:
        return ""
    lasting, same = one.lasting, one.lasting.measurement is one.highest.measurement
    source = "" if same else f" ({lasting.measurement.provenance.cited})"
    return f", of which {lasting.lasting:,.0f} {lasting.resource.unit} are sustained{source}"


def _told(proof: Proof) -> str:
    one = proof.measurement
    name, unit = ("IOPS", "IOPS") if proof.resource is Resource.IOPS else ("throughput", "MiB/s")
    counted = f" (of which {proof.counted:,.0f} count)" if round(proof.counted) < round(proof.shown) else ""
    made = one.provenance
    when = f", {made.dated or f'{made.measured_on:%Y-%m}'}" if made.measured_on else ""
    where = f" on {one.host_type}" if one.host_type else ""
    job = f"{one.job.mode} of {one.job.block_kib:g} KiB"
    source = f"{made.tool} ({made.cited}, {job}{where}{when})"
    return f"{name}: {proof.shown:,.0f} {unit}{counted} measured by {source}"
