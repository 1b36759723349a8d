"""Which queries share a GetMetricData call: all are asked, in their own buckets, within the limits, in few calls."""

import math

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.clouds.aws.queries import DATAPOINTS_A_CALL, QUERIES_A_CALL, Metric, Query, calls_of
from plimsoll.reading.window import Window

MIDNIGHT_S = 1_700_006_400
DAY_S = 86_400


def a_query(number, start_s, end_s, period_s):
    return Query(
        ask=number,
        volume_id=f"vol-{number}",
        metric=Metric(series="read_ops", name="VolumeReadOps", stat="Sum"),
        window=Window(start_s=MIDNIGHT_S + start_s, end_s=MIDNIGHT_S + end_s),
        period_s=period_s,
    )


@st.composite
def queries(draw):
    found = []
    for number in range(draw(st.integers(0, 60))):
        period_s = draw(st.sampled_from([60, 300, 1200, 3600, 7200, DAY_S]))
        start = draw(st.integers(0, 13 * DAY_S // period_s))
        length = draw(st.integers(1, 6))
        found.append(a_query(number, start * period_s, (start + length) * period_s, period_s))
    return found


@given(queries(), st.sampled_from([0.0, 100.0, 792.0, 1e9]))
def test_every_query_is_asked_once_in_buckets_of_its_own(asked, datapoints_a_call):
    calls = list(calls_of(asked, datapoints_a_call=datapoints_a_call))
    assert sorted(query.ask for call in calls for query in call.queries) == [query.ask for query in asked]
    for call in calls:
        assert len(call.queries) <= QUERIES_A_CALL
        for query in call.queries:
            assert call.window.start_s <= query.window.start_s < query.window.end_s <= call.window.end_s
            assert (query.window.start_s - call.window.start_s) % query.period_s == 0
            assert (call.window.end_s - call.window.start_s) % query.period_s == 0


@given(queries(), st.sampled_from([100.0, 792.0]))
def test_a_call_less_never_costs_more_datapoints_than_it_is_worth(asked, datapoints_a_call):
    alone = list(calls_of(asked, datapoints_a_call=0))
    shared = list(calls_of(asked, datapoints_a_call=datapoints_a_call))
    assert len(shared) <= len(alone)
    more = sum(call.datapoints for call in shared) - sum(call.datapoints for call in alone)
    assert more <= (len(alone) - len(shared)) * datapoints_a_call + 1e-6


def test_alike_queries_fill_calls():
    asked = [a_query(number, 0, DAY_S, 3600) for number in range(1200)]
    assert [len(call.queries) for call in calls_of(asked, datapoints_a_call=792)] == [500, 500, 200]


def test_a_page_of_datapoints_is_not_overrun_by_several_queries():
    fortnight = 14 * DAY_S
    asked = [a_query(number, 0, fortnight, 60) for number in range(11)]
    calls = list(calls_of(asked, datapoints_a_call=792))
    assert all(call.datapoints <= DATAPOINTS_A_CALL for call in calls)
    assert len(calls) == math.ceil(11 / (DATAPOINTS_A_CALL // 20_160))


def test_neighboring_hours_share_a_call_and_distant_ones_do_not():
    near = [a_query(0, 0, 3600, 60), a_query(1, 3600, 7200, 60)]
    far = [a_query(0, 0, 3600, 60), a_query(1, 10 * DAY_S, 10 * DAY_S + 3600, 60)]
    assert len(list(calls_of(near, datapoints_a_call=792))) == 1
    assert len(list(calls_of(far, datapoints_a_call=792))) == 2


@given(queries(), st.sampled_from([792.0, 1e9]))
def test_no_query_is_asked_from_before_what_is_known_to_be_kept_in_its_period(asked, datapoints_a_call):
    for call in calls_of(asked, datapoints_a_call=datapoints_a_call):
        for query in call.queries:
            assert call.window.start_s >= min(one.window.start_s for one in asked if one.period_s <= query.period_s), (
                query
            )


def test_minutes_are_not_asked_from_before_they_are_kept_for_the_sake_of_a_call():
    old = [a_query(0, 0, 3600, 300)]
    fresh = [a_query(1, 3600, 7200, 60)]
    assert len(list(calls_of([*old, *fresh], datapoints_a_call=1e9))) == 2
