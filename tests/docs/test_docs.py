"""What the documents say is so: their commands run, their policy is a policy, their keys are all the keys."""

import pkgutil
import re
import shlex
from dataclasses import fields
from pathlib import Path

import typer
import yaml

from plimsoll.cli.main import app
from plimsoll.cli.option_values import read_scope_file
from plimsoll.clouds.common.dated_data import load_prices
from plimsoll.model.policy import BOUNDS, Policy
from plimsoll.policy_file import dump_policy, load_policy
from tests.gates.library import find_files

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
POLICY = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
REPORT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
STARTED = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


SCOPE_FILE = "plimsoll.yaml"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(page: str = README) -> list[str]:
    return [line for block in blocks(page, "console") for line in block.splitlines() if line]


def test_the_first_two_commands_are_the_demo_and_the_tests():
    assert commands()[:2] == ["make demo", "make test"]


def test_the_example_policy_and_scope_file_are_such(tmp_path):
    example, scope = blocks(POLICY, "yaml")
    path = tmp_path / "policy.yaml"
    path.write_text(example, encoding="utf-8")
    assert load_policy(path, {}).headroom_pct == 30
    (tmp_path / SCOPE_FILE).write_text(scope, encoding="utf-8")
    file = read_scope_file(tmp_path)
    assert (file.scope["projects"], file.policy, len(file.exclude)) == (("shop-prod",), path, 1)


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


def test_what_a_user_reads_stays_short():
    """A page that grows takes its words from another, or from what the program prints itself."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert words["README.md"] <= 900
    assert sum(words.values()) <= 20_000


def anchors(page: Path) -> set[str]:
    """What can be linked to in a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_linked_file_and_heading_exists():
    folders = [ROOT / name for name in ("docs", "benchmarks", "tests", "lib", "infra")]
    for page in [*ROOT.glob("*.md"), *(page for folder in folders for page in sorted(folder.rglob("*.md")))]:
        for name, _, heading in re.findall(r"\]\((?!\w+:)([^)#]*)(#([^)]+))?\)", page.read_text(encoding="utf-8")):
            target = page.parent / name if name else page
            assert target.exists(), f"{page.name} links to {name}"
            assert not heading or heading in anchors(target), f"{page.name} links to {name}#{heading}"


def files_that_name_documents():
    """The project's own text, without what others wrote or tools made."""
    for folder in ("lib", "functions", "infra", "tests", "benchmarks", "docs", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            others = {"measured", "vega", "files"} & set(path.relative_to(ROOT).parts)
            if path.suffix in {".py", ".yaml", ".md", ".sh"} and not others:
                yield path
    yield from (ROOT / name for name in ("Makefile", "Dockerfile", "action.yml", "pyproject.toml", "CHANGELOG.md"))


def test_every_module_that_a_document_or_the_library_names_exists():
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *find_files(".py")]
    names = {
        name
        for path in files
        for name in re.findall(r"`(plimsoll(?:_[a-z]+)?(?:\.\w+)+)`", path.read_text(encoding="utf-8"))
    }
    assert len(names) > 10
    assert [name for name in sorted(names - {SCOPE_FILE}) if not is_there(name)] == []


def is_there(name: str) -> bool:
    """A module, or what one has inside."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


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


def test_the_example_workflow_gives_the_action_inputs_that_it_has():
    (example,) = blocks((ROOT / "docs" / "deploy.md").read_text(encoding="utf-8"), "yaml")
    (used,) = [step for step in yaml.safe_load(example)["jobs"]["audit"]["steps"] if "plimsoll" in step.get("uses", "")]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert used["with"].keys() <= action["inputs"].keys()
    words = shlex.split(used["with"]["args"])
    known = {flag for option in typer.main.get_command(app).commands["audit"].params for flag in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
