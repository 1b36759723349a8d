"""GetMetricStatistics as a real client sees it: GetMetricData's points, one metric a call."""

from datetime import timedelta

import numpy as np
import pytest
from botocore.exceptions import ClientError

from cloud_simulator.aws.fleet import truth
from plimsoll.domain.sums import Window

from .served import NOW, named, points, query


@pytest.fixture(scope="module")
def cloudwatch(account):
    return account.client("cloudwatch")


def statistics(volume, metric="VolumeReadOps", *, instance=None, **changes):
    dimensions = [{"Name": "VolumeId", "Value": volume.id}]
    if instance:
        dimensions.append({"Name": "InstanceId", "Value": instance})
    return {
        "Namespace": "AWS/EBS",
        "MetricName": metric,
        "Dimensions": dimensions,
        "StartTime": NOW - timedelta(days=1),
        "EndTime": NOW,
        "Period": 3600,
        "Statistics": ["Sum"],
    } | changes


@pytest.mark.parametrize(
    ("metric", "stat", "unit"),
    [
        ("VolumeReadOps", "Sum", "Count"),
        ("VolumeWriteBytes", "Average", "Bytes"),
        ("VolumeIdleTime", "SampleCount", "Seconds"),
        ("BurstBalance", "Minimum", "Percent"),
        ("VolumeIOPSExceededCheck", "Maximum", "None"),
    ],
)
@pytest.mark.parametrize("name", ["wiki", "patchy", "young"])
@pytest.mark.parametrize(("period_s", "days"), [(60, 1), (300, 3), (3600, 14), (86_400, 14), (3600, 40)])
def test_it_has_the_points_of_get_metric_data(account, cloudwatch, name, metric, stat, unit, period_s, days):
    volume = named(account.fleet, name)
    instance = volume.hosts[0].id if metric.endswith("Check") else None
    window = {"StartTime": NOW - timedelta(days=days), "EndTime": NOW}
    asked = query(volume, metric, instance=instance, Period=period_s, Stat=stat)
    data = points([cloudwatch.get_metric_data(MetricDataQueries=[asked], ScanBy="TimestampAscending", **window)])
    found = cloudwatch.get_metric_statistics(
        **statistics(volume, metric, instance=instance, Period=period_s, Statistics=[stat], **window)
    )
    assert found["Label"] == metric
    assert data["q0"] == (
        [point["Timestamp"] for point in found["Datapoints"]],
        [point[stat] for point in found["Datapoints"]],
    )
    assert {point["Unit"] for point in found["Datapoints"]} <= {unit}


def test_several_statistics_come_in_one_point(account, cloudwatch):
    volume = named(account.fleet, "index")
    stats = ["Sum", "Average", "Minimum", "Maximum", "SampleCount"]
    (point,) = cloudwatch.get_metric_statistics(**statistics(volume, Period=86_400, Statistics=stats))["Datapoints"]
    end_s = int(NOW.timestamp())
    minutes = truth(volume, Window(start_s=end_s - 86_400, end_s=end_s)).read_ops
    assert point == {
        "Timestamp": NOW - timedelta(days=1),
        "Unit": "Count",
        "Sum": np.sum(minutes),
        "Average": np.mean(minutes),
        "Minimum": np.min(minutes),
        "Maximum": np.max(minutes),
        "SampleCount": 1440,
    }


def test_json_and_cbor_clients_are_told_the_same(account, cloudwatch):
    asked = statistics(named(account.fleet, "wiki"), "VolumeIdleTime", Statistics=["Sum", "Maximum"])
    told, also = (client.get_metric_statistics(**asked) for client in (account.cbor_client(), cloudwatch))
    assert len(told["Datapoints"]) == 24
    assert told["Datapoints"] == also["Datapoints"]
    assert told["Label"] == also["Label"]


def test_the_present_cuts_the_last_point(account, cloudwatch):
    volume = named(account.fleet, "index")
    window = {"StartTime": NOW - timedelta(minutes=90), "EndTime": NOW + timedelta(hours=5)}
    found = cloudwatch.get_metric_statistics(**statistics(volume, Statistics=["SampleCount"], **window))["Datapoints"]
    assert [point["SampleCount"] for point in found] == [60, 31]


@pytest.mark.parametrize(
    "changes",
    [
        {"Unit": "Bytes"},
        {"Namespace": "AWS/EC2"},
        {"Dimensions": []},
        {"MetricName": "VolumeColor"},
        {"StartTime": NOW - timedelta(days=20), "EndTime": NOW - timedelta(days=19), "Period": 60},
    ],
)
def test_what_is_not_there_has_no_points(account, cloudwatch, changes):
    found = cloudwatch.get_metric_statistics(**statistics(named(account.fleet, "index")) | changes)
    assert found["Datapoints"] == []
    assert found["Label"] == changes.get("MetricName", "VolumeReadOps")


def test_the_metric_s_own_unit_may_be_asked_for(account, cloudwatch):
    found = cloudwatch.get_metric_statistics(**statistics(named(account.fleet, "index"), Unit="Count"))
    assert len(found["Datapoints"]) == 24


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"Period": 60, "StartTime": NOW - timedelta(minutes=1441)}, "InvalidParameterCombination", "up to 1,441 data"),
        ({"StartTime": NOW}, "InvalidParameterValue", "less than the parameter EndTime"),
        ({"Period": 90}, "InvalidParameterValue", "multiple of 60"),
        ({"Statistics": None, "ExtendedStatistics": ["p99"]}, "InvalidParameterCombination", "needs Statistics"),
        ({"Statistics": ["Median"]}, "ValidationError", "no statistic Median"),
    ],
)
@pytest.mark.parametrize("speaks", ["json", "cbor"])
def test_what_breaks_the_rules_is_refused(account, cloudwatch, changes, code, words, speaks):
    client = cloudwatch if speaks == "json" else account.cbor_client()
    asked = statistics(named(account.fleet, "index")) | changes
    with pytest.raises(ClientError, match=words) as refused:
        client.get_metric_statistics(**{name: value for name, value in asked.items() if value is not None})
    assert refused.value.response["Error"]["Code"] == code


def test_as_many_points_as_are_allowed_are_given(account, cloudwatch):
    found = cloudwatch.get_metric_statistics(**statistics(named(account.fleet, "index"), Period=60))
    assert len(found["Datapoints"]) == 1440
