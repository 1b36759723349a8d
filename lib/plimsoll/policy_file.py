"""The policy file: YAML, plain values and flags in, a checked Policy out; the nearest known key for a misspelt one."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import date
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.files import read_text
from plimsoll.model.ceiling import LatencyClass
from plimsoll.model.errors import PolicyError
from plimsoll.model.kinds import CHANGES
from plimsoll.model.policy import EXAMPLE_KEY, Exclusion, Grade, Override, Policy, TagMatch
from plimsoll.yaml_text import parse_yaml

_KEYS: Final = tuple(field.name for field in fields(Policy))
_SWITCHES: Final = frozenset(field.name for field in fields(Policy) if "bool" in str(field.type))
"""Keys that are true or false."""

_WHOLE_RUN: Final = (
    "lookback_days",
    "resolution_s",
    "read_audit_log",
    "exclude",
    "takeover_tags",
    "overrides",
    "bench_hosts",
    "bench_alarm",
    "scratch_hours",
    "show_tags",
)
"""Keys that an override by tag cannot change, because they decide what is read, where is measured or what is shown."""

_EXCLUSION: Final = ("volume", "reason", "until")
"""Keys of an exclusion beside those of a tag."""

_REPLACED: Final = {
    "peak_quantile": (
        "there is no quantile any more. To let some minutes be throttled, write throttle_budget_min: the throttled "
        "minutes in 30 days that are allowed (the quantile 0.999 by the minute let about 43 be above it)"
    ),
    "upgrade_step_pct": "write throttle_lift_pct: how far demand that stood at its limit is taken to go beyond it",
}
"""Keys of earlier versions, each with what to write instead."""


def load_policy(path: Path | None, flags: Mapping[str, Any]) -> Policy:
    """The policy in a file (None: the defaults) with `flags` on top; PolicyError for what cannot be used."""
    written: Any = {}
    if path is not None:
        try:
            written = parse_yaml(read_text(path)) or {}
        except OSError as error:
            raise PolicyError(f"the policy {path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise PolicyError(f"the policy {path} is not YAML: {error}".replace("\n", " ")) from error
        if not isinstance(written, Mapping):
            raise PolicyError(f"the policy {path} must be a mapping of keys to values, such as `{EXAMPLE_KEY}: 20`.")
    return parse_policy({**written, **flags})


def parse_policy(written: Mapping[str, Any]) -> Policy:
    """A policy from plain values; PolicyError names the key and what it may be."""
    _check_keys(written, _KEYS, "the policy")
    values = {key: _value(key, value) for key, value in written.items()}
    try:
        return _checker().validate_python(values)
    except ValidationError as error:
        raise PolicyError(_sentence(error)) from error


def parse_flags(pairs: Iterable[str]) -> dict[str, Any]:
    """`key=value` flags as plain values, read as YAML."""
    values = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise PolicyError(f"--set {pair} must be KEY=VALUE, such as --set {EXAMPLE_KEY}=30.")
        try:
            values[key.strip()] = parse_yaml(value)
        except ValueError as error:
            raise PolicyError(f"--set {pair}: the value is not YAML.") from error
    return values


def dump_policy(policy: Policy) -> dict[str, Any]:
    """The policy as plain values that `parse_policy` takes back."""
    return {field.name: _plain(getattr(policy, field.name)) for field in fields(policy)}


@cache
def _checker() -> TypeAdapter[Policy]:
    return TypeAdapter(Policy)


def _value(key: str, value: object) -> Any:
    match key:
        case "latency_floor":
            return None if value is None else _member(key, LatencyClass, value)
        case "require_evidence":
            grades = value if isinstance(value, Mapping) else {"*": value}
            _check_keys(grades, ("*", *CHANGES), "the policy's require_evidence")
            return {action: _member(key, Grade, grade) for action, grade in grades.items()}
        case "exclude" | "bench_hosts":
            return tuple(_exclusion(entry) if key == "exclude" else _match(key, entry) for entry in _items(key, value))
        case "overrides":
            return tuple(_override(entry) for entry in _items(key, value))
        case "target_types" | "show_tags" | "takeover_tags":
            return tuple(_items(key, value))
        case _:
            figures = value.values() if isinstance(value, Mapping) else [value]
            if key not in _SWITCHES and any(isinstance(figure, bool) for figure in figures):
                raise PolicyError(f"policy key {key} is {value!r:.80}: it must be a figure or a text.")
            return value


def _override(entry: object) -> Override:
    if not isinstance(entry, Mapping) or "policy" not in entry:
        raise PolicyError("each of the policy's overrides needs `tag`, perhaps `value`, and `policy`.")
    inner = entry["policy"]
    if not isinstance(inner, Mapping):
        raise PolicyError("an override's `policy` must be a mapping of keys to values.")
    _check_keys(inner, tuple(key for key in _KEYS if key not in _WHOLE_RUN), "an override's policy")
    checked = parse_policy(inner)
    match = _match("overrides", {key: value for key, value in entry.items() if key != "policy"})
    return Override(match=match, policy={key: getattr(checked, key) for key in inner})


def _match(key: str, entry: object) -> TagMatch:
    if not isinstance(entry, Mapping) or "tag" not in entry:
        raise PolicyError(f"each entry of the policy's {key} needs a `tag`, and may have a `value`.")
    _check_keys(entry, ("tag", "value"), f"the policy's {key}")
    value = entry.get("value")
    if isinstance(value, bool):
        value = str(value).lower()
    return TagMatch(tag=str(entry["tag"]), value=None if value is None else str(value))


def _exclusion(entry: object) -> Exclusion:
    if not isinstance(entry, Mapping) or ("tag" in entry) == ("volume" in entry):
        raise PolicyError("each entry of the policy's exclude needs a `tag` or a `volume`, and not both.")
    if "value" in entry and "volume" in entry:
        raise PolicyError("an entry of the policy's exclude has a `value`, which goes with a `tag`.")
    _check_keys(entry, (*_EXCLUSION, "tag", "value"), "the policy's exclude")
    tagged = {key: value for key, value in entry.items() if key not in _EXCLUSION}
    volume, until = entry.get("volume"), entry.get("until")
    try:
        return Exclusion(
            match=_match("exclude", tagged) if tagged else None,
            volume=None if volume is None else str(volume),
            reason=" ".join(str(entry.get("reason") or "").split()),
            until=None if until is None else date.fromisoformat(str(until)),
        )
    except ValueError as error:
        raise PolicyError(f"the policy's exclude has until: {until!r}: write a day as 2027-01-31.") from error


def _items(key: str, value: object) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple):
        raise PolicyError(f"policy key {key} must be a list.")
    return list(value)


def _member(key: str, kind: type[Enum], value: object) -> Enum:
    name = str(value).upper().replace("-", "_")
    if name not in kind.__members__:
        known = ", ".join(_spelt(member) for member in kind)
        raise PolicyError(f"policy key {key} is {value}; it must be one of {known}.")
    return kind[name]


def _spelt(member: Enum) -> str:
    return member.name if isinstance(member, Grade) else member.name.lower().replace("_", "-")


def _check_keys(written: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in written:
        if key not in keys:
            if key in _REPLACED:
                raise PolicyError(f"{where} has the key {key} of an earlier version: {_REPLACED[key]}.")
            near = difflib.get_close_matches(str(key), keys, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(keys)}."
            raise PolicyError(f"{where} has no key {key}: {hint}")


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"policy key {key} is {first['input']!r}: {first['msg'].lower().replace('input should be', 'it must be')}."


def _plain(value: object) -> Any:
    plain: Any = value
    if isinstance(value, LatencyClass | Grade):
        plain = _spelt(value)
    elif isinstance(value, TagMatch):
        plain = {"tag": value.tag} | ({} if value.value is None else {"value": value.value})
    elif isinstance(value, Exclusion):
        keys = {key: getattr(value, key) for key in _EXCLUSION}
        plain = {**(_plain(value.match) or {}), **{key: str(item) for key, item in keys.items() if item}}
    elif isinstance(value, Override):
        plain = {**_plain(value.match), "policy": _plain(value.policy)}
    elif isinstance(value, Mapping):
        plain = {key: _plain(item) for key, item in value.items()}
    elif isinstance(value, tuple):
        plain = [_plain(item) for item in value]
    elif isinstance(value, Enum):
        plain = value.value
    return plain


PolicyLike = Policy | Mapping[str, Any] | Path | str | None
"""A policy, its keys as plain values, the path of a policy file, or None for the defaults."""


def policy_of(policy: PolicyLike) -> Policy:
    """The policy that is meant, checked; PolicyError names the key that cannot be used."""
    match policy:
        case None:
            return Policy()
        case Policy():
            return parse_policy(dump_policy(policy))
        case Mapping():
            return parse_policy(policy)
        case _:
            return load_policy(Path(policy), {})
