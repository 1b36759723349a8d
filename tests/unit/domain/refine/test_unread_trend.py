"""Hours that are left unread change nothing of what rises, whatever was seen of it before the window."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.domain.demand.epoch import Unsettled
from plimsoll.domain.memory.memory import memory_segments
from plimsoll.domain.metrics.sums import Window, cut_by_age
from plimsoll.domain.policy import Policy
from plimsoll.domain.recommendation import Wait
from plimsoll.domain.refine.judge import judge
from plimsoll.domain.units import DAY_S, KIB
from tests.builders import NOW, a_basis, a_host, a_spec, a_tariff, a_volume, with_rates
from tests.in_memory.ports import MemoryMetrics
from tests.profiles import examples
from tests.unit.domain.answered import decided_on
from tests.unit.domain.lives import RETENTION, arrivals

WINDOW = Window.before(NOW, days=14)
PAST_DAYS = 66
OLDEST_S = WINDOW.start_s - PAST_DAYS * DAY_S
MINUTES = (WINDOW.end_s - OLDEST_S) // 60
MEMORY = memory_segments(WINDOW.start_s, 455, RETENTION, NOW.timestamp())
SPECS = st.sampled_from(
    [
        a_spec("gp3", 600, iops=16_000, throughput_mib_s=500),
        a_spec("gp3", 600, iops=9000, throughput_mib_s=250),
        a_spec("io1", 400, iops=12_000),
        a_spec("gp2", 1500),
    ]
)


def a_life(iops, *, io_kib=8.0, rates=True, absent=slice(0)):
    """What a volume did minute by minute over all of its past and the window."""
    ops, nothing = np.round(iops * 60), np.zeros(MINUTES)
    made = {"read_ops": nothing, "write_ops": ops, "read_bytes": nothing, "write_bytes": np.round(ops * io_kib * KIB)}
    made |= with_rates(ops, made["write_bytes"]) if rates else {}
    made = {name: values.copy() for name, values in made.items()}
    for values in made.values():
        values[absent] = np.nan
    return Sums(start_s=OLDEST_S, period_s=60, **made)


@st.composite
def lives(draw):
    """A level by day that rises in a line, by steps, every week alike, or by chance from day to day."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    day = np.arange(MINUTES) // 1440
    days, ago = day[-1] + 1, day[-1] - day
    highest = draw(st.sampled_from([300.0, 1500.0, 2400.0, 4000.0, 7000.0]))
    a_day, since = draw(st.sampled_from([0.0, 0.005, 0.02, 0.04])), draw(st.sampled_from([5, 8, 12, 30, 100]))
    level = np.maximum(0.05, 1 - a_day * np.minimum(ago, since))
    if draw(st.booleans()):
        level = np.where(ago < draw(st.sampled_from([3, 5, 10, 20])), level, level * draw(st.sampled_from([0.3, 0.8])))
    if draw(st.booleans()):  # a line in each week
        level = level * (0.5 + 0.5 * ((day + draw(st.integers(0, 6))) % 7) / 6)
    if draw(st.booleans()):
        level = level * np.exp(rng.normal(0, draw(st.sampled_from([0.01, 0.1])), days))[day]
    busy = np.arange(MINUTES) % 1440 < draw(st.sampled_from([60, 600, 1440]))
    iops = highest * level * np.where(busy, 1.0, draw(st.sampled_from([0.1, 0.9])))
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(MINUTES - 14 * 1440, MINUTES - 1))
        iops[start : start + draw(st.sampled_from([1, 30]))] = highest * draw(st.sampled_from([1.1, 1.5]))
    first = draw(st.integers(0, MINUTES - 2000))
    absent = slice(first, first + draw(st.sampled_from([0, 0, 700, 1500])))
    return a_life(iops, io_kib=draw(st.sampled_from([4.0, 32.0])), rates=draw(st.booleans()), absent=absent)


@st.composite
def fleets(draw):
    spec = draw(SPECS)
    sizes = {"iops": spec.iops, "throughput_mib_s": spec.throughput_mib_s}
    created = NOW - timedelta(days=draw(st.sampled_from([5, 9, 30, 45, 400])))
    volume = a_volume(spec.type, spec.size_gib, **sizes, created=created, on=a_host())
    policy = Policy(
        headroom_pct=draw(st.sampled_from([0, 20, 60])),
        settle_days=draw(st.sampled_from([1, 7])),
        growth_days=draw(st.sampled_from([0, 120])),
        drop_in_share_pct=draw(st.sampled_from([90, 100])),
    )
    return draw(arrivals(volume)), draw(lives()), policy, draw(st.sampled_from([a_tariff(), a_tariff(usd_query=0)]))


def judged(volume, life, policy, *, query_cost=None, every_minute=False):
    metrics = MemoryMetrics(given={volume.id: life})
    found = judge(
        {volume.id: a_basis(policy).of(volume)},
        [volume],
        metrics.read,
        segments=cut_by_age(WINDOW, 60, RETENTION, NOW.timestamp()),
        resolution_s=60,
        query_cost=query_cost or a_tariff(),
        memory=MEMORY,
        every_minute=every_minute,
    )
    return found[volume.id], metrics.usage


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
)
@given(fleets())
def test_whatever_hours_are_left_unread_the_answer_is_that_of_every_minute(fleet):
    volume, life, policy, query_cost = fleet
    part, _ = judged(volume, life, policy, query_cost=query_cost)
    whole, _ = judged(volume, life, policy, every_minute=True)
    assert decided_on(part) == decided_on(whole)
    assert part.recommendation.growth == whole.recommendation.growth


def rising(a_day, since):
    ago = (np.arange(MINUTES)[::-1]) // 1440
    by_day = 0.7 + 0.3 * np.cos(2 * np.pi * np.arange(MINUTES) / 1440)
    return a_life(5000.0 * by_day * (1 - a_day * np.minimum(ago, since)))


LARGE = a_volume("gp3", 600, iops=16_000, throughput_mib_s=125)


@pytest.mark.parametrize(
    ("a_day", "since", "waits"), [(0.03, 10, True), (0.03, 5, True), (0.0, 5, False), (0.005, 10, False)]
)
def test_what_rises_waits_and_what_does_not_is_reduced(a_day, since, waits):
    one = judged(LARGE, rising(a_day, since), Policy())[0].recommendation
    assert isinstance(one, Wait) == waits
    assert not waits or one.code == Unsettled.RISING


def test_a_line_that_came_in_an_earlier_month_is_no_trend():
    """Four days of a rise, as four weeks before: the days before the window are read by the hour to know that."""
    ago = (np.arange(MINUTES)[::-1]) // 1440
    level = np.where(ago % 28 < 4, 1 - 0.05 * (ago % 28), 0.75)  # the same in each four weeks
    again = a_life(5000.0 * level)
    once = a_life(5000.0 * np.where(ago < 27, level, 0.75))
    assert not isinstance(judged(LARGE, again, Policy())[0].recommendation, Wait)
    assert isinstance(judged(LARGE, once, Policy())[0].recommendation, Wait)


def test_a_small_volume_needs_no_hours():
    _, quiet = judged(replace(LARGE), a_life(np.full(MINUTES, 100.0)), Policy())
    _, near = judged(LARGE, rising(0.0, 5), Policy())
    assert quiet.datapoints < near.datapoints
