"""`plimsoll simulate`: a simulated organization or simulated projects alone, for any tool of their cloud."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from rich.console import Console

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.google.projects import LEAST_DISKS
from cloud_simulator.running import NotStarted, running, running_google
from plimsoll.bootstrap import clock
from plimsoll.domain.errors import PlimsollError
from plimsoll.extras import DEMO, GOOGLE, Extra

Cloud = TypeVar("Cloud")


def serve(volumes: int | None, seed: int, port: int) -> None:
    """Serves the organization until Ctrl-C."""
    with started(running(clock().now(), volumes=volumes or DEMO_VOLUMES, seed=seed, port=port), DEMO) as organization:
        roles = " ".join(f"--role-arn {arn}" for arn in organization.role_arns)
        fleet = organization.fleet
        _wait(
            f"{len(fleet.volumes)} volumes in {len(fleet.accounts)} accounts",
            organization.environment,
            f"the other accounts: plimsoll audit {roles}",
        )


def serve_projects(volumes: int | None, seed: int, port: int) -> None:
    """Serves the projects until Ctrl-C."""
    with started(running_google(clock().now(), volumes=volumes or LEAST_DISKS, seed=seed, port=port), GOOGLE) as cloud:
        options = " ".join(f"--project {project}" for project in cloud.projects)
        _wait(
            f"{len(cloud.fleet.volumes)} disks in {len(cloud.projects)} projects",
            cloud.environment,
            f"all of them: plimsoll audit --cloud google {options}",
        )


@contextmanager
def started(cloud: AbstractContextManager[Cloud], needed: Extra) -> Iterator[Cloud]:
    """A simulated cloud for as long as the block lasts. PlimsollError where it does not start."""
    needed.need()
    try:
        with cloud as running_cloud:
            yield running_cloud
    except NotStarted as error:
        raise PlimsollError(str(error)) from error


def _wait(what: str, environment: Mapping[str, str], audit: str) -> None:
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
