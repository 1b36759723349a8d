"""Remembered or not, every answer is the fold of its minutes, to the last bit."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloud_simulator.aws.cloudwatch import UNEVEN, USUAL_STATS
from cloud_simulator.aws.fleet import served_minutes
from cloud_simulator.metrics.history import History, Remembered
from cloud_simulator.metrics.series import SERIES
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from tests.profiles import examples

from .served import NOW, named

NOW_S = int(NOW.timestamp())
HOUR = NOW_S // HOUR_S * HOUR_S
NAIVE = {"Sum": np.nansum, "Maximum": np.nanmax, "Minimum": np.nanmin, "Average": np.nanmean}
NAMES = ("wiki", "patchy", "young", "legacy", "index", "ticker", "etl-scratch", "images")
PERIODS_S = (60, 300, 600, 1800, HOUR_S, 2 * HOUR_S, 5 * HOUR_S, DAY_S, 2 * DAY_S, 7 * DAY_S, 4200)


def naive(volume, series, stat, start_s, count, period_s):
    """Each bucket's minutes one after another, with nothing remembered; NaN for a bucket without a point."""
    width = period_s // MINUTE_S
    made = served_minutes(volume, start_s // MINUTE_S, count)[series] if count else np.empty(0)
    buckets = np.concatenate([made, np.full(-count % width, np.nan)]).reshape(-1, width)
    if stat == "SampleCount":
        found = (~np.isnan(buckets)).sum(axis=1).astype(float)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = NAIVE[stat](buckets, axis=1) if len(buckets) else np.empty(0)
    return np.where(np.isnan(buckets).all(axis=1), np.nan, found)


def same(one, other):
    assert one.dtype == np.float64
    np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def remembering():
    return History(served_minutes, USUAL_STATS, UNEVEN)


@given(
    name=st.sampled_from(NAMES),
    series=st.sampled_from(SERIES),
    stat=st.sampled_from([None, None, None, *NAIVE, "SampleCount"]),
    start_s=st.one_of(
        st.integers(-24 * 24, 24).map(lambda hours: HOUR + hours * HOUR_S),
        st.integers(-20, 0).map(lambda days: NOW_S // DAY_S * DAY_S + days * DAY_S),
        st.integers(-20 * 1440, 0).map(lambda minutes: NOW_S + minutes * MINUTE_S),
    ),
    count=st.one_of(st.integers(0, 16 * 1440), st.integers(0, 16).map(lambda days: days * 1440), st.integers(0, 90)),
    period_s=st.sampled_from(PERIODS_S),
)
@settings(max_examples=examples(400), deadline=None)
def test_any_window_period_and_statistic_is_the_naive_fold(
    fleet, remembering, name, series, stat, start_s, count, period_s
):
    volume = named(fleet, name)
    asked = (series, stat or USUAL_STATS[series], start_s, count, period_s)
    expected = naive(volume, *asked)
    same(remembering.buckets(volume, *asked), expected)
    same(remembering.buckets(volume, *asked), expected)
    forgetful = History(served_minutes, USUAL_STATS, UNEVEN, minutes=Remembered(0), folds=Remembered(0))
    same(forgetful.buckets(volume, *asked), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("series", SERIES)
def test_windows_that_grow_shrink_and_lie_apart_stay_exact(fleet, name, series):
    volume, kept = named(fleet, name), History(served_minutes, USUAL_STATS, UNEVEN)
    for days_ago, days in ((5, 2), (6, 3), (4, 4), (14, 14), (7, 1), (40, 2), (14, 14)):
        for period_s in (DAY_S, HOUR_S, 6 * HOUR_S):
            for offset_s in (0, 5 * HOUR_S):
                asked = (series, USUAL_STATS[series], HOUR - days_ago * DAY_S + offset_s, days * 1440, period_s)
                same(kept.buckets(volume, *asked), naive(volume, *asked))


def test_whole_hours_are_answered_without_their_minutes(fleet):
    volume, kept = named(fleet, "patchy"), History(served_minutes, USUAL_STATS, UNEVEN)
    for series in SERIES:
        kept.buckets(volume, series, USUAL_STATS[series], HOUR - 14 * DAY_S, 14 * 1440, DAY_S)
    kept.minutes = Remembered(0)
    kept.served = lambda *_: pytest.fail("minutes were made again")
    for series in SERIES:
        for period_s in (HOUR_S, DAY_S) if series == "idle_s" else (HOUR_S, 3 * HOUR_S, 7 * HOUR_S, DAY_S):
            for days_ago, days in ((14, 14), (9, 3)):
                start_s, count = HOUR - days_ago * DAY_S, days * DAY_S // period_s * period_s // MINUTE_S
                asked = (series, USUAL_STATS[series], start_s, count, period_s)
                same(kept.buckets(volume, *asked), naive(volume, *asked))


def test_what_is_remembered_stays_within_its_budget_and_the_least_used_goes_first():
    kept = Remembered(budget_bytes=100)
    for key in range(10):
        kept.put(key, str(key), 20)
        kept.get(0)
    assert [kept.get(key) for key in range(10)] == ["0", *[None] * 5, "6", "7", "8", "9"]
    assert kept.used_bytes == 100
    kept.put(9, "smaller", 5)
    assert kept.used_bytes == 85
    kept.put("huge", "", 101)
    assert (kept.get("huge"), kept.used_bytes) == (None, 85)
