from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.offers.drop_ins import find_drop_in
from tests.builders import US_EAST_1, a_case, a_demand, a_policy, a_spec, a_volume


def usd_month(type_name, size_gib, **provisioned):
    return US_EAST_1.usd_month(a_spec(type_name, size_gib, **provisioned))


def saved_drop_in(size_gib):
    """What a gp2 of that size saves as the gp3 that can do all that it can, and that gp3."""
    volume = a_volume("gp2", size_gib)
    (offer,) = find_drop_in(
        [a_case(volume, a_demand(iops=100), a_policy(target_types=("gp3",), iops_step=1, throughput_step_mib_s=1))]
    ).offers
    return US_EAST_1.usd_month(volume.spec) - offer.usd_month, offer.spec


@given(st.integers(171, 249))
def test_from_171_to_249_gib_a_gp3_of_equal_performance_costs_more_than_gp2(size_gib):
    saved, spec = saved_drop_in(size_gib)
    assert saved == pytest.approx(0.02 * size_gib - 5)
    assert saved < 0
    assert (spec.iops, spec.throughput_mib_s) == (3000, 250)


def test_at_250_gib_a_gp3_of_equal_performance_costs_the_same():
    assert saved_drop_in(250)[0] == pytest.approx(0)


@given(st.integers(251, 1000))
def test_to_1000_gib_drop_in_saves_two_cents_a_gib_less_five_dollars(size_gib):
    saved, spec = saved_drop_in(size_gib)
    assert saved == pytest.approx(0.02 * size_gib - 5)
    assert saved > 0
    assert (spec.iops, spec.throughput_mib_s) == (3000, 250)


@given(st.integers(1001, 5333))
def test_to_5333_gib_drop_in_also_buys_three_iops_a_gib(size_gib):
    saved, spec = saved_drop_in(size_gib)
    assert saved == pytest.approx(0.005 * size_gib + 10)
    assert (spec.iops, spec.throughput_mib_s) == (3 * size_gib, 250)


@given(st.integers(5334, 16_384))
def test_above_it_drop_in_is_16000_iops(size_gib):
    saved, spec = saved_drop_in(size_gib)
    assert saved == pytest.approx(0.02 * size_gib - 70)
    assert (spec.iops, spec.throughput_mib_s) == (16_000, 250)


@given(st.integers(1, 170))
def test_to_170_gib_drop_in_is_three_mib_s_above_the_default(size_gib):
    saved, spec = saved_drop_in(size_gib)
    assert saved == pytest.approx(0.02 * size_gib - 0.12)
    assert (spec.iops, spec.throughput_mib_s) == (3000, 128)


@given(st.integers(333, 16_384))
def test_where_it_saves_drop_in_saves_5_to_16_percent_and_never_the_20_that_everyone_quotes(size_gib):
    saved, _ = saved_drop_in(size_gib)
    assert 0.049 < saved / usd_month("gp2", size_gib) < 0.16


@given(st.integers(1, 16_384))
def test_a_bare_flip_saves_the_20_percent_that_everyone_quotes(size_gib):
    assert usd_month("gp3", size_gib) == pytest.approx(0.8 * usd_month("gp2", size_gib))


@pytest.mark.parametrize(
    ("iops", "usd"),
    [
        (100, 6.5),
        (32_000, 2080),
        (32_001, 2080 + 0.0455),
        (64_000, 2080 + 1456),
        (64_001, 2080 + 1456 + 0.03185),
        (256_000, 2080 + 1456 + 6115.2),
    ],
)
def test_io2_iops_are_charged_by_tiers(iops, usd):
    assert usd_month("io2", 1000, iops=iops) == pytest.approx(125 + usd)


def test_gp3_charges_what_is_above_its_included_performance():
    assert usd_month("gp3", 100) == pytest.approx(8)
    assert usd_month("gp3", 100, iops=4000, throughput_mib_s=250) == pytest.approx(8 + 5 + 5)


def test_io1_charges_every_iops_and_gp2_none():
    assert usd_month("io1", 100, iops=1000) == pytest.approx(12.5 + 65)
    assert usd_month("gp2", 100) == pytest.approx(10)


def test_the_previous_generation_is_billed_by_operation_as_well():
    million_a_month = 1e6 / (730 * 3600)
    spec = a_spec("standard", 100)
    assert US_EAST_1.usd_month(spec, mean_iops=100 * million_a_month) == pytest.approx(5 + 5)


def test_a_type_without_a_price_has_none():
    assert US_EAST_1.usd_month(a_spec("gp9")) is None


def test_discounts_are_by_type_and_else_for_all():
    book = replace(US_EAST_1, discounts_pct={"gp3": 10, "*": 50})
    assert book.usd_month(a_spec("gp3", 100)) == pytest.approx(0.9 * 8)
    assert book.usd_month(a_spec("gp2", 100)) == pytest.approx(0.5 * 10)


@given(st.sampled_from(["gp3", "io1", "io2"]), st.integers(100, 256_000), st.integers(100, 256_000))
def test_more_iops_never_cost_less(type_name, one, other):
    few, many = sorted((one, other))
    assert usd_month(type_name, 500, iops=few) <= usd_month(type_name, 500, iops=many) + 1e-9
