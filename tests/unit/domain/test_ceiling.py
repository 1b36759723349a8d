import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.ceiling import UNBOUNDED, Ceiling, Resource, TokenBucket

CEILINGS = st.builds(
    Ceiling,
    iops=st.floats(1, 1e6),
    throughput_mib_s=st.floats(1, 1e4),
    io_kib=st.sampled_from([None, 256.0, 1024.0]),
)


def a_bucket(resource=Resource.IOPS, *, free=0.0, refill=300.0, capacity=5_400_000.0):
    return TokenBucket(resource=resource, free_rate=free, refill_rate=refill, capacity=capacity)


def test_small_operations_meet_the_iops_and_large_ones_the_throughput():
    gp3 = Ceiling(iops=3000, throughput_mib_s=125, io_kib=256)
    assert gp3.iops_at(4) == 3000
    assert gp3.iops_at(128) == 1000
    assert gp3.iops_at(125 * 1024 / 3000) == pytest.approx(3000)


def test_an_operation_above_the_largest_counts_as_several():
    assert Ceiling(iops=1000, throughput_mib_s=10_000, io_kib=256).iops_at(1024) == 250
    assert Ceiling(iops=1000, throughput_mib_s=10_000).iops_at(1024) == 1000


@given(CEILINGS, CEILINGS, st.floats(1, 4096))
def test_a_volume_on_a_host_carries_what_the_lower_of_both_carries(volume, host, io_size_kib):
    both = volume & host
    assert both.iops == min(volume.iops, host.iops)
    assert both.throughput_mib_s == min(volume.throughput_mib_s, host.throughput_mib_s)
    assert both.iops_at(io_size_kib) <= min(volume.iops_at(io_size_kib), host.iops_at(io_size_kib)) * (1 + 1e-9)


@given(CEILINGS)
def test_what_is_not_known_to_limit_anything_limits_nothing(ceiling):
    assert ceiling & UNBOUNDED == ceiling


def test_both_keep_every_bucket():
    volume = Ceiling(iops=3000, throughput_mib_s=128, buckets=(a_bucket(),))
    host = Ceiling(iops=18_750, throughput_mib_s=566, buckets=(a_bucket(free=3600),))
    assert (volume & host).buckets == volume.buckets + host.buckets


def test_hosts_side_by_side_add_up():
    assert Ceiling(iops=1, throughput_mib_s=2) + Ceiling(iops=10, throughput_mib_s=20) == Ceiling(
        iops=11, throughput_mib_s=22
    )


def test_for_ever_is_what_an_empty_bucket_carries():
    gp2 = Ceiling(iops=3000, throughput_mib_s=128, io_kib=256, buckets=(a_bucket(refill=300),))
    assert gp2.sustained_iops == 300
    assert gp2.sustained_throughput_mib_s == 75
    st1 = Ceiling(iops=500, throughput_mib_s=250, io_kib=1024, buckets=(a_bucket(Resource.THROUGHPUT, refill=40),))
    assert (st1.sustained_iops, st1.sustained_throughput_mib_s) == (500, 40)


@given(CEILINGS)
def test_nothing_is_sustained_above_the_highest(ceiling):
    assert ceiling.sustained_iops <= ceiling.iops
    assert ceiling.sustained_throughput_mib_s <= ceiling.throughput_mib_s
