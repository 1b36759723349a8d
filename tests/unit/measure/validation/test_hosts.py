"""The bench host: ready, in the right zone, and above what it is to measure; every refusal is told."""

import pytest

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.model.errors import NotMeasured
from plimsoll.model.volume import Host, HostLimits, VolumeSpec
from plimsoll.ports import BenchHost
from plimsoll_measure.validation.proposing import choose_host

SPEC = VolumeSpec(type="gp3", size_gib=100, iops=6000, throughput_mib_s=250)
CEILING = volume_types("aws")["gp3"].ceiling(SPEC)


def a_bench_host(name, *, iops=20_000.0, throughput_mib_s=600.0, most_iops=None, zone="a", published=True, **more):
    limits = HostLimits(
        baseline_iops=iops,
        baseline_throughput_mib_s=throughput_mib_s,
        maximum_iops=most_iops or iops,
        maximum_throughput_mib_s=throughput_mib_s,
        burst_s=1800,
    )
    host = Host(id=name, type="m5.4xlarge", limits=limits if published else None)
    return BenchHost(host=host, account="1", region="r", zone=zone, **more)


def chosen(*hosts, zones=("a",), is_free=lambda _host: True):
    return choose_host(hosts, SPEC, CEILING, zones, is_free).host.id


def refusal(*hosts, zones=("a",)):
    with pytest.raises(NotMeasured) as raised:
        choose_host(hosts, SPEC, CEILING, zones, lambda _host: True)
    return str(raised.value)


def test_the_smallest_that_carries_the_target_is_taken():
    large = a_bench_host("i-large", throughput_mib_s=2000.0)
    assert chosen(large, a_bench_host("i-small", throughput_mib_s=300.0)) == "i-small"


def test_a_free_one_comes_before_a_smaller_one_that_is_busy():
    hosts = a_bench_host("i-large", throughput_mib_s=2000.0), a_bench_host("i-small", throughput_mib_s=300.0)
    assert chosen(*hosts, is_free=lambda host: host.host.id != "i-small") == "i-large"
    assert chosen(*hosts, is_free=lambda _host: False) == "i-small"


def test_the_preferred_zone_comes_first_and_another_only_without_one_there():
    assert chosen(a_bench_host("i-a"), a_bench_host("i-b", zone="b"), zones=("b", "a")) == "i-b"
    assert chosen(a_bench_host("i-a"), zones=("b", "a")) == "i-a"


def test_a_host_under_the_target_would_measure_itself_and_is_refused_with_the_figures():
    told = refusal(a_bench_host("i-1", iops=3600.0))
    assert "i-1 (m5.4xlarge) sustains 3,600 IOPS, less than the 6,000 to be measured" in told
    assert "--bench-host" in told


def test_a_burst_does_not_count_because_it_ends():
    assert "less than the 6,000" in refusal(a_bench_host("i-1", iops=3600.0, most_iops=18_750.0))


def test_a_host_that_is_not_managed_says_why():
    told = refusal(a_bench_host("i-1", ready=False, not_ready="i-1 is not managed by SSM: install the agent."))
    assert "i-1 is not managed by SSM: install the agent" in told


def test_a_host_without_published_limits_could_be_what_is_measured():
    assert "publishes no storage limits" in refusal(a_bench_host("i-1", published=False))


def test_no_host_at_all_says_where_to_tag_one():
    told = refusal(a_bench_host("i-1", zone="c"), zones=("a", "b"))
    assert told.startswith("no bench host in a or b can measure gp3 100 GiB")
    assert "plimsoll:bench=true" in told


def test_a_host_in_another_zone_is_told_as_such():
    assert "i-1 is in c" in refusal(a_bench_host("i-1", zone="c"), zones=("a",))
