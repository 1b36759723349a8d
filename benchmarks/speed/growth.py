"""How CPU and memory grow with the fleet: audits of 1,000, 10,000 and 25,000 volumes in memory, a process each."""

import json
import subprocess
import sys
import time
from pathlib import Path

from measured_audit import Row
from memory_fleet import NOW, Patterns, project_ports

from plimsoll.auditing.audit import run_audit
from plimsoll.garbage import collect_rarely
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered

SIZES = (1_000, 10_000, 25_000)
FLAT = 1.2
MEMORY = 1.3


def measure(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """The rows of CPU a volume and of peak memory, the largest against the one before (time: against the smallest)."""
    runs = {size: _child(size) for size in sizes}
    each_ms = {size: run["seconds"] / size * 1e3 for size, run in runs.items()}
    peak_mib = {size: run["peak_mib"] for size, run in runs.items()}
    base_mib = runs[sizes[0]]["base_mib"]
    least, most = min(each_ms.values()), max(each_ms.values())
    told = ", ".join(f"{size:,}: {each_ms[size]:.2f} ms" for size in sizes)
    return [
        Row(
            what=f"CPU a volume over {sizes[0]:,} to {sizes[-1]:,} volumes, highest against lowest",
            measured=f"{most:.2f} ms : {least:.2f} ms",
            ratio=most / least,
            target=FLAT,
            note=told,
        ),
        Row(
            what=f"peak memory at {sizes[-1]:,} volumes against {sizes[-2]:,}",
            measured=f"{peak_mib[sizes[-1]]:.0f} MiB : {peak_mib[sizes[-2]]:.0f} MiB",
            ratio=peak_mib[sizes[-1]] / peak_mib[sizes[-2]],
            target=MEMORY,
            note=f"{base_mib:.0f} MiB of each before the first volume",
        ),
    ]


def _child(size: int) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__)), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # this file
    return dict(json.loads(done.stdout))


def _audit(size: int) -> dict[str, float]:
    """The seconds of CPU of an audit of so many volumes, taken as a stream, and the peak memory before and after."""
    ports = project_ports(size, Patterns.make())
    base = peak_mib()
    collect_rarely()
    start = time.process_time()
    answered = sum(isinstance(outcome, Answered) for outcome in run_audit(ports, Policy(), NOW))
    seconds = time.process_time() - start
    if answered != size:
        raise SystemExit(f"{answered:,} of {size:,} volumes were answered")
    return {"seconds": seconds, "base_mib": base, "peak_mib": peak_mib()}


def peak_mib() -> float:
    """The most memory that this process has had; `getrusage` would count its parent's as well."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        json.dump(_audit(int(sys.argv[1])), sys.stdout)
    else:
        for row in measure():
            sys.stdout.write(f"{row}\n")
