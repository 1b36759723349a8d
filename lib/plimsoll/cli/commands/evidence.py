"""What measures: targets before anything is moved, and devices of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.commands.leaving import leave_reports
from plimsoll.domain.errors import BadInput
from plimsoll.domain.validation import Mode


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
    mode: options.MeasureMode = Mode.CANARY,
    bench_host: options.BenchHosts = None,
    max_usd: options.MaxUsd = 5.0,
    max_runs: options.MaxRuns = 10,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what would be measured and what it costs, and stop.")
    ] = False,
    yes: options.Yes = False,
    cloud: options.Clouds = None,
    project: options.Projects = None,
    folder: options.Folders = None,
    google_organization: options.GoogleOrganizations = None,
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    organization: options.Organization = False,
    unit: options.Units = None,
    account: options.Accounts = None,
    role_name: options.RoleName = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    prices: options.PriceFile = None,
) -> None:
    """Measure a target with fio, on a scratch volume beside the workload's own, before anything is moved to it."""
    from plimsoll.cli.chosen import grade_from, policy_from, scope_from
    from plimsoll.cli.terms import Terms
    from plimsoll.cli.validate import validate_one, validate_recommendations

    terms = Terms.of(bench_host, mode=mode, max_usd=max_usd, max_runs=max_runs, plan=plan, yes=yes)
    if (volume is None) == (recommendation is None):
        raise BadInput("name a volume, or a run with --recommendation: one of both.")
    if recommendation is not None:
        if target is not None or mode is not Mode.CANARY:
            raise BadInput(
                "--recommendation validates what is recommended, on new volumes: leave out --target and --mode."
            )
        validate_recommendations(recommendation, grade_from(grade), terms, leave_reports)
        return
    if grade is not None:
        raise BadInput("--grade chooses among a run's recommendations: give it with --recommendation.")
    scope = scope_from(
        profile,
        role_arn,
        external_id,
        organization,
        unit,
        account,
        role_name,
        region,
        prices,
        cloud=cloud,
        project=project,
        folder=folder,
        google_organization=google_organization,
    )
    validate_one(volume or "", target, scope, policy_from(policy, set_), terms)


def benchmark(
    path: Annotated[Path, typer.Argument(help="A directory, or an empty block device.")],
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
    type_: options.VolumeType = None,
    size_gib: options.SizeGib = None,
    iops: options.ProvisionedIops = None,
    throughput_mib_s: options.ProvisionedThroughput = None,
    volumes: options.Striped = 1,
    host_type: Annotated[
        str | None, typer.Option(help="Type of this host, such as r5.large. Default: its processor.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option(help="Cloud of the volume. Default: the one of --type, or local.")
    ] = None,
    account: Annotated[str | None, typer.Option(help="Account that this host is in; with --region.")] = None,
    region: Annotated[str | None, typer.Option(help="Region that this host is in; with --account.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking.")] = False,
) -> None:
    """Run fio here, on a directory or an empty device, and add what it measured to the library."""
    from plimsoll.cli.benchmark import benchmark_path
    from plimsoll.cli.envelopes import spec_from

    benchmark_path(
        path,
        job,
        spec_from(type_, size_gib, iops, throughput_mib_s),
        name=name,
        runtime_s=runtime_s,
        ramp_s=ramp_s,
        file_mib=file_mib,
        max_minutes=max_minutes,
        max_gib=max_gib,
        volumes=volumes,
        provider=provider,
        host_type=host_type,
        account=account,
        region=region,
        yes=yes,
    )


def sweep(
    everything: Annotated[
        bool, typer.Option("--all", help="Delete scratch volumes that are not due yet, too: their runs then fail.")
    ] = False,
    cloud: options.Clouds = None,
    project: options.Projects = None,
    folder: options.Folders = None,
    google_organization: options.GoogleOrganizations = None,
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    organization: options.Organization = False,
    unit: options.Units = None,
    account: options.Accounts = None,
    role_name: options.RoleName = None,
    region: options.Regions = None,
) -> None:
    """Delete scratch volumes past their deadline, whoever made them and however that ended."""
    from plimsoll.cli.chosen import scope_from
    from plimsoll.cli.sweep import sweep_scratch

    sweep_scratch(
        scope_from(
            profile,
            role_arn,
            external_id,
            organization,
            unit,
            account,
            role_name,
            region,
            None,
            cloud=cloud,
            project=project,
            folder=folder,
            google_organization=google_organization,
        ),
        everything=everything,
    )


def bench_agent() -> None:
    """Print the startup script that makes a VM of Google Cloud a bench host (docs/validation.md)."""
    from plimsoll.cli.bench_agent import print_agent

    print_agent()
