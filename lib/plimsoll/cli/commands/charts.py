"""Commands that draw pictures."""

from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups

chart = typer.Typer(help="Draw a volume's demand, and rooflines, as SVG or PNG.", no_args_is_help=True)


@chart.command(name="demand")
@with_option_groups
def chart_demand(
    volume: options.VolumeId,
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    from_: options.FromRecording = None,
) -> None:
    """Draw a volume's demand over time with its ceilings: of a run, or read by the minute as `explain` does."""
    from plimsoll.cli.chart import draw_demand, live_from

    draw_demand(volume, live_from(picture, from_, policy, scope), picture)


@chart.command(name="roofline")
@with_option_groups
def chart_roofline(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="A volume id, names of envelopes, or both.")],
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    from_: options.FromRecording = None,
) -> None:
    """Draw demand under its ceilings over I/O size and IOPS, measured envelopes, or demand over envelopes."""
    from plimsoll.cli.chart import draw_roofline, live_from

    draw_roofline(names, live_from(picture, from_, policy, scope), picture)
