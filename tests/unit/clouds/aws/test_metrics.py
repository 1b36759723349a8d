"""GetMetricData: whatever CloudWatch answers, each volume ends in exactly one of sums and failed."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.clouds.aws.metrics import MOST_HALVED, TRIES, AwsMetrics
from plimsoll.clouds.aws.queries import (
    DATAPOINTS_A_CALL,
    QUERIES_A_CALL,
    Call,
    Query,
    host_metrics_of,
    metrics_of,
)
from plimsoll.clouds.common.calls import Pacer
from plimsoll.model.errors import AccessDenied, BadAnswer, Endless, Throttled, Unexpected
from plimsoll.reading.window import Window
from tests import builders
from tests.builders import a_host, a_volume
from tests.profiles import examples

START_S = 1_700_000_040
HOUR = Window(start_s=START_S, end_s=START_S + 3600)


def value_of(metric):
    """A figure that a minute of the metric can have."""
    return 1.0 if metric.endswith("Check") else 60.0


@dataclass
class Cloud:
    """A CloudWatch that answers every metric with its value a bucket, as its script has it."""

    page: int = DATAPOINTS_A_CALL
    status: dict[str, list[str]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    gaps: frozenset[int] = frozenset()
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
            results.append(
                {
                    "Id": query["Id"],
                    "Label": query["Label"],
                    "StatusCode": answer,
                    "Timestamps": taken,
                    "Values": [value_of(metric)] * len(taken),
                }
            )
        page = {"MetricDataResults": results}
        if offset + self.page < seen:
            page["NextToken"] = str(offset + self.page)
        return page


def read(cloud, volumes, window=HOUR, period_s=60, **bounds):
    metrics = AwsMetrics(
        query_cost=builders.a_tariff(),
        sessions=cloud,
        calls=Pacer(1e9),
        datapoints=Pacer(1e9),
        parallel=2,
        sleep=lambda _seconds: None,
        **bounds,
    )
    return builders.read(metrics, volumes, window, period_s), metrics.usage


def test_every_series_that_is_published_comes_back_bucket_by_bucket():
    reading, usage = read(Cloud(), [a_volume("gp2", 500)])
    (sums,) = reading.sums.values()
    assert (sums.start_s, sums.period_s, sums.buckets) == (START_S, 60, 60)
    for values in (*sums.counters, sums.idle_s, sums.burst_balance_pct):
        assert (values == 60).all()
    for values in (sums.iops_exceeded, sums.throughput_exceeded):
        assert (values == 1).all()
    assert (usage.metrics, usage.datapoints) == (8, 480)


def test_pages_are_merged_by_id():
    cloud = Cloud(page=60)
    reading, usage = read(cloud, [a_volume("gp2", 500)])
    assert usage.calls == len(cloud.requests) == 8
    assert all((values == 60).all() for values in reading.sums["vol-1"].counters)


def test_gaps_stay_gaps():
    reading, _ = read(Cloud(gaps=frozenset({3, 40})), [a_volume()])
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
    assert (reading.sums[volume.id].iops_exceeded == 1).all()


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


def result(query, stamps, value=None, status="Complete"):
    value = value_of(query["MetricStat"]["Metric"]["MetricName"]) if value is None else value
    return {
        "Id": query["Id"],
        "Label": query["Label"],
        "StatusCode": status,
        "Timestamps": stamps,
        "Values": [value] * len(stamps),
    }


GOOD = [START_S, START_S + 60]


def wrong(**fields):
    """A result that has a good one's fields but these; None takes a field away."""

    def answer(query):
        found = {**result(query, GOOD, 1.0), **fields}
        return {name: value for name, value in found.items() if value is not None}

    return answer


