"""What envelopes of this place carried less than is published, and what later measurements say instead."""

from dataclasses import replace

import pytest

from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.evidence.envelope import BoundBy, Envelope, JobShape
from plimsoll.domain.evidence.evidence_against import failed_measurements
from plimsoll.domain.evidence.failed_measurement import FailedMeasurement
from plimsoll.envelopes.fit import fit_envelope
from tests.builders import TYPES, a_refutation, a_spec
from tests.unit.envelopes.measured import a_measurement, a_system

from .test_evidence import DEEP, HERE, PLACE, TODAY, an_envelope, measured_here

IOPS, THROUGHPUT = Resource.IOPS, Resource.THROUGHPUT


def fell_short(iops=300.0, *, days_ago=5, **fields) -> Envelope:
    """A gp3 of 3,000 IOPS that carried so many here, under a load that was deep enough for all."""
    return an_envelope([measured_here(iops, iops * 16 / 1024, days_ago=days_ago, **fields)])


def failed(*envelopes, by_validation=()) -> tuple[FailedMeasurement, ...]:
    return failed_measurements(PLACE, envelopes, by_validation)


def test_what_fell_short_here_lately_is_a_failed_measurement_with_its_figures():
    (one,) = failed(an_envelope([a_measurement(3_000, 46.9)]), fell_short())
    assert one.delivered == {IOPS: 300.0}
    assert (one.published_rate(IOPS), one.source, one.volume_id) == (3_000, "a-campaign: notes.txt", None)
    assert "300 IOPS were all that a volume of 3,000 carried" in one.text


@pytest.mark.parametrize("fields", [{"region": "eu-west-1"}, {"days_ago": 181}, {"measured_on": None}])
def test_what_fell_short_elsewhere_or_long_ago_is_none(fields):
    assert failed(fell_short(**fields)) == ()


def test_a_load_that_was_not_deep_enough_shows_no_shortfall():
    assert failed(fell_short(job=JobShape(**{**DEEP, "iodepth": 4}))) == ()
    assert failed(fell_short(bound_by=BoundBy.LOAD)) == ()


@pytest.mark.parametrize("doubt", [{"direct": False}, {"direct": None}, {"runtime_s": 5}, {"engine": "null"}])
def test_what_does_not_count_speaks_against_nothing(doubt):
    assert failed(fell_short(job=JobShape(**{**DEEP, **doubt}))) == ()


def test_what_the_host_held_back_speaks_against_nothing():
    assert failed(an_envelope([measured_here(299, 4.7)], host=Ceiling(iops=300, throughput_mib_s=1_000))) == ()


def test_a_stripe_that_fell_short_says_nothing_of_one_volume():
    assert failed(an_envelope([measured_here(300, 4.7)], volumes=2)) == ()


def test_a_gp2_without_credits_that_carries_its_baseline_has_not_fallen_short():
    spent = fit_envelope(a_system([measured_here(1_000, 15.6)], spec=a_spec("gp2", 333)), TYPES)
    assert failed(spent) == ()


def test_what_a_validation_measured_speaks_by_its_verdict_alone():
    envelope = fell_short()
    placed = replace(envelope.measurements[0].provenance, placed=True)
    by_plimsoll = replace(envelope, measurements=(replace(envelope.measurements[0], provenance=placed),))
    verdict = a_refutation(a_spec("gp3", 100, iops=3_000), {THROUGHPUT: 60.0}, measured_on=TODAY, **HERE)
    assert failed(by_plimsoll) == ()
    assert [one.delivered for one in failed(by_plimsoll, by_validation=[verdict])] == [{THROUGHPUT: 60.0}]
    elsewhere = replace(verdict, region="eu-west-1")
    assert failed(by_validation=[elsewhere]) == ()


def test_what_was_measured_on_a_later_day_stands_instead():
    passed = an_envelope([measured_here(days_ago=3)])
    (older,) = failed(passed, fell_short(days_ago=5))
    assert older.newer[IOPS] == (3_000.0,)
    assert older.believed_rate(IOPS, 3_000.0) == 3_000.0
    (newer,) = failed(passed, fell_short(days_ago=1))
    assert not newer.newer[IOPS]
    assert newer.believed_rate(IOPS, 3_000.0) < 310
