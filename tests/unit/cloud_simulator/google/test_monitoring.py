"""Simulated Cloud Monitoring tells Google's client exactly what the disks did, however it is asked."""

from datetime import timedelta

import numpy as np
import pytest
from google.api import metric_pb2
from google.api_core.exceptions import InvalidArgument, NotFound

from cloud_simulator.google.fleet import SERIES_FOLDS, disk_truth
from cloud_simulator.google.monitoring import LAG_S, POINTS_KEPT_DAYS, points, series
from cloud_simulator.google.time_series_request import DISK_METRICS
from plimsoll.model.units import DAY_S
from plimsoll.reading.window import Window

from .served import END, MAX, NOW, SHOP, SUM, asking, figures, folded, named

END_S = int(END.timestamp())


def window(hours: float, end_s: int = END_S) -> Window:
    return Window(start_s=end_s - int(hours * 3600), end_s=end_s)


@pytest.mark.parametrize("metric", [metric.rpartition("/")[2] for metric in DISK_METRICS])
@pytest.mark.parametrize(("hours", "period_s"), [(1, 60), (8, 300), (72, 3600), (7, 25_200)])
def test_every_series_at_any_period_is_the_truth_folded(fleet, clients, metric, hours, period_s):
    name = DISK_METRICS[f"compute.googleapis.com/instance/disk/{metric}"]
    how = SERIES_FOLDS[name]
    request = asking(metric, hours=hours, period_s=period_s, aligner=SUM if how == "Sum" else MAX)
    found = figures(clients, request)
    compared = 0
    for disk in fleet.disks(SHOP):
        if len(disk.known_attachments) == 1 and disk.name != "legacy-data":
            attachment = disk.known_attachments[0]
            minutes = getattr(disk_truth(disk, window(hours)), name)
            expected = folded(minutes, END_S - hours * 3600, period_s, how)
            assert found.get((attachment.vm.id, attachment.device), {}) == expected, disk.name
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("size", [7, 25, 1000])
def test_pages_of_any_size_are_the_same(clients, size):
    only = 'resource.labels.zone = one_of("us-central1-a","us-central1-b")'
    whole = figures(clients, asking("read_ops_count", hours=6, only=only))
    assert figures(clients, asking("read_ops_count", hours=6, only=only, page_size=size)) == whole
    assert len(whole) > 10


def test_buckets_are_counted_back_from_the_end_and_the_oldest_has_what_is_asked_of_it(clients, fleet):
    disk = named(fleet.disks(SHOP), "shop-db-a")
    only = 'metric.labels.device_name = one_of("shop-db-a","nothing")'
    end = END - timedelta(minutes=7)
    ((_, found),) = figures(clients, asking("read_ops_count", hours=2.5, end=end, only=only)).items()
    end_s = END_S - 420
    minutes = disk_truth(disk, window(2.5, end_s)).read_ops
    assert found == {
        end_s: minutes[90:].sum(),
        end_s - 3600: minutes[30:90].sum(),
        end_s - 7200: minutes[:30].sum(),
    }


def test_a_bucket_of_a_gap_has_no_point(clients, fleet):
    patchy = named(fleet.volumes, "patchy")
    only = 'metric.labels.device_name = "patchy"'
    asked = asking("read_ops_count", hours=24 * 7, only=only, project=patchy.project)
    ((_, found),) = figures(clients, asked).items()
    assert 24 * 7 - len(found) in {12, 18}, "six hours of every third day"


def test_points_appear_after_four_minutes_and_are_kept_for_six_weeks(clients):
    only = 'metric.labels.device_name = "shop-db-a"'
    ((_, recent),) = figures(
        clients, asking("read_ops_count", hours=1, period_s=60, end=NOW.replace(second=0), only=only)
    ).items()
    assert max(recent) == NOW.timestamp() - LAG_S
    old = asking("read_ops_count", hours=24 * 50, period_s=DAY_S, only=only)
    ((_, kept),) = figures(clients, old).items()
    assert NOW.timestamp() - POINTS_KEPT_DAYS * DAY_S < min(kept) <= NOW.timestamp() - (POINTS_KEPT_DAYS - 1) * DAY_S


def test_a_claim_that_moved_is_two_series_that_add_up(clients, fleet):
    disk = named(fleet.disks(SHOP), "pvc-7be20d41")
    asked = asking("read_ops_count", hours=24 * 7, only=f'metric.labels.device_name = "{disk.name}"')
    found = figures(clients, asked)
    assert {instance for instance, _ in found} == {attachment.vm.id for attachment in disk.attachments}
    minutes = disk_truth(disk, window(24 * 7)).read_ops
    assert sum(sum(one.values()) for one in found.values()) == np.nansum(minutes)
    assert np.isnan(minutes).sum() == 4, "between the nodes: from 10:07 until the first whole minute after 10:10:20"


