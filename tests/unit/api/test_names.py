"""The names of `import plimsoll`: all there, typed, light, and hidden by no module."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from pkgutil import iter_modules

import pytest

import plimsoll
from plimsoll.distribution import NAME

LIGHT = """
import sys
before = set(sys.modules)
import plimsoll
print(*sorted(set(sys.modules) - before))
"""


def test_import_plimsoll_imports_nothing_else():
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in done.stdout.split()} <= {"plimsoll", "importlib", "warnings"}


@pytest.mark.parametrize("name", plimsoll.__all__)
def test_every_name_is_there(name):
    assert getattr(plimsoll, name) is not None
    assert name in dir(plimsoll)


def test_the_version_is_the_distributions():
    (project,) = Path(__file__).parents[3].glob("pyproject.toml")
    described = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    assert described["name"] == NAME
    assert plimsoll.__version__ == described["version"]


def test_a_name_that_is_none_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = plimsoll.no_such_name


def test_a_type_checker_knows_the_names_that_there_are():
    (package,) = plimsoll.__path__
    tree = ast.parse((Path(package) / "__init__.py").read_text(encoding="utf-8"))
    (typed,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    names = {
        alias.asname or alias.name for node in typed.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert names | {"__version__"} == set(plimsoll.__all__)
    assert (Path(package) / "py.typed").exists()


def test_no_module_has_the_name_of_a_function():
    """Importing a module sets it on its package: it would stand where the function did."""
    assert {one.name for one in iter_modules(plimsoll.__path__)}.isdisjoint(plimsoll.__all__)
