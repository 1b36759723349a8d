"""Where reads and writes have limits of their own and busiest seconds are known, a part of the minutes still gives the
answer of all of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import Policy, SizeOn
from plimsoll.domain.recommendation import Change, Keep
from plimsoll.domain.refine.judge import judge
from tests.builders import NOW, a_basis, a_tariff, a_volume
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.pooled_market import MARKET, TYPES, a_capped_host, spec_of, sums_of

DAYS = 2
WINDOW = Window.before(NOW, days=DAYS)
MINUTES = WINDOW.buckets(60)

POLICIES = st.sampled_from(
    [
        Policy(lookback_days=DAYS),
        Policy(lookback_days=DAYS, size_on=SizeOn.AVERAGE),
        Policy(lookback_days=DAYS, size_on=SizeOn.BUSY_TIME),
        Policy(lookback_days=DAYS, throttle_budget_min=60),
        Policy(lookback_days=DAYS, headroom_pct=0, upgrade_throttled_share_pct=0),
        Policy(lookback_days=DAYS, headroom_pct=100, saturation_pct=60, min_hours=0),
    ]
)
LINES = (0.5, 375.0, 750.0, 1500.0, 3000.0, 3000 / 1.2, 6000.0, 15_000 / 1.2, 15_000.0, 21_000.0)


@st.composite
def loads(draw):
    """Minutes with hot ones around every line there is, and seconds inside them that are hotter still."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = np.full(MINUTES, draw(st.sampled_from([0.0, 0.3, 20.0, 300.0, 1200.0])))
    if draw(st.booleans()):
        iops *= rng.random(MINUTES) < 0.05
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, MINUTES - 1))
        hot = draw(st.sampled_from(LINES)) * draw(st.sampled_from([0.3, 0.49, 0.5, 0.96, 1.0, 1.01, 2.0]))
        iops[start : start + draw(st.sampled_from([1, 1, 2, 9, 200]))] = hot
    made = sums_of(
        WINDOW.start_s,
        iops,
        read_share=draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])),
        io_kib=draw(st.sampled_from([4.0, 16.0, 64.0, 512.0])),
        burst=draw(st.sampled_from([1.0, 1.0, 2.0, 10.0])),
    )
    if draw(st.booleans()):
        second = draw(st.integers(0, MINUTES - 1))
        for name, most in (("peak_read_ops", 3500.0), ("peak_write_ops", 9000.0), ("peak_write_bytes", 2e8)):
            if draw(st.booleans()):
                getattr(made, name)[second] = most * draw(st.sampled_from([0.4, 1.0, 4.0]))
    if draw(st.booleans()):
        start = draw(st.integers(0, MINUTES - 1))
        end = start + draw(st.sampled_from([5, 61, 600]))
        for values in (*made.counters, made.peak_read_ops, made.peak_write_ops):
            values[start:end] = np.nan
    return made


def judged(volume, made, policy, *, every_minute):
    metrics = MemoryMetrics(given={volume.id: made})
    found = judge(
        {volume.id: a_basis(policy, market=MARKET)},
        [volume],
        metrics.read,
        segments=cut_by_age(WINDOW, policy.resolution_s, metrics.retention_days, NOW.timestamp()),
        resolution_s=policy.resolution_s,
        query_cost=a_tariff(),
        every_minute=every_minute,
    )
    return found[volume.id].recommendation, metrics.usage


def told(found, policy):
    summary = found.demand
    decided = [type(found), summary.censored, summary.throttled_minutes, summary.host_bound_minutes]
    decided += [summary.hours_observed, summary.gap_hours]
    if isinstance(found, Change | Keep):
        comparison = found.comparison
        drop_in = comparison.drop_in and (comparison.drop_in.spec, comparison.drop_in.usd_month)
        decided += [comparison.now.throttled_minutes, drop_in, comparison.offers[0].spec]
    if isinstance(found, Change):
        decided += [found.target.spec, found.usd_month_then, found.target.tried.throttled_minutes]
    return decided


@settings(
    max_examples=examples(400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(loads(), st.sampled_from(sorted(TYPES)), st.sampled_from([50, 500, 4000]), st.booleans(), POLICIES)
def test_a_part_of_the_minutes_gives_the_answer_of_all_of_them(made, name, size_gib, capped, policy):
    volume = replace(a_volume(on=a_capped_host() if capped else None), spec=spec_of(name, size_gib))
    part, read = judged(volume, made, policy, every_minute=False)
    whole, everything = judged(volume, made, policy, every_minute=True)
    assert told(part, policy) == told(whole, policy)
    assert part.demand.mean_iops == pytest.approx(whole.demand.mean_iops, rel=1e-9)
    assert part.demand.peak_second_iops >= whole.demand.peak_second_iops
    assert read.datapoints <= 1.5 * everything.datapoints


def test_a_larger_offer_may_pass_the_replay_that_a_smaller_one_of_its_type_fails():
    iops = np.where(np.arange(MINUTES) < 200, 2880.0, 0.0)
    iops[100] = 6000.0  # which the budget of throttled minutes leaves out
    made = sums_of(WINDOW.start_s, iops, read_share=0.2, io_kib=4.0, burst=2.0)
    policy = Policy(lookback_days=DAYS, throttle_budget_min=60)
    volume = replace(a_volume(on=None), spec=spec_of("fast", 4000))
    part, _ = judged(volume, made, policy, every_minute=False)
    assert (part.target.spec.type, part.target.spec.iops) == (
        "bought",
        7000,
    )  # 5,760 in the busiest seconds, and 20 %: 6,912


def test_one_busy_second_sizes_the_offer_and_its_minute_alone_is_read():
    quiet = sums_of(WINDOW.start_s, np.full(MINUTES, 5.0), burst=1.0)
    quiet.peak_read_ops[1000] = 4000.0
    volume = replace(a_volume(on=a_capped_host()), spec=spec_of("fast", 1000))
    policy = Policy(lookback_days=DAYS, target_types=("bought",))
    found, read = judged(volume, quiet, policy, every_minute=False)
    assert found.target.spec.iops == 4900  # 4,000 read and 3 written, and 20 %: 4,804
    averages, _ = judged(volume, quiet, replace(policy, size_on=SizeOn.AVERAGE), every_minute=False)
    assert averages.target.spec.iops == 3000
    assert any("Risk: in some second the volume may have reached 4,003 IOPS" in text for text in averages.reasons)
    assert read.datapoints < 0.2 * 8 * MINUTES


def test_a_second_at_the_ceiling_is_a_throttled_minute():
    made = sums_of(WINDOW.start_s, np.full(MINUTES, 5.0), burst=1.0)
    made.peak_write_ops[77] = 0.96 * 3000  # 2,000 GiB of `slow` read 1,500 a second and write 3,000
    volume = replace(a_volume(on=None), spec=spec_of("slow", 2000))
    found, _ = judged(volume, made, Policy(lookback_days=DAYS), every_minute=False)
    assert (found.demand.throttled_minutes, found.demand.censored) == (1, True)
