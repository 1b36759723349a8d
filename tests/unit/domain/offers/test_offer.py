from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.decide.offers import bare_type_offer, ceiling_on_hosts, fit_spec, round_to_grid, round_up
from plimsoll.decide.type_offers import find_drop_in
from plimsoll.model.ceiling import Ceiling, LatencyClass, Need, Resource
from tests.builders import (
    TYPES,
    US_EAST_1,
    a_case,
    a_demand,
    a_host,
    a_market,
    a_policy,
    a_spec,
    a_volume,
    decision,
)
from tests.golden import assert_golden

NEEDS = st.builds(
    Need,
    iops=st.floats(0, 300_000),
    throughput_mib_s=st.floats(0, 5000),
    sustained_iops=st.floats(0, 300_000),
    sustained_throughput_mib_s=st.floats(0, 5000),
)


def spec(type_name, size_gib=500, **need):
    return fit_spec(TYPES[type_name], size_gib, Need(**need))


def refusals(volume, demand=None, **policy):
    """Why each type is refused, by type; nothing for those that are not."""
    answer = decision(volume, demand or a_demand(iops=100), a_policy(**policy))
    return {offer.spec.type: "; ".join(offer.refused) for offer in answer.comparison.offers}


def test_needs_are_rounded_up_to_whole_figures_but_not_for_noise():
    assert [round_up(figure) for figure in (3000.0, 3000.1, 3000 + 1e-9, 2999.5)] == [3000, 3001, 3000, 3000]


def test_gp3_is_offered_no_less_than_it_comes_with():
    assert spec("gp3", iops=1, throughput_mib_s=1) == a_spec("gp3", iops=3000, throughput_mib_s=125)


def test_gp3_gets_the_iops_that_its_throughput_needs():
    assert spec("gp3", throughput_mib_s=1000) == a_spec("gp3", iops=4000, throughput_mib_s=1000)
    assert spec("gp3", throughput_mib_s=750.5) == a_spec("gp3", iops=3004, throughput_mib_s=751)


def test_io1_and_io2_get_the_iops_that_their_throughput_needs():
    assert spec("io1", 2000, throughput_mib_s=500).iops == 2000
    assert spec("io1", 2000, throughput_mib_s=501).iops == 32_064
    assert spec("io2", 500, throughput_mib_s=1000).iops == 3907


def test_noise_at_the_end_of_a_band_buys_nothing_of_the_next():
    """io1 has 500 MiB/s from 2,000 IOPS on, and more than that from 32,000 on."""
    assert fit_spec(TYPES["io1"], 2000, Need(throughput_mib_s=500.00000000000006)).iops == 2000


def test_what_is_more_than_a_type_sells_gets_the_most_it_sells():
    assert spec("gp3", 10, iops=6000, throughput_mib_s=2500) == a_spec("gp3", 10, iops=5000, throughput_mib_s=1250)
    assert spec("io1", 100, throughput_mib_s=600).iops == 5000
    assert spec("gp2", 100, iops=99_999) == a_spec("gp2", 100)


@given(st.sampled_from(["gp3", "io1", "io2"]), st.integers(4, 16_384), NEEDS)
def test_a_fitted_spec_is_one_that_is_sold(type_name, size_gib, need):
    kind, found = TYPES[type_name], fit_spec(TYPES[type_name], size_gib, need)
    assert kind.iops.least <= found.iops <= kind.iops.most_at(size_gib)
    if type_name == "gp3":
        assert kind.throughput.least <= found.throughput_mib_s <= kind.throughput.most_at(size_gib, found.iops)


@given(st.sampled_from(["gp3", "io1", "io2"]), st.integers(4, 16_384), NEEDS)
def test_a_fitted_spec_carries_the_need_unless_it_is_the_largest_sold(type_name, size_gib, need):
    need = replace(need, sustained_iops=0.0, sustained_throughput_mib_s=0.0)
    kind, found = TYPES[type_name], fit_spec(TYPES[type_name], size_gib, need)
    ceiling = kind.ceiling(found)
    largest = found.iops == kind.iops.most_at(size_gib) or found.throughput_mib_s == getattr(kind.throughput, "most", 0)
    assert largest or ceiling.iops >= need.iops - 1e-5
    assert largest or ceiling.throughput_mib_s >= need.throughput_mib_s - 1e-5


