"""Of volumes that share pools a part of the minutes gives the answers of all of them, to the digit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.domain.ceiling import Ceiling
from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.refine.judge import judge
from tests.builders import NOW, a_basis, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.pooled_market import MARKET, TYPES, a_capped_host, spec_of, sums_of

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)
POLICY = Policy(lookback_days=DAYS)
POLICIES = st.sampled_from(
    [
        POLICY,
        POLICY,
        replace(POLICY, target_types=("bought", "slow")),
        replace(POLICY, target_types=("middle",), min_saving_usd_month=0),
        replace(POLICY, size_on=SizeOn.AVERAGE),
        replace(POLICY, size_on=SizeOn.BUSY_TIME),
        replace(POLICY, throttle_budget_min=60),
        replace(POLICY, headroom_pct=0, upgrade_throttled_share_pct=0),
        replace(POLICY, headroom_pct=100, saturation_pct=60, min_hours=0),
    ]
)
TARIFFS = st.sampled_from([a_tariff(), a_tariff(usd_hour_waited=0.01), a_tariff(usd_hour_waited=1e9)])
LINES = (375.0, 750.0, 1500.0, 3000.0, 3000 / 1.2, 6000.0, 9000.0, 15_000 / 1.2, 15_000.0)


@st.composite
def loads(draw, number):
    """Minutes of one of several volumes, whose hot ones come near to a line by themselves or together."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = np.full(MINUTES, draw(st.sampled_from([0.0, 0.0, 0.3, 20.0, 300.0, 1200.0])))
    if draw(st.booleans()):
        iops *= rng.random(MINUTES) < draw(st.sampled_from([0.01, 0.5]))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.sampled_from([700, 1000, 1003, 2000])) + draw(st.sampled_from([0, 0, number]))
        hot = draw(st.sampled_from(LINES)) * draw(st.sampled_from([0.24, 0.48, 0.5, 0.96, 1.0, 1.01, 2.0]))
        iops[start : start + draw(st.sampled_from([1, 1, 2, 9, 200]))] = hot
    made = sums_of(
        WINDOW.start_s,
        iops,
        read_share=draw(st.sampled_from([0.0, 0.5, 1.0])),
        io_kib=draw(st.sampled_from([4.0, 16.0, 64.0])),
        burst=draw(st.sampled_from([1.0, 1.0, 2.0, 10.0])),
    )
    if draw(st.booleans()):
        start = draw(st.sampled_from([0, 500, 1000, 1990]))
        end = start + draw(st.sampled_from([5, 61, 600, 2000]))
        for values in (*made.counters, made.peak_read_ops, made.peak_write_ops):
            values[start:end] = np.nan
    return made


@st.composite
def fleets(draw):
    """Two to four volumes of one host with their minutes, those that nobody excluded, a policy and a query_cost."""
    host = a_capped_host(
        write_iops=draw(st.sampled_from([15_000.0, 4000.0])), throughput_mib_s=draw(st.sampled_from([240.0, 1200.0]))
    )
    if draw(st.integers(0, 3)) == 0:
        host = replace(host, limits=None, caps=None)
    volumes, given_sums, policy = [], {}, draw(POLICIES)
    policies = [policy, replace(policy, saturation_pct=80)] if draw(st.integers(0, 5)) == 0 else [policy]
    decided = {}
    kinds = draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=3))
    for number in range(draw(st.integers(2, 4))):
        spec = spec_of(draw(st.sampled_from(kinds)), draw(st.sampled_from([10, 200, 1000, 5000])))
        volumes.append(replace(a_volume(id=f"disk-{number}", on=host), spec=spec))
        given_sums[volumes[-1].id] = draw(loads(number))
        if draw(st.integers(0, 4)) or not decided:
            decided[volumes[-1].id] = draw(st.sampled_from(policies))
    return volumes, given_sums, decided, draw(TARIFFS)


def judged(volumes, given_sums, decided, query_cost=None, *, every_minute):
    metrics = MemoryMetrics(given=given_sums)
    found = judge(
        {name: a_basis(policy, market=MARKET) for name, policy in decided.items()},
        volumes,
        metrics.read,
        segments=cut_by_age(WINDOW, 60, metrics.retention_days, NOW.timestamp()),
        resolution_s=60,
        query_cost=query_cost or a_tariff(),
        every_minute=every_minute,
    )
    return found, metrics.usage


