"""`plimsoll check`: its exit codes, its formats, and what it refuses in a sentence."""

import json

import pytest

from plimsoll.cli.exit_codes import EXIT_OVER, PARTIAL, UNUSABLE
from tests.unit.api.test_planned import PLANS
from tests.unit.api.watched import the_fleet, write_run
from tests.unit.cli.calls import called


@pytest.fixture
def plimsoll(tmp_path, monkeypatch, capsys):
    """Calls the command line where a fleet is the newest run; gives its exit code, its output and its complaint."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLIMSOLL_RUNS_DIR", "runs")
    write_run(tmp_path / "runs" / "one", the_fleet())
    return lambda *words: called(monkeypatch, capsys, "check", *words)


@pytest.fixture
def plan_of(tmp_path):
    """Writes a plan with those resources of the Terraform plan whose address has one of these words."""
    plan = json.loads((PLANS / "terraform.json").read_text(encoding="utf-8"))

    def write(*words):
        rows = [row for row in plan["resource_changes"] if any(word in row["address"] for word in words)]
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({**plan, "resource_changes": rows}), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("words", "fail_on", "code"),
    [
        ((), "oversized", 0),
        (("logs", "fresh", "scratch"), "oversized", 0),
        (("data[0]",), "throttles", 0),
        (("data[0]",), "oversized", EXIT_OVER),
        (("orders",), "throttles", EXIT_OVER),
        (("orders",), "oversized", EXIT_OVER),
        (("later", "logs"), "oversized", PARTIAL),
        (("later", "data[0]"), "throttles", PARTIAL),
        (("later", "orders"), "throttles", EXIT_OVER),
    ],
)
def test_the_exit_code_is_of_the_worst_that_is_asked_about(plimsoll, plan_of, words, fail_on, code):
    ended, printed, complaint = plimsoll(plan_of(*words), "--fail-on", fail_on)
    assert (ended, complaint) == (code, "")
    assert "runs/one" in printed


def test_each_format_goes_to_standard_output(plimsoll):
    _, text, _ = plimsoll(PLANS / "terraform.json")
    assert "volume did 12,400 on 2026-11-19" in text
    _, sarif, _ = plimsoll(PLANS / "terraform.json", "--format", "sarif")
    assert json.loads(sarif)["version"] == "2.1.0"
    _, plain, _ = plimsoll(PLANS / "change-set.json", "--format", "json")
    assert len(json.loads(plain)["findings"]) == 8
    _, markdown, _ = plimsoll(PLANS / "change-set.json", "--format", "md")
    assert markdown.startswith("## ")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("nowhere.json",), "nowhere.json"),
        ((PLANS / "terraform.json", "--format", "xml"), "sarif"),
        ((PLANS / "terraform.json", "--fail-on", "anything"), "oversized"),
        ((PLANS / "terraform.json", "--run", "elsewhere"), "elsewhere"),
        (("runs/one/run.json",), "terraform show -json"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(plimsoll, words, named):
    ended, printed, complaint = plimsoll(*words)
    assert (ended, printed) == (UNUSABLE, "")
    assert named in " ".join(complaint.split())
