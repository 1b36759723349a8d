"""What the options name: a policy, a scope and a run."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from plimsoll.bootstrap import AWS, GOOGLE, Scope
from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.domain.errors import BadInput
from plimsoll.domain.evidence import Grade
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import load_policy, parse_flags
from plimsoll.reports.stored import RUN
from plimsoll.settings import Settings

_ACCOUNT: Final = re.compile(r"\d{12}")


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
    organization: bool,
    unit: list[str] | None,
    account: list[str] | None,
    role_name: str | None,
    region: list[str] | None,
    prices: Path | None,
    *,
    cloud: Sequence[str] | None = None,
    project: list[str] | None = None,
    folder: list[str] | None = None,
    google_organization: list[str] | None = None,
) -> Scope:
    """The scope that these options name; BadInput for one that says nothing, or is about a cloud that is not asked."""
    scope = Scope(
        clouds=tuple(dict.fromkeys(str(one) for one in cloud or (AWS,))),
        projects=tuple(project or ()),
        folders=tuple(folder or ()),
        google_organizations=tuple(google_organization or ()),
        profiles=tuple(profile or ()),
        role_arns=tuple(role_arn or ()),
        external_id=external_id,
        organization=organization,
        units=tuple(unit or ()),
        accounts=tuple(account or ()),
        role_name=role_name or AUDIT_ROLE,
        regions=tuple(region or ()),
        prices=str(prices) if prices else None,
    )
    _about_clouds_asked(
        scope.clouds,
        {
            AWS: {
                "--profile": profile,
                "--role-arn": role_arn,
                "--external-id": external_id,
                "--organization": organization,
                "--unit": unit,
                "--account": account,
                "--role-name": role_name,
            },
            GOOGLE: {"--project": project, "--folder": folder, "--google-organization": google_organization},
        },
    )
    if role_name is not None and not scope.names_members:
        raise BadInput("--role-name goes with --organization, --unit or --account; name a single role by --role-arn.")
    for one in scope.accounts:
        if _ACCOUNT.fullmatch(one) is None:
            raise BadInput(f"--account {one}: an account is 12 digits, such as 111122223333.")
    return scope


def _about_clouds_asked(clouds: Sequence[str], options: Mapping[str, Mapping[str, object]]) -> None:
    """BadInput for an option about a cloud that is not asked: it would be left out in silence."""
    for cloud, about in options.items():
        for option, given in about.items():
            if given and cloud not in clouds:
                both = " ".join(f"--cloud {one}" for one in (*clouds, cloud))
                raise BadInput(
                    f"{option} is for --cloud {cloud}, which is not asked: give --cloud {cloud} (or {both} for one "
                    f"report over both), or leave {option} out."
                )


def run_folder(path: Path | None) -> Path:
    """The folder of a run: the one given, or the run under the folder of runs that was written last.

    BadInput where it holds no run, or there is no run yet.
    """
    if path is not None:
        if (path / RUN).is_file():
            return path
        raise BadInput(f"{path} holds no {RUN}: give the folder of a run, such as one under plimsoll-runs.")
    runs_dir = Settings.of_environment().runs_dir
    written = [(found.stat().st_mtime_ns, found.parent.name) for found in runs_dir.glob(f"*/{RUN}")]
    if not written:
        raise BadInput(f"there is no run under {runs_dir} yet: give the folder of one, or begin with `plimsoll audit`.")
    return runs_dir / max(written)[1]
