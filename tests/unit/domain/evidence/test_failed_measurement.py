"""What failed refuses an offer that carries too little: by one rule, and never the other way round."""

import math
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, Keep, Migrate, Reprovision
from plimsoll.decide.evidence import CODE, FailedMeasurement, believed_ceiling, find_limiting, promised_need
from plimsoll.model.ceiling import Ceiling, Need, Resource
from plimsoll.model.envelope import DELIVERED
from tests.builders import TYPES, a_demand, a_market, a_policy, a_refutation, a_spec, a_volume, decision
from tests.profiles import examples
from tests.unit.domain.strategies import policies, situations

IOPS, THROUGHPUT = Resource.IOPS, Resource.THROUGHPUT


def a_failure(delivered, *, published=(3_000.0, 125.0), volume_id=None, newer=None) -> FailedMeasurement:
    return FailedMeasurement(
        account="1",
        region="r",
        spec=a_spec("gp3", 100, iops=3_000, throughput_mib_s=125),
        ceiling=Ceiling(iops=published[0], throughput_mib_s=published[1]),
        measured_on=date(2026, 11, 21),
        delivered=delivered,
        volume_id=volume_id,
        source="a-campaign",
        text="measured short",
        newer=newer or {},
    )


def test_half_of_what_was_promised_is_believed_to_be_half_of_what_a_larger_one_promises():
    half = a_failure({IOPS: 1_500.0})
    assert half.believed_rate(IOPS, 6_000.0) == 3_000.0
    assert half.believed_rate(IOPS, 3_000.0) == pytest.approx(1_500 / DELIVERED)
    assert half.believed_rate(IOPS, 1_000.0) == 1_000.0
    assert half.believed_rate(THROUGHPUT, 1_000.0) == 1_000.0
    assert half.promise_for(IOPS, 3_000.0) == 6_000.0
    assert half.promise_for(IOPS, 1_500.0) == 1_500.0


failures = st.builds(
    a_failure,
    st.dictionaries(st.sampled_from(list(Resource)), st.floats(0, 100), max_size=2),
    published=st.tuples(st.floats(105, 20_000), st.floats(105, 2_000)),
    newer=st.dictionaries(st.sampled_from(list(Resource)), st.lists(st.floats(0, 20_000), max_size=3), max_size=2),
)
figures = st.floats(0, 100_000)


@given(st.lists(failures, max_size=3), figures, figures)
def test_more_promised_never_carries_less_and_nothing_carries_more_than_it_promises(failed, iops, more):
    little = believed_ceiling(Ceiling(iops=iops, throughput_mib_s=100), failed)
    much = believed_ceiling(Ceiling(iops=iops + more, throughput_mib_s=100), failed)
    assert little.iops <= iops
    assert little.iops <= much.iops + 1e-6
    assert much.throughput_mib_s == little.throughput_mib_s <= 100


@given(st.lists(failures, max_size=3), figures, figures)
def test_what_is_asked_for_is_believed_to_carry_the_need(failed, iops, throughput_mib_s):
    need = Need(iops=iops, throughput_mib_s=throughput_mib_s)
    asked = promised_need(need, failed)
    carried = believed_ceiling(Ceiling(iops=asked.iops, throughput_mib_s=asked.throughput_mib_s), failed)
    assert asked.iops >= iops
    assert carried.iops >= iops * (1 - 1e-9)
    assert carried.throughput_mib_s >= throughput_mib_s * (1 - 1e-9)


@given(failures, figures)
def test_a_failure_holds_back_just_those_needs_that_the_offer_is_not_believed_to_carry(one, need):
    ceiling = Ceiling(iops=3_000, throughput_mib_s=10_000)
    held = find_limiting(ceiling, Need(iops=need), [one])
    assert bool(held) == (believed_ceiling(ceiling, [one]).iops < min(need, 3_000))


def test_credits_last_as_much_less():
    gp2 = TYPES["gp2"].ceiling(a_spec("gp2", 100))
    less = believed_ceiling(gp2, [a_failure({IOPS: 150.0}, published=(300.0, 128.0))])
    assert less.sustained_iops == pytest.approx(150 / DELIVERED)
    assert less.iops == 1_500.0


# ---- the decision

SMALLEST_GP3 = a_spec("gp3", 1_000, iops=3_000, throughput_mib_s=125)


