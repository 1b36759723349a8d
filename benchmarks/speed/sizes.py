"""The size of what is installed and deployed: the wheel, an installation without extras, the functions' packages."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from figures import CACHE, ROOT, Row
from uv import find_uv_bin

sys.path.insert(0, str(ROOT))

from infra.packaging.contents import handlers  # beside the tests, which no installation has
from infra.packaging.zips import Target, zip_of

MOST_INSTALLED_MIB: Final = 120.0
MOST_UNPACKED_MB: Final = 250.0
"""A function's package unpacked, with its layers (AWS Lambda Developer Guide, "Lambda quotas", read 2026-11-22)."""


def measure() -> Iterator[Row]:
    """The rows of what a person installs, and of what Lambda holds."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        _uv("build", "--quiet", "--wheel", "--out-dir", folder, ROOT)
        (wheel,) = folder.glob("*.whl")
        _uv("venv", "--quiet", "--python", sys.executable, folder / "venv")
        python = folder / "venv" / "bin" / "python"
        _uv("pip", "install", "--quiet", "--python", python, "--link-mode", "copy", wheel)
        (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
        files = [path for path in site.rglob("*") if "__pycache__" not in path.parts]
        installed = sum(path.lstat().st_blocks * 512 for path in files)
        yield Row(what="the wheel", measured=f"{wheel.stat().st_size / 1e6:.1f} MB")
        yield Row.at_most("installed without extras", installed / 2**20, MOST_INSTALLED_MIB, "MiB")
    packages = {name: zip_of(name, Target(google=False), folder=CACHE / "packages") for name in handlers()}
    sizes = {name: path.stat().st_size / 1e6 for name, path in packages.items()}
    largest, smallest = max(sizes, key=sizes.__getitem__), min(sizes, key=sizes.__getitem__)
    yield Row(
        what=f"packages of {len(sizes)} functions, without Google's libraries, from `{smallest}` to `{largest}`",
        measured=f"{sizes[smallest]:.1f} to {sizes[largest]:.1f} MB",
    )
    yield Row.at_most(f"… `{largest}` unpacked", _unpacked_mb(packages[largest]), MOST_UNPACKED_MB, "MB")


def _unpacked_mb(package: Path) -> float:
    with ZipFile(package) as archive:
        return sum(entry.file_size for entry in archive.infolist()) / 1e6


def _uv(*words: str | Path) -> None:
    subprocess.run([find_uv_bin(), *map(str, words)], cwd=ROOT, check=True)  # noqa: S603  # uv, with words of this module


if __name__ == "__main__":
    for row in measure():
        sys.stdout.write(f"{row}\n")
