"""Execution environments: processes that run the functions as Lambda does, one invocation at a time in each.

They are forked from a process that has imported the libraries and read the models of services, so that a cold start
costs little, and a test may kill one without a trace in the others.
"""

import importlib
import json
import multiprocessing
import os
import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

_LIBRARIES: Final = [
    "tests.machines.models",
    "aws_lambda_powertools.utilities.idempotency",
    "aws_lambda_powertools.utilities.parameters",
    "plimsoll_service.bootstrap.service",
    "plimsoll_service.auditing",
    "plimsoll_service.inventory",
    "plimsoll_service.reporting",
]
"""What the functions' modules import; they themselves read their variables when they are imported, and so later."""

_FORKING: Final = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A deployed function: its handler as the template names it, its variables and its limits."""

    name: str
    handler: str
    variables: Mapping[str, str]
    timeout_s: float = 900.0
    memory_mib: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What one invocation is told."""

    function: Function
    arn: str
    request_id: str
    event: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of an invocation: the payload, whether it is an error's, and the most memory that was used so far."""

    payload: Any
    failed: bool = False
    peak_mib: float = 0.0


@dataclass(slots=True)
class Environment:
    """A warm process; `event` is that of the present invocation, and `calls` counts what it asks of AWS in it.

    `warm` until it has died.
    """

    name: str
    function: Function
    variables: Mapping[str, str]
    log: Path
    event: Any = None
    calls: Counter[str] = field(default_factory=Counter)
    warm: bool = True
    _process: Any = field(init=False)
    _connection: Connection = field(init=False)

    def __post_init__(self) -> None:
        self._connection, theirs = _FORKING.Pipe()
        variables = {
            **self.variables,
            **self.function.variables,
            "AWS_SDK_UA_APP_ID": self.name,
            "OPENBLAS_NUM_THREADS": "1",
        }
        with patch.dict(os.environ, {"OPENBLAS_NUM_THREADS": "1"}):
            _FORKING.set_forkserver_preload(_LIBRARIES)
            self._process = _FORKING.Process(target=_serve, args=(theirs, variables, self.log), daemon=True)
            self._process.start()
        theirs.close()

    def invoke(self, told: Invocation) -> Answer:
        """Runs the handler; a process that dies or takes too long ends as Lambda says it."""
        self.event, self.calls = told.event, Counter()
        self._connection.send(told)
        try:
            if self._connection.poll(self.function.timeout_s):
                return self._connection.recv()
        except (EOFError, ConnectionResetError):
            self.warm = False
            return _broken(told, "Runtime.ExitError", "Runtime exited with error: signal: killed")
        self.warm = False
        self.kill()
        return _broken(told, "Sandbox.Timedout", f"Task timed out after {self.function.timeout_s:.2f} seconds")

    def kill(self) -> None:
        """Ends the process at once, in the middle of what it does."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Ends the process and gives up what it held."""
        self.kill()
        self._connection.close()
        self._process.close()


def _broken(told: Invocation, kind: str, message: str) -> Answer:
    return Answer(payload={"errorType": kind, "errorMessage": f"RequestId: {told.request_id} {message}"}, failed=True)


def _serve(connection: Connection, variables: Mapping[str, str], log: Path) -> None:
    with log.open("a", buffering=1, encoding="utf-8") as output:
        os.environ.update(variables)
        sys.stdout = sys.stderr = output
        while True:
            try:
                told = connection.recv()
            except EOFError:
                return
            connection.send(_answer(told))


def _answer(told: Invocation) -> Answer:
    try:
        module, _, name = told.function.handler.rpartition(".")
        answered = getattr(importlib.import_module(module), name)(told.event, _context(told))
        payload, failed = json.loads(json.dumps(answered)), False
    except Exception as error:  # noqa: BLE001  # Lambda tells its caller of every one
        trace = traceback.format_exc()
        sys.stdout.write(trace)
        payload = {"errorType": type(error).__name__, "errorMessage": str(error), "stackTrace": trace.splitlines()}
        failed = True
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Answer(payload=payload, failed=failed, peak_mib=peak_kib / 1024)


def _context(told: Invocation) -> Any:
    """The context object with all that Powertools and the functions read of it."""
    deadline_s = time.monotonic() + told.function.timeout_s
    return SimpleNamespace(
        function_name=told.function.name,
        function_version="$LATEST",
        invoked_function_arn=told.arn,
        memory_limit_in_mb=told.function.memory_mib,
        aws_request_id=told.request_id,
        log_group_name=f"/aws/lambda/{told.function.name}",
        log_stream_name="machines",
        get_remaining_time_in_millis=lambda: max(0, int(1000 * (deadline_s - time.monotonic()))),
    )