def decided(failed, iops=2_000.0, volume=None):
    """The answer for a gp2 of 1,000 GiB, where so much failed."""
    market = replace(a_market(), failed_measurements=tuple(failed))
    volume = volume or a_volume("gp2", 1_000)
    return decision(volume, a_demand(iops, iops * 4 / 1024), a_policy(), market=market)


def test_an_offer_that_is_believed_to_carry_the_need_stands():
    enough = decided([a_refutation(SMALLEST_GP3, {IOPS: 2_800.0})])
    assert enough.target.spec == decided([]).target.spec == SMALLEST_GP3
    assert enough.target.failed == ()
    assert enough.comparison.drop_in.spec.iops == 3_300  # which carries all 3,000 that the gp2 can do


def test_one_that_is_not_gives_way_to_a_larger_one_which_says_why():
    found = decided([a_refutation(SMALLEST_GP3, {IOPS: 1_500.0})])
    assert isinstance(found, Migrate)
    assert (found.target.spec.type, found.target.spec.iops) == ("gp3", 4_800)
    assert found.target.ceiling.iops == 2_400.0
    assert [one.source for one in found.target.failed] == ["a-campaign"]
    assert any(CODE in text and "Less than gp3" in text for text in found.reasons)


def test_where_no_offer_is_believed_to_carry_it_the_volume_is_kept_and_the_reason_has_the_code():
    found = decided([a_refutation(SMALLEST_GP3, {IOPS: 60.0})])
    assert isinstance(found, Keep)
    gp3 = found.comparison.offer("gp3")
    assert gp3.refused[0].startswith(f"{CODE}: ")
    assert any(CODE in text for text in found.reasons)


def test_what_the_volume_has_is_known_by_its_own_metrics():
    own = a_volume("gp3", 1_000, iops=3_000, throughput_mib_s=125)
    found = decided([a_refutation(SMALLEST_GP3, {IOPS: 60.0})], volume=own)
    assert isinstance(found, Keep)
    assert found.comparison.offer("gp3").feasible
    assert found.comparison.offer("gp3").spec == own.spec


def test_more_of_the_type_that_it_has_is_no_drop_in_whatever_failed():
    small = a_refutation(a_spec("io2", 9, iops=500), {IOPS: 1.0}, newer={IOPS: (2_990.0,)})
    market = replace(a_market(), failed_measurements=(small,))
    own = a_volume("io2", 4, iops=100)
    found = decision(own, a_demand(0.0, 20.0), a_policy(target_types=("st1",)), market=market)
    assert isinstance(found, Keep)
    assert found.comparison.drop_in is None


FAILED = st.lists(
    st.builds(
        a_refutation,
        st.sampled_from(
            [SMALLEST_GP3, a_spec("gp3", 500, iops=9_000, throughput_mib_s=500), a_spec("io2", 9, iops=500)]
        ),
        st.dictionaries(st.sampled_from(list(Resource)), st.floats(1, 120), max_size=2),
        volume_id=st.sampled_from([None, "vol-1"]),
        newer=st.sampled_from([{}, {IOPS: (2_990.0,)}]),
    ),
    max_size=3,
)


@given(situations(policy=policies()), FAILED)
@settings(max_examples=examples(100))
def test_no_measurement_raises_a_target_above_published_limits_or_lets_it_carry_less(situation, failed):
    market = replace(a_market(), failed_measurements=tuple(failed))
    before, after = decision(*situation), decision(*situation, market=market)
    assert usd(after) >= usd(before) - 1e-9
    for offer in after.comparison.offers:
        published = TYPES[offer.spec.type].ceiling(offer.spec)
        assert offer.ceiling.iops <= published.iops
        assert offer.ceiling.throughput_mib_s <= published.throughput_mib_s
    if isinstance(after, Migrate | Reprovision) and after.target != after.comparison.drop_in:
        alike = after.target.spec.type, after.target.purpose
        for least in (*before.comparison.offers, *([before.target] if isinstance(before, Change) else [])):
            if (least.spec.type, least.purpose) == alike and least != before.comparison.drop_in:
                assert after.target.spec == least.spec or (after.target.usd_month or 0) >= (least.usd_month or 0) - 1e-9


def usd(found):
    """What the cheapest offer costs that passes, or the drop-in: an offer with more than that does not pass."""
    drop_in = found.comparison.drop_in
    passed = [offer for offer in found.comparison.offers if offer.feasible]
    return min((offer.usd_month for offer in (*passed, *filter(None, [drop_in]))), default=math.inf)
