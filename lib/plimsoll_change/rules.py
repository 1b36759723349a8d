"""Rules: when changes may be made, how many at once, and who approves them. A plan keeps those of its making."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from plimsoll.model.errors import BadInput
from plimsoll.model.policy import TagMatch

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWindow:
    """Hours of some days of the week, UTC, in which changes may begin. It may end on the next day."""

    days: tuple[str, ...] = WEEKDAYS
    from_hour: int = 0
    to_hour: int = 24

    def __post_init__(self) -> None:
        if unknown := [day for day in self.days if day not in WEEKDAYS]:
            raise BadInput(f"the window names the day {unknown[0]}: write {', '.join(WEEKDAYS)}.")
        if not (0 <= self.from_hour <= 23 and 0 <= self.to_hour <= 24 and self.from_hour != self.to_hour):
            raise BadInput(f"the window is from {self.from_hour} to {self.to_hour}: give two hours from 0 to 24, UTC.")

    def is_open(self, moment: datetime) -> bool:
        """True if a change may begin at that time."""
        moment = moment.astimezone(UTC)
        if self.from_hour < self.to_hour:
            return WEEKDAYS[moment.weekday()] in self.days and self.from_hour <= moment.hour < self.to_hour
        if moment.hour >= self.from_hour:
            return WEEKDAYS[moment.weekday()] in self.days
        return moment.hour < self.to_hour and WEEKDAYS[(moment - timedelta(days=1)).weekday()] in self.days


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """Whole days, UTC, on which no change begins."""

    first: date
    last: date
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRule:
    """The most modifications of a volume in rolling hours: a cloud's, or an owner's own, such as one in 6."""

    most: int = 4
    hours: float = 24.0

    def __str__(self) -> str:
        return f"{self.most} modification{'s' * (self.most > 1)} in {self.hours:g} hours"

    def __post_init__(self) -> None:
        if self.most < 1 or self.hours <= 0:
            raise BadInput(f"slots of {self.most} in {self.hours:g} hours allow no change: give at least 1, and hours.")

    def find_next(self, starts: Iterable[datetime], *, is_back: bool) -> datetime | None:
        """The earliest time of another modification after those; None if that is any time.

        One slot is kept for the way back, unless there is only one.
        """
        usable = self.most if is_back or self.most == 1 else self.most - 1
        latest = sorted(starts, reverse=True)
        return latest[usable - 1] + timedelta(hours=self.hours) if len(latest) >= usable else None


CRITICAL: Final = TagMatch(tag="plimsoll:critical", value="true")
"""The tag of volumes that change one by one, unless the rules name another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRules:
    """The owner's rules for changes."""

    windows: tuple[ChangeWindow, ...] = ()  # none: at any time
    freezes: tuple[Freeze, ...] = ()
    slots: SlotRule | None = None  # an owner's own beside the cloud's
    most_volumes_an_hour: int = 30
    most_usd_at_risk: float = 10_000.0  # of all volumes that are changed and still watched
    expires_days: float = 14.0
    stopped_minutes: float = 15.0  # in a week's watch, beyond what the volume had before
    approvers: tuple[str, ...] = ()  # none: whoever may write into the ledger
    two_people_above_usd_month: float | None = None  # of the plan's saving
    application_tags: tuple[str, ...] = ("plimsoll:application", "Application", "application", "app", "Service")
    together_tags: tuple[str, ...] = ("plimsoll:together",)  # volumes with the same value fail together
    usd_tag: str = "plimsoll:usd-at-risk"  # what an hour of its trouble costs, by the owner; else a month's price
    critical: TagMatch = CRITICAL
    alarms: tuple[str, ...] = ()  # CloudWatch alarms that must be OK

    def __post_init__(self) -> None:
        if self.most_volumes_an_hour < 1 or self.most_usd_at_risk < 0 or self.expires_days <= 0:
            raise BadInput(
                "rules that allow no volume an hour, less than no risk, or a plan of no days change nothing: give "
                "most_volumes_an_hour, most_usd_at_risk and expires_days above that."
            )

    def find_hindrance(self, moment: datetime) -> str | None:
        """The reason why no change begins at that time; None if one may."""
        for freeze in self.freezes:
            if freeze.first <= moment.astimezone(UTC).date() <= freeze.last:
                return f"frozen from {freeze.first} to {freeze.last}{f': {freeze.reason}' if freeze.reason else ''}"
        if self.windows and not any(window.is_open(moment) for window in self.windows):
            return "outside the windows for changes"
        return None
