"""Scores of past cuts: the least headroom that would have been enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.risk.constant_limits import count_throttled
from plimsoll.domain.risk.histories import Histories, summarize_histories
from plimsoll.domain.risk.scores import least_factors, score_cut
from tests.profiles import examples

PERIOD_S = 300
FREE = np.array([100.0, 50.0])
PRESENT = np.array([10_000.0, 5_000.0])

RATES = st.lists(st.integers(0, 400), min_size=1, max_size=60)


def of(*series: list[int]) -> np.ndarray:
    """Volumes that move half a MiB by each operation."""
    longest = max(map(len, series))
    rates = np.zeros((len(series), 2, longest))
    for place, one in enumerate(series):
        rates[place, 0, : len(one)] = one
        rates[place, 1, : len(one)] = np.array(one) / 2
    return rates


@settings(max_examples=examples(300))
@given(RATES, RATES, st.integers(0, 30))
def test_the_score_passes_and_anything_less_does_not(before, after, budget_min):
    most = of(before).max(axis=2)
    found = least_factors(most, of(after), FREE, PERIOD_S, budget_min)[0]

    def minutes(factor: float) -> float:
        return count_throttled(of(after), np.maximum(FREE, factor * most), PERIOD_S)[0][0]

    if not np.isfinite(found):
        assert not most.any()
        assert minutes(0.0) > budget_min
        return
    assert minutes(found) <= budget_min
    if found > 0:
        assert minutes(found * 0.999 - 1e-6) > budget_min


@settings(max_examples=examples(200))
@given(RATES, RATES, st.floats(1, 3))
def test_more_demand_after_never_needs_less(before, after, times):
    most = of(before).max(axis=2)
    less, more = (least_factors(most, rates, FREE, PERIOD_S, 15)[0] for rates in (of(after), times * of(after)))
    assert more >= less - 1e-6


@given(st.integers(1, 400))
def test_a_constant_demand_needs_no_headroom(iops):
    rates = of([iops] * 50)
    assert least_factors(rates.max(axis=2), rates, FREE, PERIOD_S, 15)[0] <= 1 + 1e-5


def test_what_came_after_and_was_held_back_needs_no_one_knows_how_much():
    before = summarize_histories(of([200] * 50), PERIOD_S)
    found = score_cut(
        np.array([7]),
        before,
        of([200] * 50),
        cut=3,
        free=FREE,
        present=PRESENT,
        censored=np.array([True]),
        period_s=PERIOD_S,
    )
    assert np.isinf(found.score[0])
    assert (found.volume[0], found.cut[0], found.above_free[0], found.of_present[0]) == (7, 3, 2.0, 0.02)


@pytest.mark.parametrize(
    ("peaks", "share"),
    [
        ([8, 8, 8, 8, 8], 1.0),
        ([8, 2, 2, 2, 2], 0.5),
        ([2, 2, 8, 8, 8], 0.5),
        ([8, 8, 8, 8, 2], 1.0),
        ([800, 1, 1, 1, 1], 0.25),
        ([8, 2, 2], 1.0),
        ([0, 0, 0, 0, 0], 0.25),
    ],
)
def test_the_usual_share_is_half_of_what_the_fourth_busiest_day_says(peaks, share):
    days = np.repeat(peaks, 24).astype(float)
    found: Histories = summarize_histories(np.stack([days, days / 9])[None], 3600)
    assert found.usual[0] == pytest.approx(share)
    assert found.most[0].tolist() == [max(peaks), max(peaks) / 9]


def test_a_day_that_has_begun_is_not_one_of_the_days():
    days = np.concatenate([np.full(5, 1.0), np.repeat([8.0, 2.0, 2.0, 2.0], 24)])
    assert summarize_histories(np.stack([days, days])[None], 3600).usual[0] == pytest.approx(0.5)
