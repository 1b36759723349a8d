"""Calibration: promises, and what they rest on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.risk.calibration import LEVELS_PCT, calibrate, count_missed, count_volumes, risk_by_factor
from plimsoll.domain.risk.scores import Scores, join_scores
from plimsoll.domain.risk.table import FACTORS
from tests.profiles import examples


def scores(found, *, cut: int = 0, above_free: float = 1e6, of_present: float = 1e-6, first: int = 0) -> Scores:
    """One row a volume, all of them far above what is free, and far under what there is, unless it is said."""
    score = np.array(found, dtype=float)
    rows = len(score)
    return Scores(
        volume=np.arange(first, first + rows),
        cut=np.full(rows, cut),
        usual=np.ones(rows),
        above_free=np.full(rows, above_free),
        of_present=np.full(rows, of_present),
        score=score,
        ratio=score,
    )


@pytest.mark.parametrize(("level_pct", "least"), [(1.0, 99), (2.0, 49), (5.0, 19), (10.0, 9), (20.0, 4)])
def test_a_risk_is_promised_from_as_many_volumes_on_as_it_takes(level_pct, least):
    assert calibrate(scores([1.0] * (least - 1))).factors[level_pct] is None
    enough = calibrate(scores([1.0] * least))
    assert enough.factors[level_pct] == pytest.approx(1.0, rel=0.02)
    assert enough.volumes == least


def test_one_volume_or_none_promises_nothing_that_is_worth_it():
    assert all(one is None for level, one in calibrate(scores([1.0])).factors.items() if level < 50)
    assert set(calibrate(scores([])).factors.values()) == {None}


@settings(max_examples=examples(200))
@given(st.lists(st.floats(0.06, 40), min_size=1, max_size=250), st.sampled_from([1.0, 2.0, 5.0, 10.0, 20.0]))
def test_the_factor_is_the_split_conformal_quantile(found, level_pct):
    factor = calibrate(scores(found)).factors[level_pct]
    place = int(np.ceil((1 - level_pct / 100) * (len(found) + 1) - 1e-9))
    if place > len(found):
        assert factor is None
    else:
        quantile = np.sort(found)[place - 1]
        assert factor == FACTORS[quantile <= FACTORS][0]


@settings(max_examples=examples(200))
@given(st.lists(st.tuples(st.floats(0, 40), st.floats(0.01, 20), st.floats(0.25, 1), st.integers(0, 2)), max_size=300))
def test_less_risk_never_takes_less_headroom(rows):
    found = join_scores(
        [scores([score], above_free=free, first=at) for at, (score, free, _, _) in enumerate(rows)] or [scores([])]
    )
    usual, cuts = (np.array([row[at] for row in rows], dtype=kind) for at, kind in ((2, np.float64), (3, np.int64)))
    found = Scores(**{name: getattr(found, name) for name in Scores.__slots__} | {"usual": usual, "cut": cuts})
    for by_history in (False, True):
        learned = calibrate(found, by_history=by_history)
        factors = [np.inf if learned.factors[level] is None else learned.factors[level] for level in LEVELS_PCT]
        assert factors == sorted(factors, reverse=True)
        promised = [learned.promised_pct(factor) or 100.0 for factor in FACTORS]
        assert promised == sorted(promised, reverse=True)


def test_many_factors_at_once_are_what_each_is_by_itself():
    rng = np.random.default_rng(4)
    found = scores(rng.lognormal(0, 1, 300))
    columns = {name: getattr(found, name) for name in Scores.__slots__}
    free, score = rng.lognormal(0, 1, 300), np.where(rng.random(300) < 0.1, np.inf, found.score)
    once = Scores(**columns | {"above_free": free, "of_present": free / 5, "score": score})
    scale = rng.choice([0.25, 1.0, 1.7], 300)
    risks, volumes = risk_by_factor(once, scale)
    twice_risks, twice_volumes = risk_by_factor(join_scores([once, once]), np.concatenate([scale, scale]))
    for place, factor in enumerate(FACTORS):
        missed, counted = count_missed(once, factor * scale)
        assert volumes[place] == counted == twice_volumes[place]
        assert risks[place] == pytest.approx((missed + 1) / (counted + 1))
        assert risks[place] == pytest.approx(twice_risks[place])


def test_volumes_under_what_is_free_do_not_dilute_the_risk():
    matters, idle = scores([3.0] * 20), scores([0.0] * 2000, above_free=1e-6, first=20)
    assert calibrate(join_scores([matters, idle])).factors == calibrate(matters).factors


def test_a_volume_counts_once_however_many_rows_it_has():
    assert count_volumes(np.array([1, 1, 1, 1, 2]), np.array([True, True, False, False, True])) == (1.5, 2)
    twice = join_scores([scores([1.0] * 60), scores([1.0] * 60)])
    assert calibrate(twice).factors[1.0] is None


def test_the_promise_is_kept_at_each_cut_and_not_only_on_average():
    calm, patches = scores([1.0] * 100, cut=0), scores([1.0] * 80 + [5.0] * 20, cut=1)
    assert calibrate(calm).factors[10.0] == pytest.approx(1.0, rel=0.02)
    assert calibrate(join_scores([calm, patches])).factors[10.0] == pytest.approx(5.0, rel=0.02)


@pytest.mark.parametrize("level_pct", [2.0, 5.0, 10.0, 20.0])
def test_of_volumes_of_one_kind_no_more_miss_than_is_promised(level_pct):
    rng = np.random.default_rng(11)
    missed = []
    for _ in range(80):
        found = rng.lognormal(0, 1, 400).clip(0.06, 40)
        factor = calibrate(scores(found[:200])).factors[level_pct]
        assert factor is not None
        missed.append(count_missed(scores(found[200:]), np.full(200, factor))[0] / 200)
    assert 0.5 * level_pct / 100 < np.mean(missed) <= 1.1 * level_pct / 100
