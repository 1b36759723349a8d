"""Waves: every volume in one, none beside what fails with it, a canary first and a hold-back last."""

from collections import Counter
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll_change.waves import LEAST_FOR_HOLD_BACK, WATCH_H, WaveKind, WaveMember, draw_waves
from tests.profiles import examples

DRAWN = [(3, 72.0), (30, 48.0), (100, 24.0)]


def a_member(number=1, **fields):
    plain = {"change_class": "gp2 to gp3", "zone": "eu-west-1a", "application": "shop"}
    return WaveMember(**{"id": f"vol-{number:04}", **plain, **fields})


def a_fleet(count, chance):
    """Volumes of two classes, with stripe sets, shared hosts and critical ones."""
    shared = ["host i-1", "host i-2", "group web", "replicas db"]
    for number in range(count):
        unit = chance.choice(["", "", "", "", "md0", "md1"])
        yield a_member(
            number,
            change_class=chance.choice(["gp2 to gp3", "io1 to gp3"]) if unit != "md0" else "io1 to gp3",
            zone=chance.choice("ab"),
            application=chance.choice(["", "shop", "search"]),
            unit=unit,
            fails_with=frozenset(chance.sample(shared, chance.randrange(3))) if chance.random() < 0.1 else frozenset(),
            usd_at_risk=chance.uniform(0, 1000),
            is_proved=chance.random() < 0.5,
            has_work=chance.random() < 0.5,
            is_critical=chance.random() < 0.05,
        )


@given(count=st.integers(1, 160), chance=st.integers(0, 10**6))
@settings(max_examples=examples(400))
def test_the_laws_of_waves(count, chance):
    members, seed = list(a_fleet(count, Random(chance))), str(chance)
    by_id = {member.id: member for member in members}
    waves = draw_waves(members, seed)
    assert draw_waves(members[::-1], seed) == waves
    assert Counter(name for wave in waves for name in wave.members) == Counter(list(by_id))
    for wave in waves:
        inside = [by_id[name] for name in wave.members]
        for one, other in combinations(inside, 2):
            assert (one.unit and one.unit == other.unit) or one.fails_with.isdisjoint(other.fails_with)
        units = {member.unit or member.id for member in inside}
        assert len(units) == 1 or len(inside) <= 100
        assert wave.kind not in (WaveKind.CANARY, WaveKind.SINGLE) or len(units) == 1
    for name in {wave.change_class for wave in waves}:
        of_class = [wave for wave in waves if wave.change_class == name]
        assert [wave.number for wave in of_class] == list(range(1, len(of_class) + 1))
        assert [wave.kind for wave in of_class] == sorted((wave.kind for wave in of_class), key=list(WaveKind).index)
        assert of_class[0].kind is WaveKind.CANARY
        drawn = [wave for wave in of_class if wave.kind is WaveKind.DRAWN]
        few = sum(len(wave.members) for wave in of_class) < 40
        for wave, most in zip(drawn, [3 if few else 10, 30, 100, 100, 100], strict=False):
            assert len(wave.members) <= most or len({by_id[name].unit for name in wave.members}) == 1
        for before, after in pairwise(of_class):
            if after.kind is WaveKind.HELD_BACK is not before.kind:
                assert before.bake_h == WATCH_H


@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (4, [1, 3]), (39, [1, 3, 30, 5]), (45, [1, 10, 30, 4])])
def test_waves_of_a_class_without_a_hold_back_grow(count, sizes):
    waves = draw_waves([a_member(number, has_work=False) for number in range(count)], "seed")
    assert [len(wave.members) for wave in waves] == sizes


def test_each_wave_bakes_as_long_as_its_size_asks_for():
    few = draw_waves([a_member(number, has_work=False) for number in range(39)], "seed")
    many = draw_waves([a_member(number, has_work=False) for number in range(300)], "seed")
    assert [wave.bake_h for wave in few] == [24.0, 72.0, 48.0, 24.0]
    assert [wave.bake_h for wave in many] == [24.0, 48.0, 48.0, 24.0, 24.0, 24.0]


@pytest.mark.parametrize(("count", "held"), [(9, 0), (11, 5), (100, 5), (201, 10), (400, 20)])
def test_an_application_holds_back_five_volumes_and_five_percent(count, held):
    waves = draw_waves([a_member(number) for number in range(count)], "seed")
    last = [wave for wave in waves if wave.kind is WaveKind.HELD_BACK]
    assert sum(len(wave.members) for wave in last) == held
    assert waves[-1].kind is WaveKind.HELD_BACK or not held


def test_small_applications_of_a_zone_share_a_hold_back():
    members = [a_member(number, application=f"app-{number % 4}") for number in range(4 * 4)]
    assert len(members) >= LEAST_FOR_HOLD_BACK
    held = [wave for wave in draw_waves(members, "seed") if wave.kind is WaveKind.HELD_BACK]
    assert sum(len(wave.members) for wave in held) == 5


def test_the_canary_gives_nothing_up_and_has_the_least_at_risk():
    members = [
        a_member(1, usd_at_risk=1, is_proved=False),
        a_member(2, usd_at_risk=9),
        a_member(3, usd_at_risk=5),
        a_member(4, usd_at_risk=0, is_critical=True),
        a_member(5, usd_at_risk=0, unit="md0"),
        a_member(6, usd_at_risk=0, unit="md0"),
    ]
    first, *_, last = draw_waves(members, "seed")
    assert first.members == ("vol-0003",)
    assert (last.kind, last.members) == (WaveKind.SINGLE, ("vol-0004",))


def test_a_class_of_one_stripe_set_changes_it_at_once():
    members = [a_member(number, unit="md0", fails_with=frozenset({"host i-1"})) for number in range(8)]
    (canary,) = draw_waves(members, "seed")
    assert len(canary.members) == 8


def test_a_wave_has_its_share_of_every_zone():
    members = [a_member(number, zone="ab"[number % 2], has_work=False) for number in range(100)]
    zones = {member.id: member.zone for member in members}
    for wave in draw_waves(members, "seed")[1:3]:
        counts = Counter(zones[name] for name in wave.members)
        assert abs(counts["a"] - counts["b"]) <= 2


def test_another_seed_draws_other_waves():
    members = [a_member(number) for number in range(60)]
    assert draw_waves(members, "one") != draw_waves(members, "two")
