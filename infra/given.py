"""What is given: settings as variables and CDK's context hold them, into values that a model can check."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel

from plimsoll.domain.errors import PolicyError
from plimsoll.domain.policy import Policy
from plimsoll.policy_file import dump_policy, load_policy


def with_policy(values: dict[str, Any]) -> dict[str, Any]:
    """The values with what the policy file says, as far as it differs from what holds without one."""
    path = values.get("policy_file")
    if path is None:
        return values
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
    if error["type"] == "value_error":
        said = str(error["ctx"]["error"]).rstrip(".?")
        mark = "?" if error["msg"].endswith("?") else "."
        return f"{said}{mark}"
    return f"{key} is {error['input']!r}: {error['msg'].lower()}."
