import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.demand.host_room import find_host_room, host_loads
from plimsoll.demand.load import find_saturated
from plimsoll.model.volume import ceiling_of_hosts
from tests.builders import a_demand, a_host, a_policy, a_volume, ceiling_of

GP3 = ceiling_of(a_volume("gp3"))
GP2 = ceiling_of(a_volume("gp2", 100))
ST1 = ceiling_of(a_volume("st1", 1024))


def minutes_throttled(demand, ceiling=GP3, **policy):
    iops, throughput = find_saturated(demand, ceiling, a_policy(**policy))
    return int(iops.sum()), int(throughput.sum())


def test_95_percent_of_the_ceiling_is_throttled_and_less_is_not():
    assert minutes_throttled(a_demand(iops=[2849.9, 2850.0, 3000.0])) == (2, 0)
    assert minutes_throttled(a_demand(throughput_mib_s=[118.7, 118.75, 125.0])) == (0, 2)


def test_the_share_is_the_policys():
    assert minutes_throttled(a_demand(iops=[2400.0, 2399.0]), saturation_pct=80) == (1, 0)


def test_large_operations_are_throttled_on_iops_by_what_they_count():
    large = a_demand(iops=[100.0], throughput_mib_s=[713.0])
    assert minutes_throttled(large, ceiling_of(a_volume("gp3", throughput_mib_s=750))) == (1, 1)


def test_an_exceeded_check_throttles_a_quiet_minute():
    quiet = {"iops": [1.0, 1.0, 1.0]}
    assert minutes_throttled(a_demand(**quiet, iops_exceeded=[False, True, False])) == (1, 0)
    assert minutes_throttled(a_demand(**quiet, throughput_exceeded=[True, True, False])) == (0, 2)


def test_an_empty_balance_throttles_the_resource_whose_credits_are_spent():
    empty = {"iops": [1.0, 1.0, 1.0], "burst_balance_pct": [0.0, 0.99, 1.0]}
    assert minutes_throttled(a_demand(**empty), GP2) == (2, 0)
    assert minutes_throttled(a_demand(**empty), ST1) == (0, 2)
    assert minutes_throttled(a_demand(**empty), GP3) == (0, 0)


def test_an_unknown_balance_is_not_an_empty_one():
    assert minutes_throttled(a_demand(iops=[1.0], burst_balance_pct=[np.nan]), GP2) == (0, 0)


def test_only_observed_buckets_are_judged():
    unseen = a_demand(iops=[3000.0, 3000.0], observed=[True, False], iops_exceeded=[True, True])
    assert minutes_throttled(unseen) == (1, 0)


def room_of(volume, own, *others, **policy):
    """The room of a volume on its host, with the demands of others there."""
    siblings = [a_volume(id=f"sibling-{index}", on=volume.hosts) for index in range(len(others))]
    demands = {volume.id: own, **{sibling.id: demand for sibling, demand in zip(siblings, others, strict=True)}}
    load = host_loads([volume, *siblings], demands)[volume.hosts[0].id]
    return find_host_room(own, load, ceiling_of_hosts(volume), a_policy(**policy))


def bound_minutes(volume, own, *others, **policy):
    """Which minutes of a volume's demand its host bound."""
    return room_of(volume, own, *others, **policy).bound.tolist()


STEADY_HOST = a_volume("io2", iops=100_000, on=a_host("m5.24xlarge"))
SMALL_HOST = a_volume("gp3", iops=16_000, throughput_mib_s=1000, on=a_host("m5.large"))


def test_a_host_binds_at_95_percent_of_what_it_carries():
    assert bound_minutes(STEADY_HOST, a_demand(iops=[75_999.0, 76_000.0])) == [False, True]
    assert bound_minutes(STEADY_HOST, a_demand(throughput_mib_s=[2151.0, 2152.0])) == [False, True]


def test_volumes_on_one_host_share_what_it_carries():
    half = a_demand(iops=[40_000.0, 40_000.0])
    assert bound_minutes(STEADY_HOST, half) == [False, False]
    assert bound_minutes(STEADY_HOST, half, a_demand(iops=[39_000.0, 30_000.0])) == [True, False]


