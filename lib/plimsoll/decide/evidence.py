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

Failed measurements: configurations that delivered less than is published, or answered too late, lately here.

This is the one rule by which a measurement refuses an offer, whoever made it: a validation by its verdict, or anything
else by its envelope (`evidence_against`). A larger offer of the type is believed to carry more in proportion: what was
half of what was promised is believed to be half of what a larger one promises. So an offer carries what is published of
it, and no more than what is believed. One that carries too little for the need is not offered (docs/evidence.md).

More need never brings back an offer that carried too little, since what an offer is believed to carry does not depend
on the need. What answered too late speaks against its class for that volume alone.

Evidence against: envelopes of this place in which a volume carried less than is published.

Figures count as evidence against by the same rules as for it, and only where the volume was seen to be the limit:

- the load was deep enough for all that is published and got less: four times the depth that is advised, which is one
  outstanding I/O for each 1,000 IOPS (docs/evidence.md names the source);
- or nothing tells the depth, and the envelope has a roof on that side that its host did not set.

A load that was held back (a pause, a target of latency, a sync after writes, one I/O at a time in effect) speaks
against nothing, and a depth counts as far as Little's law shows that it was reached.

Where the type has burst credits, only less than it carries without them speaks against it. What Plimsoll measured for a
validation speaks by its verdict, and not here. `failed_measurement` says what both refuse.

Campaigns of the same configuration: beside one another, with the difference between what they carried.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from plimsoll.model.ceiling import RESOURCES, Ceiling, Need, Resource, TokenBucket
from plimsoll.model.envelope import DELIVERED, Admission, Envelope, Measurement, cost_in_reads
from plimsoll.model.policy import Grade
from plimsoll.model.units import KIB_PER_MIB
from plimsoll.model.volume import VolumeSpec

OVERSHOOT: Final = 1.1
"""Short runs show up to 10 % more than what is provisioned (a published campaign on gp3 and io2, 2020)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A measurement that proves an offer on one resource: what it showed, what counts of it, and what lasts.

    `here`: it can make grade A.
    """

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
    """The proofs of a need on a resource: that it is reached, and that enough of it lasts.

    `lasting` is None if that was not asked. At most `lasts` has to last: what the offer carries without credits.
    """

    highest: Proof
    lasting: Proof | None = None
    lasts: float = math.inf

    @property
    def here(self) -> bool:
        """The proofs can make grade A."""
        return self.highest.here and (self.lasting is None or self.lasting.here)

    @property
    def highest_need(self) -> float:
        """The highest need that has the same proofs."""
        highest = self.highest.counted / DELIVERED
        if self.lasting is None or self.lasting.lasting / DELIVERED >= self.lasts:
            return highest
        return min(highest, self.lasting.lasting / DELIVERED)


def credit_free_rates(hostless: Ceiling | None) -> tuple[float, float]:
    """The IOPS and MiB/s that an offer carries without credits; infinite where it has none."""
    credited = set() if hostless is None else {bucket.resource for bucket in hostless.buckets}
    return (
        hostless.sustained_iops if hostless is not None and Resource.IOPS in credited else math.inf,
        hostless.sustained_throughput_mib_s if hostless is not None and Resource.THROUGHPUT in credited else math.inf,
    )


def is_known(measurement: Measurement, side: Resource) -> bool:
    """Nothing that matters for that side's figure is unknown."""
    return measurement.admission(side) is not Admission.UNKNOWN


def find_proofs(
    envelopes: Sequence[Envelope], ceiling: Ceiling, resource: Resource, is_here: Callable[[Measurement], bool]
) -> Iterator[Proof]:
    """Yields the measurements that prove something of an offer on a resource.

    `is_here`: measured lately where the offer would be.
    """
    for envelope in envelopes:
        distance = _distance(envelope.published, ceiling)
        most = most_counted(envelope, resource)
        for measurement in envelope.measurements:
            shown, in_reads = measurement.served_figure(resource), envelope.count_in_reads(measurement, resource)
            if shown is None or in_reads is None or not _is_within_offer(measurement, ceiling):
                continue
            yield Proof(
                resource=resource,
                envelope=envelope,
                measurement=measurement,
                shown=shown,
                counted=min(in_reads, most),
                lasting=min(in_reads, most, measurement.lasting(resource) or 0.0),
                here=is_here(measurement) and is_known(measurement, resource),
                distance=distance,
            )