WRONG = {
    "before the window": wrong(Timestamps=[START_S - 60, START_S]),
    "after the window": wrong(Timestamps=[START_S, HOUR.end_s]),
    "out of the order that was asked for": wrong(Timestamps=GOOD[::-1]),
    "off the grid": wrong(Timestamps=[START_S, START_S + 61]),
    "a time as text": wrong(Timestamps=[str(START_S), START_S + 60]),
    "no time": wrong(Timestamps=[None, START_S]),
    "a time twice": wrong(Timestamps=[START_S, START_S], Values=[1.0, 0.5]),
    "more times": wrong(Timestamps=[*GOOD, START_S + 120]),
    "more figures": wrong(Values=[1.0] * 3),
    "a figure as text": wrong(Values=["1.0", 1.0]),
    "no figure": wrong(Values=[None, 1.0]),
    "negative": wrong(Values=[1.0, -1.0]),
    "not a number": wrong(Values=[1.0, float("nan")]),
    "infinite": wrong(Values=[float("inf"), 1.0]),
    "beyond any volume": wrong(Values=[1e15, 1.0]),
    "no times": wrong(Timestamps=None),
    "no figures": wrong(Values=None),
    "null lists": lambda query: {"Id": query["Id"], "StatusCode": "Complete", "Timestamps": None, "Values": None},
    "no status": wrong(StatusCode=None),
    "an unknown status": wrong(StatusCode="Mostly"),
}


@pytest.mark.parametrize("often", [1, 9])
@pytest.mark.parametrize("broken", WRONG.values(), ids=WRONG)
def test_what_no_volume_can_have_is_asked_again_and_then_fails_its_volume_by_name(broken, often):
    left = {"vol-1": often}

    def answer(query, _call):
        metric = query["MetricStat"]["Metric"]
        volume_id = metric["Dimensions"][0]["Value"]
        if metric["MetricName"] == "VolumeWriteOps" and left.get(volume_id, 0):
            left[volume_id] -= 1
            return broken(query)
        return result(query, GOOD, 1.0)

    volumes = [a_volume(), a_volume(id="fine", on=a_host(id="i-2"))]
    cloud = Scripted(answer=answer)
    reading, _ = read(cloud, volumes)
    assert len(cloud.requests) == (2 if often == 1 else TRIES)
    assert list(reading.sums["fine"].write_ops[:2]) == [1, 1]
    if often == 1:
        assert list(reading.sums["vol-1"].write_ops[:2]) == [1, 1]
    else:
        error = reading.failed["vol-1"]
        assert isinstance(error, BadAnswer)
        for word in ("cloudwatch:GetMetricData", "111122223333/us-east-1", "VolumeWriteOps", "vol-1"):
            assert word in str(error)


@dataclass
class Broken(Cloud):
    """A CloudWatch whose first answers are spoilt as a whole."""

    spoil: object = None
    often: int = 1

    def get_metric_data(self, **request):
        page = super().get_metric_data(**request)
        return self.spoil(page) if len(self.requests) <= self.often else page


def results_of(page, change):
    return {**page, "MetricDataResults": change(page["MetricDataResults"])}


PAGES = {
    "an unknown Id": lambda page: results_of(page, lambda found: [{**found[0], "Id": "q99"}, *found[1:]]),
    "an Id twice": lambda page: results_of(page, lambda found: [found[0], *found]),
    "a result less": lambda page: results_of(page, lambda found: found[1:]),
    "no result": lambda page: results_of(page, lambda _found: []),
    "no list": lambda _page: {"Messages": []},
    "null for a list": lambda _page: {"MetricDataResults": None},
    "a token that is none": lambda page: {**page, "NextToken": 7},
}


@pytest.mark.parametrize("often", [1, 999])
@pytest.mark.parametrize("spoil", PAGES.values(), ids=PAGES)
def test_a_page_that_is_none_is_asked_again_and_then_fails_its_volumes_by_name(spoil, often):
    cloud = Broken(spoil=spoil, often=often)
    reading, _ = read(cloud, [a_volume()])
    assert len(cloud.requests) == 2 if often == 1 else len(cloud.requests) <= TRIES * (1 + 2 * MOST_HALVED)
    if often == 1:
        assert all((values == 60).all() for values in reading.sums["vol-1"].counters)
    else:
        assert isinstance(reading.failed["vol-1"], BadAnswer)


def test_what_stands_beside_whole_results_costs_nothing():
    for stray in ({"StatusCode": "Complete"}, None, {"Id": "q99"}, [[]], True):
        cloud = Broken(spoil=lambda page, stray=stray: results_of(page, lambda found: [stray, *found]), often=99)
        reading, _ = read(cloud, [a_volume()])
        assert (len(cloud.requests), list(reading.sums)) == (1, ["vol-1"])


