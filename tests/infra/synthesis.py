"""Synthesizing, as `npx aws-cdk synth` has it done: by the app in a process of its own, once a run of the tests."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]


def synthesized(folder: Path, settings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """What comes of the app with these settings, in that folder."""
    given = {f"PLIMSOLL_DEPLOY_{name}": value for name, value in settings.items()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_DEPLOY_")}
    return subprocess.run(
        [sys.executable, "-m", "infra.app"],
        cwd=ROOT,
        env={**environment, **given, "CDK_OUTDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def once_a_run(factory: pytest.TempPathFactory, name: str, settings: Mapping[str, str]) -> Path:
    """The folder with the templates of these settings, by whose name all workers of a run find it."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "manifest.json").exists():
            done = synthesized(folder, settings)
            said = done.stdout + done.stderr
            assert (done.returncode, "WARNING" in said) == (0, False), said
    return folder
