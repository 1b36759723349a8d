"""The law for time series: whatever is wrong with an answer, a disk's figures are as they were, or it is an error."""

import grpc
import numpy as np
import pytest

from plimsoll.clouds.common.calls import Pacer
from plimsoll.model.errors import BadAnswer, CloudError, Endless
from plimsoll.model.series import BYTES, OPERATIONS, PEAKS
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from plimsoll_google.agreement import disagreements
from plimsoll_google.clients import Clients
from plimsoll_google.metrics import GoogleMetrics
from tests.builders import a_tariff
from tests.unit.google.disks import a_disk, a_place
from tests.unit.google.monitoring import Monitoring, Raw, serving

START_S = 1_700_006_400
MINUTES = 30
BUSY = range(5, 20)


def raws(machine="71", device="disk-a"):
    """The eight series of a disk that is busy for a quarter of an hour and idle before and after."""
    for way in ("read", "write"):
        for unit, size in (("ops", 1), ("bytes", 4096)):
            for most, a_minute in (("", 600.0), ("max_", 40.0)):
                points = {START_S + 60 * (at + 1): size * a_minute * (at in BUSY) for at in range(MINUTES)}
                yield Raw(f"{most}{way}_{unit}_count", machine, device, points)


@pytest.fixture(scope="module")
def served():
    with serving(Monitoring()) as monitoring:
        yield monitoring


@pytest.fixture(scope="module")
def clients(served):
    found = Clients(url="http://127.0.0.1:9", monitoring=served.address, attempts=3)
    yield found
    found.close()


@pytest.fixture
def monitoring(served, monkeypatch):
    """Two disks' series, and no waits."""
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    kept = [*raws(), *raws("72", "disk-b")]
    for name, value in vars(Monitoring(port=served.port, kept=kept)).items():
        setattr(served, name, value)
    return served


def made(clients, **fields):
    given = {"calls": Pacer(1e9), "parallel": 2, "query_cost": a_tariff(), "attached": lambda *_place: ()}
    return GoogleMetrics(clients=clients, **{**given, **fields})


def read(clients, *, period_s=60, groups=(OPERATIONS, BYTES, PEAKS), **fields):
    """What is found of both disks."""
    look = Look(window=Window(start_s=START_S, end_s=START_S + 60 * MINUTES), period_s=period_s, groups=groups)
    disks = (a_disk(a_place()), a_disk(a_place("72", "disk-b"), name="disk-b", id="502"))
    return made(clients, **fields).read([Ask(volume=disk, look=look) for disk in disks])


def times(number, metric, change):
    """Changes the first answers for a metric."""
    left = iter(range(number))

    def spoil(request, answer):
        if f'{metric}"' in request.filter and next(left, None) is not None:
            change(answer)

    return spoil


def same(one, other):
    return not isinstance(one, CloudError) and all(
        np.array_equal(values, other[name], equal_nan=True) for name, values in one.items()
    )


def of_all(change):
    def on(answer):
        for series in answer.time_series:
            change(series)

    return on


def of_points(change):
    return of_all(lambda series: [change(point) for point in series.points])


def twice(series):
    series.points.add().CopyFrom(series.points[0])


def other_type(series):
    series.value_type = 4


