"""What audits volumes: all of them, or one to look at."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.commands.leaving import leave_reports


def audit(
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
    """Recommend what each volume should be, with the saving, the evidence and what stands in the way."""
    from plimsoll.cli.audit import audit_into_folder
    from plimsoll.cli.chosen import policy_from, scope_from
    from plimsoll.cli.terms import Terms

    audit_into_folder(
        scope_from(
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
        ),
        policy_from(policy, set_, lookback_days=lookback_days, headroom_pct=headroom_pct, min_saving=min_saving),
        leave_reports,
        out=out,
        record=record,
        from_=from_,
        resume=resume,
        every_minute=every_minute,
        plan=plan,
        validate=Terms.of(bench_host, max_usd=max_usd, max_runs=max_runs, yes=yes) if validate else None,
    )


def explain(
    volume: Annotated[str, typer.Argument(help="Volume id, such as vol-0123456789abcdef0, or a disk's number.")],
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
    from_: options.FromFile = None,
) -> None:
    """Show one volume's demand, ceilings, every offer and why not, the evidence, and how to change it."""
    from plimsoll.cli.chosen import policy_from, scope_from
    from plimsoll.cli.explain import explain_volume

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
    explain_volume(volume, scope, policy_from(policy, set_), from_=from_)


def stripes(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Instance ids, such as i-0123456789abcdef0.")],
    profile: options.Profiles = None,
    role_arn: options.Roles = None,
    external_id: options.ExternalId = None,
    organization: options.Organization = False,
    unit: options.Units = None,
    account: options.Accounts = None,
    role_name: options.RoleName = None,
    region: options.Regions = None,
) -> None:
    """Ask AWS hosts which of their volumes are one md or LVM device; audits then size and change these together."""
    from plimsoll.cli.chosen import scope_from
    from plimsoll.cli.stripes import find_stripes

    find_stripes(
        hosts, scope_from(profile, role_arn, external_id, organization, unit, account, role_name, region, None)
    )
