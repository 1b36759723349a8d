"""The points of a series, read from the wire format, are those that its fields have."""

import numpy as np
import pytest
from google.cloud import monitoring_v3
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll_google.points import points_of
from tests.profiles import examples

INT64, DOUBLE, STRING = 2, 3, 4
FIELDS = {INT64: "int64_value", DOUBLE: "double_value"}
TIMES = st.integers(-(2**40), 2**40)
VALUES = st.one_of(
    st.none(),
    st.tuples(st.just("int64_value"), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.just("int64_value"), st.integers(0, 300)),
    st.tuples(st.just("double_value"), st.floats(allow_nan=False)),
    st.tuples(st.just("bool_value"), st.booleans()),
    st.tuples(st.just("string_value"), st.text(max_size=4)),
)


def a_series(points, value_type):
    """A `TimeSeries` of points: start, end, the nanoseconds of the end (None: not there), the value's field and it."""
    series = monitoring_v3.TimeSeries.pb(monitoring_v3.TimeSeries())
    series.value_type = value_type
    series.unit, series.metric.type = "1", "compute.googleapis.com/instance/disk/read_ops_count"
    for start_s, end_s, nanos, value in points:
        point = series.points.add()
        if start_s is not None:
            point.interval.start_time.seconds = start_s
        if end_s is not None:
            point.interval.end_time.seconds = end_s
        if nanos is not None:
            point.interval.end_time.nanos = nanos
        if value is not None:
            setattr(point.value, *value)
    return series


@settings(max_examples=examples(500))
@given(
    st.lists(st.tuples(st.none() | TIMES, st.none() | TIMES, st.none() | st.integers(0, 10**9 - 1), VALUES)),
    st.sampled_from([INT64, DOUBLE, STRING]),
)
def test_points_are_those_of_the_message(points, value_type):
    series = a_series(points, value_type)
    ends_s, values, valued = points_of(series)
    name = FIELDS.get(value_type)
    assert ends_s.tolist() == [point.interval.end_time.seconds for point in series.points]
    assert valued.tolist() == [name is not None and point.value.WhichOneof("value") == name for point in series.points]
    wanted = [float(getattr(point.value, name)) if name else 0.0 for point in series.points]
    assert np.where(valued, values, 0.0).tolist() == wanted


@pytest.mark.parametrize(("name", "value_type"), [("int64_value", INT64), ("double_value", DOUBLE)])
def test_a_day_of_minutes(name, value_type):
    minutes = [
        (end_s - 60, end_s, None, (name, number))
        for number, end_s in enumerate(range(1_790_000_000, 1_790_086_400, 60))
    ]
    ends_s, values, valued = points_of(a_series(minutes, value_type))
    assert (ends_s[0], ends_s[-1], valued.all()) == (1_790_000_000, 1_790_086_340, True)
    assert values.tolist() == list(range(1440))
