"""Which series are asked for, over what, and how many of them in one call."""

import re

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.series import FIRST, IDLE, OPERATIONS, PEAKS
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from plimsoll_google.queries import NAMES_A_CALL, SERIES_METRICS, metric_calls, series_queries
from tests.unit.google.disks import a_disk, a_place

MIDNIGHT_S = 1_700_006_400
DAY_S = 86_400


def a_look(start_s, end_s, period_s, groups=(OPERATIONS,)):
    return Look(window=Window(start_s=MIDNIGHT_S + start_s, end_s=MIDNIGHT_S + end_s), period_s=period_s, groups=groups)


def asked(volume, look, series="read_ops"):
    """The spans of a series in minutes from midnight, each with its period."""
    spans = []
    for query in series_queries(0, Ask(volume=volume, look=look)):
        if query.series == series:
            window = query.window
            spans.append(((window.start_s - MIDNIGHT_S) / 60, (window.end_s - MIDNIGHT_S) / 60, query.period_s))
    return spans


def test_every_series_that_is_published_is_asked_and_no_other():
    queries = list(series_queries(3, Ask(volume=a_disk(a_place()), look=a_look(0, DAY_S, 3600, FIRST))))
    assert sorted(query.series for query in queries) == sorted(SERIES_METRICS)
    assert {query.ask for query in queries} == {3}
    assert list(series_queries(0, Ask(volume=a_disk(a_place()), look=a_look(0, DAY_S, 3600, (IDLE,))))) == []


def test_before_its_attachment_nothing_is_asked_and_the_bucket_that_it_falls_into_is_by_the_minute():
    look = a_look(0, DAY_S, 3600)
    for since_min, spans in (
        (-5, [(0, 1440, 3600)]),
        (0, [(0, 1440, 3600)]),
        (120, [(120, 1440, 3600)]),
        (130, [(130, 180, 60), (180, 1440, 3600)]),
        (1439, [(1439, 1440, 60)]),
        (1440, []),
        (9000, []),
    ):
        volume = a_disk(a_place(device="data", since_s=MIDNIGHT_S + 60 * since_min))
        assert asked(volume, look) == spans, since_min


def test_peaks_of_a_disk_on_several_instances_are_asked_by_the_minute():
    look = a_look(0, DAY_S, 3600, (OPERATIONS, PEAKS))
    shared = a_disk(a_place("71", "data"), a_place("72", "data"))
    assert asked(shared, look, "peak_read_ops") == [(0, 1440, 60)] * 2
    assert asked(shared, look, "read_ops") == [(0, 1440, 3600)] * 2
    assert asked(a_disk(a_place()), look, "peak_read_ops") == [(0, 1440, 3600)]


def test_hundreds_of_disks_share_a_call():
    look = a_look(0, DAY_S, 3600)
    asks = [Ask(volume=a_disk(a_place(device=f"d-{n}"), name=f"d-{n}", id=str(n)), look=look) for n in range(350)]
    calls = list(
        metric_calls([query for n, ask in enumerate(asks) for query in series_queries(n, ask)], datapoints_a_call=0)
    )
    assert [len(call.queries) for call in calls] == [100, 100, 100, 50] * 2


def test_neighboring_days_share_a_call_where_that_is_cheaper_and_distant_ones_do_not():
    near = [Ask(volume=a_disk(a_place(), id=str(n)), look=a_look(n * 3600, n * 3600 + 3600, 60)) for n in range(2)]
    far = [Ask(volume=a_disk(a_place(), id=str(n)), look=a_look(n * DAY_S, n * DAY_S + 3600, 60)) for n in (0, 12)]
    for asks, calls in ((near, 1), (far, 2)):
        queries = [
            query for n, ask in enumerate(asks) for query in series_queries(n, ask) if query.series == "read_ops"
        ]
        assert len(list(metric_calls(queries, datapoints_a_call=6000))) == calls


@st.composite
def many_asks(draw):
    asks = []
    for number in range(draw(st.integers(0, 30))):
        name = f"disk-{draw(st.integers(0, 9))}"
        device = draw(st.sampled_from([name, "persistent-disk-1", "data"]))
        machine = str(draw(st.integers(71, 75)))
        period_s = draw(st.sampled_from([60, 3600, DAY_S]))
        start = draw(st.integers(0, 5 * DAY_S // period_s)) * period_s
        since_s = MIDNIGHT_S + draw(st.integers(-DAY_S, 5 * DAY_S))
        volume = a_disk(a_place(machine, device, since_s=since_s), name=name, id=str(number))
        asks.append(Ask(volume=volume, look=a_look(start, start + period_s * draw(st.integers(1, 5)), period_s)))
    return asks


@given(many_asks(), st.sampled_from([0.0, 6000.0, 1e12]))
def test_every_query_is_in_one_call_that_names_it_in_buckets_of_its_own(asks, worth):
    queries = [query for number, ask in enumerate(asks) for query in series_queries(number, ask)]
    calls = list(metric_calls(queries, datapoints_a_call=worth))
    assert sorted(map(id, queries)) == sorted(id(query) for call in calls for query in call.queries)
    for call in calls:
        text = call.filter_in("shop-prod")
        assert text.count("metric.type") == 1
        assert f'metric.type = "{call.metric.name}" AND' in text
        assert all(listed.count(",") < NAMES_A_CALL for listed in re.findall(r"one_of\(([^)]*)\)", text))
        for query in call.queries:
            assert (query.series, query.period_s) == (call.series, call.period_s)
            assert f'"{query.claim.device}"' in text
            assert f'"{query.claim.instance_id or query.claim.zones[0]}"' in text
            assert call.window.start_s <= query.window.start_s < query.window.end_s <= call.window.end_s
            assert (call.window.end_s - query.window.end_s) % call.period_s == 0
            assert (call.window.end_s - call.window.start_s) % call.period_s == 0


def test_a_filter_names_its_project_because_a_scope_may_show_several():
    (call, *_) = metric_calls(
        series_queries(0, Ask(volume=a_disk(a_place()), look=a_look(0, 3600, 60))), datapoints_a_call=0
    )
    assert call.filter_in("shop-prod") == (
        'metric.type = "compute.googleapis.com/instance/disk/read_ops_count" AND resource.type = "gce_instance" AND '
        'resource.labels.project_id = "shop-prod" AND metric.labels.device_name = one_of("disk-a") AND '
        'resource.labels.zone = one_of("us-central1-a")'
    )
