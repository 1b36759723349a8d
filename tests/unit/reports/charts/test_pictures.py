"""Pictures of volumes: gaps stay gaps, ceilings far above are told, and every volume there can be is drawn."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.reports.charts.demand import demand_picture
from plimsoll.reports.charts.pictures import SPANS, Picture, span_rows
from plimsoll.reports.charts.render import to_png, to_svg, vega_spec
from plimsoll.reports.charts.roofline import envelope_picture, roofline_picture
from plimsoll.reports.charts.theme import DARK, LIGHT, WIDTH_PX
from plimsoll.reports.record import DemandProfileRecord
from plimsoll.reports.run_reader import find_profile, read_records
from tests.profiles import examples
from tests.unit.reports.charts.profiles import (
    DEMO,
    a_ceiling,
    a_volume,
    ceilings,
    demand_of,
    limits,
    profiles,
)
from tests.unit.reports.charts.valid import check
from tests.unit.reports.recommendations import a_profile

pytestmark = pytest.mark.once

HOSTILE = '<script>alert("x")</script>&\x00\x1b'


def pictures(record, profile) -> list[Picture]:
    return [demand_picture(record, profile), roofline_picture(record, profile)]


def marks(svg: str, name: str) -> list[str]:
    """The outlines of the marks whose group's class ends in a name."""
    groups = re.findall(rf'<g class="[^"]*{name}"[^>]*>(.*?)</g>', svg, re.DOTALL)
    return [path for group in groups for path in re.findall(r'<path [^>]*d="([^"]+)"', group)]


def warnings_of(spec: dict, capfd: pytest.CaptureFixture[str]) -> str:
    vl_convert.vegalite_to_vega(spec, vl_version="6.4", show_warnings=True)
    return capfd.readouterr().err


def test_a_span_is_a_row_with_its_times_in_milliseconds():
    rows = span_rows(a_profile([10.0, None]))
    assert [row["end"] - row["start"] for row in rows] == [3_600_000, 3_600_000]
    assert rows[0]["end"] == rows[1]["start"]
    assert (rows[0]["iops"], rows[0]["peak_iops"], rows[1]["iops"], rows[1]["peak_iops"]) == (10.0, 20.0, None, None)
    assert span_rows(None) == []


def test_a_gap_is_a_gap_in_the_lines_and_not_zero():
    whole, gappy = a_profile([10.0, 20.0, 30.0]), a_profile([10.0, None, 30.0])
    drawn = [to_svg(vega_spec(demand_picture(a_volume(one), one), one, LIGHT)) for one in (whole, gappy)]
    for svg, parts in zip(drawn, (1, 2), strict=True):
        lines = marks(svg, "concat_0_layer_3_marks")
        assert [path.count("M") for path in lines] == [parts]


def test_ceilings_far_above_the_demand_are_told_and_not_drawn():
    profile = a_profile([100.0])
    found = ceilings(a_ceiling(390, 900), offered=a_ceiling(410, 6), hosts=a_ceiling(350, None))
    picture = demand_picture(a_volume(profile, ceilings=found), profile)
    drawn = {(row["kind"], row["side"], row["level"]) for row in picture.datasets["levels"]}
    assert drawn == {("now", "IOPS", 390), ("hosts", "IOPS", 350), ("offered", "MiB/s", 6)}
    assert picture.subtitle.endswith("Above the picture: offered 410 IOPS, now 900 MiB/s.")


def test_a_host_that_carries_more_is_no_line_of_the_demand():
    profile = a_profile([1000.0])
    found = ceilings(a_ceiling(3000, 125), hosts=a_ceiling(3500, 100))
    levels = demand_picture(a_volume(profile, ceilings=found), profile).datasets["levels"]
    assert {row["kind"] for row in levels if row["side"] == "IOPS"} == {"now"}


def test_a_host_that_carries_fewer_writes_is_a_line_that_says_so():
    profile = a_profile([4000.0])
    found = ceilings(a_ceiling(8000, 240), hosts=a_ceiling(15_000, 240, write_iops=5000.0))
    levels = demand_picture(a_volume(profile, ceilings=found), profile).datasets["levels"]
    labels = {row["label"] for row in levels if row["side"] == "IOPS"}
    assert labels == {"now 8,000 IOPS", "host 15,000 IOPS (5,000 of writes alone)"}
    assert to_svg(vega_spec(roofline_picture(a_volume(profile, ceilings=found), profile), profile, LIGHT))


