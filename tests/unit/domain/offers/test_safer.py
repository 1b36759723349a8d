"""The next level of safety: what it costs is what an audit with its headroom asks for, and no less anywhere."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.decide.answer import Change, Upgrade
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.learned_table import load_table
from plimsoll.model.policy import MOST_HEADROOM_PCT
from plimsoll.risk.histories import History
from tests.builders import a_basis, a_demand, a_policy, a_volume, load_of
from tests.profiles import examples

LEARNED = load_table()


def decided(iops, throughput_mib_s, *, draft=False, learned=LEARNED, present=(16_000, 1_000), **policy):
    volume = a_volume("gp3", 500, iops=present[0], throughput_mib_s=present[1])
    demand = a_demand([iops, iops / 3] * 1440, [throughput_mib_s / 3, throughput_mib_s] * 1440)
    basis = replace(a_basis(a_policy(lookback_days=60, **policy)), learned=learned, draft=draft).of(volume)
    case = case_of(volume, demand, load_of(volume, demand), basis)
    return answer(replace(case, history=History(days=60, usual=0.5)))


def usd_then(found):
    return found.usd_month_then if isinstance(found, Change) else found.usd_month_now


@settings(max_examples=examples(60))
@given(
    iops=st.integers(min_value=500, max_value=14_000),
    throughput_mib_s=st.integers(min_value=10, max_value=900),
    headroom_pct=st.sampled_from([0.0, 20.0, 60.0]),
)
def test_it_costs_what_an_audit_with_that_headroom_finds(iops, throughput_mib_s, headroom_pct):
    found = decided(iops, throughput_mib_s, headroom_pct=headroom_pct)
    if not isinstance(found, Change) or found.risk is None or found.risk.safer is None:
        return
    safer = found.risk.safer
    assert safer.level.promised_pct < found.risk.promised_pct
    assert found.risk.headroom.pct <= safer.level.headroom.pct <= MOST_HEADROOM_PCT
    assert found.usd_month_then - 1e-9 <= safer.usd_month <= found.usd_month_now + 1e-9
    if not isinstance(found, Upgrade):
        policy = {"headroom_pct": safer.level.headroom.pct, "min_saving_usd_month": 0.0, "drop_in_share_pct": 100}
        assert safer.usd_month == pytest.approx(usd_then(decided(iops, throughput_mib_s, **policy)), abs=0.01)


def test_a_busy_volume_has_a_safer_level():
    found = decided(5_000, 50, headroom_pct=20.0)
    assert (found.risk.promised_pct, found.risk.safer.level.promised_pct) == (30, 20)
    assert found.risk.safer.usd_month > found.usd_month_then


def test_where_nothing_safer_is_known_nothing_is_said_of_it():
    assert decided(1_500, 20, headroom_pct=400.0).risk.safer is None
    assert decided(5_000, 50, learned=None).risk is None


def test_a_draft_leaves_it_for_later():
    assert decided(5_000, 50, draft=True).risk.safer is None
