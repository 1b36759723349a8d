"""Batches are dealt so that each is audited once, each quota is kept to, and none is idle that could be used."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.aws import connection as aws
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.cloud import Reach
from plimsoll.clouds.scope import Scope
from plimsoll.clouds.targets import named_target
from plimsoll.settings import Settings
from plimsoll_google import connection as google
from plimsoll_google.clients import Clients
from plimsoll_service import lots as lots_module
from plimsoll_service.lots import LOT_BATCHES, LOT_BYTES, lots_of
from plimsoll_service.store_keys import VolumeBatch
from tests.builders import NOW
from tests.profiles import examples

ACCOUNTS = [f"{number:012}" for number in range(4)]
PLACES = [
    *(named_target(account, region) for account in ACCOUNTS for region in ("eu-west-1", "us-east-1")),
    *(named_target(project, region) for project in ("a-project", "b-project") for region in ("us-west1", "us-east1")),
]
WHOLE = 500 * 920
"""Bytes that are listed of the volumes of a whole batch."""


def batches_of(counts, size=WHOLE):
    return {VolumeBatch(target=target, number=n): size for target, count in counts.items() for n in range(count)}


def account(number):
    return named_target(f"{number:012}", "us-east-1")


def quota(batch):
    """A project has one quota in all its regions, an account of AWS one in each."""
    target = batch.target
    return target.account if target.provider == "google" else str(target)


@st.composite
def fleets(draw):
    counts = draw(st.dictionaries(st.sampled_from(PLACES), st.integers(1, 12), min_size=1))
    weights = {batch: draw(st.sampled_from([0, 50_000, WHOLE, 3 * WHOLE])) for batch in batches_of(counts)}
    return weights, draw(st.integers(1, 12)), draw(st.sets(st.sampled_from(sorted(weights)), max_size=3))


@settings(max_examples=examples(1000), deadline=None)
@given(fleets())
def test_every_batch_is_in_one_lot_and_those_under_way_never_take_more_than_a_quota(fleet):
    weights, at_once, alone = fleet
    lots = lots_of(weights, at_once=at_once, alone=alone)
    dealt = Counter(item.as_batch for lot in lots for item in lot.batches)
    assert dealt == Counter(weights.keys())
    readers = {}
    for lot in lots:
        for place in {quota(item.as_batch) for item in lot.batches}:
            readers.setdefault(place, []).append(1 / lot.sharing)
    for shares in readers.values():
        assert sum(sorted(shares, reverse=True)[:at_once]) <= 1 + 1e-9
    for lot in lots:
        if any(item.as_batch in alone for item in lot.batches):
            assert len(lot.batches) == 1


def used(lots, at_once):
    """How many whole quotas the lots use that are under way first."""
    return sum(1 / lot.sharing for lot in lots[:at_once])


@pytest.mark.parametrize(("accounts", "quotas"), [(1, 1), (2, 2), (5, 5), (10, 10), (40, 10)])
def test_more_accounts_are_read_with_more_quota_at_once(accounts, quotas):
    lots = lots_of(batches_of({account(number): 20 for number in range(accounts)}), at_once=10)
    assert used(lots, 10) == pytest.approx(quotas)


def test_one_large_account_is_read_by_all_functions_together():
    lots = lots_of(batches_of({account(1): 40}), at_once=10)
    assert [(len(lot.batches), lot.sharing) for lot in lots] == [(4, 10)] * 10


def test_a_large_account_gets_the_functions_that_its_share_of_the_work_asks_for():
    lots = lots_of(batches_of({account(1): 70, account(2): 30}), at_once=10)
    assert Counter((lot.batches[0].account, lot.sharing) for lot in lots) == {
        (account(1).account, 7): 7,
        (account(2).account, 3): 3,
    }


def test_small_targets_share_functions():
    """17,000 targets of 59 volumes are some 1,000 items: half as many as whole batches of a million volumes."""
    weights = {VolumeBatch(target=account(number), number=0): 59 * 920 for number in range(17_000)}
    lots = lots_of(weights, at_once=10)
    assert 17_000 * 59 / 1_000 <= len(lots) < 17_000 * 59 / 800
    assert {lot.sharing for lot in lots} == {1}
    sizes = [sum(weights[item.as_batch] for item in lot.batches) for lot in lots]
    assert max(sizes) <= LOT_BYTES


def test_the_heaviest_lots_come_first_so_that_none_is_waited_for_in_the_end():
    lots = lots_of(batches_of({account(number): number for number in range(1, 6)}), at_once=2)
    sizes = [len(lot.batches) for lot in lots]
    assert sizes == sorted(sizes, reverse=True)


def test_what_is_more_than_a_lot_holds_is_left_to_the_next_round(monkeypatch):
    monkeypatch.setattr(lots_module, "LOT_BATCHES", 3)
    lots = lots_of(batches_of({account(1): 20}), at_once=2)
    assert [len(lot.batches) for lot in lots] == [3, 3]
    assert LOT_BATCHES > 3


def test_nothing_is_dealt_of_nothing():
    assert lots_of({}, at_once=10) == []


def metrics_of(cloud, sharing):
    settings = Settings()
    if cloud == "aws":
        sessions = Sessions(attempts=1, connections=1)
        return aws.connection_of(
            sessions, Reach(scope=Scope(), settings=settings, today=NOW.date(), sharing=sharing)
        ).metrics
    clients = Clients(url="http://127.0.0.1:1", monitoring="127.0.0.1:1", attempts=1, list_deadline_s=1.0)
    scope = Scope(clouds=("google",), projects=("a-project",), regions=("us-west1",))
    return google.google_connection(
        clients, Reach(scope=scope, settings=settings, today=NOW.date(), sharing=sharing)
    ).metrics


@pytest.mark.parametrize("cloud", ["aws", "google"])
def test_those_who_share_a_quota_keep_to_it_together_and_ask_for_what_one_alone_would(cloud):
    alone, one = metrics_of(cloud, 1), metrics_of(cloud, 4)
    assert 4 * one.calls.rate == alone.calls.rate
    if cloud == "aws":
        assert 4 * one.datapoints.rate == alone.datapoints.rate
    assert one.query_cost == alone.query_cost
