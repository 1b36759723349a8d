"""Building a Lambda's zip: the distributions are installed and compiled once for a processor, and our own code once."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import distributions as installed
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from uv import find_uv_bin

from infra.packaging import PROJECT, RUNTIME
from infra.packaging.contents import (
    OWN,
    PACKAGES,
    all_requirements,
    asked_services,
    distributions,
    google_clients,
    own_packages,
)

Architecture = Literal["arm64", "x86_64"]

GLIBC: Final = "manylinux_2_28"
"""Wheels for this C library or an older one. Amazon Linux 2023, under the python3.13 runtime, has glibc 2.34."""

TRIMMED: Final = (
    *("bin", "boto3/data", "boto3/examples", "google/cloud/compute", "numpy/_core/include", "numpy/_core/lib"),
    *("numpy/f2py", "numpy/random/lib", "**/tests", "**/*.pyi", "**/*.pxd", "**/*.a", "**/*.h", "**/*.proto"),
    *("*.dist-info/INSTALLER", "*.dist-info/REQUESTED", "*.dist-info/WHEEL"),
)
"""Files that no handler reads: commands, tests, and what only compilers and type checkers read."""

_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every entry: the first that a zip can hold."""

_ALL_READ: Final = 0o100644 << 16
"""The mode of every entry: Lambda's user owns none of them."""

_NOT_NORMAL: Final = re.compile(r"[-_.]+")

_SERVICE_OF_GOOGLE: Final = re.compile(r"^from \.services\.(\w+) import (\w+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The target of a zip: the processor, the Python, and if Google Cloud is audited, for which libraries are large."""

    architecture: Architecture = "arm64"
    python: str = RUNTIME
    google: bool = True

    @property
    def digested(self) -> tuple[str, ...]:
        """The inputs of compiled code: another patch of Python may compile to other bytes."""
        interpreter = interpreter_of(self.python)
        return (self.architecture, self.python, _run(interpreter, "-V") if interpreter else "", all_requirements())


ANY_CLOUD: Final = Target()
"""Lambda's own target, with what all clouds take."""


def zip_of(function: str, target: Target = ANY_CLOUD, *, folder: Path = PROJECT / "build") -> Path:
    """The zip of the Lambda `functions.<function>.handler`; built unless it is there.

    Functions that need the same packages share a zip. Its name is a digest of its inputs, and the same inputs give
    the same bytes. CalledProcessError where a distribution has no wheel for the processor, or the registry no answer.
    """
    path = folder / name_of(function, target)
    if not path.exists():
        inputs = target.digested
        site = folder / f"site-{_digest((*inputs, *sorted(asked_services()), *sorted(google_clients())))}"
        _make_folder(site, lambda unfinished: _install(unfinished, target.architecture, target.python), target.python)
        own_folder = folder / f"own-{_digest((*inputs, _own_digest()))}"
        _make_folder(own_folder, _copy_own, target.python)
        left_out = {*PACKAGES} - {*own_packages(function)}
        every = {file.relative_to(own_folder): file for file in own_folder.rglob("*") if file.is_file()}
        ours = {place.as_posix(): file for place, file in every.items() if place.parts[0] not in left_out}
        needed = distributions(function, google=target.google)
        _zip({**{file.relative_to(site).as_posix(): file for file in _files_of(site, needed)}, **ours}, path)
    return path


def name_of(function: str, target: Target = ANY_CLOUD) -> str:
    """The name of a function's zip."""
    needed = (*distributions(function, google=target.google), *own_packages(function))
    return f"lambda-{_digest((*target.digested, _own_digest(), *needed))}.zip"


@cache
def _own_digest() -> str:
    """A digest of all our own code in a zip, and of the code that builds it."""
    folders = (*(PROJECT / place for place in OWN), Path(__file__).parent)
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if "__pycache__" not in file.parts]
    existing = [file for file in (*files, PROJECT / "pyproject.toml") if file.is_file()]
    digests = ((file.relative_to(PROJECT).as_posix(), sha256(file.read_bytes()).hexdigest()) for file in existing)
    return _digest(part for pair in digests for part in pair)


