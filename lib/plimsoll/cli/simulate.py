"""`plimsoll simulate`: a simulated organization or simulated projects alone, for any tool of their cloud."""

import threading
from collections.abc import Mapping

from rich.console import Console

from cloud_simulator.google.projects import LEAST_VOLUMES
from cloud_simulator.google.running import running_google
from cloud_simulator.organization import DEMO_VOLUMES
from cloud_simulator.running import running
from plimsoll.bootstrap import clock


def serve(volumes: int | None, seed: int, port: int) -> None:
    """Serves the organization until Ctrl-C."""
    with running(clock().now(), volumes=volumes or DEMO_VOLUMES, seed=seed, port=port) as organization:
        roles = " ".join(f"--role-arn {arn}" for arn in organization.role_arns)
        fleet = organization.fleet
        _tell(
            f"{len(fleet.volumes)} volumes in {len(fleet.accounts)} accounts",
            organization.environment,
            f"the other accounts: plimsoll audit {roles}",
        )


def serve_projects(volumes: int | None, seed: int, port: int) -> None:
    """Serves the projects until Ctrl-C."""
    with running_google(clock().now(), volumes=volumes or LEAST_VOLUMES, seed=seed, port=port) as there:
        named = " ".join(f"--project {project}" for project in there.projects)
        _tell(
            f"{len(there.fleet.volumes)} disks in {len(there.projects)} projects",
            there.environment,
            f"all of them: plimsoll audit --cloud google {named}",
        )


def _tell(what: str, environment: Mapping[str, str], audit: str) -> None:
    """Prints how to point a tool at what is served, and waits for Ctrl-C."""
    console = Console(highlight=False)
    console.print(f"# {what}")
    for name, value in environment.items():
        console.print(f"export {name}={value}", soft_wrap=True)
    console.print(f"# {audit}", soft_wrap=True)
    console.print("# Ctrl-C ends it")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        console.print("ended")
