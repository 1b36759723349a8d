"""Charts on the command line: what is drawn where, and what is said where nothing can be."""

import json

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.model.errors import BadInput
from tests.unit.reports.charts.profiles import DEMO

THROTTLED, BURSTING = "vol-003af0c4e4d581b53", "vol-003b87a83610a8a08"
RUN = ("--run", str(DEMO))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Commands run in a folder of their own, without any run or campaign of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.delenv("PLIMSOLL_CAMPAIGNS_DIR", raising=False)
    return tmp_path


def run(*words: str) -> str:
    """What a command that succeeds prints."""
    done = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output.strip()


def refused(*words: str) -> str:
    with pytest.raises(BadInput) as error:
        run(*words)
    return str(error.value)


def test_a_volumes_demand_is_drawn_beside_it_and_the_file_is_told(here):
    assert run("chart", "demand", THROTTLED, *RUN) == f"{THROTTLED}-demand.svg"
    drawn = (here / f"{THROTTLED}-demand.svg").read_text(encoding="utf-8")
    assert "Throttled for 115 hours" in drawn


def test_a_volume_is_looked_up_in_the_run_that_was_written_last(here):
    (here / "runs").mkdir()
    (here / "runs" / "demo").symlink_to(DEMO)
    assert run("chart", "roofline", BURSTING) == f"{BURSTING}-roofline.svg"


def test_a_roofline_takes_the_run_among_its_names(here):
    assert run("chart", "roofline", str(DEMO), BURSTING, "gp3-4000-1000") == f"{BURSTING}-roofline.svg"
    assert "name one of its volumes too" in refused("chart", "roofline", str(DEMO))
    assert "at most one run" in refused("chart", "roofline", BURSTING, str(DEMO), *RUN)


def test_a_png_is_drawn_in_the_scale_theme_and_width_that_were_asked_for(here):
    run("chart", "roofline", BURSTING, *RUN, "--out", "a.PNG", "--scale", "2", "--width", "400", "--theme", "dark")
    drawn = (here / "a.PNG").read_bytes()
    assert abs(int.from_bytes(drawn[16:20], "big") - 800) <= 4


def test_envelopes_are_drawn_without_a_run(here):
    assert run("chart", "roofline", "gp3-4000-1000", "io2-16000") == "gp3-4000-1000-roofline.svg"
    assert "io2-16000: 16,000 IOPS" in (here / "gp3-4000-1000-roofline.svg").read_text(encoding="utf-8")


def test_a_volume_is_drawn_over_envelopes(here):
    run("chart", "roofline", "gp3-4000-1000", BURSTING, *RUN, "--out", "over.svg")
    assert "30 % of gp3-4000-1000 at most" in (here / "over.svg").read_text(encoding="utf-8")


def test_a_volumes_own_roofline_has_what_was_measured_of_its_offer(here):
    run("chart", "roofline", BURSTING, *RUN, "--out", "own.svg")
    assert "Crosses: notes of 2021 on gp2 and gp3." in (here / "own.svg").read_text(encoding="utf-8")


def test_a_comparison_is_drawn_instead_of_printed(here):
    assert run("envelopes", "compare", "gp3-4000-1000", "io2-16000", "--chart", "c.svg") == "c.svg"
    assert "latency, us" in (here / "c.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("chart", "demand", f"{THROTTLED[:-1]}x", *RUN), f": did you mean {THROTTLED}?"),
        (("chart", "demand", "x", *RUN), "there is no volume x in"),
        (("chart", "roofline", "gp3-4000-100", *RUN), "there is no envelope gp3-4000-100: did you mean gp3-4000-1000?"),
        (("chart", "roofline", "gp3-4000-100"), "there is no envelope gp3-4000-100: did you mean gp3-4000-1000?"),
        (("chart", "roofline", THROTTLED), "no run under"),
        (("chart", "roofline", THROTTLED, BURSTING, *RUN), "one roofline shows one volume"),
        (("chart", "demand", THROTTLED, *RUN, "--out", "a.jpg"), "a.jpg is no file for a chart: give --out a name"),
        (("chart", "demand", THROTTLED, *RUN, "--scale", "2"), "--scale is the size of a PNG's pixels"),
        (("chart", "demand", THROTTLED, *RUN, "--region", "eu-west-1"), "Give one of the two."),
        (
            ("chart", "demand", THROTTLED, *RUN, "--out", "folder.svg"),
            "folder.svg cannot be written: it is a device, a pipe or a folder",
        ),
        (("envelopes", "compare", "gp3-4000-1000", "--chart", "c.svg"), "a comparison needs two envelopes or more"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(here, words, told):
    (here / "folder.svg").mkdir()
    assert told in refused(*words)


def test_a_volume_without_metrics_or_without_an_answer_says_why(here):
    records = json.loads((DEMO / "recommendations.json").read_text(encoding="utf-8"))
    (here / "run.json").write_text("{}", encoding="utf-8")
    (here / "recommendations.json").write_text(json.dumps(records), encoding="utf-8")
    left_out = {"account": "1", "region": "r", "volume_id": "vol-2", "outcome": "skipped", "reason": "its tag says so"}
    (here / "unanswered.jsonl").write_text(json.dumps(left_out) + "\n", encoding="utf-8")

    assert refused("chart", "demand", THROTTLED, "--run", ".").startswith(f"no metrics of {THROTTLED} were read")
    assert refused("chart", "demand", "vol-2", "--run", ".") == "vol-2 has no recommendation in .: its tag says so"
