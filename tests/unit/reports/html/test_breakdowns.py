"""Savings broken down: whichever way, they add up to the run's."""

import pytest
from hypothesis import given

from plimsoll.reports.html.page import FOLDED, SHOWN, breakdowns
from plimsoll.reports.totals import DIMENSIONS, Totals
from tests.unit.reports.fleets import FLEETS
from tests.unit.reports.recommendations import a_record


@given(FLEETS)
def test_every_breakdown_adds_up_to_the_totals(records):
    totals = Totals.of(records, by=DIMENSIONS)
    for breakdown in breakdowns(totals, "account"):
        lines = [*breakdown.shown, *breakdown.folded]
        assert sum(line.totals.answered for line in lines) == len(records)
        assert sum(line.totals.usd_saved for line in lines) == pytest.approx(totals.usd_saved)
        assert sum(line.totals.usd_saved_drop_in for line in lines) == pytest.approx(totals.usd_saved_drop_in)
        assert all(0 <= line.drop_in_pct + line.proof_pct <= 100.1 for line in lines)


def test_a_long_tail_is_one_line_that_holds_the_rest():
    records = [a_record(account=f"{number}") for number in range(SHOWN + FOLDED + 5)]
    accounts = next(
        one for one in breakdowns(Totals.of(records, by=DIMENSIONS), "account") if one.dimension == "account"
    )
    assert (len(accounts.shown), len(accounts.folded)) == (SHOWN, FOLDED + 1)
    assert accounts.folded[-1].label == "5 others"
    assert accounts.folded[-1].link is None
    assert accounts.folded[-1].totals.answered == 5
