"""The walks of CONTRIBUTING, and a copy of the library to take them in."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def files_of(walk: str) -> list[str]:
    """The files that a walk lists, in its order."""
    found = re.search(rf"^### {walk}\n(.*?)(?=^##)", CONTRIBUTING, re.DOTALL | re.MULTILINE)
    assert found is not None, f"CONTRIBUTING has no walk: {walk}"
    return re.findall(r"^- `([^`]+)`", found[1], re.MULTILINE)


def files_naming(word: str, *folders: str) -> list[str]:
    """The files under these folders in which a word stands, sorted."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".yaml"}]
    named = re.compile(rf"\b{word}\b")
    return sorted(str(path.relative_to(ROOT)) for path in paths if named.search(path.read_text(encoding="utf-8")))


class Copy:
    """A copy of the library that a walk changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.copytree(ROOT / "lib", folder / "lib", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "benchmarks").symlink_to(ROOT / "benchmarks")

    def write(self, path: str, text: str) -> None:
        """Writes a new file."""
        (self._folder / path).write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        """Puts a text in the place of another, which the file has."""
        file = self._folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def run(self, script: str, *arguments: str) -> str:
        """What a script prints that runs with this library."""
        environment = {**os.environ, "PYTHONPATH": f"{self._folder / 'lib'}{os.pathsep}{ROOT}"}
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()
