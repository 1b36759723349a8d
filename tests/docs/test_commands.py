"""Every command of the documents runs, in the order of its page; what cannot run on one machine is named here.

A push runs those that take little. What measures by fio, asks Google's projects or backtests a fleet runs before a
release.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache

import pytest
import typer

from cloud_simulator.running import running, running_google
from plimsoll.cli.main import app
from tests.docs.scene import Scene
from tests.docs.written import PAGES, ROOT, Written, commands_of, spoken_of
from tests.pipelines.commands import plimsoll
from tests.slack.server import FakeSlack
from tests.slack.workspace import CHANNEL
from tests.unit.backtest.fleets import bursty, write_fleet
from tests.unit.measure.bench.loops import a_loop_device

ELSEWHERE = {
    "${EDITOR:-vi}": "a person writes a secret in it",
    ".venv/bin/python": "CDK deploys to an AWS account; tests/infra synthesizes what it deploys",
    "aws": "asks an AWS account; tests/e2e takes these calls to an emulator",
    "cat": "of the shell",
    "cd": "of the shell",
    "docker": "needs a Docker daemon",
    "duckdb": "a program of others; tests/docs/test_exports.py runs its controls",
    "export": "of the shell",
    "gcloud": "asks a Google account",
    "git": "fetches a newer version",
    "id": "of the shell",
    "ls": "of the shell",
    "make": "runs the tests, the demo or CDK; its targets are looked up below",
    "openssl": "makes a token",
    "npx": "CDK deploys to an AWS account",
    "pip": "installs; tests/packaging does so with the wheel",
    "powerpipe": "a program of others; tests/docs/test_exports.py runs its controls",
    "read": "asks a person for a secret",
    "rm": "of the shell",
    "tail": "of the shell",
    "terraform": "a program of others; tests/unit/api has what its plans look like",
    "umask": "of the shell",
    "uuidgen": "of the shell",
    "uv": "installs; tests/packaging does so with the wheel",
    "uvx": "installs; tests/packaging does so with the wheel",
}
"""The programs of others that the pages call, each with the reason why no test runs it."""

SPOKEN_ELSEWHERE = {
    "plimsoll --install-completion": "changes a person's shell",
    "plimsoll simulate --volumes 20": "serves until Ctrl-C, as in tests/pipelines/test_simulate.py",
}
"""Whole commands within sentences that no test runs."""

MEASURES = re.compile(r"^plimsoll (validate|benchmark|demo|audit .*--validate|probe /dev)\b")
LOOKS_BACK = re.compile(r"^plimsoll (backtest|learn|fleet)\b")
GOOGLE = re.compile(r"--project|--folder|--google-organization|--cloud google$")
CODES = {
    # A project has a disk of a type that nothing is published of, and the organization a project that is closing.
    r"audit --cloud google .*(shop-data|--google-organization)": {3},
    r"audit .*--fail-over": {4},
    r"plimsoll check": {3},  # the run knows none of the plan's volumes
    # A bench that is busy with other things measures nothing, and says so.
    r"plimsoll validate|--validate": {0, 3},
    r"--cloud aws --cloud google --profile production --project": {3},
}
"""Exit codes other than 0."""

NAMES = {
    "owner.name = 'payments'": "true",
    "$(ls -d plimsoll-runs/2* | tail -n 2)": "plimsoll-runs/20261021T060000Z plimsoll-runs/20261121T060000Z",
    "0.0.0.0": "127.0.0.1",
    "1h": "1s",
    "10m": "1s",
    "C0123456789": CHANNEL,
    "123456789012": "200000000001",
    "987654321098": "100000000001",
    "shop-prod": "plimsoll-sim-shop",
    "my-project": "plimsoll-sim-shop",
    "shop-data": "plimsoll-sim-data",
}


@cache
def root():
    return typer.main.get_command(app)


def parts(one: Written):
    """The command of typer that is called, and its arguments."""
    found, words = root(), list(one.words[1:])
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return found, words


def is_whole(one: Written) -> bool:
    """Whether a command within a sentence has arguments, and nothing to fill in."""
    blanks = re.search(r"\b[A-Z]{2,}\b|\.\.\.", one.line)
    return bool(parts(one)[1]) and not blanks and one.line not in SPOKEN_ELSEWHERE


@cache
def all_of(page) -> list[Written]:
    """The commands of plimsoll in a page's blocks, in their order, and then those of its sentences."""
    shown = [one for one in commands_of(page) if one.words[0] == "plimsoll"]
    return [*shown, *(one for one in spoken_of(page) if is_whole(one))]


def takes_little(one: Written) -> bool:
    return not any(kind.search(one.line) for kind in (MEASURES, LOOKS_BACK, GOOGLE))


