"""Commands that measure: targets before anything is moved, and devices of one's own, into the library of envelopes."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.measure.runs import Mode
from plimsoll.model.errors import BadInput


@with_option_groups
def validate_command(
    volume: Annotated[str | None, typer.Argument(help="Volume id. Leave it out with --recommendation.")] = None,
    recommendation: Annotated[
        Path | None, typer.Option(help="Validate the recommendations of this run whose evidence is thin.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What to validate instead of the recommendation: flip, or TYPE[:IOPS[:MIB_S]].")
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(help="With --recommendation: validate what is under this grade (the policy's, else B)."),
    ] = None,
    *,
    measure: options.ValidateOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
) -> None:
    """Measure a target with fio, on a scratch volume beside the workload's own, before anything is moved to it."""
    from plimsoll.cli.screen import beginning

    with beginning("starting"):
        from plimsoll.api.runs import is_run
        from plimsoll.cli.option_values import grade_from, policy_from, scope_from
        from plimsoll.cli.validate import validate_one, validate_recommendations

    if volume is not None and is_run(Path(volume)):
        raise BadInput(f"{volume} is a run: give it as --recommendation {volume}, or name one of its volumes.")
    if (volume is None) == (recommendation is None):
        raise BadInput("name one volume, or give a run with --recommendation.")
    if recommendation is not None:
        if target is not None or measure.mode is not Mode.CANARY:
            raise BadInput(
                "--recommendation validates what is recommended, on new volumes: leave out --target and --mode."
            )
        asked = scope.aws.external_id
        validate_recommendations(recommendation, grade_from(grade), measure, external_id=asked)
        return
    if grade is not None:
        raise BadInput("--grade chooses among a run's recommendations: give it with --recommendation.")
    validate_one(volume or "", target, scope_from(scope, policy.prices), policy_from(policy), measure)


@with_option_groups
def probe_command(
    volumes: Annotated[
        list[str], typer.Argument(metavar="VOLUME...", help="Volume ids, or paths of block devices of this machine.")
    ],
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long to read: 90s, 10m, 1h, 1d at most.")
    ] = "1h",
    *,
    stop: Annotated[bool, typer.Option("--stop", help="End the probe of these volumes instead.")] = False,
    scope: options.ScopeOptions,
) -> None:
    """Read a host's own counts of its volumes once a second: peaks, exceeded limits, latency. It does no I/O."""
    from plimsoll.cli.option_values import scope_from, seconds_from
    from plimsoll.cli.probe import probe_devices, probe_volumes

    here = [volume for volume in volumes if volume.startswith("/")]
    if here and len(here) < len(volumes):
        raise BadInput("name volumes, or devices of this machine, but not both.")
    if here:
        probe_devices(here, seconds_from(for_))
        return
    probe_volumes(volumes, seconds_from(for_), scope_from(scope), stop=stop)


@with_option_groups
def benchmark_command(
    path: Annotated[Path, typer.Argument(help="A directory, or an empty block device.")],
    *,
    bench: options.BenchmarkOptions,
    measured: options.MeasuredVolumeOptions,
) -> None:
    """Run fio here, on a directory or an empty device, and add what it measured to the library."""
    from plimsoll.cli.benchmark import benchmark_path

    benchmark_path(path, bench, measured)


@with_option_groups
def sweep_command(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete scratch volumes that are not due yet, too: their runs then fail.")
    ] = False,
    scope: options.ScopeOptions,
) -> None:
    """Delete scratch volumes past their deadline, also those that a killed command left."""
    from plimsoll.bootstrap.clocks import clock
    from plimsoll.bootstrap.clouds import open_clouds
    from plimsoll.bootstrap.measuring import bench_patience
    from plimsoll.cli.exit_codes import PARTIAL
    from plimsoll.cli.option_values import scope_from
    from plimsoll.cli.screen import Screen
    from plimsoll.ports import FailedTarget
    from plimsoll.reports.terminal.validation import show_lines
    from plimsoll.reports.wording import count_of
    from plimsoll.settings import Settings
    from plimsoll.validation import scratch_volume

    settings, console, now = Settings.from_environment(), Screen(highlight=True), clock().now()
    patience = bench_patience(settings)
    deleted, complete = 0, True
    for cloud in open_clouds(scope_from(scope), settings, today=now.date()):
        bench, targets = cloud.bench, cloud.ports.inventory.targets()
        for swept in scratch_volume.sweep_scratch_volumes(
            targets,
            now,
            bench_at=lambda _target: bench,  # noqa: B023  # called before the next cloud is opened
            patience=patience,
            everything=everything,
        ):
            if isinstance(swept, FailedTarget):
                complete = False
                show_lines(console, [f"failed {swept.name}: {swept.error}"])
                continue
            deleted += swept.deleted
            complete = complete and swept.left is None
            show_lines(console, [swept.text])
    console.print(f"{count_of(deleted, 'scratch volume')} deleted")
    if not complete:
        raise typer.Exit(PARTIAL)


def bench_agent_command() -> None:
    """Print the startup script that makes a VM of Google Cloud a bench host (docs/validation.md)."""
    from plimsoll.bench.agent import agent_script
    from plimsoll.reports.printable import put_out

    put_out([agent_script()])


envelopes_command = PlainTyper(help="Measured envelopes: list, show, compare, import.")


@envelopes_command.command(name="list")
def list_envelopes(as_json: options.AsJson = False) -> None:
    """List every measured envelope with its roofs."""
    from plimsoll.cli.envelopes import list_all

    list_all(as_json=as_json)


@envelopes_command.command(name="show")
def show_envelope(name: str, as_json: options.AsJson = False) -> None:
    """Show one envelope: its roofs, what cut them, and every figure as its source printed it."""
    from plimsoll.cli.envelopes import show_one

    show_one(name, as_json=as_json)


@envelopes_command.command(name="compare")
def compare_envelopes(
    names: Annotated[list[str], typer.Argument(help="Two envelopes or more.")],
    as_json: options.AsJson = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw them to this file instead, .svg or .png.")] = None,
) -> None:
    """Set envelopes side by side over mode and I/O size."""
    from plimsoll.cli.envelopes import show_comparison

    if chart is None:
        show_comparison(names, as_json=as_json)
        return
    from plimsoll.cli.chart import draw_comparison

    draw_comparison(names, chart)


@envelopes_command.command(name="import")
@with_option_groups
def import_envelope(
    files: Annotated[
        list[Path], typer.Argument(help="What fio or sysbench printed, and fio's logs of it; see docs/validation.md.")
    ],
    *,
    name: Annotated[str, typer.Option("--as", help="Name of the new campaign and its envelope.")],
    measured: options.MeasuredVolumeOptions,
    measured_on: Annotated[
        str | None, typer.Option(help="Day (2026-11-21), month or year. Default: as printed.")
    ] = None,
) -> None:
    """Add what fio or sysbench printed to the library, and fit its envelope."""
    from plimsoll.cli.envelopes import import_files

    import_files(files, name, measured, measured_on=measured_on)
