"""The process that audits under faults are forked from. It reads one a line from standard input, as JSON; of each it
writes the process id, and the exit code when it has ended.

Each is the real command line in a process of its own, with two things changed: its clock stands at NOW, the first
argument, and it is in a hurry. Waits between retries are cut to milliseconds, time limits of calls to a fraction of a
second: what is tried is what happens then, not how long it takes.
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
WAIT_S = "PLIMSOLL_FAULTS_WAIT_S"
"""The variable that says how long a call may take: short only where a plan lets calls hang, since machines are busy."""


def wait_s() -> float:
    """How long a call may take."""
    return float(os.environ[WAIT_S])


def hurry() -> None:
    """Cuts every sleep. Before anything is imported that keeps the function."""
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, MOST_SLEEP_S))


def hurry_calls() -> None:
    """Cuts the time limits of HTTP and gRPC, and the pause that botocore makes after it was throttled."""
    from botocore.httpsession import URLLib3Session
    from botocore.retries.bucket import TokenBucket
    from requests.adapters import HTTPAdapter

    made, sent = URLLib3Session.__init__, HTTPAdapter.send

    def short(self: Any, *args: Any, **others: Any) -> None:
        made(self, *args, **{**others, "timeout": (wait_s(), wait_s())})

    def send(self: Any, request: Any, **others: Any) -> Any:
        return sent(self, request, **{**others, "timeout": (wait_s(), wait_s())})

    URLLib3Session.__init__ = short
    HTTPAdapter.send = send
    TokenBucket.__init__.__defaults__ = (1e6,)


def hurry_grpc() -> None:
    """Cuts the time limit of every call of gRPC."""
    import grpc._channel as channel

    for name in ("__call__", "with_call"):
        called = getattr(channel._UnaryUnaryMultiCallable, name)

        def call(self: Any, request: Any, timeout: Any = None, *args: Any, _called: Any = called, **others: Any) -> Any:
            return _called(self, request, wait_s(), *args, **others)

        setattr(channel._UnaryUnaryMultiCallable, name, call)


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
    hurry_grpc()
    stop_clock(datetime.fromisoformat(sys.argv[1]))
    serve(forked)


if __name__ == "__main__":
    main()
