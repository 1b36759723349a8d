"""What a handler imports, read from the sources without running them."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

SERVICES_OF_POWERTOOLS: Final[Mapping[str, str]] = {
    "aws_lambda_powertools": "xray",
    "aws_lambda_powertools.utilities.parameters": "ssm",
    "aws_lambda_powertools.utilities.idempotency": "dynamodb",
}
"""Modules of Powertools that make a client of their own, with its service; its tracer makes one of X-Ray."""

CALLS_OF_POWERTOOLS: Final[Mapping[str, str]] = {"get_secret": "secretsmanager"}
"""What of its parameters asks another service than the module's own, by the name that is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """Everything that modules of ours come to import, also inside functions.

    `modules`: our modules with their files; `outside`: top-level names of other distributions; `services`: the AWS
    services that clients are made for.
    """

    modules: Mapping[str, Path]
    outside: frozenset[str]
    services: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Our top-level packages, each with its folder.

    `by_name` are the modules that a module imports by their names when it runs.
    """

    packages: Mapping[str, Path]
    by_name: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def file_of(self, module: str) -> Path | None:
        """The file of a module of ours; None where there is no such module."""
        top, *rest = module.split(".")
        if top not in self.packages:
            return None
        return _file_in(self.packages[top], *rest)

    def imports_of(self, entry: str) -> Imports:
        """What a module imports, directly or by way of our other modules, and those modules' packages.

        ModuleNotFoundError where one of ours that is imported does not exist.
        """
        modules: dict[str, Path] = {}
        outside: set[str] = set()
        services: set[str] = set()
        waiting = list(_with_packages(entry))
        seen: set[str] = set()
        while waiting:
            module = waiting.pop()
            if module in seen:
                continue
            seen.add(module)
            file = self.file_of(module)
            if file is None:
                top = module.split(".", maxsplit=1)[0]
                if top not in {*self.packages, *sys.stdlib_module_names}:
                    outside.add(top)
                    services |= {SERVICES_OF_POWERTOOLS[module]} if module in SERVICES_OF_POWERTOOLS else set()
                continue
            modules[module] = file
            waiting += [one for name in self.by_name.get(module, ()) for one in _with_packages(name)]
            read = _read(file)
            services |= read.services
            for name, inside in read.imported:
                self._known(name, file)
                waiting += [one for found in (name, *inside) for one in _with_packages(found)]
        return Imports(modules=modules, outside=frozenset(outside), services=frozenset(services))

    def _known(self, module: str, imported_in: Path) -> None:
        if module.split(".", maxsplit=1)[0] in self.packages and self.file_of(module) is None:
            raise ModuleNotFoundError(f"{imported_in} imports {module}, which does not exist", name=module)


@cache
def _file_in(package: Path, *rest: str) -> Path | None:
    """The file of a module below a package's folder, as it was when that was first asked."""
    at = package.joinpath(*rest)
    return next((file for file in (at / "__init__.py", at.with_suffix(".py")) if file.is_file()), None)


def handlers(folder: Path) -> list[str]:
    """The names of the modules in a folder that define a function `handler`."""
    return [file.stem for file in sorted(folder.glob("*.py")) if _has_handler(_parsed(file))]


def _has_handler(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == "handler" for node in tree.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What one file imports, each module with what may be modules in it, and the services it makes clients of."""

    imported: Sequence[tuple[str, Sequence[str]]]
    services: frozenset[str]


@cache
def _read(file: Path) -> _Read:
    tree = _parsed(file)
    return _Read(imported=tuple(_imported(tree.body)), services=frozenset(_clients(tree)))


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def _with_packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _imported(body: Iterable[ast.AST]) -> Iterator[tuple[str, Sequence[str]]]:
    """The modules of every import that can run, each with what may be modules in it.

    Imports for type checkers alone never run.
    """
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from ((name.name, ()) for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module, [f"{module}.{name.name}" for name in names]
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                yield from _imported(otherwise)
            case _:
                yield from _imported(ast.iter_child_nodes(node))


def _clients(tree: ast.Module) -> Iterator[str]:
    """The services of calls such as `session.client("ec2")` and `_client("s3")`, and of Powertools' own."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=called) | ast.Name(id=called), args=[ast.Constant(value=str(service)), *_]
            ) if called.lstrip("_") == "client":
                yield service
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called in CALLS_OF_POWERTOOLS:
                yield CALLS_OF_POWERTOOLS[called]
