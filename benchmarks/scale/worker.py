"""A function's execution environment: a process within its bounds, warm from one invocation to the next.

`python -m benchmarks.scale.worker HANDLER LIMIT_S MEMORY_MIB ANSWERS GROUP...` joins those control groups. It reads an
event a line, as JSON, and writes what came of it to the file descriptor ANSWERS.
"""

import json
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def main(handler: str, limit_s: float, memory_mib: int, answers: int) -> None:
    """Answers events until there are no more."""
    module, _, name = handler.rpartition(".")
    function = getattr(import_module(module), name)
    with os.fdopen(answers, "w", encoding="utf-8") as out:
        for number, line in enumerate(sys.stdin):
            began_s = time.process_time() if number else 0.0
            payload, failed = _answer(function, json.loads(line), _context(handler, limit_s, memory_mib))
            told = {
                "payload": payload,
                "failed": failed,
                "cpu_s": time.process_time() - began_s,
                "peak_mib": peak_mib(),
            }
            out.write(f"{json.dumps(told)}\n")
            out.flush()


def _answer(function: Any, event: Any, context: Any) -> tuple[Any, bool]:
    try:
        return json.loads(json.dumps(function(event, context))), False
    except Exception as error:  # noqa: BLE001  # Lambda tells its caller of every one
        traceback.print_exc()
        return {"errorType": type(error).__name__, "errorMessage": str(error)}, True


def _context(handler: str, limit_s: float, memory_mib: int) -> Any:
    """The context object, as far as Powertools and the functions read it."""
    deadline_s = time.monotonic() + limit_s
    return SimpleNamespace(
        function_name=handler,
        function_version="$LATEST",
        invoked_function_arn=f"arn:aws:lambda:us-east-1:100000000000:function:{handler}",
        memory_limit_in_mb=memory_mib,
        aws_request_id=f"{time.time_ns()}",
        log_group_name=handler,
        log_stream_name=handler,
        get_remaining_time_in_millis=lambda: max(0, int(1000 * (deadline_s - time.monotonic()))),
    )


def peak_mib() -> float:
    """The most memory that this process has had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    for group in sys.argv[5:]:
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
