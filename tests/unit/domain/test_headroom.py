"""Headroom: made of the policy, of what was learned and of growth, while the owner's policy stays as it is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.learned_table import load_table
from plimsoll.model.policy import (
    MOST_HEADROOM_PCT,
    Growth,
    Headroom,
    HeadroomFrom,
    Headrooms,
    HeadroomSource,
    OfferPurpose,
    Override,
    Policy,
    TagMatch,
)
from plimsoll.risk.histories import History
from tests.builders import a_basis, a_policy, a_volume

percents = st.floats(0, MOST_HEADROOM_PCT)
factors = st.floats(0.5, 1 + MOST_HEADROOM_PCT / 100)


def growing(times):
    return Growth(iops_pct_a_day=1.0, throughput_pct_a_day=0.0, weeks=8, days=40, times=times)


@pytest.mark.parametrize(("asked_pct", "factor", "right_pct"), [(20, 1.1, 20), (20, 1.20001, 20.1), (20, 1.5, 50)])
def test_what_was_learned_counts_for_reductions_alone_and_never_lowers_what_is_asked(asked_pct, factor, right_pct):
    found = Headrooms.from_policy(Policy(headroom_pct=asked_pct), factor)
    assert (found.relief.pct, found.reducing.pct) == (asked_pct, right_pct)
    is_learned = right_pct > asked_pct
    assert found.reducing.source is (HeadroomSource.LEARNED if is_learned else HeadroomSource.POLICY)
    assert found.relief.source is HeadroomSource.POLICY
    assert [found.pick(purpose).pct for purpose in OfferPurpose] == [right_pct, asked_pct, right_pct]


@given(percents, factors, st.floats(1, 3))
def test_growth_adds_room_to_both_and_leaves_what_they_are_without_it(asked_pct, factor, times):
    plain = Headrooms.from_policy(Policy(headroom_pct=asked_pct), factor)
    found = plain.with_room_for(growing(times))
    for usual, grown in ((plain.relief, found.relief), (plain.reducing, found.reducing)):
        assert usual.pct <= grown.pct <= MOST_HEADROOM_PCT
        assert grown.factor >= min(usual.factor * times, 1 + MOST_HEADROOM_PCT / 100) * (1 - 1e-9)
        assert grown.usual == usual
        assert grown.source is usual.source
    assert found.relief.pct <= found.reducing.pct
    assert found.with_room_for(growing(times)) == found  # room is kept once, however often it is asked for


@given(percents, factors)
def test_a_learned_factor_is_kept_and_rounded_by_no_more_than_a_tenth(asked_pct, factor):
    asked = Headroom.from_policy(Policy(headroom_pct=asked_pct))
    assert max(asked.factor, factor) <= asked.raised_to(factor).factor + 1e-8
    assert asked.raised_to(factor).pct <= max(asked_pct, 100 * (factor - 1) + 0.1)


def test_no_context_changes_the_policy_of_its_owner():
    policy = a_policy(headroom_pct=30, headroom_from=HeadroomFrom.LEARNED, risk_pct=5)
    volume = a_volume("gp3", 500, iops=6000)
    fleet = replace(a_basis(policy), learned=load_table())
    one = fleet.of(volume).knowing(volume, History(days=60.0))
    assert one.headrooms.reducing.pct > one.headrooms.relief.pct == 30
    grown = one.growing(growing(1.5))
    assert grown.headrooms.relief.pct == 95
    assert all(context.policy is policy for context in (fleet, one, grown, one.with_policy_headroom))
    assert one.growing(None) is one
    assert one.with_policy_headroom.headrooms == fleet.headrooms


def test_the_headroom_of_a_volume_is_that_of_its_override():
    override = Override(match=TagMatch(tag="tier"), policy={"headroom_pct": 60})
    fleet = a_basis(a_policy(headroom_pct=30, overrides=(override,)))
    volumes = a_volume("gp3", tags={"tier": "database"}), a_volume("gp3")
    assert [fleet.of(volume).headrooms.relief.factor for volume in volumes] == [1.6, 1.3]
