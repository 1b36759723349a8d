"""Simulated clouds: `plimsoll simulate` serves one alone, for any tool of its cloud, and the demo audits them."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TypeVar

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.google.projects import LEAST_DISKS
from cloud_simulator.running import NotStarted, Running, RunningProjects, running, running_google
from plimsoll.bootstrap.clocks import clock
from plimsoll.cli.screen import Screen
from plimsoll.extras import DEMO, GOOGLE_EXTRA
from plimsoll.model.errors import PlimsollError

RunningCloud = TypeVar("RunningCloud")


def organization(now: datetime, volumes: int | None, seed: int, port: int = 0) -> AbstractContextManager[Running]:
    """A simulated organization of AWS for as long as the block lasts; PlimsollError where it does not start."""
    DEMO.need()
    return _start(running(now, volumes=volumes or DEMO_VOLUMES, seed=seed, port=port))


def projects(now: datetime, volumes: int | None, seed: int, port: int = 0) -> AbstractContextManager[RunningProjects]:
    """Simulated projects of Google Cloud, running on loopback."""
    GOOGLE_EXTRA.need()
    return _start(running_google(now, volumes=volumes or LEAST_DISKS, seed=seed, port=port))


def serve_cloud(volumes: int | None, seed: int, port: int, *, google: bool) -> None:
    """Serves the organization, or the projects of Google Cloud, until Ctrl-C."""
    if google:
        with projects(clock().now(), volumes, seed, port) as cloud:
            named = " ".join(f"--project {project}" for project in cloud.projects)
            what = f"{len(cloud.fleet.volumes)} disks in {len(cloud.projects)} projects"
            _wait(what, cloud.environment, f"all of them: plimsoll audit --cloud google {named}")
        return
    with organization(clock().now(), volumes, seed, port) as aws:
        named = " ".join(f"--role-arn {arn}" for arn in aws.role_arns)
        what = f"{len(aws.fleet.volumes)} volumes in {len(aws.fleet.accounts)} accounts"
        _wait(what, aws.environment, f"the other accounts: plimsoll audit {named}")


@contextmanager
def _start(cloud: AbstractContextManager[RunningCloud]) -> Iterator[RunningCloud]:
    try:
        with cloud as running_cloud:
            yield running_cloud
    except NotStarted as error:
        raise PlimsollError(str(error)) from error


def _wait(what: str, environment: Mapping[str, str], audit: str) -> None:
    """Prints how to point a tool at what is served, and waits for Ctrl-C."""
    exports = [f"export {name}={value}" for name, value in environment.items()]
    console = Screen()
    console.print("\n".join([f"# {what}", *exports, f"# {audit}", "# Ctrl-C ends it"]), soft_wrap=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        console.print("ended")
