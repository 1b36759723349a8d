"""How long an audit of 500 gp2 volumes takes with 50 ms a call and CloudWatch's quotas, against Cloud Custodian.

Both read the same simulated account, as whole processes, one after the other. An audit has run once before, so that
neither waits for the simulator to make up what volumes did.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measured_audit import Row
from peer_c7n import C7N_VERSION, CALLS_PER_S, DATAPOINTS_PER_S, LATENCY_MS, account_of, installed, run_c7n

from cloud_simulator.running import Running

VOLUMES = 500
FASTER_THAN_C7N = 50.0
WITHIN_THE_BOUND = 1.3


def measure(volumes: int = VOLUMES) -> list[Row]:
    """The rows against c7n and against the quotas."""
    installed()
    with account_of(volumes) as account:
        _audit(account)
        seconds, usage = _audit(account)
        peer = run_c7n(account.environment)
    with account_of(1) as account:
        _audit(account)
        alone_s, alone = _audit(account)
    bound = max(usage["datapoints"] / DATAPOINTS_PER_S, usage["calls"] / CALLS_PER_S)
    return [
        Row(
            what=f"Cloud Custodian {C7N_VERSION} against plimsoll, {volumes:,} gp2 volumes, {LATENCY_MS:g} ms a call",
            measured=f"{peer.seconds:.1f} s : {seconds:.1f} s",
            ratio=peer.seconds / seconds,
            target=FASTER_THAN_C7N,
            at_least=True,
            note=f"{peer.calls:,} GetMetricStatistics calls, hourly sums, against {usage['calls']:,} of GetMetricData "
            f"that prove the answer of every minute",
        ),
        Row(
            what="plimsoll against what the quotas allow for its datapoints",
            measured=f"{seconds:.1f} s : {bound:.1f} s",
            ratio=seconds / bound,
            target=WITHIN_THE_BOUND,
            note=f"{usage['datapoints']:,} datapoints, {usage['calls']:,} calls",
        ),
        Row(
            what="... and an audit of one volume: the process, its lists, prices and report",
            measured=f"{seconds:.1f} s : {alone_s:.1f} s",
            ratio=seconds / alone_s,
            note=f"{alone['calls']:,} calls for metrics; the rest of the {volumes:,} is reading and deciding",
        ),
    ]


def _audit(account: Running) -> tuple[float, dict[str, int]]:
    """The seconds of one `plimsoll audit`, its process from start to end, and what it asked."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "plimsoll", "audit", "--region", account.fleet.regions[0], "--out", str(out)]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, **account.environment}
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  # our own
        seconds = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(f"the audit failed ({done.returncode}):\n{done.stderr}{done.stdout}")
        return seconds, json.loads((out / "run.json").read_text(encoding="utf-8"))["usage"]


if __name__ == "__main__":
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else VOLUMES):
        sys.stdout.write(f"{row}\n")
