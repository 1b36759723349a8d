"""The simulated organization served in the test's own process, so that its calls can be counted; and its places."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from cloud_simulator.aws.cloudwatch import CloudWatch
from cloud_simulator.aws.fleet import Fleet
from cloud_simulator.aws.server import Front, serve
from cloud_simulator.faults import Fault, Faults
from cloud_simulator.running import Running
from plimsoll.settings import Settings
from plimsoll_service.bootstrap.aws_places import AwsPlaces
from plimsoll_service.config import ServiceConfig


@contextmanager
def served_here(fleet: Fleet, *faults: Fault) -> Iterator[tuple[Running, Front]]:
    """The organization, with this process's AWS tools pointed at it; they try a call twice."""
    struck = Faults(faults)
    front = Front(fleet, CloudWatch(fleet, struck), faults=struck)
    server = serve(front)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    there = Running(endpoint=f"http://127.0.0.1:{server.server_port}", fleet=fleet)
    try:
        with patch.dict(os.environ, {**there.environment, "PLIMSOLL_MAX_ATTEMPTS": "2"}):
            yield there, front
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        front.close()


def a_config(fleet: Fleet, **given: Any) -> ServiceConfig:
    """All accounts of a fleet in all its regions, by two days of metrics."""
    whole = {"accounts": fleet.accounts, "regions": fleet.regions, "policy": {"lookback_days": 2}}
    return ServiceConfig.parse({**whole, **given})


def aws_places(fleet: Fleet, config: ServiceConfig) -> AwsPlaces:
    """The fleet's accounts, each by its role."""
    return AwsPlaces(
        config=config,
        settings=Settings(),
        home=fleet.accounts[0],
        partition="aws",
        paced=False,
    )
