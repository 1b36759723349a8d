"""`plimsoll envelopes`: what is on the screen, at narrow and wide terminals, and as JSON."""

import itertools
import json
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.main import app
from plimsoll.model.errors import BadInput
from plimsoll_measure.terminal import envelopes as report

SHIPPED = envelope_library(None)
NAMES = list(SHIPPED.envelopes)
SEEDS = [name for name in NAMES if not SHIPPED.campaign_of(name).name.startswith("public")]


def screen(renderable, width: int) -> str:
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


def run(*words: str, columns: int = 80):
    return CliRunner().invoke(app, ["envelopes", *words], env={"COLUMNS": str(columns)})


def joined(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("name", NAMES)
def test_show_has_every_printed_figure_with_its_source(name, columns):
    answer = run("show", name, columns=columns)
    assert answer.exit_code == 0
    assert max(map(len, answer.output.splitlines())) <= columns
    shown = joined(answer.output)
    envelope = SHIPPED.get(name)
    for one in envelope.measurements:
        assert joined(one.provenance.reference) in shown
        for key, text in one.printed:
            assert joined(f"{key.partition('.')[2] or key} {text}") in shown
    assert all(joined(note) in shown for note in envelope.notes)


@pytest.mark.parametrize("columns", [80, 160])
def test_list_has_every_envelope_on_a_line_of_its_own(columns):
    lines = run("list", columns=columns).output.splitlines()
    assert max(map(len, lines)) <= columns
    assert [name for name in NAMES if not any(line.split()[:1] == [name] for line in lines)] == []


def test_a_roof_that_was_never_reached_is_shown_as_a_lower_bound():
    (line,) = [line for line in run("list").output.splitlines() if "naver-nas-6000" in line]
    assert line.split()[-5:] == [">=", "6,016", ">=", "23.5", "1"]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(SEEDS, 2)))
def test_every_system_of_the_seeds_is_comparable_with_every_other(one, other):
    text = screen(report.compare([SHIPPED.get(one), SHIPPED.get(other)], 80), 80)
    assert max(map(len, text.splitlines())) <= 80
    shapes = {(m.job.mode, f"{m.job.block_kib:g}") for name in (one, other) for m in SHIPPED.get(name).measurements}
    rows = [tuple(line.split()[:2]) for line in text.splitlines()]
    assert shapes <= set(rows)


@pytest.mark.parametrize(("width", "stacked"), [(80, True), (160, False)])
def test_four_systems_stand_side_by_side_where_there_is_room(width, stacked):
    names = ["gp3-4000-1000", "gp3-raid0-2x4000-1000", "io2-16000", "gp3-16000-1000"]
    text = screen(report.compare([SHIPPED.get(name) for name in names], width), width)
    assert max(map(len, text.splitlines())) <= width
    (head,) = [line for line in text.splitlines() if line.split()[:1] == ["mode"]]
    assert ("envelope" in head) == stacked
    assert head.count("IOPS") == (1 if stacked else 4)
    assert all(figure in text for figure in ("17,585", "8,780", "1,317", "17,583"))


def test_a_comparison_tells_bounds_of_bins_from_means():
    answer = run("compare", "gp2-1tb", "pd-ssd-500").output
    (row,) = [line for line in answer.splitlines() if line.split()[:2] == ["randread", "16"]]
    assert "avg 5,291 us" in row
    assert "< 10 ms" in row


@pytest.mark.parametrize("columns", [80, 160])
def test_a_comparison_has_what_is_published_of_reads_and_writes_beside_the_roofs(columns):
    answer = run("compare", "pd-standard-500", "pd-ssd-500", columns=columns).output
    assert max(map(len, answer.splitlines())) <= columns
    rows = [line.split() for line in answer.splitlines()]
    assert ["pd-standard-500", "IOPS", "375", *["375", "r", "750", "w"], *["3,000", "r", "15,000", "w"]] in rows
    assert ["pd-ssd-500", "IOPS", "15,000", "21,000", "15,000"] in rows
    assert ["MiB/s", "240", "480", "240"] in rows
    assert "r: reads, w: writes" in answer.replace("\n", " ")


def test_directions_are_explained_only_where_they_differ():
    assert "w: writes" not in run("compare", "gp2-1tb", "gp3-1tb-3000-250").output


def test_json_has_the_published_limits_of_both_directions():
    standard, ssd = json.loads(run("compare", "pd-standard-500", "pd-ssd-500", "--json").stdout)
    assert (standard["published"]["read_iops"], standard["published"]["write_iops"]) == (375, 750)
    assert (ssd["host"]["read_iops"], ssd["host"]["write_throughput_mib_s"]) == (15_000, 240)
    assert json.loads(run("show", "gp2-1tb", "--json").stdout)["published"]["write_throughput_mib_s"] == 250


def test_a_comparison_needs_two():
    assert isinstance(run("compare", "gp2-1tb").exception, BadInput)


def test_a_name_that_does_not_exist_brings_the_nearest():
    with pytest.raises(BadInput, match=r"there is no envelope gp2-tb: did you mean gp2-1tb\?"):
        SHIPPED.get("gp2-tb")
    with pytest.raises(BadInput, match="see `plimsoll envelopes list`"):
        SHIPPED.get("?")


@pytest.mark.parametrize("words", [("list",), ("compare", "gp2-1tb", "pd-ssd-500")])
def test_json_has_every_envelope_that_was_asked_for(words):
    found = json.loads(run(*words, "--json").stdout)
    assert [one["name"] for one in found] == (list(words[1:]) or NAMES)
    assert all(one["measurements"] for one in found)


def test_json_has_no_zero_for_what_is_absent():
    (mean_only,) = [
        one
        for one in json.loads(run("show", "gp3-10000-360-m5zn.2xlarge", "--json").stdout)["measurements"]
        if one["mode"] == "randread" and one["mean_latency_us"] == 500
    ]
    assert (mean_only["iops"], mean_only["throughput_mib_s"], mean_only["latency_percentiles_us"]) == (None, None, {})
