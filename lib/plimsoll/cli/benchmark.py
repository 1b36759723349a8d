"""`plimsoll benchmark`: fio on this machine, into the library of envelopes."""

import os
import platform
import signal
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from plimsoll.bench.jobs import job_sections
from plimsoll.bench.local import MEASURING, Placed
from plimsoll.bench.targets import GIB
from plimsoll.benchmark import Bounds, MeasuredVolume, plan_benchmark, run_benchmark, still_climbing
from plimsoll.bootstrap import clock
from plimsoll.cli.envelopes import check_place, spec_from
from plimsoll.cli.exit_codes import INTERRUPTED
from plimsoll.cli.options import MeasuredVolumeOptions
from plimsoll.clouds.published import cloud_of, types_by_cloud
from plimsoll.clouds.registry import AWS
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence import LOCAL
from plimsoll.domain.units import MIB, MINUTE_S
from plimsoll.envelopes.new_campaigns import UNKNOWN_TYPE
from plimsoll.reports.terminal import envelopes as report
from plimsoll.settings import Settings


def benchmark_path(
    path: Path,
    job: str,
    given: MeasuredVolumeOptions,
    *,
    name: str | None,
    runtime_s: int | None,
    ramp_s: int | None,
    file_mib: int | None,
    bounds: Bounds,
    yes: bool,
) -> None:
    """Runs a job on a path, after saying what it takes. Prints the result and adds it to the library."""
    settings, console, spec = Settings.of_environment(), Console(highlight=False), spec_from(given)
    one = plan_benchmark(
        path,
        job,
        runtime_s=settings.benchmark_runtime_s if runtime_s is None else runtime_s,
        ramp_s=settings.benchmark_ramp_s if ramp_s is None else ramp_s,
        file_bytes=None if file_mib is None else file_mib * MIB,
        bounds=bounds,
    )
    now = clock().now()
    volume = MeasuredVolume(
        name=name or f"{job}-{now:%Y%m%dT%H%M%SZ}",
        spec=spec,
        volumes=given.volumes,
        provider=given.provider or (LOCAL if spec.type == UNKNOWN_TYPE else cloud_of(spec.type) or AWS),
        host_type=given.host_type or f"{platform.machine()} with {os.cpu_count()} CPUs",
        account=given.account,
        region=given.region,
    )
    check_place(spec, volume.provider, given)
    _foresee(console, one, path, job, bounds)
    if not yes:
        _ask()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with _Bar(console, one) as bar:
            written, envelope = run_benchmark(
                one,
                volume,
                settings.measured_dir,
                types_by_cloud().get(volume.provider, {}),
                bounds=bounds,
                title=f"{job} on {volume.host_type}",
                today=now.date(),
                watch=bar.take,
            )
    except KeyboardInterrupt:
        console.print("interrupted: fio is stopped, and what it wrote is removed. Nothing was recorded.")
        raise typer.Exit(INTERRUPTED) from None
    console.print(report.results(envelope, list(still_climbing(envelope)), console.width), soft_wrap=True)
    console.print(f"added to the library as {volume.name}: {written}", soft_wrap=True)


def _foresee(console: Console, one: Placed, given: Path, job: str, bounds: Bounds) -> None:
    """What the job is about to do, where, and what it takes."""
    place = "the empty device" if one.target.is_device else f"a new folder ({one.target.filesystem}) in"
    linked = f" (which {given} leads to)" if given.absolute() != one.target.path else ""
    console.print(
        f"{job}: {len(job_sections(one.job))} sections on {place} {one.target.path}{linked}.\n"
        f"It first fills {one.taken_bytes / GIB:,.2f} GiB, then measures for {_duration(one.seconds)}, "
        f"then removes what it wrote. It is stopped after {bounds.minutes:g} minutes.",
        soft_wrap=True,
        markup=False,
    )


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 2 * MINUTE_S else f"{seconds / MINUTE_S:,.1f} minutes"


def _ask() -> None:
    """Goes on if the user wants to; BadInput where nobody can be asked."""
    if not sys.stdin.isatty():
        raise BadInput("nobody can be asked whether to begin: add --yes.")
    typer.confirm("Begin?", abort=True)


class _Bar:
    """A live bar: the time that was measured of the time that it takes, with the section; use as a context manager."""

    def __init__(self, console: Console, one: Placed) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._one = one
        self._sections = job_sections(one.job)
        self._task = self._progress.add_task("beginning", total=one.seconds)

    def __enter__(self) -> "_Bar":
        self._progress.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._progress.stop()

    def take(self, phase: str, spent_s: float) -> None:
        """Moves the bar: only what is measured has a known length."""
        if phase != MEASURING:
            self._progress.update(self._task, description=phase)
            return
        count = len(self._sections)
        at = min(count - 1, int(spent_s / self._one.seconds * count))
        described = f"{phase} {self._sections[at]} ({at + 1} of {count})"
        self._progress.update(self._task, description=described, completed=min(spent_s, self._one.seconds))
