"""Hints: volumes that look like one stripe set, and those that do not."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.groups.lockstep import find_hints, hint_text
from tests.builders import LONG_AGO, a_demand, a_host, a_spec, a_volume
from tests.profiles import examples

DAYS = 5
SHAPE = np.repeat([100.0, 300.0, 50.0, 800.0, 200.0], 24)


def a_day_by_day(times=1.0, shape=SHAPE):
    return a_demand(iops=list(shape * times), throughput_mib_s=list(shape * times / 64), resolution_s=3600)


def a_pair(**of_second):
    """Two volumes as members of a set are, but for what is said of the second."""
    return [a_volume("gp3", id="a"), a_volume("gp3", id="b", **of_second)]


def hinted(volumes, **demands):
    return find_hints(volumes, {volume.id: a_day_by_day() for volume in volumes} | demands)


def test_volumes_alike_and_in_lockstep_are_hinted():
    assert hinted(a_pair()) == [("a", "b")]
    assert hinted(a_pair(), b=a_day_by_day(1.05)) == [("a", "b")]
    assert hinted(a_pair(created=LONG_AGO + timedelta(minutes=4))) == [("a", "b")]


@pytest.mark.parametrize(
    "unlike",
    [
        {"on": a_host(id="i-2")},
        {"on": []},
        {"on": [a_host(), a_host(id="i-2")]},
        {"spec": a_spec("gp2")},
        {"spec": a_spec("gp3", 501)},
        {"spec": a_spec("gp3", iops=3_001)},
        {"spec": a_spec("gp3", throughput_mib_s=126)},
        {"zone": "us-east-1b"},
        {"created": LONG_AGO + timedelta(minutes=6)},
        {"boot": True},
    ],
)
def test_volumes_that_differ_in_anything_are_not(unlike):
    assert hinted(a_pair(**unlike)) == []


@pytest.mark.parametrize(
    "other",
    [
        a_day_by_day(1.3),
        a_day_by_day(shape=SHAPE[::-1]),
        a_day_by_day(0.0),
        a_demand(list(SHAPE), list(SHAPE[::-1]), resolution_s=3600),
    ],
)
def test_volumes_that_work_apart_are_not(other):
    assert hinted(a_pair(), b=other) == []


def test_idle_volumes_and_a_day_or_two_show_nothing():
    assert hinted(a_pair(), a=a_day_by_day(0.0), b=a_day_by_day(0.0)) == []
    short = a_day_by_day(shape=SHAPE[:48])
    assert hinted(a_pair(), a=short, b=short) == []


def test_a_volume_that_was_not_read_is_left_out():
    assert find_hints(a_pair(), {"a": a_day_by_day()}) == []


def test_two_sets_on_a_host_are_told_apart():
    volumes = [a_volume("gp3", id=name) for name in "abcde"]
    other, third = a_day_by_day(shape=SHAPE[::-1]), a_day_by_day(7.0)
    found = find_hints(volumes, {"a": a_day_by_day(), "b": other, "c": a_day_by_day(), "d": other, "e": third})
    assert sorted(found) == [("a", "c"), ("b", "d")]


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1.02, 3.0]), st.integers(0, 12)), max_size=8))
@settings(max_examples=examples(60))
def test_no_volume_is_in_two_hints_and_none_is_alone_in_one(some):
    volumes = [
        a_volume("gp3", id=f"vol-{number}", created=LONG_AGO + timedelta(minutes=minutes))
        for number, (_, minutes) in enumerate(some)
    ]
    demands = {f"vol-{number}": a_day_by_day(times) for number, (times, _) in enumerate(some)}
    found = find_hints(volumes, demands)
    ids = [volume_id for group in found for volume_id in group]
    assert len(ids) == len(set(ids))
    assert all(len(group) > 1 for group in found)


def test_a_hint_names_the_others_and_what_to_do_and_says_that_nothing_rests_on_it():
    text = hint_text("a", ("a", "b", "c"), "i-1")
    assert "b, c" in text
    assert "is judged alone" in text
    assert "`plimsoll stripes i-1`" in text
