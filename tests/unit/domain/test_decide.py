from dataclasses import replace

import numpy as np
import pytest

from plimsoll.decide.answer import InsufficientData, Keep, Migrate, Reprovision, Upgrade, Wait
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer, answer_by_state, kind_by_state
from plimsoll.demand.host_room import host_loads
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import UnknownVolumeType
from plimsoll.model.policy import Grade
from plimsoll.model.volume import Modification, VolumeSpec, VolumeState
from tests.builders import (
    NOW,
    US_EAST_1,
    a_basis,
    a_demand,
    a_host,
    a_market,
    a_policy,
    a_spec,
    a_volume,
    decision,
)


def test_a_quiet_gp2_becomes_a_gp3_and_saves_a_fifth():
    answer = decision(a_volume("gp2", 500), a_demand(iops=400, throughput_mib_s=20))
    assert isinstance(answer, Migrate)
    assert answer.target.spec == a_spec("gp3", 500, iops=3000, throughput_mib_s=125)
    assert (answer.usd_month_now, answer.usd_month_then) == pytest.approx((50, 40))
    assert answer.usd_month_saved == pytest.approx(10)
    assert answer.usd_month_saved_drop_in == pytest.approx(5)


def test_a_gp2_that_moves_200_mib_s_gets_the_throughput_it_asked_for():
    answer = decision(a_volume("gp2", 1000), a_demand(iops=1000, throughput_mib_s=200), a_policy(drop_in_share_pct=100))
    assert answer.target.spec == a_spec("gp3", 1000, iops=3000, throughput_mib_s=240)
    assert answer.usd_month_saved == pytest.approx(100 - 80 - 115 * 0.04)


def test_a_drop_in_replacement_that_saves_nearly_as_much_goes_before():
    answer = decision(a_volume("gp2", 1000), a_demand(iops=1000, throughput_mib_s=200))
    assert answer.target.spec == a_spec("gp3", 1000, iops=3000, throughput_mib_s=250)
    assert answer.usd_month_saved == answer.usd_month_saved_drop_in == pytest.approx(15)


def test_a_gp2_of_200_gib_that_moves_200_mib_s_is_kept_because_gp3_would_cost_more():
    answer = decision(a_volume("gp2", 200), a_demand(iops=[500.0], throughput_mib_s=[200.0], buckets=3000))
    assert isinstance(answer, Keep)
    (gp3,) = (offer for offer in answer.comparison.offers if offer.spec.type == "gp3")
    assert gp3.feasible
    assert gp3.usd_month == pytest.approx(answer.usd_month_now + 0.6)


def test_an_idle_io1_becomes_a_gp3():
    demand = a_demand(iops=2000, throughput_mib_s=50)
    answer = decision(a_volume("io1", 500, iops=10_000), demand, a_policy(drop_in_share_pct=100))
    assert isinstance(answer, Migrate)
    assert answer.target.spec == a_spec("gp3", 500, iops=3000)


def test_a_gp3_with_more_than_it_needs_is_reprovisioned():
    answer = decision(a_volume("gp3", 500, iops=16_000, throughput_mib_s=1000), a_demand(iops=5000))
    assert isinstance(answer, Reprovision)
    assert answer.target.spec == a_spec("gp3", 500, iops=6000)
    assert answer.usd_month_saved == pytest.approx(10_000 * 0.005 + 875 * 0.04)


def test_a_gp3_at_its_ceiling_is_upgraded_though_it_costs_more():
    answer = decision(a_volume("gp3", 500), a_demand(iops=2990, throughput_mib_s=20))
    assert isinstance(answer, Upgrade)
    assert answer.target.spec == a_spec("gp3", 500, iops=4500)
    assert answer.usd_month_saved == pytest.approx(-7.5)
    assert answer.usd_month_saved_drop_in == 0