def test_a_device_name_that_was_another_disks_before_is_one_series_of_both(clients, fleet):
    disk, old = named(fleet.volumes, "legacy-data"), named(fleet.gone, "legacy-old")
    (attachment,) = disk.attachments
    only = f'resource.labels.instance_id = "{attachment.vm.id}" AND metric.labels.device_name = "persistent-disk-1"'
    asked = asking("write_ops_count", hours=24 * 8, only=only, project=disk.project)
    ((_, found),) = figures(clients, asked).items()
    straddling = int(attachment.since.replace(minute=0, second=0).timestamp()) + 3600
    assert found[straddling - 3600] > 3 * found[straddling + 3600], "the other one did more"
    own = disk_truth(disk, window(24 * 8)).write_ops
    assert np.isnan(own).sum() * 60 == -(-attachment.since.timestamp() // 60) * 60 - (END_S - 8 * DAY_S)
    assert old.attachments[0].vm == attachment.vm


def test_labels_say_the_instance_and_the_device_and_only_counts_its_name(clients, fleet):
    vm = named(fleet.disks(SHOP), "shop-db-a").attachments[0].vm
    only = 'metric.labels.device_name = "shop-db-a"'
    (count,) = clients.metrics.list_time_series(request=asking("read_ops_count", only=only))
    (peak,) = clients.metrics.list_time_series(request=asking("max_read_ops_count", only=only, aligner=MAX))
    assert dict(count.resource.labels) == {"project_id": SHOP, "zone": vm.zone, "instance_id": vm.id}
    labels = {"device_name": "shop-db-a", "storage_type": "pd-ssd", "device_type": "permanent"}
    assert dict(count.metric.labels) == {**labels, "instance_name": "shop-db"}
    assert dict(peak.metric.labels) == labels
    kinds = metric_pb2.MetricDescriptor
    assert (count.metric_kind, peak.metric_kind) == (kinds.DELTA, kinds.GAUGE)
    last, peak_of_it = count.points[0].interval, peak.points[0].interval
    assert last.end_time - last.start_time == timedelta(hours=1)
    assert peak_of_it.end_time == peak_of_it.start_time == last.end_time


@pytest.mark.parametrize(
    ("changed", "error", "why"),
    [
        ({"filter": 'metric.type = "a" OR metric.type = "b"'}, InvalidArgument, "joined by AND"),
        ({"filter": 'resource.type = "gce_instance"'}, InvalidArgument, "exactly one metric type"),
        ({"filter": 'metric.type = "x"'}, NotFound, "Cannot find metric"),
        ({"filter": asking("read_ops_count")["filter"] + " AND ("}, InvalidArgument, "joined by AND"),
        ({"filter": asking("read_ops_count")["filter"] + ' AND project > "a"'}, InvalidArgument, "joined by AND"),
        ({"filter": asking("read_ops_count")["filter"] + " AND "}, InvalidArgument, "joined by AND"),
        ({"interval": {"start_time": NOW, "end_time": END}}, InvalidArgument, "must not be later"),
        ({"interval": {"start_time": END}}, InvalidArgument, "end_time is required"),
        ({"aggregation": {"per_series_aligner": 1, "alignment_period": {"seconds": 60}}}, InvalidArgument, "invents"),
        ({"aggregation": {"per_series_aligner": SUM, "alignment_period": {"seconds": 30}}}, InvalidArgument, "minutes"),
        ({"aggregation": {"per_series_aligner": SUM}}, InvalidArgument, "alignment_period"),
        ({"aggregation": {}}, InvalidArgument, "invents nothing"),
        ({"page_token": "0123456789abcdef.1.0"}, InvalidArgument, "page_token"),
        ({"page_size": -1}, InvalidArgument, "page_size"),
        ({"order_by": "x"}, InvalidArgument, "newest first"),
        ({"view": 1}, InvalidArgument, "full series"),
        ({"name": "folders/1"}, InvalidArgument, "projects/"),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_why(clients, changed, error, why):
    with pytest.raises(error, match=why):
        list(clients.metrics.list_time_series(request={**asking("read_ops_count"), **changed}))


def test_points_written_at_once_are_those_of_the_messages():
    from google.cloud.monitoring_v3 import ListTimeSeriesResponse, TimeSeries  # noqa: PLC0415  # as the client reads

    values = np.array([0, 1, 127, 128, 2**31, 2**55 - 1, 2**56 - 1])
    ends_s = np.arange(len(values)) * 60 + END_S
    header = type(TimeSeries.pb(TimeSeries()))(unit="By")
    response = ListTimeSeriesResponse.deserialize(series(header, points(ends_s - 60, ends_s, values)))
    (one,) = response.time_series
    assert [point.value.int64_value for point in one.points] == values.tolist()
    assert [int(point.interval.end_time.timestamp()) for point in one.points] == ends_s.tolist()
    assert {point.interval.end_time - point.interval.start_time for point in one.points} == {timedelta(minutes=1)}