def test_where_no_minute_was_read_the_line_is_not_called_one():
    profile = a_profile([10.0], shortest_s=3600)
    assert "highest hour read" in demand_picture(a_volume(profile), profile).subtitle
    mixed = a_profile([10.0, 20.0]).model_copy(update={"shortest_s": [60, 3600]})
    assert (
        "highest minute read. Wide steps were read coarsely because finer data could not change the result."
        in demand_picture(a_volume(mixed), mixed).subtitle
    )


@pytest.mark.parametrize(
    ("lengths_s", "told"),
    [([7200, 7200], "2 hours"), ([86_400, 7200], "2 to 24 hours"), ([1800, 7200], "30 minutes to 2 hours")],
)
def test_spans_of_several_lengths_are_told_from_the_shortest_to_the_longest(lengths_s, told):
    profile = a_profile([10.0, 20.0]).model_copy(update={"length_s": lengths_s})
    assert f"Shaded: average over {told}." in demand_picture(a_volume(profile), profile).subtitle


def test_a_span_tells_both_of_its_ends_with_their_dates():
    profile = a_profile([10.0])
    spec = json.dumps(vega_spec(demand_picture(a_volume(profile), profile), profile, LIGHT))
    assert spec.count("%a %d %b %H:%M") == 2 * len(("IOPS", "MiB/s"))


def test_what_is_carried_for_ever_is_a_line_of_its_own_where_it_is_in_sight():
    profile = a_profile([151.0], moved=[5.0])
    now = a_ceiling(3000, 10, sustained_iops=300, sustained_throughput_mib_s=9, io_kib=256)
    hosts = a_ceiling(4000, 400, sustained_iops=500, sustained_throughput_mib_s=400)
    picture = demand_picture(a_volume(profile, ceilings=ceilings(now, hosts=hosts)), profile)
    drawn = {row["label"]: (row["lasting"], row["below"]) for row in picture.datasets["levels"]}
    assert drawn == {
        "now sustained 300 IOPS": (True, False),
        "host sustained 500 IOPS": (True, False),
        "now 10 MiB/s": (False, False),
        "now sustained 9 MiB/s": (True, True),
    }
    assert picture.subtitle.endswith("Above the picture: now 3,000 IOPS.")


def test_a_limit_that_credits_do_not_lift_is_one_line():
    profile = a_profile([1000.0], moved=[240.0])
    io2 = a_ceiling(2000, 4000, sustained_throughput_mib_s=500, io_kib=256)
    picture = demand_picture(a_volume(profile, ceilings=ceilings(io2)), profile)
    assert [row["lasting"] for row in picture.datasets["levels"]] == [False]
    assert "for ever" not in picture.subtitle


def test_the_sign_of_what_was_measured_is_in_the_legend_where_there_is_such_a_mark(library):
    profile = a_profile([100.0])
    record = a_volume(profile)
    for envelope, times in ((library["gp3-4000-1000"], 1), (None, 0)):
        svg = to_svg(vega_spec(roofline_picture(record, profile, envelope), profile, LIGHT))
        assert svg.count(">measured</text>") == times
        assert svg.count(">busiest bucket</text>") == 1


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_specs_are_valid_and_name_the_pictures_datasets(theme, capfd):
    profile = a_profile([10.0, None, 0.0, 3000.0], throttled=[0.0, 0.0, 0.0, 12.0])
    record = a_volume(profile, ceilings=ceilings(offered=a_ceiling(4000, 250), hosts=a_ceiling(2000, 100)))
    for picture in pictures(record, profile):
        spec = vega_spec(picture, profile, theme)
        check(spec)
        named = set(re.findall(r'"data": \{"name": "(\w+)"\}', json.dumps(spec)))
        assert named == set(spec["datasets"]) == {SPANS, *picture.datasets}
        assert warnings_of(spec, capfd) == ""


@settings(max_examples=examples(10))
@given(profiles(), limits(), st.one_of(st.none(), limits()), limits())
def test_whatever_a_volume_asked_for_it_is_drawn(profile, now, offered, hosts):
    record = a_volume(profile, ceilings=ceilings(now, offered, hosts))
    for picture in pictures(record, profile):
        spec = vega_spec(picture, profile, LIGHT)
        json.dumps(spec, allow_nan=False)
        assert_drawn(to_svg(spec))


