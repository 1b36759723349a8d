"""The figures that a change to reading or deciding quotes, in seconds of CPU, so that other work changes them little.

make bench-quick                          a decision, and an audit and a start of this version
make bench-quick AGAINST=COMMIT_OR_WHEEL  ... and of that version, in turn
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import decision
from figures import CACHE, ROOT, Row, cpu_s
from versions import library_of

from cloud_simulator.running import Running, running

VOLUMES = 400
REPEATS = 3
INCOMPLETE = 3
"""What an audit ends with that could not answer everything: the simulated organization has volumes that nobody can."""


def main() -> None:
    """Prints a line for each figure."""
    CACHE.mkdir(exist_ok=True)
    for row in [*decision.measure(), *_side_by_side(sys.argv[1:])]:
        sys.stdout.write(f"{row.what}: {row.measured}\n")


def _side_by_side(versions: Sequence[str]) -> Iterator[Row]:
    """The rows of one audit and one start of each version and of this one, in turn."""
    libraries = {**{version: library_of(version) for version in versions}, "this": ROOT / "lib"}
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
    for what, used_s in (
        (f"CPU of an audit of {VOLUMES} simulated volumes", audits),
        ("of plimsoll --help", helps),
    ):
        least = {name: median(seconds) for name, seconds in used_s.items()}
        ratios = "".join(f", {least[version] / least['this']:.2f} times this" for version in versions)
        yield Row(what=what, measured=", ".join(f"{name} {s:.2f} s" for name, s in least.items()) + ratios)


def _audit_cpu_s(organization: Running, library: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        regions = [word for region in organization.fleet.regions for word in ("--region", region)]
        roles = [word for arn in organization.role_arns for word in ("--role-arn", arn)]
        arguments = ("-m", "plimsoll", "audit", *regions, *roles, "--out", f"{folder}/run")
        return _cpu_s(arguments, library, {"HOME": folder, **organization.environment}, ends=(0, INCOMPLETE))


def _cpu_s(arguments: Sequence[str], library: Path, more: Mapping[str, str], *, ends: Sequence[int] = (0,)) -> float:
    """The seconds of CPU of one process of a version."""
    return cpu_s(arguments, {"PATH": os.environ["PATH"], **more, "PYTHONPATH": str(library)}, ends=ends)


if __name__ == "__main__":
    main()
