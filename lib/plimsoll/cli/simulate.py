"""`plimsoll simulate`: the simulated organisation alone, for any AWS tool."""

import threading

from rich.console import Console

from plimsoll.bootstrap import clock
from plimsoll.simulator.organisation import DEMO_VOLUMES
from plimsoll.simulator.running import running


def serve(volumes: int | None, seed: int, port: int) -> None:
    """Serves the organisation until Ctrl-C."""
    console = Console(highlight=False)
    with running(clock().now(), volumes=volumes or DEMO_VOLUMES, seed=seed, port=port) as organisation:
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
