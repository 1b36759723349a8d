"""Scores of past cuts: the least headroom that would have been enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.risk.lines import throttled
from plimsoll.domain.risk.scores import SHAPES, Histories, Shape, histories, least_factors, scores_of
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
        return throttled(of(after), np.maximum(FREE, factor * most), PERIOD_S)[0][0]

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
    before = histories(of([200] * 50), PERIOD_S)
    found = scores_of(
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
    ("series", "shape"),
    [
        ([100] * 5000, Shape.STEADY),
        ([100] * 10 + [50] * 4990, Shape.STEADY_LONG_AGO),
        ([50] * 4998 + [100] * 2, Shape.BURSTY),
        ([100] * 2 + [50] * 4998, Shape.BURSTY_LONG_AGO),
        ([10] * 4998 + [100] * 2, Shape.SPIKY),
        ([100] * 2 + [10] * 4998, Shape.SPIKY_LONG_AGO),
    ],
)
def test_the_shape_says_how_and_when_the_peak_was_reached(series, shape):
    found: Histories = histories(of(series), PERIOD_S)
    assert SHAPES[found.shape[0]] is shape