def test_a_credit_starved_gp2_gets_its_burst_without_credits_for_less_and_more_is_priced_beside_it():
    starved = a_demand(iops=300, throughput_mib_s=5, burst_balance_pct=0.0)
    answer = decision(a_volume("gp2", 100), starved)
    assert isinstance(answer, Migrate)
    assert answer.target.spec == a_spec("gp3", 100, iops=3000, throughput_mib_s=130)
    assert answer.usd_month_saved == pytest.approx(1.8)
    assert answer.comparison.relief.spec == a_spec("gp3", 100, iops=4500, throughput_mib_s=125)


def test_what_stood_at_the_ceiling_once_is_not_sold_headroom_above_all_that_it_had():
    once = a_demand(iops=[16_000.0], buckets=3000)
    answer = decision(a_volume("gp2", 16_384), once)
    assert isinstance(answer, Migrate)
    assert answer.demand.censored
    assert answer.target == answer.comparison.drop_in
    assert answer.target.spec == a_spec("gp3", 16_384, iops=16_000, throughput_mib_s=250)


def test_an_io2_that_its_host_holds_back_gets_what_the_host_can_use():
    wasted = a_volume("io2", 2000, iops=100_000, on=a_host("m5.large"))
    answer = decision(wasted, a_demand(iops=[18_750.0], throughput_mib_s=[100.0], buckets=3000))
    assert isinstance(answer, Migrate)
    assert answer.target.spec == a_spec("gp3", 2000, iops=18_800, throughput_mib_s=125)


def test_what_is_already_right_is_kept():
    answer = decision(a_volume("gp3", 500), a_demand(iops=500, throughput_mib_s=50))
    assert isinstance(answer, Keep)
    assert answer.reasons[0] == "The present configuration is the cheapest that carries this workload."


def test_a_saving_under_the_policys_least_is_not_worth_it():
    small, quiet = a_volume("gp2", 40), a_demand(iops=50)
    assert isinstance(decision(small, quiet), Keep)
    assert isinstance(decision(small, quiet, a_policy(min_saving_usd_month=0.5)), Migrate)


def test_too_few_hours_are_no_answer():
    answer = decision(a_volume("gp3"), a_demand(iops=100, buckets=29 * 60))
    assert isinstance(answer, InsufficientData)
    assert "hold 29.0 hours of this volume, and the policy asks for 30" in answer.reasons[0]
    assert not isinstance(decision(a_volume(), a_demand(iops=100, buckets=30 * 60)), InsufficientData)


def test_a_window_of_one_day_needs_the_hours_that_it_has_at_least():
    demand, policy = a_demand(iops=100, buckets=23 * 60), a_policy(lookback_days=1)
    assert isinstance(decision(a_volume(), demand, policy), Migrate)
    assert isinstance(decision(a_volume("gp3"), a_demand(iops=100, buckets=22 * 60), policy), InsufficientData)


def test_hours_without_points_do_not_count():
    mostly_silent = a_demand(iops=100, observed=[index < 60 for index in range(3000)], buckets=3000)
    assert isinstance(decision(a_volume("gp3"), mostly_silent), InsufficientData)


def test_silence_is_never_taken_for_idleness():
    silent = a_demand(iops=0, observed=[False] * 3000, buckets=3000)
    answer = decision(a_volume("gp3"), silent, a_policy(min_hours=1))
    assert isinstance(answer, InsufficientData)
    assert answer.demand.hours_observed == 0


def of_few_hours(volume, **policy):
    return decision(volume, a_demand(iops=100, buckets=29 * 60), a_policy(**policy))


def test_what_keeps_all_limits_needs_no_metrics():
    answer = of_few_hours(a_volume("gp2", 500))
    assert isinstance(answer, Migrate)
    assert not answer.measured
    assert answer.target.spec == VolumeSpec(type="gp3", size_gib=500, iops=3000, throughput_mib_s=250)
    assert (answer.losses, answer.cuts, answer.risk) == ((), (), None)


