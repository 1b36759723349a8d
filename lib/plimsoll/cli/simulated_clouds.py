"""Simulated clouds on loopback: an organization of AWS, and projects of Google Cloud."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.clock import EVENTS_PATH, call_control
from cloud_simulator.google.projects import LEAST_DISKS
from cloud_simulator.metrics.events import Disturbance, HostMove, event_fields
from cloud_simulator.running import NotStarted, Running, RunningProjects, running, running_google
from plimsoll.cli.screen import Screen
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.distribution import DEMO, GOOGLE_EXTRA
from plimsoll.model.errors import PlimsollError

RunningCloud = TypeVar("RunningCloud")

_LARGEST_HOST: Final = "m5.24xlarge"
"""A host that carries 80,000 IOPS."""


def organization(now: datetime, volumes: int | None, seed: int, port: int = 0) -> AbstractContextManager[Running]:
    """A simulated organization of AWS for as long as the block lasts; PlimsollError where it does not start."""
    DEMO.need()
    return _start(running(now, volumes=volumes or DEMO_VOLUMES, seed=seed, port=port))


def projects(now: datetime, volumes: int | None, seed: int, port: int = 0) -> AbstractContextManager[RunningProjects]:
    """Simulated projects of Google Cloud, running on loopback."""
    GOOGLE_EXTRA.need()
    return _start(running_google(now, volumes=volumes or LEAST_DISKS, seed=seed, port=port))


def start_clouds(
    stack: ExitStack, console: Screen, clouds: Sequence[str], now: datetime, volumes: int | None, seed: int
) -> Scope:
    """Starts the simulated clouds, points this process at them, and gives the scope that has all of each."""
    scope = Scope(clouds=tuple(clouds))
    if AWS in clouds:
        starting_aws = organization(now, volumes, seed)
        with console.doing("starting a simulated AWS organization on loopback"):
            aws = stack.enter_context(starting_aws)
        os.environ.update({**aws.environment, **aws.clock_environment})
        scope = replace(scope, role_arns=aws.role_arns, regions=aws.fleet.regions)
    if GOOGLE in clouds:
        starting_google = projects(now, volumes, seed)
        with console.doing("starting simulated Google Cloud projects on loopback"):
            google = stack.enter_context(starting_google)
        os.environ.update(google.environment)
        scope = replace(scope, projects=tuple(google.projects))
    return scope


def grow_workload(volume_id: str, host_id: str, times: float, at: datetime) -> None:
    """A volume of the simulated organization that this process is pointed at gets a larger host, and more to do."""
    events = (
        HostMove(host_id=host_id, at=at, type=_LARGEST_HOST),
        Disturbance(begins=at, volume_id=volume_id, demand=times),
    )
    call_control(os.environ["AWS_ENDPOINT_URL"], "POST", EVENTS_PATH, [event_fields(event) for event in events])


@contextmanager
def _start(cloud: AbstractContextManager[RunningCloud]) -> Iterator[RunningCloud]:
    try:
        with cloud as running_cloud:
            yield running_cloud
    except NotStarted as error:
        raise PlimsollError(str(error)) from error
