"""Every command as people see it: its options and its help.

A command imports what carries it out when it runs: help and a mistyped option are answered without waiting for clouds,
arrays and schemas. No other module of Plimsoll imports late.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.domain.errors import BadInput
from plimsoll.domain.validation import Mode
from plimsoll.reports.charts.theme import ThemeName

envelopes = typer.Typer(help="Measured envelopes: list, show, compare, import.", no_args_is_help=True)
chart = typer.Typer(help="Draw a volume's demand, and rooflines, as SVG or PNG.", no_args_is_help=True)


def audit(
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    lookback_days: options.Lookback = None,
    headroom_pct: options.Headroom = None,
    min_saving: options.MinSaving = None,
    prices: options.PriceFile = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run. Default: a new one under ./plimsoll-runs.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="Keep what the clouds answer in this file.")] = None,
    from_: options.FromFile = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    every_minute: Annotated[
        bool, typer.Option("--every-minute", help="Read every minute, also those that cannot change an answer.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what reading the metrics would take, and read none.")
    ] = False,
    validate: Annotated[
        bool, typer.Option("--validate", help="Then measure what is recommended on thin evidence, as `validate` does.")
    ] = False,
    bench_host: options.BenchHosts = None,
    max_usd: options.MaxUsd = 5.0,
    max_runs: options.MaxRuns = 10,
    yes: options.Yes = False,
) -> None:
    """Recommend what each EBS volume should be, with the saving, the evidence and what stands in the way."""
    from plimsoll.cli.audit import audit_into_folder
    from plimsoll.cli.chosen import policy_from, scope_from
    from plimsoll.cli.terms import Terms

    audit_into_folder(
        scope_from(profile, role_arn, external_id, region, prices),
        policy_from(policy, set_, lookback_days=lookback_days, headroom_pct=headroom_pct, min_saving=min_saving),
        out=out,
        record=record,
        from_=from_,
        resume=resume,
        every_minute=every_minute,
        plan=plan,
        validate=Terms.of(bench_host, max_usd=max_usd, max_runs=max_runs, yes=yes) if validate else None,
    )


def explain(
    volume: Annotated[str, typer.Argument(help="Volume id, such as vol-0123456789abcdef0.")],
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    prices: options.PriceFile = None,
    from_: options.FromFile = None,
) -> None:
    """Show one volume's demand, ceilings, every offer and why not, the evidence, and how to change it."""
    from plimsoll.cli.chosen import policy_from, scope_from
    from plimsoll.cli.explain import explain_volume

    scope = scope_from(profile, role_arn, external_id, region, prices)
    explain_volume(volume, scope, policy_from(policy, set_), from_=from_)


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
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
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
        validate_recommendations(recommendation, grade_from(grade), terms)
        return
    if grade is not None:
        raise BadInput("--grade chooses among a run's recommendations: give it with --recommendation.")
    scope = scope_from(profile, role_arn, external_id, region, prices)
    validate_one(volume or "", target, scope, policy_from(policy, set_), terms)


def sweep(
    everything: Annotated[
        bool, typer.Option("--all", help="Delete scratch volumes that are not due yet, too: their runs then fail.")
    ] = False,
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
) -> None:
    """Delete scratch volumes past their deadline, whoever made them and however that ended."""
    from plimsoll.cli.chosen import scope_from
    from plimsoll.cli.sweep import sweep_scratch

    sweep_scratch(scope_from(profile, role_arn, external_id, region, None), everything=everything)


def stripes(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Instance ids, such as i-0123456789abcdef0.")],
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
) -> None:
    """Ask hosts which of their volumes are one md or LVM device; audits then size and change these together."""
    from plimsoll.cli.chosen import scope_from
    from plimsoll.cli.stripes import find_stripes

    find_stripes(hosts, scope_from(profile, role_arn, external_id, region, None))


def demo(volumes: options.Volumes = None, seed: options.Seed = 1) -> None:
    """Audit a simulated organisation of three accounts and two regions: no AWS, no Docker, no configuration."""
    from plimsoll.cli.demo import audit_simulated

    audit_simulated(volumes, seed)


def simulate(
    volumes: options.Volumes = None,
    seed: options.Seed = 1,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1. Default: a free one.")] = 0,
) -> None:
    """Run a simulated AWS organisation on loopback until Ctrl-C, and print how to point a tool at it."""
    from plimsoll.cli.simulate import serve

    serve(volumes, seed, port)


def report(
    run: Annotated[Path | None, typer.Argument(help="A run's folder. Default: the newest.")] = None,
    format_: Annotated[str, typer.Option("--format", help="html, json, csv, parquet or md.")] = "html",
    out: Annotated[
        Path | None, typer.Option(help="File to write (- is standard output). Default: in the run's folder.")
    ] = None,
    where: Annotated[
        str | None, typer.Option(help="Only volumes for which this holds, in SQL: \"owner.name = 'payments'\".")
    ] = None,
    volume: Annotated[
        list[str] | None, typer.Option(help="Only this volume; repeatable. With md: a ticket for it.")
    ] = None,
) -> None:
    """Write a run's report: the page to read, the data as files, or Markdown for a ticket."""
    from plimsoll.cli.report import Part, report_run

    report_run(run, format_=format_, out=out, part=Part(where=where, volumes=tuple(volume or ())))


