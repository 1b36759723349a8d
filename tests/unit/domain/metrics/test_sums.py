from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.metrics.sums import Window, cut_by_age
from tests.builders import NOW, some_sums

DAY_S = 86_400
KEPT_DAYS = {60: 15, 300: 63, 3600: 455}
NOW_S = NOW.timestamp()


def parts(days, resolution_s=60, now=NOW):
    window = Window.before(now, days=days)
    return window, cut_by_age(window, resolution_s, KEPT_DAYS, now.timestamp())


def test_a_window_ends_on_the_last_whole_hour_and_begins_at_a_midnight():
    window = Window.before(datetime(2026, 11, 20, 12, 59, 59, tzinfo=UTC), days=1)
    assert window.end_s == NOW_S
    assert (window.hours, window.buckets(60), window.buckets(3600)) == (36, 2160, 36)


@pytest.mark.parametrize(("minute", "second", "hour"), [(3, 59, 11), (4, 0, 12), (59, 59, 12)])
def test_an_hour_whose_last_minutes_may_not_be_there_yet_is_not_in_the_window(minute, second, hour):
    now = datetime(2026, 11, 20, 12, minute, second, tzinfo=UTC)
    window = Window.before(now, days=2, visible_after_s=240)
    assert window.end_s == datetime(2026, 11, 20, hour, tzinfo=UTC).timestamp()
    assert window.start_s == Window.before(now, days=2).start_s


@given(st.integers(0, DAY_S), st.integers(1, 455))
def test_a_window_is_what_was_asked_for_within_a_day_and_its_minutes_do_not_expire_within_the_hour(later_s, days):
    window = Window.before(datetime.fromtimestamp(NOW_S + later_s, UTC), days=days)
    assert window.start_s % DAY_S == window.end_s % 3600 == 0
    assert -1 <= window.hours - days * 24 < 24
    assert window.start_s - (NOW_S + later_s - (days + 1) * DAY_S) >= 3600 - 3599


def test_two_weeks_are_read_by_the_minute():
    window, found = parts(14)
    assert [(segment.window, segment.period_s) for segment in found] == [(window, 60)]


def test_what_is_older_than_15_days_is_read_by_5_minutes_and_older_than_63_by_the_hour():
    window, found = parts(90)
    assert [segment.period_s for segment in found] == [3600, 300, 60]
    assert [segment.window.hours / 24 for segment in found] == [27.5, 48, 15]
    assert found[0].window.start_s == window.start_s


def test_what_no_period_keeps_is_not_asked_for():
    _, found = parts(600)
    assert found[0].window.start_s == NOW_S - 455 * DAY_S


def test_no_segment_is_finer_than_the_resolution():
    _, found = parts(14, resolution_s=300)
    assert [segment.period_s for segment in found] == [300]
    _, found = parts(100, resolution_s=3600)
    assert [segment.period_s for segment in found] == [3600]


@given(st.integers(0, DAY_S), st.integers(1, 455), st.sampled_from([60, 300, 3600]))
def test_segments_follow_one_another_to_the_end_of_the_window(later_s, days, resolution_s):
    now = datetime.fromtimestamp(NOW_S + later_s, UTC)
    window, found = parts(days, resolution_s, now)
    assert found[-1].window.end_s == window.end_s
    for before, after in pairwise(found):
        assert before.window.end_s == after.window.start_s
        assert before.period_s > after.period_s


@given(st.integers(0, DAY_S), st.integers(1, 455))
def test_every_segment_is_read_while_its_data_lives(later_s, days):
    now = datetime.fromtimestamp(NOW_S + later_s, UTC)
    _, found = parts(days, 60, now)
    for segment in found:
        assert segment.window.start_s >= now.timestamp() - KEPT_DAYS[segment.period_s] * DAY_S


@given(st.integers(0, DAY_S), st.integers(1, 455))
def test_every_segment_is_whole_buckets_on_the_grid_of_its_period(later_s, days):
    now = datetime.fromtimestamp(NOW_S + later_s, UTC)
    _, found = parts(days, 60, now)
    for segment in found:
        assert segment.window.start_s % segment.period_s == 0
        assert (segment.window.end_s - segment.window.start_s) % segment.period_s == 0


def test_a_bucket_is_observed_when_any_of_the_four_sums_is_there():
    nan = np.nan
    sums = some_sums(read_ops=[nan, 0, nan], write_ops=[nan, nan, nan], read_bytes=nan, write_bytes=[nan, nan, 5])
    assert sums.observed.tolist() == [False, True, True]


def test_series_are_those_that_the_cloud_published():
    assert [name for name, _ in some_sums(idle_s=[1.0]).series.items()] == [
        "read_ops",
        "write_ops",
        "read_bytes",
        "write_bytes",
        "idle_s",
    ]


def test_a_sum_over_no_bucket_has_none():
    empty = some_sums(read_ops=[])
    assert empty.buckets == 0
    assert empty.observed.tolist() == []


@pytest.mark.parametrize("period_s", [60, 300, 3600])
def test_a_window_counts_whole_buckets_alone(period_s):
    assert Window(start_s=0, end_s=period_s * 3 - 1).buckets(period_s) == 2