def most_counted(envelope: Envelope, resource: Resource) -> float:
    """The most that a measurement of the envelope counts for: its roof, and the limits of volume and host."""
    limits = [
        limit.iops if resource is Resource.IOPS else limit.throughput_mib_s
        for limit in (envelope.published, envelope.host)
        if limit is not None
    ]
    roof = envelope.roof(resource)
    return min([*limits, *([] if roof is None else [roof])], default=math.inf)


def _is_within_offer(measurement: Measurement, ceiling: Ceiling) -> bool:
    """Everything that the device served is within the offer's ceiling.

    A side that the source leaves out follows from the I/O size. A side that a rule keeps out (merged I/O) is none of
    the device's.
    """
    mib = measurement.job.block_kib / KIB_PER_MIB
    iops = (
        (measurement.throughput_mib_s or 0.0) / mib
        if measurement.iops is None
        else measurement.served_figure(Resource.IOPS) or 0.0
    )
    throughput_mib_s = (
        iops * mib if measurement.throughput_mib_s is None else measurement.served_figure(Resource.THROUGHPUT) or 0.0
    )
    iops *= cost_in_reads(ceiling, Resource.IOPS, measurement.job)
    throughput_mib_s *= cost_in_reads(ceiling, Resource.THROUGHPUT, measurement.job)
    return iops <= OVERSHOOT * ceiling.iops and throughput_mib_s <= OVERSHOOT * ceiling.throughput_mib_s


def _distance(published: Ceiling | None, ceiling: Ceiling) -> float:
    """The distance between two ceilings, e.g. 0.69 for half the IOPS; infinite if a side is missing."""
    if published is None:
        return math.inf
    sides = ((published.iops, ceiling.iops), (published.throughput_mib_s, ceiling.throughput_mib_s))
    return sum(abs(math.log(figure / other)) if 0 < figure / other < math.inf else math.inf for figure, other in sides)


def rank_proof(proof: Proof) -> tuple[bool, float, float, int, str, str, float]:
    """The sorting key of proofs: the first stands behind an offer."""
    measurement = proof.measurement
    on = measurement.provenance.measured_on
    newest = -on.toordinal() if on else 0
    return (
        not proof.here,
        -proof.counted,
        proof.distance,
        newest,
        proof.envelope.name,
        measurement.job.mode,
        measurement.job.block_kib,
    )


def find_best(ranked: Sequence[Proof], need: float, lasts: float) -> Best | None:
    """Finds the first proof of the need and, if the offer has credits, the first that lasts.

    None if one of them is missing. `lasts` is the rate that the offer sustains, infinite without credits.
    """
    highest = next((proof for proof in ranked if proof.counted >= DELIVERED * need), None)
    if highest is None or math.isinf(lasts):
        return None if highest is None else Best(highest=highest)
    lasting = next((proof for proof in ranked if proof.lasting >= DELIVERED * min(need, lasts)), None)
    return None if lasting is None else Best(highest=highest, lasting=lasting, lasts=lasts)


ZONES_DAYS: Final = 1
"""Time zones differ by so much: what is dated later than tomorrow has a wrong date."""


