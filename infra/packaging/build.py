"""Building a handler's zip: its own modules and data, and the distributions that they import."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from infra.packaging import RUNTIME
from infra.packaging.archive import add_folder, compile_all, compiler_for, staged, version_of
from infra.packaging.google import clients_in, keep_clients
from infra.packaging.imports import Imports, Sources, handlers
from infra.packaging.wheels import Lock, install, trim
from plimsoll.clouds.registry import CLOUDS

Architecture = Literal["arm64", "x86_64"]

PROJECT: Final = Path(__file__).parents[2]


_BY_NAME: Final = {"plimsoll.clouds.published": [f"{one.package}.published" for one in CLOUDS.values()]}
"""What the registry of clouds imports by name. A cloud's connection comes only where a function imports it itself, so
that functions which do not ask Google bring none of its libraries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a zip holds: our files by their names in it, texts by name, and distributions with the AWS services and
    the clients of Google's that our files name."""

    files: Mapping[str, Path]
    texts: Mapping[str, str]
    requirements: str
    services: frozenset[str]
    clients: frozenset[str]


def zip_of(
    function: str, *, architecture: Architecture = "arm64", python: str = RUNTIME, folder: Path = PROJECT / "build"
) -> Path:
    """The zip of one Lambda, `functions.<function>.handler`, for that processor and Python; built unless it is there.

    Handlers that import the same distributions share a zip, with all their modules. Its name tells its inputs: the
    same sources, lock file and interpreter give the same name and the same bytes. KeyError for a function that does
    not exist; CalledProcessError where a distribution has no wheel for that processor, or the registry has no answer.
    """
    interpreter, content = compiler_for(python), _contents()[function]
    folder.mkdir(parents=True, exist_ok=True)
    wheels, whole = (folder / name for name in names_of(function, architecture=architecture, python=python))
    compiled = folder / "compiled"
    with TemporaryDirectory(dir=folder) as temporary:
        if not whole.exists() and not wheels.exists():
            site, unfinished = Path(temporary) / "site", Path(temporary) / "wheels.zip"
            install(content.requirements, site, architecture=architecture, python=python)
            trim(site, content.services)
            keep_clients(site, content.clients)
            compile_all(site, interpreter, compiled)
            add_folder(unfinished, site)
            unfinished.replace(wheels)
        if not whole.exists():
            unfinished = Path(temporary) / "lambda.zip"
            copyfile(wheels, unfinished)
            staged(content.files, content.texts.items(), interpreter, to=unfinished, kept=compiled)
            unfinished.replace(whole)
    return whole


def names_of(function: str, *, architecture: Architecture = "arm64", python: str = RUNTIME) -> tuple[str, str]:
    """The names of the zip with a function's distributions alone, and of its whole zip."""
    interpreter, content = compiler_for(python), _contents()[function]
    target = [architecture, python, str(interpreter and version_of(interpreter)), *_own_code()]
    outside = _digest([content.requirements, *sorted(content.services), *sorted(content.clients), *target])
    return f"wheels-{outside}.zip", f"lambda-{_digest([outside, *_described(content)])}.zip"


@cache
def _contents() -> Mapping[str, Content]:
    """What the zip of each function holds."""
    bundled = _bundled()
    packages = {"functions": PROJECT / "functions", "plimsoll": PROJECT / "lib" / "plimsoll"}
    sources = Sources(packages=packages, by_name=_BY_NAME)
    imports = {name: sources.imports_of(f"functions.{name}") for name in handlers(PROJECT / "functions")}
    sharing: dict[frozenset[str], list[Imports]] = {}
    for one in imports.values():
        sharing.setdefault(one.outside, []).append(one)
    lock = Lock(project=PROJECT)
    shared = {
        outside: Content(
            files=dict(pair for one in alike for pair in _own_files(one, bundled)),
            texts=dict(_texts()),
            requirements=lock.requirements(lock.needed_for(outside)),
            services=frozenset().union(*(one.services for one in alike)),
            clients=frozenset().union(*(clients_in(one.modules.values()) for one in alike)),
        )
        for outside, alike in sharing.items()
    }
    return {name: shared[one.outside] for name, one in imports.items()}


def _texts() -> Iterator[tuple[str, str]]:
    """What a zip brings that is no file here, by name."""
    project = _declared()
    # importlib.metadata has to know Plimsoll's version: it is part of what a run says of itself.
    told = f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    yield f"{project['name']}-{project['version']}.dist-info/METADATA", told


def _own_files(found: Imports, bundled: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The files of these modules, and the data beside those that are packages, by their names in the zip."""
    for module, file in found.modules.items():
        at = module.replace(".", "/")
        if file.name != "__init__.py":
            yield f"{at}.py", file
            continue
        yield f"{at}/__init__.py", file
        for data in _data(file.parent):
            yield f"{at}/{data.relative_to(file.parent).as_posix()}", data
        for name, folder in bundled.items():
            if name.startswith(f"{at}/"):
                yield from ((f"{name}/{one.relative_to(folder).as_posix()}", one) for one in _data(folder))


def _data(folder: Path) -> Iterator[Path]:
    """The files of a folder that are no Python, also in folders below that are no packages."""
    for found in sorted(folder.iterdir()):
        if found.is_dir() and found.name != "__pycache__" and not (found / "__init__.py").exists():
            yield from _data(found)
        elif found.is_file() and found.suffix not in {".py", ".pyc"}:
            yield found


def _described(content: Content) -> Iterator[str]:
    """What a zip's own part depends on."""
    for name, file in sorted(content.files.items()):
        yield name
        yield sha256(file.read_bytes()).hexdigest()
    for name, text in sorted(content.texts.items()):
        yield from (name, text)


def _own_code() -> Iterator[str]:
    """What builds zips is among their inputs."""
    return (file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("*.py")))


def _bundled() -> Mapping[str, Path]:
    """Folders that become part of our packages in a wheel, and so in a zip, by their names there."""
    build = _pyproject()["tool"]["hatch"]["build"]["targets"]["wheel"]
    return {name: PROJECT / folder for folder, name in build["force-include"].items()}


def _declared() -> Mapping[str, str]:
    found: Mapping[str, str] = _pyproject()["project"]
    return found


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))


def _digest(parts: Iterable[str]) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:24]
