"""`plimsoll change` from the shell, on a simulated account whose time passes as it pauses."""

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloud_simulator.aws.fleet import HOME_KEY
from cloud_simulator.aws.volume_maker import gp2
from cloud_simulator.clock import CLOCK_PATH
from plimsoll.cli.main import app
from plimsoll.model.errors import BadInput
from plimsoll.settings import Settings
from plimsoll_change.opening import find_plan
from tests.unit.change.memory import a_plan
from tests.unit.cloud_simulator.served import HOME
from tests.unit.cloud_simulator.test_modifications import account


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """An account with a run and a plan of it: where it is served, and the folder of its runs."""
    folder, before = tmp_path_factory.mktemp("change"), {**os.environ}
    volumes = [(f"data-{number}", gp2(500)) for number in range(4)]
    with account(*volumes) as there:
        os.environ.update(
            {
                "AWS_ACCESS_KEY_ID": HOME_KEY,
                "AWS_SECRET_ACCESS_KEY": "simulated",
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": there.endpoint,
                "PLIMSOLL_RUNS_DIR": str(folder),
                "PLIMSOLL_SIMULATED_CLOCK": there.endpoint + CLOCK_PATH,
            }
        )
        try:
            say("audit", "--region", "us-east-1", "--quiet")
            say("change", "plan")
            yield there, folder
        finally:
            os.environ.clear()
            os.environ.update(before)


def run(*words):
    return CliRunner().invoke(app, list(words))


def say(*words):
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def status():
    return json.loads(say("change", "status", "--json"))


def test_a_plan_is_shown_approved_applied_and_taken_back(planned, tmp_path):
    there, _ = planned
    clock = there.front.living.clock
    assert "canary" in say("change", "show")
    say("change", "show", "--out", str(tmp_path / "plan.md"))
    assert (tmp_path / "plan.md").read_text() == say("change", "show")
    assert isinstance(run("change", "apply", "--once").exception, BadInput)
    assert there.front.living.modifications() == []

    assert "Approved" in say("change", "approve", "--by", "ada", "--accept-late-back")
    say("change", "apply", "--once")
    (modification,) = there.front.living.modifications()
    assert [line["state"] for line in status()["lines"]].count("modifying") == 1
    clock.pause(12 * 3600)
    say("change", "apply", "--once")
    assert [line["state"] for line in status()["lines"]].count("watched") == 1
    assert status()["usd"]["changed_usd_month"] > 0

    say("change", "stop", "--by", "ada", "--reason", "incident")
    assert "incident" in say("change", "status")
    say("change", "back", "--volume", modification.volume_id, "--by", "ada")
    _, back = there.front.living.modifications()
    assert (back.volume_id, back.after) == (modification.volume_id, modification.before)
    assert status()["usd"]["reversed_usd_month"] > 0
    facts = say("change", "status", "--facts")
    for word in ("approved ada", "stopped ada: incident", "intended", "back taken-back asked ada", "back completed"):
        assert word in facts


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("approve", "--by", " "), "needs a name"),
        (("approve", "--by", "ada", "--class", "x"), "--go-on"),
        (("approve", "--by", "ada", "--go-on", "--class", "x"), "no class x"),
        (("back", "--by", "ada"), "--all"),
        (("back", "--by", "ada", "--volume", "vol-none"), "none of these"),
        (("show", "no-such-plan"), "there is no plan"),
        (("plan", "--step", "keep"), "--step keep"),
        (("plan", "--where", "region = 'nowhere'"), "nowhere"),
        (("plan", "--rules", "missing.yaml"), "missing.yaml"),
    ],
)
def test_what_cannot_be_used_has_its_sentence_and_changes_nothing(planned, words, named):
    there, folder = planned
    count, files = len(there.front.living.modifications()), sorted(folder.rglob("*/ledger/*/*.json"))
    result = run("change", *words)
    assert isinstance(result.exception, BadInput)
    assert re.search(re.escape(named), str(result.exception))
    assert len(there.front.living.modifications()) == count
    assert sorted(folder.rglob("*/ledger/*/*.json")) == files


def test_an_altered_plan_does_nothing(planned):
    _, folder = planned
    (path,) = folder.glob("changes/*/plan.json")
    copy = Path(path.parent.parent) / "other.json"
    copy.write_text(path.read_text().replace("gp3", "io2"))
    for command in (("show",), ("apply", "--once"), ("approve", "--by", "ada"), ("stop", "--by", "ada")):
        result = run("change", command[0], str(copy), *command[1:])
        assert "altered" in str(result.exception)
    copy.unlink()


def test_the_account_of_a_plan_is_asked_for_by_the_runs_own_scope(planned):
    plan = find_plan(None, Settings.from_environment())
    assert {line.target.account for line in plan.lines} == {HOME}
    assert plan.digest != a_plan().digest
