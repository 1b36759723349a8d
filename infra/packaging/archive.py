"""Zips whose bytes depend on their content alone."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
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


def compile_all(folder: Path, interpreter: Path | None) -> None:
    """Compiles a folder's sources, so that a cold start need not; without an interpreter they stay as they are.

    A function cannot write beside its code, so that what is not compiled here is compiled at every cold start. The
    compiled files are not checked against their sources' dates: all dates in the zip are the same.
    """
    if interpreter is not None:
        quietly = ("-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash")
        _run(interpreter, *quietly, "-s", folder, "-p", "/var/task", folder)


def add_folder(archive: Path, folder: Path) -> None:
    """Adds all files of a folder to a zip, sorted by name; makes the zip where there is none."""
    with ZipFile(archive, "a") as zipped:
        for file in sorted(found for found in folder.rglob("*") if found.is_file()):
            entry = ZipInfo(file.relative_to(folder).as_posix(), DATE)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, AS_WRITTEN, 3
            zipped.writestr(entry, file.read_bytes())


def staged(files: Mapping[str, Path], written: Iterable[tuple[str, str]], interpreter: Path | None, to: Path) -> None:
    """Adds files under other names, and texts, to a zip; Python among them is compiled."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, file in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        for name, text in written:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        compile_all(folder, interpreter)
        add_folder(to, folder)


def _run(*words: str | Path, check: bool = True) -> str:
    """What a command prints; the order of sets, which compiled code shows, is the same every time."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(  # noqa: S603  # an interpreter or uv, with words of this module
        words, check=check, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ).stdout.strip()
