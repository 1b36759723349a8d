"""Envelopes beside each other: what was served is drawn, what was rejected or not told is not."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import vl_convert

from docs.charts.draw import HERE, NAMES, draw
from plimsoll.domain.ceiling import Resource
from plimsoll.domain.evidence.envelope import Latency
from plimsoll.reports.charts.comparison import comparison_picture
from plimsoll.reports.charts.render import vega_spec
from plimsoll.reports.charts.roofline import envelope_picture
from plimsoll.reports.charts.theme import DARK, LIGHT
from tests.unit.reports.charts.valid import check

pytestmark = pytest.mark.once

SEED_004 = ("gp3-4000-1000", "gp3-raid0-2x4000-1000", "io2-16000", "gp3-16000-1000")


def results(*envelopes, **fields):
    rows = comparison_picture(envelopes).datasets["results"]
    return [row for row in rows if all(row[name] == value for name, value in fields.items())]


def test_every_figure_that_was_served_is_drawn_once(library):
    envelopes = [library[name] for name in SEED_004]
    for figure, side in (("iops", Resource.IOPS), ("throughput_mib_s", Resource.THROUGHPUT)):
        drawn = sorted(
            (row["envelope"], row["io_size_kib"], row["value"]) for row in results(*envelopes, figure=figure)
        )
        served = sorted(
            (one.name, found.job.block_kib, found.served_figure(side))
            for one in envelopes
            for found in one.measurements
        )
        assert drawn == served
    assert len(results(*envelopes, statistic="p50")) == len(results(*envelopes, statistic="p99")) == 28


def test_rejected_figures_are_not_drawn(library):
    for one in library.values():
        rejected = [found for found in one.measurements if found.is_kept_out("iops")]
        drawn = results(one, figure="iops")
        assert len(drawn) == len([found for found in one.measurements if found.served_figure(Resource.IOPS)])
        assert len(envelope_picture([one]).datasets["measured"]) == len(drawn)
        assert not any(
            (row["mode"], row["io_size_kib"], row["value"]) in {(r.job.mode, r.job.block_kib, r.iops) for r in rejected}
            for row in drawn
        )


def with_latency(envelope, latency):
    return replace(envelope, measurements=tuple(replace(one, latency=latency) for one in envelope.measurements))


@pytest.mark.parametrize(
    ("latency", "told"),
    [
        (Latency(), []),
        (Latency(mean_us=5.0), [("mean", 5.0)]),
        (Latency(mean_us=5.0, percentiles_us=((50.0, 4.0), (99.0, 9.0))), [("p50", 4.0), ("p99", 9.0)]),
        (Latency(percentiles_us=((99.0, 9.0),), upper_bound=True), [("p99, at most", 9.0)]),
        (Latency(under_us=4000.0, upper_bound=True), [("at most", 4000.0)]),
        (Latency(upper_bound=True), []),
    ],
)
def test_latency_is_told_as_the_source_has_it_and_never_as_zero(library, latency, told):
    one = with_latency(library["naver-nas-6000"], latency)
    assert [(row["statistic"], row["value"]) for row in results(one, figure="latency_us")] == told


def test_a_kind_of_work_that_only_one_has_is_told_and_not_drawn(library):
    picture = comparison_picture([library["gp2-1tb"], library["gp3-4000-1000"]])
    assert {row["work"] for row in picture.datasets["results"]} == {"random writes"}
    assert "Only one has, so not drawn: random reads (gp2-1tb)." in picture.subtitle


def test_envelopes_with_no_work_in_common_are_all_drawn(library):
    picture = comparison_picture([library["gp2-elastic-ci-stack"], library["gp3-4000-1000"]])
    assert {row["envelope"] for row in picture.datasets["results"]} == {"gp2-elastic-ci-stack", "gp3-4000-1000"}


def test_fio_and_sysbench_share_a_row_where_they_do_the_same(library):
    picture = comparison_picture([library["gp3-16000-1000"], library["io1-20000-m5a-r5a.4xlarge"]])
    assert {(row["work"], row["mode"]) for row in picture.datasets["results"]} == {
        ("random writes", "randwrite"),
        ("random writes", "rndwr"),
    }


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.release)], ids=["some", "all"])
def test_every_envelope_of_the_library_has_a_valid_spec_and_is_drawn_without_a_warning(library, capfd, every):
    envelopes = list(library.values())[::every]
    alone = [envelope_picture([one]) for one in envelopes]
    together = [comparison_picture(envelopes[place : place + 5]) for place in range(0, len(envelopes), 5)]
    for picture in (*alone, *together):
        spec = vega_spec(picture, None, DARK)
        check(spec)
        vl_convert.vegalite_to_vega(spec, vl_version="6.4", show_warnings=True)
        assert capfd.readouterr().err == "", picture


def test_all_envelopes_at_once_have_their_names_and_colors_begin_again(library):
    spec = vega_spec(envelope_picture(list(library.values())), None, LIGHT)
    labels = {row["label"].split(":")[0] for row in spec["datasets"]["labels"]}
    reached = {name for name, one in library.items() if one.iops or one.throughput_mib_s}
    assert labels == reached


def shown(svg: str) -> tuple[list[str], list[str]]:
    """All that is written in a picture and the outlines of its marks, but not where its parts stand, which depends on
    the fonts of the machine."""
    texts = ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    return texts, re.findall(r'<path [^>]*d="(M[^"]+)"[^>]*stroke="#', svg)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    draw(folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_documents_pictures_are_what_is_drawn_now(drawn, name):
    committed = (HERE / name).read_text(encoding="utf-8")
    assert shown((drawn / name).read_text(encoding="utf-8")) == shown(committed)
