"""Figures: a row of the page, and processes that are timed."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CACHE: Final = ROOT / ".bench"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure: what was measured, and its bound with whether it is kept."""

    what: str
    measured: str
    bound: str = ""
    met: bool | None = None

    @classmethod
    def at_most(cls, what: str, figure: float, bound: float, unit: str, *, note: str = "") -> "Row":
        """A figure that is to be no more than its bound."""
        return cls(
            what=what, measured=f"{figure:,.3g} {unit}{note}", bound=f"at most {bound:g} {unit}", met=figure <= bound
        )

    @property
    def verdict(self) -> str:
        """The verdict in a word; empty where there is no bound."""
        return "" if self.met is None else "met" if self.met else "**missed**"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A process that has ended: its seconds from start to end, and of CPU, the most memory, and what it printed."""

    elapsed_s: float
    cpu_s: float
    peak_mib: float
    printed: str


def timed(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    *,
    ends: Sequence[int] = (0,),
    folder: Path = ROOT,
    given: str = "",
) -> Ended:
    """One process, from start to end. SystemExit where it ends with none of those codes."""
    start = time.perf_counter()
    with subprocess.Popen(  # noqa: S603  # commands of our own
        [str(word) for word in command],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise SystemExit("a process has no pipes")
        process.stdin.write(given)
        process.stdin.close()
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        elapsed_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{printed}")
    return Ended(
        elapsed_s=elapsed_s, cpu_s=used.ru_utime + used.ru_stime, peak_mib=used.ru_maxrss / 1024, printed=printed
    )


def cpu_s(arguments: Sequence[str], environment: Mapping[str, str], *, ends: Sequence[int] = (0,)) -> float:
    """The seconds of CPU of one process of this Python."""
    return timed((sys.executable, *arguments), environment, ends=ends).cpu_s
