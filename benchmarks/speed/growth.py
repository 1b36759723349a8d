"""Growth of CPU and memory with the fleet: audits of 1,000, 10,000 and 25,000 volumes in memory, a process each.

The simulator makes the fleet's patterns in a process before: its memory is not Plimsoll's.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import Row
from memory_fleet import NOW, Patterns, project_ports

from plimsoll.auditing.audit import run_audit
from plimsoll.garbage import collect_rarely
from plimsoll.model.policy import Policy
from plimsoll.outcomes import Answered

SIZES = (1_000, 10_000, 25_000)
FLAT = 1.2
MEMORY = 1.3
_PATTERNS = Path(__file__).with_name("patterns.py")


def measure(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """The rows of CPU a volume and of peak memory at each size, with how much they grow."""
    with TemporaryDirectory() as folder:
        _run(_PATTERNS, folder)
        runs = {size: dict(json.loads(_run(Path(__file__), str(size), folder))) for size in sizes}
    each_ms = [run["seconds"] / size * 1e3 for size, run in runs.items()]
    peak_mib = [run["peak_mib"] for run in runs.values()]
    named = " and ".join((", ".join(f"{size:,}" for size in sizes[:-1]), f"{sizes[-1]:,}"))
    flat, memory = max(each_ms) / min(each_ms), peak_mib[-1] / peak_mib[-2]
    return [
        Row(
            what=f"CPU of one core for a volume, of {named}",
            measured=f"{', '.join(f'{one:.2f}' for one in each_ms)} ms",
            bound=f"highest at most {FLAT:g} times the lowest",
            met=flat <= FLAT,
        ),
        Row(
            what=f"peak memory of {named}, from {runs[sizes[0]]['base_mib']:.0f} MiB before the first volume",
            measured=f"{', '.join(f'{one:.0f}' for one in peak_mib)} MiB",
            bound=f"the last at most {MEMORY:g} times the one before",
            met=memory <= MEMORY,
        ),
    ]


def _run(script: Path, *words: str) -> str:
    command = [sys.executable, str(script), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  # a file of ours


def _audit(size: int, folder: Path) -> dict[str, float]:
    """The seconds of CPU of an audit of so many volumes, taken as a stream, and the peak memory before and after."""
    ports = project_ports(size, Patterns.read(folder))
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
        json.dump(_audit(int(sys.argv[1]), Path(sys.argv[2])), sys.stdout)
    else:
        for row in measure():
            sys.stdout.write(f"{row}\n")
