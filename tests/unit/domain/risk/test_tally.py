"""The tally: the tail of what kept promises would show is that of counting every outcome."""

import math
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.model.units import DAY_S
from plimsoll.model.volume import VolumeSpec
from plimsoll.risk.learn import LEVELS_PCT
from plimsoll.risk.watch import BROKEN_PCT, Promise, PromiseTally, Watch, chance_of_at_least
from tests.profiles import examples

CHANCES = st.lists(st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0]), max_size=9)
WAS, IS = (VolumeSpec(type="gp3", size_gib=500, iops=iops, throughput_mib_s=125) for iops in (16_000, 5_000))


def a_watch(promised_pct=5.0, throttled=0.0, observed_s=30 * DAY_S):
    promise = Promise(before=WAS, target=IS, promised_pct=promised_pct, minutes=15, days=30, made_s=0)
    return Watch(
        promise=promise, spec=IS, changed_s=0, until_s=DAY_S, observed_s=observed_s, throttled_minutes=throttled
    )


def a_tally(watches):
    tally = PromiseTally()
    for watch in watches:
        tally.add(watch)
    return tally


def by_every_outcome(chances, successes):
    """The same tail from all outcomes, one by one."""
    return sum(
        math.prod(chance if came else 1 - chance for chance, came in zip(chances, outcome, strict=True))
        for outcome in product([True, False], repeat=len(chances))
        if sum(outcome) >= successes
    )


@settings(max_examples=examples(200))
@given(chances=CHANCES, successes=st.integers(min_value=0, max_value=10))
def test_the_tail_is_that_of_every_outcome(chances, successes):
    found = chance_of_at_least(Counter(chances), successes)
    assert found == pytest.approx(by_every_outcome(chances, successes), abs=1e-12)


@settings(max_examples=examples(50))
@given(
    volumes=st.integers(min_value=1, max_value=400),
    chance=st.sampled_from([0.01, 0.05, 0.3]),
    successes=st.integers(min_value=0, max_value=60),
)
def test_of_equal_promises_it_is_the_binomial_tail(volumes, chance, successes):
    terms = (
        math.comb(volumes, came) * chance**came * (1 - chance) ** (volumes - came)
        for came in range(min(successes, volumes + 1))
    )
    assert chance_of_at_least({chance: volumes}, successes) == pytest.approx(1 - math.fsum(terms), abs=1e-10)


@settings(max_examples=examples(50))
@given(throttled=st.lists(st.booleans(), min_size=1, max_size=60), pct=st.sampled_from(LEVELS_PCT))
def test_one_more_throttled_volume_is_never_likelier_and_never_mends_promises(throttled, pct):
    tallies = [
        a_tally(a_watch(pct, 16.0 if number < broken else 15.0) for number in range(len(throttled)))
        for broken in range(len(throttled) + 1)
    ]
    chances = [tally.chance_pct for tally in tallies]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(chances))
    assert [tally.is_broken for tally in tallies] == sorted(tally.is_broken for tally in tallies)


def test_a_hundred_thousand_changed_volumes_are_weighed_as_well():
    assert chance_of_at_least({0.05: 60_000, 0.2: 40_000}, 11_000) == pytest.approx(0.5, abs=0.01)
    assert chance_of_at_least({0.05: 60_000, 0.2: 40_000}, 12_000) < 1e-9


def test_it_counts_whom_a_run_saw_again_and_how_long():
    tally = a_tally([a_watch(), a_watch(20.0, 15.1, 15 * DAY_S), a_watch(observed_s=0), None])
    assert (tally.volumes, tally.throttled) == (2, 1)
    assert tally.expected_throttled == pytest.approx(0.25)
    assert tally.observed_s / tally.promised_s == pytest.approx(0.75)


def test_parts_add_up_to_the_whole():
    watches = [a_watch(pct, minutes) for pct in LEVELS_PCT for minutes in (0.0, 20.0)]
    whole, parts = a_tally(watches), PromiseTally()
    for place in range(3):
        parts.merge(a_tally(watches[place::3]))
    assert parts == whole


def test_promises_are_broken_by_what_chance_hardly_does_and_not_by_what_it_does_now_and_then():
    def of(broken):
        return a_tally(a_watch(5.0, 16.0 if number < broken else 0.0) for number in range(100))

    least = next(broken for broken in range(100) if of(broken).is_broken)
    assert chance_of_at_least({0.05: 100}, least) <= BROKEN_PCT / 100 < chance_of_at_least({0.05: 100}, least - 1)
    assert least == 14
    assert not PromiseTally().is_broken
