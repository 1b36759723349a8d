"""What an audit prints, and where: JSON lines for programs, nothing where nothing is wanted, never a broken pipe."""

import json
import os
import subprocess
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running
from plimsoll.cli.exit_codes import EXIT_OVER
from tests.pipelines.commands import command, environment, plimsoll

SCOPE = ("--region", "eu-west-1", "--lookback-days", "1")


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


@pytest.fixture(scope="module")
def audited(organization, tmp_path_factory):
    """A folder with a run in `run`, and how its audit ended, which printed JSON."""
    folder = tmp_path_factory.mktemp("audited")
    return folder, plimsoll(organization, folder, "audit", *SCOPE, "--json", "--out", "run")


def test_the_lines_are_the_answers_of_the_run_and_the_run(audited):
    folder, done = audited
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    answered = json.loads((folder / "run" / "recommendations.json").read_text(encoding="utf-8"))
    assert [one for one in lines if one["kind"] == "recommendation"] == [
        {"kind": "recommendation", **one} for one in answered
    ]
    run = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    assert run.pop("checksum")  # of the file alone
    assert lines[-1] == {"kind": "run", **run}
    assert len(lines) == lines[-1]["volumes"]["seen"] + 1


def test_what_is_for_people_goes_to_standard_error(audited):
    _, done = audited
    assert "can be saved" in done.stderr
    assert "report.html" in done.stderr


def test_a_quiet_audit_prints_nothing_and_its_threshold_is_an_exit_code(organization, tmp_path):
    done = plimsoll(organization, tmp_path, "audit", *SCOPE, "--quiet", "--fail-over", "1")
    assert (done.returncode, done.stdout) == (EXIT_OVER, "")
    assert "more than the $1.00 of --fail-over." in done.stderr
    assert list(tmp_path.glob("plimsoll-runs/*/report.html"))


def test_a_plan_can_be_read_by_a_program(organization, tmp_path):
    (line,) = plimsoll(organization, tmp_path, "audit", *SCOPE, "--plan", "--json").stdout.splitlines()
    plan = json.loads(line)
    assert plan["kind"] == "plan"
    assert plan["least_datapoints"] <= plan["datapoints"] <= plan["most_datapoints"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--plan", "--quiet"), "leave out --quiet"),
        (("--plan", "--fail-over", "1"), "leave out --fail-over"),
    ],
)
def test_options_that_contradict_each_other_are_refused(organization, tmp_path, words, told):
    done = plimsoll(organization, tmp_path, "audit", *SCOPE, *words)
    assert done.returncode == 2
    assert told in done.stderr


def piped_to_nobody(organization, folder, *words):
    """How a command ends whose output is read by nobody, and what it complains of."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command(*words),
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment(organization),
            check=False,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


def test_an_audit_whose_reader_has_gone_still_leaves_its_report(organization, tmp_path):
    assert piped_to_nobody(organization, tmp_path, "audit", *SCOPE, "--out", "run") == (0, "")
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("report", "run", "--format", "csv", "--out", "-"),
        ("report", "run", "--format", "md", "--out", "-"),
        ("query", "run", "select * from range(100000)", "--format", "csv"),
        ("query", "run", "select * from offers"),
        ("envelopes", "list"),
    ],
)
def test_a_closed_pipe_is_quiet(organization, audited, words):
    assert piped_to_nobody(organization, audited[0], *words) == (0, "")
