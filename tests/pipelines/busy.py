"""A machine that is busy: work on every CPU, and a fio that gets what that leaves it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOGS_A_CPU = 2

_STARVED = """#!/bin/sh
{fio} "$@" &
fio=$!
trap 'kill -s CONT "${{fio}}"; kill -s TERM "${{fio}}"' TERM
while kill -s STOP "${{fio}}" 2>/dev/null; do
  sleep 0.3
  kill -s CONT "${{fio}}"
  sleep 0.01
done
wait "${{fio}}"
"""


@contextmanager
def busy_cpus() -> Iterator[None]:
    """More work than there are CPUs, gently: what else runs on this machine goes before it."""
    count = HOGS_A_CPU * (os.cpu_count() or 1)
    hogs = [subprocess.Popen(["nice", "-n", "10", "sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def starved_fio(folder: Path) -> str:
    """A PATH whose fio is stopped for most of the time, as a busy hypervisor stops a whole machine."""
    tool = folder / "starved" / "fio"
    tool.parent.mkdir()
    tool.write_text(_STARVED.format(fio=shutil.which("fio")), encoding="utf-8")
    tool.chmod(0o755)
    return f"{tool.parent}:{os.environ['PATH']}"
