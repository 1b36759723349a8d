"""The Dockerfile, as far as it can be checked without Docker: what it copies suffices, and the program is not root."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
COPIED = [line.split()[1:] for line in LINES if line.startswith("COPY ") and "--from" not in line]


def test_what_is_copied_is_in_the_context():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}
    sources = {source for *found, _ in COPIED for source in found}
    assert sources == kept
    assert all((ROOT / source).exists() for source in sources)


def test_the_program_runs_without_root_in_an_image_without_what_built_it():
    last = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM ")) :]
    (user,) = [line.split()[1] for line in last if line.startswith("USER ")]
    assert int(user) > 0
    assert not [line for line in last if line.startswith("RUN ") and "pip" in line]
    assert [line for line in last if line.startswith("ENTRYPOINT")] == ['ENTRYPOINT ["plimsoll"]']


@pytest.mark.once
def test_the_wheel_is_built_of_what_is_copied_alone(tmp_path):
    for *sources, place in COPIED:
        for source in sources:
            target = tmp_path / place.strip("/") / ("" if not place.endswith("/") else source)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, target)
    words = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", tmp_path / "dist", tmp_path / "plimsoll"]
    subprocess.run(words, check=True, capture_output=True, text=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert re.match(r"plimsoll_storage-[\d.]+-py3-none-any\.whl", wheel.name)
