"""The plan: what is said before reading lies between the first look and every minute."""

import pytest

from plimsoll.domain.metrics.reading_cost import Plan, Reading
from plimsoll.domain.metrics.sums import Segment, Window
from plimsoll.domain.refine.plan import hosts_plan, plan_of
from tests.builders import a_tariff

DAY_S = 86_400
FORTNIGHT = [Segment(window=Window(start_s=0, end_s=14 * DAY_S + 5 * 3600), period_s=60)]


def plan(series, *, every_minute=False, segments=FORTNIGHT):
    return plan_of(
        series, segments, every_minute=every_minute, closer=a_tariff().closer, page=100_800, most_queries=500
    )


def test_the_first_look_is_work_by_the_hour_and_the_rest_by_days_and_the_hours_of_today():
    found = plan([8] * 1000)
    assert found.least == Reading(queries=11_000, calls=6 + 6 + 17, datapoints=3000 * 19 + 5000 * 341)
    assert found.most == Reading(queries=8000, calls=2000, datapoints=8000 * (14 * 1440 + 300))
    assert found.least.datapoints < found.expected.datapoints < found.most.datapoints


def test_every_minute_is_expected_where_it_is_asked_for():
    found = plan([8] * 10, every_minute=True)
    assert found.least == found.expected == found.most


def hosts(series, *, every_minute=False):
    return hosts_plan(series, FORTNIGHT, every_minute=every_minute, page=100_800, most_queries=500)


def test_a_host_that_may_be_the_limit_is_asked_by_the_day_and_at_most_by_the_minute():
    found = hosts([2, 4, 0])
    assert found.volumes == 0
    assert found.expected == found.least == Reading(queries=12, calls=1, datapoints=6 * 19)
    assert found.most.datapoints == 6 * (14 * 1440 + 300)
    assert hosts([2, 4], every_minute=True).least == found.most
    assert hosts([]) == Plan()


def test_plans_add_up():
    assert plan([8]) + plan([6]) + Plan() == Plan(
        volumes=2,
        least=plan([8]).least + plan([6]).least,
        expected=plan([8]).expected + plan([6]).expected,
        most=plan([8]).most + plan([6]).most,
    )


def test_nothing_to_read_costs_nothing():
    assert plan([]) == Plan()
    assert Plan().seconds(a_tariff()) == 0


def test_money_is_by_query_and_time_by_the_tighter_quota():
    reading = Reading(queries=100_000, calls=1000, datapoints=3_960_000)
    assert reading.usd(a_tariff()) == pytest.approx(1.0)
    assert reading.seconds(a_tariff()) == pytest.approx(10)
    assert reading.seconds(a_tariff(calls_per_s=50)) == pytest.approx(20)


def test_a_query_is_worth_what_the_quota_lets_through_while_it_is_paid_for():
    assert a_tariff().datapoints_a_query == pytest.approx(142.56)
    assert a_tariff().datapoints_a_call == 792
    assert a_tariff(usd_hour_waited=0).datapoints_a_query == float("inf")


def test_where_calls_are_scarce_a_query_takes_its_share_of_one():
    scarce = a_tariff(calls_scarce=True, calls_per_s=50.0)
    assert scarce.datapoints_a_call == 7920
    assert scarce.datapoints_a_query == pytest.approx(142.56 + 7920 / 12)
