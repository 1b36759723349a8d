"""`plimsoll` on the public Python index is a package of others: nothing that ships leads anybody to it."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from uv import find_uv_bin

from plimsoll.distribution import EXTRAS, NAME, extra_requirements, install_hint, install_words

ROOT = Path(__file__).parents[2]
LISTING = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
NO_TEXT = {".png", ".npz", ".zip", ".gz"}
OWNERS_OF_THE_NAME = {"pyproject.toml", "uv.lock", "lib/plimsoll/distribution.py"}
FOREIGN = re.compile(
    r"""\bplimsoll\s?\[[a-z]                                     # an extra of it
      | ["'\s]plimsoll\s?(==|~=|>=|<=|!=)\s?\d                   # a version of it
      | ^name\ =\ "plimsoll"$                                    # a distribution of it
      | pypi\.org/(project|simple)/plimsoll
      | \b(pip3?|pipx|poetry|pdm|conda|uv\ tool|uv\ pip|uv)\ (install|add|download|run)\b
        [^\n`\#]*\s["']?plimsoll(?![\w./-])
      | \buvx\ (?![^\n`]*--from)[^\n`\#]*\bplimsoll\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def shipped() -> dict[str, str]:
    """Every text of the repository but those of tests, by its path."""
    listed = subprocess.run(LISTING, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name and not name.startswith("tests/")]
    texts = [path for path in paths if path.suffix not in NO_TEXT and path.is_file()]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in texts}


@pytest.mark.parametrize(
    "text",
    [
        "Install it with: pip install 'plimsoll[sql]'.",
        "uv tool install plimsoll",
        "pipx run plimsoll audit",
        "uvx plimsoll --version",
        'RUN pip install "plimsoll==0.0.1"',
        'name = "plimsoll"',
        "python -m pip install --quiet plimsoll",
        "see https://pypi.org/project/plimsoll/",
        'dependencies = ["plimsoll>=0.1"]',
    ],
)
def test_what_leads_to_it_is_seen(text):
    assert FOREIGN.search(text)


@pytest.mark.parametrize(
    "text",
    ["uvx --from . plimsoll --version", "uv tool install '.[all]'  # plimsoll", "pip install ./plimsoll-0.1.0.whl"],
)
def test_what_does_not_is_let_through(text):
    assert not FOREIGN.search(text)


def test_no_shipped_text_leads_to_it():
    texts = shipped()
    assert {"README.md", "action.yml", "Dockerfile", "docs/deploy.md", "lib/plimsoll/distribution.py"} <= texts.keys()
    assert not {name: found.group() for name, text in texts.items() if (found := FOREIGN.search(text))}


def test_no_index_is_asked_for_the_distributions_own_name_either():
    """Nobody owns it yet, so it could be taken tomorrow."""
    assert {name for name, text in shipped().items() if NAME in text} == OWNERS_OF_THE_NAME


def test_every_extra_has_requirements_of_its_own():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    assert declared.keys() == {extra.name for extra in EXTRAS} | {"all"}
    for extra in EXTRAS:
        told = install_words(extra)
        assert sorted(told[-len(declared[extra.name]) :]) == sorted(declared[extra.name])
        assert install_hint(extra).endswith(shlex.join(told))


@pytest.mark.once
@pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.name)
def test_the_hint_brings_what_is_imported_and_nothing_foreign(extra, tmp_path, monkeypatch):
    """Followed in an empty environment, as far as the index's answer: what would be installed."""
    subprocess.run([find_uv_bin(), "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "bin" / "python"))
    monkeypatch.setattr("plimsoll.distribution.find_spec", lambda name: None if name == "pip" else find_spec(name))
    uv, *words = install_words(extra)
    assert uv == "uv"
    asked = [find_uv_bin(), *words, "--dry-run", "--no-config"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    brought = {line.split("==")[0].removeprefix(" + ") for line in done.stderr.splitlines() if line.startswith(" + ")}
    assert len(brought) >= len(extra_requirements(extra.name))
    assert not [name for name in brought if name.startswith("plimsoll")]
