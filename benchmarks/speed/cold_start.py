"""What a start takes: the CPU of whole processes, interleaved because machines are noisy, the least of a few.

    .venv/bin/python benchmarks/speed/cold_start.py [REPEATS]

Imports are compared by their CPU above that of a bare Python, commands by the whole process. Every process runs once
beforehand, so that compiled bytecode is there; a Lambda's package has to bring its own, for its disk is read-only.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from measured_audit import ROOT, Row

REPEATS: Final = 5

LIBRARIES: Final = ("boto3", "numpy", "pydantic.main", "pydantic.type_adapter")
"""What no audit does without."""

AUDIT: Final = ("plimsoll.bootstrap.clouds", "plimsoll.auditing.audit", "plimsoll.run")
"""What an audit imports when there is no command line."""

FIRST_DATA: Final = """
from plimsoll.bootstrap.envelopes import envelope_library
from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.clouds.common.dated_data import shipped_prices
volume_types("aws"), shipped_prices("aws"), envelope_library()
"""
"""What the first audit of a process reads once."""

TRIVIAL_APP: Final = """
import typer
app = typer.Typer()
@app.command()
def greet(name: str = "you") -> None:
    "Greet somebody."
app(["--help"])
"""

FUNCTIONS: Final = "functions/"
BARE: Final = "bare Python"
BOTO3: Final = "import boto3"
TYPER: Final = "help of a trivial typer app"
IMPORTS: Final = "the audit's imports"
HELP: Final = "plimsoll --help"
AUDIT_OF_BOTO3: Final = 2.1
OTHERS_OF_BOTO3: Final = 2.5
OF_TYPER: Final = 1.2
SOON: Final = ("audit_batch", "slack_act")
"""The functions that are held to what an audit's imports are: somebody, or a whole run, waits for each start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A process to time, and what it is held against: `base` by its time above a bare Python's if `above_bare`."""

    name: str
    arguments: tuple[str, ...]
    base: str | None = None
    above_bare: bool = True
    target: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The least seconds of a case's processes, since other work only adds, and how many times its base that is."""

    case: Case
    seconds: float
    ratio: float | None

    @property
    def over(self) -> bool:
        """Whether it misses its target."""
        return self.ratio is not None and self.case.target is not None and self.ratio > self.case.target


def cases() -> list[Case]:
    """Everything that is timed."""
    audit = _imports(*AUDIT)
    return [
        Case(name=BARE, arguments=_run("pass")),
        Case(name=BOTO3, arguments=_run(_imports("boto3"))),
        Case(name="boto3, numpy and pydantic alone", arguments=_run(_imports(*LIBRARIES)), base=BOTO3),
        Case(name=IMPORTS, arguments=_run(audit), base=BOTO3, target=AUDIT_OF_BOTO3),
        Case(name="... and the data it reads first", arguments=_run(audit + FIRST_DATA), base=BOTO3),
        *(
            Case(
                name=f"{FUNCTIONS}{path.name}",
                arguments=_run(_handler(path)),
                base=BOTO3,
                target=AUDIT_OF_BOTO3 if path.stem in SOON else OTHERS_OF_BOTO3,
            )
            for path in sorted((ROOT / "functions").glob("*.py"))
            if "\nhandler = entry(" in (text := path.read_text(encoding="utf-8")) or "def handler(" in text
        ),
        Case(name=TYPER, arguments=_run(TRIVIAL_APP)),
        Case(
            name=HELP,
            arguments=("-m", "plimsoll", "--help"),
            base=TYPER,
            above_bare=False,
            target=OF_TYPER,
        ),
    ]


def few_cases() -> list[Case]:
    """Those of an audit and of help, and what they are held against."""
    return [case for case in cases() if case.base is None or case.name in (IMPORTS, HELP)]


def measure(repeats: int, found: Sequence[Case]) -> list[Timing]:
    """The timing of cases over so many rounds, each of which runs every case once."""
    seconds: dict[str, list[float]] = {case.name: [] for case in found}
    for case in found:
        _timed(case)  # leaves the bytecode behind
    for _ in range(repeats):
        for case in found:
            seconds[case.name].append(_timed(case))
    least = {name: min(times) for name, times in seconds.items()}
    return [Timing(case=case, seconds=least[case.name], ratio=_ratio(case, least)) for case in found]


def table(timings: Sequence[Timing]) -> str:
    """The timings as text."""
    bare = next(timing.seconds for timing in timings if timing.case.name == BARE)
    lines = [f"{'':<34}{'ms':>7}{'above bare':>12}{'ratio':>8}{'target':>8}"]
    for timing in timings:
        case = timing.case
        ratio = "" if timing.ratio is None else f"{timing.ratio:.2f}"
        target = "" if case.target is None else f"{case.target:.2f}"
        figures = f"{timing.seconds * 1e3:>7.0f}{(timing.seconds - bare) * 1e3:>12.0f}{ratio:>8}{target:>8}"
        against = f"  of {case.base}" if case.base else ""
        lines.append(f"{case.name:<34}{figures}{against}{'  OVER' if timing.over else ''}")
    return "\n".join(lines)


def main() -> None:
    """Prints the table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    sys.stdout.write(table(measure(repeats, cases())) + "\n")


def _imports(*modules: str) -> str:
    return "import " + ", ".join(modules)


def _handler(path: Path) -> str:
    return f"import sys; sys.path.insert(0, {str(path.parent)!r}); import {path.stem}"


def _run(script: str) -> tuple[str, ...]:
    return ("-c", script)


def rows(timings: Sequence[Timing]) -> Iterator[Row]:
    """The rows of the timings that are held against another: of the functions under one target the slowest."""
    for timing in timings:
        if timing.case.name.startswith(FUNCTIONS):
            alike = [one for one in timings if _is_alike(one, timing)]
            if timing is max(alike, key=lambda one: one.ratio or 0.0):
                yield _row(timing, f"{timing.case.name}, the slowest of {len(alike)},")
        elif timing.case.base is not None and timing.ratio is not None:
            yield _row(timing, timing.case.name)


def _is_alike(one: Timing, other: Timing) -> bool:
    return one.case.name.startswith(FUNCTIONS) and one.case.target == other.case.target


def _row(timing: Timing, name: str) -> Row:
    return Row(
        what=f"{name} against {timing.case.base}",
        measured=f"{timing.seconds * 1e3:.0f} ms of CPU in all",
        ratio=timing.ratio or 0.0,
        target=timing.case.target,
        note="above a bare Python" if timing.case.above_bare else "whole process",
    )


def cpu_s(arguments: Sequence[str], environment: Mapping[str, str], *, ends: Sequence[int] = (0,)) -> float:
    """The seconds of CPU of one process of this Python, which has to end with one of those codes."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:  # noqa: S603  # our own
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def _timed(case: Case) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return cpu_s(case.arguments, environment)


def _ratio(case: Case, seconds: Mapping[str, float]) -> float | None:
    if case.base is None:
        return None
    less = seconds[BARE] if case.above_bare else 0.0
    return (seconds[case.name] - less) / (seconds[case.base] - less)


if __name__ == "__main__":
    main()
