"""Settings as text in environment variables and CDK's context, and what to write if one is wrong."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel

from plimsoll.model.errors import PolicyError
from plimsoll.model.policy import Policy
from plimsoll.policy_file import dump_policy, load_policy

_INSTEAD: Final[Mapping[str, str]] = {
    "accounts": "its twelve digits, such as 111122223333",
    "alarm_email": "one address, such as storage@example.org",
    "alarm_topic_arn": "an ARN such as arn:aws:sns:eu-west-1:111122223333:storage",
    "alarm_volumes": "ID:IOPS:MIB_S, such as vol-0123456789abcdef0:3000:125",
    "google_credentials": 'what "gcloud iam workload-identity-pools create-cred-config PROVIDER --aws" writes, such as '
    "$(cat google.json)",
    "google_folders": "its number, such as 123456789012",
    "google_organizations": "its number, such as 123456789012",
    "google_projects": "its id, such as storage-prod, not its name or number",
    "google_regions": "a region such as us-central1, without the letter of a zone",
    "code_signing_config_arn": "an ARN such as "
    "arn:aws:lambda:eu-west-1:111122223333:code-signing-config:csc-0123456789abcdef0",
    "external_id": "letters, digits and any of + = , . @ : / - without blanks, such as what uuidgen gives",
    "kms_key_arn": "the ARN of a key, not of an alias, such as "
    "arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef",
    "member_permissions_boundary": "the name of the policy, such as boundary; it has no ARN here",
    "network.route_table_ids": "the id of a route table, such as rtb-0123456789abcdef0",
    "network.security_group_ids": "the id of a security group, such as sg-0123456789abcdef0",
    "network.subnet_ids": "the id of a subnet, such as subnet-0123456789abcdef0",
    "network.vpc_id": "the id of a VPC, such as vpc-0123456789abcdef0",
    "organizational_units": "an id such as ou-abcd-12345678, or r-abcd for the root",
    "permissions_boundary": "the name of the policy, such as boundary; it has no ARN here",
    "role_path": "a path such as /storage/, or / for none",
    "signed_code": "BUCKET/PREFIX, such as code-of-ours/plimsoll, without s3://",
    "role_name": "the name of the role, such as plimsoll-audit; it has no ARN here",
    "slack.channel": "the id of a channel, such as C0123ABCDEF, not its name: it stands at the end of its details",
    "slack.routes": 'JSON such as [{"channel": "C0123ABCDEF", "accounts": ["111122223333"]}], with accounts, owners or '
    "tags",
    "slack.routes.accounts": "its twelve digits, such as 111122223333, or the id of a Google Cloud project",
    "slack.routes.channel": "the id of a channel, such as C0123ABCDEF, not its name",
    "slack.teams": "the id of a workspace, such as T0123ABCDEF: it stands after /client/ in Slack's address in a "
    "browser",
    "slack.user_groups": "the id of a user group, such as S0123ABCDEF, not its handle",
    "slack_web_acl_arn": "the ARN of a regional web ACL, such as "
    "arn:aws:wafv2:eu-west-1:111122223333:regional/webacl/slack/01234567-89ab-cdef-0123-456789abcdef",
    "stage": "at most twenty small letters, digits and hyphens that begin with a letter, such as trial",
    "probe_role_name": "the name of the role, such as plimsoll-probe; it has no ARN here",
    "validation_role_name": "the name of the role, such as plimsoll-validation; it has no ARN here",
    "wheels_python": "a version such as 3.13",
}
"""The advice for a setting whose text does not fit, by its name and those of the settings around it."""

_OF_THE_TEXT: Final = {"string_pattern_mismatch", "too_short", "tuple_type", "model_type"}
"""pydantic's error types for a text or a list that is written wrongly."""


def with_policy(values: dict[str, Any]) -> dict[str, Any]:
    """The values with those keys of the policy file that differ from the defaults."""
    path = values.get("policy_file")
    if path is None:
        return values
    if not str(path).strip():
        raise ValueError("policy_file is empty: write the path of a policy file, or leave it out.")
    if values.get("policy"):
        raise ValueError("give policy or policy_file, not both.")
    try:
        policy = dump_policy(load_policy(Path(path), {}))
    except PolicyError as error:
        raise ValueError(str(error)) from error
    default = dump_policy(Policy())
    return {**values, "policy": {key: value for key, value in policy.items() if value != default[key]}}


def parse_values(model: type[BaseModel], texts: Mapping[str, Any], around: str = "") -> dict[str, Any]:
    """Lists as words with commas between them or JSON, and mappings as JSON, also of settings within a setting.

    A list of mappings is JSON alone. Raises ValueError for any other text; it names the setting with those `around` it.
    """
    values = {}
    for key, value in texts.items():
        annotation = model.model_fields[key].annotation if key in model.model_fields else None
        values[key] = _read(around + key, value, annotation) if isinstance(value, str) else value
        within = _model_in(annotation)
        if within is not None and isinstance(values[key], Mapping):
            values[key] = parse_values(within, values[key], f"{around}{key}.")
    return values


def _read(key: str, text: str, annotation: Any) -> Any:
    kind = get_origin(annotation)
    is_list_of_words = kind is tuple and _model_in(get_args(annotation)[0]) is None
    if is_list_of_words and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind not in {tuple, dict} and _model_in(annotation) is None:
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{key} is {text!r}, which is not JSON: {error}.") from error


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of an annotation, alone or beside None."""
    models = [
        kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]
    return models[0] if models and get_origin(annotation) is not tuple else None


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The nested form of flat keys: `validation.max_runs=3` as the key max_runs within validation."""
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        outer, dot, inner = key.partition(".")
        if dot:
            nested[outer] = {**nested.get(outer, {}), inner: value}
        else:
            nested[outer] = value
    return nested


def is_cdks(key: str) -> bool:
    """True for a key of the context that is CDK's own and no setting."""
    return ":" in key or "/" in key or key.startswith(("aws-cdk", "cdk-"))


def sentences(errors: Sequence[Any]) -> str:
    """The faults that pydantic found, a line each, in sentences.

    A list with wrong items is not also called too short: pydantic counts the right items alone.
    """
    wrong = [error["loc"] for error in errors]
    outermost = [
        error for error in errors if not any(loc != error["loc"] and _within(loc, error["loc"]) for loc in wrong)
    ]
    return "\n".join(_sentence(error) for error in outermost)


def _within(loc: tuple[Any, ...], outer: tuple[Any, ...]) -> bool:
    return loc[: len(outer)] == outer and outer != ()


def _sentence(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"])
    instead = _INSTEAD.get(".".join(part for part in error["loc"] if isinstance(part, str)))
    if error["type"] == "extra_forbidden":
        return f"there is no setting {key}: look at the settings in docs/deploy.md."
    if error["type"] == "missing":
        return f"{key} is missing: write {instead or 'what docs/deploy.md says of it'}."
    if error["type"] in _OF_THE_TEXT and instead is not None:
        return f"{key} is {error['input']!r}: write {instead}."
    if error["type"] == "value_error":
        message = str(error["ctx"]["error"]).rstrip(".?")
        mark = "?" if error["msg"].endswith("?") else "."
        return f"{message}{mark}"
    return f"{key} is {error['input']!r}: {error['msg'].lower()}."
