"""What is imported where: help waits for nothing heavy, and an audit for nothing that only terminals or tests need."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.google.projects import LEAST_DISKS
from plimsoll.cli.main import app

HEAVY = {"altair", "boto3", "botocore", "duckdb", "jinja2", "moto", "numpy", "vl_convert", "werkzeug", "yaml"}

HELP = """
import contextlib
import io

import typer

from plimsoll.cli.main import app

def show_help(command, *words):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        app([*words, "--help"], standalone_mode=False)
    assert "Usage:" in shown.getvalue(), words
    if {below}:
        for name, inside in getattr(command, "commands", {{}}).items():
            show_help(inside, *words, name)

show_help(typer.main.get_command(app))
"""
REFUSED = """
import os

from plimsoll.cli.main import main

os.environ["PLIMSOLL_PROCESSES"] = "many"
sys.argv = ["plimsoll", *{words}]
try:
    main()
except SystemExit as exited:
    assert exited.code == 2, exited.code
assert "{needed}" in sys.modules
"""


def imported(script: str) -> set[str]:
    """The packages that a Python process of its own has imported at the end of a script."""
    ending = "\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}{ending}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_help_imports_nothing_that_only_a_running_command_needs():
    refused = {*HEAVY, "pydantic", "pydantic_core", "rich.live", "plimsoll.model.volume"}
    assert imported(HELP.format(below=False)) & refused == set()


def test_a_commands_help_adds_nothing_but_what_typer_reads_options_with():
    assert imported(HELP.format(below=True)) & HEAVY == set()


def test_an_audit_without_a_command_line_imports_nothing_of_terminals_simulators_or_other_clouds():
    needless = {"altair", "duckdb", "google", "moto", "rich", "typer", "werkzeug"}
    assert imported("import plimsoll.bootstrap.clouds, plimsoll.auditing.audit, plimsoll.run") & needless == set()


@pytest.mark.parametrize(
    ("words", "needed"),
    [(["audit"], "plimsoll.run"), (["validate", "vol-1"], "plimsoll_measure.validate"), (["demo"], "plimsoll.run")],
)
def test_what_draws_reports_is_not_waited_for_before_there_is_one(words, needed):
    """A setting that cannot be used ends the command once it has imported what it begins with."""
    drawing = {"altair", "duckdb", "jinja2", "vl_convert"}
    assert imported(REFUSED.format(words=words, needed=needed)) & drawing == set()


def test_an_audits_imports_read_no_data_and_build_no_schema():
    """Limits, prices, envelopes, and what checks them, cost their time in the call that needs them."""
    imported("""
from pydantic import BaseModel

import plimsoll.auditing.audit, plimsoll.bootstrap.clouds, plimsoll.run
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.dated_data import shipped_prices

def models(kind):
    for one in kind.__subclasses__():
        yield one
        yield from models(one)

read = [volume_types, shipped_prices]
assert not any(one.cache_info().currsize for one in read)
ours = [one for one in models(BaseModel) if one.__module__.startswith("plimsoll.")]
assert ours
assert not [one for one in ours if one.__pydantic_complete__]
""")


@pytest.mark.parametrize("command", ["demo", "simulate"])
def test_help_gives_the_number_of_volumes_that_is_taken(command):
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "160"}).output
    assert f"Least number of volumes. Default: {DEMO_VOLUMES} of AWS, {LEAST_DISKS} of Google Cloud." in shown