class Poisoned(Cloud):
    """A CloudWatch whose answer is none as long as a certain metric is asked for."""

    def get_metric_data(self, **request):
        page = super().get_metric_data(**request)
        metrics = [one["MetricStat"]["Metric"] for one in request["MetricDataQueries"]]
        poisoned = any(
            one["MetricName"] == "VolumeReadOps" and {"Name": "VolumeId", "Value": "vol-5"} in one["Dimensions"]
            for one in metrics
        )
        return {"MetricDataResults": "spoilt"} if poisoned else page


def test_one_series_that_spoils_its_page_costs_its_volume_alone():
    cloud = Poisoned()
    reading, _ = read(cloud, [a_volume(id=f"vol-{number}") for number in range(12)])
    assert set(reading.failed) == {"vol-5"}
    assert isinstance(reading.failed["vol-5"], BadAnswer)
    assert set(reading.sums) == {f"vol-{number}" for number in range(12)} - {"vol-5"}


ONE_SERIES = {
    "its Id is there twice": lambda one: [one, one],
    "its Id is there twice, with other figures": lambda one: [one, {**one, "Values": [7.0] * len(one["Values"])}],
    "its Id is nobody's": lambda one: [{**one, "Id": "q99"}],
    "its Id and its Label are nobody's": lambda one: [{**one, "Id": "q99", "Label": "q98"}],
    "its Id is a list": lambda one: [{**one, "Id": [one["Id"]]}],
    "it is a list": lambda one: [[one]],
    "nested figures": lambda one: [{**one, "Values": [[value] for value in one["Values"]]}],
    "nested times": lambda one: [{**one, "Timestamps": [[stamp] for stamp in one["Timestamps"]]}],
    "nested lists": lambda one: [{**one, "Values": [one["Values"]], "Timestamps": [one["Timestamps"]]}],
    "truth values": lambda one: [{**one, "Values": [True] * len(one["Values"])}],
    "a truth value among numbers": lambda one: [{**one, "Values": [True, *one["Values"][1:]]}],
    "a time that is a truth value": lambda one: [{**one, "Timestamps": [False, *one["Timestamps"][1:]]}],
    "texts": lambda one: [{**one, "Values": [str(value) for value in one["Values"]]}],
    "null among numbers": lambda one: [{**one, "Values": [None, *one["Values"][1:]]}],
    "a number beyond all": lambda one: [{**one, "Values": [10**400, *one["Values"][1:]]}],
    "mappings": lambda one: [{**one, "Values": [{"0": value} for value in one["Values"]]}],
}


@pytest.mark.parametrize("spoil", ONE_SERIES.values(), ids=ONE_SERIES)
def test_one_bad_series_costs_its_volume_and_no_neighbor(spoil):
    def change(found):
        place = next(at for at, one in enumerate(found) if one["Id"] == wanted[0])
        return [*found[:place], *spoil(found[place]), *found[place + 1 :]]

    class Spoilt(Cloud):
        def get_metric_data(self, **request):
            wanted[:] = [
                one["Id"]
                for one in request["MetricDataQueries"]
                if one["MetricStat"]["Metric"]["MetricName"] == "VolumeReadBytes"
                and one["MetricStat"]["Metric"]["Dimensions"][0]["Value"] == "vol-1"
            ]
            page = super().get_metric_data(**request)
            return results_of(page, change) if wanted else page

    wanted = []
    reading, _ = read(Spoilt(), [a_volume(id="vol-0"), a_volume(), a_volume(id="vol-2")])
    assert set(reading.failed) == {"vol-1"}
    assert isinstance(reading.failed["vol-1"], BadAnswer)
    for name in ("vol-0", "vol-2"):
        assert all((values == 60).all() for values in reading.sums[name].counters)


