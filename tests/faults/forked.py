"""The process that audits under faults are forked from. It reads one a line from standard input, as JSON; of each it
writes the process id, and the exit code when it has ended.

Each is the real command line in a process of its own, with two things changed: its clock stands at NOW, the first
argument, and it is in a hurry. Waits between retries are cut to milliseconds: what is tried is what happens then, not
how long it takes.
"""

import json
import os
import sys
import time
from datetime import datetime
from importlib import import_module
from typing import Any

MOST_SLEEP_S = 0.004
"""What a sleep may take."""


def hurry() -> None:
    """Cuts every sleep. Before anything is imported that keeps the function."""
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, MOST_SLEEP_S))


def hurry_calls() -> None:
    """Cuts the pause that botocore makes after it was throttled."""
    from botocore.retries.bucket import TokenBucket

    TokenBucket.__init__.__defaults__ = (1e6,)


def stop_clock(now: datetime) -> None:
    """Lets the command's clock stand."""
    from plimsoll.bootstrap.clocks import SystemClock

    SystemClock.now = lambda _self: now  # type: ignore[method-assign]  # in this process alone


def serve(forked: Any) -> None:
    """Begins command after command until there are no more."""
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if not child:
            forked.end(forked.become(told))
        _say(child)
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    """Is in a hurry, imports everything, and serves."""
    hurry()
    forked = import_module("tests.pipelines.forked")
    forked.prepare()
    for name in ("google.cloud.compute_v1", "google.cloud.monitoring_v3", "duckdb", "plimsoll.reports.html.page"):
        import_module(name)
    hurry_calls()
    stop_clock(datetime.fromisoformat(sys.argv[1]))
    serve(forked)


if __name__ == "__main__":
    main()
