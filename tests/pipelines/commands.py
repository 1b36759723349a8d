"""The real command line as a user runs it, against a simulated organization."""

import os
import subprocess
import sys
from pathlib import Path

from cloud_simulator.running import Running

from .forking import run

TWO_DAYS = ("--lookback-days", "2")
REGIONS = ("--region", "us-east-1", "--region", "eu-west-1")
IN_PART = REGIONS[2:]
"""Two accounts' 35 volumes, where what is proved does not depend on how many there are."""

ROOM = 3
"""A machine that is busy with other things does not carry a right target; it does so once in as many tries."""


def environment(organization: Running, **more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PLIMSOLL_"))}
    # Without quotas, and with a query worth as many datapoints as it is with them. A busy machine answers late.
    fast = {
        "PLIMSOLL_SILENCE_TIMEOUT_S": "600",
        "PLIMSOLL_ANSWER_TIMEOUT_S": "600",
        "PLIMSOLL_DATAPOINTS_PER_S": "1e9",
        "PLIMSOLL_CALLS_PER_S": "1e9",
        "PLIMSOLL_USD_HOUR_WAITED": "250000",
        "COLUMNS": "160",
        "NO_COLOR": "1",
    }
    return {**kept, **organization.environment, **fast, **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "plimsoll", *words]


def plimsoll(organization: Running, folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder; no test expects a traceback of any."""
    done = run(*words, folder=folder, environment=environment(organization, **more))
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


def roles(organization: Running) -> list[str]:
    return [word for arn in organization.role_arns for word in ("--role-arn", arn)]
