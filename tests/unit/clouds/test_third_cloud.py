"""A cloud is a package and a row: a third one is audited, reported, explained and decided again from a recording."""

import json

import pytest
from typer.testing import CliRunner

from plimsoll.cli.main import app
from plimsoll.clouds.registry import CLOUDS
from plimsoll.clouds.targets import may_have, named_target
from plimsoll.model.errors import BadInput
from tests.third_cloud import ROW
from tests.third_cloud.connection import DISK, REGION, TENANT


@pytest.fixture(autouse=True)
def third_cloud(monkeypatch, tmp_path):
    monkeypatch.setitem(CLOUDS, ROW.name, ROW)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", str(tmp_path))


def plimsoll(*words):
    done = CliRunner().invoke(app, [*words, "--lookback-days", "2"] if words[0] == "audit" else [*words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_third_cloud_is_audited_reported_explained_and_recorded(tmp_path):
    folder, recording = tmp_path / "run", tmp_path / "audit.zip"
    screen = plimsoll("audit", "--cloud", "third", "--out", str(folder), "--record", str(recording))
    assert "Third Cloud" in screen or "ReadMetrics" in screen
    (record,) = json.loads((folder / "recommendations.json").read_text())
    assert (record["provider"], record["account"], record["region"]) == ("third", TENANT, REGION)
    assert (record["action"], record["target"]["type"]) == ("migrate", "third-gp3")
    assert record["monthly_usd_saved"] > 0
    run = json.loads((folder / "run.json").read_text())
    assert (run["status"], run["scope"]["clouds"]) == ("complete", ["third"])
    assert "tenant" in (folder / "report.html").read_text()
    explained = plimsoll("explain", DISK, "--cloud", "third", "--set", "lookback_days=2", "--all")
    assert "third-gp3" in explained
    assert "https://third.example/TENANT-1/disk-1" in explained
    again = tmp_path / "again"
    plimsoll("audit", "--from", str(recording), "--out", str(again))
    (record_again,) = json.loads((again / "recommendations.json").read_text())
    assert record_again["target"] == record["target"]


def test_the_report_of_a_third_cloud_has_every_format(tmp_path):
    folder = tmp_path / "run"
    plimsoll("audit", "--cloud", "third", "--out", str(folder))
    for name in ("json", "csv", "md"):
        out = tmp_path / f"report.{name}"
        plimsoll("report", str(folder), "--format", name, "--out", str(out))
        assert DISK in out.read_text()


def test_names_of_a_third_cloud_lead_to_it():
    target = named_target(TENANT, REGION)
    assert target.provider == "third"
    assert may_have(target, DISK)
    assert not may_have(target, "vol-1")


def test_a_cloud_that_writes_no_permissions_prints_none():
    with pytest.raises(BadInput, match="Third Cloud"):
        CliRunner().invoke(app, ["permissions", "--cloud", "third"], catch_exceptions=False)
