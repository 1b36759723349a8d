"""Time that Cloud Custodian (c7n) takes to read the four counters of every volume of an account.

It gets an environment of its own under .bench, made on the first run from the package index; nothing of the caller's
account is passed on.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

C7N_VERSION: Final = "0.9.53"
POLICY: Final = Path(__file__).with_name("c7n-policy.yaml")
CACHE: Final = Path(__file__).parents[2] / ".bench" / "c7n"

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
