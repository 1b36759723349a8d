"""A running organization: the simulator in a process of its own, for as long as it is needed."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from cloud_simulator.faults import Fault
from cloud_simulator.fleet import HOME_KEY, Fleet
from cloud_simulator.organization import LEAST_VOLUMES, Mix, fleet_of
from cloud_simulator.scratch import PACE_S
from plimsoll.domain.errors import PlimsollError


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Where it listens, and what it simulates."""

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
    def role_arns(self) -> tuple[str, ...]:
        """The roles to assume in the accounts that are not the caller's own."""
        return tuple(f"arn:aws:iam::{account}:role/plimsoll-audit" for account in self.fleet.accounts[1:])


@contextmanager
def running(
    now: datetime,
    *,
    volumes: int = LEAST_VOLUMES,
    seed: int = 1,
    mix: Mix = Mix.ORGANIZATION,
    port: int = 0,
    faults: Sequence[Fault] = (),
    broken: Mapping[str, tuple[str, int]] | None = None,
    latency_ms: float = 0.0,
    clock_offset_s: float = 0.0,
    calls_per_s: float | None = None,
    datapoints_per_s: float | None = None,
    statistics_per_s: float | None = None,
    pace_s: float = PACE_S,
    plain_files: bool = False,
) -> Iterator[Running]:
    """Runs the organization in a process that ends with the block, or with this process.

    `broken`: metrics whose series come back
    with that StatusCode so many times. `calls_per_s` and `datapoints_per_s` are CloudWatch's quotas for GetMetricData,
    `statistics_per_s` that for calls of GetMetricStatistics; None: no end of them. `pace_s` is how long each passing
    state of a scratch volume lasts; with `plain_files` no volume is a block device, whatever the kernel and the user's
    rights allow.
    """
    options: dict[str, Any] = {
        "--now": now.isoformat(),
        "--volumes": volumes,
        "--seed": seed,
        "--mix": mix.value,
        "--port": port,
        "--faults": json.dumps([asdict(fault) for fault in [*faults, *_broken(broken or {})]]),
        "--latency-ms": latency_ms,
        "--clock-offset-s": clock_offset_s,
        "--calls-per-s": calls_per_s,
        "--datapoints-per-s": datapoints_per_s,
        "--statistics-per-s": statistics_per_s,
        "--pace-s": pace_s,
    }
    words = [f"{name}={value}" for name, value in options.items() if value is not None]
    command = [sys.executable, "-m", "cloud_simulator", *words, *(["--plain-files"] if plain_files else [])]
    simulated = fleet_of(volumes, now, seed=seed, mix=mix)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # our own module
        if process.stdin is None or process.stdout is None:
            raise PlimsollError("the simulator could not be started: it has no pipes.")
        try:
            line = process.stdout.readline()
            if not line:
                raise PlimsollError(f"the simulator did not start; see above. Is port {port} free?")
            yield Running(endpoint=f"http://127.0.0.1:{json.loads(line)['port']}", fleet=simulated)
        finally:
            process.stdin.close()


def _broken(metrics: Mapping[str, tuple[str, int]]) -> list[Fault]:
    return [Fault(code=status, metric=metric, times=times) for metric, (status, times) in metrics.items()]
