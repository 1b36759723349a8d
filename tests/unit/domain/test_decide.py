"""Answers by state alone, without enough metrics, and what stands beside targets. Targets are scenes (tests/scenes)."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.decide.answer import InsufficientData, Keep, Migrate, Upgrade, Wait
from plimsoll.decide.decide import answer_by_state, kind_by_state
from plimsoll.model.ceiling import Resource
from plimsoll.model.errors import UnknownVolumeType
from plimsoll.model.policy import Grade
from plimsoll.model.volume import Modification, VolumeState
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


def test_without_measurements_the_evidence_is_of_grade_c():
    answer = decision(a_volume("gp2", 500), a_demand(iops=100))
    assert (answer.evidence.grade, answer.evidence.envelope) == (Grade.C, None)


def test_discounts_are_part_of_the_price():
    book = replace(US_EAST_1, discounts_pct={"gp2": 50})
    assert isinstance(decision(a_volume("gp2", 500), a_demand(iops=100), market=a_market(book)), Keep)


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


def test_the_demand_that_was_given_is_not_touched():
    demand = a_demand(iops=[2990.0] * 10, iops_exceeded=[True] * 10, buckets=10)
    before = demand.iops.copy(), demand.exceeded[Resource.IOPS].copy()
    decision(a_volume("gp3"), demand, a_policy(min_hours=0))
    assert np.array_equal(demand.iops, before[0])
    assert np.array_equal(demand.exceeded[Resource.IOPS], before[1])
