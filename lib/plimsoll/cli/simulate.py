"""`plimsoll simulate`: the simulated organisation alone, for any AWS tool."""

import threading
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.bootstrap import clock
from plimsoll.simulator.organisation import LEAST_VOLUMES
from plimsoll.simulator.running import running


def simulate(
    volumes: Annotated[int, typer.Option(min=1, help="Volumes at least.")] = LEAST_VOLUMES,
    seed: Annotated[int, typer.Option(help="The same seed makes the same organisation.")] = 1,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1. Default: a free one.")] = 0,
) -> None:
    """Run a simulated AWS organisation on loopback until Ctrl-C, and print how to point a tool at it."""
    console = Console(highlight=False)
    with running(clock().now(), volumes=volumes, seed=seed, port=port) as organisation:
        console.print(f"# {len(organisation.fleet.volumes)} volumes in {len(organisation.fleet.accounts)} accounts")
        for name, value in organisation.environment.items():
            console.print(f"export {name}={value}", soft_wrap=True)
        roles = " ".join(f"--role-arn {arn}" for arn in organisation.role_arns)
        console.print(f"# the other accounts: plimsoll audit {roles}", soft_wrap=True)
        console.print("# Ctrl-C ends it")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            console.print("ended")
