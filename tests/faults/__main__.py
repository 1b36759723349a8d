"""`python -m tests.faults [--seeds N] [--from N] [--jobs N] [--write]`: seeded runs under faults, and what came of it.

Each run that breaks a law is printed with its seed and its plan, and what was broken; the exit code is 1 then.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from .lab import opened
from .scoreboard import scoreboard, write
from .tried import line_of


def main() -> None:
    """Tries the seeds, in several processes where more than one job is asked for."""
    options = _options()
    if options.lines:
        _as_lines(range(options.first, options.first + options.seeds, options.step))
        return
    began, lines = time.monotonic(), []
    for line in _tried(options):
        lines.append(line)
        if line["breaches"]:
            _say(f"\n{line['plan']} at {', '.join(line['paths']) or 'the whole answer'}")
            _say("".join(f"  {one['kind']}: {one['told']}\n" for one in line["breaches"]))
        if len(lines) % 100 == 0:
            _say(f"{len(lines)} of {options.seeds} runs in {time.monotonic() - began:.0f} s\n")
    table = scoreboard(lines)
    _say(f"\n{table}{len(lines)} runs in {time.monotonic() - began:.0f} s\n")
    if options.write:
        write(table)
    missing = options.seeds - len(lines)
    if missing:
        _say(f"{missing} runs are missing: a process of the lab ended; see above.\n")
    sys.exit(1 if missing or any(line["breaches"] for line in lines) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="labs at once")
    parser.add_argument("--write", action="store_true", help="write the scoreboard into tests/faults/README.md")
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--lines", action="store_true", help="print a line of JSON for each run, and nothing else")
    return parser.parse_args()


def _as_lines(seeds: Iterable[int]) -> None:
    with opened() as lab:
        for seed in seeds:
            _say(json.dumps(line_of(lab.try_plan(lab.plan(seed)))) + "\n")


def _tried(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The lines of all jobs, as they come."""
    found: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    with ThreadPoolExecutor(options.jobs) as pool:
        for job in range(options.jobs):
            pool.submit(_follow, options, job, found)
        for _ in range(options.jobs):
            yield from iter(found.get, None)


def _follow(options: argparse.Namespace, job: int, found: SimpleQueue[dict[str, Any] | None]) -> None:
    """Passes on the lines of one job, and None at its end."""
    first, seeds = options.first + job, options.seeds - job
    words = ["--lines", "--from", str(first), "--seeds", str(seeds), "--step", str(options.jobs)]
    try:
        with subprocess.Popen([sys.executable, "-m", "tests.faults", *words], stdout=subprocess.PIPE) as process:
            for line in process.stdout:
                found.put(json.loads(line))
    finally:
        found.put(None)


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
