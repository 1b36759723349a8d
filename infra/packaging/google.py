"""Google's client of Compute Engine, without the services that nothing here asks: it brings a hundred of them."""

import ast
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_PACKAGE: Final = "google/cloud/compute_v1"
_AGAIN: Final = "google/cloud/compute"
"""The same classes under a name without a version, which nothing here imports."""

_CLIENT: Final = re.compile(r"\b[A-Z]\w*Client\b")


def clients_in(files: Iterable[Path]) -> frozenset[str]:
    """The names of classes in these sources that may be clients of Google's."""
    sources = (file.read_text(encoding="utf-8") for file in files if file.suffix == ".py")
    return frozenset(name for source in sources for name in _CLIENT.findall(source))


def keep_clients(folder: Path, clients: frozenset[str]) -> None:
    """Takes the services away whose clients are not named, and their imports from the package, which imports all."""
    package = folder / _PACKAGE
    if not package.exists():
        return
    shutil.rmtree(folder / _AGAIN, ignore_errors=True)
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    gone = {name for statement in tree.body for name in _brought(statement) if name not in clients}
    body = [one for one in tree.body if not _brought(one) or not gone.issuperset(_brought(one))]
    for statement in tree.body:
        if statement not in body and isinstance(statement, ast.ImportFrom):
            shutil.rmtree(package / str(statement.module).replace(".", "/"))
    kept = ast.Module(body=[_without(one, gone) for one in body], type_ignores=[])
    (package / "__init__.py").write_text(ast.unparse(ast.fix_missing_locations(kept)), encoding="utf-8")


def _brought(statement: ast.stmt) -> frozenset[str]:
    """The clients that a statement of the package imports from one of its services."""
    match statement:
        case ast.ImportFrom(module=str(module), names=names, level=1) if module.startswith("services."):
            return frozenset(name.name for name in names)
        case _:
            return frozenset()


def _without(statement: ast.stmt, gone: set[str]) -> ast.stmt:
    """The statement; `__all__` without the names that are gone."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.Tuple(elts=names)):
            there = [one for one in names if not (isinstance(one, ast.Constant) and one.value in gone)]
            return ast.Assign(targets=statement.targets, value=ast.Tuple(elts=there, ctx=ast.Load()))
        case _:
            return statement
