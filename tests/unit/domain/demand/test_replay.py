import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.demand.demand import scale_demand
from plimsoll.demand.trial import TOLERANCE, plain, trial
from plimsoll.model.ceiling import Ceiling, Resource, TokenBucket
from tests.builders import TYPES, a_demand, a_spec
from tests.profiles import examples

WHOLE = st.integers(0, 400)


def replay(demand, ceiling, *, scale=1.0, whole_ios=False):
    """A demand, so many times, behind a ceiling; `whole_ios` charges operations a whole least charge."""
    if not whole_ios:
        ceiling = dataclasses.replace(
            ceiling, buckets=tuple(dataclasses.replace(bucket, least_charge_mib=0.0) for bucket in ceiling.buckets)
        )
    return trial(plain(scale_demand(demand, scale)), ceiling)


def a_steady_demand(*, iops=0.0, throughput_mib_s=0.0, minutes):
    return a_demand(iops=iops, throughput_mib_s=throughput_mib_s, buckets=minutes)


def simulate(rates, limit, buckets, resolution_s):
    """Work waiting after each bucket of time, by a queue and token buckets that are stepped through one by one."""
    waiting, tokens = Fraction(0), [Fraction(bucket.capacity) for bucket in buckets]
    backlogs = []
    for rate in rates:
        offered = waiting + Fraction(rate) * resolution_s
        refills = [Fraction(bucket.refill_rate) * resolution_s for bucket in buckets]
        may_go = [Fraction(limit) * resolution_s, *(have + more for have, more in zip(tokens, refills, strict=True))]
        carried = min(offered, *may_go)
        waiting = offered - carried
        tokens = [
            min(Fraction(bucket.capacity), have + more - carried)
            for bucket, have, more in zip(buckets, tokens, refills, strict=True)
        ]
        backlogs.append(waiting)
    return backlogs


def naive(demand, ceiling):
    """Throttled minutes and the longest delay of a ceiling whose buckets have no free rate, one bucket at a time."""
    waits = np.zeros(len(demand.iops), dtype=bool)
    worst = Fraction(0)
    for resource, limit, rates in (
        (Resource.IOPS, ceiling.iops, demand.count(ceiling.accounting)[0]),
        (Resource.THROUGHPUT, ceiling.throughput_mib_s, demand.throughput_mib_s),
    ):
        buckets = [bucket for bucket in ceiling.buckets if bucket.resource is resource]
        backlogs = simulate(rates, limit, buckets, demand.resolution_s)
        slowest = min([limit, *(bucket.refill_rate for bucket in buckets)])
        waits |= np.array([float(backlog) > TOLERANCE * slowest * demand.resolution_s for backlog in backlogs])
        worst = max(worst, *backlogs)
    return float(waits.sum()) * demand.resolution_s / 60, float(worst)


def a_bucket(resource, *, refill, capacity):
    return TokenBucket(resource=resource, free_rate=0.0, refill_rate=float(refill), capacity=float(capacity))


BUCKETS = st.lists(
    st.builds(a_bucket, st.sampled_from(list(Resource)), refill=st.integers(1, 200), capacity=st.integers(0, 100_000)),
    max_size=3,
)
CEILINGS = st.builds(
    lambda iops, throughput_mib_s, buckets: Ceiling(
        iops=iops, throughput_mib_s=throughput_mib_s, io_kib=1024, buckets=tuple(buckets)
    ),
    st.integers(1, 300),
    st.integers(1, 300),
    BUCKETS,
)


@st.composite
def demands(draw, rates=WHOLE):
    series = draw(st.lists(st.tuples(rates, rates), min_size=1, max_size=40))
    iops, throughput = (list(map(float, side)) for side in zip(*series, strict=True))
    return a_demand(iops=iops, throughput_mib_s=throughput, resolution_s=draw(st.sampled_from([60, 300])))


@given(demands(), CEILINGS)
@settings(max_examples=examples(300))
def test_the_closed_form_is_a_queue_behind_token_buckets(demand, ceiling):
    minutes, _ = naive(demand, ceiling)
    assert replay(demand, ceiling).throttled_minutes == minutes


@given(demands(), st.integers(1, 300), st.integers(1, 300))
def test_the_worst_delay_is_the_largest_backlog_over_the_rate_it_drains_at(demand, iops, throughput_mib_s):
    by_iops = Ceiling(iops=iops, throughput_mib_s=10**6)
    _, waiting = naive(demand, by_iops)
    assert replay(demand, by_iops).longest_wait_s == pytest.approx(waiting / iops)
    by_throughput = Ceiling(iops=10**6, throughput_mib_s=throughput_mib_s)
    _, waiting = naive(demand, by_throughput)
    assert replay(demand, by_throughput).longest_wait_s == pytest.approx(waiting / throughput_mib_s)


def raised(ceiling, more):
    """A ceiling that is higher in every respect."""
    return Ceiling(
        iops=ceiling.iops + more[0],
        throughput_mib_s=ceiling.throughput_mib_s + more[1],
        io_kib=ceiling.io_kib,
        buckets=tuple(
            a_bucket(bucket.resource, refill=bucket.refill_rate + more[2], capacity=bucket.capacity + more[3] * 100)
            for bucket in ceiling.buckets
        ),
    )


