"""GetMetricStatistics as a real client sees it: GetMetricData's points, one metric a call."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

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
@pytest.mark.parametrize("name", ["wiki", "patchy"])
@pytest.mark.parametrize(("period_s", "days"), [(60, 1), (3600, 40)])
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