@pytest.mark.parametrize(
    "volume",
    [
        a_volume("standard", 100),
        a_volume("gp2", 500, state=VolumeState.ERROR),
        a_volume("gp2", 500, modification=Modification(state="optimizing", started=NOW)),
        a_volume("io2", 500, iops=20_000),
    ],
)
def test_some_volumes_have_no_replacement_without_metrics(volume):
    assert isinstance(of_few_hours(volume), InsufficientData)


def test_a_replacement_without_metrics_has_to_save_enough():
    assert isinstance(of_few_hours(a_volume("gp2", 500), min_saving_usd_month=6), InsufficientData)


def test_a_host_takes_nothing_from_limits_where_metrics_are_missing():
    answer = of_few_hours(a_volume("io1", 2000, iops=64_000, on=a_host("m4.large")))
    assert (answer.target.spec.iops, answer.target.spec.throughput_mib_s) == (64_000, 1000)


def test_without_a_price_for_the_present_type_there_is_no_answer():
    book = replace(US_EAST_1, types={"gp3": US_EAST_1.types["gp3"]})
    answer = decision(a_volume(), a_demand(iops=100), market=a_market(book))
    assert isinstance(answer, InsufficientData)
    assert answer.usd_month_now is None
    assert answer.reasons[0] == "There is no price for gp2 in us-east-1. Give one with --prices."


def test_a_volume_on_nothing_is_detached():
    detached = a_volume(on=[])
    assert kind_by_state(detached) == "detached"
    assert kind_by_state(a_volume()) is None
    assert kind_by_state(a_volume(on=[], state=VolumeState.IN_USE)) is None
    answer = answer_by_state(detached, a_basis())
    assert answer.action == "detached"
    assert answer.reasons == (
        "It is attached to nothing and costs $50.00 a month. Take a snapshot and delete it if nobody needs it.",
    )


def test_a_detached_volume_without_a_price_is_still_detached():
    answer = answer_by_state(a_volume(on=[]), a_basis(market=a_market(replace(US_EAST_1, types={}))))
    assert answer.usd_month_now is None
    assert answer.reasons == ("It is attached to nothing. Take a snapshot and delete it if nobody needs it.",)


def test_an_unknown_type_is_never_answered():
    unknown = a_volume("gp9")
    with pytest.raises(UnknownVolumeType):
        decision(unknown, a_demand(iops=1))
    with pytest.raises(UnknownVolumeType):
        answer_by_state(replace(unknown, attachments=(), state=VolumeState.AVAILABLE), a_basis())


def test_blockers_never_change_the_answer():
    free, quiet = a_volume("gp2", 500), a_demand(iops=100)
    answer = decision(replace(free, operator="eks"), quiet, a_policy(require_evidence={"migrate": Grade.B}))
    assert answer.target == decision(free, quiet).target
    assert [blocker.code for blocker in answer.blockers] == ["operator-managed", "evidence"]
    assert decision(free, quiet).blockers == ()


def test_a_reduction_waits_while_a_modification_is_under_way_and_relief_does_not():
    modifying = Modification(state="optimizing", started=NOW, original=a_spec("gp3", 500))
    waiting = decision(a_volume("gp2", 500, modification=modifying), a_demand(iops=100))
    assert isinstance(waiting, Wait)
    assert (waiting.code, waiting.expected.spec.type) == ("modification-in-progress", "gp3")
    throttled = decision(a_volume("gp3", 500, modification=modifying), a_demand(iops=2990, throughput_mib_s=20))
    assert isinstance(throttled, Upgrade)
    assert [blocker.code for blocker in throttled.blockers] == ["modification-in-progress"]


def test_two_volumes_that_fill_a_small_host_are_told_that_the_host_is_the_limit():
    host = a_host("m4.large")
    one, other = (a_volume("gp3", 500, id=name, on=host) for name in ("vol-1", "vol-2"))
    half = a_demand(iops=1800, throughput_mib_s=10)
    load = host_loads([one, other], {"vol-1": half, "vol-2": half})[host.id]
    found = answer(case_of(one, half, load, a_basis()))
    assert isinstance(found, Keep)
    assert found.reasons[0].startswith("The host i-1 (m4.large) is the limit.")