EMPTY = a_profile([None, None])
IDLE = a_profile([0.0])


@pytest.mark.parametrize("profile", [EMPTY, IDLE, a_profile([5.0])], ids=["nothing observed", "no work", "one span"])
@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("known", [True, False])
def test_a_volume_with_next_to_nothing_is_drawn_as_wide_as_asked(profile, width, known):
    record = a_volume(profile, **({} if known else {"ceilings": None, "demand": None}))
    for picture in pictures(record, profile):
        root = assert_drawn(to_svg(vega_spec(picture, profile, LIGHT, width)))
        assert abs(float(root.attrib["width"]) - width) <= 2


def test_a_profile_without_a_summary_is_told_by_what_was_drawn():
    profile = a_profile([100.0])
    picture = demand_picture(a_volume(profile, demand=None), profile)
    assert picture.title == "Peaks at 200 of 3,000 IOPS and 3.12 of 125 MiB/s"


def test_hostile_names_are_text_of_the_picture():
    profile = a_profile([100.0])
    for picture in pictures(a_volume(profile, name=HOSTILE), profile):
        svg = to_svg(vega_spec(picture, profile, LIGHT))
        root = assert_drawn(svg)
        texts = " ".join("".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))
        assert '<script>alert("x")</script>&' in texts
        assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
        assert '<script>alert("x")</script>&' in root.attrib["aria-label"]


def test_a_png_has_the_size_that_was_asked_for():
    profile = a_profile([100.0])
    spec = vega_spec(demand_picture(a_volume(profile), profile), profile, DARK, 640)
    for scale in (1, 2):
        drawn = to_png(spec, scale)
        width = int.from_bytes(drawn[16:20], "big")
        assert drawn.startswith(b"\x89PNG")
        assert abs(width - 640 * scale) <= 2 * scale


def test_the_plane_holds_a_point_for_each_mean_and_each_busiest_bucket():
    profile = a_profile([100.0, None, 0.0, 50.0], throttled=[5.0])
    svg = to_svg(vega_spec(roofline_picture(a_volume(profile), profile), profile, LIGHT))
    means, busiest = (marks(svg, f"mark-symbol role-mark layer_{place}_marks") for place in (6, 7))
    assert (len(means), len(busiest)) == (2, 4)
    assert len(set(busiest)) == 2  # circles, and triangles where the span was throttled


def test_a_volume_over_an_envelope_tells_how_much_of_its_roof_it_uses(library):
    profile = a_profile([1000.0])
    picture = envelope_picture([library["gp3-4000-1000"]], (a_volume(profile), profile))
    assert picture.title == "Peaks at 50 % of gp3-4000-1000 at most"
    assert SPANS in vega_spec(picture, profile, LIGHT)["datasets"]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(record, id=record.name, marks=[pytest.mark.release] if place % 7 else [])
        for place, record in enumerate(read_records(DEMO))
    ],
)
def test_the_demos_volumes_are_drawn_without_a_warning(record, capfd):
    profile: DemandProfileRecord | None = find_profile(DEMO, record.volume_id)
    assert profile is not None
    for picture in pictures(record, profile):
        assert warnings_of(vega_spec(picture, profile, LIGHT), capfd) == ""


def test_throttled_for_no_minute_is_said_of_each_side():
    profile = a_profile([100.0, 200.0], throttled=[10.0])
    svg = to_svg(vega_spec(demand_picture(a_volume(profile), profile), profile, LIGHT))
    assert svg.count(">never</text>") == 1
    calm = a_profile([100.0])
    assert to_svg(vega_spec(demand_picture(a_volume(calm), calm), calm, LIGHT)).count(">never</text>") == 2


def test_a_bound_is_told_of_a_demand_that_was_read_in_part():
    profile = a_profile([100.0])
    record = a_volume(profile, demand=demand_of(profile, peak_throughput_mib_s=100.0))
    assert "no more than 100 of 125 MiB/s" in demand_picture(record, profile).title


def assert_drawn(svg: str) -> ET.Element:
    """A well-formed picture of finite size, with a background, that refers to nothing outside."""
    root = ET.fromstring(svg)
    assert float(root.attrib["width"]) < WIDTH_PX * 2
    assert "NaN" not in svg
    assert "Infinity" not in svg
    assert root[0].tag.endswith("rect")
    assert not re.search(r'(href|src)="', svg)
    return root
