"""The console's link: a graph by the PERIOD expressions of the domain."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from plimsoll.clouds.aws.consoles import object_link
from plimsoll.clouds.aws.graph_link import iops_expression, throughput_expression, volume_link
from plimsoll.reading.window import Window
from tests.unit.reports.recommendations import a_record

DAY = Window(start_s=1_700_000_040, end_s=1_700_086_440)


def graph_of(link):
    return json.loads(unquote(link.split("graph=", 1)[1]))


@pytest.mark.parametrize("period_s", [60, 300, 3600])
def test_the_link_decodes_to_the_period_expressions_over_the_four_sums(period_s):
    graph = graph_of(volume_link(a_record(region="eu-west-1", volume_id="vol-7"), DAY, period_s))
    shown = [one[0] for one in graph["metrics"] if isinstance(one[0], dict)]
    hidden = {one[-1]["id"]: one for one in graph["metrics"] if not isinstance(one[0], dict)}
    ids = {one[1]: name for name, one in hidden.items()}
    assert set(ids) == {"VolumeReadOps", "VolumeWriteOps", "VolumeReadBytes", "VolumeWriteBytes"}
    assert [one["expression"] for one in shown] == [
        iops_expression(ids["VolumeReadOps"], ids["VolumeWriteOps"], period_s=period_s),
        throughput_expression(ids["VolumeReadBytes"], ids["VolumeWriteBytes"], period_s=period_s),
    ]
    for one in hidden.values():
        assert one[:1] + one[2:4] == ["AWS/EBS", "VolumeId", "vol-7"]
        assert one[-1]["visible"] is False
    assert (graph["period"], graph["stat"], graph["region"]) == (period_s, "Sum", "eu-west-1")
    assert (graph["start"], graph["end"]) == ("2023-11-14T22:14:00+00:00", "2023-11-15T22:14:00+00:00")


def test_the_link_goes_to_the_volumes_region_and_holds_nothing_unquoted():
    link = volume_link(a_record(region="eu-west-1", volume_id='vol-"<x> &'), DAY, 60)
    assert urlsplit(link).netloc == "eu-west-1.console.aws.amazon.com"
    assert not set('"<> ') & set(link)
    assert graph_of(link)["title"] == 'Demand of vol-"<x> &'


@pytest.mark.parametrize(
    ("region", "console"),
    [("cn-north-1", "console.amazonaws.cn"), ("us-gov-west-1", "console.amazonaws-us-gov.com")],
)
def test_the_link_goes_to_the_console_of_the_regions_partition(region, console):
    link = volume_link(a_record(region=region), DAY, 60)
    assert urlsplit(link).netloc == f"{region}.{console}"


def test_a_file_s_page_is_in_the_console_of_its_region_and_partition():
    key = "reports/a run+1/report.html"
    link = urlsplit(object_link("eu-west-1", "plimsoll-main-1", key))
    assert (link.scheme, link.netloc, link.path) == (
        "https",
        "eu-west-1.console.aws.amazon.com",
        "/s3/object/plimsoll-main-1",
    )
    assert parse_qs(link.query) == {"region": ["eu-west-1"], "prefix": [key]}
    assert "cn-north-1.console.amazonaws.cn" in object_link("cn-north-1", "b", key, partition="aws-cn")
    assert object_link("us-iso-east-1", "b", key, partition="aws-iso") is None
