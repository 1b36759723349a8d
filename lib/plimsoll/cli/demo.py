"""`plimsoll demo`: the simulated organisation, audited by the ordinary path."""

import os
import shutil
from pathlib import Path

from rich.console import Console

from plimsoll.bootstrap import Scope, aws_world, clock
from plimsoll.cli.audit import follow
from plimsoll.clouds.ledger import Ledger
from plimsoll.domain.policy import Policy
from plimsoll.run import Order
from plimsoll.settings import Settings
from plimsoll.simulator.organisation import DEMO_VOLUMES
from plimsoll.simulator.running import running

FOLDER = "demo"


def audit_simulated(volumes: int | None, seed: int) -> None:
    """Audits a simulated organisation into the demo's folder and prints the run."""
    settings = Settings()
    console = Console()
    folder = settings.runs_dir / FOLDER
    _clear(folder)
    now = clock().now()
    console.print("starting a simulated AWS organisation on loopback ...", style="dim")
    with running(now, volumes=volumes or DEMO_VOLUMES, seed=seed) as organisation:
        os.environ.update(organisation.environment)
        scope = Scope(role_arns=organisation.role_arns, regions=organisation.fleet.regions)
        ledger = Ledger(path=folder / "ledger.json")
        world = aws_world(scope, settings, today=now.date(), ledger=ledger, paced=False)
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
