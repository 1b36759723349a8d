"""What an answer asks of the past, step by step, and the growth that it tells of."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Upgrade
from plimsoll.decide.groups import Unit
from plimsoll.learned_table import load_table
from plimsoll.model.policy import HeadroomFrom
from tests.builders import a_host, a_stripe_set, a_volume
from tests.profiles import examples
from tests.unit.domain.lives import (
    A_LIFE_AGO,
    DAY,
    DAYS,
    MINUTES,
    PLAIN,
    a_large,
    a_life,
    answer_to,
    cost_then,
    flat_with,
    fleets,
    judged,
    target_of,
)


def test_relief_asks_only_what_was_done_on_the_days_of_the_last_weeks():
    lives = {"vol-1": a_life(flat_with(3000), io_kib=8)}
    small = a_volume("gp3", 500, iops=3000, throughput_mib_s=125, created=A_LIFE_AGO)
    (found, with_memory), (_, alone) = judged([small], lives), judged([small], lives, memory=())
    assert isinstance(found["vol-1"].recommendation, Upgrade)
    assert with_memory.datapoints - alone.datapoints == 4 * (56 - DAYS)


def risen_to(rate, share_a_day):
    """A level that has risen by that share of what it is now on each day."""
    return rate * (1 - share_a_day * (MINUTES - np.arange(MINUTES)) / DAY)


def test_an_answer_says_how_fast_demand_grows_and_what_room_that_takes():
    found = answer_to(a_large(), risen_to(4000, 0.005), io_kib=8)
    told = " ".join(found.reasons)
    assert found.growth.headroom.usual_pct == 20
    assert f"{found.growth.iops_pct_a_day:.2g} % more operations" in told
    assert f"{found.growth.headroom.pct:g} % instead of 20 %" in told
    assert f"{found.growth.headroom.pct:g} % headroom)" in told
    assert found.target.spec.iops == pytest.approx((1 + found.growth.headroom.pct / 100) * 4000, abs=100)


def test_what_one_member_of_a_set_grows_by_all_have_room_for():
    volumes = [a_large(id=name, on=a_host()) for name in ("vol-a", "vol-b")]
    given_lives = {
        "vol-a": a_life(flat_with(4000), io_kib=8),
        "vol-b": a_life(risen_to(4000, 0.005), io_kib=8),
    }
    unit = Unit(stripes=a_stripe_set("vol-a", "vol-b"), volumes=volumes, held={})
    found, _ = judged(volumes, given_lives, units=[unit])
    assert all(one.recommendation.growth.headroom.pct == pytest.approx(141, abs=6) for one in found.values())
    assert len({one.recommendation.target.spec.iops for one in found.values()}) == 1
    assert found["vol-a"].recommendation.target.spec.iops >= 2.3 * 4000


LEARNED = replace(PLAIN, headroom_from=HeadroomFrom.LEARNED, risk_pct=20, growth_days=0)


def test_a_set_is_sized_by_what_is_usual_for_each_member():
    """The second did twice as much on one day of its past, and never again: half of that and more is usual for it."""
    volumes = [a_large(id=name, on=a_host()) for name in ("vol-a", "vol-b")]
    given_lives = {
        "vol-a": a_life(flat_with(2000), io_kib=8),
        "vol-b": a_life(flat_with(2000, (20 * DAY, 30, 4000)), io_kib=8),
    }
    unit = Unit(stripes=a_stripe_set("vol-a", "vol-b"), volumes=volumes, held={})
    found, _ = judged(volumes, given_lives, LEARNED, units=[unit])
    one, other = (found[name].recommendation for name in ("vol-a", "vol-b"))
    assert (one.risk.usual_share, other.risk.usual_share) == (1.0, pytest.approx(0.5**0.5))
    assert one.risk.headroom.pct == pytest.approx(100 * (load_table().band(80).learned.factor(20) - 1), abs=0.1)
    assert one.target.spec.iops == other.target.spec.iops >= 4000 * (1 + other.risk.headroom.pct / 100)
    assert max(one.risk.promised_pct, other.risk.promised_pct) <= 20


@pytest.mark.parametrize("every_minute", [False, True])
def test_learned_headroom_is_over_the_window_as_well_as_over_its_past(every_minute):
    """The window is known before its past is, and asks for more."""
    iops = flat_with(1000, (0, DAYS * DAY, 3000))
    found, _ = judged([a_large()], {"vol-1": a_life(iops, io_kib=8)}, LEARNED, every_minute=every_minute)
    one = found["vol-1"].recommendation
    assert one.risk.headroom.pct > 90
    assert one.target.spec.iops == pytest.approx((1 + one.risk.headroom.pct / 100) * 3000, abs=100)


def test_learned_headroom_is_none_of_relief():
    table = load_table()
    short = replace(table, bands=tuple(replace(band, memory_days=3.0) for band in table.bands[1:]))
    volume = a_volume("gp3", 500, iops=3000, throughput_mib_s=125, created=A_LIFE_AGO)
    lives = {"vol-1": a_life(flat_with(3000), io_kib=8)}
    (found, usage), (plain, alone) = (
        judged([volume], lives, policy, learned=short) for policy in (LEARNED, replace(PLAIN, growth_days=0))
    )
    relief, fixed = found["vol-1"].recommendation, plain["vol-1"].recommendation
    assert isinstance(relief, Upgrade)
    assert relief.target.spec == fixed.target.spec
    assert usage.datapoints == alone.datapoints


def test_a_highest_minute_counts_where_headroom_is_learned_of_it_and_is_named():
    iops = flat_with(1000, (20 * DAY, 1, 6000))
    found, fixed = (answer_to(a_large(), iops, policy, io_kib=8) for policy in (LEARNED, replace(PLAIN, growth_days=0)))
    factor = load_table().band(80).learned.factor(20) * found.risk.usual_share
    assert fixed.target.spec.iops == 3000
    assert found.target.spec.iops == pytest.approx(max(1.2, factor) * 6000, abs=100)
    assert found.memory.event.minutes == 1
    assert "within 1 minute." in " ".join(found.reasons)
    assert fixed.risk.left_pct < 0
    assert fixed.risk.promised_pct is None or fixed.risk.promised_pct > found.risk.promised_pct


def test_relief_is_not_given_up_where_nothing_has_room_for_the_growth():
    """1,800 MiB/s end what 1,200 throttle. With room for three months it would take more than any gp3 has."""
    policy = replace(PLAIN, target_types=("gp3",))
    volume = a_volume("gp3", 500, iops=16_000, throughput_mib_s=1200, created=A_LIFE_AGO)
    outgrown = np.minimum(4800, risen_to(5500, 0.009))
    found, alone = (answer_to(volume, outgrown, replace(policy, growth_days=days), io_kib=256) for days in (90, 0))
    assert isinstance(found, Upgrade)
    assert found.target == alone.target
    assert found.growth is None


SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=SLOW)
@given(fleets(), st.lists(st.sampled_from([0.0, 5.0, 30.0, 90.0, 365.0]), min_size=2, max_size=2))
def test_room_for_more_growth_never_makes_a_target_smaller(fleet, days):
    volumes, given_lives, policy, _ = fleet
    policy = replace(policy, target_types=("gp3",), throttle_budget_min=0.0)
    less, more = (judged(volumes, given_lives, replace(policy, growth_days=one))[0] for one in (min(days), max(days)))
    for name in less:
        roomy, roomier = less[name].recommendation, more[name].recommendation
        if isinstance(roomier, Upgrade) and roomier.growth is None and getattr(roomy, "growth", None) is not None:
            continue  # nothing that is sold carries the longer growth: relief is given without room for it
        small, large = target_of(roomy), target_of(roomier)
        if small.spec.type == large.spec.type:  # IOPS may take the place of throughput, as small I/O and large do
            assert (
                small.ceiling.iops <= large.ceiling.iops + 1e-6
                or small.ceiling.throughput_mib_s <= large.ceiling.throughput_mib_s + 1e-6
            )
        assert cost_then(roomy) <= cost_then(roomier) + 1e-9
