"""GetMetricData as a real client sees it, against the truth."""

from datetime import timedelta

import numpy as np
import pytest
import urllib3
from botocore.exceptions import ClientError

from cloud_simulator.aws.fleet import HOME_KEY, volume_truth
from plimsoll.reading.window import Window

from .served import NOW, named, points, query

COUNTERS = {
    "VolumeReadOps": "read_ops",
    "VolumeWriteOps": "write_ops",
    "VolumeReadBytes": "read_bytes",
    "VolumeWriteBytes": "write_bytes",
    "VolumeIdleTime": "idle_s",
}


@pytest.fixture(scope="module")
def cloudwatch(account):
    return account.client("cloudwatch")


@pytest.mark.parametrize("series", ["VolumeIdleTime", "BurstBalance"])
def test_json_and_cbor_clients_are_told_the_same(account, cloudwatch, series):
    cbor = account.cbor_client()
    assert cbor.meta.service_model.resolved_protocol == "smithy-rpc-v2-cbor"
    asked = [query(named(account.fleet, "wiki"), series, Stat="Minimum")]
    told, also = points(pages(cbor, asked, MaxDatapoints=999)), points(pages(cloudwatch, asked, MaxDatapoints=999))
    assert told == also
    assert {type(value) for value in told["q0"][1]} == {type(value) for value in also["q0"][1]} == {float}


