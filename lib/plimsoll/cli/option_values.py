"""What options stand for: a scope, a policy, a grade."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plimsoll.cli.options import AuditPolicyOptions, PolicyFileOptions, ScopeOptions
from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.clouds.registry import AWS, GOOGLE
from plimsoll.clouds.scope import Scope
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence.grade import Grade
from plimsoll.domain.policy import Policy
from plimsoll.domain.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.policy_file import load_policy, parse_flags

_ACCOUNT: Final = re.compile(r"\d{12}")


def policy_from(given: PolicyFileOptions) -> Policy:
    """The policy of the file, with the options that were given on top."""
    named = given.own.keys if isinstance(given, AuditPolicyOptions) else {}
    return load_policy(given.policy, {**parse_flags(given.set_ or ()), **named})


def grade_from(name: str | None) -> Grade | None:
    """The grade of that name; BadInput for one that is none."""
    if name is None:
        return None
    if name.upper() not in Grade.__members__:
        raise BadInput(f"--grade {name}: it must be A or B.")
    return Grade[name.upper()]


def seconds_from(text: str) -> int:
    """The seconds of a time such as 90s, 10m, 1h or 1d; BadInput for anything else."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip().lower())
    if found is None:
        raise BadInput(f"--for {text}: write a time as 90s, 10m, 1h or 1d.")
    return int(found[1]) * {"s": 1, "m": MINUTE_S, "h": HOUR_S, "d": DAY_S}[found[2]]


def scope_from(given: ScopeOptions, prices: Path | None = None) -> Scope:
    """The scope that these options name. BadInput for an option about a cloud that is not asked, or half a role."""
    aws, google = given.aws, given.google
    scope = Scope(
        clouds=tuple(dict.fromkeys(str(one) for one in given.cloud or (AWS,))),
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
        regions=tuple(given.region or ()),
        prices=str(prices) if prices else None,
    )
    for cloud, options in {AWS: aws.given(), GOOGLE: google.given()}.items():
        if options and cloud not in scope.clouds:
            raise _not_asked(options[0], cloud, scope.clouds)
    if aws.role_name is not None and not scope.names_members:
        raise BadInput("--role-name goes with --organization, --unit or --account; name a single role by --role-arn.")
    for account in scope.accounts:
        if _ACCOUNT.fullmatch(account) is None:
            raise BadInput(f"--account {account}: an account is 12 digits, such as 111122223333.")
    return scope


def _not_asked(option: str, cloud: str, clouds: Sequence[str]) -> BadInput:
    """Why an option about a cloud that is not asked is refused: it would be ignored in silence."""
    both = " ".join(f"--cloud {one}" for one in (*clouds, cloud))
    return BadInput(
        f"{option} is for --cloud {cloud}, which is not asked: give --cloud {cloud} (or {both} for one report over "
        f"both), or leave {option} out."
    )
