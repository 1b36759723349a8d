"""The audit's functions as they are deployed, and their execution environments on this machine."""

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final
from urllib.request import urlopen

from benchmarks.scale.limits import Held, Limits, held
from benchmarks.scale.machine import Failed
from cloud_simulator.aws.fleet import HOME_KEY
from tests.machines.templates import Resource, Templates

ROOT: Final = Path(__file__).resolve().parents[2]
_LOOK_S: Final = 0.25
"""How often the temporary disk is looked at while a function runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function by its file's name, with its variables and limits as the templates have them."""

    name: str
    variables: Mapping[str, str]
    limits: Limits

    @classmethod
    def of(cls, found: Resource) -> "Function":
        """The function of a template."""
        given = found.properties
        limits = Limits(
            memory_mib=int(given["MemorySize"]),
            tmp_mib=int(given["EphemeralStorage"]["Size"]),
            timeout_s=given["Timeout"],
        )
        name = str(given["Handler"]).split(".")[-2]
        return cls(name=name, variables=given["Environment"]["Variables"], limits=limits)


def functions_of(templates: Templates) -> dict[str, Function]:
    """Every function of ours by its ARN."""
    return {
        templates.arn(found): Function.of(found)
        for found in templates.resources("AWS::Lambda::Function")
        if str(found.properties.get("Handler", "")).startswith("functions.")
    }


@dataclass(slots=True)
class Spent:
    """What the invocations of a function took together; the most that one took of each limit."""

    invocations: int = 0
    cold: int = 0
    failed: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    cpu_s: float = 0.0
    peak_mib: float = 0.0
    tmp_mib: float = 0.0


@dataclass(slots=True, kw_only=True)
class _Environment:
    """A warm process."""

    function: Function
    process: subprocess.Popen[str]
    answers: IO[str]
    bounds: Held
    _ends: ExitStack

    @classmethod
    def started(cls, function: Function, port: int, folder: Path, slot: str) -> "_Environment":
        ends = ExitStack()
        name = f"{function.name}-{slot}"
        bounds = ends.enter_context(held(name, function.limits, folder))
        mine, theirs = os.pipe()
        log = ends.enter_context((folder / f"{name}.log").open("a", encoding="utf-8"))
        limits = function.limits
        words = (f"functions.{function.name}.handler", str(limits.timeout_s), str(limits.memory_mib), str(theirs))
        groups = map(str, bounds.groups)
        process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-m", "benchmarks.scale.worker", *words, *groups],
            cwd=ROOT,
            env={
                **_variables(port),
                **function.variables,
                "AWS_SDK_UA_APP_ID": function.name,
                "TMPDIR": str(bounds.tmp),
            },
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[theirs],
            text=True,
        )
        os.close(theirs)
        answers = ends.enter_context(os.fdopen(mine, encoding="utf-8"))
        return cls(function=function, process=process, answers=answers, bounds=bounds, _ends=ends)

    def invoke(self, event: Any, spent: Spent) -> Any:
        """What the function answers; `Failed`."""
        began_s = time.monotonic()
        _there(self.process.stdin).write(f"{json.dumps(event)}\n")
        _there(self.process.stdin).flush()
        line = ""
        while not line:
            spent.tmp_mib = max(spent.tmp_mib, self.bounds.tmp_used_mib)
            if select.select([self.answers], [], [], _LOOK_S)[0]:
                line = self.answers.readline()
                if not line:
                    self.process.wait()
                    raise Failed("Runtime.ExitError", f"the process ended with {self.process.returncode}")
            elif time.monotonic() - began_s > self.function.limits.timeout_s:
                self.process.kill()
                raise Failed("Sandbox.Timedout", f"it ran out of its {self.function.limits.timeout_s} s")
        told, seconds = json.loads(line), time.monotonic() - began_s
        spent.seconds += seconds
        spent.longest_s = max(spent.longest_s, seconds)
        spent.cpu_s += told["cpu_s"]
        spent.peak_mib = max(spent.peak_mib, told["peak_mib"])
        if told["failed"]:
            raise Failed(told["payload"]["errorType"], json.dumps(told["payload"]))
        return told["payload"]

    def end(self) -> None:
        """Ends the process and gives up its bounds."""
        self.process.kill()
        self.process.wait()
        self._ends.close()


def _there(pipe: IO[str] | None) -> IO[str]:
    """A pipe that was asked for."""
    if pipe is None:
        raise RuntimeError("the process was begun without this pipe")
    return pipe


def _variables(port: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": HOME_KEY,
        "AWS_SECRET_ACCESS_KEY": "simulated",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "POWERTOOLS_METRICS_DISABLED": "true",
    }


@dataclass(slots=True, kw_only=True)
class Lambda:
    """Environments of the functions: each slot has one warm process at a time, and a world of its own beside it."""

    functions: Mapping[str, Function]
    ports: list[int]
    folder: Path
    spent: dict[str, Spent] = field(default_factory=dict)
    _warm: dict[int, _Environment] = field(default_factory=dict)
    _free: list[int] = field(init=False)
    _closed: bool = False
    _lock: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._free = list(self.ports)

    def invoke(self, arn: str, event: Any) -> Any:
        """Calls a function by its ARN; `Failed`."""
        function = self.functions[arn]
        with self._lock:
            self._lock.wait_for(lambda: self._free or self._closed)
            if self._closed:
                raise SystemExit("the run was ended")
            port = self._free.pop()
            spent = self.spent.setdefault(function.name, Spent())
        own = Spent()
        try:
            return self._environment(function, port, own).invoke(event, own)
        except Failed:
            own.failed += 1
            if own.seconds == 0.0:
                self._warm.pop(port).end()
            raise
        finally:
            with self._lock:
                _add(spent, own)
                self._free.append(port)
                self._lock.notify()

    def close(self) -> None:
        """Ends every environment; nothing is called any more."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            for one in self._warm.values():
                one.end()

    def _environment(self, function: Function, port: int, own: Spent) -> _Environment:
        found = self._warm.get(port)
        if found is not None and found.function.name == function.name:
            return found
        if found is not None:
            found.end()
        own.cold += 1
        self._warm[port] = _Environment.started(function, port, self.folder, str(port))
        return self._warm[port]


def _add(spent: Spent, own: Spent) -> None:
    spent.invocations += 1
    for name in ("cold", "failed", "seconds", "cpu_s"):
        setattr(spent, name, getattr(spent, name) + getattr(own, name))
    for name in ("longest_s", "peak_mib", "tmp_mib"):
        setattr(spent, name, max(getattr(spent, name), getattr(own, name)))


@contextmanager
def worlds(count: int, told: Mapping[str, Any]) -> Iterator[list[int]]:
    """The ports of so many processes that are the world, for as long as the block lasts."""
    with ExitStack() as ends:
        processes = [
            ends.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.scale.world"],
                    cwd=ROOT,
                    env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(count)
        ]
        ports = []
        for process in processes:
            _there(process.stdin).write(f"{json.dumps(told)}\n")
            _there(process.stdin).flush()
            ports.append(int(_there(process.stdout).readline()))
        try:
            yield ports
        finally:
            for process in processes:
                _there(process.stdin).close()


def tally(port: int) -> Any:
    """What a world was asked, by function."""
    with urlopen(f"http://127.0.0.1:{port}/tally") as answer:  # loopback
        return json.load(answer)
