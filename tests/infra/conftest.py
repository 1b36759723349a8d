"""The synthesised templates, as `npx aws-cdk synth` has them made: by the app in a process of its own, once a run."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.infra.templates import Templates

ROOT = Path(__file__).parents[2]

DEPLOYED = {
    "ASSETS": "empty",
    "ORGANIZATION": "true",
    "EXTERNAL_ID": "the-external-id",
    "ALARM_EMAIL": "storage@example.com",
    "ALARM_VOLUMES": "vol-0123456789abcdef0:3000:125",
    "SLACK__TEAMS": "T0123ABCDEF",
    "SLACK__CHANNEL": "C0123ABCDEF",
    "SLACK__USER_GROUPS": "S0123ABCDEF",
}
"""The settings of the templates that the tests read."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.once)


def synthesised(folder: Path, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
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


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The templates of a deployment; workers of one run share them."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "cdk.out"
    with (shared / "cdk.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "manifest.json").exists():
            done = synthesised(folder, DEPLOYED)
            said = done.stdout + done.stderr
            assert (done.returncode, "WARNING" in said) == (0, False), said
    return Templates(folder)