def test_a_client_of_the_query_protocol_is_told_why_not(account):
    body = "Action=GetMetricData&Version=2010-08-01"
    scope = f"{HOME_KEY}/20261120/us-east-1/monitoring/aws4_request"
    headers = {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    found = urllib3.request("POST", account.endpoint, body=body, headers=headers)
    assert found.status == 400
    assert b"<Code>InvalidAction</Code>" in found.data


def pages(cloudwatch, queries, *, days=1.0, end=NOW, **asked):
    asked = {"ScanBy": "TimestampAscending", "StartTime": end - timedelta(days=days), "EndTime": end} | asked
    return list(cloudwatch.get_paginator("get_metric_data").paginate(MetricDataQueries=queries, **asked))


def true(volume, days, series="read_ops", end=NOW):
    end_s = int(end.timestamp())
    return getattr(volume_truth(volume, Window(start_s=end_s - round(days * 86400), end_s=end_s)), series)


@pytest.mark.parametrize("room", [777, 100_800])
def test_pages_merged_by_id_are_the_truth(account, cloudwatch, room):
    volumes = [named(account.fleet, name) for name in ("index", "patchy")]
    asked = {f"q{i}m{j}": (volume, metric) for i, volume in enumerate(volumes) for j, metric in enumerate(COUNTERS)}
    queries = [query(volume, metric, name) for name, (volume, metric) in asked.items()]
    answers = pages(cloudwatch, queries, days=1, MaxDatapoints=room)
    assert all(sum(len(one["Values"]) for one in page["MetricDataResults"]) <= room for page in answers)
    merged = points(answers)
    for name, (volume, metric) in asked.items():
        expected = true(volume, 1, COUNTERS[metric])
        present = ~np.isnan(expected)
        start = NOW - timedelta(days=1)
        assert merged[name][1] == expected[present].tolist()
        assert merged[name][0] == [start + timedelta(minutes=int(minute)) for minute in np.flatnonzero(present)]


@pytest.mark.parametrize("period_s", [300, 3600, 86_400])
@pytest.mark.parametrize(
    ("stat", "fold"), [("Sum", np.sum), ("Maximum", np.max), ("Minimum", np.min), ("Average", np.mean)]
)
def test_every_period_is_an_exact_fold_of_the_same_minutes(account, cloudwatch, period_s, stat, fold):
    volume = named(account.fleet, "index")
    merged = points(pages(cloudwatch, [query(volume, "VolumeReadBytes", Period=period_s, Stat=stat)], days=2))
    expected = fold(true(volume, 2, "read_bytes").reshape(-1, period_s // 60), axis=1)
    np.testing.assert_allclose(merged["q0"][1], expected, rtol=1e-15)


def test_the_start_is_inclusive_the_end_exclusive_and_buckets_begin_at_the_start(account, cloudwatch):
    end = NOW - timedelta(minutes=8)
    merged = points(
        pages(cloudwatch, [query(named(account.fleet, "index"), "VolumeReadOps", Period=300)], days=10 / 1440, end=end)
    )
    assert [stamp.minute for stamp in merged["q0"][0]] == [12, 17]


def test_nothing_is_known_of_the_future(account, cloudwatch):
    end = NOW + timedelta(hours=2)
    merged = points(pages(cloudwatch, [query(named(account.fleet, "index"), "VolumeReadOps")], days=4 / 24, end=end))
    assert merged["q0"][0][-1] == NOW


@pytest.mark.parametrize(
    ("days", "period_s", "found"),
    [(14, 60, True), (20, 60, False), (20, 300, True), (70, 300, False), (70, 3600, True), (460, 86_400, False)],
)
def test_old_data_is_kept_in_coarse_periods_alone(account, cloudwatch, days, period_s, found):
    answers = pages(cloudwatch, [query(named(account.fleet, "index"), "VolumeReadOps", Period=period_s)], days=days)
    assert bool(points(answers)["q0"][1]) is found
    assert answers[-1]["MetricDataResults"][-1]["StatusCode"] == "Complete"


def test_the_start_is_rounded_down_by_its_age(account, cloudwatch):
    asked = [query(named(account.fleet, "index"), "VolumeReadOps", Period=3600)]
    for days, minute in ((14, 27), (20, 25), (70, 0)):
        end = NOW - timedelta(days=days - 1, minutes=2, seconds=25)
        merged = points(pages(cloudwatch, asked, days=1, end=end))
        assert merged["q0"][0][0].minute == minute


@pytest.mark.parametrize(
    ("name", "metric", "with_instance", "found"),
    [
        ("index", "VolumeIOPSExceededCheck", True, True),
        ("index", "VolumeIOPSExceededCheck", False, False),
        ("index", "VolumeReadOps", True, False),
        ("index", "BurstBalance", False, False),
        ("wiki", "BurstBalance", False, True),
        ("cache", "BurstBalance", False, False),
        ("hdfs-1", "BurstBalance", False, True),
        ("legacy", "VolumeIOPSExceededCheck", True, False),
        ("ancient", "VolumeThroughputExceededCheck", True, False),
        ("cluster-fs", "VolumeIOPSExceededCheck", True, False),
        ("cluster-fs", "VolumeIdleTime", False, False),
        ("cluster-fs", "VolumeReadOps", False, True),
        ("index", "VolumeColor", False, False),
    ],
)
def test_each_series_exists_under_its_exact_dimensions_alone(account, cloudwatch, name, metric, with_instance, found):
    volume = named(account.fleet, name)
    asked = query(volume, metric, instance=volume.hosts[0].id if with_instance else None, Stat="Maximum", Period=3600)
    (result,) = pages(cloudwatch, [asked])[0]["MetricDataResults"]
    assert bool(result["Values"]) is found
    assert result["StatusCode"] == "Complete"


def wrong(volume, **changes):
    asked = {
        "MetricDataQueries": [query(volume, "VolumeReadOps")],
        "StartTime": NOW - timedelta(hours=1),
        "EndTime": NOW,
    }
    return asked | changes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (lambda v: {"MetricDataQueries": [query(v, "VolumeReadOps", f"q{i}") for i in range(501)]}, "greater than 500"),
        (lambda v: {"MetricDataQueries": [query(v, "VolumeReadOps")] * 2}, "not unique"),
        (lambda v: {"MetricDataQueries": [query(v, "VolumeReadOps", "Q0")]}, "not matching"),
        (lambda v: {"MetricDataQueries": [query(v, "VolumeReadOps", Period=90)]}, "multiple of 60"),
        (lambda v: {"MetricDataQueries": [query(v, "VolumeReadOps", Stat="p99")]}, "no statistic p99"),
        (lambda _: {"MetricDataQueries": [{"Id": "e1", "Expression": "m1/60"}]}, "no expressions"),
        (lambda _: {"EndTime": NOW - timedelta(hours=2)}, "must be less than"),
        (lambda _: {"MaxDatapoints": 100_801}, "between 1 and 100800"),
    ],
)
def test_what_breaks_the_rules_is_a_validation_error(account, cloudwatch, changes, words):
    volume = named(account.fleet, "index")
    with pytest.raises(ClientError, match=words) as refused:
        cloudwatch.get_metric_data(**wrong(volume, **changes(volume)))
    assert refused.value.response["Error"]["Code"] == "ValidationError"


def test_a_broken_token_is_refused(account, cloudwatch):
    with pytest.raises(ClientError, match="InvalidNextToken"):
        cloudwatch.get_metric_data(**wrong(named(account.fleet, "index"), NextToken="?"))
