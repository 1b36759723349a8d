"""Running projects: the simulator in a process of its own, for as long as it is needed."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from cloud_simulator.faults import Fault
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.projects import LEAST_VOLUMES, projects_of
from plimsoll.domain.errors import PlimsollError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningProjects:
    """Where they listen, and what is simulated."""

    url: str
    monitoring: str
    fleet: GoogleFleet

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that point Plimsoll at them."""
        return {"PLIMSOLL_GOOGLE_URL": self.url, "PLIMSOLL_GOOGLE_MONITORING": self.monitoring}

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects to audit."""
        return self.fleet.accounts


@contextmanager
def running_google(
    now: datetime,
    *,
    volumes: int = LEAST_VOLUMES,
    seed: int = 1,
    port: int = 0,
    monitoring_port: int = 0,
    faults: Sequence[Fault] = (),
    latency_ms: float = 0.0,
    pace_s: float = 0.3,
    plain_files: bool = False,
) -> Iterator[RunningProjects]:
    """Runs the projects in a process that ends with the block, or with this process.

    The codes of `faults` are Google's (PERMISSION_DENIED, SERVICE_DISABLED, RESOURCE_EXHAUSTED, UNAVAILABLE), their
    accounts are projects, and their regions regions, zones or, for what is in none, `global`.
    """
    options: dict[str, Any] = {
        "--now": now.isoformat(),
        "--volumes": volumes,
        "--seed": seed,
        "--port": port,
        "--monitoring-port": monitoring_port,
        "--faults": json.dumps([asdict(fault) for fault in faults]),
        "--latency-ms": latency_ms,
        "--pace-s": pace_s,
    }
    words = [f"{name}={value}" for name, value in options.items()] + ["--plain-files"] * plain_files
    command = [sys.executable, "-m", "cloud_simulator.google", *words]
    fleet = projects_of(now, volumes=volumes, seed=seed)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own module
        if process.stdin is None or process.stdout is None:
            raise PlimsollError("the simulated projects could not be started: there are no pipes to them.")
        try:
            line = process.stdout.readline()
            if not line:
                raise PlimsollError(f"the simulated projects did not start; see above. Is port {port} free?")
            told = json.loads(line)
            yield RunningProjects(
                url=f"http://127.0.0.1:{told['port']}", monitoring=f"127.0.0.1:{told['monitoring_port']}", fleet=fleet
            )
        finally:
            process.stdin.close()
