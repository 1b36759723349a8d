"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from plimsoll.bootstrap import Scope
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import load_policy, parse_flags

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


def policy_from(
    path: Path | None,
    pairs: list[str] | None,
    *,
    lookback_days: int | None = None,
    headroom_pct: float | None = None,
    min_saving: float | None = None,
) -> Policy:
    """The policy of a file, with the flags that were given on top."""
    flags: dict[str, Any] = parse_flags(pairs or ())
    named = {"lookback_days": lookback_days, "headroom_pct": headroom_pct, "min_saving_usd_month": min_saving}
    return load_policy(path, {**flags, **{key: value for key, value in named.items() if value is not None}})


def scope_from(
    profile: list[str] | None,
    role_arn: list[str] | None,
    external_id: str | None,
    region: list[str] | None,
    prices: Path | None,
) -> Scope:
    """The scope that these options name."""
    return Scope(
        profiles=tuple(profile or ()),
        role_arns=tuple(role_arn or ()),
        external_id=external_id,
        regions=tuple(region or ()),
        prices=str(prices) if prices else None,
    )
