"""What holds of every decision, whatever the volume, its hosts, its demand and the policy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, Keep, Migrate, Reprovision, Upgrade
from plimsoll.model.market import FromIops, Provisioned
from plimsoll.model.policy import OfferPurpose, SizeOn
from plimsoll.model.volume import ceiling_of_hosts
from tests.builders import TYPES, US_EAST_1, a_case, a_demand, a_host, a_policy, a_spec, a_volume, decision
from tests.profiles import examples
from tests.unit.domain.strategies import AT_THE_CEILING, policies, situations

LAW = settings()
CHANGES = (Migrate, Reprovision, Upgrade)
SOLD = [name for name, kind in TYPES.items() if kind.sold]


def feasible(recommendation):
    return [offer for offer in recommendation.comparison.offers if offer.feasible]


def wanted(demand, kind, policy, most_mib_s=math.inf):
    """IOPS and MiB/s that an offer of a type must carry for the demand alone, headroom included."""
    headroom = 1 + policy.headroom_pct / 100
    moved = np.minimum(demand.throughput_mib_s * headroom, most_mib_s)
    return np.maximum(demand.iops * headroom, moved * 1024 / kind.io_kib).max(), moved.max()


def cheapest(volume, demand, policy):
    """What the cheapest offer costs that passes."""
    return min((offer.usd_month for offer in feasible(decision(volume, demand, policy))), default=math.inf)


def saved(recommendation):
    return recommendation.usd_month_saved if isinstance(recommendation, CHANGES) else 0.0


@given(situations(policy=policies()))
@LAW
def test_no_offer_is_under_the_demand_with_headroom_unless_its_hosts_could_never_use_it(situation):
    volume, demand, policy = situation
    assume(demand.resolution_s == 60)  # for longer a host that bursts carries less
    hosts = ceiling_of_hosts(volume)
    for offer in feasible(decision(*situation)):
        iops, moved = wanted(demand, TYPES[offer.spec.type], policy, hosts.throughput_mib_s)
        to_a_millionth = 1 - 1e-6
        # What stays as it is rests on no demand.
        assert offer.judged_ceiling.iops >= min(hosts.iops, iops) * to_a_millionth - 1e-5
        assert offer.judged_ceiling.throughput_mib_s >= moved * to_a_millionth - 1e-5


@given(situations(quiet=True, policy=policies(size_on=SizeOn.AVERAGE)))
@LAW
def test_a_volume_is_never_offered_more_than_its_hosts_can_use(situation):
    """A volume that stays as it is, is offered nothing: a step less may save too little."""
    volume, _, policy = situation
    hosts, step = ceiling_of_hosts(volume), policy.throughput_step_mib_s
    usable_mib_s = np.ceil(hosts.throughput_mib_s / step) * step
    for offer in (offer for offer in feasible(decision(*situation)) if offer.spec != volume.spec):
        kind, spec = TYPES[offer.spec.type], offer.spec
        implied = 0.0
        if isinstance(kind.throughput, Provisioned):
            assert spec.throughput_mib_s < max(kind.throughput.least, usable_mib_s) + 1
            implied = spec.throughput_mib_s / kind.throughput.per_iops
        elif isinstance(kind.throughput, FromIops):
            implied = max(usable_mib_s * 1024 / kind.io_kib, kind.throughput.least_iops(usable_mib_s))
        if isinstance(kind.iops, Provisioned):
            assert spec.iops < max(kind.iops.least, hosts.iops, implied) + policy.iops_step + 1


@given(situations(), st.floats(0, 100))
@LAW
def test_more_headroom_never_makes_the_cheapest_that_passes_cheaper(situation, more_pct):
    volume, demand, policy = situation
    careful = replace(policy, headroom_pct=policy.headroom_pct + more_pct)
    assert cheapest(volume, demand, careful) >= cheapest(*situation) - 1e-9


@given(situations(), st.floats(0, 40_000), st.floats(0, 86_400))
@LAW
def test_a_larger_budget_never_makes_the_cheapest_that_passes_dearer(situation, budget_min, wait_s):
    volume, demand, policy = situation
    assume(not a_case(*situation).frequent)
    tolerant = replace(policy, throttle_budget_min=budget_min, max_wait_s=max(60, wait_s))
    assert cheapest(volume, demand, tolerant) <= cheapest(*situation) + 1e-9


@given(situations())
@LAW
def test_a_size_never_shrinks_and_no_reduction_within_a_type_grows(situation):
    volume, _, _ = situation
    found = decision(*situation)
    assert all(offer.spec.size_gib >= volume.spec.size_gib for offer in found.comparison.offers)
    if isinstance(found, Reprovision):
        assert found.target.spec.size_gib == volume.spec.size_gib


@given(situations())
@settings(max_examples=examples(50))
def test_deciding_twice_gives_the_same(situation):
    first, again = decision(*situation), decision(*situation)
    assert type(first) is type(again)
    assert first.reasons == again.reasons
    assert saved(first) == saved(again)


@given(situations(types=["gp2", "gp3", "io1", "io2"], quiet=True, policy=policies(headrooms_pct=st.floats(6, 100))))
@LAW
def test_after_a_change_that_a_proved_demand_allowed_nothing_is_left_to_change(situation):
    volume, demand, policy = situation
    first = decision(*situation)
    if isinstance(first, Migrate | Reprovision) and first.target != first.comparison.drop_in:
        changed = replace(volume, spec=first.target.spec)
        assert isinstance(decision(changed, demand, policy), Keep)


def test_a_volume_whose_host_stops_one_resource_is_not_upgraded_on_the_other():
    """It stands at its own ceiling of throughput too, and operations alone would relieve nothing."""
    volume = a_volume("gp3", 7, iops=3_000, throughput_mib_s=355, on=a_host("m5.large"))
    demand = a_demand([1_994.0], [353.9], resolution_s=3600)
    policy = a_policy(min_hours=0, headroom_pct=6.0, size_on=SizeOn.AVERAGE, target_types=("gp3",))
    assert isinstance(decision(volume, demand, policy), Keep)


@given(st.integers(3000, 16_000), st.integers(125, 1000), st.floats(0.85, 0.94), st.floats(0.01, 0.3), st.booleans())
@LAW
def test_a_figure_that_leaves_no_headroom_stays_as_it_is_whatever_its_steps_and_the_other_is_cut(
    iops, throughput_mib_s, full, idle, is_full_of_iops
):
    throughput_mib_s = min(throughput_mib_s, iops // 4)
    volume = a_volume("gp3", 500, iops=iops, throughput_mib_s=throughput_mib_s, on=a_host("m5.24xlarge"))
    moved = (idle if is_full_of_iops else full) * throughput_mib_s
    done = (full if is_full_of_iops else idle) * iops
    answer = decision(volume, a_demand([done], [moved]), a_policy(min_hours=0, target_types=("gp3",)))
    if is_full_of_iops:
        then = a_spec("gp3", 500, iops=iops, throughput_mib_s=max(125, math.ceil(1.2 * moved / 5 - 1e-9) * 5))
    else:
        least = max(1.2 * done, 1.2 * moved * 4, 4 * throughput_mib_s)
        then = a_spec(
            "gp3", 500, iops=max(3000, math.ceil(least / 100 - 1e-9) * 100), throughput_mib_s=throughput_mib_s
        )
    if US_EAST_1.usd_month(volume.spec) - US_EAST_1.usd_month(then) >= 1.0:
        assert isinstance(answer, Reprovision), answer.reasons
        assert answer.target.spec == then
    else:
        assert isinstance(answer, Keep), answer.target


@given(situations(types=["gp2"], policy=policies()), st.integers(171, 16_384))
@LAW
def test_a_gp2_that_asked_for_more_than_125_mib_s_never_gets_gp3s_default_throughput(situation, size_gib):
    volume, demand, policy = situation
    volume = replace(volume, spec=replace(volume.spec, size_gib=size_gib))
    assume(demand.throughput_mib_s.max() > 125)
    answer = decision(volume, demand, policy)
    for offer in feasible(answer):
        assert offer.spec.type != "gp3" or offer.spec.throughput_mib_s > 125


@given(situations(policy=policies()))
@LAW
def test_the_target_is_the_cheapest_that_nothing_speaks_against(situation):
    answer = decision(*situation)
    found = feasible(answer)
    if isinstance(answer, CHANGES):
        assert answer.target.spec != answer.volume.spec
    if not isinstance(answer, CHANGES[:2]) or answer.target == answer.comparison.drop_in:
        return
    if answer.target.purpose is OfferPurpose.HOLD:  # throttled either way, and offers are what ends that
        assert answer.usd_month_then < answer.usd_month_now
        assert answer.target.tried.throttled_minutes <= answer.comparison.now.throttled_minutes
        return
    assert answer.target in found
    if answer.too_risky is None:
        assert answer.target.usd_month == min(offer.usd_month for offer in found)


@given(situations(policy=policies()))
@LAW
def test_what_is_kept_is_kept_because_nothing_saves_enough(situation):
    answer = decision(*situation)
    cheapest = min((offer.usd_month for offer in feasible(answer)), default=math.inf)
    if isinstance(answer, Keep) and not a_case(*situation).frequent:
        assert answer.usd_month_now - cheapest < a_policy().min_saving_usd_month


@given(situations(policy=policies()))
@LAW
def test_money_adds_up(situation):
    answer = decision(*situation)
    assume(isinstance(answer, Change))
    assert answer.usd_month_saved == answer.usd_month_now - answer.usd_month_then
    assert answer.usd_month_then == pytest.approx(US_EAST_1.usd_month(answer.target.spec))
    assert 0 <= answer.usd_month_saved_drop_in <= max(0.0, answer.usd_month_saved)
    if not isinstance(answer, Upgrade):
        assert answer.usd_month_saved >= a_policy().min_saving_usd_month


@given(situations(policy=policies()))
@LAW
def test_the_drop_in_offer_carries_everything_that_the_present_volume_can_ever_do_on_its_host(situation):
    answer = decision(*situation)
    drop_in, usable = answer.comparison.drop_in, answer.comparison.usable
    assume(drop_in is not None)
    assert drop_in.spec != answer.volume.spec
    assert drop_in.ceiling.iops >= usable.iops - 1e-5
    assert drop_in.ceiling.throughput_mib_s >= usable.throughput_mib_s - 1e-5
    assert drop_in.ceiling.sustained_iops >= usable.sustained_iops - 1e-5
    assert drop_in.ceiling.sustained_throughput_mib_s >= usable.sustained_throughput_mib_s - 1e-5


@given(situations(policy=policies()))
@LAW
def test_every_published_type_is_offered_once_or_refused_with_a_reason(situation):
    answer = decision(*situation)
    offers = answer.comparison.offers
    assert sorted(offer.spec.type for offer in offers) == sorted(TYPES)
    _, _, policy = situation
    for offer in offers:
        kind = TYPES[offer.spec.type]
        assert all(offer.refused)
        if offer.feasible:
            assert kind.sold
            assert kind.name in {*policy.target_types, answer.volume.spec.type}
            assert kind.boots or not answer.volume.boot
            assert kind.multi_attach or len(answer.volume.attachments) < 2


@given(situations(share=AT_THE_CEILING, policy=policies()))
@settings(max_examples=examples(300))
def test_an_upgrade_relieves_a_resource_that_is_throttled_often(situation):
    answer = decision(*situation)
    if not isinstance(answer, Upgrade):  # two in three: its hosts are the limit, or no type sells more
        return
    present, then = answer.comparison.present, answer.target.ceiling
    assert (
        then.iops > present.iops
        or then.sustained_iops > present.sustained_iops
        or then.throughput_mib_s > present.throughput_mib_s
        or then.sustained_throughput_mib_s > present.sustained_throughput_mib_s
    )
    assert answer.demand.throttled_minutes > 0
