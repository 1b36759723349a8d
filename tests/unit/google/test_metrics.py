"""ListTimeSeries: whatever is kept and however handed out, each look finds what brute force over raw points does."""

import grpc
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.clouds.common.calls import Pacer
from plimsoll.model.errors import AccessDenied, ApiDisabled, CloudError, Throttled, Unexpected, Unreachable
from plimsoll.model.series import BYTES, IDLE, OPERATIONS, PEAKS
from plimsoll.ports import Target
from plimsoll.reading.known import Ask, Look
from plimsoll.reading.window import Window
from plimsoll_google.clients import Clients
from plimsoll_google.metrics import GoogleMetrics
from plimsoll_google.queries import METRIC_PREFIX, SERIES_METRICS
from tests.builders import a_tariff
from tests.profiles import examples
from tests.unit.google.disks import a_disk, a_place
from tests.unit.google.monitoring import Monitoring, Raw, serving

HERE = Target(account="shop-prod", region="us-central1", provider="google")
START_S = 1_700_006_400
HOUR_S = 3600
HOURS = 3


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
def monitoring(served):
    """The same server, empty and in its best mood."""
    refresh(served)
    return served


def refresh(served, **fields):
    for name, value in vars(Monitoring(port=served.port)).items():
        setattr(served, name, fields.get(name, value))


