"""The GitHub Action: its steps run here as they are, on a simulated account. `gh` only notes what it is asked."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from cloud_simulator.running import running
from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL
from tests.pipelines.commands import environment
from tests.unit.api.test_planned import PLANS
from tests.unit.api.watched import the_fleet, write_run

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "id" in step}

GH = """#!/usr/bin/env bash
echo "$@" >> "$NOTED"
case "$*" in *--jq*) echo "$EARLIER" ;; esac
"""
PLIMSOLL = '#!/usr/bin/env bash\nexec python -m plimsoll "$@"\n'


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


@pytest.fixture
def step(organization, tmp_path):
    """Runs a step's script with variables; gives its exit code and what it left as outputs."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in {"gh": GH, "plimsoll": PLIMSOLL}.items():
        (tools / name).write_text(script, encoding="utf-8")
        (tools / name).chmod(0o755)
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH", "NOTED")}
    given = environment(organization, **{name: str(path) for name, path in files.items()})
    given |= {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path)}
    given |= {"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1"}

    def run(name, **variables):
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", STEPS[name]["run"]]
        done = subprocess.run(script, env=given | variables, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done.stderr
        found = {key: path.read_text(encoding="utf-8") if path.exists() else "" for key, path in files.items()}
        return done.returncode, found | {"said": done.stdout + done.stderr}

    return run


def outputs(found):
    return dict(line.split("=", 1) for line in found["GITHUB_OUTPUT"].splitlines())


def test_an_audit_over_the_threshold_writes_its_summary_comments_and_then_fails(step):
    arguments = "--region eu-west-1 --lookback-days 1"
    code, found = step("audit", ARGS=arguments, FAIL_OVER="10")
    told = outputs(found)
    assert (code, told["exit-code"]) == (0, str(EXIT_OVER)), found["said"]
    summary = Path(told["run"], "report.md").read_text(encoding="utf-8")
    assert "can be saved" in summary
    assert found["GITHUB_STEP_SUMMARY"] == summary

    place = {"NUMBER": "7", "REPOSITORY": "us/storage", "RUN": told["run"], "GH_TOKEN": "x"}
    step("comment", EARLIER="", **place)
    _, found = step("comment", EARLIER="41\n42", **place)
    _, posted, _, patched = found["NOTED"].splitlines()
    assert "--method POST repos/us/storage/issues/7/comments " in posted
    assert "--method PATCH repos/us/storage/issues/comments/41 " in patched
    commented = Path(told["run"], "comment.md").read_text(encoding="utf-8")
    assert commented.startswith(summary)
    assert len(commented) < 65_536

    assert step("verdict", CODE=str(EXIT_OVER), FAIL_IF_PARTIAL="true")[0] == EXIT_OVER


@pytest.mark.parametrize(
    ("code", "fail_if_partial", "ended"),
    [(0, "true", 0), (PARTIAL, "true", PARTIAL), (PARTIAL, "false", 0), (2, "false", 2), (PARTIAL, "True", PARTIAL)],
)
def test_the_action_ends_as_the_audit_did_unless_a_part_is_enough(step, code, fail_if_partial, ended):
    assert step("verdict", CODE=str(code), FAIL_IF_PARTIAL=fail_if_partial)[0] == ended


@pytest.mark.parametrize(
    ("code", "check_code", "fail_if_partial", "ended"),
    [
        (0, 0, "true", 0),
        (0, 4, "true", 4),
        (0, 3, "true", 3),
        (0, 3, "false", 0),
        (3, 4, "true", 4),
        (4, 3, "true", 4),
        (3, 2, "false", 2),
    ],
)
def test_the_action_ends_as_the_worse_of_the_audit_and_the_check(step, code, check_code, fail_if_partial, ended):
    told = {"CODE": str(code), "CHECK_CODE": str(check_code), "FAIL_IF_PARTIAL": fail_if_partial}
    assert step("verdict", **told)[0] == ended


def test_a_plan_is_checked_against_the_run_and_its_findings_are_the_comment(step, tmp_path):
    run = write_run(tmp_path / "run", the_fleet())
    code, found = step("check", PLAN=str(PLANS / "terraform.json"), FAIL_ON="throttles", RUN=str(run))
    assert (code, outputs(found)["exit-code"]) == (0, str(EXIT_OVER)), found["said"]
    assert "12,400" in found["GITHUB_STEP_SUMMARY"]
    _, found = step("comment", EARLIER="", NUMBER="7", REPOSITORY="us/storage", RUN=str(run), GH_TOKEN="x")
    assert "--method POST" in found["NOTED"]
    assert (run / "comment.md").read_text(encoding="utf-8").startswith("## Planned volumes")


def test_a_plan_that_cannot_be_read_fails_the_action_and_takes_no_comment_away(step, tmp_path):
    run = write_run(tmp_path / "run", the_fleet())
    (run / "report.md").write_text("the report\n", encoding="utf-8")
    code, found = step("check", PLAN="nowhere.json", FAIL_ON="throttles", RUN=str(run))
    assert (code, outputs(found)["exit-code"]) == (0, "2"), found["said"]
    step("comment", EARLIER="", NUMBER="7", REPOSITORY="us/storage", RUN=str(run), GH_TOKEN="x")
    assert (run / "comment.md").read_text(encoding="utf-8").startswith("the report")


def test_an_audit_that_cannot_begin_is_told_of_by_its_exit_code(step):
    code, found = step("audit", ARGS="--region nowhere", FAIL_OVER="")
    assert (code, outputs(found)["exit-code"]) == (0, "2"), found["said"]
    assert step("comment", EARLIER="", NUMBER="7", REPOSITORY="us/storage", RUN=outputs(found)["run"])[1]["NOTED"] == ""


def test_no_expression_is_part_of_a_script():
    """What a pull request can choose must reach a script as a variable, or it would be run."""
    assert [name for name, one in STEPS.items() if "${{" in one["run"]] == []


def test_every_input_and_output_is_described():
    for one in (*ACTION["inputs"].values(), *ACTION["outputs"].values()):
        assert one["description"].endswith((".", "extra"))


@pytest.mark.needs("shellcheck")
@pytest.mark.parametrize("name", STEPS)
def test_the_scripts_are_sound(name, tmp_path):
    script = tmp_path / "step.sh"
    script.write_text("#!/usr/bin/env bash\n" + STEPS[name]["run"], encoding="utf-8")
    done = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
