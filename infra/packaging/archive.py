"""Zips whose bytes depend on their content alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from uv import find_uv_bin

DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every entry: the first that a zip can hold."""

AS_WRITTEN: Final = 0o100644 << 16
"""The mode of every entry, as a zip holds it: a file that all may read (Lambda's user owns none of them)."""


@cache
def compiler_for(python: str) -> Path | None:
    """An interpreter of that version on this machine; None where there is none."""
    if python == "{}.{}".format(*sys.version_info):
        return Path(sys.executable)
    elsewhere = sorted(Path.home().glob(f".pyenv/versions/{python}*/bin/python{python}"))
    found = _run(find_uv_bin(), "python", "find", "--no-python-downloads", "--no-project", python, check=False)
    return Path(found) if found else next(iter(elsewhere), None)


@cache
def version_of(interpreter: Path) -> str:
    """The whole version of an interpreter: another patch may compile to other bytes."""
    return _run(interpreter, "-V")


def compile_all(folder: Path, interpreter: Path | None, kept: Path) -> None:
    """Compiles a folder's sources, so that a cold start need not; without an interpreter they stay as they are.

    A function cannot write beside its code, so that what is not compiled here is compiled at every cold start. The
    compiled files are not checked against their sources' dates: all dates in the zip are the same. What was compiled
    is kept in the folder `kept` for other zips, most of whose sources are the same.
    """
    if interpreter is None:
        return
    tag, files = _tag_of(interpreter), sorted(folder.rglob("*.py"))
    for file in files:
        file.with_name("__pycache__").mkdir(exist_ok=True)
    compiled = {file: file.with_name("__pycache__") / f"{file.stem}.{tag}.pyc" for file in files}
    known = {file: kept / _name_of(file, folder, interpreter) for file in files}
    missing = [file for file in files if not known[file].exists()]
    for file in set(files) - set(missing):
        shutil.copyfile(known[file], compiled[file])
    quietly = ("-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", "-i", "-")
    _run(interpreter, *quietly, "-s", folder, "-p", "/var/task", told="".join(f"{file}\n" for file in missing))
    kept.mkdir(exist_ok=True)
    with TemporaryDirectory(dir=kept) as temporary:
        for file in missing:
            unfinished = Path(temporary) / "file"
            shutil.copyfile(compiled[file], unfinished)
            unfinished.replace(known[file])


def _name_of(file: Path, folder: Path, interpreter: Path) -> str:
    """A name that tells all that a compiled file depends on: compiled code has its source's path in it."""
    path = file.relative_to(folder).as_posix()
    parts = (version_of(interpreter).encode(), path.encode(), file.read_bytes())
    return f"{sha256(b''.join(sha256(part).digest() for part in parts)).hexdigest()}.pyc"


@cache
def _tag_of(interpreter: Path) -> str:
    return _run(interpreter, "-c", "import sys; print(sys.implementation.cache_tag)")


def add_folder(archive: Path, folder: Path) -> None:
    """Adds all files of a folder to a zip, sorted by name; makes the zip where there is none."""
    with ZipFile(archive, "a") as zipped:
        for file in sorted(found for found in folder.rglob("*") if found.is_file()):
            entry = ZipInfo(file.relative_to(folder).as_posix(), DATE)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, AS_WRITTEN, 3
            zipped.writestr(entry, file.read_bytes())


def staged(
    files: Mapping[str, Path], written: Iterable[tuple[str, str]], interpreter: Path | None, *, to: Path, kept: Path
) -> None:
    """Adds files under other names, and texts, to a zip; Python among them is compiled."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, file in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        for name, text in written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        compile_all(folder, interpreter, kept)
        add_folder(to, folder)


def _run(*words: str | Path, check: bool = True, told: str = "") -> str:
    """What a command prints; the order of sets, which compiled code shows, is the same every time."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(  # noqa: S603  # an interpreter or uv, with words of this module
        words, check=check, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, input=told
    ).stdout.strip()
