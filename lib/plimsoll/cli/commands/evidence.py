"""Commands that measure: targets before anything is moved, and devices of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups
from plimsoll.domain.errors import BadInput
from plimsoll.domain.validation import Mode


@with_option_groups
def validate(
    volume: Annotated[str | None, typer.Argument(help="Volume id, or none with --recommendation.")] = None,
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
    mode: Annotated[
        Mode,
        typer.Option(
            help="On a new volume of the target's spec (canary), on a copy of the volume (copy), or the volume as it "
            "is, within its free headroom (in-place).",
            rich_help_panel=options.MeasureOptions.PANEL,
        ),
    ] = Mode.CANARY,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Say what would be measured and what it costs, and stop.",
            rich_help_panel=options.MeasureOptions.PANEL,
        ),
    ] = False,
    *,
    measure: options.MeasureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
) -> None:
    """Measure a target with fio, on a scratch volume beside the workload's own, before anything is moved to it."""
    from plimsoll.cli.option_values import grade_from, policy_from, scope_from
    from plimsoll.cli.validate import Terms, validate_one, validate_recommendations

    terms = Terms.of(measure, mode=mode, plan=plan)
    if (volume is None) == (recommendation is None):
        raise BadInput("name a volume, or a run with --recommendation: one of both.")
    if recommendation is not None:
        if target is not None or mode is not Mode.CANARY:
            raise BadInput(
                "--recommendation validates what is recommended, on new volumes: leave out --target and --mode."
            )
        validate_recommendations(recommendation, grade_from(grade), terms)
        return
    if grade is not None:
        raise BadInput("--grade chooses among a run's recommendations: give it with --recommendation.")
    validate_one(volume or "", target, scope_from(scope, policy.prices), policy_from(policy), terms)


@with_option_groups
def benchmark(
    path: Annotated[Path, typer.Argument(help="A directory, or an empty block device.")],
    *,
    job: Annotated[str, typer.Option(help="What is run; benchmarks/jobs has them.")] = "sweep",
    name: Annotated[
        str | None,
        typer.Option("--as", help="Name of the new campaign and its envelope. Default: the job and the time."),
    ] = None,
    runtime_s: Annotated[
        int | None, typer.Option(min=1, max=86_400, help="Seconds that each section is measured (180).")
    ] = None,
    ramp_s: Annotated[int | None, typer.Option(min=0, max=3600, help="Seconds before that, not counted (10).")] = None,
    file_mib: Annotated[int | None, typer.Option(min=64, help="Size of each file. Default: the job's.")] = None,
    max_minutes: Annotated[float, typer.Option(min=0, help="Minutes that it may take at most.")] = 120,
    max_gib: Annotated[float, typer.Option(min=0, help="GiB that it may write to at most.")] = 32,
    measured: options.MeasuredVolumeOptions,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking.")] = False,
) -> None:
    """Run fio here, on a directory or an empty device, and add what it measured to the library."""
    from plimsoll.benchmark import Bounds
    from plimsoll.cli.benchmark import benchmark_path

    benchmark_path(
        path,
        job,
        measured,
        name=name,
        runtime_s=runtime_s,
        ramp_s=ramp_s,
        file_mib=file_mib,
        bounds=Bounds(minutes=max_minutes, gib=max_gib),
        yes=yes,
    )


@with_option_groups
def sweep(
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Delete scratch volumes that are not due yet, too: their runs then fail.")
    ] = False,
    scope: options.ScopeOptions,
) -> None:
    """Delete scratch volumes past their deadline, whoever made them and however that ended."""
    from plimsoll.cli.option_values import scope_from
    from plimsoll.cli.sweep import sweep_scratch

    sweep_scratch(scope_from(scope), everything=everything)


def bench_agent() -> None:
    """Print the startup script that makes a VM of Google Cloud a bench host (docs/validation.md)."""
    from plimsoll.bench.agent import agent_script
    from plimsoll.reports.printable import put_out

    put_out([agent_script()])
