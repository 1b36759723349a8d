"""The wheel without extras: small, audits AWS, writes every report but Parquet, and names the extra a command lacks."""

import csv
import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from uv import find_uv_bin

from cloud_simulator.running import Running, running
from plimsoll.distribution import EXTRAS
from tests.pipelines.commands import environment

pytestmark = pytest.mark.once

PROJECT = Path(__file__).parents[2]
MOST_MIB = 120
PROJECT_EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
LACKING = {
    "sql": [("query", "RUN"), ("bill", "RUN"), ("diff", "RUN", "RUN"), ("report", "RUN", "--format", "parquet"),
            ("report", "RUN", "--where", "true", "--out", "part.json")],
    "google": [("audit", "--cloud", "google", "--project", "p-1234567"), ("simulate", "--cloud", "google")],
    "charts": [("chart", "roofline", "gp2-1tb"),
               ("envelopes", "compare", "gp2-1tb", "gp3-1tb-3000-250", "--chart", "a.svg")],
    "slack": [("slack", "post", "RUN", "--dry-run"), ("report", "RUN", "--format", "slack"),
              ("report", "RUN", "--format", "slack-preview")],
    "demo": [("demo",), ("simulate",)],
    "serve": [("serve", "RUN")],
    "terraform": [("report", "RUN", "--format", "changes", "--terraform", ".")],
    "mcp": [("mcp", "RUN")],
}  # fmt: skip
"""Commands that need each extra; RUN is a run's folder."""


NAMES_WINGS = """
import atexit, os, sys

def note():
    wings = [name for name in sys.modules if name.startswith("plimsoll_")]
    with open("wings.txt", "a") as file:
        print(sys.argv[0].rpartition(os.sep)[2], *wings, file=file)

atexit.register(note)
"""
"""Python imports it where it starts: at its end it notes which modules of wings were imported."""


def uv(*words: str | Path) -> None:
    subprocess.run([find_uv_bin(), *words], check=True, capture_output=True, text=True, cwd=PROJECT)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel and nothing of an extra."""
    folder = tmp_path_factory.mktemp("light")
    uv("build", "--quiet", "--wheel", "--out-dir", folder)
    uv("venv", "--quiet", "--python", sys.executable, folder / "venv")
    python = folder / "venv" / "bin" / "python"
    uv("pip", "install", "--quiet", "--python", python, "--link-mode", "copy", next(folder.glob("*.whl")))
    return python


@pytest.fixture(scope="module")
def organization() -> Iterator[Running]:
    with running(datetime.now(UTC), volumes=80) as started:
        yield started


def plimsoll(light: Path, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AWS_", "PLIMSOLL_"))}
    command = [light.with_name("plimsoll"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={**kept, "COLUMNS": "300", **env}
    )


@pytest.fixture(scope="module")
def audited(light: Path, organization: Running, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of an audit's run, and what the terminal showed."""
    folder = tmp_path_factory.mktemp("audited")
    here = {name: value for name, value in environment(organization).items() if not name.startswith("PYTHON")}
    words = ("audit", "--region", "us-east-1", "--lookback-days", "1", "--out", "run")
    (folder / "sitecustomize.py").write_text(NAMES_WINGS, encoding="utf-8")
    done = plimsoll(light, folder, *words, **here, PYTHONPATH=str(folder))
    assert done.returncode in {0, 3}, done.stderr
    return folder / "run", done.stdout


def test_an_audit_and_its_reports_import_no_wing(light: Path, audited: tuple[Path, str]) -> None:
    folder = audited[0].parent
    for words in (("report", "run", "--out", "again"), ("explain", "run", "all")):
        plimsoll(light, folder, *words, PYTHONPATH=str(folder))
    noted = (folder / "wings.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(noted) >= 3
    assert set(noted) == {"plimsoll"}


def test_the_installation_is_small(light: Path) -> None:
    (site,) = light.parents[1].glob("lib/python*/site-packages")
    installed = [found for found in site.rglob("*") if "__pycache__" not in found.parts]
    assert sum(found.lstat().st_blocks * 512 for found in installed) < MOST_MIB << 20


def test_an_audit_writes_terminal_json_csv_and_html(audited: tuple[Path, str]) -> None:
    run, shown = audited
    records = json.loads((run / "recommendations.json").read_text())
    assert len(records) > 10
    with (run / "recommendations.csv").open(encoding="utf-8") as table:
        assert len([*csv.reader(table)]) == len(records) + 1
    page = (run / "report.html").read_text()
    assert all(f'id="{part}"' in page for part in ("drawer", "settings"))
    assert str(run.name) in shown
    assert not list(run.glob("*.parquet"))


def test_reports_of_a_run_need_no_extra(light: Path, audited: tuple[Path, str]) -> None:
    run, _ = audited
    for format_ in ("html", "json", "csv", "changes", "md", "tickets", "focus"):
        done = plimsoll(light, run, "report", str(run), "--format", format_)
        assert done.returncode == 0, done.stderr


def test_every_extra_has_a_command_here() -> None:
    assert {extra.name for extra in EXTRAS} == LACKING.keys()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        pytest.param(name, words, marks=pytest.mark.release if place else ())
        for name, all_ in LACKING.items()
        for place, words in enumerate(all_)
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    light: Path, audited: tuple[Path, str], tmp_path: Path, extra: str, words: tuple[str, ...]
) -> None:
    run, _ = audited
    done = plimsoll(light, tmp_path, *(str(run) if word == "RUN" else word for word in words))
    (brings,) = (one.brings for one in EXTRAS if one.name == extra)
    assert done.returncode == 2, done.stderr
    said = done.stderr.strip()
    assert said.startswith(f"plimsoll: plimsoll {words[0]}")
    meant, _, command = said.rpartition(": ")
    assert meant.endswith(f" needs {brings}. Install the extra {extra}")
    *installer, python = shlex.split(command)[: -len(PROJECT_EXTRAS[extra])]
    assert installer == ["uv", "pip", "install", "--python"]
    assert Path(python).parent == light.parent
    assert sorted(shlex.split(command)[5:]) == sorted(PROJECT_EXTRAS[extra])


def test_following_the_hint_brings_what_was_lacking(light: Path, audited: tuple[Path, str], tmp_path: Path) -> None:
    asked, brought = ("query", str(audited[0]), "select 1 as one"), tmp_path / "brought"
    lacking = plimsoll(light, tmp_path, *asked)
    _, *words = shlex.split(lacking.stderr.rpartition(": ")[2])
    uv(*words, "--quiet", "--no-config", "--target", brought)
    done = plimsoll(light, tmp_path, *asked, PYTHONPATH=str(brought))
    assert done.returncode == 0, done.stderr