def test_both_at_their_ceiling_and_at_that_of_the_host_are_not_upgraded():
    host = replace(
        a_host("m5.24xlarge"), limits=replace(a_host("m5.24xlarge").limits, maximum_iops=6000.0, baseline_iops=6000.0)
    )
    one, other = (a_volume("gp3", 500, id=name, on=host) for name in ("vol-1", "vol-2"))
    full = a_demand(iops=3000, throughput_mib_s=20)
    load = host_loads([one, other], {"vol-1": full, "vol-2": full})[host.id]
    assert isinstance(answer(case_of(one, full, load, a_basis())), Keep)
    assert isinstance(decision(one, full), Upgrade)


def test_without_measurements_the_evidence_is_of_grade_c():
    answer = decision(a_volume("gp2", 500), a_demand(iops=100))
    assert (answer.evidence.grade, answer.evidence.envelope) == (Grade.C, None)


def test_discounts_are_part_of_the_price():
    book = replace(US_EAST_1, discounts_pct={"gp2": 50})
    assert isinstance(decision(a_volume("gp2", 500), a_demand(iops=100), market=a_market(book)), Keep)


def test_what_two_volumes_did_on_one_host_may_have_held_either_back():
    host = a_host("m5.24xlarge")
    one, other = (a_volume("io2", 2000, iops=60_000, id=name, on=host) for name in ("vol-1", "vol-2"))
    half = a_demand(iops=[39_000.0], buckets=3000)
    load = host_loads([one, other], {"vol-1": half, "vol-2": half})[host.id]
    found = answer(case_of(one, half, load, a_basis()))
    assert found.target.spec.iops == 60_000
    assert found.demand.censored
    assert (found.demand.host_bound_minutes, found.demand.throttled_minutes) == (1, 0)
    alone = decision(one, half)
    assert not alone.demand.censored
    assert alone.target.spec == a_spec("gp3", 2000, iops=46_800)


def test_the_summary_counts_what_was_observed():
    demand = a_demand(
        iops=[100.0, 300.0, 0.0],
        throughput_mib_s=[1.0, 3.0, 0.0],
        read_iops=[50.0, 50.0, 0.0],
        busy_share=[0.5, 1.0, 1.0],
        observed=[True, True, False],
    )
    summary = decision(a_volume(), demand, a_policy(min_hours=0)).demand
    assert (summary.peak_iops, summary.mean_iops) == (300, 200)
    assert (summary.peak_throughput_mib_s, summary.mean_throughput_mib_s) == (3, 2)
    assert (summary.peak_busy_iops, summary.peak_busy_throughput_mib_s) == (300, 3)
    assert summary.mean_io_size_kib == pytest.approx(10.24)
    assert summary.read_share == 0.25
    assert summary.hours_observed == pytest.approx(2 / 60)


def test_an_idle_volume_has_no_io_size_and_no_read_share():
    summary = decision(a_volume(), a_demand(iops=0)).demand
    assert (summary.mean_io_size_kib, summary.read_share) == (None, None)
    assert (summary.peak_busy_iops, summary.peak_busy_throughput_mib_s) == (None, None)


def test_the_previous_generation_is_priced_by_its_operations_too():
    quiet, busy = (decision(a_volume("standard", 100), a_demand(iops=iops)) for iops in (0.1, 50))
    assert isinstance(quiet, Keep)
    assert isinstance(busy, Migrate)
    assert busy.usd_month_now == pytest.approx(5 + 50 * 730 * 3600 / 1e6 * 0.05)


def test_the_demand_that_was_given_is_not_touched():
    demand = a_demand(iops=[2990.0] * 10, iops_exceeded=[True] * 10, buckets=10)
    before = demand.iops.copy(), demand.exceeded[Resource.IOPS].copy()
    decision(a_volume("gp3"), demand, a_policy(min_hours=0))
    assert np.array_equal(demand.iops, before[0])
    assert np.array_equal(demand.exceeded[Resource.IOPS], before[1])
