"""Which CloudWatch series say what a volume was asked for."""

from datetime import timedelta

import pytest

from plimsoll.clouds.aws.queries import metrics_of, queries_of
from plimsoll.model.series import BYTES, HOST, HOST_CHECKS
from plimsoll.model.volume import Modification
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from tests.builders import NOW, a_host, a_spec, a_volume

COUNTERS = {"VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes"}
CHECKS = {"VolumeIOPSExceededCheck", "VolumeThroughputExceededCheck"}
RATES = {"VolumeAvgIOPS", "VolumeAvgThroughput"}


def metrics(volume):
    return {metric.name for metric in metrics_of(volume)}


@pytest.mark.parametrize(
    ("kind", "size_gib", "balance"),
    [
        ("gp2", 1, True),
        ("gp2", 999, True),
        ("gp2", 1000, False),
        ("gp2", 5334, False),
        ("gp3", 100, False),
        ("io1", 100, False),
        ("io2", 100, False),
        ("st1", 500, True),
        ("sc1", 500, True),
        ("standard", 100, False),
    ],
)
def test_a_balance_is_published_where_there_is_a_bucket(kind, size_gib, balance):
    assert ("BurstBalance" in metrics(a_volume(kind, size_gib))) is balance


@pytest.mark.parametrize(
    ("original", "days_ago", "balance"),
    [
        (a_spec("gp2", 300), 3, True),
        (a_spec("st1", 500), 3, True),
        (a_spec("gp2", 300), 20, False),
        (a_spec("gp2", 1100), 3, False),
        (a_spec("gp3", 300), 3, False),
        (None, 3, False),
    ],
)
def test_a_balance_is_asked_of_what_had_one_in_the_window(original, days_ago, balance):
    started = NOW - timedelta(days=days_ago)
    change = Modification(state="completed", started=started, ended=started, original=original)
    volume = a_volume("gp2", 1200, modification=change)
    asked = queries_of(0, Ask(volume=volume, look=Look(window=Window.before(NOW, days=14), period_s=60)))
    assert ("BurstBalance" in {query.metric.name for query in asked}) is balance


@pytest.mark.parametrize("kind", ["gp2", "gp3", "io1", "io2", "st1", "sc1"])
def test_a_volume_on_a_nitro_host_has_counters_idle_time_and_checks(kind):
    assert metrics(a_volume(kind, 1000)) >= COUNTERS | CHECKS | {"VolumeIdleTime"}


def test_a_volume_on_a_xen_host_has_no_checks():
    assert not metrics(a_volume("gp3", on=a_host("m4.large"))) & CHECKS


def test_a_multi_attach_volume_has_counters_alone():
    volume = a_volume("io2", iops=5000, multi_attach=True, on=(a_host(id="i-1"), a_host(id="i-2")))
    assert metrics(volume) == COUNTERS


def test_a_magnetic_volume_has_idle_time_and_no_checks():
    assert metrics(a_volume("standard", 100)) == COUNTERS | {"VolumeIdleTime"}


def test_a_volume_of_an_unknown_type_is_asked_for_what_every_volume_has():
    volume = a_volume("gp9", 100)
    assert metrics(volume) >= COUNTERS
    assert "BurstBalance" not in metrics(volume)


def test_a_detached_volume_has_no_checks():
    assert not metrics(a_volume(on=())) & CHECKS


def test_a_host_that_the_cloud_hides_has_no_checks():
    assert not metrics(a_volume(on=(None,))) & CHECKS


OF_HOSTS = {"InstanceEBSIOPSExceededCheck": "Sum", "InstanceEBSThroughputExceededCheck": "Sum"}
BALANCES = {"EBSIOBalance%": "Minimum", "EBSByteBalance%": "Minimum"}


@pytest.mark.parametrize(
    ("host", "published"),
    [("m5.large", OF_HOSTS | BALANCES), ("m5.24xlarge", OF_HOSTS), ("m4.large", {}), ("t2.micro", {})],
)
def test_what_is_measured_of_a_host_is_asked_under_the_instance_alone(host, published):
    look = Look(window=Window(start_s=0, end_s=600), period_s=300, groups=HOST)
    queries = list(queries_of(0, Ask(volume=a_volume("gp3", on=a_host(host, id="i-9")), look=look)))
    asked = [query.asked_as("q0")["MetricStat"] for query in queries]
    assert {one["Metric"]["MetricName"]: one["Stat"] for one in asked} == published
    for one in asked:
        assert one["Metric"]["Dimensions"] == [{"Name": "InstanceId", "Value": "i-9"}]
        assert one["Metric"]["Namespace"] == "AWS/EC2"


def test_a_volume_of_several_hosts_asks_for_nothing_of_theirs():
    volume = a_volume("io2", iops=5000, multi_attach=True, on=(a_host(id="i-1"), a_host(id="i-2")))
    look = Look(window=Window(start_s=0, end_s=600), period_s=300, groups=tuple(HOST_CHECKS.values()))
    assert not list(queries_of(0, Ask(volume=volume, look=look)))


def test_checks_and_rates_are_asked_under_volume_and_instance_and_the_rest_under_the_volume():
    look = Look(window=Window(start_s=0, end_s=600), period_s=300)
    for query in queries_of(4, Ask(volume=a_volume("gp2", 100, id="vol-7", on=a_host(id="i-9")), look=look)):
        assert query.ask == 4
        asked = query.asked_as("q0")["MetricStat"]
        dimensions = {one["Name"]: one["Value"] for one in asked["Metric"]["Dimensions"]}
        on_host = {"InstanceId": "i-9"} if query.metric.name in CHECKS | RATES else {}
        assert dimensions == {"VolumeId": "vol-7", **on_host}
        assert (asked["Metric"]["Namespace"], asked["Period"]) == ("AWS/EBS", 300)


def test_counters_are_summed_balances_least_and_checks_most():
    stats = {metric.name: metric.stat for metric in metrics_of(a_volume("gp2", 100))}
    assert {stats[name] for name in (*COUNTERS, "VolumeIdleTime")} == {"Sum"}
    assert stats["BurstBalance"] == "Minimum"
    assert {stats[name] for name in CHECKS} == {"Maximum"}


def test_of_the_rate_of_each_minute_the_highest_and_the_sum_are_asked():
    asked = {(metric.name, metric.stat) for metric in metrics_of(a_volume("gp2", 100))}
    assert {(name, stat) for name, stat in asked if name in RATES} == {
        (name, stat) for name in RATES for stat in ("Maximum", "Sum")
    }
    assert not metrics(a_volume("gp3", on=a_host("m4.large"))) & RATES


def test_only_what_a_look_wants_is_asked():
    look = Look(window=Window(start_s=0, end_s=600), period_s=300, groups=(BYTES,))
    queries = list(queries_of(0, Ask(volume=a_volume("gp2", 100), look=look)))
    assert [query.metric.name for query in queries] == ["VolumeReadBytes", "VolumeWriteBytes"]
    assert {(query.window, query.period_s) for query in queries} == {(look.window, 300)}
