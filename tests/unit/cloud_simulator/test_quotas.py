"""CloudWatch's quotas: what is above them is refused as throttled, in its place alone, and only when asked for."""

import contextlib
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from cloud_simulator.aws.cloudwatch import Quotas
from cloud_simulator.aws.metric_request import parse_data
from cloud_simulator.faults import Refused

from .served import NOW, named, query, served

pytestmark = pytest.mark.once


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


def taken(take, times):
    """How many of so many calls are let through."""
    count = 0
    for _ in range(times):
        with contextlib.suppress(Refused):
            take("1", "r")
            count += 1
    return count


@pytest.mark.parametrize(("name", "code"), [("calls_per_s", "ThrottlingException"), ("statistics_per_s", "Throttling")])
def test_a_second_s_worth_at_once_and_then_the_rate(name, code):
    clock = Clock()
    quotas = Quotas(**{name: 50}, clock=clock)

    def call(*place):
        quotas.take(name, 1, place, code)

    assert taken(call, 80) == 50
    clock.now_s += 0.125
    assert taken(call, 80) == 6
    clock.now_s += 30
    assert taken(call, 80) == 50
    with pytest.raises(Refused, match="Rate exceeded") as refused:
        call("1", "r")
    assert (refused.value.code, refused.value.status) == (code, 400)


def test_each_account_and_region_has_its_own():
    quotas = Quotas(calls_per_s=1, clock=Clock())
    for place in (("1", "r"), ("2", "r"), ("1", "s")):
        quotas.take("calls_per_s", 1, place, "ThrottlingException")
        with pytest.raises(Refused):
            quotas.take("calls_per_s", 1, place, "ThrottlingException")


def test_a_call_of_more_datapoints_than_a_second_has_is_paid_off_afterwards():
    clock = Clock()
    quotas = Quotas(datapoints_per_s=1000, clock=clock)

    def take(*place):
        quotas.take("datapoints_per_s", 2500, place, "ThrottlingException")

    assert taken(take, 2) == 1
    clock.now_s += 2.4
    assert taken(take, 1) == 0
    clock.now_s += 0.2
    assert taken(take, 1) == 1


def asked(fleet, **changes):
    volume = named(fleet, "index")
    return {
        "MetricDataQueries": [query(volume, "VolumeReadOps", f"q{number}", Period=300) for number in range(4)],
        "StartTime": NOW - timedelta(minutes=52),
        "EndTime": NOW,
    } | changes


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 4 * 11),
        ({"MaxDatapoints": 20}, 20),
        ({"StartTime": NOW - timedelta(days=14), "EndTime": NOW + timedelta(days=1)}, 4 * 15 * 288),
    ],
)
def test_datapoints_are_counted_as_asked_whether_or_not_they_are_there(fleet, changes, count):
    assert parse_data(asked(fleet, **changes), NOW.timestamp()).datapoints == count


def test_clients_are_throttled_at_the_calls_and_at_the_datapoints(fleet):
    for quotas, allowed in (
        (Quotas(calls_per_s=3, clock=Clock()), 3),
        (Quotas(datapoints_per_s=100, clock=Clock()), 2),
    ):
        with served(fleet, quotas=quotas) as here:
            client = here.client("cloudwatch")
            for _ in range(allowed):
                client.get_metric_data(**asked(fleet))
            with pytest.raises(ClientError, match="Rate exceeded") as refused:
                client.get_metric_data(**asked(fleet))
    assert refused.value.response["Error"]["Code"] == "ThrottlingException"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
