"""The contents of a Lambda's zip: distributions that its function imports, and services that our code asks."""

import re
import subprocess
from functools import cache
from typing import Final

from grimp import ImportGraph, build_graph
from uv import find_uv_bin

from infra.packaging import PROJECT
from plimsoll.clouds.registry import AWS, CLOUDS, GOOGLE
from plimsoll.distribution import EXTRAS
from plimsoll.wings import WINGS

PRUNED: Final = {
    "cbor2": "cbor2",
    "jinja2": "jinja2",
    "numpy": "numpy",
    "pyyaml": "yaml",
    "rich": "rich",
    "typer": "typer",
}
"""Distributions that a zip leaves out where its function does not import them, with the package that each brings."""

BY_NAME: Final = {
    "plimsoll.clouds.published": [f"{one.package}.catalog" for one in CLOUDS.values()],
    "plimsoll.clouds.aws.accounts": [CLOUDS[AWS].bench],
}
"""The modules that the registry of clouds imports by name. A cloud's connection comes only where a function imports it
itself, so that functions which do not ask Google bring none of its libraries."""

SERVICES_OF_POWERTOOLS: Final = frozenset({"dynamodb", "secretsmanager", "ssm"})

PACKAGES: Final = ("plimsoll", *WINGS)
"""The library's packages, under lib."""

OWN: Final = (
    *(f"lib/{name}" for name in PACKAGES),
    "functions",
    "benchmarks/measured",
    "benchmarks/jobs",
    "benchmarks/learned",
)

_HANDLER: Final = re.compile(r"^(def handler\(|handler = )", re.MULTILINE)

_CLIENT_OF_AWS: Final = re.compile(r'\b_?client\(\s*"([\w-]+)"')

_CLIENT_OF_GOOGLE: Final = re.compile(r"\b[A-Z]\w*Client\b")


def handlers() -> list[str]:
    """The names of the modules in functions/ that define a handler."""
    files = sorted((PROJECT / "functions").glob("*.py"))
    return [file.stem for file in files if _HANDLER.search(file.read_text(encoding="utf-8"))]


def distributions(function: str, *, google: bool = True) -> tuple[str, ...]:
    """The distributions of a function, each as name==version; Google's only where its cloud is audited."""
    packages = {module.partition(".")[0] for module in imports_of(f"functions.{function}")}
    wanted = [extra for extra in EXTRAS if google or extra.name != GOOGLE]
    extras = [extra.name for extra in wanted if packages & {*extra.packages}]
    return _requirements(tuple(extras), tuple(name for name, package in PRUNED.items() if package not in packages))


@cache
def imports_of(module: str) -> frozenset[str]:
    """The modules that a module imports, directly or not, also inside functions; of others' only the package."""
    return frozenset(_find_imports(_graph(), module))


def own_packages(function: str) -> tuple[str, ...]:
    """The library's packages that a function imports. Of other wings its zip has nothing."""
    packages = {module.partition(".")[0] for module in imports_of(f"functions.{function}")}
    return tuple(name for name in PACKAGES if name in packages)


@cache
def _requirements(extras: tuple[str, ...], pruned: tuple[str, ...]) -> tuple[str, ...]:
    options = [word for extra in extras for word in ("--extra", extra)]
    options += [word for name in pruned for word in ("--prune", name)]
    return tuple(line.split(" ")[0] for line in _export("--no-hashes", *options).splitlines())


@cache
def all_requirements() -> str:
    """The requirements of all functions, with hashes."""
    return _export(*(word for extra in EXTRAS if extra.name != "demo" for word in ("--extra", extra.name)))


def _export(*options: str) -> str:
    fixed = ("--frozen", "--no-emit-project", "--no-header", "--no-annotate", "--no-default-groups")
    words = (find_uv_bin(), "export", *fixed, "--project", str(PROJECT), "--group", "functions", *options)
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603  # uv, our words


@cache
def _graph() -> ImportGraph:
    return build_graph(
        *PACKAGES, "functions", include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def _find_imports(graph: ImportGraph, entry: str) -> set[str]:
    """The modules that a module imports, directly or not, also inside functions, with their packages."""
    imported: set[str] = set()
    waiting = [entry]
    while waiting:
        module = waiting.pop()
        if module not in imported and module in graph.modules:
            imported.add(module)
            waiting += graph.find_modules_directly_imported_by(module)
            waiting += [*BY_NAME.get(module, ()), module.rpartition(".")[0]]
    return imported


@cache
def asked_services() -> frozenset[str]:
    """The AWS services that any of our code makes a client of."""
    return SERVICES_OF_POWERTOOLS | {name for text in _sources() for name in _CLIENT_OF_AWS.findall(text)}


@cache
def google_clients() -> frozenset[str]:
    """The names in our code that may be clients of Google's."""
    return frozenset(name for text in _sources() for name in _CLIENT_OF_GOOGLE.findall(text))


@cache
def _sources() -> tuple[str, ...]:
    files = (file for place in OWN for file in sorted((PROJECT / place).rglob("*.py")))
    return tuple(file.read_text(encoding="utf-8") for file in files)
