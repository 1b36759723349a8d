"""Prices: a region that is priced in another currency, or not at all, is in no dollar sum, and says so."""

from dataclasses import replace

import pytest

from plimsoll.auditing.price import price_outcomes
from plimsoll.decide.decide import answer_by_state
from plimsoll.model.market import PriceBook
from plimsoll.model.volume import VolumeState
from plimsoll.outcomes import Notice
from plimsoll.ports import Target
from plimsoll.reports.answers import record_of
from plimsoll.reports.record import FIRST_PROVIDER
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.story.run import counted_run, tell_headline
from plimsoll.reports.totals import RunTotals
from tests.builders import NOW, US_EAST_1, a_basis, a_demand, a_market, a_volume, decision
from tests.unit.reports.plain_runs import a_run_record

NINGXIA = Target(account="111122223333", region="cn-northwest-1")
IN_YUAN = PriceBook(region=NINGXIA.region, source="a list", as_of=NOW.date(), types={}, currency="CNY")
UNPRICED = PriceBook(region=NINGXIA.region, source="none", as_of=None, types={})
DEMAND = a_demand(200, 10)


def recorded(recommendation):
    return record_of(recommendation, provider=FIRST_PROVIDER)


@pytest.mark.parametrize(("book", "code"), [(IN_YUAN, "other-currency"), (UNPRICED, "no-price")])
def test_a_volume_without_a_price_in_dollars_is_in_no_sum_and_says_so(book, code):
    record = recorded(decision(a_volume("gp3", 500, iops=10_000), DEMAND, market=a_market(book)))
    assert record.reason_codes[:2] == [code, "used"]
    assert (record.monthly_usd_now, record.monthly_usd_saved, step_of(record)) == (None, 0.0, Step.UNKNOWN)
    totals = RunTotals.add_up([record, recorded(decision(a_volume("gp2", 500), DEMAND))])
    assert (totals.usd_now, totals.unpriced) == (50.0, 1)
    assert "no price is known for 1 other" in tell_headline(counted_run(a_run_record(), totals), whole=True).text


@pytest.mark.parametrize(("book", "word"), [(IN_YUAN, "CNY"), (UNPRICED, "no price in dollars")])
def test_its_region_is_named(book, word):
    (notice,) = (one for one in price_outcomes(NINGXIA, book, None, NOW) if isinstance(one, Notice))
    assert word in notice.text
    assert NINGXIA.region in notice.text


def test_a_region_with_prices_is_not():
    assert not [one for one in price_outcomes(NINGXIA, US_EAST_1, None, NOW) if isinstance(one, Notice)]


def test_where_it_is_not_known_what_is_sold_nothing_has_a_price_or_a_change():
    edge = {"edge": "the Outpost op-1"}
    found = recorded(decision(replace(a_volume("gp2", 500), **edge), DEMAND))
    assert (found.action, found.target, found.monthly_usd_now) == ("insufficient-data", None, None)
    assert "other-market" in found.reason_codes
    alone = recorded(answer_by_state(replace(a_volume("gp2", on=[]), **edge), a_basis()))
    assert (alone.action, alone.monthly_usd_now) == ("detached", None)


@pytest.mark.parametrize("state", [VolumeState.CREATING, VolumeState.ERROR, VolumeState.DELETING])
def test_a_state_without_demand_is_said_and_nothing_else(state):
    for buckets in (60, 3000):
        found = recorded(decision(a_volume("gp2", 500, state=state), a_demand(200, 10, buckets=buckets)))
        assert (found.action, found.reason_codes, found.monthly_usd_saved) == ("insufficient-data", ["state"], 0.0)
