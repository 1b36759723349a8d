"""The values of options: a scope and a policy, with those of the scope file beneath; a grade, a time."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import yaml

from plimsoll.cli.options import AuditPolicyOptions, PolicyFileOptions, ScopeOptions
from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.clouds.registry import AWS, CLOUDS, GOOGLE, cloud_named, cloud_of_region
from plimsoll.clouds.scope import Scope
from plimsoll.files import read_text
from plimsoll.model.errors import BadInput
from plimsoll.model.policy import Grade, Policy
from plimsoll.model.units import DAY_S, HOUR_S, MINUTE_S
from plimsoll.policy_file import load_policy, parse_flags, parse_policy
from plimsoll.yaml_text import parse_yaml

_ACCOUNT: Final = re.compile(r"\d{12}")
_FILE: Final = "plimsoll.yaml"
_SCOPE: Final = {one.name: one for one in fields(Scope) if one.name != "prices"}
_OTHERS: Final = ("policy", "prices", "channel", "exclude")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFile:
    """The scope file, plimsoll.yaml: it says once which accounts, regions, policy, prices and channel.

    It is looked for in the current folder, and in a repository in the folders above it up to the repository's own.
    Options replace its values: --region the regions; --cloud, or any option about accounts, its clouds and accounts.
    `path` is None without one. `scope` has values of `Scope` by name, `policy` is a path or keys of a policy, `exclude`
    has entries as a policy has them.
    """

    path: Path | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)
    policy: Path | Mapping[str, Any] | None = None
    prices: Path | None = None
    channel: str | None = None
    exclude: tuple[Any, ...] = ()


def read_scope_file(folder: Path | None = None) -> ScopeFile:
    """The scope file of a folder (None: the current one). BadInput names the key that cannot be used."""
    path = _find_file(folder or Path.cwd())
    if path is None:
        return ScopeFile()
    try:
        text = read_text(path)
        values, texts = parse_yaml(text) or {}, parse_yaml(text, yaml.BaseLoader) or {}
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}. See docs/policy.md, or rename the file.") from error
    if not isinstance(values, Mapping):
        raise BadInput(f"{path} must be a mapping of keys to values, such as `regions: [eu-west-1]`.")
    for key in values:
        if key not in (known := (*_SCOPE, *_OTHERS)):
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(known)}."
            raise BadInput(f"{path} has no key {key}: {hint}")
    exclude, policy = values.get("exclude") or [], values.get("policy")
    if not isinstance(exclude, list):
        raise BadInput(f"{path}: exclude must be a list, such as [{{volume: ledger-db, reason: a license}}].")
    if not (policy is None or isinstance(policy, str | Mapping)):
        raise BadInput(f"{path}: policy is {policy!r:.60}: give the path of a policy file, or keys of a policy.")
    return ScopeFile(
        path=path,
        # An account is a text: as a number, it would lose the zeros that it begins with.
        scope={key: _scope_value(path, key, texts[key]) for key in values if key in _SCOPE},
        policy=path.parent / policy if isinstance(policy, str) else policy,
        prices=path.parent / _text(path, "prices", texts["prices"]) if "prices" in values else None,
        channel=_text(path, "channel", texts["channel"]) if "channel" in values else None,
        exclude=tuple(exclude),
    )


def _find_file(folder: Path) -> Path | None:
    """The nearest file: of the folder itself, or of one above it in the same repository."""
    top = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    within = [above for above in (folder, *folder.parents) if above.is_relative_to(top)]
    return next((above / _FILE for above in within if (above / _FILE).is_file()), None)


def _scope_value(path: Path, key: str, value: Any) -> Any:
    """A value as `Scope` has it: a tuple of texts, a switch or a text."""
    default = _SCOPE[key].default
    if isinstance(default, tuple):
        texts = tuple(_text(path, key, item) for item in (value if isinstance(value, list) else [value]))
        return tuple(map(_known_cloud, texts)) if key == "clouds" else texts
    text = _text(path, key, value)
    if isinstance(default, bool):
        if text.lower() not in {"true", "false"}:
            raise BadInput(f"{path}: {key} is {text}: it must be true or false.")
        return text.lower() == "true"
    return text


def _known_cloud(name: str) -> str:
    cloud = cloud_named(name)
    if cloud is None:
        raise BadInput(f"{_FILE}: there is no cloud {name}: clouds are {', '.join(CLOUDS)}.")
    return cloud.name


def _text(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{path}: {key} is {value!r:.60}: give a name, or leave the key out.")
    return value.strip()


def policy_from(chosen: PolicyFileOptions, file: ScopeFile | None = None) -> Policy:
    """The policy of the file that was named, else the scope file's; with the options that were given on top.

    The scope file's exclusions hold in either. `file` None: the scope file that is found.
    """
    named = chosen.own.keys if isinstance(chosen, AuditPolicyOptions) else {}
    scope_file = file or read_scope_file()
    source = chosen.policy or scope_file.policy
    path, keys = (None, source) if isinstance(source, Mapping) else (source, {})
    policy = load_policy(path, {**keys, **parse_flags(chosen.set_ or ()), **named})
    return replace(policy, exclude=(*policy.exclude, *parse_policy({"exclude": scope_file.exclude}).exclude))


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


def scope_from(chosen: ScopeOptions, prices: Path | None = None, file: ScopeFile | None = None) -> Scope:
    """The scope that these options name, and the scope file where they name nothing (None: the one that is found).

    BadInput for an option about a cloud that is not asked, or half a role.
    """
    aws, google = chosen.aws, chosen.google
    options = {AWS: aws.used_flags(), GOOGLE: google.used_flags()}
    named = {
        "clouds": tuple(str(cloud) for cloud in chosen.cloud or ()),
        "projects": tuple(google.project or ()),
        "folders": tuple(google.folder or ()),
        "google_organizations": (*(google.google_organization or ()), *(google.gcp_organization or ())),
        "profiles": tuple(aws.profile or ()),
        "role_arns": tuple(aws.role_arn or ()),
        "external_id": aws.external_id,
        "organization": aws.organization,
        "units": tuple(aws.unit or ()),
        "accounts": tuple(aws.account or ()),
        "role_name": aws.role_name,
        "regions": tuple(chosen.region or ()),
        "prices": str(prices) if prices else None,
    }
    scope = _scope_of(named, file or read_scope_file(), places=not (chosen.cloud or any(options.values())))
    for cloud, flags in options.items():
        if flags and cloud not in scope.clouds:
            raise _unasked_cloud_error(flags[0], cloud, scope.clouds)
    for region in scope.regions:
        owner = cloud_of_region(region, CLOUDS)
        if owner.name not in scope.clouds and re.fullmatch(owner.region_name, region):
            raise _unasked_cloud_error(f"--region {region}", owner.name, scope.clouds)
    if (scope.role_name != AUDIT_ROLE or aws.role_name is not None) and not scope.names_members:
        raise BadInput("--role-name goes with --organization, --unit or --account; name a single role by --role-arn.")
    for account in scope.accounts:
        if _ACCOUNT.fullmatch(account) is None:
            raise BadInput(f"--account {account}: an account is 12 digits, such as 111122223333.")
    return scope


def _scope_of(named: Mapping[str, Any], file: ScopeFile, *, places: bool) -> Scope:
    """The scope of what options name, with the file's regions and prices, and its clouds and accounts (`places`)."""
    values = {key: value for key, value in file.scope.items() if places and key != "regions"}
    values |= {key: value for key, value in named.items() if value}
    values["clouds"] = values.get("clouds") or (AWS,)
    if "regions" not in values:
        asked = (region for region in file.scope.get("regions", ()))
        values["regions"] = tuple(
            region for region in asked if places or cloud_of_region(region, CLOUDS).name in values["clouds"]
        )
    if file.prices is not None:
        values.setdefault("prices", str(file.prices))
    return Scope(**{"role_name": AUDIT_ROLE, **values})


def _unasked_cloud_error(option: str, cloud: str, clouds: Sequence[str]) -> BadInput:
    """Why an option about a cloud that is not asked is refused: it would be ignored in silence."""
    both = " ".join(f"--cloud {name}" for name in (*clouds, cloud))
    return BadInput(
        f"{option} is for --cloud {cloud}, which is not asked: give --cloud {cloud} (or {both} for one report over "
        f"both), or leave {option} out."
    )
