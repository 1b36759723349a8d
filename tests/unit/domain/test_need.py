import math

import pytest

from plimsoll.domain.ceiling import UNBOUNDED, Accounting
from plimsoll.domain.need import Need, need_of, usable
from plimsoll.domain.policy import SizeOn
from plimsoll.domain.saturation import saturation
from tests.builders import a_demand, a_host, a_policy, a_volume, ceiling_of

GP3 = a_volume("gp3", iops=4000, throughput_mib_s=250)
GP2 = a_volume("gp2", 100)


def need(volume, demand, *, io_kib=256.0, hosts=UNBOUNDED, **policy):
    rule, present = a_policy(**policy), ceiling_of(volume)
    stood = saturation(demand, present, None, rule)
    return need_of(demand, Accounting(io_kib=io_kib), present=present, stood=stood, hosts=hosts, policy=rule)


def test_a_proved_demand_needs_its_peak_and_headroom_and_nothing_for_ever():
    found = need(GP3, a_demand(iops=[100.0, 1000.0], throughput_mib_s=[50.0, 10.0]))
    assert found == Need(iops=1200, throughput_mib_s=60, sustained_iops=0, sustained_throughput_mib_s=0)


def test_large_operations_need_what_they_count():
    large = a_demand(iops=[100.0], throughput_mib_s=[100.0])
    assert need(GP3, large, io_kib=256).iops == 480
    assert need(GP3, large, io_kib=1024).iops == 120


def test_a_quantile_leaves_out_what_is_above_it():
    spike = a_demand(iops=[3000.0, *[1000.0] * 99])
    assert need(GP3, spike).iops == 3600
    assert need(GP3, spike, peak_quantile=0.98).iops == 1200


def test_busy_time_sizes_on_the_rate_while_there_was_work():
    half_idle = a_demand(iops=[1000.0], throughput_mib_s=[10.0], busy_share=[0.5])
    assert need(GP3, half_idle).iops == 1200
    found = need(GP3, half_idle, size_on=SizeOn.BUSY_TIME)
    assert (found.iops, found.throughput_mib_s) == (2400, 24)


def test_a_censored_demand_needs_all_that_the_present_volume_carries():
    one_minute_at_the_ceiling = a_demand(iops=[3900.0], buckets=1000)
    found = need(GP3, one_minute_at_the_ceiling)
    assert found == Need(iops=4680, throughput_mib_s=250, sustained_iops=4000, sustained_throughput_mib_s=250)


def test_a_censored_gp2_needs_its_burst_and_its_baseline():
    found = need(GP2, a_demand(iops=[10.0], iops_exceeded=[True, *[False] * 999], buckets=1000))
    assert found == Need(iops=3000, throughput_mib_s=128, sustained_iops=300, sustained_throughput_mib_s=75)


def test_throttled_often_needs_half_as_much_again_on_that_resource():
    often = a_demand(iops=[3900.0] * 10, throughput_mib_s=[100.0] * 10, buckets=1000)
    found = need(GP3, often)
    assert (found.iops, found.sustained_iops) == (6000, 6000)
    assert (found.throughput_mib_s, found.sustained_throughput_mib_s) == (250, 250)


def test_the_step_of_an_upgrade_is_no_less_than_the_headroom():
    often = a_demand(throughput_mib_s=[250.0] * 10, buckets=1000)
    assert need(GP3, often, upgrade_step_pct=10, headroom_pct=100).throughput_mib_s == 500


def test_credits_spent_often_need_half_as_much_again_as_the_baseline_for_ever():
    starved = a_demand(iops=300, burst_balance_pct=0.0)
    found = need(GP2, starved)
    assert (found.iops, found.sustained_iops) == (3000, 450)


def test_nothing_is_needed_that_the_hosts_could_not_use():
    host = a_host("m4.large").ceiling
    often = a_demand(iops=[3900.0] * 10, throughput_mib_s=[250.0] * 10, buckets=1000)
    found = need(GP3, often, hosts=host)
    assert (found.iops, found.sustained_iops) == (3600, 3600)
    assert found.throughput_mib_s == found.sustained_throughput_mib_s == host.throughput_mib_s


def test_the_hosts_of_a_volume_carry_the_sum_of_their_maxima():
    one, two = a_host("m5.large", id="i-1"), a_host("r5b.large", id="i-2")
    assert usable(a_volume(on=one)).iops == 18_750
    assert usable(a_volume("io2", on=[one, two])).iops == 18_750 + 43_333


@pytest.mark.parametrize("hosts", [[], [None], [a_host(), None], [a_host("t2.micro")]])
def test_a_host_that_is_not_known_or_without_published_limits_bounds_nothing(hosts):
    assert usable(a_volume("io2", on=hosts)).iops == math.inf
