"""The values of options: a scope, a policy, a grade."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plimsoll.cli.options import AuditPolicyOptions, PolicyFileOptions, ScopeOptions
from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.clouds.registry import AWS, CLOUDS, GOOGLE, cloud_of_region
from plimsoll.clouds.scope import Scope
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Grade, Policy
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.policy_file import load_policy, parse_flags

_ACCOUNT: Final = re.compile(r"\d{12}")


def policy_from(chosen: PolicyFileOptions) -> Policy:
    """The policy of the file, with the options that were given on top."""
    named = chosen.own.keys if isinstance(chosen, AuditPolicyOptions) else {}
    return load_policy(chosen.policy, {**parse_flags(chosen.set_ or ()), **named})


def grade_from(name: str | None) -> Grade | None:
    """The grade of that name; BadInput for one that is none."""
    if name is None:
        return None
    if name.upper() not in Grade.__members__:
        raise BadInput(f"--grade {name}: it must be A or B.")
    return Grade[name.upper()]


def seconds_from(text: str) -> int:
    """The seconds of a time: 90s, 10m, 1h or 1d; BadInput for anything else."""
    match = re.fullmatch(r"(\d{1,6})([smhd])", text.strip().lower())
    if match is None:
        raise BadInput(f"--for {text}: write a time as 90s, 10m, 1h or 1d.")
    return int(match[1]) * {"s": 1, "m": MINUTE_S, "h": HOUR_S, "d": DAY_S}[match[2]]


def scope_from(chosen: ScopeOptions, prices: Path | None = None) -> Scope:
    """The scope that these options name. BadInput for an option about a cloud that is not asked, or half a role."""
    aws, google = chosen.aws, chosen.google
    scope = Scope(
        clouds=tuple(dict.fromkeys(str(cloud) for cloud in chosen.cloud or (AWS,))),
        projects=tuple(google.project or ()),
        folders=tuple(google.folder or ()),
        google_organizations=(*(google.google_organization or ()), *(google.gcp_organization or ())),
        profiles=tuple(aws.profile or ()),
        role_arns=tuple(aws.role_arn or ()),
        external_id=aws.external_id,
        organization=aws.organization,
        units=tuple(aws.unit or ()),
        accounts=tuple(aws.account or ()),
        role_name=aws.role_name or AUDIT_ROLE,
        regions=tuple(chosen.region or ()),
        prices=str(prices) if prices else None,
    )
    for cloud, options in {AWS: aws.used_flags(), GOOGLE: google.used_flags()}.items():
        if options and cloud not in scope.clouds:
            raise _unasked_cloud_error(options[0], cloud, scope.clouds)
    for region in scope.regions:
        owner = cloud_of_region(region, CLOUDS)
        if owner.name not in scope.clouds and re.fullmatch(owner.region_name, region):
            raise _unasked_cloud_error(f"--region {region}", owner.name, scope.clouds)
    if aws.role_name is not None and not scope.names_members:
        raise BadInput("--role-name goes with --organization, --unit or --account; name a single role by --role-arn.")
    for account in scope.accounts:
        if _ACCOUNT.fullmatch(account) is None:
            raise BadInput(f"--account {account}: an account is 12 digits, such as 111122223333.")
    return scope


def _unasked_cloud_error(option: str, cloud: str, clouds: Sequence[str]) -> BadInput:
    """Why an option about a cloud that is not asked is refused: it would be ignored in silence."""
    both = " ".join(f"--cloud {name}" for name in (*clouds, cloud))
    return BadInput(
        f"{option} is for --cloud {cloud}, which is not asked: give --cloud {cloud} (or {both} for one report over "
        f"both), or leave {option} out."
    )
