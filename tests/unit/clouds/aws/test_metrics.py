"""GetMetricData: whatever CloudWatch answers, each volume ends in exactly one of sums and failed."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.aws.metrics import AwsMetrics
from plimsoll.clouds.aws.queries import DATAPOINTS_A_CALL, QUERIES_A_CALL, metrics_of
from plimsoll.clouds.common.calls import Pacer
from plimsoll.domain.errors import AccessDenied, Throttled, Unexpected
from plimsoll.domain.sums import Window
from tests import builders
from tests.builders import a_host, a_volume
from tests.profiles import examples

START_S = 1_700_000_040
HOUR = Window(start_s=START_S, end_s=START_S + 3600)


@dataclass
class Cloud:
    """A CloudWatch that answers every metric with its value a bucket, as its script has it."""

    page: int = DATAPOINTS_A_CALL
    status: dict[str, list[str]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    gaps: frozenset[int] = frozenset()
    descending: bool = False
    refusals: list[str] = field(default_factory=list)
    requests: list[dict] = field(default_factory=list)
    meta: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(events=SimpleNamespace(register=lambda *_args, **_named: None))
    )

    def client(self, *_place):
        return self

    def get_metric_data(self, **request):
        self.requests.append(request)
        if self.refusals:
            raise ClientError({"Error": {"Code": self.refusals.pop(), "Message": "no"}}, "GetMetricData")
        start_s, end_s = request["StartTime"].timestamp(), request["EndTime"].timestamp()
        room = self.page
        offset = int(request.get("NextToken", 0))
        results, seen = [], 0
        for query in request["MetricDataQueries"]:
            stat = query["MetricStat"]
            metric, period_s = stat["Metric"]["MetricName"], stat["Period"]
            stamps = [
                start_s + index * period_s
                for index in range(int((end_s - start_s) // period_s))
                if index not in self.gaps and metric not in self.absent
            ]
            status = self.status.get(metric, [])
            answer = status.pop(0) if status else "Complete"
            taken = stamps[max(0, offset - seen) :][: max(0, room)] if answer == "Complete" else []
            seen += len(stamps)
            room -= len(taken)
            if self.descending:
                taken = taken[::-1]
            results.append(
                {"Id": query["Id"], "StatusCode": answer, "Timestamps": taken, "Values": [60.0] * len(taken)}
            )
        page = {"MetricDataResults": results}
        if offset + self.page < seen:
            page["NextToken"] = str(offset + self.page)
        return page


def read(cloud, volumes, window=HOUR, period_s=60):
    metrics = AwsMetrics(
        query_cost=builders.a_tariff(),
        sessions=cloud,
        calls=Pacer(1e9),
        datapoints=Pacer(1e9),
        parallel=2,
        sleep=lambda _seconds: None,
    )
    return builders.read(metrics, volumes, window, period_s), metrics.usage


def test_every_series_that_is_published_comes_back_bucket_by_bucket():
    reading, usage = read(Cloud(), [a_volume("gp2", 500)])
    (sums,) = reading.sums.values()
    assert (sums.start_s, sums.period_s, sums.buckets) == (START_S, 60, 60)
    for values in (*sums.counters, sums.idle_s, sums.burst_balance_pct, sums.iops_exceeded, sums.throughput_exceeded):
        assert (values == 60).all()
    assert (usage.metrics, usage.datapoints) == (8, 480)


def test_pages_are_merged_by_id():
    cloud = Cloud(page=7)
    reading, usage = read(cloud, [a_volume("gp2", 500)])
    assert usage.calls == len(cloud.requests) == 69
    assert all((values == 60).all() for values in reading.sums["vol-1"].counters)


def test_gaps_stay_gaps_and_the_order_does_not_matter():
    reading, _ = read(Cloud(gaps=frozenset({3, 40}), descending=True), [a_volume()])
    assert list(np.flatnonzero(np.isnan(reading.sums["vol-1"].read_ops))) == [3, 40]


def test_a_series_without_any_point_is_not_published_and_counters_are_unknown():
    reading, _ = read(Cloud(absent=("VolumeIdleTime", "VolumeReadOps")), [a_volume()])
    assert reading.sums["vol-1"].idle_s is None
    assert np.isnan(reading.sums["vol-1"].read_ops).all()


def test_partial_and_broken_answers_are_asked_again():
    cloud = Cloud(status={"VolumeReadOps": ["PartialData"], "VolumeWriteBytes": ["InternalError", "InternalError"]})
    reading, _ = read(cloud, [a_volume()])
    assert all((values == 60).all() for values in reading.sums["vol-1"].counters)
    assert [len(request["MetricDataQueries"]) for request in cloud.requests] == [8, 2, 1]


def test_an_answer_that_stays_broken_fails_its_volume_by_name():
    reading, _ = read(Cloud(status={"VolumeReadOps": ["InternalError"] * 9}), [a_volume()])
    assert reading.sums == {}
    assert isinstance(reading.failed["vol-1"], Unexpected)
    assert "InternalError" in str(reading.failed["vol-1"])


def test_a_forbidden_series_fails_its_volume_alone():
    volumes = [a_volume(id="denied"), a_volume(id="fine", on=a_host(id="i-2"))]
    reading, _ = read(Cloud(status={"VolumeReadOps": ["Forbidden"]}), volumes)
    assert list(reading.sums) == ["fine"]
    assert isinstance(reading.failed["denied"], AccessDenied)


@pytest.mark.parametrize(("code", "kind"), [("ThrottlingException", Throttled), ("AccessDenied", AccessDenied)])
def test_a_refused_call_fails_the_volumes_it_was_for(code, kind):
    reading, _ = read(Cloud(refusals=[code]), [a_volume()])
    assert isinstance(reading.failed["vol-1"], kind)
    assert "cloudwatch:GetMetricData" in str(reading.failed["vol-1"])


def test_checks_of_two_hosts_are_taken_together():
    volume = a_volume("io2", 500, iops=5000, on=(a_host(id="i-1"), a_host(id="i-2")))
    asked = [query for query in metrics_of(volume) if query.series == "iops_exceeded"]
    assert {query.instance_id for query in asked} == {"i-1", "i-2"}
    reading, _ = read(Cloud(), [volume])
    assert (reading.sums[volume.id].iops_exceeded == 60).all()


@settings(max_examples=examples(25))
@given(st.integers(1, 20), st.sampled_from([60, 300, 3600]), st.integers(1, 20))
def test_no_call_exceeds_what_cloudwatch_takes(days, period_s, volumes):
    cloud = Cloud(gaps=frozenset(range(days * 1440)))
    window = Window(start_s=0, end_s=days * 86_400)
    reading, _ = read(cloud, [a_volume(id=f"vol-{index}") for index in range(volumes)], window, period_s)
    assert len(reading.sums) == volumes
    for request in cloud.requests:
        queries = len(request["MetricDataQueries"])
        assert queries <= QUERIES_A_CALL
        assert queries == 1 or queries * window.buckets(period_s) <= DATAPOINTS_A_CALL
        assert request["StartTime"] == datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Scripted(Cloud):
    """A CloudWatch whose every call is answered by a function of the request."""

    answer: object = None

    def get_metric_data(self, **request):
        self.requests.append(request)
        return {"MetricDataResults": [self.answer(query, len(self.requests)) for query in request["MetricDataQueries"]]}


def result(query, stamps, value=60.0, status="Complete"):
    return {"Id": query["Id"], "StatusCode": status, "Timestamps": stamps, "Values": [value] * len(stamps)}


def test_points_outside_the_window_are_dropped():
    stamps = [START_S - 600, START_S - 60, START_S, HOUR.end_s, HOUR.end_s + 600]
    reading, _ = read(Scripted(answer=lambda query, _call: result(query, stamps)), [a_volume()])
    assert list(np.flatnonzero(~np.isnan(reading.sums["vol-1"].read_ops))) == [0]


def test_what_a_partial_answer_held_is_kept_and_the_rest_filled_in():
    def answer(query, call):
        start = START_S if call == 1 else START_S + 1800
        stamps = [start + 60 * minute for minute in range(30)]
        return result(query, stamps, float(call), "PartialData" if call == 1 else "Complete")

    reading, usage = read(Scripted(answer=answer), [a_volume()])
    assert list(reading.sums["vol-1"].read_ops) == [1.0] * 30 + [2.0] * 30
    assert (usage.calls, usage.metrics, usage.datapoints) == (2, 16, 960)


def test_of_two_hosts_checks_either_counts():
    def answer(query, _call):
        hosts = [one["Value"] for one in query["MetricStat"]["Metric"]["Dimensions"] if one["Name"] == "InstanceId"]
        minute = {"i-1": 1, "i-2": 2}.get(hosts[0] if hosts else "", 0)
        return {
            "Id": query["Id"],
            "StatusCode": "Complete",
            "Timestamps": [START_S, START_S + 60 * minute],
            "Values": [0.0, 1.0],
        }

    volume = a_volume("io2", 500, iops=5000, on=(a_host(id="i-1"), a_host(id="i-2")))
    reading, _ = read(Scripted(answer=answer), [volume])
    checks = reading.sums["vol-1"].iops_exceeded
    assert list(checks[:3]) == [0, 1, 1]
    assert np.isnan(checks[3:]).all()


def test_without_volumes_nothing_is_asked():
    cloud = Cloud()
    reading, usage = read(cloud, [])
    assert (reading.sums, reading.failed, cloud.requests, usage.calls) == ({}, {}, [], 0)


STATUSES = st.sampled_from(["Complete", "PartialData", "InternalError", "Forbidden"])


@settings(max_examples=examples(40))
@given(st.lists(st.lists(STATUSES, max_size=6), min_size=1, max_size=5))
def test_whatever_the_statuses_each_volume_is_in_exactly_one_of_sums_and_failed(scripts):
    left = {f"vol-{index}": list(script) for index, script in enumerate(scripts)}

    def answer(query, _call):
        metric = query["MetricStat"]["Metric"]
        script = left[metric["Dimensions"][0]["Value"]] if metric["MetricName"] == "VolumeReadOps" else []
        status = script.pop(0) if script else "Complete"
        return result(query, [START_S] if status == "Complete" else [], status=status)

    volumes = [a_volume(id=name) for name in left]
    reading, _ = read(Scripted(answer=answer), volumes)
    assert set(reading.sums) | set(reading.failed) == {volume.id for volume in volumes}
    assert not set(reading.sums) & set(reading.failed)
    for index, script in enumerate(scripts):
        settled = next((one for one in [*script, "Complete"][:4] if one in {"Complete", "Forbidden"}), None)
        assert (f"vol-{index}" in reading.sums) == (settled == "Complete")


def test_what_stays_broken_is_given_up_with_place_and_remedy():
    reading, usage = read(Cloud(status={"VolumeReadOps": ["PartialData"] * 9}), [a_volume(region="eu-west-1")])
    text = str(reading.failed["vol-1"])
    assert "111122223333/eu-west-1" in text
    assert "PartialData" in text
    assert "--resume" in text
    assert usage.calls == 4


def test_a_broken_answer_without_points_is_asked_again():
    def answer(query, call):
        return {"Id": query["Id"], "StatusCode": "InternalError"} if call == 1 else result(query, [START_S])

    reading, _ = read(Scripted(answer=answer), [a_volume()])
    assert reading.sums["vol-1"].read_ops[0] == 60


def test_a_refused_call_leaves_the_volumes_of_other_calls_alone():
    days = 14
    window = Window(start_s=START_S, end_s=START_S + days * 86_400)
    volumes = [a_volume(id=f"vol-{index}") for index in range(4)]
    reading, _ = read(Cloud(refusals=["ThrottlingException"]), volumes, window)
    assert set(reading.sums) | set(reading.failed) == {volume.id for volume in volumes}
    assert 1 <= len(reading.failed) < 4
    assert all(isinstance(error, Throttled) for error in reading.failed.values())


def test_series_that_cloudwatch_does_not_publish_are_not_asked_for():
    def series(volume):
        return {query.series for query in metrics_of(volume)}

    assert "burst_balance_pct" in series(a_volume("gp2", 999))
    assert "burst_balance_pct" not in series(a_volume("gp2", 1000))
    assert "iops_exceeded" not in series(a_volume("gp2", 100, on=a_host("m4.large")))
    assert "iops_exceeded" not in series(a_volume("standard", 100))
    shared = a_volume("io2", 500, iops=5000, multi_attach=True, on=(a_host(id="i-1"), a_host(id="i-2")))
    assert series(shared) == {"read_ops", "write_ops", "read_bytes", "write_bytes"}


def test_the_pacer_never_exceeds_its_rate_beyond_one_seconds_worth():
    now, waited = [100.0], []
    pacer = Pacer(10.0, clock=lambda: now[0], sleep=waited.append)
    for _ in range(50):
        pacer.take(1)
        if waited:
            now[0] += waited.pop()
    assert now[0] == pytest.approx(100 + (50 - 10) / 10, abs=0.2)
