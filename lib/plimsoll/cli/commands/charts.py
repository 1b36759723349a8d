"""What draws."""

from typing import Annotated

import typer

from plimsoll.cli import options
from plimsoll.reports.charts.theme import WIDTH_PX, ThemeName

chart = typer.Typer(help="Draw a volume's demand, and rooflines, as SVG or PNG.", no_args_is_help=True)


@chart.command(name="demand")
def chart_demand(
    volume: Annotated[str, typer.Argument(help="Volume id, such as vol-0123456789abcdef0, or a disk's number.")],
    run: options.ChartOf = None,
    out: options.ChartOut = None,
    theme: options.ChartTheme = ThemeName.LIGHT,
    width: options.ChartWidth = WIDTH_PX,
    scale: options.ChartScale = None,
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
    """Draw a volume's demand over time with its ceilings: of a run, or read by the minute as `explain` does."""
    from plimsoll.cli.chart import Drawing, draw_demand, source_from
    from plimsoll.cli.chosen import scope_from

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
    source = source_from(run, from_, policy, set_, scope)
    draw_demand(volume, source, Drawing(out=out, theme=theme, width=width, scale=scale))


@chart.command(name="roofline")
def chart_roofline(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="A volume id, names of envelopes, or both.")],
    run: options.ChartOf = None,
    out: options.ChartOut = None,
    theme: options.ChartTheme = ThemeName.LIGHT,
    width: options.ChartWidth = WIDTH_PX,
    scale: options.ChartScale = None,
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
    """Draw demand under its ceilings over I/O size and IOPS, measured envelopes, or demand over envelopes."""
    from plimsoll.cli.chart import Drawing, draw_roofline, source_from
    from plimsoll.cli.chosen import scope_from

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
    source = source_from(run, from_, policy, set_, scope)
    draw_roofline(names, source, Drawing(out=out, theme=theme, width=width, scale=scale))
