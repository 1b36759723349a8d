"""What is shown by the minute in a large target: what can save the most by its price, within a bound."""

from dataclasses import replace

import pytest

from plimsoll.auditing.decide import MOST, shown_first
from plimsoll.decide.offers import most_saved_usd_month
from tests.builders import a_basis, a_host, a_market, a_policy, a_volume
from tests.pipelines.test_audit import a_world

POLICY = a_policy(lookback_days=14)
CONTEXT = a_basis(POLICY, market=a_market())


def a_target(count):
    dear = a_volume("io1", 1000, id="vol-dear", iops=30_000, on=a_host(id="i-dear"))
    return [
        dear,
        *(a_volume("gp2", 500, id=f"vol-{number}", on=a_host(id=f"i-{number}")) for number in range(count - 1)),
    ]


@pytest.mark.parametrize(("count", "shown"), [(199, 0), (200, 1), (450, 2), (5000, MOST)])
def test_one_in_two_hundred_is_shown_and_what_can_save_the_most_first(count, shown):
    volumes = a_target(count)
    found = shown_first(volumes, a_world([]), CONTEXT, frozenset())
    assert len(found) == shown
    assert not shown or "vol-dear" in found


def test_nothing_is_chosen_of_what_is_answered_already_or_where_all_is_read_by_the_minute():
    volumes = a_target(200)
    assert "vol-dear" not in shown_first(volumes, a_world([]), CONTEXT, frozenset({"vol-dear"}))
    for way in ({"by_minutes": True}, {"every_minute": True}):
        assert not shown_first(volumes, replace(a_world([]), **way), CONTEXT, frozenset())


def test_what_is_saved_at_most_is_what_is_above_the_least_that_suits_it():
    volume = a_volume("gp2", 1000, on=a_host())
    # gp2 costs $0.10 a GiB and gp3 $0.08; st1 and sc1 are no target unless a policy names them.
    assert most_saved_usd_month(volume, a_market(), replace(POLICY, target_types=("gp3",))) == pytest.approx(20.0)
