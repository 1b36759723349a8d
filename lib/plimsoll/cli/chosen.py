"""What the options name: a policy and a scope."""

from pathlib import Path
from typing import Any

from plimsoll.bootstrap import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import load_policy, parse_flags


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


def grade_from(name: str | None) -> Grade | None:
    """The grade of that name; BadInput for one that is none."""
    if name is None:
        return None
    if name.upper() not in Grade.__members__:
        raise BadInput(f"--grade {name}: it must be A or B.")
    return Grade[name.upper()]


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
