import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.demand.demand import IOPS, READS
from plimsoll.demand.from_metrics import demand_of
from plimsoll.model.ceiling import Accounting, Resource
from plimsoll.model.series import OPERATIONS
from plimsoll.model.units import HOUR_S, KIB, MIB
from plimsoll.reading.known import Look
from plimsoll.reading.window import Window
from tests.builders import a_demand, demand_from, knowledge_of, some_sums

NAN = math.nan


def test_reads_and_writes_are_summed_in_each_bucket_before_any_peak():
    demand = demand_from(
        [some_sums(read_ops=[600, 0], write_ops=[0, 660], read_bytes=[60 * MIB, 0], write_bytes=[0, 120 * MIB])],
        resolution_s=60,
    )
    assert demand.iops.tolist() == [10, 11]
    assert demand.throughput_mib_s.tolist() == [1, 2]
    assert demand.rates[IOPS, READS].tolist() == [10, 0]
    assert demand.peak(demand.iops) == 11


def test_a_sum_that_nothing_disputes_is_zero_where_it_is_absent_beside_others():
    demand = demand_from(
        [some_sums(read_ops=[600, NAN], write_ops=NAN, read_bytes=NAN, write_bytes=NAN)], resolution_s=60
    )
    assert demand.iops.tolist() == [10, 0]
    assert demand.observed.tolist() == [True, True]


def test_a_bucket_without_points_is_no_demand_and_no_hour():
    nothing = {"read_ops": [NAN, 60.0, NAN], "write_ops": NAN, "read_bytes": NAN, "write_bytes": NAN}
    demand = demand_from([some_sums(period_s=3600, **nothing)], resolution_s=3600)
    assert (demand.hours_observed, demand.gap_hours) == (1, 1)
    assert demand.iops[0] == demand.iops[2] == 0


def test_without_any_point_nothing_is_known_and_nothing_fails():
    demand = demand_from([some_sums(read_ops=NAN, write_ops=NAN, read_bytes=NAN, write_bytes=NAN)], resolution_s=60)
    assert (demand.hours_observed, demand.gap_hours) == (0, 0)
    assert (demand.peak(demand.iops), demand.total(demand.iops)) == (0, 0)


def test_coarse_data_is_spread_over_the_minutes_and_remembered():
    hours_ago = some_sums(period_s=300, write_ops=[3000], burst_balance_pct=[40.0])
    lately = some_sums(start_s=300, period_s=60, write_ops=[600, 1200], burst_balance_pct=[NAN, 50.0])
    demand = demand_from([hours_ago, lately], resolution_s=60)
    assert demand.iops.tolist() == [10] * 5 + [10, 20]
    assert demand.balance_pct[:5].tolist() == [40] * 5
    assert (demand.start_s, demand.resolution_s, demand.coarsest_s) == (0, 60, 300)
    assert demand.hours_observed == pytest.approx(7 / 60)


def test_operations_and_bytes_tell_a_size_where_both_are_known_over_the_same_span():
    knowledge = knowledge_of([some_sums(period_s=HOUR_S, write_ops=[3600, 3600], write_bytes=[3600 * KIB] * 2)])
    first_hour = Look(window=Window(start_s=0, end_s=HOUR_S), period_s=60, groups=(OPERATIONS,))
    knowledge.learn(first_hour, {"read_ops": np.zeros(60), "write_ops": np.array([3600.0] + [0.0] * 59)})
    demand = demand_of(knowledge, resolution_s=60)
    assert demand.starts_s[demand.spread.joint].tolist() == [0, HOUR_S]
    assert demand.iops[:2].tolist() == [60.0, 0.0]


def test_what_only_one_segment_publishes_is_unknown_in_the_other():
    before = some_sums(period_s=300, write_ops=[0.0])
    after = some_sums(
        start_s=300,
        idle_s=[30.0],
        burst_balance_pct=[7.0],
        iops_exceeded=[1.0],
        throughput_exceeded=[0.0],
    )
    demand = demand_from([before, after], resolution_s=60)
    assert demand.busy_share.tolist() == [1] * 5 + [0.5]
    assert np.array_equal(demand.balance_pct, [NAN] * 5 + [7], equal_nan=True)
    assert demand.exceeded[Resource.IOPS].tolist() == [False] * 5 + [True]
    assert not demand.exceeded[Resource.THROUGHPUT].any()


def test_what_no_segment_publishes_is_none():
    demand = demand_from([some_sums(write_ops=[1.0])], resolution_s=60)
    assert (demand.busy_share, demand.balance_pct) == (None, None)
    assert demand.exceeded == {}


def test_an_absent_check_is_not_raised_and_absent_idle_time_is_busy():
    demand = demand_from([some_sums(write_ops=[1.0, 1.0], iops_exceeded=[NAN, 3], idle_s=[NAN, 45])], resolution_s=60)
    assert demand.exceeded[Resource.IOPS].tolist() == [False, True]
    assert demand.busy_share.tolist() == [1, 0.25]


def test_the_busy_rate_is_the_rate_while_there_was_work():
    demand = a_demand(iops=[100.0, 100.0], busy_share=[0.5, 1.0])
    assert demand.busy(demand.iops).tolist() == [200, 100]
    assert a_demand(iops=[100.0]).busy(np.array([100.0])).tolist() == [100]


def test_operations_above_the_largest_count_as_several():
    demand = a_demand(iops=[10.0, 1000.0], throughput_mib_s=[100.0, 10.0])
    assert demand.count(Accounting(io_kib=256))[IOPS].tolist() == [400, 1000]
    assert demand.count(Accounting(io_kib=1024))[IOPS].tolist() == [100, 1000]
    assert demand.count(Accounting(io_kib=None))[IOPS].tolist() == [10, 1000]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), min_size=1, max_size=50))
def test_only_observed_buckets_make_a_peak_or_a_total(points):
    rates, observed = map(list, zip(*points, strict=True))
    demand = a_demand(iops=rates, observed=observed)
    seen = [rate for rate, there in points if there] or [0]
    assert demand.peak(demand.iops) == max(seen)
    assert demand.total(demand.iops) == pytest.approx(sum(seen) * demand.resolution_s)


def test_the_time_before_the_first_point_is_no_gap():
    demand = a_demand(iops=[0.0] * 5, resolution_s=3600, observed=[False, True, False, True, False])
    assert (demand.hours_observed, demand.gap_hours) == (2, 2)
