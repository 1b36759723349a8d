"""Why a volume's answer is another one than before: the first figure that differs."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from plimsoll.domain.history import How
from plimsoll.domain.recommendation import InsufficientData
from plimsoll.reports.diff.sql import Group
from plimsoll.reports.record import SpecRecord
from plimsoll.reports.wording import spec_text

_FIGURES: Final = (
    ("hosts", "attached to", ""),
    ("demand.censored", "demand stood at a ceiling", ""),
    ("demand.throttled_minutes", "throttled", "minutes"),
    ("demand.host_bound_minutes", "at the host's ceiling", "minutes"),
    ("demand.peak_iops", "peak", "IOPS"),
    ("demand.peak_throughput_mib_s", "peak", "MiB/s"),
    ("evidence.grade", "evidence", ""),
    ("monthly_usd_now", "price of the present configuration", "USD a month"),
    ("monthly_usd_then", "price of the offer", "USD a month"),
)
"""The figures that a decision rests on, in the order in which it asks for them."""

_OBSERVED: Final = ("demand.hours_observed", "observed", "hours")
_NOTICEABLE: Final = 0.01
"""Demand is never the same twice: a figure that moved by less than this share moved no answer as long as others did."""


def why(group: Group, found: Mapping[str, Any]) -> str:
    """Why a volume is in its group, as far as the two runs tell; empty where the group says it all."""
    before, after = found["one"] or {}, found["other"] or {}
    told: Mapping[Group, Callable[[], Any]] = {
        Group.DONE: lambda: _done(found["how"], before),
        Group.CHANGED: lambda: _differing(before, after),
        Group.ALTERED: lambda: _wanted(before),
        Group.FAILED: lambda: after["reason"],
        Group.LEFT_OUT: lambda: after["reason"],
        Group.FIRST_READ: lambda: ": ".join(filter(None, (f"{found['was']} before", before.get("reason")))),
        Group.UNANSWERED: lambda: after.get("reason") or before.get("reason") or "",
    }
    return str(told[group]()) if group in told else ""


def unread(run: Mapping[str, Any], account: str, region: str) -> str:
    """Why a run cannot say whether a volume of an account and region is there: the failure that it knows of."""
    failed = run["failures"]["targets"]
    place = f"{account}/{region}"
    if place in failed:
        return str(failed[place])
    if run["status"] in {"interrupted", "running"}:
        return "the second run has not ended"
    of_account = [f"{name}: {reason}" for name, reason in failed.items() if account in name]
    others = [f"{name}: {reason}" for name, reason in failed.items() if "/" not in name]
    for told in of_account or others:
        return told
    return "the second run does not name every volume of its account and region"


def _done(how: str | None, before: Mapping[str, Any]) -> str:
    if how == How.DROP_IN:
        return "as a drop-in replacement"
    return f"nearly: {_wanted(before)}" if how == How.NEARLY else ""


def _wanted(before: Mapping[str, Any]) -> str:
    target = before["target"]
    if target is None or target == before["current"]:
        return "nothing was recommended"
    return f"recommended was {spec_text(SpecRecord.model_validate(target))}"


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    waited = InsufficientData.action in {before["action"], after["action"]}
    figures = (_OBSERVED, *_FIGURES) if waited else _FIGURES
    told = [(label, unit, _at(before, path), _at(after, path)) for path, label, unit in figures]
    differing = [one for one in told if one[2] != one[3]]
    for label, unit, was, now in [one for one in differing if _noticeable(one[2], one[3])] or differing:
        return f"{label} {_text(was)}, now {_text(now)} {unit}".rstrip()
    return "no figure of the volume differs: the policy, the limits or the measurements do"


def _at(found: Mapping[str, Any], path: str) -> Any:
    value: Any = found
    for part in path.split("."):
        value = None if value is None else value.get(part)
    return value


def _noticeable(was: Any, now: Any) -> bool:
    if isinstance(was, int | float) and isinstance(now, int | float) and not isinstance(was, bool):
        return abs(was - now) > _NOTICEABLE * max(abs(was), abs(now))
    return True


def _text(value: Any) -> str:
    match value:
        case None:
            return "not known"
        case bool():
            return "yes" if value else "no"
        case float() | int():
            return f"{value:,.10g}"
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)
