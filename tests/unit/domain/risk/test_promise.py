"""Promises: more headroom never promises more risk, and what cannot be promised is said in words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.bootstrap.clouds import own_or_public
from plimsoll.learned_table import load_table, table_text
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import MOST_FACTOR, Headroom, HeadroomFrom, Policy
from plimsoll.risk.histories import History
from plimsoll.risk.promise import find_headrooms, risk_of, safer_level
from plimsoll.settings import Settings
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.learn import learn
from tests.profiles import examples
from tests.unit.backtest.fleets import a_scenario
from tests.unit.test_learned_table import a_table

FLEETS = Path(__file__).parents[4] / "benchmarks" / "fleets"
LEARNED = Policy(headroom_from=HeadroomFrom.LEARNED)


def reducing(*known):
    return find_headrooms(*known).reducing


def fixed(policy, *known, **times):
    """What is promised by the headroom that the owner asks for."""
    return risk_of(policy, Headroom.from_policy(policy), *known, **times)


@settings(max_examples=examples(200))
@given(st.lists(st.floats(0, 400), min_size=2, max_size=8), st.floats(14, 455))
def test_promised_risk_is_monotone_in_headroom(headrooms, history_days):
    for table in (a_table(), load_table()):
        found = [fixed(Policy(headroom_pct=pct), table, History(days=history_days)) for pct in sorted(headrooms)]
        promised = [100.0 if one is None or one.promised_pct is None else one.promised_pct for one in found]
        assert promised == sorted(promised, reverse=True)


@settings(max_examples=examples(200))
@given(st.floats(0.1, 50), st.floats(1, 455))
def test_a_learned_headroom_promises_what_was_asked_or_stays_the_fixed_one(risk_pct, history_days):
    policy, table = replace(LEARNED, risk_pct=risk_pct), load_table()
    headroom = reducing(policy, table, History(days=history_days))
    risk = risk_of(policy, headroom, table, History(days=history_days))
    assert risk is not None
    if risk.is_learned:
        assert (risk.promised_pct is None) is ("is used" in risk.text)
        assert risk.promised_pct is None or risk.promised_pct <= risk_pct
        assert policy.headroom_pct <= headroom.pct <= 400
    else:
        assert headroom == Headroom.from_policy(policy)
        assert "The fixed headroom is used" in risk.text


@settings(max_examples=examples(100))
@given(st.floats(0.1, 50), st.floats(0.1, 50), st.floats(14, 455))
def test_less_risk_never_gets_less_headroom(one, other, history_days):
    less, more = (
        reducing(replace(LEARNED, risk_pct=pct), load_table(), History(days=history_days)).pct
        for pct in sorted((one, other))
    )
    assert less >= more


@pytest.mark.parametrize(
    ("policy", "history_days"),
    [(Policy(), 1.0), (Policy(risk_days=7), 60.0), (Policy(throttle_budget_min=5), 60.0), (LEARNED, 7.0)],
)
def test_what_cannot_be_promised_is_said_in_words(policy, history_days):
    found = fixed(policy, load_table(), History(days=history_days))
    assert found is not None
    assert found.promised_pct is None
    assert found.text.startswith(f"The risk in the next {policy.risk_days:.0f} days is unknown: {found.why_none}")
    assert reducing(policy, load_table(), History(days=history_days)).pct == policy.headroom_pct


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(min_value=0, max_value=1e6), min_size=2, max_size=6).map(sorted), st.sampled_from([14.0, 60.0])
)
def test_more_room_never_risks_more(times, history_days):
    found = [fixed(Policy(), load_table(), History(days=history_days), times=one) for one in times]
    promised = [one.promised_pct or 100.0 for one in found]
    assert promised == sorted(promised, reverse=True)
    assert [one.left_pct for one in found] == sorted(one.left_pct for one in found)


def test_nothing_is_promised_where_no_headroom_that_a_volume_may_have_keeps_the_risk_that_is_asked_for():
    """With 14 days the table knows 23.4 times for 5 %, and the least usual share is a quarter: nobody may have that."""
    table, weeks, months = load_table(), History(days=14, usual=0.25), History(days=60, usual=0.6)
    assert table.band(14).learned.factors[5.0] * 0.25 > MOST_FACTOR >= table.band(60).learned.factors[5.0] * 0.6
    headroom = reducing(LEARNED, table, weeks)
    found = risk_of(LEARNED, headroom, table, weeks)
    assert (found.promised_pct, found.is_learned) == (None, True)
    assert "no headroom up to 400 % is known to keep a 1 in 20 chance" in found.why_none
    assert "(its headroom keeps a 1 in 10 chance)" in found.why_none
    assert found.text.endswith("14 days of history. The most cautious known headroom is used.")
    assert safer_level(found, table) is None
    # What is free leaves a quiet volume more than anybody is given, and that much keeps it.
    quiet = risk_of(LEARNED, headroom, table, weeks, times=table.band(14).learned.factors[5.0])
    assert (quiet.promised_pct, quiet.why_none) == (5.0, "")
    headroom = reducing(LEARNED, table, months)
    assert risk_of(LEARNED, headroom, table, months).promised_pct == 5.0
    # A fixed headroom asks for no risk: what it takes is said.
    assert fixed(Policy(), table, weeks).promised_pct == 30.0


def test_a_fixed_headroom_is_never_changed_and_nothing_learned_promises_nothing():
    assert reducing(Policy(), load_table(), History(days=60)).pct == Policy().headroom_pct
    assert fixed(Policy(), None, History(days=60)) is None
    assert reducing(LEARNED, None, History(days=60)).pct == LEARNED.headroom_pct


def test_a_table_of_ones_own_is_read_and_one_that_is_none_is_refused(tmp_path):
    path = tmp_path / "learned.json"
    path.write_text(table_text(a_table()), encoding="utf-8")
    assert load_table(path) == a_table()
    path.write_bytes(b"\xff")
    for wrong in (path, tmp_path / "missing.json"):
        with pytest.raises(BadInput, match="cannot be read"):
            load_table(wrong)


def test_a_table_in_the_folder_of_runs_is_used_unless_another_is_named(tmp_path):
    settings = Settings(runs_dir=tmp_path)
    assert own_or_public(settings) == load_table()
    (tmp_path / "learned.json").write_text(table_text(a_table()), encoding="utf-8")
    assert own_or_public(settings) == a_table()
    (tmp_path / "other.json").write_text(table_text(replace(a_table(), days=7)), encoding="utf-8")
    assert own_or_public(settings.model_copy(update={"learned_table": tmp_path / "other.json"})).days == 7


def test_the_shipped_table_says_that_it_is_of_public_fleets():
    risk = fixed(Policy(headroom_pct=400), load_table(), History(days=60, usual=0.6))
    assert risk is not None
    assert risk.promised_pct == 5.0
    assert "1 in 20 chance" in risk.text
    assert "public fleets, not yours" in risk.text


@pytest.mark.release
def test_the_shipped_table_is_what_the_shipped_fleet_shows(tmp_path):
    """plimsoll learn benchmarks/fleets/bitbrains-rnd-250.npz --times 10 --times 40 --memory 14 --memory 30 --public"""
    shipped = load_table()
    scenario = a_scenario(times=(10.0, 40.0), memories_days=(14.0, 30.0), days=30.0, budget_min=15.0)
    fleet = Fleet(FLEETS / "bitbrains-rnd-250.npz", 32)
    found = learn([fleet], scenario, tmp_path, on=shipped.source.on, public=True)
    assert replace(found, bands=()) == replace(shipped, bands=())
    for one, other in zip(found.bands, shipped.bands, strict=True):
        assert one.learned.volumes == other.learned.volumes
        figures, expected = ([value or 0.0 for value in part.factors.values()] for part in (one.learned, other.learned))
        assert np.allclose(figures, expected, rtol=0.011)
