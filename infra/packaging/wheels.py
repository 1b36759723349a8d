"""The distributions that a handler needs, from the lock file, installed for another machine and trimmed."""

import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, Final

from uv import find_uv_bin

GLIBC: Final = "manylinux_2_28"
"""Wheels for this C library or an older one. Amazon Linux 2023, under the python3.13 runtime, has glibc 2.34."""

FOLDERS_LEFT_OUT: Final = frozenset({
    "bin",
    "boto3/data",
    "boto3/examples",
    "numpy/_core/include",
    "numpy/_core/lib",
    "numpy/f2py",
    "numpy/random/lib",
})  # fmt: skip
"""Folders that no handler reads: commands, boto3's resources, and what numpy compiles others' code with."""

NAMES_LEFT_OUT: Final = frozenset({"tests", "__pycache__"})
"""Folders that no handler reads, wherever they are."""

SUFFIXES_LEFT_OUT: Final = frozenset({".pyi", ".pxd", ".a", ".h", ".proto"})
"""Files for compilers and type checkers: what is compiled of them is there."""

INSTALLATION: Final = frozenset({"RECORD", "INSTALLER", "REQUESTED", "WHEEL"})
"""Files beside a distribution's metadata that say how it was installed."""

FOR_EVERY_SERVICE: Final = ("endpoints", "partitions", "sdk-default-configuration", "_retry")
"""Files of botocore's data that belong to no service."""

_ITSELF: Final = ""
"""In place of an extra's name: what a distribution needs without any."""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """The project's lock file, as it was when it was first read."""

    project: Path

    def needed_for(self, outside: Iterable[str]) -> frozenset[str]:
        """The distributions that bring these importable names, with all that they need themselves.

        KeyError where nothing installed here brings a name.
        """
        brought_by = _brought_by()
        ours = next(package for name, package in self._packages() if name == "plimsoll")
        declared = [*ours["dependencies"], *ours["dev-dependencies"]["functions"]]
        extras = {found["name"]: tuple(found.get("extra", ())) for found in declared}
        locked: dict[str, list[Mapping[str, Any]]] = {}
        for name, package in self._packages():
            locked.setdefault(name, []).append(package)
        roots = {_normal(one) for name in outside for one in brought_by[name]} & set(locked)
        needed: set[tuple[str, str]] = set()
        waiting = {(root, extra) for root in roots for extra in (_ITSELF, *extras.get(root, ()))}
        while waiting:
            needed |= waiting
            found = [one for name, extra in waiting for package in locked[name] for one in _needs(package, extra)]
            waiting = {(one["name"], extra) for one in found for extra in (_ITSELF, *one.get("extra", ()))} - needed
        return frozenset(name for name, _ in needed)

    def requirements(self, distributions: Iterable[str]) -> str:
        """The lines of a requirements file for these distributions, with the lock file's versions and hashes."""
        wanted = set(distributions)
        return "".join(f"{one}\n" for one in _entries(self._exported) if one.split("==")[0] in wanted)

    @cached_property
    def _exported(self) -> str:
        return _uv(
            *("export", "--frozen", "--project", str(self.project), "--no-emit-project", "--no-header"),
            *("--no-annotate", "--no-default-groups", "--group", "functions"),
        )

    @cached_property
    def _locked(self) -> Sequence[Mapping[str, Any]]:
        read: Sequence[Mapping[str, Any]] = tomllib.loads((self.project / "uv.lock").read_text(encoding="utf-8"))[
            "package"
        ]
        return read

    def _packages(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((package["name"], package) for package in self._locked)


def install(requirements: str, folder: Path, *, architecture: str, python: str) -> None:
    """Unpacks a requirements file's wheels for that processor and Python; CalledProcessError where one has none."""
    listed = folder.parent / "requirements.txt"
    listed.write_text(requirements, encoding="utf-8")
    machine = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    _uv(
        *("pip", "install", "--quiet", "--no-config", "--target", str(folder), "--link-mode", "copy"),
        *("--python-platform", f"{machine}-{GLIBC}", "--python-version", python, "--only-binary", ":all:"),
        *("--no-deps", "--require-hashes", "--requirements", str(listed)),
    )


def trim(folder: Path, services: Iterable[str]) -> None:
    """Takes away what no handler reads, and botocore's descriptions of all other services and of older versions."""
    data = folder / "botocore" / "data"
    kept = {*services, *FOR_EVERY_SERVICE}
    for found in data.glob("*"):
        if found.name.split(".")[0] not in kept:
            _remove(found)
    for service in services:
        for earlier in sorted((data / service).glob("*-*-*"))[:-1]:
            _remove(earlier)
    for found in sorted(folder.rglob("*")):
        if found.exists() and _is_left_out(found, found.relative_to(folder)):
            _remove(found)


@cache
def _brought_by() -> Mapping[str, Sequence[str]]:
    """The distributions here that bring an importable name: every one of their files is looked at."""
    return packages_distributions()


def _needs(package: Mapping[str, Any], extra: str) -> Sequence[Mapping[str, Any]]:
    """What a locked distribution needs itself, or an extra of it in addition."""
    needs: Sequence[Mapping[str, Any]] = (
        package.get("dependencies", ()) if extra == _ITSELF else package["optional-dependencies"][extra]
    )
    return needs


def _is_left_out(found: Path, name: Path) -> bool:
    if found.is_dir():
        return name.as_posix() in FOLDERS_LEFT_OUT or name.name in NAMES_LEFT_OUT
    described = name.parent.suffix == ".dist-info" and name.name in INSTALLATION
    return described or name.suffix in SUFFIXES_LEFT_OUT


def _remove(found: Path) -> None:
    if found.is_dir():
        shutil.rmtree(found)
    else:
        found.unlink()


def _entries(exported: str) -> Iterator[str]:
    """The entries of a requirements file, each with its continued lines."""
    yield from (entry.strip() for entry in exported.replace("\\\n", "").splitlines() if entry.strip())


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _uv(*words: str) -> str:
    return subprocess.run(  # noqa: S603  # uv of this environment, with words of this module
        [find_uv_bin(), *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
