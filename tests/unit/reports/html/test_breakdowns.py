"""Savings broken down: whichever way, they add up to the run's."""

import pytest
from hypothesis import given

from plimsoll.reports.html.page import FOLDED, SHOWN_LINES, breakdowns
from plimsoll.reports.totals import DIMENSIONS, RunTotals
from tests.unit.reports.fleets import FLEETS
from tests.unit.reports.recommendations import a_record


@given(FLEETS)
def test_every_breakdown_adds_up_to_the_totals(records):
    totals = RunTotals.add_up(records, by=DIMENSIONS)
    for breakdown in breakdowns(totals, "account"):
        lines = [*breakdown.shown, *breakdown.folded]
        assert sum(line.totals.answered_count for line in lines) == len(records)
        assert sum(line.totals.usd_saved for line in lines) == pytest.approx(totals.usd_saved)
        assert sum(line.totals.usd_saved_drop_in for line in lines) == pytest.approx(totals.usd_saved_drop_in)
        assert all(0 <= line.drop_in_pct + line.proof_pct <= 100.1 for line in lines)


def test_a_long_tail_is_one_line_that_holds_the_rest():
    records = [a_record(account=f"{number}") for number in range(SHOWN_LINES + FOLDED + 5)]
    accounts = next(
        one for one in breakdowns(RunTotals.add_up(records, by=DIMENSIONS), "account") if one.dimension == "account"
    )
    assert (len(accounts.shown), len(accounts.folded)) == (SHOWN_LINES, FOLDED + 1)
    assert accounts.folded[-1].label == "5 others"
    assert accounts.folded[-1].link is None
    assert accounts.folded[-1].totals.answered_count == 5
