"""Every command as people see it: its options and its help.

A command imports what carries it out when it runs: help and a mistyped option are answered without waiting for clouds,
arrays and schemas. No other module of Plimsoll imports late.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli import options

envelopes = typer.Typer(help="Measured envelopes: list, show, compare.", no_args_is_help=True)


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
) -> None:
    """Recommend what each EBS volume should be, with the saving, the evidence and what stands in the way."""
    from plimsoll.cli.audit import audit_into_folder
    from plimsoll.cli.chosen import policy_from, scope_from

    audit_into_folder(
        scope_from(profile, role_arn, external_id, region, prices),
        policy_from(policy, set_, lookback_days=lookback_days, headroom_pct=headroom_pct, min_saving=min_saving),
        out=out,
        record=record,
        from_=from_,
        resume=resume,
        every_minute=every_minute,
        plan=plan,
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


def schema() -> None:
    """Print the JSON Schema of recommendations.json."""
    from plimsoll.reports import record

    typer.echo(json.dumps(record.schema(), indent=2))


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
    names: Annotated[list[str], typer.Argument(help="Two envelopes or more.")], as_json: options.AsJson = False
) -> None:
    """Set envelopes side by side over mode and I/O size."""
    from plimsoll.cli.envelopes import compare

    compare(names, as_json=as_json)
