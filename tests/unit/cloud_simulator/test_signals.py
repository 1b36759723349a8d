"""Signals: how volumes and hosts answered, as CloudWatch publishes it, and as an audit reads it."""

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.volume_maker import VolumeMaker, gp2, gp3, io
from cloud_simulator.faults import Fault
from cloud_simulator.metrics.workloads import Archetype
from plimsoll.clouds.aws.catalog import query_cost
from plimsoll.clouds.aws.inventory import AwsInventory
from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.common.calls import Pacer
from plimsoll.domain.errors import CloudError
from plimsoll.domain.metrics.knowledge import Ask
from plimsoll.domain.metrics.signals import look_at_signals, make_signals
from plimsoll.domain.metrics.sums import Window
from plimsoll.ports import Target
from plimsoll.settings import Settings
from tests.unit.cloud_simulator.served import HOME, NOW, served

TARGET = Target(account=HOME, region="us-east-1")
LOOK = look_at_signals(Window.before(NOW, days=14))


@pytest.fixture
def maker():
    return VolumeMaker(NOW, HOME, TARGET.region, 1)


def read(maker, *faults):
    """What an audit reads of each volume's signals, by the volume's name, and what that took."""
    fleet = Fleet(now=NOW, accounts=(HOME,), regions=(TARGET.region,), volumes=tuple(maker.volumes))
    with served(fleet, *faults) as there:
        sessions = SimpleNamespace(client=lambda service, _account, region: there.client(service, region=region))
        volumes = list(AwsInventory(sessions=sessions).volumes(TARGET))
        metrics = AwsMetrics(
            sessions=sessions,
            calls=Pacer(math.inf),
            datapoints=Pacer(math.inf),
            parallel=1,
            query_cost=query_cost(Settings()),
            sleep=lambda _s: None,
        )
        found = metrics.read([Ask(volume=volume, look=LOOK) for volume in volumes])
    told = [one if isinstance(one, CloudError) else make_signals(one, LOOK.window) for one in found]
    return {volume.name: one for volume, one in zip(volumes, told, strict=True)}, metrics.usage


def test_a_volume_at_its_ceiling_answers_late_and_its_queue_is_long(maker):
    maker.volume(gp3(200), Archetype.THROTTLED_IOPS, "queue", low=300)
    maker.volume(gp3(200), Archetype.STEADY, "calm", high=300)
    found, _ = read(maker)
    calm, late = found["calm"], found["queue"]
    assert calm.read_latency_ms.mean == pytest.approx(1.0)
    assert late.read_latency_ms.highest == pytest.approx(6.0)
    assert 1.0 < late.write_latency_ms.mean < 6.0
    assert late.queue_length.highest > 10 * calm.queue_length.highest
    assert (late.stalled_minutes, late.degraded_minutes) == (0.0, None)


def test_a_host_at_its_maximum_says_so_and_spends_its_credits(maker):
    small = maker.host("t3.medium")
    for part in ("a", "b", "c"):
        maker.volume(gp2(500), Archetype.HOST_BOUND, f"node-{part}", low=20, high=1320, io_kib=64, hosts=(small,))
    maker.volume(gp3(200), Archetype.STEADY, "calm", high=300)
    found, _ = read(maker)
    bound, calm = found["node-a"], found["calm"]
    assert bound.host_throughput_exceeded_minutes == pytest.approx(14 * 15, abs=15)
    assert bound.host_throughput_balance_pct < 60
    assert bound.host_iops_exceeded_minutes == 0
    assert (calm.host_throughput_exceeded_minutes, calm.host_throughput_balance_pct) == (0.0, None)


def test_a_check_has_a_point_each_minute_and_a_balance_each_five_minutes_whatever_is_asked(maker):
    small = maker.host("t3.medium")
    maker.volume(gp2(500), Archetype.HOST_BOUND, "node", low=20, high=2640, io_kib=64, hosts=(small,))
    fleet = Fleet(now=NOW, accounts=(HOME,), regions=(TARGET.region,), volumes=tuple(maker.volumes))
    midnight_s = Window.before(NOW, days=2).start_s

    def points(cloudwatch, name, start_s, period_s, stat):
        asked = {
            "Id": "q0",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/EC2",
                    "MetricName": name,
                    "Dimensions": [{"Name": "InstanceId", "Value": small.id}],
                },
                "Period": period_s,
                "Stat": stat,
            },
        }
        request = {
            "MetricDataQueries": [asked],
            "StartTime": datetime.fromtimestamp(start_s, UTC),
            "EndTime": datetime.fromtimestamp(midnight_s + 11 * 3600, UTC),
        }
        (found,) = cloudwatch.get_metric_data(request, HOME, TARGET.region)["MetricDataResults"]
        return dict(zip(found["Timestamps"], found["Values"], strict=True))

    cloudwatch = CloudWatch(fleet, clock=NOW.timestamp)
    checks = points(cloudwatch, "InstanceEBSThroughputExceededCheck", midnight_s + 9 * 3600, 60, "Sum")
    assert len(checks) == 120
    balances = points(cloudwatch, "EBSByteBalance%", midnight_s + 9 * 3600, 60, "Minimum")
    assert len(balances) == 24
    assert balances == points(cloudwatch, "EBSByteBalance%", midnight_s + 9 * 3600, 300, "Minimum")
    whole = points(cloudwatch, "EBSByteBalance%", midnight_s, 300, "Minimum")
    assert balances.items() <= whole.items()
    assert min(balances.values()) < 100


def test_what_is_not_published_of_a_volume_is_not_there(maker):
    old = maker.host("m4.4xlarge", nitro=False)
    maker.volume(gp2(400), Archetype.STEADY, "legacy", hosts=(old,))
    both = maker.host(), maker.host()
    maker.volume(io("io2", 500, 6000), Archetype.STEADY, "shared", hosts=both, multi_attach=True)
    found, _ = read(maker)
    assert found["legacy"].read_latency_ms.highest is None
    assert found["legacy"].host_iops_exceeded_minutes is None
    assert found["shared"].read_latency_ms is None
    assert found["shared"].queue_length.mean > 0


def test_it_is_a_few_datapoints_a_volume(maker):
    maker.volume(gp3(200), Archetype.STEADY, "calm", high=300)
    _, usage = read(maker)
    assert usage.metrics <= 14
    assert usage.datapoints <= 14 * 15


def test_what_stays_partial_is_an_error_and_no_signal(maker):
    maker.volume(gp3(200), Archetype.STEADY, "calm", high=300)
    found, _ = read(maker, Fault(operation="GetMetricData", code="InternalError", metric="VolumeQueueLength"))
    assert isinstance(found["calm"], CloudError)


def test_a_window_without_a_whole_day_has_none():
    assert look_at_signals(Window.before(NOW + timedelta(hours=3), days=0.2)) is None
