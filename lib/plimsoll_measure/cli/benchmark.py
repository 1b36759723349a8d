"""Run fio here, on a directory or an empty device, and add the result to the library."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from plimsoll.bootstrap.clocks import clock
from plimsoll.cli.exit_codes import EXIT_INTERRUPTED
from plimsoll.cli.screen import Screen
from plimsoll.model.errors import BadInput
from plimsoll.model.units import MIB, MINUTE_S
from plimsoll_measure.cli.options import BenchmarkOptions, MeasuredVolumeOptions

if TYPE_CHECKING:
    from plimsoll.model.volume import VolumeSpec
    from plimsoll_measure.adding import NewCampaign
    from plimsoll_measure.bench.local import PhaseWatch, PlacedJob

_LISTED: Final = ("Measure", 3)


def benchmark_command(
    path: Annotated[Path, typer.Argument(help="A directory, or an empty block device.")],
    *,
    bench: BenchmarkOptions,
    measured: MeasuredVolumeOptions,
) -> None:
    from plimsoll.clouds.published import types_by_cloud
    from plimsoll.envelopes.admissibility.sweep import climbing
    from plimsoll.settings import Settings
    from plimsoll_measure.benchmark import plan_benchmark, run_benchmark
    from plimsoll_measure.cli.measured_volumes import spec_from
    from plimsoll_measure.terminal.envelopes import results

    settings, console, spec = Settings.from_environment(), Screen(), spec_from(measured)
    job = plan_benchmark(
        path,
        bench.job,
        runtime_s=settings.benchmark_runtime_s if bench.runtime_s is None else bench.runtime_s,
        ramp_s=settings.benchmark_ramp_s if bench.ramp_s is None else bench.ramp_s,
        file_bytes=None if bench.file_mib is None else bench.file_mib * MIB,
        max_minutes=bench.max_minutes,
        max_gib=bench.max_gib,
    )
    new = _new_campaign(job, bench, measured, spec)
    _foresee(console, job, path, bench)
    if not bench.yes:
        _ask()
    types = types_by_cloud().get(new.provider, {})
    try:
        with _bar(console, job) as watch:
            written, envelope = run_benchmark(
                job, new, settings.measured_dir, types, max_minutes=bench.max_minutes, watch=watch
            )
    except KeyboardInterrupt:
        console.print("interrupted: fio is stopped, and what it wrote is removed. Nothing was recorded.")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    console.print(results(envelope, list(climbing(envelope.measurements)), console.width), soft_wrap=True)
    console.say(f"added to the library as {new.name}: {written}")


def _new_campaign(
    job: PlacedJob, bench: BenchmarkOptions, measured: MeasuredVolumeOptions, spec: VolumeSpec
) -> NewCampaign:
    """The campaign that the results become. BadInput for a type that its cloud does not have, or half a place."""
    from plimsoll.clouds.published import cloud_of
    from plimsoll.clouds.registry import AWS
    from plimsoll.decide.evidence import LOCAL
    from plimsoll.model.envelope import name_own
    from plimsoll_measure.adding import UNKNOWN_TYPE, NewCampaign
    from plimsoll_measure.cli.measured_volumes import check_measured_place, host_from

    now = clock().now()
    host_type = measured.host_type or f"{platform.machine()} with {os.cpu_count()} CPUs"
    where = "an empty device" if job.target.is_device else f"a {job.target.filesystem or 'unnamed'} filesystem"
    provider = measured.provider or (LOCAL if spec.type == UNKNOWN_TYPE else cloud_of(spec.type) or AWS)
    check_measured_place(spec, provider, measured)
    return NewCampaign(
        name=bench.name or f"{bench.job}-{now:%Y%m%dT%H%M%SZ}",
        title=f"{bench.job} on {host_type}",
        cited=name_own((now.date(), now.date()), f"by the job {bench.job} on {host_type}"),
        source=f"plimsoll benchmark, on {where}",
        measured_on=now.date().isoformat(),
        provider=provider,
        account=measured.account,
        region=measured.region,
        spec=spec,
        volumes=measured.volumes,
        host=host_from(provider, host_type),
    )


def _foresee(console: Screen, job: PlacedJob, path: Path, bench: BenchmarkOptions) -> None:
    """Prints the job's plan: the place, the steps, and what it takes."""
    from plimsoll_measure.bench.jobs import job_sections
    from plimsoll_measure.bench.write_places import GIB

    place = "the empty device" if job.target.is_device else f"a new folder ({job.target.filesystem}) in"
    linked = f" (which {path} leads to)" if path.absolute() != job.target.path else ""
    console.print(
        f"{bench.job}: {len(job_sections(job.job))} sections on {place} {job.target.path}{linked}.\n"
        f"It first fills {job.taken_bytes / GIB:,.2f} GiB, then measures for {_duration(job.seconds)}, "
        f"then removes what it wrote. It is stopped after {bench.max_minutes:g} minutes.",
        soft_wrap=True,
        markup=False,
    )


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 2 * MINUTE_S else f"{seconds / MINUTE_S:,.1f} minutes"


def _ask() -> None:
    """Goes on if the user wants to; BadInput where nobody can be asked."""
    if not sys.stdin.isatty():
        raise BadInput("there is no terminal to ask for consent: add --yes to begin.")
    typer.confirm("Begin?", abort=True)


@contextmanager
def _bar(console: Screen, job: PlacedJob) -> Iterator[PhaseWatch]:
    """A live bar for as long as the block lasts: the time that was measured of the time that it takes, with the
    section. Only what is measured has a known length."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from plimsoll_measure.bench.jobs import job_sections
    from plimsoll_measure.bench.local import PHASE_MEASURING

    sections = job_sections(job.job)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=None), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *left, console=console, transient=True) as progress:
        bar = progress.add_task("beginning", total=job.seconds)

        def watch(phase: str, spent_s: float) -> None:
            if phase != PHASE_MEASURING:
                progress.update(bar, description=phase)
                return
            at = min(len(sections) - 1, int(spent_s / job.seconds * len(sections)))
            described = f"{phase} {sections[at]} ({at + 1} of {len(sections)})"
            progress.update(bar, description=described, completed=min(spent_s, job.seconds))

        yield watch
