"""Commands in processes that are forked from one which has imported them: what starting Python costs is paid once.

Run as a module, it is that one: it reads a command a line from standard input, as JSON, and writes its exit code.
"""

import atexit
import json
import os
import pkgutil
import runpy
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch


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
        [sys.executable, "-m", __name__],
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


def _serve() -> None:
    _import_all()
    for line in sys.stdin:
        told = json.loads(line)
        forked = os.fork()
        if not forked:
            return _become(told)
        code = os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()
    return None


def _become(told: Mapping[str, Any]) -> None:
    """Is the command from here on, and ends as it does."""
    for number, name in enumerate((os.devnull, *told["files"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # the old one has read ahead
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = ["plimsoll", *told["words"]]
    runpy.run_module("plimsoll", run_name="__main__", alter_sys=True)


def _import_all() -> None:
    """Imports all commands, and makes what is the same in every report."""
    commands = import_module("plimsoll.cli")
    for found in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        import_module(found.name)
    from plimsoll.reports.charts.drawing import bundled
    from plimsoll.reports.html import pictures

    # In another process, because what makes the script starts threads.
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as other:
        script = other.submit(bundled).result()
    with patch.object(pictures, "javascript_bundle", return_value=script):
        pictures.drawing_script()
    pictures.specs()


if __name__ == "__main__":
    _serve()
