"""Where a host was the limit: what was measured goes before what is published, and unknown is neither."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.demand.demand import HostSeen
from plimsoll.demand.epochs import Epoch
from plimsoll.demand.host_room import find_host_room, host_loads
from plimsoll.demand.load import host_bound_times
from plimsoll.model.volume import ceiling_of_hosts
from tests.builders import a_demand, a_host, a_policy, a_volume

NAN = np.nan
STEADY = a_volume("io2", iops=100_000, on=a_host("m5.24xlarge"))
"""On a host that carries 80,000 IOPS all the time."""
BURSTING = a_volume("gp3", iops=16_000, throughput_mib_s=1000, on=a_host("m5.large"))
"""On a host that carries 18,750 IOPS while its credits last, and 3,600 without."""


def room_of(volume, iops, checks, balances=None, *, others=0.0, unread=False):
    """The room of a volume that did so much, in minutes in which its host measured that of its IOPS."""
    absent = [NAN] * len(iops)
    at = np.full((2, len(iops)), unread)
    seen = HostSeen(
        exceeded=np.array([checks, absent], dtype=float),
        balance_pct=np.array([absent if balances is None else balances, absent], dtype=float),
        check_unread=at,
        balance_unread=at,
    )
    own, sibling = a_demand(iops=iops), a_volume(id="sibling", on=volume.hosts)
    demands = {volume.id: own, "sibling": a_demand(iops=[others] * len(iops))}
    load = replace(host_loads([volume, sibling], demands)[volume.hosts[0].id], seen=seen)
    return find_host_room(own, load, ceiling_of_hosts(volume), a_policy())


def test_a_raised_check_is_the_limit_whatever_is_published_and_leaves_no_more_than_was_done():
    room = room_of(STEADY, [100.0, 100.0, 100.0], [1, 0, NAN])
    assert room.bound.tolist() == room.measured.tolist() == [True, False, False]
    assert room.room[0].tolist() == [100.0, 80_000.0, 80_000.0]
    assert room.room[1][0] == 0.0


def test_a_raised_check_is_not_the_limit_of_a_volume_with_hardly_any_part_in_it():
    assert room_of(STEADY, [100.0], [1], others=2000.0).bound.tolist() == [False]


def test_a_check_that_is_not_raised_takes_back_the_published_maximum_and_an_absent_one_does_not():
    room = room_of(STEADY, [79_000.0, 79_000.0], [0, NAN])
    assert (room.bound.tolist(), room.measured.tolist(), room.cleared.tolist()) == (
        [False, True],
        [False, False],
        [True, False],
    )


@pytest.mark.parametrize(
    ("check", "balance", "bound", "measured", "cleared"),
    [
        (NAN, NAN, True, False, False),
        (0, NAN, True, False, False),
        (NAN, 50, False, False, True),
        (0, 50, False, False, True),
        (NAN, 0.5, True, True, False),
        (0, 0.5, True, True, False),
        (1, 50, True, True, False),
    ],
)
def test_a_balance_goes_before_the_replay_of_credits(check, balance, bound, measured, cleared):
    minutes = 60
    room = room_of(BURSTING, [16_000.0] * minutes, [check] * minutes, [balance] * minutes)
    last = [bool(found[-1]) for found in (room.bound, room.measured, room.cleared)]
    assert last == [bound, measured, cleared]


def test_a_host_without_credits_is_the_limit_at_its_baseline_though_a_replay_has_them():
    assert room_of(BURSTING, [3600.0], [0], [0]).bound.tolist() == [True]
    assert room_of(BURSTING, [3600.0], [0], [NAN]).bound.tolist() == [False]
    assert room_of(BURSTING, [3600.0], [0], [50]).bound.tolist() == [False]
    assert room_of(BURSTING, [3400.0], [0], [0]).bound.tolist() == [False]


def test_what_a_host_without_credits_held_back_may_have_been_all_that_it_can_burst_to():
    room = room_of(BURSTING, [3600.0], [0], [0])
    demand, ceiling = a_demand(iops=[3600.0]), replace(room.ceiling, iops=16_000.0, buckets=())
    epoch = Epoch(window=demand.window, spec=None, ceiling=ceiling)
    assert host_bound_times(demand, room, [epoch]).tolist() == [16_000 / 3600]


def room_where(iops, there):
    """The room of a volume alone on a host of 80,000 IOPS, which was of that type in some minutes."""
    own = a_demand(iops=iops)
    load = host_loads([STEADY], {STEADY.id: own})[STEADY.hosts[0].id]
    return find_host_room(own, load, ceiling_of_hosts(STEADY), a_policy(), np.array(there))


@pytest.mark.parametrize(
    ("iops", "there", "disproved"),
    [
        ([84_001.0] * 3, [True] * 3, True),
        ([84_001.0] * 2 + [83_000.0], [True] * 3, False),
        ([83_999.0] * 9, [True] * 9, False),
        ([100_000.0] * 9, [False] * 7 + [True] * 2, False),
    ],
)
def test_more_than_its_limits_for_three_minutes_says_that_they_do_not_hold(iops, there, disproved):
    room = room_where(iops, there)
    assert room.disproved == disproved
    assert room.bound.any() != disproved
    assert np.isinf(room.room[0]).all() == disproved
    assert np.isinf(room.ceiling.iops) == disproved


def test_a_raised_check_counts_though_published_limits_do_not_hold():
    room = room_of(STEADY, [90_000.0] * 4, [0, 1, 0, NAN])
    assert (room.disproved, room.bound.tolist()) == (True, [False, True, False, False])
    assert room.room[0].tolist() == [np.inf, 90_000.0, np.inf, np.inf]


def test_a_coarse_check_counts_only_once_its_minutes_are_known():
    assert room_of(STEADY, [100.0], [7], unread=True).bound.tolist() == [False]