def is_lately(on: date, today: date, max_age_days: int) -> bool:
    """A day is young enough, and not in the future."""
    return -ZONES_DAYS <= (today - on).days <= max_age_days


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place and day of an offer, and the greatest age of a measurement there."""

    provider: str
    account: str
    region: str
    today: date
    max_age_days: int

    def is_here(self, measurement: Measurement) -> bool:
        """The measurement was made in this account and region, lately enough."""
        made = measurement.provenance
        if made.measured_on is None or (made.account, made.region) != (self.account, self.region):
            return False
        return self.is_lately(made.measured_on)

    def is_lately(self, on: date) -> bool:
        return is_lately(on, self.today, self.max_age_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence for an offer: a grade, the envelope that says most, and one sentence with figures.

    `covers` are the resources that measurements prove, `measurements` those that do (in the same order), and `age_days`
    the age of the oldest of them, None if nothing is proven or its date is unknown. A greater need up to `holds_iops`
    and `holds_throughput_mib_s` has the same evidence (infinite if nothing is proven: nor would more be).
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
"""The evidence for offers of a type with a ceiling at a place, on IOPS and on throughput, best first."""

MOST_RANKINGS: Final = 1024


def evidence_for(
    type_name: str,
    ceiling: Ceiling,
    *,
    need_iops: float,
    need_throughput_mib_s: float,
    envelopes: Sequence[Envelope],
    place: Place,
    hostless: Ceiling | None = None,
    rankings: Rankings | None = None,
) -> Evidence:
    """Grades the evidence for an offer of a type with a ceiling, and a need of IOPS and MiB/s.

    `hostless` is the offer's ceiling without its host, if it has credits: then what lasts has to be proven as well.
    `rankings` caches what the same envelopes say of an offer, for all needs.
    """
    kept = {} if rankings is None else rankings
    key = (type_name, ceiling, place)
    ranked = kept.get(key)
    if ranked is None:
        alike = [candidate for candidate in envelopes if is_alike(candidate, type_name, place.provider)]
        ranked = tuple(
            sorted(find_proofs(alike, ceiling, resource, place.is_here), key=rank_proof) for resource in RESOURCES
        )
        if len(kept) >= MOST_RANKINGS:
            kept.clear()
        kept[key] = ranked
    needs = (need_iops, need_throughput_mib_s)
    proofs_of_sides = [
        find_best(proofs, need, lasts)
        for proofs, need, lasts in zip(ranked, needs, credit_free_rates(hostless), strict=True)
    ]
    return _make_evidence([candidate for candidate in proofs_of_sides if candidate is not None], place)


def _make_evidence(best: Sequence[Best], place: Place) -> Evidence:
    """The evidence that proofs make."""
    proven = [best_of_side.highest for best_of_side in best]
    if not proven:
        return Evidence(grade=Grade.C, envelope=None, text="published limits alone: nothing like it has been measured.")
    return Evidence(
        grade=_grade(best),
        envelope=proven[0].envelope.name,
        text=_text(best),
        covers=tuple(proof.resource for proof in proven),
        measurements=tuple(proof.measurement for proof in proven),
        age_days=_age_days(proven, place.today),
        holds_iops=_highest_proven_need(best, Resource.IOPS),
        holds_throughput_mib_s=_highest_proven_need(best, Resource.THROUGHPUT),
    )


LOCAL: Final = "local"
"""The provider of what `plimsoll benchmark` measured on the machine itself, unless told of a cloud."""


def best_grade(envelope: Envelope, today: date, max_age_days: int) -> Grade:
    """The best grade that an envelope's measurements can give anywhere.

    A in the account and region where they were made, or on this very machine, while they are young enough; B elsewhere
    and later, or if what matters is unknown; C if nothing of it counts.
    """
    if all(measurement.served_figure(side) is None for measurement in envelope.measurements for side in RESOURCES):
        return Grade.C
    for measurement in envelope.measurements:
        made = measurement.provenance
        if not any(measurement.served_figure(side) is not None and is_known(measurement, side) for side in RESOURCES):
            continue
        owned = made.account is not None and made.region is not None
        if made.measured_on is None or not (owned or made.provider == LOCAL):
            continue
        if is_lately(made.measured_on, today, max_age_days):
            return Grade.A
    return Grade.B


def _highest_proven_need(best: Sequence[Best], resource: Resource) -> float:
    return min((proofs.highest_need for proofs in best if proofs.highest.resource is resource), default=math.inf)


def is_alike(envelope: Envelope, type_name: str, provider: str) -> bool:
    """The envelope is of one volume of that type, with a published ceiling."""
    same = (envelope.provider, envelope.spec.type, envelope.volumes) == (provider, type_name, 1)
    return same and envelope.published is not None


def _grade(best: Sequence[Best]) -> Grade:
    """The grade of proofs by side: A if both sides are proved here, B if elsewhere, C if a side has none."""
    if len(best) < len(Resource):
        return Grade.C
    return Grade.A if all(proofs.here for proofs in best) else Grade.B


def _age_days(proven: Sequence[Proof], today: date) -> int | None:
    """The age of the oldest proof in days; None if the day of any is not known."""
    made = [proof.measurement.provenance.measured_on for proof in proven]
    ages = [(today - on).days for on in made if on is not None]
    return max(ages) if len(ages) == len(made) else None


def _text(best: Sequence[Best]) -> str:
    """The sentence about proofs; a side without one rests on published limits."""
    sentence = "; ".join(f"{_proof_text(best_of_side.highest)}{_sustained_text(best_of_side)}" for best_of_side in best)
    if len(best) == len(Resource):
        return f"{sentence}."
    other = "throughput" if best[0].highest.resource is Resource.IOPS else "IOPS"
    return f"{sentence}; its {other} rests on published limits alone."


def _sustained_text(best: Best) -> str:
    """The part of a sentence about what lasts without credits, if that was asked for."""
    if best.lasting is None:
        return ""
    lasting, same = best.lasting, best.lasting.measurement is best.highest.measurement
    source = "" if same else f" ({lasting.measurement.provenance.cited})"
    return f", of which {lasting.lasting:,.0f} {lasting.resource.unit} are sustained{source}"


def _proof_text(proof: Proof) -> str:
    """The words for one proof: the figure, what counts of it, and its source."""
    measurement = proof.measurement
    name, unit = ("IOPS", "IOPS") if proof.resource is Resource.IOPS else ("throughput", "MiB/s")
    counted = f" (of which {proof.counted:,.0f} count)" if round(proof.counted) < round(proof.shown) else ""
    made = measurement.provenance
    when = f", {made.dated or f'{made.measured_on:%Y-%m}'}" if made.measured_on else ""
    where = f" on {measurement.host_type}" if measurement.host_type else ""
    job = f"{measurement.job.mode} of {measurement.job.block_kib:g} KiB"
    source = f"{made.tool} ({made.cited}, {job}{where}{when})"
    return f"{name}: {proof.shown:,.0f} {unit}{counted} measured by {source}"


CODE: Final = "failed-measurement"
"""The code, in reports and records, of an offer that was refused or had to be larger."""

SAME_CLASS: Final = 1.1
"""A configuration up to this ratio above one that answered too late is not offered either: measurements are that
sure."""

LEAST_SHARE: Final = 0.001
"""The least share of a published rate that a failed measurement is taken to have delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedMeasurement:
    """A configuration that was measured here and did not deliver.

    `delivered` holds what it carried on each resource where that is less than its published `ceiling` sustains.
    `volume_id` is set where it answered too slowly for that volume. `source` is what measured it, and where that
    can be opened. `newer` are figures on each resource that later measurements of the type showed here: they stand
    instead, for offers that promise as much.
    """

    account: str
    region: str
    spec: VolumeSpec
    ceiling: Ceiling
    measured_on: date
    delivered: Mapping[Resource, float]
    volume_id: str | None
    source: str
    text: str
    newer: Mapping[Resource, Sequence[float]] = field(default_factory=dict)

    def published_rate(self, side: Resource) -> float:
        """The rate that the measured configuration sustains by its published limits."""
        return self.ceiling.sustained_iops if side is Resource.IOPS else self.ceiling.sustained_throughput_mib_s

    def believed_rate(self, side: Resource, promised: float) -> float:
        """The rate that an offer of the type is believed to carry of the rate that it promises.

        Half of the published rate was delivered: half of the promised rate is believed.
        """
        if side not in self.delivered:
            return promised
        carried = self._carried_rate(side)
        seen = [carried, *(figure for figure in self.newer.get(side, ()) if figure <= OVERSHOOT * promised)]
        return min(promised, max(max(seen) / DELIVERED, carried * promised / self.published_rate(side)))

    def promise_for(self, side: Resource, need: float) -> float:
        """The least that an offer of the type has to promise so that it is believed to carry a need."""
        if side not in self.delivered:
            return need
        carried = self._carried_rate(side)
        in_proportion = need if DELIVERED * need <= carried else need * self.published_rate(side) / carried
        seen = [max(need, figure / OVERSHOOT) for figure in self.newer.get(side, ()) if figure >= DELIVERED * need]
        return min([in_proportion, *seen])

    def is_too_slow(self, ceiling: Ceiling, volume_id: str) -> bool:
        """An offer with that ceiling is of the class that answered too late for that volume."""
        return self.volume_id == volume_id and (
            ceiling.iops <= SAME_CLASS * self.ceiling.iops
            and ceiling.throughput_mib_s <= SAME_CLASS * self.ceiling.throughput_mib_s
        )

    def _carried_rate(self, side: Resource) -> float:
        return max(self.delivered[side], LEAST_SHARE * self.published_rate(side))


