"""The figures that a change to reading or deciding quotes: under two minutes, ratios of one run.

    make bench-quick                          against bare numpy, boto3 and typer
    make bench-quick AGAINST=COMMIT_OR_WHEEL  and an audit and a start of that version, side by side

Everything is counted in seconds of CPU, so that other work on the machine changes little.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import cold_start
import decision
from measured_audit import CACHE, ROOT, Row
from versions import library_of

from cloud_simulator.running import Running, running

VOLUMES = 400
REPEATS = 3
INCOMPLETE = 3
"""What an audit ends with that could not answer everything: the simulated organization has volumes that nobody can."""


def main() -> None:
    """Prints a line for each figure."""
    CACHE.mkdir(exist_ok=True)
    for row in _rows(sys.argv[1:]):
        sys.stdout.write(f"{row.what}: {row.measured} = {row.ratio:.2f}{_verdict(row)}\n")
        sys.stdout.flush()


def _rows(versions: Sequence[str]) -> Iterator[Row]:
    yield from decision.measure()
    yield from cold_start.rows(cold_start.measure(REPEATS, cold_start.few_cases()))
    for version in versions:
        yield from _side_by_side(version)


def _verdict(row: Row) -> str:
    if row.target is None:
        return ""
    return f" ({'met' if row.met else 'missed'}: {'at least' if row.at_least else 'at most'} {row.target:g})"


def _side_by_side(version: str) -> Iterator[Row]:
    """The rows of a version against this one: one audit and one start of each, in turn."""
    libraries = {"this": ROOT / "lib", version: library_of(version)}
    # The command goes by its own clock, and an organization that ended days before has too few points to decide by.
    with running(datetime.now(UTC), volumes=VOLUMES) as organization:
        for library in libraries.values():
            _audit_cpu_s(organization, library)  # the simulator makes up what volumes did, and bytecode is left behind
        audits = {name: list[float]() for name in libraries}
        helps = {name: list[float]() for name in libraries}
        for _ in range(REPEATS):
            for name, library in libraries.items():
                audits[name].append(_audit_cpu_s(organization, library))
                helps[name].append(_cpu_s(("-m", "plimsoll", "--help"), library, {}))
    for what, found in ((f"an audit of {VOLUMES} simulated volumes", audits), ("plimsoll --help", helps)):
        theirs, ours = median(found[version]), median(found["this"])
        yield Row(
            what=f"{what}, {version} against this", measured=f"{theirs:.2f} s : {ours:.2f} s", ratio=theirs / ours
        )


def _audit_cpu_s(organization: Running, library: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        regions = [word for region in organization.fleet.regions for word in ("--region", region)]
        roles = [word for arn in organization.role_arns for word in ("--role-arn", arn)]
        arguments = ("-m", "plimsoll", "audit", *regions, *roles, "--out", f"{folder}/run")
        return _cpu_s(arguments, library, {"HOME": folder, **organization.environment}, ends=(0, INCOMPLETE))


def _cpu_s(arguments: Sequence[str], library: Path, more: Mapping[str, str], *, ends: Sequence[int] = (0,)) -> float:
    """The seconds of CPU of one process of a version."""
    environment = {"PATH": os.environ["PATH"], **more, "PYTHONPATH": str(library)}
    return cold_start.cpu_s(arguments, environment, ends=ends)


if __name__ == "__main__":
    main()