@given(st.sampled_from(["gp3", "io1", "io2"]), st.integers(4, 16_384), NEEDS)
def test_a_fitted_spec_has_nothing_to_spare(type_name, size_gib, need):
    """One IOPS less, or one MiB/s less, and it would no longer carry the need, or no longer be sold."""
    kind, found = TYPES[type_name], fit_spec(TYPES[type_name], size_gib, need)
    fewer = kind.ceiling(replace(found, iops=found.iops - 1))
    throughput = max(need.throughput_mib_s, need.sustained_throughput_mib_s)
    carries = fewer.iops >= max(need.iops, need.sustained_iops) and fewer.throughput_mib_s >= throughput
    carries &= fewer.sustained_throughput_mib_s >= need.sustained_throughput_mib_s
    if type_name == "gp3":
        assert found.throughput_mib_s == 125 or found.throughput_mib_s - 1 < throughput
        carries &= found.throughput_mib_s <= kind.throughput.per_iops * (found.iops - 1)
    assert found.iops in (kind.iops.least, kind.iops.most_at(size_gib)) or not carries


def test_io2_is_offered_the_iops_that_its_throughput_needs_for_ever():
    need = Need(throughput_mib_s=750, sustained_throughput_mib_s=750)
    found = fit_spec(TYPES["io2"], 500, need)
    assert TYPES["io2"].ceiling(found).sustained_throughput_mib_s >= 750


def test_the_wording_of_every_refusal():
    io2 = a_volume("io2", 500, iops=1000)
    found = {
        "a type that the policy does not name": refusals(a_volume("io1", 500), target_types=("gp3",))["io2"],
        "a previous generation": refusals(a_volume("standard", 100))["standard"],
        "too small": refusals(a_volume("gp2", 100), target_types=("st1", "gp3"))["st1"],
        "too large": refusals(a_volume("gp3", 20_000))["io1"],
        "a boot volume": refusals(a_volume("gp2", 500, boot=True), target_types=("st1", "gp3"))["st1"],
        "several hosts": refusals(a_volume("io1", 500, on=[a_host(id="i-1"), a_host(id="i-2")]))["gp3"],
        "latency": refusals(io2, latency_floor=LatencyClass.SUB_MS)["gp3"],
        "durability": refusals(io2, durability_floor_pct=99.999)["gp3"],
        "more than it sells": refusals(a_volume("io2", 200, iops=20_000), a_demand(throughput_mib_s=1800))["gp3"],
        "credits": refusals(a_volume("gp3", 100), a_demand(iops=1000), target_types=("gp2",))["gp2"],
        "credits, with headroom": refusals(a_volume("gp3", 384), a_demand(iops=1151), target_types=("gp2",))["gp2"],
    }
    assert_golden("refusals", "\n".join(f"{name}\n  - {text}" for name, text in found.items()))


def test_types_that_the_policy_does_not_name_are_refused_but_for_the_present_one():
    found = refusals(a_volume("io1", 500), target_types=("gp3",))
    assert "target_types" in found["io2"]
    assert found["gp3"] == found["io1"] == ""


def test_a_boot_volume_is_offered_nothing_that_boots_no_host():
    found = refusals(a_volume("gp2", 500, boot=True), target_types=("st1", "gp3"))
    assert "boot volume" in found["st1"]
    assert "boot" not in refusals(a_volume("gp2", 500), target_types=("st1", "gp3"))["st1"]


def test_a_volume_on_several_hosts_is_offered_nothing_that_attaches_to_one():
    shared = a_volume("io1", 500, on=[a_host(id="i-1"), a_host(id="i-2")])
    found = refusals(shared)
    assert "several hosts" in found["gp3"]
    assert found["io2"] == ""


def test_latency_and_durability_floors_hold_an_io2_where_it_is():
    io2 = a_volume("io2", 500, iops=1000)
    assert refusals(io2)["gp3"] == ""
    by_latency = refusals(io2, latency_floor=LatencyClass.SUB_MS)
    assert "single-digit milliseconds" in by_latency["gp3"]
    assert by_latency["io2"] == ""
    assert "99.8 % durable" in refusals(io2, durability_floor_pct=99.999)["gp3"]


def test_a_type_without_a_price_is_refused():
    book = replace(US_EAST_1, types={name: price for name, price in US_EAST_1.types.items() if name != "gp3"})
    answer = decision(a_volume("gp2"), a_demand(iops=100), market=a_market(book))
    (gp3,) = (offer for offer in answer.comparison.offers if offer.spec.type == "gp3")
    assert ["no price for gp3" in reason for reason in gp3.refused] == [True]
    assert gp3.usd_month is None
    assert answer.comparison.offers[-1] == gp3


def test_a_reduction_within_a_type_keeps_its_size():
    offer = decision(a_volume("gp3", 10, iops=5000), a_demand(iops=4500)).comparison.offer("gp3")
    assert (offer.spec.size_gib, offer.spec.iops, offer.staying) == (10, 5000, Resource.IOPS)


def test_a_type_whose_credits_would_run_out_is_refused_though_its_peak_is_enough():
    day_of_1000 = a_demand(iops=1000)
    assert "would throttle" in refusals(a_volume("gp3", 100), day_of_1000, target_types=("gp2",))["gp2"]
    assert refusals(a_volume("gp3", 400), day_of_1000, target_types=("gp2",))["gp2"] == ""