def test_a_volume_with_under_5_percent_of_the_traffic_is_not_held_back_by_the_host():
    rest = a_demand(iops=[76_000.0, 76_000.0, 80_000.0])
    assert bound_minutes(STEADY_HOST, a_demand(iops=[3999.0, 4000.0, 0.0]), rest) == [False, True, False]


def test_an_idle_volume_is_not_held_back_even_by_a_host_that_carries_nothing_else():
    assert bound_minutes(STEADY_HOST, a_demand(iops=[0.0])) == [False]


def test_a_host_without_published_limits_binds_nothing():
    assert bound_minutes(a_volume(on=a_host("t2.micro")), a_demand(iops=[1e9], throughput_mib_s=[1e9])) == [False]


def test_a_host_carries_its_maximum_for_thirty_minutes_and_its_baseline_after():
    at_nine_tenths = a_demand(iops=[0.9 * 18_750] * 60)
    bound = bound_minutes(SMALL_HOST, at_nine_tenths)
    spent_a_minute = (0.9 * 18_750 - 3_600 - (18_750 - 3_600) / 48) * 60
    lasts = int((18_750 - 3_600) * 1800 / spent_a_minute)
    assert 30 < lasts < 40
    assert bound == [False] * lasts + [True] * (60 - lasts)


def test_at_its_maximum_a_hosts_credits_last_thirty_minutes_and_what_came_back_meanwhile():
    bound = bound_minutes(SMALL_HOST, a_demand(iops=[18_750.0] * 40), saturation_pct=100)
    assert bound == [True] * 40
    nearly = bound_minutes(SMALL_HOST, a_demand(iops=[18_749.0] * 40), saturation_pct=100)
    assert nearly == [False] * 30 + [True] * 10


def test_a_host_without_credits_is_the_limit_at_its_baseline_and_not_under_it():
    spend_all = [0.9 * 18_750] * 60
    bound = bound_minutes(SMALL_HOST, a_demand(iops=[*spend_all, 3_600.0, 3_000.0]))
    assert bound[-2:] == [True, False]


def test_credits_come_back_in_a_day():
    spend_all = [0.9 * 18_750] * 40
    after_a_day = bound_minutes(SMALL_HOST, a_demand(iops=[*spend_all, *[0.0] * 1440, *[0.9 * 18_750] * 10]))
    assert not any(after_a_day[-10:])
    after_an_hour = bound_minutes(SMALL_HOST, a_demand(iops=[*spend_all, *[0.0] * 60, *[0.9 * 18_750] * 10]))
    assert all(after_an_hour[-7:])


def test_a_volume_has_the_room_that_the_others_leave_and_at_least_what_it_did():
    room = room_of(STEADY_HOST, a_demand(iops=[30_000.0, 30_000.0]), a_demand(iops=[20_000.0, 60_000.0]))
    assert room.room[0].tolist() == [60_000.0, 30_000.0]


def test_on_several_hosts_it_has_what_all_of_them_carry():
    shared = a_volume("io2", on=[a_host("m5.large", id="i-1"), a_host("m5.large", id="i-2")])
    room = find_host_room(a_demand(iops=[30_000.0]), None, ceiling_of_hosts(shared), a_policy())
    assert (room.room[0].tolist(), room.bound.tolist()) == ([37_500.0], [False])


RATES = st.lists(st.tuples(st.floats(0, 20_000), st.floats(0, 1000)), min_size=1, max_size=20)


@given(RATES, st.integers(3000, 16_000), st.integers(0, 8000))
def test_a_higher_ceiling_never_throttles_more_minutes(rates, iops, more):
    iops_rates, throughputs = zip(*rates, strict=True)
    demand = a_demand(iops=list(iops_rates), throughput_mib_s=list(throughputs))
    low, high = (ceiling_of(a_volume("gp3", iops=bought)) for bought in (iops, iops + more))
    assert minutes_throttled(demand, high) <= minutes_throttled(demand, low)
