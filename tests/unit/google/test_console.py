"""The console's links: a chart of the peaks by second, and the disk's own page."""

import json
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from plimsoll.reading.window import Window
from plimsoll_google.catalog import disk_link

MOST_IN_SLACK = 3000
"""What the address of a link may have in Slack (docs.slack.dev, November 2026)."""
DAY = Window(start_s=1_700_000_040, end_s=1_700_086_440)


def console_link(project, zone, name, window, period_s=60, hosts=()):
    volume = SimpleNamespace(account=project, zone=zone, name=name, volume_id="4263976033879601115", hosts=hosts)
    return disk_link(volume, window, period_s)


def state_of(link):
    return json.loads(parse_qs(urlsplit(link).query)["pageState"][0])


def filters_of(link):
    return [shown["timeSeriesFilter"]["filter"] for shown in state_of(link)["xyChart"]["dataSets"]]


@pytest.mark.parametrize("period_s", [60, 300, 3600])
def test_the_link_decodes_to_the_four_peaks_that_no_aligner_invents(period_s):
    link = console_link("shop-prod", "us-central1-a", "data", DAY, period_s)
    shown = state_of(link)["xyChart"]["dataSets"]
    assert [one["timeSeriesFilter"]["filter"].split('"')[1].rpartition("/")[2] for one in shown] == [
        "max_read_ops_count",
        "max_write_ops_count",
        "max_read_bytes_count",
        "max_write_bytes_count",
    ]
    assert [one["targetAxis"] for one in shown] == ["Y1", "Y1", "Y2", "Y2"]
    for one in shown:
        (aggregation,) = one["timeSeriesFilter"]["aggregations"]
        assert (aggregation["perSeriesAligner"], aggregation["alignmentPeriod"]) == ("ALIGN_MAX", f"{period_s}s")
    assert state_of(link)["timeSelection"] == {
        "timeRange": "custom",
        "start": "2023-11-14T22:14:00.000Z",
        "end": "2023-11-15T22:14:00.000Z",
    }


def test_a_detached_disk_is_looked_for_by_its_name_in_its_zones():
    for text in filters_of(console_link("shop-prod", "us-central1-a", "data", DAY)):
        assert 'metric.label."device_name"="data"' in text
        assert 'resource.label."zone"="us-central1-a"' in text
    for text in filters_of(console_link("shop-prod", "us-central1-a+us-central1-b", "data", DAY)):
        assert 'resource.label."zone"=one_of("us-central1-a","us-central1-b")' in text


def test_an_attached_disk_is_looked_for_on_its_instances_whatever_its_device_is_called():
    for text in filters_of(console_link("shop-prod", "us-central1-a", "data", DAY, hosts=["11", "12"])):
        assert 'resource.label."instance_id"=one_of("11","12")' in text
        assert "device_name" not in text


def test_the_link_is_short_enough_for_a_message():
    zones = "northamerica-northeast1-a+northamerica-northeast1-b"
    link = console_link("shop-production-123456", zones, "data", DAY, hosts=["1234567890123456789"] * 2)
    assert len(link) <= MOST_IN_SLACK


def test_the_link_goes_to_the_project_and_holds_nothing_unquoted():
    link = console_link("example.com:shop", "us-central1-a", 'data-"<x> &', DAY)
    assert urlsplit(link).netloc == "console.cloud.google.com"
    assert parse_qs(urlsplit(link).query)["project"] == ["example.com:shop"]
    assert not set('"<> ') & set(link)
    assert all(r'="data-\"<x> &"' in text for text in filters_of(link))
