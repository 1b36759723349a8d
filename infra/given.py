"""What is given: settings as variables and CDK's context hold them, into values that a model can check."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import BaseModel

from plimsoll.domain.errors import PolicyError
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import dump_policy, load_policy

_INSTEAD: Final[Mapping[str, str]] = {
    "accounts": "its twelve digits, such as 111122223333",
    "alarm_email": "one address, such as storage@example.org",
    "alarm_topic_arn": "an ARN such as arn:aws:sns:eu-west-1:111122223333:storage",
    "alarm_volumes": "ID:IOPS:MIB_S, such as vol-0123456789abcdef0:3000:125",
    "external_id": "letters, digits and any of + = , . @ : / - without blanks, such as what uuidgen gives",
    "kms_key_arn": "the ARN of a key, not of an alias, such as "
    "arn:aws:kms:eu-west-1:111122223333:key/01234567-89ab-cdef-0123-456789abcdef",
    "organizational_units": "an id such as ou-abcd-12345678, or r-abcd for the root",
    "permissions_boundary": "the name of the policy, such as boundary; it has no ARN here",
    "role_name": "the name of the role, such as plimsoll-audit; it has no ARN here",
    "stage": "at most twenty small letters, digits and hyphens that begin with a letter, such as trial",
    "validation_role_name": "the name of the role, such as plimsoll-validation; it has no ARN here",
    "wheels_python": "a version such as 3.13",
}
"""What to write for a setting whose text does not fit."""


def with_policy(values: dict[str, Any]) -> dict[str, Any]:
    """The values with what the policy file says, as far as it differs from what holds without one."""
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


def parsed(model: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as words with commas between them or JSON, and mappings as JSON; ValueError for what is neither."""
    found = {}
    for key, value in given.items():
        kind = get_origin(model.model_fields[key].annotation) if key in model.model_fields else None
        found[key] = value
        if isinstance(value, str) and kind is tuple and not value.lstrip().startswith("["):
            found[key] = [part.strip() for part in value.split(",") if part.strip()]
        elif isinstance(value, str) and (kind in {tuple, dict} or key == "validation"):
            try:
                found[key] = json.loads(value)
            except ValueError as error:
                raise ValueError(f"{key} is {value!r}, which is not JSON: {error}.") from error
    return found


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """`validation.max_runs=3` as the key max_runs within validation."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        outer, dot, inner = key.partition(".")
        if dot:
            found[outer] = {**found.get(outer, {}), inner: value}
        else:
            found[outer] = value
    return found


def is_cdks(key: str) -> bool:
    """Whether a key of the context is CDK's own and no setting."""
    return ":" in key or "/" in key or key.startswith(("aws-cdk", "cdk-"))


def sentence(error: Any) -> str:
    """What pydantic found wrong, as a person is told."""
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"there is no setting {key}: look at the settings in docs/deploy.md."
    if error["type"] == "string_pattern_mismatch" and error["loc"][0] in _INSTEAD:
        return f"{key} is {error['input']!r}: write {_INSTEAD[error['loc'][0]]}."
    if error["type"] == "value_error":
        said = str(error["ctx"]["error"]).rstrip(".?")
        mark = "?" if error["msg"].endswith("?") else "."
        return f"{said}{mark}"
    return f"{key} is {error['input']!r}: {error['msg'].lower()}."