def told(one):
    """Everything that has to be the same, to the digit."""
    told = decided_on(one)
    return [*told, [text for text in one.recommendation.reasons if "look again" in text or "judged together" in text]]


@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(fleets())
def test_a_part_of_the_minutes_gives_the_answers_of_all_of_them(fleet):
    volumes, given_sums, decided, query_cost = fleet
    part, read = judged(volumes, given_sums, decided, query_cost, every_minute=False)
    whole, everything = judged(volumes, given_sums, decided, every_minute=True)
    assert part.keys() == whole.keys() == decided.keys()
    for name, exact in whole.items():
        assert told(part[name]) == told(exact), name
        found, expected = part[name].recommendation.demand, exact.recommendation.demand
        assert found.mean_iops == pytest.approx(expected.mean_iops, rel=1e-9)
        assert found.peak_second_iops >= expected.peak_second_iops
        assert part[name].profile is not None
    assert read.datapoints <= 1.5 * everything.datapoints


def one_hot_minute(hot, at):
    iops = np.zeros(MINUTES)
    iops[at] = hot
    return sums_of(WINDOW.start_s, iops, read_share=1.0, burst=1.0, io_kib=4.0)


def both_ways(volumes, given_sums, policy, names):
    decided = dict.fromkeys(names, policy)
    part, read = judged(volumes, given_sums, decided, every_minute=False)
    whole, everything = judged(volumes, given_sums, decided, every_minute=True)
    assert {name: told(one) for name, one in part.items()} == {name: told(one) for name, one in whole.items()}
    return {name: one.recommendation for name, one in part.items()}, read.datapoints / everything.datapoints


@pytest.mark.parametrize(("at", "action"), [(1000, "keep"), (1020, "migrate")])
def test_what_joins_others_is_read_where_both_together_could_be_too_much(at, action):
    host = a_capped_host()
    there = replace(a_volume(id="there", on=host), spec=spec_of("middle", 1000))
    new = replace(a_volume(id="new", on=host), spec=spec_of("fast", 200))  # 1,200 GiB of `middle` carry 10,200 a second
    given_sums = {"there": one_hot_minute(7000, 1000), "new": one_hot_minute(2000, at)}
    found, share = both_ways([there, new], given_sums, replace(POLICY, target_types=("middle",)), ["new"])
    assert found["new"].action == action
    assert share < 0.2


@pytest.mark.parametrize(("at", "waits"), [(1000, True), (1020, False)])
def test_what_becomes_one_type_in_two_pools_is_read_where_both_together_could_be_above_its_cap(at, waits):
    host = a_capped_host()
    cap = ("bought", Ceiling(iops=4000.0, throughput_mib_s=240.0))
    host = replace(host, caps=(*(one for one in host.caps if one[0] != "bought"), cap))
    volumes = [
        replace(a_volume(id=name, on=host), spec=spec_of(kind, 400)) for name, kind in (("a", "fast"), ("b", "middle"))
    ]
    given_sums = {"a": one_hot_minute(1900, 1000), "b": one_hot_minute(1900, at)}
    policy = replace(POLICY, target_types=("bought",), min_saving_usd_month=0)
    found, share = both_ways(volumes, given_sums, policy, ["a", "b"])
    assert found["a"].action == "migrate"
    assert (found["b"].action == "keep") == waits
    assert share < 0.2


def test_the_busiest_second_of_a_volume_that_nobody_decides_on_is_read_where_it_stays_behind():
    """Without the other's 10 GiB it carries 4,200 IOPS; one second of the two days asked for 3,600, and headroom."""
    host = replace(a_capped_host(), limits=None, caps=None)
    small, large = (
        replace(a_volume(id=f"disk-{size_gib}", on=host), spec=spec_of("middle", size_gib)) for size_gib in (10, 200)
    )
    hot = np.zeros(MINUTES)
    hot[700] = 360.0
    given_sums = {
        small.id: sums_of(WINDOW.start_s, np.zeros(MINUTES)),
        large.id: sums_of(WINDOW.start_s, hot, read_share=0.0, io_kib=4.0, burst=10.0),
    }
    part, _ = judged([small, large], given_sums, {small.id: POLICY}, every_minute=False)
    whole, _ = judged([small, large], given_sums, {small.id: POLICY}, every_minute=True)
    assert told(part[small.id]) == told(whole[small.id])
    assert part[small.id].recommendation.comparison.offers[0].spec.type == "middle"