@pytest.fixture
def metrics(clients, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    return made(clients)


def made(clients, **fields):
    given = {"calls": Pacer(1e9), "parallel": 4, "query_cost": a_tariff(), "attached": lambda *_place: (), **fields}
    return GoogleMetrics(clients=clients, **given)


def a_look(period_s=60, *, groups=(OPERATIONS, BYTES, PEAKS), start_s=0, end_s=HOUR_S):
    window = Window(start_s=START_S + start_s, end_s=START_S + end_s)
    return Look(window=window, period_s=period_s, groups=groups)


def raw(metric="read_ops_count", machine="71", device="disk-a", points=None, **fields):
    """A series with a point for each minute given, by its number from the start of the first look."""
    given = {0: 60.0} if points is None else points
    return Raw(
        metric, machine, device, {START_S + 60 * (minute + 1): value for minute, value in given.items()}, **fields
    )


def read(metrics, *disks, look=None):
    return metrics.received([Ask(volume=disk, look=look or a_look(groups=(OPERATIONS,))) for disk in disks])


def minutes_of(series):
    return {int(at): float(series[at]) for at in np.flatnonzero(~np.isnan(series))}


# Where a point belongs


def test_a_point_covers_the_minute_that_ended_with_it(monitoring, metrics):
    """The point at the start of the window is of the minute before it; the one at the end of it is its last."""
    monitoring.kept = [raw(points={-1: 1, 0: 2, 59: 3, 60: 4})]
    (found,) = read(metrics, a_disk(a_place()))
    assert minutes_of(found["read_ops"]) == {0: 2, 59: 3}


@pytest.mark.parametrize("period_s", [60, 120, 300, 1200, HOUR_S])
def test_a_longer_bucket_is_what_its_minutes_are_together(monitoring, metrics, period_s):
    counts = {minute: float(minute**2) for minute in range(0, 60, 7)}
    monitoring.kept = [raw(points=counts), raw("max_read_ops_count", points=counts)]
    (found,) = read(metrics, a_disk(a_place()), look=a_look(period_s))
    minutes = np.full(60, np.nan)
    minutes[list(counts)] = list(counts.values())
    buckets = minutes.reshape(-1, period_s // 60)
    absent = np.isnan(buckets).all(axis=1)
    np.testing.assert_array_equal(found["read_ops"], np.where(absent, np.nan, np.nansum(buckets, axis=1)))
    np.testing.assert_array_equal(found["peak_read_ops"], np.where(absent, np.nan, np.fmax.reduce(buckets, axis=1)))
    assert np.isnan(found["write_ops"]).all()


def test_what_is_not_published_is_not_found(metrics):
    (found,) = read(metrics, a_disk(a_place()), look=a_look(groups=(IDLE,)))
    assert found == {}


def test_values_may_be_whole_numbers_or_not(monitoring, metrics):
    monitoring.kept, monitoring.doubles = [raw(points={0: 2.5})], True
    (found,) = read(metrics, a_disk(a_place()))
    assert minutes_of(found["read_ops"]) == {0: 2.5}


# Whose a series is


def test_a_device_name_that_was_another_disks_is_this_ones_since_it_was_attached(monitoring, metrics):
    """Also in a bucket that holds the attachment: nothing of the other disk is counted."""
    monitoring.kept = [raw(device="data", points=dict.fromkeys(range(120), 1.0))]
    disk = a_disk(a_place(device="data", since_s=START_S + 60 * 89 + 1))
    (found,) = read(metrics, disk, look=a_look(HOUR_S, end_s=2 * HOUR_S))
    np.testing.assert_array_equal(found["read_ops"], [np.nan, 30])
    (found,) = read(metrics, disk, look=a_look(end_s=2 * HOUR_S))
    assert sorted(minutes_of(found["read_ops"])) == list(range(90, 120))


def test_a_claim_that_moves_between_nodes_keeps_its_past_and_the_highest_of_its_peaks(monitoring, metrics):
    monitoring.kept = [
        raw(machine="71", points={0: 5, 1: 7}),
        raw(machine="99", points={1: 4, 2: 6}),
        raw("max_read_ops_count", machine="71", points={1: 70}),
        raw("max_read_ops_count", machine="99", points={1: 40}),
    ]
    disk = a_disk(a_place("71", "disk-a", since_s=START_S + 9000))
    (found,) = read(metrics, disk, look=a_look(groups=(OPERATIONS, PEAKS)))
    assert minutes_of(found["read_ops"]) == {0: 5, 1: 11, 2: 6}
    assert minutes_of(found["peak_read_ops"]) == {1: 70}
    (text,) = metrics.remarks(HERE)
    assert "instances that are deleted" in text
    assert metrics.remarks(Target(account="shop-prod", region="us-east1", provider="google")) == ()


def test_a_disk_attached_to_nothing_is_found_under_its_name(monitoring, metrics):
    monitoring.kept = [raw(machine="98")]
    (found,) = read(metrics, a_disk())
    assert minutes_of(found["read_ops"]) == {0: 60}


def test_a_name_in_another_zone_or_project_or_before_the_disk_was_made_is_not_the_disks(monitoring, metrics):
    monitoring.kept = [raw(zone="us-central1-b"), raw(project="shop-test"), raw(machine="72", points={5: 1, 40: 2})]
    (found,) = read(metrics, a_disk(a_place(), made_s=START_S + 60 * 30 + 1))
    assert minutes_of(found["read_ops"]) == {40: 2}


def test_a_name_that_is_another_disks_device_now_is_that_ones_though_it_is_not_read_here(monitoring, clients):
    monitoring.kept = [raw(points={0: 5}), raw(machine="72", points={0: 900})]
    disk = a_disk(a_place())
    (found,) = read(made(clients, attached=lambda *_place: {("72", "disk-a")}), disk)
    assert minutes_of(found["read_ops"]) == {0: 5}


def test_where_it_cannot_be_told_who_holds_a_name_the_disk_is_not_read(monitoring, clients):
    def refused(project, place):
        raise AccessDenied(f"cannot read {place}: {project} says no.")

    monitoring.kept = [raw(points={0: 5}), raw(machine="72", points={0: 900})]
    (found,) = read(made(clients, attached=refused), a_disk(a_place()))
    assert isinstance(found, AccessDenied)


def test_a_name_that_is_another_disks_device_is_that_disks(monitoring, metrics):
    monitoring.kept = [raw(machine="71", points={0: 1}), raw(machine="72", points={0: 10})]
    mine, other = a_disk(a_place("71", "disk-a")), a_disk(a_place("72", "disk-a"), name="disk-b", id="502")
    found = read(metrics, mine, other)
    assert [minutes_of(one["read_ops"]) for one in found] == [{0: 1}, {0: 10}]


def test_work_on_several_instances_is_added_up_and_peaks_minute_by_minute(monitoring, metrics):
    """Each bucket's own highest would make 90 + 80 of minutes that were never together."""
    monitoring.kept = [
        *(raw(machine=machine, device="data", points={0: 5, 1: 5}) for machine in ("71", "72")),
        raw("max_read_ops_count", "71", "data", {0: 90, 1: 10}),
        raw("max_read_ops_count", "72", "data", {0: 20, 1: 80}),
    ]
    shared = a_disk(a_place("71", "data"), a_place("72", "data"))
    (found,) = read(metrics, shared, look=a_look(HOUR_S, groups=(OPERATIONS, PEAKS)))
    assert (minutes_of(found["read_ops"]), minutes_of(found["peak_read_ops"])) == ({0: 20}, {0: 110})


def test_a_disk_and_its_replica_zones_are_one(monitoring, metrics):
    monitoring.kept = [raw(zone="us-central1-f", points={3: 4}), raw(machine="72", points={4: 5})]
    (found,) = read(metrics, a_disk(a_place(), zone="us-central1-a+us-central1-f"))
    assert minutes_of(found["read_ops"]) == {3: 4, 4: 5}


# How it is asked and what it costs


def test_hundreds_of_disks_are_read_in_a_few_calls(monitoring, metrics):
    monitoring.kept = [raw(device=f"d-{n}", points={n % 60: float(n)}) for n in range(300)]
    disks = [a_disk(a_place(device=f"d-{n}"), name=f"d-{n}", id=str(n)) for n in range(300)]
    found = read(metrics, *disks)
    assert [minutes_of(one["read_ops"]) for one in found] == [{n % 60: n} for n in range(300)]
    assert (metrics.usage.calls, metrics.usage.metrics, metrics.usage.datapoints) == (6, 300, 300)


def test_looks_that_share_a_call_find_what_is_theirs(monitoring, clients):
    """The minute at which one hour ends and the next begins is of the one that ends."""
    metrics = made(clients, query_cost=a_tariff(calls_per_s=1, datapoints_per_s=1e9))
    monitoring.kept = [raw(points={minute: float(minute) for minute in range(180)})]
    looks = [a_look(groups=(OPERATIONS,), start_s=hour * HOUR_S, end_s=(hour + 1) * HOUR_S) for hour in range(3)]
    found = metrics.received([Ask(volume=a_disk(a_place()), look=look) for look in looks])
    assert metrics.usage.calls == 2
    for hour, one in enumerate(found):
        np.testing.assert_array_equal(one["read_ops"], np.arange(60.0) + 60 * hour)


def test_default_device_names_are_read_in_a_few_calls_too(monitoring, metrics):
    monitoring.kept = [raw(machine=str(n), device="persistent-disk-0", points={0: float(n)}) for n in range(250)]
    disks = [a_disk(a_place(str(n), "persistent-disk-0"), id=str(n)) for n in range(250)]
    found = read(metrics, *disks)
    assert [minutes_of(one["read_ops"]) for one in found] == [{0: n} for n in range(250)]
    assert metrics.usage.calls == 6


def test_calls_keep_to_the_pace(monitoring, clients):
    waits = []
    pacer = Pacer(1.0, burst_s=0.0, clock=lambda: 0.0, sleep=waits.append)
    monitoring.kept, monitoring.page = [raw(points=dict.fromkeys(range(10), 1))], 5
    read(made(clients, calls=pacer, parallel=1), a_disk(a_place()))
    assert waits == [1, 2, 3]


def test_a_disk_has_eight_series_at_each_place(metrics):
    assert metrics.series(a_disk(a_place())) == 8
    assert metrics.series(a_disk(a_place("71", "data"), a_place("72", "data"))) == 16


# What can go wrong


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, None, AccessDenied),
        (grpc.StatusCode.PERMISSION_DENIED, "SERVICE_DISABLED", ApiDisabled),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMIT_EXCEEDED", Throttled),
        (grpc.StatusCode.UNAVAILABLE, None, Unreachable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, None, Unreachable),
        (grpc.StatusCode.INVALID_ARGUMENT, None, Unexpected),
        (grpc.StatusCode.NOT_FOUND, None, CloudError),
    ],
)
def test_a_refusal_is_said_with_its_place_and_costs_its_disks_alone(monitoring, metrics, code, reason, kind):
    monitoring.refusals = [(code, reason, "no")] * 20
    failed = read(metrics, a_disk(a_place()), a_disk(a_place("72", "data"), id="502"))
    assert {type(one) for one in failed} == {kind}
    assert "cannot read metrics in shop-prod/us-central1: " in str(failed[0])
    monitoring.refusals = []
    assert isinstance(read(metrics, a_disk(a_place()))[0], dict)