def cut(series):
    del series.points[len(series.points) // 2 :]


def shifted(point):
    point.interval.end_time.seconds += 30


def away(point):
    point.interval.end_time.seconds += 864_000


def as_double(point):
    point.value.double_value = 5.0


CHANGES = {
    "no series": lambda answer: answer.ClearField("time_series"),
    "one series": lambda answer: answer.time_series.pop(),
    "no points": of_all(lambda series: series.ClearField("points")),
    "half of the points": of_all(cut),
    "a point twice": of_all(twice),
    "a series twice": lambda answer: answer.time_series.add().CopyFrom(answer.time_series[0]),
    "no value": of_points(lambda point: point.ClearField("value")),
    "another type of value": of_points(as_double),
    "negative": of_points(lambda point: setattr(point.value, "int64_value", -1)),
    "huge": of_points(lambda point: setattr(point.value, "int64_value", 2**62)),
    "zero": of_points(lambda point: setattr(point.value, "int64_value", 0)),
    "no times": of_points(lambda point: point.ClearField("interval")),
    "off the grid": of_points(shifted),
    "outside of the window": of_points(away),
    "texts": of_all(other_type),
    "no type": of_all(lambda series: series.ClearField("value_type")),
    "no kind": of_all(lambda series: series.ClearField("metric_kind")),
    "cumulative": of_all(lambda series: setattr(series, "metric_kind", 3)),
    "another unit": of_all(lambda series: setattr(series, "unit", "ms" if "bytes" in series.metric.type else "By")),
    "no metric": of_all(lambda series: series.ClearField("metric")),
    "no resource": of_all(lambda series: series.ClearField("resource")),
    "another metric": of_all(lambda series: setattr(series.metric, "type", "compute.googleapis.com/instance/uptime")),
    "another device": of_all(lambda series: series.metric.labels.update({"device_name": "disk-z"})),
    "another instance": of_all(lambda series: series.resource.labels.update({"instance_id": "99"})),
    "another project": of_all(lambda series: series.resource.labels.update({"project_id": "tenant"})),
    "no zone": of_all(lambda series: series.resource.labels.pop("zone")),
    "lacking": lambda answer: answer.execution_errors.add(code=14, message="a shard did not answer"),
    "lacking for an unknown reason": lambda answer: answer.execution_errors.add(code=99, message="what"),
}
METRICS = ["read_ops_count", "write_bytes_count", "max_write_ops_count"]


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_wrong_once_changes_nothing(monitoring, clients, kind):
    before = read(clients)
    assert not any(isinstance(one, CloudError) for one in before)
    for metric in METRICS:
        monitoring.spoil = times(1, f"/{metric}", CHANGES[kind])
        found = read(clients)
        said = kind == "lacking for an unknown reason" and any(isinstance(one, CloudError) for one in found)
        assert said or all(map(same, found, before)), (metric, found)


@pytest.mark.parametrize("period_s", [60, 1800])
@pytest.mark.parametrize("kind", CHANGES)
def test_what_stays_wrong_is_an_error_of_the_disks_that_it_is_of(monitoring, clients, kind, period_s):
    before = read(clients, period_s=period_s)
    for metric in METRICS:
        monitoring.spoil = times(1000, f"/{metric}", CHANGES[kind])
        found = read(clients, period_s=period_s)
        assert all(isinstance(one, CloudError) or same(one, right) for one, right in zip(found, before, strict=True))
        harmless = kind == "another instance"  # a disk under its own name has the work of all instances of its zone
        assert harmless or any(isinstance(one, CloudError) for one in found), metric


def test_the_error_of_a_disk_names_it_and_what_disagrees(monitoring, clients):
    monitoring.spoil = times(1000, "/write_ops_count", CHANGES["no series"])
    for name, error in zip(("disk-a", "disk-b"), read(clients), strict=True):
        assert isinstance(error, BadAnswer)
        assert f"the metrics of disk {name} in shop-prod/us-central1" in str(error)
        assert "write_ops has no point where others have" in str(error)


def test_a_token_that_is_missing_cuts_nothing_unsaid(monitoring, clients):
    before = read(clients)
    monitoring.page = 7
    assert all(map(same, read(clients), before))
    monitoring.spoil = times(1000, "/read_ops_count", lambda answer: answer.ClearField("next_page_token"))
    assert all(isinstance(one, BadAnswer) for one in read(clients))
    monitoring.spoil = times(1, "/read_ops_count", lambda answer: answer.ClearField("next_page_token"))
    assert all(map(same, read(clients), before))


@pytest.mark.parametrize("tokens", [["7"], ["7", "14", "7"]])
def test_a_token_seen_twice_ends_the_read(monitoring, clients, tokens):
    turns = iter(tokens * 100)
    monitoring.page = 7
    monitoring.spoil = times(1000, "/read_ops_count", lambda answer: setattr(answer, "next_page_token", next(turns)))
    assert all(isinstance(one, CloudError) for one in read(clients))


def test_a_read_that_takes_longer_than_its_deadline_ends(monitoring, clients):
    found = read(clients, read_deadline_s=1e-9)
    assert {type(one) for one in found} == {Endless}
    assert "PLIMSOLL_READ_DEADLINE_S" in str(found[0])


def test_a_run_makes_no_more_calls_than_it_may(monitoring, clients):
    found = read(clients, most_calls=3)
    assert {type(one) for one in found} == {Endless}
    assert "PLIMSOLL_METRIC_CALLS_A_RUN" in str(found[0])
    assert len(monitoring.requests) == 3


def test_a_disk_whose_instance_is_stopped_has_gaps_and_no_error(monitoring, clients):
    for raw in monitoring.kept:
        for at in range(10, 20):
            raw.points.pop(START_S + 60 * at)
    found = read(clients)
    assert all(np.isnan(one["read_ops"]).sum() == np.isnan(one["peak_write_bytes"]).sum() == 10 for one in found)


def test_one_refusal_is_enough_to_be_an_error_but_not_a_third_answer(monitoring, clients):
    before = read(clients)
    monitoring.refusals = [(grpc.StatusCode.INTERNAL, None, "no")]
    assert all(map(same, read(clients), before))


COUNTS = {"read_ops": 60.0, "write_ops": 0.0, "read_bytes": 61_440.0, "write_bytes": 0.0}
PEAKS_OF = {"peak_read_ops": 1.0, "peak_write_ops": 0.0, "peak_read_bytes": 1024.0, "peak_write_bytes": 0.0}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        (dict.fromkeys((*COUNTS, *PEAKS_OF), np.nan), []),
        ({"write_ops": np.nan}, ["write_ops has no point"]),
        ({"peak_read_ops": np.nan}, ["peak_read_ops has no point", "read_ops and peak_read_ops are not both work"]),
        ({"write_ops": 5.0}, ["write_ops and peak_write_ops are not", "write_ops and write_bytes are not both work"]),
        ({"peak_write_bytes": 5.0}, ["write_bytes and peak_write_bytes are not both work"]),
        ({"read_ops": 600.0}, ["peak_read_ops and read_ops contradict each other"]),
        ({"read_bytes": 0.0, "peak_read_bytes": 0.0}, ["read_ops and read_bytes are not both work"]),
    ],
)
def test_what_cannot_be_true_together_is_said(changed, said):
    found = {name: np.array([value]) for name, value in {**COUNTS, **PEAKS_OF, **changed}.items()}
    told = [str(one) for one in disagreements(found, {}, 60, added=False)]
    assert len(told) == len(said)
    assert all(text.startswith(begin) for text, begin in zip(told, said, strict=True))


