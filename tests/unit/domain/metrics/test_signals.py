"""Signals: means over operations, highest minutes, and nothing where there is no point."""

import numpy as np

from plimsoll.reading.signals import (
    SignalLevel,
    drop_contradictions,
    fill_gaps,
    has_gaps,
    look_at_signals,
    make_signals,
)
from plimsoll.reading.window import Window

DAY_S = 86_400
WINDOW = Window(start_s=0, end_s=3 * DAY_S)
NONE = np.array([np.nan, np.nan, np.nan])


def of(**found):
    return make_signals({name: np.array(values, dtype=float) for name, values in found.items()}, WINDOW)


def test_a_mean_latency_is_over_operations_and_not_over_days():
    found = of(read_time_s=[10.0, np.nan, 1.0], timed_reads=[1000, np.nan, 9000], highest_read_latency_ms=[80, 0, 3])
    assert found.read_latency_ms == SignalLevel(mean=1.1, highest=80.0)


def test_of_what_was_never_done_there_is_no_latency():
    found = of(read_time_s=[0.0, 0, 0], timed_reads=[0, 0, 0], mean_queue_length=[0, 0, 0])
    assert found.read_latency_ms is None
    assert found.queue_length == SignalLevel(mean=0.0)


def test_minutes_add_up_and_of_balances_the_least_counts():
    found = of(stalled_minutes=[0, 2, np.nan], host_iops_balance_pct=[99, 12.5, np.nan])
    assert (found.stalled_minutes, found.host_iops_balance_pct) == (2.0, 12.5)


def test_without_any_point_there_are_no_signals():
    assert of(read_time_s=NONE, timed_reads=NONE, mean_queue_length=NONE) is None


def test_every_figure_rests_on_as_many_days_at_least():
    found = of(stalled_minutes=[0, 2, np.nan], mean_queue_length=[1, 1, 1], host_iops_balance_pct=NONE)
    assert found.days_observed == 2


def test_what_has_no_point_is_taken_from_what_was_asked_again():
    first = {"stalled_minutes": np.array([0.0, np.nan, 3.0]), "mean_queue_length": np.array([1.0, 1.0, 1.0])}
    again = {"stalled_minutes": np.array([9.0, 2.0, np.nan]), "highest_queue_length": np.array([4.0, 4.0, 4.0])}
    assert has_gaps(first)
    found = fill_gaps(first, again)
    assert not has_gaps(found)
    assert found["stalled_minutes"].tolist() == [0.0, 2.0, 3.0]
    assert found["highest_queue_length"].tolist() == [4.0, 4.0, 4.0]


def test_a_mean_that_its_highest_minute_cannot_have_is_not_known_on_that_day():
    found = drop_contradictions(
        {
            "mean_queue_length": np.array([1.0, 2.0, 0.0, 0.0]),
            "highest_queue_length": np.array([1.0, 0.0, 3.0, 0.0]),
            "read_time_s": np.array([1.0, 1.0, 0.0, np.nan]),
            "timed_reads": np.array([100.0, 100.0, 0.0, 5.0]),
            "highest_read_latency_ms": np.array([10.0, 9.0, 0.0, 2.0]),
        }
    )
    assert np.isnan(found["mean_queue_length"]).tolist() == [False, True, True, False]
    assert np.isnan(found["highest_queue_length"]).tolist() == [False, True, True, False]
    assert np.isnan(found["highest_read_latency_ms"]).tolist() == [False, True, False, False]


def test_whole_days_are_read():
    look = look_at_signals(Window(start_s=DAY_S - 60, end_s=3 * DAY_S + 7200))
    assert (look.window, look.period_s) == (Window(start_s=DAY_S, end_s=3 * DAY_S), DAY_S)
