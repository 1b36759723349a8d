"""How long Cloud Custodian (c7n) takes to read the four counters of every volume of the simulated account.

`python benchmarks/speed/peer_c7n.py --volumes 1000` in the project's environment. c7n gets an environment of its own
under `--cache`, made on the first run from the package registry; nothing of the caller's AWS account is passed on.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from cloud_simulator.aws.organization import Mix, fleet_of
from cloud_simulator.running import Running, running

C7N_VERSION: Final = "0.9.53"
POLICY: Final = Path(__file__).with_name("c7n-policy.yaml")
CACHE: Final = Path(__file__).parents[2] / ".bench" / "c7n"
LATENCY_MS: Final = 50.0
CALLS_PER_S: Final = 500
DATAPOINTS_PER_S: Final = 396_000
STATISTICS_PER_S: Final = 400
"""What AWS allows an account in a region each second: calls of GetMetricData, their datapoints where windows begin more
than three hours ago, and calls of GetMetricStatistics (Amazon CloudWatch User Guide, "CloudWatch service quotas")."""

_LONGEST_S: Final = 3 * 3600
_COUNTED: Final = "monitoring.GetMetricStatistics"


@dataclass(frozen=True, kw_only=True)
class PeerRun:
    """What one run took: its wall time, the volumes that came through all filters, the calls for their metrics."""

    seconds: float
    volumes: int
    calls: int


def run_c7n(endpoint_environment: Mapping[str, str], cache: Path = CACHE) -> PeerRun:
    """One `custodian run` of the policy at the endpoint in the environment, its process timed from start to end."""
    custodian = installed(cache)
    with tempfile.TemporaryDirectory() as folder:
        command = [str(custodian), "run", "--output-dir", folder, "--cache-period", "0", str(POLICY)]
        command += ["--region", endpoint_environment["AWS_REGION"]]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, **endpoint_environment}
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_LONGEST_S, check=False)  # noqa: S603  # the peer
        seconds = time.perf_counter() - start
        if done.returncode or "CW Retrieval error" in done.stderr:
            raise SystemExit(f"custodian failed ({done.returncode}):\n{done.stderr}")
        (written,) = Path(folder).glob("*/metadata.json")
        metadata: dict[str, Any] = json.loads(written.read_text())
        volumes = len(json.loads(written.with_name("resources.json").read_text()))
    return PeerRun(seconds=seconds, volumes=volumes, calls=metadata["api-stats"][_COUNTED])


def installed(cache: Path = CACHE) -> Path:
    """The custodian command, in an environment that is made when there is none of this version."""
    place = cache.resolve() / C7N_VERSION
    ready = place / ".ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)  # noqa: S603  # this Python
        pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"c7n=={C7N_VERSION}"], check=True)  # noqa: S603  # as above
        ready.touch()
    return place / "bin" / "custodian"


@contextmanager
def _account(given: argparse.Namespace) -> Iterator[Running]:
    """The account to read: the one at the endpoint that was given, or one of its own that lives in the present.

    c7n always asks for the time until now.
    """
    now = datetime.now(UTC)
    if given.endpoint:
        yield Running(endpoint=given.endpoint, fleet=fleet_of(1, now))
        return
    with account_of(given.volumes) as account:
        yield account


@contextmanager
def account_of(volumes: int) -> Iterator[Running]:
    """A simulated account of quiet gp2 volumes in the present, with a network's latency and CloudWatch's quotas."""
    with running(
        datetime.now(UTC),
        volumes=volumes,
        mix=Mix.QUIET,
        latency_ms=LATENCY_MS,
        calls_per_s=CALLS_PER_S,
        datapoints_per_s=DATAPOINTS_PER_S,
        statistics_per_s=STATISTICS_PER_S,
    ) as account:
        yield account


def main() -> None:
    """Runs c7n once and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--volumes", type=int, default=1000)
    parser.add_argument("--endpoint", help="a simulator that runs already, at the present time")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where c7n's environment is kept")
    given = parser.parse_args()
    installed(given.cache)
    with _account(given) as account:
        found = run_c7n(account.environment, given.cache)
    sys.stdout.write(
        f"c7n {C7N_VERSION}: {found.volumes:,} volumes, {found.calls:,} GetMetricStatistics calls, "
        f"{found.seconds:.1f} s ({found.calls / found.seconds:.0f} calls a second)\n"
    )


if __name__ == "__main__":
    main()
