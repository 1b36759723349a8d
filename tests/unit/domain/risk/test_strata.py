"""Strata by owner: each kind is given the headroom that it needs, and small ones that of the fleet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.learned_table import parse_table, table_text
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import HeadroomFrom, Policy
from plimsoll.risk.histories import History
from plimsoll.risk.learn import LEVELS_PCT, calibrate
from plimsoll.risk.promise import find_headrooms, risk_of
from plimsoll_backtest.fleet import Fleet
from plimsoll_backtest.learn import learn
from tests.profiles import examples
from tests.unit.backtest.fleets import a_scenario, bursty, write_fleet
from tests.unit.domain.risk.test_calibration import scores

NAMES = ("hand", "kubernetes")
LEARNED = Policy(headroom_from=HeadroomFrom.LEARNED, risk_days=7, risk_pct=10, lookback_days=14)
TWO_WEEKS = History(days=14)


def kinds(places):
    """The kind of each volume's owner; -1: it is not known."""
    return [NAMES[place] if place >= 0 else "" for place in places]


def two_kinds(rng, volumes):
    """Scores of volumes of two kinds of owners, of which the second needs three times the headroom, and their kinds."""
    kind = rng.integers(0, 2, volumes)
    return scores((rng.lognormal(0, 0.2, volumes) * np.where(kind == 0, 1.0, 3.0)).clip(0.06, 40)), kind


@pytest.mark.parametrize("level_pct", [5.0, 10.0, 20.0])
def test_a_promise_holds_of_all_and_costs_less_headroom_than_one_factor(level_pct):
    rng, missed, shares = np.random.default_rng(3), [], []
    for _ in range(40):
        (known, kind), (new, other) = two_kinds(rng, 400), two_kinds(rng, 400)
        learned, one = calibrate(known, owners=kinds(kind)), calibrate(known)
        factors = np.array([learned.factors[level_pct] * learned.scales[NAMES[place]] for place in other])
        missed.append((new.score > factors).mean())
        shares.append(np.mean(factors) / one.factors[level_pct])
    assert np.mean(missed) <= 1.1 * level_pct / 100
    assert np.mean(shares) < 0.9


def test_a_small_stratum_is_given_what_the_fleet_is():
    rng = np.random.default_rng(5)
    known, kind = two_kinds(rng, 300)
    few = np.where((kind == 1) & (np.cumsum(kind == 1) > 10), -1, kind)
    learned = calibrate(known, owners=kinds(few))
    assert {*learned.scales} == {"hand"}
    assert learned.scale(np.array([0.5, 0.5]), ["kubernetes", "operator"]).tolist() == [0.5, 0.5]


@settings(max_examples=examples(60))
@given(
    st.lists(
        st.tuples(st.floats(0.06, 40), st.integers(min_value=-1, max_value=1)),
        min_size=1,
        max_size=200,
    )
)
def test_less_risk_never_takes_less_headroom(rows):
    found = scores([score for score, _ in rows])
    learned = calibrate(found, owners=kinds(kind for _, kind in rows))
    factors = [np.inf if learned.factors[level] is None else learned.factors[level] for level in LEVELS_PCT]
    assert factors == sorted(factors, reverse=True)


def test_without_strata_it_is_one_factor():
    found = scores(np.linspace(0.5, 4, 150))
    nobody = calibrate(found, owners=[""] * 150)
    assert nobody.factors == calibrate(found).factors


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Learned from a fleet of two kinds of owners: the weeks of one are alike, those of the other are not."""
    folder = tmp_path_factory.mktemp("owners")
    rng, hours = np.random.default_rng(9), 60 * 24
    calm, wild = rng.lognormal(6.5, 0.6, (2, 120, 1)) * rng.lognormal(0, 0.5, (2, 120, hours))
    wild *= np.repeat(rng.lognormal(0, 0.5, (120, 9)), 7 * 24, axis=1)[:, :hours]
    path = write_fleet(folder / "fleet.npz", np.concatenate([calm, wild]))
    arrays = dict(np.load(path))
    np.savez_compressed(path, **arrays, owner=np.array(["hand"] * 120 + ["kubernetes"] * 119 + [""]))
    return learn([Fleet(path, 16)], a_scenario(), folder / "kept", on="2026-11-23", public=False)


def test_a_fleet_with_owners_teaches_by_owner_and_the_file_is_read_back(table):
    (band,) = table.bands
    assert band.learned.scales["kubernetes"] > band.learned.scales["hand"]
    assert parse_table(table_text(table)) == table


def test_a_decision_asks_for_the_headroom_of_the_owner_and_says_so(table):
    hand, other, nobody = (
        find_headrooms(LEARNED, table, TWO_WEEKS, owner).reducing for owner in ("hand", "kubernetes", "operator")
    )
    assert hand.pct < nobody.pct < other.pct
    risks = [risk_of(LEARNED, other, table, TWO_WEEKS, owner) for owner in ("hand", "kubernetes")]
    assert [risk.stratum for risk in risks] == ["hand", "kubernetes"]
    assert risks[0].promised_pct <= risks[1].promised_pct <= 10
    assert risk_of(LEARNED, nobody, table, TWO_WEEKS, "operator").stratum == ""


def test_an_owner_of_no_kind_is_refused(tmp_path):
    path = write_fleet(tmp_path / "fleet.npz", bursty(2, 3))
    np.savez_compressed(path, **dict(np.load(path)), owner=np.array(["hand", "bob"]))
    with pytest.raises(BadInput, match="the owner of vol-0001 is 'bob'"):
        Fleet(path, 16)
