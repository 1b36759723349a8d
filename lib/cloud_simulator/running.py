"""Running clouds: the simulator in a process of its own, for as long as it is needed."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from cloud_simulator.aws.fleet import HOME_KEY, Fleet
from cloud_simulator.aws.organization import LEAST_VOLUMES, Mix, fleet_of
from cloud_simulator.clock import CLOCK_PATH, EVENTS_PATH, FAULTS_PATH, MODIFICATIONS_PATH, RunningClock, call_control
from cloud_simulator.faults import Fault
from cloud_simulator.google.fleet import GoogleFleet
from cloud_simulator.google.projects import LEAST_DISKS, projects_of
from cloud_simulator.metrics.events import FleetEvent, event_fields
from cloud_simulator.metrics.modifications import Modification
from cloud_simulator.published import VolumeSpec


class NotStarted(Exception):
    """The simulator did not start. The message says what to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running organization: where it listens, and what it simulates."""

    endpoint: str
    fleet: Fleet

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that point any AWS tool at it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": HOME_KEY,
            "AWS_SECRET_ACCESS_KEY": "simulated",
            "AWS_REGION": self.fleet.regions[0],
            "AWS_DEFAULT_REGION": self.fleet.regions[0],
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @property
    def clock_environment(self) -> dict[str, str]:
        """The environment variable that has Plimsoll go by its clock."""
        return {"PLIMSOLL_SIMULATED_CLOCK": self.endpoint + CLOCK_PATH}

    @property
    def clock(self) -> RunningClock:
        """The time there, which can be moved."""
        return RunningClock(self.endpoint)

    def break_next(self, *faults: Fault) -> None:
        """Has faults strike from now on."""
        call_control(self.endpoint, "POST", FAULTS_PATH, [asdict(fault) for fault in faults])

    def tell(self, *events: FleetEvent) -> None:
        """Has something happen there, now or later."""
        call_control(self.endpoint, "POST", EVENTS_PATH, [event_fields(event) for event in events])

    def modifications(self) -> list[Modification]:
        """Every modification since the organization began, with what becomes of it."""
        told = call_control(self.endpoint, "GET", MODIFICATIONS_PATH)
        return [
            Modification(**{**fields, "before": VolumeSpec(**fields["before"]), "after": VolumeSpec(**fields["after"])})
            for fields in told
        ]

    @property
    def role_arns(self) -> tuple[str, ...]:
        """The roles to assume in the accounts that are not the caller's own."""
        return tuple(f"arn:aws:iam::{account}:role/plimsoll-audit" for account in self.fleet.accounts[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningProjects:
    """Running Google projects: where they listen, and what is simulated."""

    url: str
    monitoring: str
    fleet: GoogleFleet

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that point Plimsoll at them."""
        return {"PLIMSOLL_GOOGLE_URL": self.url, "PLIMSOLL_GOOGLE_MONITORING": self.monitoring}

    @property
    def clock_environment(self) -> dict[str, str]:
        """The environment variable that has Plimsoll go by their clock."""
        return {"PLIMSOLL_SIMULATED_CLOCK": self.url + CLOCK_PATH}

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects to audit."""
        return self.fleet.accounts


@contextmanager
def running(
    now: datetime,
    *,
    volumes: int = LEAST_VOLUMES,
    seed: int = 1,
    mix: Mix = Mix.ORGANIZATION,
    port: int = 0,
    faults: Sequence[Fault] = (),
    plain_files: bool = False,
    **others: float | str | None,
) -> Iterator[Running]:
    """Runs the organization in a process that ends with the block, or with this process. NotStarted where it cannot.

    With `plain_files` no volume is a block device, whatever the kernel and the user's rights allow. `others` are
    options of the command line, such as `calls_per_s`.
    """
    options = {"mix": mix.value, "seed": seed, "volumes": volumes, "port": port, **others}
    with _process("aws", now, options, faults, plain_files=plain_files) as place:
        yield Running(endpoint=f"http://127.0.0.1:{place['port']}", fleet=fleet_of(volumes, now, seed=seed, mix=mix))


@contextmanager
def running_google(
    now: datetime,
    *,
    volumes: int = LEAST_DISKS,
    seed: int = 1,
    port: int = 0,
    faults: Sequence[Fault] = (),
    plain_files: bool = False,
    **others: float,
) -> Iterator[RunningProjects]:
    """Runs the projects in a process that ends with the block, or with this process. NotStarted where it cannot.

    The codes of `faults` are Google's (PERMISSION_DENIED, SERVICE_DISABLED, RESOURCE_EXHAUSTED, UNAVAILABLE), their
    accounts are projects, and their regions regions, zones or, for what is in none, `global`. `others` are options of
    the command line, such as `latency_ms`.
    """
    options = {"seed": seed, "volumes": volumes, "port": port, **others}
    with _process("google", now, options, faults, plain_files=plain_files) as place:
        yield RunningProjects(
            url=f"http://127.0.0.1:{place['port']}",
            monitoring=f"127.0.0.1:{place['monitoring_port']}",
            fleet=projects_of(now, volumes=volumes, seed=seed),
        )


@contextmanager
def _process(
    cloud: str, now: datetime, options: Mapping[str, Any], faults: Sequence[Fault], *, plain_files: bool
) -> Iterator[Mapping[str, Any]]:
    """A simulated cloud's process, and where it says that it is."""
    texts = {
        **options,
        "cloud": cloud,
        "now": now.isoformat(),
        "faults": json.dumps([asdict(fault) for fault in faults]),
    }
    words = [f"--{name.replace('_', '-')}={value}" for name, value in texts.items() if value is not None]
    command = [sys.executable, "-m", "cloud_simulator", *words, *(["--plain-files"] if plain_files else [])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own module
        if process.stdin is None or process.stdout is None:
            raise NotStarted("The simulator has no pipes.")
        try:
            line = process.stdout.readline()
            if not line:
                raise NotStarted(f"The simulator did not start; see above. Is port {options['port']} free?")
            yield json.loads(line)
        finally:
            process.stdin.close()