def believed_ceiling(ceiling: Ceiling, failed: Sequence[FailedMeasurement]) -> Ceiling:
    """The ceiling that an offer is believed to have, by its published ceiling and failed measurements of its type.

    The rates that last without credits are lowered in the same proportion.
    """
    if not any(measurement.delivered for measurement in failed):
        return ceiling
    return replace(
        ceiling,
        iops=_believed_rate(Resource.IOPS, ceiling.iops, failed),
        throughput_mib_s=_believed_rate(Resource.THROUGHPUT, ceiling.throughput_mib_s, failed),
        buckets=tuple(_lower_bucket(bucket, failed) for bucket in ceiling.buckets),
    )


def promised_need(need: Need, failed: Sequence[FailedMeasurement]) -> Need:
    """The least figures of an offer of the type that is believed to carry a need."""
    return Need(
        iops=_promised_rate(Resource.IOPS, need.iops, failed),
        throughput_mib_s=_promised_rate(Resource.THROUGHPUT, need.throughput_mib_s, failed),
        sustained_iops=_promised_rate(Resource.IOPS, need.sustained_iops, failed),
        sustained_throughput_mib_s=_promised_rate(Resource.THROUGHPUT, need.sustained_throughput_mib_s, failed),
    )


def find_limiting(ceiling: Ceiling, need: Need, failed: Sequence[FailedMeasurement]) -> tuple[FailedMeasurement, ...]:
    """The failed measurements that make an offer believed to carry less of a need than is published."""
    wanted = {
        Resource.IOPS: (ceiling.iops, max(need.iops, need.sustained_iops)),
        Resource.THROUGHPUT: (
            ceiling.throughput_mib_s,
            max(need.throughput_mib_s, need.sustained_throughput_mib_s),
        ),
    }
    return tuple(
        measurement
        for measurement in failed
        if any(measurement.believed_rate(side, most) < min(most, needed) for side, (most, needed) in wanted.items())
    )