def test_credits_must_last_with_headroom():
    assert "would throttle" in refusals(a_volume("gp3", 384), a_demand(iops=1151), target_types=("gp2",))["gp2"]
    assert refusals(a_volume("gp3", 480), a_demand(iops=1150), target_types=("gp2",))["gp2"] == ""


def test_an_offered_hdd_must_stand_random_operations():
    small_and_random = a_demand(iops=200, throughput_mib_s=1)
    assert "would throttle" in refusals(a_volume("gp3", 1024), small_and_random, target_types=("st1",))["st1"]
    few_and_large = a_demand(iops=20, throughput_mib_s=20)
    assert refusals(a_volume("gp3", 1024), few_and_large, target_types=("st1",))["st1"] == ""


def test_older_hosts_give_io1_no_more_than_32000_iops():
    on_xen = a_volume("io1", 2000, iops=64_000, on=a_host("t2.micro"))
    assert decision(on_xen, a_demand(iops=100)).comparison.present.iops == 32_000
    assert decision(a_volume("io1", 2000, iops=64_000), a_demand(iops=100)).comparison.present.iops == 64_000


def test_cheapest_first_and_refused_last():
    offers = decision(a_volume("io1", 500), a_demand(iops=100)).comparison.offers
    assert [offer.feasible for offer in offers] == sorted((offer.feasible for offer in offers), reverse=True)
    prices = [offer.usd_month for offer in offers if offer.feasible]
    assert prices == sorted(prices)


def test_of_equal_prices_the_better_latency_wins():
    book = replace(US_EAST_1, types={**US_EAST_1.types, "io1": US_EAST_1.types["io2"]})
    offers = decision(a_volume("io1", 500), a_demand(iops=100), market=a_market(book)).comparison.offers
    feasible = [offer.spec.type for offer in offers if offer.feasible]
    assert feasible.index("io2") < feasible.index("io1")


def a_drop_in(volume, **policy):
    bundle = find_drop_in([a_case(volume, a_demand(iops=100), a_policy(**policy))])
    return None if bundle is None else bundle.offers[0]


def test_a_drop_in_has_figures_that_people_use():
    assert a_drop_in(a_volume("gp2", 1234)).spec == a_spec("gp3", 1234, iops=3800, throughput_mib_s=250)


def test_figures_are_rounded_up_within_what_is_sold():
    gp3 = TYPES["gp3"]
    assert round_to_grid(gp3, a_spec("gp3", iops=3004, throughput_mib_s=751), a_policy().steps) == a_spec(
        "gp3", iops=3100, throughput_mib_s=755
    )
    small = a_spec("gp3", 8, iops=3950, throughput_mib_s=125)
    assert round_to_grid(gp3, small, a_policy().steps).iops == 4000
    assert round_to_grid(gp3, small, a_policy(iops_step=1, throughput_step_mib_s=1).steps) == small
    assert round_to_grid(TYPES["gp2"], a_spec("gp2", 77), a_policy().steps) == a_spec("gp2", 77)


def test_drop_in_is_another_configuration_than_the_present_one():
    gp3 = a_volume("gp3", 500)
    assert a_drop_in(gp3).spec.type == "io2"
    assert a_drop_in(gp3, target_types=("gp3",)) is None


def test_drop_in_keeps_what_a_shared_io1_can_do():
    shared = a_volume("io1", 500, iops=10_000, on=[a_host(id="i-1"), a_host(id="i-2")])
    assert a_drop_in(shared).spec.type == "io2"


def test_a_bare_flip_gives_what_a_type_includes():
    offer = bare_type_offer(TYPES["gp3"], 500, US_EAST_1)
    assert offer.spec == a_spec("gp3", 500, iops=3000, throughput_mib_s=125)
    assert offer.usd_month == pytest.approx(40)


@pytest.mark.parametrize("type_name", ["gp2", "io1", "io2", "st1"])
def test_there_is_no_bare_flip_to_a_type_that_includes_nothing(type_name):
    assert bare_type_offer(TYPES[type_name], 500, US_EAST_1) is None


def test_nothing_needed_is_still_something_to_buy():
    assert spec("io2").iops == 100


def test_a_volume_on_several_hosts_is_capped_by_all_or_by_none():
    def carried(*hosts):
        shared = a_volume("io2", 500, iops=10_000, on=hosts)
        return ceiling_on_hosts(TYPES["io2"], shared.spec, shared).iops

    small = replace(a_host(id="i-1"), caps=(("io2", Ceiling(iops=2000.0, throughput_mib_s=100.0)),))
    other = replace(small, id="i-2")
    assert carried(small) == 2000
    assert carried(small, other) == 4000
    assert carried(small, replace(other, caps=())) == 10_000
    assert carried(small, replace(other, caps=None)) == 10_000
    assert carried(small, None) == 10_000
