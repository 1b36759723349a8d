"""What is decided is kept while more is read, and is what would be decided anew at every step."""

import re
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from plimsoll.domain.case_maker import case_of, renew_case
from plimsoll.domain.decide import answer
from plimsoll.domain.demand.trend import NEVER
from plimsoll.domain.policy import HeadroomFrom, Policy
from plimsoll.domain.refine import member
from plimsoll.domain.refine.hosts import Group
from plimsoll.domain.refine.member import Member
from tests.profiles import examples
from tests.unit.domain import lives
from tests.unit.domain.refine import test_branch_and_bound as fleets_of_now
from tests.unit.domain.refine import test_unread_trend as trends
from tests.unit.domain.refine.test_unread_past import SLOW


def plain(recommendation):
    """All that a recommendation says, without the addresses of functions."""
    return re.sub("0x[0-9a-f]+", "", repr(recommendation))


def case_anew(self, demand, load, context):
    """A member's case of what is known, with nothing kept of an earlier one."""
    days, earlier = (None, NEVER) if self.recall is None else (self.recall.days, self.recall.earlier)
    case = case_of(self.volume, replace(demand), load, context, days, earlier)
    return case if self.recall is None else self.recall.remember(case)


def each_step_compared():
    """Compares each answer to a case that was kept with that to one made anew, and counts those cases."""
    kept_case, steps = Member.case, []

    def case(self, demand, load, context):
        had_one = self._made is not None
        kept, anew = kept_case(self, demand, load, context), case_anew(self, demand, load, context)
        assert plain(answer(kept)) == plain(answer(anew))
        steps.append(had_one)
        return kept

    return patch.object(Member, "case", case), steps


def deciding_anew():
    """Makes every case anew, and decides again before what was read of the past is asked what it tells."""
    return patch.object(Member, "case", case_anew), patch.object(Group, "keep_decided", lambda _group, _decided: None)


def assert_once_is_anew(judged):
    compared, steps = each_step_compared()
    with compared:
        once, usage = judged()
    cases, groups = deciding_anew()
    with cases, groups:
        anew, usage_anew = judged()
    assert {name: plain(kept) for name, kept in once.items()} == {name: plain(made) for name, made in anew.items()}
    assert usage.datapoints <= usage_anew.datapoints
    assert usage.metrics <= usage_anew.metrics
    return steps


@settings(max_examples=examples(300), deadline=None, suppress_health_check=SLOW)
@given(lives.fleets())
def test_what_comes_later_of_the_past_changes_an_answer_as_deciding_anew_does(fleet):
    volumes, given_lives, policy, query_cost = fleet
    assert_once_is_anew(lambda: lives.judged(volumes, given_lives, policy, query_cost=query_cost))


@settings(max_examples=examples(300), deadline=None, suppress_health_check=SLOW)
@given(fleets_of_now.fleets())
def test_what_comes_later_of_the_window_changes_an_answer_as_deciding_anew_does(fleet):
    volumes, given_sums, policy, query_cost = fleet
    assert_once_is_anew(lambda: fleets_of_now.judged(volumes, given_sums, policy, query_cost=query_cost))


@pytest.mark.parametrize("weekly", [False, True])
@pytest.mark.parametrize(("a_day", "since"), [(0.03, 10), (0.03, 5), (0.02, 7), (0.005, 10)])
def test_days_before_the_window_that_say_what_rises_do_so_for_a_case_that_was_kept(a_day, since, weekly):
    life = trends.rising(a_day, since)
    if weekly:
        life = trends.a_life(5000.0 * (0.5 + 0.5 * (np.arange(trends.MINUTES) // 1440 % 7) / 6))
    assert_once_is_anew(lambda: judged_rising(life))


def judged_rising(life):
    answered, usage = trends.judged(trends.LARGE, life, Policy())
    return {trends.LARGE.id: answered}, usage


@pytest.mark.parametrize("headroom_from", HeadroomFrom)
@pytest.mark.parametrize("rises", [0.0, 0.4, 0.8])
def test_headroom_that_is_known_later_is_that_of_a_load_made_anew(headroom_from, rises):
    policy = replace(lives.PLAIN, headroom_from=headroom_from, risk_pct=20)
    life = lives.a_life(1000 * (1 - rises + rises * np.arange(lives.MINUTES) / lives.MINUTES))
    with patch.object(member, "renew_case", wraps=renew_case) as renewed:
        assert_once_is_anew(lambda: lives.judged([lives.a_large()], {lives.a_large().id: life}, policy))
    other = [call.args[0].headrooms != call.args[1].headrooms for call in renewed.call_args_list]
    assert any(other) is (headroom_from is HeadroomFrom.LEARNED or rises > 0)


def test_a_quiet_volume_with_a_past_is_decided_twice_and_its_case_is_made_once():
    volume = lives.a_large()
    with (
        patch.object(member, "case_of", wraps=case_of) as made,
        patch.object(member, "answer", wraps=answer) as answered,
    ):
        lives.judged([volume], {volume.id: lives.a_life(lives.flat_with(1000))})
    assert (made.call_count, answered.call_count) == (1, 2)