def test_series_that_exchanged_their_ids_cost_their_volumes_and_no_other():
    """Two series of one answer, whole and in order: nothing but their labels tells that they changed places."""

    def exchange(found):
        of = {one["Id"]: one for one in found}
        return [{**one, "Id": {here: there, there: here}.get(one["Id"], one["Id"])} for one in of.values()]

    class Exchanged(Cloud):
        def get_metric_data(self, **request):
            nonlocal here, there
            page = super().get_metric_data(**request)
            by_volume = {
                one["MetricStat"]["Metric"]["Dimensions"][0]["Value"]: one["Id"]
                for one in request["MetricDataQueries"]
                if one["MetricStat"]["Metric"]["MetricName"] == "VolumeReadBytes"
            }
            here, there = by_volume.get("vol-0"), by_volume.get("vol-2")
            return results_of(page, exchange) if here else page

    here = there = None
    reading, _ = read(Exchanged(), [a_volume(id="vol-0"), a_volume(), a_volume(id="vol-2")])
    assert set(reading.failed) == {"vol-0", "vol-2"}
    assert all((values == 60).all() for values in reading.sums["vol-1"].counters)


def test_metrics_are_counted_as_they_are_billed():
    """A metric counts once a request, whatever is asked of it, and a host's once for all of its volumes."""
    volumes = [a_volume(id=f"vol-{number}", on=a_host()) for number in range(3)]
    asked = [
        Query(ask=number, volume_id=volume.id, metric=metric, window=HOUR, period_s=300)
        for number, volume in enumerate(volumes)
        for metric in (*metrics_of(volume), *host_metrics_of(volume))
    ]
    distinct = {str(query.asked_as("q")["MetricStat"]["Metric"]) for query in asked}
    assert Call(window=HOUR, queries=tuple(asked)).billed_metrics == len(distinct) < len(asked)


def test_usage_counts_what_is_billed():
    cloud = Cloud()
    _, usage = read(cloud, [a_volume(on=a_host())])
    asked = [str(one["MetricStat"]["Metric"]) for request in cloud.requests for one in request["MetricDataQueries"]]
    assert usage.metrics == len(set(asked))


def test_a_token_that_comes_twice_ends_the_call_and_fails_its_volumes():
    cloud = Broken(spoil=lambda page: {**page, "NextToken": "480"}, often=99)
    reading, usage = read(cloud, [a_volume()])
    assert isinstance(reading.failed["vol-1"], Endless)
    assert usage.calls == 2


def test_more_pages_than_the_datapoints_can_fill_are_endless():
    cloud = Broken(often=10**6)
    cloud.spoil = lambda page: {"MetricDataResults": [], "NextToken": str(len(cloud.requests))}
    reading, usage = read(cloud, [a_volume()])
    assert isinstance(reading.failed["vol-1"], Endless)
    assert usage.calls < 50


def test_reading_ends_at_its_deadline_and_at_the_calls_a_run_may_make():
    for bound, calls in (({"read_deadline_s": 0.0}, 0), ({"most_calls": 3}, 3)):
        cloud = Cloud(status={"VolumeReadOps": ["InternalError"] * 9})
        reading, usage = read(cloud, [a_volume()], **bound)
        assert isinstance(reading.failed["vol-1"], Endless)
        assert usage.calls == calls


def test_what_a_partial_answer_held_is_kept_and_the_rest_filled_in():
    def answer(query, call):
        start = START_S if call == 1 else START_S + 1800
        stamps = [start + 60 * minute for minute in range(30)]
        return result(query, stamps, 1 / call, "PartialData" if call == 1 else "Complete")

    reading, usage = read(Scripted(answer=answer), [a_volume()])
    assert list(reading.sums["vol-1"].read_ops) == [1.0] * 30 + [0.5] * 30
    assert (usage.calls, usage.metrics, usage.datapoints) == (2, 16, 960)


def test_of_two_hosts_checks_either_counts():
    def answer(query, _call):
        hosts = [one["Value"] for one in query["MetricStat"]["Metric"]["Dimensions"] if one["Name"] == "InstanceId"]
        minute = {"i-1": 1, "i-2": 2}.get(hosts[0] if hosts else "", 0)
        return {
            "Id": query["Id"],
            "StatusCode": "Complete",
            "Timestamps": [START_S, START_S + 60 * minute] if minute else [START_S],
            "Values": [0.0, 1.0] if minute else [0.0],
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
