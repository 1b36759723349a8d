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
_OTHER: Final = re.compile(r"^from google\.cloud\.compute_v1\.services import (\w+)$", re.MULTILINE)
"""How the code of a service imports another."""


def clients_in(files: Iterable[Path]) -> frozenset[str]:
    """The names of classes in these sources that may be clients of Google's."""
    sources = (file.read_text(encoding="utf-8") for file in files if file.suffix == ".py")
    return frozenset(name for source in sources for name in _CLIENT.findall(source))


def keep_clients(folder: Path, clients: frozenset[str]) -> None:
    """Takes the services away whose clients are not named, and their imports from the package, which imports all.

    A service that another one works with, as those of operations, stays with it.
    """
    package = folder / _PACKAGE
    if not package.exists():
        return
    shutil.rmtree(folder / _AGAIN, ignore_errors=True)
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    brought = {service: names for one in tree.body for service, names in _brought(one)}
    kept = _with_theirs(package, {service for service, names in brought.items() if names & clients})
    for service in brought.keys() - kept:
        shutil.rmtree(package / "services" / service)
    gone = frozenset(name for service in brought.keys() - kept for name in brought[service])
    body = [_without(one, gone) for one in tree.body if all(service in kept for service, _ in _brought(one))]
    whole = ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))
    (package / "__init__.py").write_text(ast.unparse(whole), encoding="utf-8")


def _with_theirs(package: Path, services: set[str]) -> set[str]:
    """These services with all that they import."""
    kept, waiting = set[str](), [*services]
    while waiting:
        service = waiting.pop()
        if service in kept:
            continue
        kept.add(service)
        for file in (package / "services" / service).rglob("*.py"):
            waiting += _OTHER.findall(file.read_text(encoding="utf-8"))
    return kept


def _brought(statement: ast.stmt) -> list[tuple[str, frozenset[str]]]:
    """The service that a statement of the package imports from, with the clients; nothing for other statements."""
    match statement:
        case ast.ImportFrom(module=str(module), names=names, level=1) if module.startswith("services."):
            return [(module.removeprefix("services."), frozenset(name.name for name in names))]
        case _:
            return []


def _without(statement: ast.stmt, gone: frozenset[str]) -> ast.stmt:
    """The statement; `__all__` without the names that are gone."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.Tuple(elts=names)):
            there = [one for one in names if not (isinstance(one, ast.Constant) and one.value in gone)]
            return ast.Assign(targets=statement.targets, value=ast.Tuple(elts=there, ctx=ast.Load()))
        case _:
            return statement
