"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Profiles = Annotated[list[str] | None, typer.Option("--profile", help="AWS profile; repeat for several accounts.")]
Roles = Annotated[list[str] | None, typer.Option("--role-arn", help="Role to assume, one an account; repeatable.")]
ExternalId = Annotated[str | None, typer.Option(help="External id of these roles.")]
Regions = Annotated[list[str] | None, typer.Option("--region", help="Region; repeatable. Default: all enabled ones.")]
PolicyPath = Annotated[Path | None, typer.Option("--policy", help="Policy file (YAML); see docs/policy.md.")]
Settings_ = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A policy key, over the file's; repeatable.")
]
Lookback = Annotated[int | None, typer.Option("--lookback-days", help="Days of metrics to judge by (14).")]
Headroom = Annotated[float | None, typer.Option("--headroom-pct", help="Headroom over the peak, in percent (20).")]
MinSaving = Annotated[float | None, typer.Option("--min-saving", help="Least saving worth a change, USD a month (1).")]
PriceFile = Annotated[Path | None, typer.Option("--prices", help="Price file to use instead of AWS's price list.")]
FromFile = Annotated[Path | None, typer.Option("--from", help="Decide again from a recording, without a cloud.")]
Volumes = Annotated[int | None, typer.Option(min=1, help="Volumes at least. Default: 600.")]
Seed = Annotated[int, typer.Option(help="The same seed makes the same organisation.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, every printed figure included.")]
