"""Grades by example, and what may never raise one."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.domain.ceiling import Ceiling, Resource
from plimsoll.domain.evidence.envelope import DELIVERED, Envelope, JobShape, Measurement
from plimsoll.domain.evidence.evidence import Evidence, Place, evidence_for
from plimsoll.domain.evidence.grade import Grade
from plimsoll.envelopes.fit import fit_envelope
from tests.builders import TYPES, a_spec
from tests.unit.envelopes.measured import a_measurement, a_system

TODAY = date(2026, 11, 20)
HERE = {"account": "111122223333", "region": "us-east-1"}
PLACE = Place(provider="aws", today=TODAY, max_age_days=180, **HERE)
DEEP = {
    "mode": "randread",
    "block_kib": 16,
    "iodepth": 32,
    "jobs": 1,
    "engine": "libaio",
    "direct": True,
    "runtime_s": 180,
}
OFFER = Ceiling(iops=3_000, throughput_mib_s=125)


def measured_here(iops=3_000.0, throughput_mib_s=46.9, *, days_ago=10, **fields) -> Measurement:
    return a_measurement(iops, throughput_mib_s, **{"measured_on": TODAY - timedelta(days=days_ago), **HERE, **fields})


def an_envelope(measurements: Sequence[Measurement], *, iops=3_000, volumes=1, kind="gp3", host=None) -> Envelope:
    spec = a_spec(kind, iops=iops) if kind in {"gp3", "io2", "io1"} else a_spec(kind)
    return fit_envelope(a_system(measurements, spec=spec, volumes=volumes, host=host), TYPES)


def evidence(envelopes, *, need_iops=2_000.0, need_throughput_mib_s=40.0, ceiling=OFFER, place=PLACE) -> Evidence:
    return evidence_for(
        "gp3",
        ceiling,
        need_iops=need_iops,
        need_throughput_mib_s=need_throughput_mib_s,
        envelopes=envelopes,
        place=place,
    )


def test_measured_here_lately_on_both_sides_is_a():
    found = evidence([an_envelope([measured_here()])])
    assert found.grade is Grade.A
    assert found.covers == (Resource.IOPS, Resource.THROUGHPUT)
    assert found.envelope == "a-system"
    assert found.age_days == 10


def test_measured_elsewhere_is_b():
    assert evidence([an_envelope([measured_here(region="eu-west-1")])]).grade is Grade.B
    assert evidence([an_envelope([measured_here(account="999988887777")])]).grade is Grade.B
    assert evidence([an_envelope([a_measurement(3_000, 46.9)])]).grade is Grade.B


@pytest.mark.parametrize(("days_ago", "grade"), [(180, Grade.A), (181, Grade.B)])
def test_measured_longer_ago_than_the_policy_allows_is_b(days_ago, grade):
    found = evidence([an_envelope([measured_here(days_ago=days_ago)])])
    assert (found.grade, found.age_days) == (grade, days_ago)


def test_measured_here_on_an_unknown_day_is_b_of_unknown_age():
    found = evidence([an_envelope([measured_here(measured_on=None)])])
    assert (found.grade, found.age_days) == (Grade.B, None)


def test_nothing_like_it_measured_is_c_and_says_so():
    found = evidence([])
    assert (found.grade, found.envelope, found.covers) == (Grade.C, None, ())
    assert found.text == "published limits alone: nothing like it has been measured."


def test_one_side_alone_is_c_and_says_which_side_rests_on_published_limits():
    found = evidence([an_envelope([measured_here()])], need_throughput_mib_s=100)
    assert found.grade is Grade.C
    assert found.covers == (Resource.IOPS,)
    assert "3,000 IOPS" in found.text
    assert found.text.endswith("its throughput rests on published limits alone.")


def test_a_measurement_that_showed_less_than_the_need_proves_nothing():
    assert evidence([an_envelope([measured_here(1_999, 39)])]).grade is Grade.C


def test_another_type_or_provider_proves_nothing():
    assert evidence([an_envelope([measured_here()], kind="gp2")]).covers == ()
    elsewhere = Place(provider="azure", today=TODAY, max_age_days=180, **HERE)
    assert evidence([an_envelope([measured_here()])], place=elsewhere).covers == ()


def test_a_larger_configuration_proves_nothing_above_the_offer():
    larger = an_envelope([measured_here(10_000, 80)], iops=10_000)
    assert evidence([larger]).covers == ()


def test_a_larger_configuration_proves_what_it_showed_below_the_offer():
    assert evidence([an_envelope([measured_here(2_500, 60)], iops=10_000)]).grade is Grade.A


def test_ten_percent_above_the_offer_is_a_short_run_and_counts_no_further_than_the_published():
    overshot = an_envelope([measured_here(3_250, 50.8, block_kib=size) for size in (8, 16)])
    assert evidence([overshot], need_iops=3_000).grade is Grade.A
    assert evidence([overshot], need_iops=3_000 / DELIVERED + 1).covers == (Resource.THROUGHPUT,)
    assert "3,250 IOPS (of which 3,000 count)" in evidence([overshot]).text


def test_a_figure_two_percent_under_the_need_has_delivered_it_and_one_further_under_has_not():
    one = an_envelope([measured_here(2_941, 46.0)])
    assert evidence([one], need_iops=3_000).grade is Grade.A
    assert evidence([one], need_iops=3_002).covers == (Resource.THROUGHPUT,)


def test_a_stripe_does_not_count():
    assert evidence([an_envelope([measured_here()], volumes=2)]).covers == ()


def test_iops_that_a_cache_served_do_not_count():
    cached = an_envelope([measured_here(device_iops=1_000)])
    assert cached.measurements[0].is_kept_out("iops")
    assert evidence([cached]).grade is Grade.C


def test_nothing_counts_above_what_the_host_could_carry():
    host = Ceiling(iops=1_000, throughput_mib_s=1_000)
    on_small_host = an_envelope([measured_here(1_100, 46.9)], host=host)
    assert evidence([on_small_host], need_iops=1_050).covers == (Resource.THROUGHPUT,)
    assert evidence([on_small_host], need_iops=1_000).grade is Grade.A


def test_what_was_measured_here_stands_before_what_is_nearer_elsewhere():
    here = an_envelope([measured_here(2_500, 60)], iops=10_000)
    elsewhere = an_envelope([a_measurement(3_000, 46.9)])
    for order in ([here, elsewhere], [elsewhere, here]):
        found = evidence(order)
        assert found.grade is Grade.A
        assert found.measurements[0].iops == 2_500


def test_the_text_names_figures_and_source():
    text = evidence([an_envelope([measured_here(tool="fio", host_type="m5.large")])]).text
    assert text == (
        "IOPS: 3,000 IOPS measured by fio (a-campaign, randread of 16 KiB on m5.large, 2026-11); "
        "throughput: 47 MiB/s measured by fio (a-campaign, randread of 16 KiB on m5.large, 2026-11)."
    )


def test_what_ships_proves_3_000_iops_of_gp3_elsewhere_and_no_stripe_of_it():
    shipped = list(envelope_library(None).envelopes.values())
    found = evidence(shipped, need_iops=2_900, ceiling=Ceiling(iops=3_000, throughput_mib_s=250))
    assert found.grade is Grade.B
    assert "raid0" not in found.text


# ---- an offer with credits of its own


def of_gp2(measurement, *, need_iops) -> Evidence:
    """The evidence for a gp2 of 100 GiB: 300 IOPS that last, and 3,000 while its credits do."""
    spec = a_spec("gp2", 100)
    own = TYPES["gp2"].ceiling(spec)
    return evidence_for(
        "gp2",
        own,
        need_iops=need_iops,
        need_throughput_mib_s=4,
        envelopes=[fit_envelope(a_system([measurement], spec=spec), TYPES)],
        place=PLACE,
        hostless=own,
    )


def test_a_burst_proves_no_figure_that_lasts():
    burst = measured_here(3_000, 46.9)
    spent = measured_here(1_800, 28.1, job=JobShape(**{**DEEP, "runtime_s": 3_600}))
    assert of_gp2(burst, need_iops=1_000).covers == (Resource.THROUGHPUT,)
    assert of_gp2(spent, need_iops=1_000).covers == (Resource.IOPS, Resource.THROUGHPUT)


# ---- properties

figures = st.tuples(st.floats(100, 20_000), st.floats(5, 1_200), st.sampled_from([4, 16, 64, 256]), st.integers(0, 400))
needs = st.floats(0, 20_000)


@st.composite
def libraries(draw):
    found = []
    for place in draw(st.lists(st.booleans(), max_size=4)):
        points = draw(st.lists(figures, min_size=1, max_size=3))
        where = {} if place else {"region": "eu-west-1"}
        measured = [measured_here(a, b, block_kib=size, days_ago=days, **where) for a, b, size, days in points]
        found.append(
            an_envelope(measured, iops=draw(st.sampled_from([3_000, 8_000, 16_000])), volumes=draw(st.integers(1, 2)))
        )
    return found


@given(libraries(), needs, needs, st.floats(0, 1_000), st.floats(0, 1_000))
def test_more_need_never_raises_the_grade(library, iops, more_iops, mib_s, more_mib_s):
    modest = evidence(library, need_iops=iops, need_throughput_mib_s=mib_s)
    demanding = evidence(library, need_iops=iops + more_iops, need_throughput_mib_s=mib_s + more_mib_s)
    assert demanding.grade <= modest.grade
    assert set(demanding.covers) <= set(modest.covers)


@given(libraries(), needs, st.floats(0, 1_000))
def test_the_order_of_envelopes_changes_nothing_that_is_said(library, iops, mib_s):
    there = evidence(library, need_iops=iops, need_throughput_mib_s=mib_s)
    back = evidence(list(reversed(library)), need_iops=iops, need_throughput_mib_s=mib_s)
    assert (there.grade, there.covers) == (back.grade, back.covers)


@given(libraries(), needs, st.floats(0, 1_000))
def test_what_proves_an_offer_delivered_the_need_and_lies_under_the_offer(library, iops, mib_s):
    found = evidence(library, need_iops=iops, need_throughput_mib_s=mib_s)
    for side, one in zip(found.covers, found.measurements, strict=True):
        assert one.figure(side) >= (iops if side is Resource.IOPS else mib_s)
        assert one.iops <= 1.1 * OFFER.iops
        assert one.throughput_mib_s <= 1.1 * OFFER.throughput_mib_s


@given(libraries(), libraries(), needs, st.floats(0, 1_000))
def test_more_measurements_never_take_a_side_s_proof_away(library, others, iops, mib_s):
    few = evidence(library, need_iops=iops, need_throughput_mib_s=mib_s)
    many = evidence([*library, *others], need_iops=iops, need_throughput_mib_s=mib_s)
    assert set(few.covers) <= set(many.covers)
    assert few.grade <= many.grade


@given(libraries(), needs, st.floats(0, 1_000))
def test_the_same_is_said_of_every_need_that_the_evidence_holds(library, iops, mib_s):
    found = evidence(library, need_iops=iops, need_throughput_mib_s=mib_s)
    held = evidence(
        library,
        need_iops=max(iops, min(found.holds_iops, 2 * iops)),
        need_throughput_mib_s=max(mib_s, min(found.holds_throughput_mib_s, 2 * mib_s)),
    )
    assert (held.grade, held.covers, held.text) == (found.grade, found.covers, found.text)


SEED_003 = [envelope_library(None).get(name) for name in ("pd-standard-500", "pd-ssd-500")]
ANY_PROJECT = Place(provider="google", account="a-project", region="us-central1", today=TODAY, max_age_days=180)


def of_google(type_name, iops, throughput_mib_s, *, write_iops_cost=1.0, ceiling=OFFER, place=ANY_PROJECT):
    """The evidence for an offer of that type on a machine like that of seed 003."""
    return evidence_for(
        type_name,
        replace(ceiling, write_iops_cost=write_iops_cost),
        need_iops=iops,
        need_throughput_mib_s=throughput_mib_s,
        envelopes=SEED_003,
        place=place,
    )


def test_seed_003_stands_behind_an_ssd_disk_of_google_and_of_nobody_else():
    ceiling = Ceiling(iops=15_000, throughput_mib_s=240)
    found = of_google("pd-ssd", 12_000, 200, ceiling=ceiling)
    assert (found.grade, found.envelope) == (Grade.B, "pd-ssd-500")
    assert "n1-standard-4" in found.text
    assert of_google("pd-ssd", 12_000, 200, ceiling=ceiling, place=PLACE).grade is Grade.C
    assert of_google("pd-balanced", 12_000, 200, ceiling=ceiling).grade is Grade.C


def test_nothing_above_what_the_machine_of_seed_003_carries_is_proven():
    ceiling = Ceiling(iops=60_000, throughput_mib_s=1_200)
    assert of_google("pd-ssd", 15_000, 240, ceiling=ceiling).grade is Grade.B
    assert of_google("pd-ssd", 16_000, 240, ceiling=ceiling).covers == (Resource.THROUGHPUT,)


def test_what_a_standard_disk_was_lent_proves_no_more_than_its_own_size_brings():
    ceiling = Ceiling(iops=1_500, throughput_mib_s=240)
    found = of_google("pd-standard", 375, 60, write_iops_cost=0.5, ceiling=ceiling)
    assert (found.grade, found.envelope) == (Grade.B, "pd-standard-500")
    assert "(of which 375 count)" in found.text
    assert of_google("pd-standard", 400, 60, write_iops_cost=0.5, ceiling=ceiling).covers == (Resource.THROUGHPUT,)


def test_writes_that_cost_half_of_a_read_prove_half_as_many():
    written = a_measurement(500, 7.8, mode="randwrite", provenance=SEED_003[0].measurements[0].provenance)
    envelope = replace(SEED_003[0], iops=None, throughput_mib_s=None, measurements=(written,))
    ceiling = Ceiling(iops=1_500, throughput_mib_s=240, write_iops_cost=0.5)

    def grade(need_iops):
        return evidence_for(
            "pd-standard",
            ceiling,
            need_iops=need_iops,
            need_throughput_mib_s=7,
            envelopes=[envelope],
            place=ANY_PROJECT,
        ).grade

    assert (grade(250), grade(260)) == (Grade.B, Grade.C)


def test_a_source_is_called_what_people_call_it_and_says_where_it_can_be_opened():
    made = envelope_library(None).get("gp3-4000-1000").measurements[0].provenance
    assert (made.cited, made.reference) == (
        "Miztiik's sweep of 2020",
        "Miztiik's sweep of 2020: github.com/miztiik/ebs-gp3-perf",
    )
    point = envelope_library(None).get("io1-40000-m5.8xlarge").measurements[0].provenance
    assert point.reference is not None
    assert point.reference.startswith("github.com/liangruibupt/ebs-benchmark-testing")


@pytest.mark.parametrize(("days_ago", "grade"), [(0, Grade.A), (-1, Grade.A), (-2, Grade.B), (-4_000, Grade.B)])
def test_what_is_dated_in_the_future_was_not_measured_lately(days_ago, grade):
    assert evidence([an_envelope([measured_here(days_ago=days_ago)])]).grade is grade
