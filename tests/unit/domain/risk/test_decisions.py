"""A decision with learned headroom: the policy's figure, changed by what was learned, and the promise in the answer."""

from dataclasses import replace

import pytest

from plimsoll.decide.answer import Change, ChangeSteps, Keep, Reprovision, Upgrade, command_step
from plimsoll.decide.case_maker import case_of
from plimsoll.decide.decide import answer
from plimsoll.learned_table import load_table
from plimsoll.model.ceiling import Need
from plimsoll.model.policy import HeadroomFrom, Policy
from plimsoll.reports.answers import record_of
from plimsoll.reports.csv_table import header, row
from plimsoll.reports.markdown.run import ticket
from plimsoll.risk.histories import History
from tests.builders import a_basis, a_demand, a_policy, a_volume, load_of

LONG = a_policy(lookback_days=60)
LEARNED = a_policy(lookback_days=60, headroom_from=HeadroomFrom.LEARNED, risk_pct=5)


def decided(policy: Policy, *, asked: float = 5_000, most: Need | None = None, **spec):
    """The answer for a volume of which half of what it did most is usual, seen for as long as is looked back at."""
    volume, demand = a_volume("gp3", 500, **{"iops": 16_000, "throughput_mib_s": 500, **spec}), a_demand(asked, 50)
    history = History(days=policy.lookback_days, most=most, usual=0.5)
    context = replace(a_basis(policy), learned=load_table()).of(volume).knowing(volume, history)
    return answer(replace(case_of(volume, demand, load_of(volume, demand), context), history=history))


def test_the_size_is_that_of_the_same_headroom_as_a_fixed_figure():
    found = decided(LEARNED, asked=3_000)
    assert isinstance(found, Reprovision)
    assert found.risk is not None
    assert found.risk.is_learned
    assert found.risk.promised_pct == 5.0
    same = decided(a_policy(lookback_days=60, headroom_pct=found.risk.headroom.pct), asked=3_000)
    assert isinstance(same, Reprovision)
    assert same.target.spec == found.target.spec
    assert found.target.spec.iops == pytest.approx(3_000 * (1 + found.risk.headroom.pct / 100), abs=100)


def test_less_risk_never_saves_more():
    saved = [
        one.usd_month_saved if isinstance(one, Change) else 0.0
        for one in (decided(replace(LEARNED, risk_pct=pct), asked=3_000) for pct in (1, 2, 5, 10, 20, 30, 50))
    ]
    assert saved == sorted(saved)
    assert saved[:2] == [0, 0]  # No headroom is known that keeps so little.
    assert 0 < saved[2] < saved[-1]


def test_a_fixed_headroom_says_what_it_risks_and_a_short_history_promises_nothing():
    found = decided(LONG)
    assert isinstance(found, Reprovision)
    assert found.risk is not None
    assert (found.risk.is_learned, found.risk.headroom.pct, found.risk.promised_pct) == (False, 20, 30)
    young = decided(a_policy(lookback_days=7))
    assert isinstance(young, Reprovision)
    assert young.risk is not None
    assert young.risk.promised_pct is None
    assert "7 days of history" in young.risk.text


def test_what_is_kept_or_raised_has_no_risk_of_its_own():
    kept, raised = (
        decided(LONG, asked=15_000, throughput_mib_s=125),
        decided(LONG, asked=3_000, iops=3_000, throughput_mib_s=125),
    )
    assert isinstance(kept, Keep)
    assert isinstance(raised, Upgrade)
    assert kept.risk is None
    assert raised.risk is None


def test_the_promise_is_in_the_record_the_ticket_and_the_table():
    found = decided(LEARNED, asked=3_000)
    assert found.risk is not None
    record = record_of(found, ChangeSteps(forth=(command_step("change it"),)), provider="aws")
    assert record.risk is not None
    assert record.risk.text == found.risk.text
    assert found.risk.text in ticket(record, LEARNED, "").replace("\\", "")
    cells = dict(zip(header(), row(record), strict=True))
    assert (cells["risk_promised_pct"], cells["risk"]) == ("5.0", found.risk.text)


def test_a_quiet_volume_risks_less_since_what_is_free_leaves_it_more():
    busy, quiet, idle = (decided(LONG, asked=asked).risk for asked in (5_000, 900, 30))
    assert [one.left_pct for one in (busy, quiet, idle)] == sorted(one.left_pct for one in (busy, quiet, idle))
    assert busy.left_pct == pytest.approx(20, abs=1)
    assert quiet.left_pct == pytest.approx(100 * (125 / 50 - 1), abs=1)
    assert busy.promised_pct > quiet.promised_pct
    assert {one.headroom.pct for one in (busy, quiet, idle)} == {20}


def test_a_minute_of_the_past_that_was_higher_leaves_less_headroom_and_risks_more():
    none, higher, far = (
        decided(LONG, most=None if iops is None else Need(iops=iops, throughput_mib_s=10)).risk
        for iops in (None, 5_500, 9_000)
    )
    assert (none.left_pct, none.promised_pct) == (20, 30)
    assert (higher.left_pct, higher.promised_pct) == (pytest.approx(9.1), 30)
    assert (far.left_pct, far.promised_pct) == (pytest.approx(-33.3), 50)