def _promised_rate(side: Resource, need: float, failed: Sequence[FailedMeasurement]) -> float:
    return max((measurement.promise_for(side, need) for measurement in failed), default=need)


def _believed_rate(side: Resource, promised: float, failed: Sequence[FailedMeasurement]) -> float:
    """The rate of a side that is believed: the promised one, or the least that any failed measurement leaves of it."""
    if math.isinf(promised):
        return promised
    return min((measurement.believed_rate(side, promised) for measurement in failed), default=promised)


def _lower_bucket(bucket: TokenBucket, failed: Sequence[FailedMeasurement]) -> TokenBucket:
    lasts = bucket.sustained_rate
    return bucket if lasts <= 0 else bucket.times(_believed_rate(bucket.resource, lasts, failed) / lasts)


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
    """Yields the rates, in reads, that later measurements made here show to last on a side."""
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
    """Yields one failed measurement if an envelope delivered less here than was published; none for several volumes."""
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
            text="; ".join(_shortfall_text(envelope, published, side, *short) for side, short in shortfalls),
        )


def _shortfall_text(envelope: Envelope, published: Ceiling, side: Resource, carried: float, on: date) -> str:
    host = f" on {envelope.host_type}" if envelope.host_type else " on an unnamed host"
    return (
        f"measured here on {on:%Y-%m-%d}{host}, {carried:,.0f} {side.unit} were all that a volume of "
        f"{_lasts(published, side):,.0f} carried ({envelope.source_names})"
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
    wanted = DEPTH_A_1000_IOPS * published.iops_at(measurement.job.block_kib) / 1_000
    return (measurement.io_in_flight or 1) >= max(LEAST_DEPTH, wanted)


def _side_at(limits: Ceiling, block_kib: float) -> Resource:
    """The side that limits I/O of that size."""
    by_iops = limits.iops * block_kib / 1_024
    return Resource.IOPS if by_iops <= limits.throughput_mib_s else Resource.THROUGHPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Another envelope of the same configuration, and its differences to the one that it stands beside.

    A difference is its figure over the other's, less 1; None if either has none.
    """

    envelope: Envelope
    iops: float | None
    throughput_mib_s: float | None

    def difference(self, side: Resource) -> float | None:
        return self.iops if side is Resource.IOPS else self.throughput_mib_s


def find_same_configuration(envelope: Envelope, others: Iterable[Envelope]) -> list[Beside]:
    """Finds the other envelopes of the same provider, type, number of volumes and published ceiling, by name."""
    same = [
        Beside(
            envelope=other,
            iops=_difference(envelope, other, Resource.IOPS),
            throughput_mib_s=_difference(envelope, other, Resource.THROUGHPUT),
        )
        for other in others
        if other.name != envelope.name
        and envelope.published is not None
        and _configuration(envelope) == _configuration(other)
    ]
    return sorted(same, key=lambda other: other.envelope.name)


def _configuration(envelope: Envelope) -> tuple[object, ...]:
    return envelope.provider, envelope.spec.type, envelope.volumes, envelope.published


def _difference(envelope: Envelope, other: Envelope, side: Resource) -> float | None:
    """The ratio of two envelopes' roofs if both have one, else of the best that each served, less 1."""
    figures = [each.roof(side) for each in (envelope, other)]
    if None in figures:
        figures = [each.best(side) for each in (envelope, other)]
    figure, other_figure = figures
    return None if not figure or other_figure is None else other_figure / figure - 1
