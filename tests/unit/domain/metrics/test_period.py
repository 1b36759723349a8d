import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloud_simulator.metrics.sums import Sums
from plimsoll.clouds.aws.graph_link import iops_expression, throughput_expression
from plimsoll.demand import from_metrics
from plimsoll.demand.profile import io_size_kib
from tests.builders import demand_from
from tests.unit.domain.metric_math import evaluate

COUNTERS = ("read_bytes", "write_bytes", "read_ops", "write_ops")
PERIODS_S = st.sampled_from([60, 300, 3600])
POINTS = st.one_of(st.none(), st.integers(0, 10**12))


@st.composite
def sums_with_gaps(draw):
    """Four counters over the same buckets, each with absent points."""
    buckets = draw(st.integers(1, 6))
    series = {
        name: np.array([np.nan if point is None else float(point) for point in points])
        for name in COUNTERS
        for points in [draw(st.lists(POINTS, min_size=buckets, max_size=buckets))]
    }
    return Sums(start_s=0, period_s=draw(PERIODS_S), **series)


def as_metrics(sums):
    """The sums as the service has them: points by timestamp, absent ones missing."""
    return {
        name: {index * sums.period_s: float(value) for index, value in enumerate(series) if not np.isnan(value)}
        for name in COUNTERS
        for series in [getattr(sums, name)]
    }


def value_of(expression, sums):
    stamps = range(0, sums.buckets * sums.period_s, sums.period_s)
    return evaluate(expression, as_metrics(sums), timestamps=stamps, period_s=sums.period_s)


def by_stamp(values, sums, *, where):
    return {index * sums.period_s: pytest.approx(float(values[index])) for index in np.flatnonzero(where)}


@given(sums_with_gaps())
def test_filled_strings_are_the_code(sums):
    demand = demand_from([sums], resolution_s=sums.period_s)
    everywhere = np.ones(sums.buckets, dtype=bool)

    iops = value_of(iops_expression("read_ops", "write_ops", period_s=sums.period_s), sums)
    assert iops == by_stamp(demand.iops, sums, where=everywhere)

    throughput = value_of(throughput_expression("read_bytes", "write_bytes", period_s=sums.period_s), sums)
    assert throughput == by_stamp(demand.throughput_mib_s, sums, where=everywhere)


@given(sums_with_gaps().filter(lambda sums: not np.isnan(sums.read_ops).all() and not np.isnan(sums.read_bytes).all()))
def test_strings_with_the_period_of_a_metric_are_the_code_where_there_are_points(sums):
    demand = demand_from([sums], resolution_s=sums.period_s)

    iops = value_of(iops_expression("read_ops", "write_ops"), sums)
    assert iops == by_stamp(demand.iops, sums, where=~np.isnan([sums.read_ops, sums.write_ops]).all(axis=0))

    throughput = value_of(throughput_expression("read_bytes", "write_bytes"), sums)
    has_bytes = ~np.isnan([sums.read_bytes, sums.write_bytes]).all(axis=0)
    assert throughput == by_stamp(demand.throughput_mib_s, sums, where=has_bytes)


@given(sums_with_gaps())
def test_a_size_has_no_point_without_an_operation(sums):
    total_bytes = np.nansum([sums.read_bytes, sums.write_bytes], axis=0)
    total_ops = np.nansum([sums.read_ops, sums.write_ops], axis=0)
    sizes = io_size_kib(total_bytes, total_ops)

    assert np.array_equal(np.isnan(sizes), total_ops == 0)


def test_the_strings_are_those_of_the_design():
    assert throughput_expression("m1", "m2") == "(m1+m2)/1048576/PERIOD(m1)"
    assert iops_expression("m3", "m4") == "(m3+m4)/PERIOD(m3)"
    assert iops_expression("m3", "m4", period_s=300) == "(FILL(m3,0)+FILL(m4,0))/300"


@given(st.floats(0, 3600), PERIODS_S)
def test_the_busy_share_is_at_least_a_second_and_at_most_the_bucket(idle_s, period_s):
    share = from_metrics.busy_share(np.array([idle_s]), period_s)[0]
    assert 1 / period_s - 1e-12 <= share <= 1
    assert share == pytest.approx(max(1, period_s - idle_s) / period_s)


def test_idle_time_beyond_the_bucket_or_below_zero_is_clipped():
    assert from_metrics.busy_share(np.array([-5.0, 0.0, 59.0, 61.0, 3600.0]), 60).tolist() == [
        1,
        1,
        1 / 60,
        1 / 60,
        1 / 60,
    ]


@given(st.integers(0, 10**7), st.floats(0, 60))
def test_the_busy_rate_bounds_the_rate_of_the_bucket_from_above(ops, idle_s):
    rate = from_metrics.iops(np.array([float(ops)]), np.zeros(1), 60)
    assert (rate / from_metrics.busy_share(np.array([idle_s]), 60) >= rate).all()


@pytest.mark.parametrize("wrong", ["m1+", "RATE(m1)", "m1 m2", "m1 % 2", "PERIOD(m2)"])
def test_the_evaluator_refuses_what_is_not_in_its_grammar(wrong):
    with pytest.raises((SyntaxError, IndexError, ValueError)):
        evaluate(wrong, {"m1": {0: 1.0}, "m2": {}}, timestamps=[0], period_s=60)


def test_the_evaluator_binds_as_arithmetic_does():
    metrics = {"m1": {0: 8.0, 60: 2.0}, "m2": {0: 2.0}}
    stamps = {"timestamps": [0, 60], "period_s": 60}
    assert evaluate("m1-m2-1*2", metrics, **stamps) == {0: 4.0, 60: 0.0}
    assert evaluate("m1/m2", metrics, **stamps) == {0: 4.0}
    assert evaluate("m1/(FILL(m2, 4)*2)", metrics, **stamps) == {0: 2.0, 60: 0.25}
    assert evaluate("PERIOD(m2)/2", metrics, **stamps) == 30.0
