"""Token buckets found again in the series that they make: rates, credits, and when they were spent."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plimsoll.envelopes.levels import fit_levels
from tests.profiles import examples


def made(burst, sustained, capacity, length_s, *, step_s=1.0, noise=0.0, seed=0):
    """The mean rates of a load that asks for all it gets, of a bucket of that capacity, replayed step by step."""
    rates, left = [], float(capacity)
    for _ in range(int(length_s / step_s)):
        bursting_s = min(step_s, left / (burst - sustained))
        left -= bursting_s * (burst - sustained)
        rates.append((bursting_s * burst + (step_s - bursting_s) * sustained) / step_s)
    spread = 1 + noise * np.random.default_rng(seed).standard_normal(len(rates))
    return np.array(rates) * np.clip(spread, 0.01, None)


bursts = st.floats(300, 30_000)
shares = st.floats(0.05, 0.7)
times_s = st.floats(60, 2_000)
steps_s = st.sampled_from([1.0, 2.0, 5.0, 10.0])
seeds = st.integers(0, 2**32)


@given(bursts, shares, times_s, st.floats(90, 2_000), steps_s, st.sampled_from([0.0, 0.02, 0.05]), seeds)
@settings(max_examples=examples(300))
def test_a_bucket_that_was_emptied_is_found_again(burst, share, burst_s, after_s, step_s, noise, seed):
    """Its levels are as sure as the noise of their points allows, those at the edge left out: within five times that,
    which chance passes once in a million. In a level of fewer points the step in which the credits end may hide it."""
    sustained = share * burst
    assume(min(burst_s, after_s) >= 12 * step_s)
    off, off_after = (0.005 + 5 * noise / math.sqrt(max(1, length_s / step_s - 4)) for length_s in (burst_s, after_s))
    assume(1 - share > 2 * (off + share * off_after))
    capacity = (burst - sustained) * burst_s
    found = fit_levels(
        made(burst, sustained, capacity, burst_s + after_s, step_s=step_s, noise=noise, seed=seed), step_s
    )
    assert found.steady
    assert found.burst_rate == pytest.approx(burst, rel=off)
    assert found.last.rate == pytest.approx(sustained, rel=off_after)
    assert found.spent_at_s == pytest.approx(burst_s, abs=2 * step_s + 60 * noise)
    most = (burst * off + sustained * off_after) * burst_s + (burst - sustained) * (step_s + 60 * noise)
    assert found.capacity == pytest.approx(capacity, abs=most)


def test_a_step_down_of_few_noisy_points_is_told_from_chance():
    rates = [305.7, 271.7, 299.3, 326.7, 277.4, 309.0, 200.1, 222.6, 201.7, 200.0, 223.9, 219.8, 202.8, 185.7, 189.1]
    assert fit_levels(rates, 10.0).burst_rate == pytest.approx(300, rel=0.02)


@given(bursts, shares, times_s, steps_s, st.sampled_from([0.0, 0.02, 0.1, 0.3]), seeds)
@settings(max_examples=examples(300))
def test_one_that_was_not_emptied_shows_no_second_level(burst, share, length_s, step_s, noise, seed):
    capacity = 1.01 * (burst - share * burst) * length_s
    found = fit_levels(made(burst, share * burst, capacity, length_s, step_s=step_s, noise=noise, seed=seed), step_s)
    assert (found.spent_at_s, found.capacity) == (None, None)
    assert found.burst_rate == pytest.approx(burst, rel=0.005 + 6 * noise / math.sqrt(length_s // step_s))


def test_a_volume_s_bucket_and_then_its_host_s_are_two_steps_down():
    series = np.concatenate([np.full(300, 3_000.0), np.full(600, 2_000.0), np.full(600, 500.0)])
    found = fit_levels(series, 1.0)
    assert [round(one.rate) for one in found.levels] == [3_000, 2_000, 500]
    assert found.capacity == pytest.approx(300 * 2_500 + 600 * 1_500)


def test_what_rises_again_is_not_steady():
    assert not fit_levels(
        np.concatenate([np.full(300, 3_000.0), np.full(300, 500.0), np.full(300, 3_000.0)]), 1.0
    ).steady


def test_a_load_may_take_a_moment_to_begin():
    found = fit_levels(np.concatenate([np.full(25, 800.0), np.full(600, 3_000.0)]), 1.0)
    assert (found.steady, found.spent_at_s, found.burst_rate) == (True, None, 3_000.0)


def test_a_hiccup_is_no_level():
    series = np.full(600, 3_000.0)
    series[200:205] = 100.0
    assert len(fit_levels(series, 1.0).levels) == 1


@pytest.mark.parametrize("series", [[], [1.0], [0.0] * 100])
def test_what_is_too_short_or_empty_shows_nothing(series):
    assert fit_levels(series, 1.0) is None
