"""Wings: each is a row, stands in the wheel with a page of its own, and gives what its page names."""

import re
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from plimsoll.wings import EVENT_SCHEMAS, RUN_VALIDATION, SLACK_MESSAGE, WINGS, find_folders

ROOT = Path(__file__).parents[2]
FACE = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_wing_beside_the_main_house_has_its_row_and_is_in_the_wheel():
    beside = {folder.name for folder in (ROOT / "lib").glob("plimsoll_*")}
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert beside == set(WINGS)
    assert {f"lib/{name}" for name in ("plimsoll", *WINGS)} <= set(packages)


@pytest.mark.parametrize("wing", WINGS)
def test_the_face_of_a_wing_is_at_most_ten_names_that_are_there(wing):
    names = FACE.findall((ROOT / "lib" / wing / "README.md").read_text(encoding="utf-8"))
    assert 0 < len(names) <= 10
    for name in names:
        module, _, inside = name.rpartition(".")
        assert hasattr(import_module(module), inside) or find_spec(name) is not None


def test_every_module_of_a_wing_that_the_main_house_names_is_one():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "lib/plimsoll").rglob("*.py")]
    named = {name for text in texts for name in re.findall(rf'"((?:{"|".join(WINGS)})(?:\.\w+)*)"', text)}
    assert {*WINGS, RUN_VALIDATION, SLACK_MESSAGE, EVENT_SCHEMAS} < named
    assert not [name for name in named if find_spec(name) is None]


def test_a_folder_of_wings_is_found_without_importing_them(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(WINGS)]:
        monkeypatch.delitem(sys.modules, name)
    folders = find_folders("cli")
    assert all(folder.is_dir() for folder in folders.values())
    assert not [name for name in sys.modules if name.startswith(WINGS)]
    assert find_folders("nowhere") == {}
