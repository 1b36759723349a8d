"""Simulators in processes that are forked from one which has imported them: what starting Python costs is paid once.

`python -m tests.simulators SOCKET` is that process. It runs no thread; it is told of each simulator by a message with
its words, folder and environment, and the files that are its standard input, output and errors. What only a
simulator of Google's projects needs is imported when the first of them is asked for.
"""

import atexit
import gc
import json
import os
import random
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Self

MODULE = "cloud_simulator"
MOST = 1 << 20
"""Bytes of a message."""
SERVICES = ("dynamodb", "ec2", "events", "organizations", "s3", "secretsmanager", "sqs", "ssm", "stepfunctions", "sts")
"""Of moto, which imports each when it is first asked of it."""


class Forked:
    """Stands for `subprocess.Popen` of a simulator."""

    def __init__(self, command: list[str], **_pipes: Any) -> None:
        assert command[1] == "-m", command
        assert command[2] == MODULE, command
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        what = {"words": command[3:], "folder": str(Path.cwd()), "environment": dict(os.environ)}
        told = json.dumps(what).encode()
        assert len(told) < MOST
        socket.send_fds(_first(), [told], [theirs_in, theirs_out, 2])
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin = os.fdopen(ours_in, "w", encoding="utf-8")
        self.stdout = os.fdopen(ours_out, encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        """Waits for its end: nobody else has the other end of its output."""
        self.stdin.close()
        self.stdout.read()
        self.stdout.close()


def fork_from_now_on(module: ModuleType) -> None:
    """Has that module fork the simulators that it starts."""
    module.subprocess = SimpleNamespace(Popen=Forked, PIPE=subprocess.PIPE)  # type: ignore[attr-defined]


@cache
def _first() -> socket.socket:
    """What the process is told by that all are forked from; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.simulators", str(theirs.fileno())],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            # No threads: they would not be there in what is forked.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    atexit.register(_end, process, ours)
    return ours


def _end(process: subprocess.Popen[bytes], told: socket.socket) -> None:
    told.close()
    process.wait()


def serve(asked: socket.socket) -> None:
    """Forks a simulator for every message until there are no more."""
    while True:
        told, files, *_ = socket.recv_fds(asked, MOST, 3)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass  # those that have ended
        if not told:
            return
        what = json.loads(told)
        if "--cloud=google" in what["words"]:
            import_module(f"{MODULE}.google.serving")
        if os.fork():
            for file in files:
                os.close(file)
            continue
        asked.close()
        become(what, files)


def become(told: dict[str, Any], files: list[int]) -> None:
    """Is the simulator from here on."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # the old one is of another file
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = [f"python -m {MODULE}", *told["words"]]
    random.seed()
    code = 1
    try:
        import_module(f"{MODULE}.__main__").main()
        code = 0
    except BaseException:  # noqa: BLE001  # the interpreter tells of every one
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def prepare() -> None:
    """Imports what every simulator would, at once or when it is first asked."""
    import_module(f"{MODULE}.aws.server")
    for service in SERVICES:
        for part in ("urls", "responses", "models"):
            import_module(f"moto.{service}.{part}")
    gc.freeze()  # nothing of this is ever garbage, and what is not looked at is not copied


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as told_by:
        prepare()
        serve(told_by)
