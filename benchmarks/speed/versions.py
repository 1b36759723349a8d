"""Other versions of Plimsoll, side by side with this one: a commit of this repository, or a wheel."""

import hashlib
import io
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

from figures import CACHE, ROOT

VERSIONS = CACHE / "versions"


def library_of(version: str) -> Path:
    """The folder to import a version from; unpacked when it is asked for first."""
    wheel = Path(version)
    return _of_wheel(wheel) if wheel.suffix == ".whl" else _of_commit(version)


def _of_wheel(wheel: Path) -> Path:
    folder = VERSIONS / hashlib.sha256(wheel.read_bytes()).hexdigest()[:16]
    if not folder.exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)  # noqa: S202  # a wheel that its user names
    return folder


def commit_of(name: str) -> str:
    """The commit that a name stands for."""
    return _git("rev-parse", "--verify", f"{name}^{{commit}}").decode().strip()


def _of_commit(name: str) -> Path:
    commit = commit_of(name)
    folder = VERSIONS / commit
    if not (folder / "pyproject.toml").exists():
        with tarfile.open(
            fileobj=io.BytesIO(_git("archive", commit, "lib", "benchmarks", "pyproject.toml"))
        ) as archive:
            archive.extractall(folder, filter="data")
    _describe(folder)
    return folder / "lib"


def _describe(folder: Path) -> None:
    """Metadata of the distribution under the name that this commit gives it: its code looks its version up by it."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    described = folder / "lib" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info" / "METADATA"
    described.parent.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    described.write_text(text, encoding="utf-8")


def _git(*words: str) -> bytes:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)  # noqa: S603, S607  # our own words
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.decode().strip()}")
    return done.stdout