def test_a_series_that_nobody_asked_for_is_not_missed():
    assert not list(disagreements({"read_ops": np.array([np.nan, 5.0])}, {}, 60, added=False))
    assert not list(disagreements({}, {}, 60, added=False))


def test_each_place_of_a_disk_has_all_series_or_none():
    """The sum of two instances has a point wherever one of them has."""
    found = {"read_ops": np.array([60.0]), "write_ops": np.array([60.0])}
    both = {("71", "data"): np.array([True]), ("72", "data"): np.array([True])}
    one = {("71", "data"): np.array([True])}
    assert not list(disagreements(found, {"read_ops": both, "write_ops": both}, 60, added=True))
    (told,) = disagreements(found, {"read_ops": both, "write_ops": one}, 60, added=True)
    assert told.series == ("write_ops",)


def test_pages_without_end_that_have_nothing_are_given_up(monitoring, clients):
    turns = iter(range(1000, 10**6))

    def spoil(_request, answer):
        answer.ClearField("time_series")
        answer.next_page_token = str(next(turns))

    monitoring.spoil = spoil
    assert all(isinstance(one, Endless) for one in read(clients))
    assert len(monitoring.requests) < 300


ONE_SERIES = ["no value", "negative", "huge", "off the grid", "outside of the window", "texts", "cumulative", "no kind"]


@pytest.mark.parametrize("kind", ONE_SERIES)
def test_one_bad_series_costs_its_disk_and_no_neighbor(monitoring, clients, kind):
    before = read(clients)
    for metric in METRICS:

        def spoil(answer):
            first = [one for one in answer.time_series if one.metric.labels["device_name"] == "disk-a"]
            rest = [one for one in answer.time_series if one not in first]
            changed = type(answer)(time_series=first)
            CHANGES[kind](changed)
            del answer.time_series[:]
            answer.time_series.extend([*changed.time_series, *rest])

        monitoring.spoil = times(1000, f"/{metric}", spoil)
        bad, good = read(clients)
        assert isinstance(bad, BadAnswer), metric
        assert same(good, before[1]), metric