@given(demands(), CEILINGS, st.tuples(WHOLE, WHOLE, WHOLE, WHOLE))
def test_a_higher_ceiling_never_throttles_longer(demand, ceiling, more):
    now, then = replay(demand, ceiling), replay(demand, raised(ceiling, more))
    assert then.throttled_minutes <= now.throttled_minutes
    assert then.longest_wait_s <= now.longest_wait_s


@given(
    demands(st.integers(0, 20_000)), st.integers(125, 16_384), st.integers(125, 16_384), st.sampled_from(list(TYPES))
)
def test_a_larger_volume_of_a_type_never_throttles_longer(demand, one, other, type_name):
    sizes = sorted(min(size, TYPES[type_name].most_size_gib) for size in (one, other))
    small, large = (TYPES[type_name].ceiling(a_spec(type_name, size)) for size in sizes)
    for whole_ios in (False, True):
        now, then = (replay(demand, ceiling, whole_ios=whole_ios) for ceiling in (small, large))
        assert then.throttled_minutes <= now.throttled_minutes


@given(demands(), CEILINGS, st.floats(1, 10))
def test_more_of_the_same_demand_never_throttles_less(demand, ceiling, scale):
    assert replay(demand, ceiling, scale=scale).throttled_minutes >= replay(demand, ceiling).throttled_minutes


@given(demands(), CEILINGS, WHOLE, WHOLE)
def test_more_demand_in_one_bucket_never_throttles_less(demand, ceiling, where, more):
    iops = demand.iops.copy()
    iops[where % len(iops)] += more
    busier = a_demand(
        iops=iops.tolist(), throughput_mib_s=demand.throughput_mib_s.tolist(), resolution_s=demand.resolution_s
    )
    assert replay(busier, ceiling).throttled_minutes >= replay(demand, ceiling).throttled_minutes


@given(demands(st.integers(0, 1000)), st.integers(125, 16_384), st.sampled_from(["st1", "sc1"]))
def test_whole_ios_never_throttle_less(demand, size_gib, type_name):
    ceiling = TYPES[type_name].ceiling(a_spec(type_name, size_gib))
    assert replay(demand, ceiling, whole_ios=True).throttled_minutes >= replay(demand, ceiling).throttled_minutes


def test_what_is_carried_in_the_bucket_it_came_in_does_not_throttle():
    ceiling = Ceiling(iops=100, throughput_mib_s=10)
    assert replay(a_demand(iops=[100, 100], throughput_mib_s=[10, 10]), ceiling).throttled_minutes == 0


def test_what_is_not_carried_waits_until_there_is_room():
    busy_then_idle = a_demand(iops=[300, 0, 0, 0])
    met = replay(busy_then_idle, Ceiling(iops=100, throughput_mib_s=10))
    assert met.throttled_minutes == 2
    assert met.longest_wait_s == 120


def test_minutes_are_counted_in_minutes_whatever_the_resolution():
    five_minutes = a_demand(iops=[200, 0], resolution_s=300)
    assert replay(five_minutes, Ceiling(iops=150, throughput_mib_s=10)).throttled_minutes == 5


def test_throttled_on_both_resources_in_one_minute_counts_once():
    both = a_demand(iops=[200, 0, 0], throughput_mib_s=[20, 0, 0])
    assert replay(both, Ceiling(iops=100, throughput_mib_s=10)).throttled_minutes == 1


def test_large_operations_count_as_several():
    large = a_demand(iops=[100.0], throughput_mib_s=[100.0])
    assert replay(large, Ceiling(iops=100, throughput_mib_s=200)).throttled_minutes == 0
    assert replay(large, Ceiling(iops=100, throughput_mib_s=200, io_kib=256)).throttled_minutes == 1


def test_credits_of_a_bucket_come_back():
    ceiling = Ceiling(iops=1000, throughput_mib_s=10, buckets=(a_bucket(Resource.IOPS, refill=100, capacity=900 * 60),))
    assert replay(a_demand(iops=[1000, 1000]), ceiling).throttled_minutes == 1
    assert replay(a_demand(iops=[1000, *[0] * 9, 1000]), ceiling).throttled_minutes == 0
    assert replay(a_demand(iops=[1000, *[0] * 8, 1000]), ceiling).throttled_minutes == 1


def test_nothing_waits_in_an_empty_demand():
    assert replay(a_demand(iops=[]), Ceiling(iops=1, throughput_mib_s=1)).throttled_minutes == 0


@pytest.mark.parametrize("share", [0.5, 0.999_999])
def test_a_backlog_under_the_tolerance_is_rounding(share):
    just_above = a_demand(iops=[100 * (1 + TOLERANCE * share)])
    assert replay(just_above, Ceiling(iops=100, throughput_mib_s=1)).throttled_minutes == 0
    assert replay(a_demand(iops=[100 * (1 + TOLERANCE * 1.1)]), Ceiling(iops=100, throughput_mib_s=1)).throttled_minutes