def _install(site: Path, architecture: Architecture, python: str) -> None:
    """Unpacks every function's distributions for that processor and Python, and takes away what no handler reads."""
    listed = site.with_suffix(".txt")
    listed.write_text(all_requirements(), encoding="utf-8")
    machine = {"arm64": "aarch64", "x86_64": "x86_64"}[architecture]
    fixed = ("--quiet", "--no-config", "--link-mode", "copy", "--only-binary", ":all:", "--no-deps", "--require-hashes")
    platform = ("--python-platform", f"{machine}-{GLIBC}", "--python-version", python)
    _run(find_uv_bin(), "pip", "install", *fixed, *platform, "--target", site, "--requirements", listed)
    listed.unlink()
    for path in [path for pattern in TRIMMED for path in site.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    _trim_botocore(site / "botocore" / "data")
    _trim_compute(site / "google" / "cloud" / "compute_v1")


def _trim_botocore(data: Path) -> None:
    """Leaves the newest description of each service that is asked; files that belong to no service stay."""
    for service in [folder for folder in data.iterdir() if folder.is_dir()]:
        versions = sorted(service.iterdir())
        for folder in versions[:-1] if service.name in asked_services() else [service]:
            shutil.rmtree(folder)


def _trim_compute(package: Path) -> None:
    """Leaves the services of Compute Engine that are asked, and the operations that they wait for."""
    init = package / "__init__.py"
    text = init.read_text(encoding="utf-8")
    for service, client in _SERVICE_OF_GOOGLE.findall(text):
        if client not in google_clients() and not service.endswith("_operations"):
            shutil.rmtree(package / "services" / service)
            text = text.replace(f"from .services.{service} import {client}\n", "").replace(f'    "{client}",\n', "")
    init.write_text(text, encoding="utf-8")


def _copy_own(folder: Path) -> None:
    """Plimsoll without its command line, with the data that the wheel bundles, and the functions."""
    pyproject = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    bundled = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    ignored = shutil.ignore_patterns("__pycache__", "cli", "__main__.py")
    own = {f"lib/{name}": name for name in PACKAGES}
    for place, name in {**own, "functions": "functions", **bundled}.items():
        shutil.copytree(PROJECT / place, folder / name, ignore=ignored, dirs_exist_ok=True)
    # A run says which version of Plimsoll made it.
    name, version = pyproject["project"]["name"], pyproject["project"]["version"]
    described = folder / f"{_NOT_NORMAL.sub('_', name)}-{version}.dist-info" / "METADATA"
    described.parent.mkdir()
    described.write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n", encoding="utf-8")


def _make_folder(folder: Path, fill: Callable[[Path], None], python: str) -> None:
    """Makes a folder that is filled and compiled, or not there at all.

    A function cannot write beside its code, so source that is not compiled here is compiled at every cold start.
    Without an interpreter of that Python the sources stay as they are.
    """
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(dir=folder.parent))
    fill(unfinished)
    if interpreter := interpreter_of(python):
        compiling = ("-m", "compileall", "-q", "-f", "-j", "0", "--invalidation-mode", "unchecked-hash")
        _run(interpreter, *compiling, "-s", unfinished, "-p", "/var/task", unfinished)
    if folder.exists():  # another process was faster
        shutil.rmtree(unfinished)
    else:
        unfinished.replace(folder)


@cache
def interpreter_of(python: str) -> Path | None:
    """An interpreter of that version on this machine. None if there is none."""
    if python == "{}.{}".format(*sys.version_info):
        return Path(sys.executable)
    places = (shutil.which(f"python{python}"), *Path.home().glob(f".pyenv/versions/{python}*/bin/python{python}"))
    return next((Path(place) for place in places if place and _runs(place)), None)


def _runs(interpreter: str | Path) -> bool:
    return subprocess.run([interpreter, "-V"], check=False, capture_output=True).returncode == 0  # noqa: S603


def _files_of(site: Path, needed: Iterable[str]) -> Iterator[Path]:
    """The files of these distributions that are there, with what they were compiled to."""
    names = {distribution.partition("==")[0] for distribution in needed}
    for distribution in installed(path=[str(site)]):
        if _NOT_NORMAL.sub("-", distribution.name).lower() in names:
            for file in [site / path for path in distribution.files or () if path.name != "RECORD"]:
                yield from (
                    path for path in (file, *file.parent.glob(f"__pycache__/{file.stem}.*.pyc")) if path.is_file()
                )


def _zip(files: Mapping[str, Path], path: Path) -> None:
    """Writes a zip, whole or not at all, whose bytes depend on its files' names and bytes alone."""
    unfinished = path.with_name(f"{os.getpid()}-{path.name}")
    with ZipFile(unfinished, "w") as zipped:
        for name, file in sorted(files.items()):
            entry = ZipInfo(name, _DATE)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, _ALL_READ, 3
            zipped.writestr(entry, file.read_bytes())
    unfinished.replace(path)


def _digest(parts: Iterable[str]) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:24]


def _run(*words: str | Path) -> str:
    """The output of a command; the order of sets, which compiled code shows, is the same every time."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(  # noqa: S603  # an interpreter or uv, with words of this module
        words, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout.strip()
