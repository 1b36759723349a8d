"""Savings broken down: whichever way, they add up to the run's."""

import pytest
from hypothesis import given

from plimsoll.reports.html.savings import FOLDED, SHOWN, breakdowns
from plimsoll.reports.tally import Tally
from tests.unit.reports.fleets import FLEETS, fleet_of
from tests.unit.reports.recommendations import a_record


@given(FLEETS)
def test_every_breakdown_adds_up_to_the_tally(records):
    tally = Tally()
    for record in records:
        tally.count(record)
    fleet = fleet_of(records)
    assert fleet.tally.summary() == tally.summary()
    for breakdown in breakdowns(fleet, "account"):
        lines = [*breakdown.shown, *breakdown.folded]
        assert sum(line.group.volumes for line in lines) == len(records)
        assert sum(line.group.money.usd_saved for line in lines) == pytest.approx(tally.money.usd_saved)
        assert sum(line.group.money.usd_saved_drop_in for line in lines) == pytest.approx(tally.money.usd_saved_drop_in)
        assert all(0 <= line.drop_in_pct + line.proof_pct <= 100.1 for line in lines)


def test_a_long_tail_is_one_line_that_holds_the_rest():
    fleet = fleet_of([a_record(account=f"{number}") for number in range(SHOWN + FOLDED + 5)])
    accounts = next(one for one in breakdowns(fleet, "account") if one.dimension == "account")
    assert (len(accounts.shown), len(accounts.folded)) == (SHOWN, FOLDED + 1)
    assert accounts.folded[-1].label == "5 others"
    assert accounts.folded[-1].link is None
    assert accounts.folded[-1].group.volumes == 5