def all_that(kind: re.Pattern[str]) -> Iterable[Written]:
    """What any page has of a kind, each line once."""
    return {one.line: one for page in PAGES for one in all_of(page) if kind.search(one.line)}.values()


def run_all(scene: Scene, commands: Iterable[Written]) -> None:
    for one in commands:
        code, told = scene.run(one)
        expected = next((codes for line, codes in CODES.items() if re.search(line, one.line)), {0})
        assert code in expected, f"{one.page}: {one.line}: {code}\n{told}"


def test_the_programs_that_are_not_run_are_those_that_are_named():
    assert {one.words[0] for page in PAGES for one in commands_of(page)} - {"plimsoll"} == set(ELSEWHERE)


def test_every_target_of_make_is_one():
    targets = re.findall(r"^(\w[\w-]*):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    asked = {one.words[1] for page in PAGES for one in commands_of(page) if one.words[0] == "make"}
    assert {"demo", "test", "synth", "deploy"} <= asked
    assert asked <= set(targets)


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


@pytest.fixture(scope="module")
def audited(organization, tmp_path_factory):
    """The run that all pages begin with: made once."""
    folder = tmp_path_factory.mktemp("audited")
    words = ("audit", "--out", "run", "--region", "eu-west-1", "--set", "lookback_days=2")
    assert plimsoll(organization, folder, *words).returncode == 0
    return folder / "run"


@pytest.fixture
def scenes(organization, audited, tmp_path):
    """A scene by a page's name, in a folder of its own."""
    volume = next(one for one in organization.fleet.volumes if one.region == "eu-west-1" and one.hosts)

    def made(name: str) -> Scene:
        folder = tmp_path / name
        folder.mkdir()
        names = {**NAMES, "vol-0123456789abcdef0": volume.id}
        found = Scene(folder=folder, organization=organization, names=names)
        found.furnish(audited)
        return found

    return made


def test_the_commands_of_every_page_run(scenes):
    """One test, since the run that all begin with is made once."""
    with FakeSlack() as slack:
        for page in PAGES:
            scene, commands = (
                scenes(f"{page.parent.name}-{page.name}"),
                [one for one in all_of(page) if takes_little(one)],
            )
            scene.variables |= {"PLIMSOLL_SLACK_API_URL": slack.api_url, "PLIMSOLL_SLACK_BOT_TOKEN": slack.token}
            run_all(scene, commands)
        assert not [call for call in slack.calls if call.error]
        assert slack.there.messages


@pytest.mark.release
def test_the_commands_on_google_cloud_run(scenes):
    scene = scenes("google")
    with running_google(datetime.now(UTC), volumes=1) as scene.projects:
        disks = scene.projects.fleet.volumes
        disk = next(one for one in disks if one.account == "plimsoll-sim-shop" and one.hosts)
        scene.names["7717955126078280515"] = disk.id
        run_all(scene, (one for one in all_that(GOOGLE) if not MEASURES.search(one.line)))


def a_disk_to_change(scene: Scene) -> str:
    """A disk of one project of which a change is recommended."""
    words = ("audit", "--cloud", "google", "--project", "my-project", "--out", "google")
    scene.run(Written(page="google-cloud.md", words=("plimsoll", *words)))
    records = json.loads((scene.folder / "google" / "recommendations.json").read_text(encoding="utf-8"))
    return next(one["volume_id"] for one in records if one["target"] and one["change_steps"])


@pytest.mark.release
@pytest.mark.needs("fio", "loop")
def test_the_commands_that_measure_run(scenes, tmp_path):
    scene = scenes("measuring")
    (tmp_path / "mnt").mkdir()
    with running_google(datetime.now(UTC)) as scene.projects, a_loop_device(tmp_path) as device:
        scene.names["7717955126078280515"] = a_disk_to_change(scene)
        scene.names |= {"/mnt/data": str(tmp_path / "mnt"), "/dev/nvme1n1": str(device)}
        run_all(scene, all_that(MEASURES))


@pytest.mark.release
def test_the_commands_that_look_back_run(scenes):
    scene = scenes("backtest")
    scene.names["my-fleet.npz"] = str(write_fleet(scene.folder / "my-fleet.npz", bursty(60, 60)))
    scene.names["benchmarks/learned/public.json"] = "public.json"
    run_all(scene, all_that(LOOKS_BACK))


def test_every_command_within_a_sentence_is_one_with_the_options_that_it_is_given():
    spoken = [one for page in PAGES for one in spoken_of(page)]
    assert {one.line for one in spoken} >= set(SPOKEN_ELSEWHERE)
    for one in spoken:
        found, words = parts(one)
        known = {flag for option in found.params for flag in (*option.opts, *option.secondary_opts)}
        given = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
        assert given <= known | {"--help", "-h", "--help-all", "--install-completion"}, f"{one.page}: {one.line}"
        assert not hasattr(found, "commands") or given, f"{one.page}: {one.line}"
