"""The policy that a caller means: values, a file, or the defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.domain.policy import Policy
from plimsoll.policy_file import dump_policy, load_policy, parse_policy

PolicyLike = Policy | Mapping[str, Any] | Path | str | None
"""A policy, its keys as plain values, the path of a policy file, or None for the defaults."""


def policy_of(given: PolicyLike) -> Policy:
    """The policy that is meant, checked; PolicyError names the key that cannot be used."""
    match given:
        case None:
            return Policy()
        case Policy():
            return parse_policy(dump_policy(given))
        case Mapping():
            return parse_policy(given)
        case _:
            return load_policy(Path(given), {})
