"""What the documents say is so: their commands run, their policy is a policy, their keys are all the keys."""

import re
import shlex
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
import yaml

from cloud_simulator.running import running, running_google
from plimsoll.cli.main import app
from plimsoll.clouds.common.dated_data import load_prices
from plimsoll.domain.policy import BOUNDS, Policy
from plimsoll.policy_file import dump_policy, load_policy
from tests.pipelines.commands import plimsoll

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
POLICY = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
REPORT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
STARTED = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
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


WHERE = "owner.name = 'payments'"
NOT_HERE = ("make ", "gcloud ", "--project", "plimsoll slack post", "plimsoll envelopes")
"""Of the commands: those of other tests, of other programs, and what needs a token."""


@pytest.mark.parametrize("page", [README, STARTED], ids=["README", "getting-started"])
def test_the_commands_for_a_real_account_run_in_their_order_on_the_simulated_one(organization, config, tmp_path, page):
    volume = next(found for found in organization.fleet.volumes if found.region == "eu-west-1" and found.hosts)
    lines = [line for line in commands(page) if not any(other in line for other in NOT_HERE)]
    assert any("plimsoll audit" in line for line in lines)
    for line in lines:
        program, *words = shlex.split(
            line.partition(" > ")[0].replace(WHERE, "true").replace("vol-0123456789abcdef0", volume.id)
        )
        assert program == "plimsoll"
        runs = [str(path) for path in tmp_path.glob("plimsoll-runs/2*")]
        words = [runs[0] if word.startswith("plimsoll-runs/") else word for word in words]
        short = ["--set", "lookback_days=2"] if words[0] == "audit" else []
        done = plimsoll(organization, tmp_path, *words, *short, AWS_CONFIG_FILE=str(config))
        assert done.returncode == 0, line + done.stdout + done.stderr


@pytest.mark.release
def test_the_commands_for_google_cloud_run_on_the_simulated_projects(organization, config, tmp_path):
    with running_google(datetime.now(UTC), volumes=1) as cloud:
        disk = next(one for one in cloud.fleet.volumes if one.account == "plimsoll-sim-shop" and one.hosts)
        names = {"shop-prod": "plimsoll-sim-shop", "shop-data": "plimsoll-sim-data", "7717955126078280515": disk.id}
        for line in (line for line in [*commands(), *commands(REPORT)] if "--cloud google --p" in line):
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


def anchors(page: Path) -> set[str]:
    """What can be linked to in a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_linked_file_and_heading_exists():
    folders = [ROOT / name for name in ("docs", "benchmarks", "tests", "lib")]
    for page in [*ROOT.glob("*.md"), *(page for folder in folders for page in sorted(folder.rglob("*.md")))]:
        for name, _, heading in re.findall(r"\]\((?!\w+:)([^)#]*)(#([^)]+))?\)", page.read_text(encoding="utf-8")):
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name} links to {name}"
            assert not heading or heading in anchors(target), f"{page.name} links to {name}#{heading}"


def files_that_name_documents():
    """The project's own text, without what others wrote or tools made."""
    for folder in ("lib", "functions", "infra", "tests", "benchmarks", "docs", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".yaml", ".md", ".sh"} and not {"measured", "vega", "files"} & set(path.parts):
                yield path
    yield from (ROOT / name for name in ("Makefile", "Dockerfile", "action.yml", "pyproject.toml", "CHANGELOG.md"))


def test_every_document_and_section_that_code_names_exists():
    named = re.compile(r"docs/([\w-]+\.md)(?:,\s+(?:section )?(\d+))?")
    found = 0
    for path in files_that_name_documents():
        for page, section in named.findall(path.read_text(encoding="utf-8")):
            target = ROOT / "docs" / page
            assert target.exists(), f"{path} names docs/{page}"
            heading = rf"^## {section}\. " if section else ""
            assert re.search(heading, target.read_text(encoding="utf-8"), re.MULTILINE), f"{path}: {page}, {section}"
            found += bool(section)
    assert found


def written_commands():
    """Every line of the documents that calls plimsoll, with its page, continued lines put together."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for block in (*blocks(text, "console"), *blocks(text, "bash")):
            for line in re.split(r"\n|&&|\|", block.replace("\\\n", " ")):
                found = re.match(r"\s*(?:\w+=\S+ )*(plimsoll [^)]+)", line.partition("#")[0])
                if found is not None:
                    yield page.name, found[1].strip()


def test_every_command_of_the_documents_is_one_with_the_options_that_it_is_given():
    checked = set()
    for page, line in written_commands():
        command, words = typer.main.get_command(app), re.sub(r"\$\([^)]*\)?", "", line).partition(" > ")[0].split()[1:]
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)} | {"--help"}
        given = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
        assert given <= known, f"{page}: {line}"
        assert not hasattr(command, "commands") or given, f"{page}: {line}"
        checked.add((page, command.name))
    assert {("getting-started.md", "explain"), ("deploy.md", "audit"), ("deploy.md", "diff")} <= checked


def test_the_example_workflow_gives_the_action_inputs_that_it_has():
    (example,) = blocks((ROOT / "docs" / "deploy.md").read_text(encoding="utf-8"), "yaml")
    (used,) = [step for step in yaml.safe_load(example)["jobs"]["audit"]["steps"] if "plimsoll" in step.get("uses", "")]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert used["with"].keys() <= action["inputs"].keys()
    words = shlex.split(used["with"]["args"])
    known = {flag for option in typer.main.get_command(app).commands["audit"].params for flag in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
