"""What a handler imports, read from the sources without running them."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SERVICES_OF_POWERTOOLS: Final[Mapping[str, str]] = {
    "aws_lambda_powertools.utilities.parameters": "ssm",
    "aws_lambda_powertools.utilities.idempotency": "dynamodb",
}
"""Modules of Powertools that make a client of their own, with its service."""


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
    """Our top-level packages, each with its folder, and modules that stay out of every zip."""

    packages: Mapping[str, Path]
    left_out: frozenset[str] = frozenset()

    def file_of(self, module: str) -> Path | None:
        """The file of a module of ours; None where there is no such module."""
        top, *rest = module.split(".")
        if top not in self.packages:
            return None
        at = self.packages[top].joinpath(*rest)
        return next((file for file in (at / "__init__.py", at.with_suffix(".py")) if file.is_file()), None)

    def imports_of(self, entry: str) -> Imports:
        """What a module imports, directly or by way of our other modules, and those modules' packages."""
        modules: dict[str, Path] = {}
        outside: set[str] = set()
        services: set[str] = set()
        waiting = list(_with_packages(entry))
        while waiting:
            module = waiting.pop()
            file = self.file_of(module)
            if module in modules or module in self.left_out:
                continue
            if file is None:
                if module.split(".")[0] not in self.packages | dict.fromkeys(sys.stdlib_module_names):
                    outside.add(module.split(".")[0])
                    services |= {SERVICES_OF_POWERTOOLS[module]} if module in SERVICES_OF_POWERTOOLS else set()
                continue
            modules[module] = file
            tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
            services |= set(_clients(tree))
            waiting += [one for name in _imported(tree.body) for one in _with_packages(name)]
        return Imports(modules=modules, outside=frozenset(outside), services=frozenset(services))


def handlers(folder: Path) -> list[str]:
    """The names of the modules in a folder that define a function `handler`."""
    found = []
    for file in sorted(folder.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
        if any(isinstance(node, ast.FunctionDef) and node.name == "handler" for node in tree.body):
            found.append(file.stem)
    return found


def _with_packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _imported(body: Iterable[ast.AST]) -> Iterator[str]:
    """Names that may be modules, of every import that can run: those for type checkers alone cannot."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                yield from _imported(otherwise)
            case _:
                yield from _imported(ast.iter_child_nodes(node))


def _clients(tree: ast.Module) -> Iterator[str]:
    """The services of calls such as `session.client("ec2")` and `_client("s3")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=called) | ast.Name(id=called), args=[ast.Constant(value=str(service)), *_]
            ) if called.lstrip("_") == "client":
                yield service
