"""One rule: of the same history a backtest and an audit make the same headroom, and promise the same."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Reprovision
from plimsoll.model.policy import HeadroomFrom
from plimsoll.risk.histories import summarize_histories
from plimsoll.risk.learn import LEVELS_PCT, Band, LearnedTable, TableSource, join_scores
from plimsoll_backtest.other_cuts import CutLessons
from plimsoll_backtest.rules import LEARNED
from plimsoll_backtest.scenario import Cut
from tests.profiles import examples
from tests.unit.domain.lives import DAY, MINUTES, PLAIN, a_large, a_life, flat_with, judged
from tests.unit.domain.risk.test_calibration import scores

KIB_PER_OP = 4
SOURCE = TableSource(on="2026-11-23", fleets=("a.npz",), volumes=300, public=False)
NOON = DAY // 2


def lessons(seed=1):
    """What a backtest has learned from two cuts that were over by a third one."""
    rng = np.random.default_rng(seed)
    cuts = [Cut(memory_days=30, day=30 + 30 * number, number=number) for number in range(4)]
    found = join_scores([scores(rng.lognormal(0.1, 0.4, 300), cut=number) for number in range(2)])
    usual = np.where(rng.random(600) < 0.5, 0.5, 1.0)
    columns = {name: getattr(found, name) for name in type(found).__slots__} | {"usual": usual}
    return CutLessons(
        scores={30.0: type(found)(**columns)},
        cuts=cuts,
        days=30,
        folds=np.full(300, 0),
        levels_pct=LEVELS_PCT,
    ), cuts[-1]


def backtested(iops, level_pct):
    """The factor of a promise of such a volume in a backtest, its history there, and the same as an audit's table."""
    learned, cut = lessons()
    learned.folds = np.append(learned.folds, 1)
    rates = np.stack([iops, iops * KIB_PER_OP / 1024])[None]
    known = summarize_histories(rates[:, :, MINUTES % DAY :], 60)
    (factor,) = learned.factors(cut, LEARNED, level_pct, np.array([300]), known.usual)
    calibrated = learned.calibration_at(cut, 1, LEARNED)
    band = Band(memory_days=30, cuts=2, learned=calibrated)
    return factor, known, LearnedTable(days=30, budget_min=15, period_s=60, source=SOURCE, bands=(band,))


def audited(iops, table, **policy):
    found, _ = judged([a_large()], {"vol-1": a_life(iops, io_kib=KIB_PER_OP)}, replace(PLAIN, **policy), learned=table)
    return found["vol-1"].recommendation


PEAKS = st.lists(st.tuples(st.integers(0, 78), st.sampled_from([2500, 3500, 4000, 5000])), max_size=8)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PEAKS, st.sampled_from([5.0, 10.0, 20.0]))
def test_an_audit_asks_for_the_headroom_that_a_backtest_promises_with(peaks, level_pct):
    iops = flat_with(2000, *((day * DAY + NOON, 2, rate) for day, rate in peaks))
    factor, known, table = backtested(iops, level_pct)
    found = audited(iops, table, headroom_from=HeadroomFrom.LEARNED, risk_pct=level_pct, growth_days=0)
    if not isinstance(found, Reprovision):
        assert factor * known.most[0, 0] > 9_000
        return
    assert found.risk.usual_share == pytest.approx(known.usual[0], abs=1e-3)
    assert found.risk.headroom.pct == pytest.approx(max(0.0, 100 * (factor - 1)), abs=0.3)
    assert found.target.spec.iops >= max(1.0, factor) * known.most[0, 0] - 1
    assert found.target.spec.iops <= max(3000, max(1.0, factor) * known.most[0, 0] + 110)
    assert found.risk.promised_pct <= level_pct
    assert f"1 in {100 / found.risk.promised_pct:.0f} chance" in found.risk.text
    assert "your fleet" in found.risk.text


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PEAKS, st.sampled_from([0.0, 20.0, 100.0]))
def test_a_fixed_headroom_is_promised_what_a_backtest_would_of_the_same_line(peaks, headroom_pct):
    iops = flat_with(2000, *((day * DAY + NOON, 2, rate) for day, rate in peaks))
    _, known, table = backtested(iops, 5.0)
    found = audited(iops, table, headroom_pct=headroom_pct, growth_days=0)
    assert isinstance(found, Reprovision)
    line = np.array([found.target.spec.iops, found.target.spec.throughput_mib_s])
    times = (line / known.most[0]).min() / known.usual[0]
    assert found.risk.promised_pct in {table.bands[0].learned.promised_pct(times * by) for by in (0.999, 1.0, 1.001)}
    assert found.risk.history_days >= 80
