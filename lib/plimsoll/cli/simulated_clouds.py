"""Simulated clouds on loopback: an organization of AWS, and projects of Google Cloud."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TypeVar

from cloud_simulator.aws.organization import DEMO_VOLUMES
from cloud_simulator.google.projects import LEAST_DISKS
from cloud_simulator.running import NotStarted, Running, RunningProjects, running, running_google
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


@contextmanager
def _start(cloud: AbstractContextManager[RunningCloud]) -> Iterator[RunningCloud]:
    try:
        with cloud as running_cloud:
            yield running_cloud
    except NotStarted as error:
        raise PlimsollError(str(error)) from error
