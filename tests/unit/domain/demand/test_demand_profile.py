"""A profile tells a demand in few spans, and loses neither work nor its peaks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.demand.demand import Demand, Spread
from plimsoll.demand.profile import MOST_SPANS, DemandProfile, profile_of
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from tests.builders import a_demand, rates_of


def test_a_fortnight_of_minutes_is_told_by_two_hours():
    profile = _profile(a_demand(iops=list(range(14 * 1440)), throughput_mib_s=5.0))

    assert len(profile.starts_s) == 168
    assert set(profile.lengths_s) == {2 * HOUR_S}
    assert set(profile.shortest_s) == {MINUTE_S}


def test_spans_of_a_day_that_tell_the_same_are_one():
    quiet, busy = [1.0] * 600, [5.0, 6.0] * 60

    profile = _profile(a_demand(iops=quiet + busy + quiet, buckets=1320))

    assert profile.lengths_s.tolist() == [10 * HOUR_S, HOUR_S, HOUR_S, 10 * HOUR_S]
    assert profile.shortest_s.tolist() == [10 * HOUR_S, MINUTE_S, MINUTE_S, 10 * HOUR_S]
    assert profile.iops.tolist() == [1.0, 5.5, 5.5, 1.0]


def test_a_span_keeps_its_mean_and_its_busiest_minutes():
    iops, moved = [10.0] * 180, [1.0] * 180
    iops[30], moved[30] = 500.0, 2.0
    iops[50], moved[50] = 20.0, 90.0

    profile = _profile(a_demand(iops=iops, throughput_mib_s=moved, buckets=180))

    assert profile.iops[0] == pytest.approx((58 * 10 + 500 + 20) / 60)
    assert (profile.peak_iops[0], profile.peak_throughput_mib_s[0]) == (500.0, 90.0)
    assert (profile.most_ops_iops[0], profile.most_ops_throughput_mib_s[0]) == (500.0, 2.0)
    assert (profile.most_moved_iops[0], profile.most_moved_throughput_mib_s[0]) == (20.0, 90.0)
    assert profile.sized.all()
    assert profile.peak_iops[1:].tolist() == [10.0]


def test_what_was_not_observed_is_not_zero():
    observed = np.ones(180, dtype=np.bool_)
    observed[:90] = False

    profile = _profile(a_demand(iops=10.0, buckets=180, observed=observed))

    assert np.isnan(profile.iops[0])
    assert np.isnan(profile.peak_throughput_mib_s[0])
    assert profile.iops[1] == 10.0


def test_every_day_has_a_span_of_its_own():
    profile = _profile(a_demand(iops=7.0, buckets=3 * 1440))

    assert profile.lengths_s.tolist() == [DAY_S] * 3


def test_days_that_were_read_whole_stay_days():
    lengths_s = np.array([DAY_S] + [HOUR_S] * 24 + [DAY_S])
    demand = replace(
        a_demand(iops=list(range(26))),
        spread=a_spread(lengths_s, joint=np.ones(26, dtype=np.bool_)),
    )

    profile = profile_of(demand, throttled=np.zeros(26, bool), host_bound=np.zeros(26, bool), most_spans=36)

    assert profile.lengths_s.tolist() == [DAY_S] + [2 * HOUR_S] * 12 + [DAY_S]
    assert profile.shortest_s.tolist() == [DAY_S] + [HOUR_S] * 12 + [DAY_S]


def test_operations_and_bytes_of_different_times_are_no_point():
    """Operations of hours, bytes of days: an hour's operations and the day's bytes tell a size that never was."""
    by_hour = [240.0] + [0.0] * 23
    demand = replace(
        a_demand(iops=by_hour + by_hour, throughput_mib_s=1.0),
        spread=a_spread(np.full(48, HOUR_S), joint=np.arange(48) % 24 == 0),
    )

    profile = profile_of(demand, throttled=np.zeros(48, bool), host_bound=np.zeros(48, bool), most_spans=24)

    assert profile.lengths_s.tolist() == [2 * HOUR_S, 22 * HOUR_S] * 2
    assert profile.peak_iops.tolist() == [240.0, 0.0] * 2
    assert set(profile.most_ops_iops) == set(profile.most_moved_iops) == {10.0}
    assert set(profile.most_ops_throughput_mib_s) == {1.0}
    assert not profile.sized.any()
    by_day = profile_of(demand, throttled=np.zeros(48, bool), host_bound=np.zeros(48, bool), most_spans=2)
    assert by_day.sized.tolist() == [True, True]
    assert by_day.iops.tolist() == by_day.most_ops_iops.tolist() == [10.0, 10.0]


@given(st.data())
def test_no_work_no_peak_and_no_throttled_minute_is_lost(data):
    buckets = data.draw(st.integers(1, 3000))
    most_spans = data.draw(st.integers(1, 400))
    seed = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    observed = seed.random(buckets) < data.draw(st.sampled_from([0.2, 0.9, 1.0]))
    throttled, bound = seed.random(buckets) < 0.1, seed.random(buckets) < 0.1
    rates = {name: seed.exponential(100.0, buckets) for name in ("iops", "throughput_mib_s")}
    demand = a_demand(
        iops=rates["iops"].tolist(),
        throughput_mib_s=rates["throughput_mib_s"].tolist(),
        buckets=buckets,
        observed=observed,
    )

    profile = profile_of(demand, throttled=throttled, host_bound=bound, most_spans=most_spans)

    ends_s = profile.starts_s + profile.lengths_s
    assert profile.starts_s[0] == demand.start_s
    assert ends_s[:-1].tolist() == profile.starts_s[1:].tolist()
    assert len(profile.starts_s) <= most_spans + 1
    assert profile.throttled_minutes.sum() == pytest.approx(throttled.sum())
    assert profile.host_bound_minutes.sum() == pytest.approx(bound.sum())
    for start_s, end_s, mean, peak, beside in zip(
        profile.starts_s, ends_s, profile.iops, profile.peak_iops, profile.most_ops_throughput_mib_s, strict=True
    ):
        span = slice(start_s // MINUTE_S, end_s // MINUTE_S)
        seen = observed[span]
        if not seen.any():
            assert np.isnan(mean)
            continue
        assert mean == pytest.approx(demand.iops[span][seen].mean())
        assert peak == demand.iops[span].max()
        assert beside == demand.throughput_mib_s[span][demand.iops[span].argmax()]


def test_a_month_is_told_in_no_more_spans():
    profile = _profile(a_demand(iops=1.0, buckets=31 * 1440))

    assert len(profile.starts_s) <= MOST_SPANS


def a_spread(lengths_s: np.ndarray, *, joint: np.ndarray) -> Spread:
    nothing = np.zeros(len(lengths_s))
    return Spread(
        lengths_s=lengths_s,
        most=rates_of(nothing, nothing),
        least=np.stack([nothing, nothing]),
        begins=np.stack([joint, joint]),
        unread=np.stack([nothing, nothing]) > 0,
    )


def _profile(demand: Demand) -> DemandProfile:
    nowhere = np.zeros(len(demand.iops), dtype=np.bool_)
    return profile_of(demand, throttled=nowhere, host_bound=nowhere)
