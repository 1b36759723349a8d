"""Commands that audit volumes: all of them, or one to look at."""

from dataclasses import asdict
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups


@with_option_groups
def audit(
    *,
    scope: options.ScopeOptions,
    policy: options.AuditPolicyOptions,
    run: options.RunOptions,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate",
            help="Then measure what is recommended on thin evidence, as `validate` does.",
            rich_help_panel=options.MeasureOptions.PANEL,
        ),
    ] = False,
    measure: options.MeasureOptions,
) -> None:
    """Recommend what each volume should be, with the saving, the evidence and what stands in the way."""
    from plimsoll.cli.audit import audit_into_folder
    from plimsoll.cli.option_values import policy_from, scope_from

    audit_into_folder(
        scope_from(scope, policy.prices),
        policy_from(policy),
        run,
        validate=options.ValidateOptions(**asdict(measure)) if validate else None,
    )


@with_option_groups
def explain(
    volume: options.VolumeId,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    from_: options.FromRecording = None,
) -> None:
    """Show one volume's demand, ceilings, every offer and why not, the evidence, and how to change it."""
    from rich.console import Console

    from plimsoll.bootstrap import console_link, probe_book
    from plimsoll.cli.explain import read_volume
    from plimsoll.cli.option_values import policy_from, scope_from
    from plimsoll.reports.terminal.explain import show_explanation
    from plimsoll.reports.to_record import record_of
    from plimsoll.settings import Settings

    by = policy_from(policy)
    answer, demand, now = read_volume(volume, scope_from(scope, policy.prices), by, from_=from_)
    record = record_of(answer.recommendation, answer.change, provider=answer.target.provider)
    seen = probe_book(Settings.of_environment()).latest(volume, record.account, record.region)
    link = console_link(record, by, now)
    show_explanation(Console(), answer.recommendation, demand, record, link, seen.seen if seen else None)


@with_option_groups
def stripes(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Instance ids, such as i-0123456789abcdef0.")],
    aws: options.AwsOptions,
    region: options.Regions = None,
) -> None:
    """Ask AWS hosts which of their volumes are one md or LVM device; audits then size and change these together."""
    from plimsoll.cli.option_values import scope_from
    from plimsoll.cli.stripes import find_stripes

    find_stripes(hosts, scope_from(options.ScopeOptions(aws=aws, region=region)))