def test_a_metric_that_nothing_has_ever_written_has_no_points(monitoring, metrics):
    told = 'Cannot find metric(s) that match type = "compute.googleapis.com/instance/disk/max_read_ops_count".'
    monitoring.refusals = [(grpc.StatusCode.NOT_FOUND, None, told)] * 2
    (found,) = read(metrics, a_disk(a_place()))
    assert np.isnan(found["read_ops"]).all()


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_what_passes_is_asked_again_and_counted(monitoring, clients, monkeypatch, code):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    monitoring.kept, monitoring.refusals = [raw()], [(code, None, "no")] * 2
    metrics = made(clients, parallel=1)
    (found,) = read(metrics, a_disk(a_place()))
    assert minutes_of(found["read_ops"]) == {0: 60}
    assert metrics.usage.calls == 4


def test_an_answer_that_lacks_something_is_asked_again_and_counted_once(monitoring, metrics):
    monitoring.kept, monitoring.lacking = [raw()], [grpc.StatusCode.UNAVAILABLE.value[0]] * 2
    (found,) = read(metrics, a_disk(a_place()))
    assert minutes_of(found["read_ops"]) == {0: 60}


def test_an_answer_that_always_lacks_something_fails_its_disks(monitoring, metrics):
    monitoring.kept, monitoring.lacking = [raw()], [grpc.StatusCode.UNAVAILABLE.value[0]] * 20
    (failed,) = read(metrics, a_disk(a_place()))
    assert isinstance(failed, Unreachable)
    assert "a shard did not answer" in str(failed)


