import pytest

from plimsoll.model.ceiling import UNBOUNDED, Resource
from plimsoll.model.units import mib_s_from_mb_s
from tests.builders import a_host


def test_a_host_without_published_limits_limits_nothing():
    assert a_host("t2.micro").ceiling == UNBOUNDED


def test_a_host_carries_its_maximum_while_its_credits_last_and_its_baseline_for_ever():
    ceiling = a_host("m5.large").ceiling
    assert ceiling.iops == 18_750
    assert ceiling.throughput_mib_s == pytest.approx(mib_s_from_mb_s(593.75))
    assert ceiling.sustained_iops == pytest.approx(3_600 + (18_750 - 3_600) / 48)
    assert {bucket.resource for bucket in ceiling.buckets} == {Resource.IOPS, Resource.THROUGHPUT}


def test_a_hosts_credits_last_thirty_minutes_and_come_back_in_a_day():
    bucket = a_host("m5.large").ceiling.buckets[0]
    assert bucket.free_rate == 3_600
    assert bucket.capacity == (18_750 - 3_600) * 30 * 60
    assert bucket.refill_rate * 24 * 3600 == pytest.approx(bucket.capacity)


def test_a_host_whose_maximum_is_its_baseline_has_no_credits():
    ceiling = a_host("m5.24xlarge").ceiling
    assert ceiling.buckets == ()
    assert ceiling.sustained_iops == ceiling.iops == 80_000
    assert ceiling.throughput_mib_s == pytest.approx(2264.9765)
