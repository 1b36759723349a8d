"""`plimsoll demo`: the simulated organisation, audited by the ordinary path."""

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.bootstrap import Scope, aws_world, clock
from plimsoll.cli.audit import follow
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.policy import Policy
from plimsoll.run import Order
from plimsoll.settings import Settings
from plimsoll.simulator.organisation import LEAST_VOLUMES
from plimsoll.simulator.running import running

FOLDER = "demo"
UNPACED = 1e9
"""The simulator has no quotas to respect."""


def demo(
    volumes: Annotated[int, typer.Option(min=1, help="Volumes at least.")] = LEAST_VOLUMES,
    seed: Annotated[int, typer.Option(help="The same seed makes the same organisation.")] = 1,
) -> None:
    """Audit a simulated organisation of three accounts and two regions: no AWS, no Docker, no configuration."""
    settings = Settings(datapoints_per_s=UNPACED, calls_per_s=UNPACED)
    console = Console()
    folder = settings.runs_dir / FOLDER
    _clear(folder)
    now = clock().now()
    console.print("starting a simulated AWS organisation on loopback ...", style="dim")
    with running(now, volumes=volumes, seed=seed) as organisation:
        os.environ.update(organisation.environment)
        scope = Scope(role_arns=organisation.role_arns, regions=organisation.fleet.regions)
        ledger = Ledger(path=folder / "ledger.json")
        world = aws_world(scope, settings, today=now.date(), ledger=ledger)
        order = Order(
            folder=folder,
            scope=scope.as_dict(),
            policy=Policy(),
            now=now,
            usd_per_1000_metrics=settings.usd_per_1000_metrics,
        )
        follow(console, order, world)
    console.print(
        "One volume is of a type that Plimsoll does not know, so the run is partial: a real audit would exit with 3.",
        style="dim",
    )


def _clear(folder: Path) -> None:
    """Removes the last demo's files, and nothing else."""
    for name in ("run.json", "recommendations.json", "recommendations.csv", "ledger.json"):
        (folder / name).unlink(missing_ok=True)
    if folder.exists() and not any(folder.iterdir()):
        shutil.rmtree(folder)
