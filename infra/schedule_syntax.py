"""Schedules: the expressions that EventBridge Scheduler takes, checked before anything is deployed.

Source: EventBridge Scheduler User Guide, "Schedule types", read 2026-11-21.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

EXAMPLES: Final = "rate(7 days), cron(0 6 ? * MON *) for Mondays at 6:00, or at(2027-01-31T06:00:00) for once"

_ONCE: Final = "%Y-%m-%dT%H:%M:%S"
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """One of the six fields of cron(): its bounds, the names of its values, and what else may stand there."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    also: str = r"(?!)"

    def is_valid(self, text: str) -> bool:
        return all(re.fullmatch(self.also, part) or self._is_valid_part(part) for part in text.split(","))

    def _is_valid_part(self, part: str) -> bool:
        span, slash, step = part.partition("/")
        if slash and not (step.isdigit() and int(step) > 0):
            return False
        first, dash, last = span.partition("-")
        if dash:
            return self._is_valid_value(first) and self._is_valid_value(last)
        return span == "*" or self._is_valid_value(span)

    def _is_valid_value(self, value: str) -> bool:
        return value.upper() in self.names or (value.isdigit() and self.least <= int(value) <= self.most)


_CRON: Final = (
    _Field(name="minutes", least=0, most=59),
    _Field(name="hours", least=0, most=23),
    _Field(name="day of month", least=1, most=31, also=r"\?|L|LW|\d{1,2}W"),
    _Field(name="month", least=1, most=12, names=_MONTHS),
    _Field(name="day of week", least=1, most=7, names=_DAYS, also=r"\?|L|[1-7]L|[1-7]#[1-5]"),
    _Field(name="year", least=1970, most=2199),
)


def schedule_error(text: str) -> str | None:
    """The fault of a schedule, and what to write instead. None if it is valid."""
    match = re.fullmatch(r"(rate|cron|at)\((.*)\)", text.strip())
    if not match:
        five = re.fullmatch(r"(\S+ ){4}\S+", text.strip())
        hint = (
            " Five fields as in a crontab are not enough: six stand in cron(...), the last is the year." if five else ""
        )
        return f"schedule {text!r} is none: write {EXAMPLES}.{hint}"
    kind, inner = match.groups()
    wrong = {"rate": _rate_error, "cron": _cron_error, "at": _at_error}[kind](inner)
    return None if wrong is None else f"schedule {text!r} is none: {wrong}."


def zone_error(name: str) -> str | None:
    """The fault of a time zone's name. None if it is valid."""
    if name in available_timezones():
        return None
    return f"time_zone {name!r} is none: write one of the IANA database, such as UTC or Europe/Berlin."


def past_error(text: str, zone: str, now: datetime) -> str | None:
    """The fault of a one-time schedule whose time, in that time zone, has passed. None for any other."""
    match = re.fullmatch(r"at\((.*)\)", text.strip())
    if not match or datetime.strptime(match[1], _ONCE).replace(tzinfo=ZoneInfo(zone)) > now:
        return None
    return f"schedule {text!r} has passed in {zone}: write a time to come, or {EXAMPLES.partition(', or')[0]}."


def _rate_error(inner: str) -> str | None:
    match = re.fullmatch(r"([1-9]\d*) (minute|hour|day)(s?)", inner)
    if not match:
        return "write rate(VALUE UNIT) with minutes, hours or days, such as rate(7 days) or rate(1 day)"
    value, unit, plural = match.groups()
    if (value == "1") == bool(plural):
        return f"write rate({value} {unit}{'' if value == '1' else 's'})"
    return None


def _cron_error(inner: str) -> str | None:
    values = inner.split()
    if len(values) != len(_CRON):
        names = ", ".join(field.name for field in _CRON)
        return f"cron() has {len(_CRON)} fields ({names}), such as cron(0 6 ? * MON *), and this has {len(values)}"
    for field, value in zip(_CRON, values, strict=True):
        if not field.is_valid(value):
            return f"{value} is no {field.name}, which are from {field.least} to {field.most}"
    if [values[2], values[4]].count("?") != 1:
        return "one of day of month and day of week must be ?, and the other not, such as cron(0 6 ? * MON *)"
    return None


def _at_error(inner: str) -> str | None:
    try:
        datetime.strptime(inner, _ONCE)  # noqa: DTZ007 - the time zone is a setting of its own
    except ValueError:
        return "write at(YYYY-MM-DDTHH:MM:SS), such as at(2027-01-31T06:00:00)"
    return None
