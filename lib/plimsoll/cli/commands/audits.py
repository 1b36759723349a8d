"""Commands that audit volumes: all of them, or one to look at."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups


@with_option_groups
def audit_command(
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
    """Recommend what each volume should be, with the saving, the evidence and what blocks it."""
    from plimsoll.cli.screen import beginning

    with beginning("starting"):
        from plimsoll.cli.audit import audit_into_folder
        from plimsoll.cli.option_values import policy_from, scope_from

    audit_into_folder(
        scope_from(scope, policy.prices),
        policy_from(policy),
        run,
        validate=options.ValidateOptions(**asdict(measure)) if validate else None,
    )


@with_option_groups
def explain_command(
    words: options.VolumeWords,
    run: Annotated[Path | None, typer.Option(help="Folder of a run. Default: the newest that has answers.")] = None,
    *,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
) -> None:
    """Show one volume: its demand, its ceilings, every offer and why it lost, the evidence, and the change.

    It reads the newest run. With --fresh, or an option about accounts or a policy, it asks the cloud.
    """
    from plimsoll.cli.screen import beginning

    with beginning("starting"):
        from plimsoll.cli.explain import explain_fresh, explain_from_run
        from plimsoll.cli.run_volume import live_from, volume_and_run

    volume, named = volume_and_run(words, run)
    live = live_from(named, from_, policy, scope, fresh=fresh)
    if live is None:
        explain_from_run(volume, named)
    else:
        explain_fresh(volume, *live)


@with_option_groups
def stripes_command(
    hosts: Annotated[list[str], typer.Argument(metavar="HOST...", help="Instance ids, such as i-0123456789abcdef0.")],
    aws: options.AwsOptions,
    region: options.Regions = None,
) -> None:
    """Ask AWS hosts which of their volumes are one md or LVM device; audits then size and change these together."""
    from plimsoll.cli.option_values import scope_from
    from plimsoll.cli.stripes import find_stripes

    find_stripes(hosts, scope_from(options.ScopeOptions(aws=aws, region=region)))