def test_a_page_that_comes_again_and_again_is_an_error(monitoring, metrics):
    monitoring.kept = [raw(points=dict.fromkeys(range(60), 1))]
    monitoring.page, monitoring.stuck = 10, True
    (failed,) = read(metrics, a_disk(a_place()))
    assert isinstance(failed, Unexpected)


def test_reading_nothing_asks_nothing(monitoring, metrics):
    assert metrics.read([]) == []
    assert monitoring.requests == []


# All of it against brute force


@st.composite
def projects(draw):
    """Disks under their own names, under others, on several instances or none; and series of all of these and more."""
    disks, seats = [], set()
    for number in range(draw(st.integers(1, 4))):
        name = f"disk-{number}"
        places = []
        for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
            machine = draw(st.sampled_from(["71", "72", "73"]))
            device = draw(st.sampled_from([name, name, "data", "disk-0"]))
            if (machine, device) not in seats:
                seats.add((machine, device))
                places.append(a_place(machine, device, since_s=START_S + draw(st.integers(-HOUR_S, HOURS * HOUR_S))))
        made_s = START_S + draw(st.sampled_from([-90_000, draw(st.integers(-600, HOURS * HOUR_S))]))
        zone = draw(st.sampled_from(["us-central1-a", "us-central1-a", "us-central1-b", "us-central1-a+us-central1-b"]))
        disks.append(a_disk(*places, name=name, id=str(number), made_s=made_s, zone=zone))
    return disks, series_of(np.random.default_rng(draw(st.integers(0, 2**32))))


