"""What is left unread of the past changes nothing."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, Wait
from plimsoll.demand.days import days_of_moves
from plimsoll.model.ceiling import Ceiling
from plimsoll.model.policy import Headroom, HeadroomFrom, OfferPurpose
from plimsoll.model.units import DAY_S
from plimsoll.past.memory import Past, clip_memory, memory_start_s
from plimsoll.reading.window import Window
from plimsoll.refine.past import look_at_days, look_at_highest, looks
from tests.builders import NOW, a_volume, ceiling_of
from tests.in_memory.ports import cut
from tests.oracle.past import buckets_of, required_by
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.lives import OLDEST_S, PAST_MINUTES, SEGMENTS, cost_then, fleets, judged, learn, whole_past

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=SLOW)
@given(fleets())
def test_whatever_is_left_unread_of_the_past_the_answer_is_that_of_all_of_it(fleet):
    volumes, given_lives, policy, query_cost = fleet
    part, _ = judged(volumes, given_lives, policy, query_cost=query_cost)
    whole, _ = judged(volumes, given_lives, policy, every_minute=True)
    for name, exact in whole.items():
        assert decided_on(part[name]) == decided_on(exact), name
        found, expected = part[name].recommendation.memory, exact.recommendation.memory
        assert part[name].recommendation.growth == exact.recommendation.growth
        assert (found is None) == (expected is None)
        assert found is None or found.instead_of == expected.instead_of


@settings(max_examples=examples(300), deadline=None, suppress_health_check=SLOW)
@given(fleets())
def test_an_answer_carries_what_every_bucket_of_the_past_requires(fleet):
    """Relief, and what throttles no more, carry of it as much as the volume does today; a resource that stays rests on
    no demand."""
    volumes, given_lives, policy, _ = fleet
    found, _ = judged(volumes, given_lives, policy)
    for volume in volumes:
        past = naive_past(volume, given_lives[volume.id], policy)
        one = found[volume.id].recommendation
        offer = one.target if isinstance(one, Change) else one.expected if isinstance(one, Wait) else None
        if one.memory is None or offer is None:
            continue
        rules = oracle_policy(policy)
        if policy.headroom_from is HeadroomFrom.LEARNED:
            rules["headroom_pct"] = one.risk.headroom.pct if isinstance(one, Change) and one.risk else 0.0
        needs = required_by(past, rules, {"iops": 80_000, "mib_s": 2375 * 1e6 / 2**20})
        present = one.comparison.present
        drop_in = offer.ceiling.iops >= present.iops and offer.ceiling.throughput_mib_s >= present.throughput_mib_s
        most = Ceiling(iops=math.inf, throughput_mib_s=math.inf) if offer.purpose is OfferPurpose.REDUCE else present
        assert drop_in or offer.judged_ceiling.iops >= min(needs["iops"], most.iops) - 1e-3
        assert drop_in or offer.judged_ceiling.throughput_mib_s >= min(needs["mib_s"], most.throughput_mib_s) - 1e-3


def oracle_policy(policy):
    names = ("headroom_pct", "settle_days", "memory_days", "throttle_budget_min")
    return {name: getattr(policy, name) for name in names}


def naive_past(volume, life, policy):
    ops, moved = life.write_ops[:PAST_MINUTES], life.write_bytes[:PAST_MINUTES]
    moved_on = [one.since.timestamp() for one in volume.attachments]
    rules = oracle_policy(policy)
    return buckets_of(ops, moved, OLDEST_S // 60, NOW.timestamp(), volume.created.timestamp(), moved_on, rules)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(young=False))
def test_what_the_past_requires_is_what_the_oracle_finds_hour_by_hour(fleet):
    volumes, given_lives, policy, _ = fleet
    for volume in volumes:
        past = whole_past(volume, given_lives[volume.id], policy)
        hosts = ceiling_of(a_volume("io2", 60_000, iops=256_000))
        least, most = past.find_needs(Headroom.from_policy(policy), hosts, policy.throttle_budget_min)
        needs = required_by(
            naive_past(volume, given_lives[volume.id], policy),
            oracle_policy(policy),
            {"iops": hosts.iops, "mib_s": hosts.throughput_mib_s},
        )
        assert least == most
        assert (least.iops, least.throughput_mib_s) == pytest.approx((needs["iops"], needs["mib_s"]), rel=1e-9)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(), st.lists(st.integers(0, 455), min_size=2, max_size=2))
def test_a_wider_memory_never_loosens_a_veto(fleet, days):
    volumes, given_lives, policy, _ = fleet
    # Weeks of which more are known may tell of less growth, and a longer history may earn a smaller learned headroom.
    policy = replace(policy, growth_days=0, headroom_from=HeadroomFrom.FIXED)
    short, long = (judged(volumes, given_lives, replace(policy, memory_days=one))[0] for one in (min(days), max(days)))
    for name in short:
        assert cost_then(short[name].recommendation) <= cost_then(long[name].recommendation) + 1e-9


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(young=False), st.lists(st.floats(0.5, 20_000), min_size=2, max_size=2), st.integers(0, 80))
def test_what_is_known_of_the_past_lies_around_all_of_it_at_every_step(fleet, limits, first_day):
    volumes, given_lives, policy, query_cost = fleet
    volume, life = volumes[0], given_lives["vol-0"]
    whole = whole_past(volume, life, policy)
    hosts = ceiling_of(a_volume("io2", 60_000, iops=256_000))
    (exact, _), past = (
        whole.find_needs(Headroom.from_policy(policy), hosts, policy.throttle_budget_min),
        Past(clip_memory(volume, SEGMENTS), memory_start_s(volume, policy, NOW.timestamp()), days_of_moves(volume)),
    )
    asked, rounds = [*look_at_highest(past), *look_at_days(some_days(past, first_day))], 0
    while asked:
        for look in asked:
            learn(past, look, dict(cut(life, look.window, look.period_s, look.series).series.items()))
        least, most = past.find_needs(Headroom.from_policy(policy), hosts, policy.throttle_budget_min)
        assert least.iops <= exact.iops * (1 + 1e-9) <= most.iops * (1 + 1e-6) + 1e-6
        assert least.throughput_mib_s <= exact.throughput_mib_s * (1 + 1e-9)
        assert exact.throughput_mib_s <= most.throughput_mib_s * (1 + 1e-6) + 1e-6
        asked, rounds = looks(past, limits, query_cost), rounds + 1
        assert rounds < 10


def some_days(past, first_day):
    start_s = min(past.counted_window.start_s + first_day * DAY_S, past.window.end_s)
    return Window(start_s=start_s, end_s=past.window.end_s)
