"""Commands under faults: the real command line in a process that can be killed, and is when it does not end."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FORK_S: Final = 300
"""How long the forking process may take to answer, which loads all of the product first. Its end is noticed at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: its exit code (None: it did not, and was killed for it) and what it said."""

    code: int | None
    stdout: str
    stderr: str


@dataclass(slots=True)
class Commands:
    """Begins commands one at a time, each forked from one process that has imported everything."""

    now: datetime
    _process: subprocess.Popen[bytes] = field(init=False)
    _left: bytes = field(default=b"", init=False)
    pid: int = field(default=0, init=False)

    def __enter__(self) -> "Commands":
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forked", self.now.isoformat()],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            bufsize=0,
        )
        return self

    def __exit__(self, *_raised: object) -> None:
        with self._process as process:
            process.stdin.close()

    def run(self, words: Sequence[str], folder: Path, environment: Mapping[str, str], *, within_s: float) -> Ended:
        """Runs `plimsoll` with these words in a folder and this environment alone."""
        with tempfile.TemporaryDirectory() as temporary:
            files = [Path(temporary, name) for name in ("stdout", "stderr")]
            told = {"words": list(words), "folder": str(folder), "environment": dict(environment)}
            line = json.dumps({**told, "files": [str(file) for file in files]})
            self._process.stdin.write(f"{line}\n".encode())
            self.pid = int(self._line(FORK_S) or 0)
            assert self.pid, "the process that forks commands has ended"
            code = self._line(within_s)
            if code is None:
                self.kill()
                assert self._line(FORK_S) is not None
            self.pid = 0
            said = [file.read_text(encoding="utf-8", errors="replace") for file in files]
            return Ended(code=None if code is None else int(code), stdout=said[0], stderr=said[1])

    def kill(self) -> None:
        """Kills the command that is running, as `kill -9` does."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)

    def _line(self, within_s: float) -> str | None:
        """What the forking process says next; None where it says nothing within that time."""
        while b"\n" not in self._left:
            if not select.select([self._process.stdout], [], [], within_s)[0]:
                return None
            read = os.read(self._process.stdout.fileno(), 4096)
            if not read:
                return None
            self._left += read
        line, _, self._left = self._left.partition(b"\n")
        return line.decode()