def query(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [SQL]", help="A run's folder (default: the newest), and a query in quotes."),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="table, csv, json or parquet.")] = "table",
    out: Annotated[Path | None, typer.Option(help="File to write. Default: standard output.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most rows of a table; 0 shows all.")] = 40,
) -> None:
    """Ask a run in SQL: recommendations, offers, demand and failures; without a query, list their columns."""
    from plimsoll.cli.query import query_run

    query_run(words or [], format_=format_, out=out, rows=rows)


def diff(
    before: Annotated[Path, typer.Argument(help="The folder of the earlier run.")],
    after: Annotated[Path, typer.Argument(help="The folder of the later run.")],
    format_: Annotated[str, typer.Option("--format", help="text, json or md.")] = "text",
    rows: Annotated[int, typer.Option(min=0, help="Most volumes listed of each group; 0 lists all.")] = 10,
) -> None:
    """Compare two runs: what is new, gone, changed and done, and what has been saved since."""
    from plimsoll.cli.diff import diff_runs

    diff_runs(before, after, format_=format_, rows=rows)


def schema() -> None:
    """Print the JSON Schema of recommendations.json."""
    from plimsoll.reports import record

    typer.echo(json.dumps(record.schema(), indent=2))


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
        str | None, typer.Option(help="Cloud of the volume. Default: aws where --type is given, or local.")
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


@chart.command(name="demand")
def chart_demand(
    volume: Annotated[str, typer.Argument(help="Volume id, such as vol-0123456789abcdef0.")],
    run: options.ChartOf = None,
    out: options.ChartOut = None,
    theme: options.ChartTheme = ThemeName.LIGHT,
    width: options.ChartWidth = 800,
    scale: options.ChartScale = None,
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    prices: options.PriceFile = None,
    from_: options.FromFile = None,
) -> None:
    """Draw a volume's demand over time with its ceilings: of a run, or read by the minute as `explain` does."""
    from plimsoll.cli.chart import Drawing, draw_demand, source_from

    source = source_from(run, from_, policy, set_, profile, role_arn, external_id, region, prices)
    draw_demand(volume, source, Drawing(out=out, theme=theme, width=width, scale=scale))


@chart.command(name="roofline")
def chart_roofline(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="A volume id, names of envelopes, or both.")],
    run: options.ChartOf = None,
    out: options.ChartOut = None,
    theme: options.ChartTheme = ThemeName.LIGHT,
    width: options.ChartWidth = 800,
    scale: options.ChartScale = None,
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    region: options.Regions = None,
    policy: options.PolicyPath = None,
    set_: options.Settings_ = None,
    prices: options.PriceFile = None,
    from_: options.FromFile = None,
) -> None:
    """Draw demand under its ceilings over I/O size and IOPS, measured envelopes, or demand over envelopes."""
    from plimsoll.cli.chart import Drawing, draw_roofline, source_from

    source = source_from(run, from_, policy, set_, profile, role_arn, external_id, region, prices)
    draw_roofline(names, source, Drawing(out=out, theme=theme, width=width, scale=scale))


@envelopes.command(name="list")
def list_envelopes(as_json: options.AsJson = False) -> None:
    """List every measured envelope with its roofs."""
    from plimsoll.cli.envelopes import list_all

    list_all(as_json=as_json)


@envelopes.command(name="show")
def show_envelope(name: str, as_json: options.AsJson = False) -> None:
    """Show one envelope: its roofs, what cut them, and every figure as its source printed it."""
    from plimsoll.cli.envelopes import show_one

    show_one(name, as_json=as_json)


@envelopes.command(name="compare")
def compare_envelopes(
    names: Annotated[list[str], typer.Argument(help="Two envelopes or more.")],
    as_json: options.AsJson = False,
    chart: Annotated[Path | None, typer.Option("--chart", help="Draw them to this file instead, .svg or .png.")] = None,
) -> None:
    """Set envelopes side by side over mode and I/O size."""
    from plimsoll.cli.envelopes import compare

    if chart is None:
        compare(names, as_json=as_json)
        return
    from plimsoll.cli.chart import draw_comparison

    draw_comparison(names, chart)


@envelopes.command(name="import")
def import_envelope(
    files: Annotated[list[Path], typer.Argument(help="What fio or sysbench printed; see docs/results.md.")],
    name: Annotated[str, typer.Option("--as", help="Name of the new campaign and its envelope.")],
    type_: options.VolumeType = None,
    size_gib: options.SizeGib = None,
    iops: options.ProvisionedIops = None,
    throughput_mib_s: options.ProvisionedThroughput = None,
    volumes: options.Striped = 1,
    host_type: Annotated[str | None, typer.Option(help="Type of the host, such as r5.large.")] = None,
    provider: Annotated[str, typer.Option(help="Cloud of the volume.")] = "aws",
    account: Annotated[
        str | None, typer.Option(help="Account it was measured in: with --region, you vouch that it is of there.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Region it was measured in.")] = None,
    measured_on: Annotated[
        str | None, typer.Option(help="Day (2026-11-21), month or year. Default: as printed.")
    ] = None,
) -> None:
    """Add what fio or sysbench printed to the library, and fit its envelope."""
    from plimsoll.cli.envelopes import import_files, spec_from

    import_files(
        files,
        name,
        spec_from(type_, size_gib, iops, throughput_mib_s),
        volumes=volumes,
        provider=provider,
        host_type=host_type,
        account=account,
        region=region,
        measured_on=measured_on,
    )
