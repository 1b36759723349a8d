"""`plimsoll envelopes import`: every file is read before anything is written, and what is added is shown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.cli.main import app
from plimsoll.model.errors import BadInput
from tests.corpus.entries import FILES
from tests.unit.measure.readers.outputs import OLD_SYSBENCH, OLD_TEXT, a_job, fio_json

GP3 = ["--type", "gp3", "--size-gib", "500", "--iops", "3000", "--throughput-mib-s", "125"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PLIMSOLL_CAMPAIGNS_DIR", str(tmp_path / "measured"))
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(fio_json(a_job()), encoding="utf-8")
    Path("run.txt").write_text(OLD_TEXT, encoding="utf-8")
    Path("sysbench.txt").write_text(OLD_SYSBENCH, encoding="utf-8")
    Path("poem.txt").write_text("no result\n", encoding="utf-8")
    return tmp_path / "measured"


def run(*words: str):
    return CliRunner().invoke(app, ["envelopes", *words], env={"COLUMNS": "160"})


def refused(*words: str) -> str:
    done = run("import", *words)
    assert isinstance(done.exception, BadInput), done.output
    return str(done.exception)


def test_what_is_imported_is_shown_and_joins_the_library(folder):
    done = run("import", "run.json", "run.txt", "--as", "mine", "--host-type", "r5.large", *GP3)
    assert done.exit_code == 0, done.output
    assert f"2 results added in {folder / 'mine.yaml'}" in done.output.replace("\n", "")
    assert "gp3 500 GiB 3,000 IOPS 125 MiB/s on r5.large" in done.output
    assert "mine" in run("list").output
    assert [path.name for path in folder.iterdir()] == ["mine.yaml"]


def test_the_profile_of_a_host_is_shown_beside_its_volume(folder):
    done = run("import", "sysbench.txt", "--as", "mine", "--host-type", "r5.large", *GP3)
    assert done.exit_code == 0, done.output
    assert "mutex: job sysbench mutex run" in done.output


@pytest.mark.parametrize("files", [("run.json", "poem.txt"), ("poem.txt", "run.json"), ("run.json", "absent.json")])
def test_nothing_is_imported_by_half(folder, files):
    told = refused(*files, "--as", "mine")
    assert next(name for name in files if name != "run.json") in told
    assert not folder.exists()


def test_a_volume_without_a_type_is_evidence_for_no_offer(folder):
    assert run("import", "run.json", "--as", "mine").exit_code == 0
    envelope = envelope_library(folder).get("mine")
    assert envelope.spec.type == "unknown"
    assert envelope.published is None


def test_a_striped_device_says_of_how_many_volumes(folder):
    assert "2 x gp3" in run("import", "run.json", "--as", "mine", "--volumes", "2", *GP3).output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--size-gib", "10"], "add --type"),
        (["--type", "gp33"], "no volume type gp33 in aws: --type is one of gp2, gp3"),
        (["--type", "gp3", "--provider", "google"], "no volume type gp3 in google: --type is one of hyperdisk-"),
        (["--account", "111122223333", *GP3], "--account and --region together"),
        (["--region", "eu-west-1", *GP3], "--account and --region together"),
        (["--measured-on", "soon", *GP3], "'soon' is no date"),
    ],
)
def test_options_that_do_not_fit_together_say_what_is_missing(folder, words, told):
    assert told in refused("run.json", "--as", "mine", *words)
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize(
    ("words", "provider", "published_iops"),
    [
        (["--type", "pd-ssd"], "google", 21_000),
        (["--type", "pd-ssd", "--provider", "google"], "google", 21_000),
        (["--type", "a-disk", "--provider", "another"], "another", None),
    ],
)
def test_another_clouds_type_stands_beside_what_that_cloud_publishes(folder, words, provider, published_iops):
    done = run("import", "run.json", "--as", "mine", "--size-gib", "500", *words)
    assert done.exit_code == 0, done.output
    envelope = envelope_library(folder).get("mine")
    assert envelope.provider == provider
    assert (envelope.published.iops if envelope.published else None) == published_iops


def test_only_a_profile_is_nothing_to_add(folder):
    text = "sysbench mutex run\n" + OLD_SYSBENCH.partition("$ sysbench mutex run\n")[2]
    Path("mutex.txt").write_text(text, encoding="utf-8")
    assert "nothing in mutex.txt measures storage" in refused("mutex.txt", "--as", "mine", "--host-type", "x")


IO2 = ["--type", "io2", "--size-gib", "500", "--iops", "64000"]
ON_SMALL = str(FILES / "host-limit.json")
"""1,281.9 and 1,284.6 MiB/s at two sizes of I/O."""


def test_the_published_limits_of_the_host_hold_for_what_is_imported(folder):
    assert run("import", ON_SMALL, "--as", "mine", "--host-type", "r5b.large", *IO2).exit_code == 0
    envelope = envelope_library(folder).get("mine")
    assert envelope.host_bound == ("throughput",)
    assert envelope.throughput_mib_s == pytest.approx(1_250e6 / 2**20)  # 1,192 MiB/s
    assert {ruling.rule for one in envelope.measurements for ruling in one.rulings} >= {"host-burst"}


def test_a_roof_on_a_larger_host_is_the_volumes_own(folder):
    assert run("import", ON_SMALL, "--as", "mine", "--host-type", "r5b.24xlarge", *IO2).exit_code == 0
    envelope = envelope_library(folder).get("mine")
    assert (envelope.host_bound, envelope.throughput_mib_s) == ((), pytest.approx(1_283.25))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nothing says on which host it was measured: import it again with --host-type"),
        (("--host-type", "m99.large"), "nothing is known of what m99.large carries"),
    ],
)
def test_an_import_says_that_its_host_is_not_known(folder, words, told):
    done = run("import", ON_SMALL, "--as", "mine", *words, *IO2)
    output = " ".join(done.output.split())
    assert "(host-unknown): the host may have been the limit, so this is the least that the volume carries" in output
    assert told in output
    (note,) = [text for text in envelope_library(folder).get("mine").notes if text.startswith("MiB/s stopped at 1,283")]
    assert "nothing is known of the host" in note
