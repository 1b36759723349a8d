"""Series of a benchmark's work: all of it stays, in steps of one length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.model.envelope import TimeSeries
from plimsoll_measure.readers.series import MOST_POINTS, Work, series_of
from tests.profiles import examples


@given(st.lists(st.floats(0, 1e5), min_size=2, max_size=2_000), st.floats(0.5, 60))
@settings(max_examples=examples(100))
def test_a_longer_series_is_kept_in_longer_steps_and_all_work_stays(rates, step_s):
    found = series_of([Work.from_rates(step_s * np.arange(1, len(rates) + 1), rates)], [])
    if found is None:
        assert len(rates) * step_s < 2 * max(1.0, step_s) + 1e-6
        return
    assert len(found.iops) <= MOST_POINTS
    cut_off = (len(rates) * step_s - found.length_s + 1e-6) * max(rates)
    assert sum(found.iops) * found.step_s == pytest.approx(step_s * sum(rates), rel=1e-6, abs=cut_off)


def test_times_that_begin_steps_tell_the_same_as_times_that_end_them():
    ends = Work.from_rates([1.0, 2.0, 3.0], [10.0, 20.0, 30.0])
    starts = Work.from_rates([0.0, 1.0, 2.0], [10.0, 20.0, 30.0])
    expected = TimeSeries(step_s=1.0, iops=(10.0, 20.0, 30.0))
    assert series_of([ends], []) == series_of([starts], []) == expected
