"""The cheapest passing configuration: against every pair of figures on the grid, replayed minute by minute."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.products import Product
from plimsoll.decide.type_offers import build_staircase, find_cheapest
from plimsoll.demand.demand import Demand
from plimsoll.demand.trial import Required, budget_of, trial
from plimsoll.model.ceiling import Need
from plimsoll.model.policy import Policy
from plimsoll.model.volume import VolumeSpec
from tests.builders import TYPES, US_EAST_1, rates_of
from tests.profiles import examples

SIZE_GIB = 500


def a_demand(iops, io_kib, read_share=0.5):
    rate = np.asarray(iops, dtype=np.float64)
    moved = rate * np.asarray(io_kib) / 1024
    return Demand(
        start_s=0,
        resolution_s=60,
        coarsest_s=60,
        rates=rates_of(rate, moved, read_share),
        observed=np.ones(len(rate), dtype=bool),
    )


def cheapest_gp3(required, policy, budget_minutes, **more):
    """The cheapest spec of gp3, in us-east-1 and on any host."""
    kind = TYPES["gp3"]
    product = Product(
        kind=kind, size_gib=SIZE_GIB, policy=policy, usd_month=US_EAST_1.usd_month, ceiling=kind.ceiling, **more
    )
    return find_cheapest(build_staircase(product, required, budget_minutes), budget_minutes=budget_minutes)


def nothing(count):
    return a_demand(np.zeros(count), 4)


@st.composite
def requirements(draw):
    """Some minutes of work around what is included, with peaks above it, and lifted minutes beside them."""
    count = draw(st.integers(5, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    iops = rng.uniform(500, 2900, count)
    for _ in range(draw(st.integers(0, 6))):
        iops[rng.integers(0, count)] = rng.uniform(3000, 5200)
    short = np.where(rng.random(count) < draw(st.sampled_from([0.0, 0.1])), rng.uniform(2500, 5200, count), 0.0)
    sizes = rng.choice([8.0, 32.0, 48.0, 300.0], count, p=[0.5, 0.3, 0.15, 0.05])
    return Required(work=a_demand(iops, sizes), short=a_demand(short, sizes))


def naive_minutes(required, iops, mib_s):
    """Throttled minutes and the longest wait, by a loop."""
    waiting_ops = waiting_mib = 0.0
    minutes, longest_s = 0, 0.0
    for at in range(len(required.work.iops)):
        ops = max(required.work.iops[at], required.work.throughput_mib_s[at] * 1024 / 256)
        short_ops = max(required.short.iops[at], required.short.throughput_mib_s[at] * 1024 / 256)
        waiting_ops = max(0.0, waiting_ops + (ops - iops) * 60)
        waiting_mib = max(0.0, waiting_mib + (required.work.throughput_mib_s[at] - mib_s) * 60)
        held = waiting_ops > 1e-6 * iops * 60 or waiting_mib > 1e-6 * mib_s * 60
        held = held or short_ops > iops * (1 + 1e-6) or required.short.throughput_mib_s[at] > mib_s * (1 + 1e-6)
        minutes += held
        longest_s = max(longest_s, waiting_ops / iops, waiting_mib / mib_s)
    return minutes, longest_s


def brute_force(required, policy, budget_minutes):
    """The least USD a month over every pair on gp3's grid."""
    found = []
    for iops in range(3000, 6400, policy.iops_step):
        for mib_s in range(125, 1700, policy.throughput_step_mib_s):
            if mib_s > iops * 0.25:
                break
            minutes, longest_s = naive_minutes(required, iops, mib_s)
            if minutes <= budget_minutes and longest_s <= policy.max_wait_s:
                spec = VolumeSpec(type="gp3", size_gib=SIZE_GIB, iops=iops, throughput_mib_s=mib_s)
                found.append(US_EAST_1.usd_month(spec))
                break
    return min(found, default=None)


@settings(max_examples=examples(60), deadline=None)
@given(requirements(), st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.sampled_from([5.0, 60.0, 600.0]))
def test_it_is_the_cheapest_of_every_pair_on_the_grid(required, budget_minutes, max_wait_s):
    policy = Policy(max_wait_s=max_wait_s, iops_step=100, throughput_step_mib_s=25)
    spec = cheapest_gp3(required, policy, budget_minutes)
    expected = brute_force(required, policy, budget_minutes)
    assert spec is not None
    assert expected is not None
    assert US_EAST_1.usd_month(spec) == pytest.approx(expected)


@settings(max_examples=examples(60), deadline=None)
@given(requirements())
def test_what_passes_passes_its_trial(required):
    policy = Policy()
    for budget_minutes in (0.0, 3.0):
        spec = cheapest_gp3(required, policy, budget_minutes)
        tried = trial(required, TYPES["gp3"].ceiling(spec))
        assert tried.is_within(budget_minutes=budget_minutes, max_wait_s=policy.max_wait_s)


@settings(max_examples=examples(60), deadline=None)
@given(requirements(), st.floats(1.0, 1.5))
def test_a_larger_budget_and_less_headroom_never_cost_more(required, more):
    policy = Policy()

    def usd(wanted, budget_minutes):
        spec = cheapest_gp3(wanted, policy, budget_minutes)
        return math.inf if spec is None else US_EAST_1.usd_month(spec)

    prices = [usd(required, budget_minutes) for budget_minutes in (0.0, 1.0, 5.0, 15.0)]
    assert prices == sorted(prices, reverse=True)
    grown = replace(required, work=replace(required.work, rates=required.work.rates * more))
    assert usd(grown, 0.0) >= prices[0]


def test_nothing_asked_is_what_is_included():
    required = Required(work=nothing(10), short=nothing(10))
    spec = cheapest_gp3(required, Policy(), 0)
    assert (spec.iops, spec.throughput_mib_s) == (3000, 125)


def test_figures_are_those_that_people_use():
    required = Required(work=a_demand([4321.0, 100.0], 64), short=nothing(2))
    spec = cheapest_gp3(required, Policy(), 0)
    assert (spec.iops, spec.throughput_mib_s) == (4400, 275)


def test_a_budget_is_scaled_to_the_window():
    assert budget_of(15, 15 * 86_400) == pytest.approx(7.5)


def test_what_was_measured_and_failed_gives_way_to_the_next_larger():
    required = Required(work=a_demand([3900.0], 16), short=nothing(1))
    failed = Need(iops=4400.0, throughput_mib_s=137.5)

    def refuted(spec):
        return spec.iops <= failed.iops and spec.throughput_mib_s <= failed.throughput_mib_s

    assert cheapest_gp3(required, Policy(), 0).iops == 3900
    larger = cheapest_gp3(required, Policy(), 0, refuted=refuted, measured=[failed])
    assert (larger.iops, larger.throughput_mib_s) == (3900, 140)


def test_a_staircase_for_a_large_budget_serves_smaller_ones():
    required = Required(work=a_demand([100.0] * 50 + [3300.0, 3500.0, 3700.0, 4100.0], 16), short=nothing(54))
    kind, policy = TYPES["gp3"], Policy(max_wait_s=600)
    product = Product(kind=kind, size_gib=SIZE_GIB, policy=policy, usd_month=US_EAST_1.usd_month, ceiling=kind.ceiling)
    whole = build_staircase(product, required, 10)
    for budget_minutes in (0, 1, 2, 3, 10):
        alone = cheapest_gp3(required, policy, budget_minutes)
        assert find_cheapest(whole, budget_minutes=budget_minutes) == alone
