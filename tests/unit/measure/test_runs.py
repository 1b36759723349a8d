"""Which measurements are made: few, each serving all of its class, the weightiest first, within the budget."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.decide.evidence import OVERSHOOT
from plimsoll.model.volume import VolumeSpec
from plimsoll_measure.runs import Budget, Want, class_key, plan_runs, split_by_budget, usd_for

GP3 = volume_types("aws")["gp3"]


def a_want(number=0, *, iops=3000, throughput_mib_s=125, saved=10.0, region="us-east-1", zone="a"):
    spec = VolumeSpec(type="gp3", size_gib=500, iops=iops, throughput_mib_s=throughput_mib_s)
    return Want(
        volume_id=f"vol-{number:08x}",
        account="111111111111",
        region=region,
        zone=f"{region}{zone}",
        spec=spec,
        ceiling=GP3.ceiling(spec),
        saved_usd_month=saved,
    )


wants = st.lists(
    st.builds(
        a_want,
        st.integers(0, 10_000),
        iops=st.integers(3000, 80_000),
        throughput_mib_s=st.integers(125, 750),
        saved=st.floats(-500, 500),
        region=st.sampled_from(["us-east-1", "eu-west-1"]),
    ),
    max_size=60,
    unique_by=lambda want: want.volume_id,
)


@given(wants)
def test_every_want_is_served_by_exactly_one_run(found):
    served = [want.volume_id for run in plan_runs(found) for want in run.wants]
    assert sorted(served) == sorted(want.volume_id for want in found)


@given(wants)
def test_a_run_reaches_what_each_of_its_wants_offers_and_lies_under_it_as_evidence_asks(found):
    for run in plan_runs(found):
        for want in run.wants:
            assert run.ceiling.iops <= OVERSHOOT * want.ceiling.iops
            assert run.ceiling.throughput_mib_s <= OVERSHOOT * want.ceiling.throughput_mib_s
            assert run.ceiling.iops >= want.ceiling.iops
            assert run.ceiling.throughput_mib_s >= want.ceiling.throughput_mib_s
            assert (want.account, want.region, want.spec.type) == (run.wants[0].account, want.region, run.spec.type)


@given(wants)
def test_a_run_is_of_a_spec_that_can_be_bought(found):
    for run in plan_runs(found):
        assert run.spec.iops <= GP3.iops.most_at(run.spec.size_gib)
        assert run.ceiling == GP3.ceiling(run.spec)


@given(wants)
def test_the_runs_with_the_most_at_stake_come_first(found):
    stakes = [run.saved_usd_month for run in plan_runs(found)]
    assert stakes == sorted(stakes, reverse=True)


def test_where_one_asks_for_more_iops_and_another_for_more_throughput_both_are_reached():
    found = [a_want(0, iops=5131, throughput_mib_s=472), a_want(1, iops=5130, throughput_mib_s=473)]
    (run,) = plan_runs(found)
    assert (run.spec.iops, run.spec.throughput_mib_s) == (5131, 473)


def test_ten_thousand_volumes_of_the_baseline_need_one_run_a_place():
    fleet = [a_want(number, region=region) for number in range(5000) for region in ("us-east-1", "eu-west-1")]
    assert len(plan_runs(fleet)) == 2


@given(wants, st.none() | st.integers(0, 9), st.none() | st.floats(0, 3))
def test_a_budget_is_never_exceeded_and_nothing_is_lost(found, max_runs, max_usd):
    runs = plan_runs(found)
    chosen, left = split_by_budget(runs, lambda run: run.spec.iops / 10_000, Budget(max_usd=max_usd, max_runs=max_runs))
    assert max_runs is None or len(chosen) <= max_runs
    assert max_usd is None or sum(run.spec.iops / 10_000 for run in chosen) <= max_usd + 1e-9
    assert sorted(run.class_key for run in (*chosen, *left)) == sorted(run.class_key for run in runs)


@given(st.floats(1, 1e6), st.floats(1, 1e5))
def test_a_class_is_the_same_for_the_same_offer_and_another_far_away(iops, throughput_mib_s):
    ceiling = GP3.ceiling(VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=125))
    assert class_key("1", "r", "gp3", ceiling) == class_key("1", "r", "gp3", ceiling)
    assert class_key("1", "r", "gp3", ceiling) != class_key("2", "r", "gp3", ceiling)
    assert class_key("1", "r", "gp3", ceiling) != class_key("1", "r", "io2", ceiling)


def test_a_volume_is_billed_by_the_second_and_for_a_minute_at_least():
    assert usd_for(73.0, 3600) == pytest.approx(0.1)
    assert usd_for(73.0, 1) == usd_for(73.0, 60)
    assert math.isclose(usd_for(73.0, 7200), 0.2)
