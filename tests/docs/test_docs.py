"""What the documents say is so: their commands run, their policy is a policy, their keys are all the keys."""

import re
import shlex
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from cloud_simulator.running import running, running_google
from plimsoll.clouds.common.dated_data import load_prices
from plimsoll.domain.policy import BOUNDS, Policy
from plimsoll.policy_file import dump_policy, load_policy
from tests.pipelines.commands import plimsoll

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
POLICY = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
CHARTS = (ROOT / "docs" / "charts.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(page: str = README) -> list[str]:
    return [line for block in blocks(page, "console") for line in block.splitlines() if line]


def test_the_first_two_commands_are_the_demo_and_the_tests():
    assert commands()[:2] == ["make demo", "make test"]


@pytest.fixture(scope="module")
def organization():
    with running(datetime.now(UTC), volumes=1) as found:
        yield found


@pytest.mark.parametrize("line", [line for line in commands() if "envelopes" in line])
def test_the_readmes_envelope_commands_run(organization, tmp_path, line):
    program, *words = shlex.split(line)
    assert program == "plimsoll"
    assert plimsoll(organization, tmp_path, *words).returncode == 0


@pytest.fixture
def config(organization, tmp_path):
    path = tmp_path / "config"
    keys = f"aws_access_key_id = {organization.environment['AWS_ACCESS_KEY_ID']}\naws_secret_access_key = simulated\n"
    path.write_text(f"[profile production]\n{keys}", encoding="utf-8")
    return path


def test_the_readmes_commands_for_a_real_account_run_on_the_simulated_one(organization, config, tmp_path):
    volume = next(found for found in organization.fleet.volumes if found.region == "eu-west-1" and found.hosts)
    for line in (line for line in commands() if "--profile production" in line and "--cloud" not in line):
        words = shlex.split(line.replace("vol-0123456789abcdef0", volume.id))[1:]
        done = plimsoll(organization, tmp_path, *words, "--set", "lookback_days=2", AWS_CONFIG_FILE=str(config))
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.release
def test_the_commands_for_google_cloud_run_on_the_simulated_projects(organization, config, tmp_path):
    with running_google(datetime.now(UTC), volumes=1) as cloud:
        disk = next(one for one in cloud.fleet.volumes if one.account == "plimsoll-sim-shop" and one.hosts)
        names = {"shop-prod": "plimsoll-sim-shop", "shop-data": "plimsoll-sim-data", "7717955126078280515": disk.id}
        for line in (line for line in [*commands(), *commands(CHARTS)] if "--cloud google --p" in line):
            words = [names.get(word, word) for word in shlex.split(line)][1:]
            more = {**cloud.environment, "AWS_CONFIG_FILE": str(config)}
            done = plimsoll(organization, tmp_path, *words, "--set", "lookback_days=1", **more)
            # The second project has a disk of a type that nothing is published of.
            assert done.returncode == (3 if "shop-data" in line else 0), done.stdout + done.stderr


def test_the_example_policy_is_one(tmp_path):
    (example,) = blocks(POLICY, "yaml")
    path = tmp_path / "policy.yaml"
    path.write_text(example, encoding="utf-8")
    assert load_policy(path, {}).headroom_pct == 30


def test_the_policy_page_has_every_key_with_its_default_and_bounds():
    rows = {
        row[0].strip("` "): row
        for row in (line.split("|")[1:-1] for line in POLICY.splitlines() if line.startswith("| `"))
    }
    assert list(rows) == [field.name for field in fields(Policy)]
    plain = dump_policy(Policy())
    for key, (least, most) in BOUNDS.items():
        assert float(rows[key][1]) == plain[key]
        assert rows[key][2].strip() == f"{least:g} to {most:.0f}"


def test_the_example_price_file_is_one(tmp_path):
    example = next(block for block in blocks(CONTRIBUTING, "yaml") if "gib_month" in block)
    path = tmp_path / "prices.yaml"
    path.write_text(example, encoding="utf-8")
    book = load_prices(path).book("eu-west-9")
    assert book is not None
    assert book.types["gp3"].included_iops == 3000
    assert yaml.safe_load(example)["currency"] == "USD"


def test_every_linked_file_exists():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
