"""`plimsoll demo`: simulated clouds, audited by the ordinary path, and some of the answers put to the test."""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.google.projects import LEAST_DISKS
from cloud_simulator.running import running, running_google
from plimsoll import extras
from plimsoll.bootstrap import AWS, GOOGLE, Scope, clock, ports_of
from plimsoll.cli.audit import follow
from plimsoll.cli.demo_validations import validate_examples
from plimsoll.cli.run_folder import leave_reports
from plimsoll.cli.simulate import started
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.policy import Policy
from plimsoll.reports.run_reader import PAGE, read_records
from plimsoll.run import Order
from plimsoll.settings import Settings

FOLDER: Final = "demo"
FILES: Final = (
    "run.json",
    "recommendations.json",
    "recommendations.csv",
    "demand.jsonl",
    "unanswered.jsonl",
    PAGE,
    "recommendations.parquet",
    "demand.parquet",
    "ledger.json",
)

SHORT: Final = {"benchmark_runtime_s": 2, "benchmark_ramp_s": 0, "poll_s": 0.25}
"""Jobs of seconds, where a real validation takes minutes."""


def audit_simulated(clouds: Sequence[str], volumes: int | None, seed: int) -> None:
    """Audits simulated clouds into the demo's folder as one run, prints it, and puts some answers to the test."""
    console = Console()
    folder = Settings.of_environment().runs_dir / FOLDER
    _clear(folder)
    now = clock().now()
    with ExitStack() as stack:
        scope = _simulated(stack, console, clouds, now, volumes, seed)
        found = Settings.of_environment()  # where the simulated clouds are is in the environment by now
        settings = found.model_copy(update={**SHORT, "campaigns_dir": folder / "measured"})
        _audit(console, scope, settings, folder, now)
        ledger = Ledger(path=folder / "ledger.json")
        validate_examples(console, scope, settings, ledger, read_records(folder), now)
    console.print(
        f"\nOpen {folder / PAGE} in a browser: it says what to do first, and why.", style="bold", soft_wrap=True
    )


def _simulated(
    stack: ExitStack, console: Console, clouds: Sequence[str], now: datetime, volumes: int | None, seed: int
) -> Scope:
    """Starts the simulated clouds, points this process at them, and gives the scope that has all of each."""
    scope = Scope(clouds=tuple(clouds))
    if AWS in clouds:
        console.print("starting a simulated AWS organization on loopback ...", style="dim")
        accounts = running(now, volumes=volumes or DEMO_VOLUMES, seed=seed)
        organization = stack.enter_context(started(accounts, extras.DEMO))
        os.environ.update(organization.environment)
        scope = replace(scope, role_arns=organization.role_arns, regions=organization.fleet.regions)
    if GOOGLE in clouds:
        console.print("starting simulated Google Cloud projects on loopback ...", style="dim")
        google = running_google(now, volumes=volumes or LEAST_DISKS, seed=seed)
        projects = stack.enter_context(started(google, extras.GOOGLE))
        os.environ.update(projects.environment)
        scope = replace(scope, projects=tuple(projects.projects))
    return scope


def _audit(console: Console, scope: Scope, settings: Settings, folder: Path, now: datetime) -> None:
    ledger = Ledger(path=folder / "ledger.json")
    worlds = ports_of(scope, settings, today=now.date(), ledger=ledger, paced=False)
    order = Order(folder=folder, scope=scope.as_dict(), policy=Policy(), now=now)
    follow(console, order, worlds)
    leave_reports(console, folder)
    console.print(
        "In each cloud one volume is of a type that Plimsoll does not know, so the run is partial: a real audit would "
        "exit with 3.",
        style="dim",
    )


def _clear(folder: Path) -> None:
    """Removes the last demo's files, and nothing else."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if (folder / "measured").is_dir():
        shutil.rmtree(folder / "measured")
    if folder.exists() and not any(folder.iterdir()):
        shutil.rmtree(folder)