def series_of(random):
    """Half of the series that there can be, each with points in half of the minutes or with gaps of hours."""
    kept = []
    for machine in ("71", "72", "73", "99"):
        for device in ("disk-0", "disk-1", "data"):
            for metric in ("read_ops_count", "max_read_ops_count"):
                if random.random() < 0.5:
                    present = random.random(60 * HOURS + 4) < random.choice([0.01, 0.5, 1.0])
                    points = {int(at) - 2: int(random.integers(0, 2**21)) for at in np.flatnonzero(present)}
                    zone = f"us-central1-{random.choice(['a', 'b'])}"
                    kept.append(raw(metric, machine, device, points, zone=zone))
    return kept


LOOKS = st.lists(
    st.builds(
        lambda period_s, start, length, group: a_look(
            period_s, groups=(group,), start_s=start * HOUR_S, end_s=min(start + length, HOURS) * HOUR_S
        ),
        st.sampled_from([60, 300, HOUR_S]),
        st.integers(0, HOURS - 1),
        st.integers(1, HOURS),
        st.sampled_from([OPERATIONS, PEAKS]),
    ),
    min_size=1,
    max_size=3,
)


def brute_force(disk, look, series, kept, taken):
    """Minute by minute: of every kept point, whether it is the disk's; then bucket by bucket."""
    peak, several = series.startswith("peak_"), len(disk.attachments) > 1
    metric = SERIES_METRICS[series].name.removeprefix(METRIC_PREFIX)
    kept = [one for one in kept if one.metric == metric]
    named = not disk.attachments or any(place.device == disk.name for place in disk.attachments)
    found = np.full(look.window.buckets(look.period_s), np.nan)
    for bucket in range(len(found)):
        begins_s = look.window.start_s + bucket * look.period_s
        totals = []
        for minute_s in range(begins_s, begins_s + look.period_s, 60):
            values = []
            for one in kept:
                value = one.points.get(minute_s + 60)
                if value is None:
                    continue
                seat = (one.instance_id, one.device)
                is_here = any(
                    seat == (place.host.id, place.device) and minute_s >= place.since.timestamp()
                    for place in disk.attachments
                    if not (named and place.device == disk.name)
                )
                by_name = (
                    named
                    and one.device == disk.name
                    and one.zone in disk.zone.split("+")
                    and minute_s >= disk.created.timestamp()
                    and taken.get(seat, disk.id) == disk.id
                )
                if is_here or by_name:
                    values.append(value)
            if values:
                totals.append(max(values) if peak and not several else sum(values))
        if totals:
            found[bucket] = max(totals) if peak else sum(totals)
    return found


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    project=projects(),
    looks=LOOKS,
    page=st.sampled_from([11, 97, 100_000]),
    worth=st.sampled_from([1.0, 792.0, 1e9]),
    doubles=st.booleans(),
)
def test_every_look_finds_what_brute_force_does(served, clients, project, looks, page, worth, doubles):
    disks, kept = project
    refresh(served, kept=kept, page=page, doubles=doubles)
    metrics = made(clients, query_cost=a_tariff(calls_per_s=1, datapoints_per_s=worth))
    asks = [Ask(volume=disk, look=look) for disk in disks for look in looks]
    taken = {(place.host.id, place.device): disk.id for disk in disks for place in disk.attachments}
    for ask, found in zip(asks, metrics.received(asks), strict=True):
        assert not isinstance(found, CloudError), found
        assert set(found) == set(ask.look.series)
        for series, values in found.items():
            expected = brute_force(ask.volume, ask.look, series, kept, taken)
            np.testing.assert_array_equal(values, expected, err_msg=f"{series} of {ask.volume.name}")
