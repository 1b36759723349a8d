"""Commands in processes that are forked from one which has imported them: what starting Python costs is paid once."""

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def run(*words: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs `python -m plimsoll` with these words in a folder, in a process of its own and with this environment alone.

    Standard input is empty.
    """
    with TemporaryDirectory() as temporary:
        files = [Path(temporary, name) for name in ("stdout", "stderr")]
        told = {"words": words, "folder": str(folder), "environment": dict(environment), "files": [*map(str, files)]}
        first = _first()
        first.stdin.write(f"{json.dumps(told)}\n")
        first.stdin.flush()
        code = int(first.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(file.read_text(encoding="utf-8") for file in files))


@cache
def _first() -> subprocess.Popen[str]:
    """The process that all are forked from, until this one ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.pipelines.forked"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # No threads: they would not be there in what is forked.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    with process:
        process.stdin.close()
