"""Many volumes at once throttle what the product's own trial throttles one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.demand.trial import plain, trial
from plimsoll.model.ceiling import Ceiling
from plimsoll.risk.learn import count_throttled, highest_but
from tests.profiles import examples
from tests.unit.backtest.fleets import demand_of_rates

RATES = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 300)), min_size=1, max_size=40)


@settings(max_examples=examples(300))
@given(
    st.lists(RATES, min_size=1, max_size=4),
    st.integers(1, 400),
    st.integers(1, 250),
    st.sampled_from([1, 60, 300, 1800]),
)
def test_a_line_throttles_what_a_trial_of_each_minute_inside_a_sample_throttles(
    volumes, iops, throughput_mib_s, period_s
):
    longest = max(len(one) for one in volumes)
    rates = np.zeros((len(volumes), 2, longest))
    for place, one in enumerate(volumes):
        rates[place, :, : len(one)] = np.array(one, dtype=float).T
    lines = np.tile([float(iops), float(throughput_mib_s)], (len(volumes), 1))
    minutes, longest_wait_s = count_throttled(rates, lines, period_s)
    ceiling, fine_s = Ceiling(iops=iops, throughput_mib_s=throughput_mib_s), min(period_s, 60)
    for place in range(len(volumes)):
        by_minute = np.repeat(rates[place], period_s // fine_s, axis=1)
        tried = trial(plain(demand_of_rates(by_minute, fine_s)), ceiling)
        assert np.isclose(minutes[place], tried.throttled_minutes)
        assert np.isclose(longest_wait_s[place], tried.longest_wait_s)


def test_a_queue_that_drains_in_the_next_sample_throttles_the_minutes_until_it_is_gone():
    """120 IOPS against 100 for five minutes leave 6,000 operations; at 50 IOPS they are gone after two minutes."""
    rates = np.zeros((3, 2, 3))
    rates[:, 0] = [[120, 50, 0], [120, 80, 0], [120, 0, 0]]
    lines = np.tile([100.0, 1.0], (3, 1))
    minutes, longest_s = count_throttled(rates, lines, 300)
    assert minutes.tolist() == [5 + 1, 5 + 4, 5 + 0]
    assert longest_s.tolist() == [60, 60, 60]


def test_the_highest_but_some_is_found_by_sorting():
    rates = np.random.default_rng(3).integers(0, 50, (3, 2, 20)).astype(float)
    for skipped in (0, 3, 19):
        assert (highest_but(rates, skipped) == -np.sort(-rates, axis=2)[:, :, skipped]).all()
    assert (highest_but(rates, 20) == 0).all()
