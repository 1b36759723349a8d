"""The library's source: each module's tree, and which modules import which."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp

from plimsoll.wings import WINGS

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "lib"
PACKAGES = ("plimsoll", *WINGS)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | Function


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every file, by its path under lib."""
    return {str(path.relative_to(LIBRARY)): ast.parse(path.read_text(encoding="utf-8")) for path in find_files(".py")}


def find_files(*suffixes: str) -> list[Path]:
    """The files of the main house and its wings that have one of the suffixes, in order."""
    paths = (path for package in PACKAGES for path in (LIBRARY / package).rglob("*") if path.suffix in suffixes)
    return sorted(paths)


def walk_functions() -> Iterator[tuple[str, Function]]:
    """Every function and method with its file."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def walk_docstrings() -> Iterator[tuple[str, Documented, str]]:
    """Every docstring with its file and the node that has it."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                yield path, node, text


@cache
def imports() -> dict[str, frozenset[str]]:
    """The modules of the library that each module imports, at whatever depth of its code."""
    graph = grimp.build_graph(*PACKAGES)
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
