"""Plans: what will be done to which volumes, in which waves, with the way back of each. A plan never changes.

plan -> approved by its digest -> applied until it expires;  altered, expired or approved by nobody: it does nothing
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.clouds import CHANGE_CLOUDS
from plimsoll_change.rules import ChangeRules, SlotRule
from plimsoll_change.waves import Wave, WaveMember

PLAN_FORMAT: Final = 1
_HOURS_A_DAY: Final = 24.0
_GIB_A_TIB: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLine(WaveMember):
    """One volume of a plan: its figures now and then, what it risks, and its way back. Its id is as line-0007."""

    target: Target
    volume_id: str
    name: str
    now: VolumeSpec
    then: VolumeSpec
    back: VolumeSpec  # as now; a size never shrinks
    owner: str  # its kind, and its name if it has one
    is_by_owner: bool  # changed by its owner with the tool that would undo a call; else by the cloud's API
    hosts: tuple[str, ...]
    forth_text: str  # the exact call, or the patch for the owner's tool
    back_text: str
    fails_with: tuple[str, ...]
    usd_month_now: float
    usd_month_then: float
    risk: str  # in words, with what is given up
    budget_minutes: float  # stopped minutes of the watch
    quiet_hours: tuple[int, ...]  # of the day, UTC; empty if the demand says nothing
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)  # those that the policy shows

    @property
    def usd_month_saved(self) -> float:
        return self.usd_month_now - self.usd_month_then

    @property
    def optimizing_h(self) -> float:
        """The hours until the change is whole, at most as documented: there is no way back before."""
        return CHANGE_CLOUDS[self.target.provider].moving_h_a_tib * self.then.size_gib / _GIB_A_TIB

    @property
    def label(self) -> str:
        return f"{self.volume_id} {self.name}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlVolume:
    """A volume with work that the plan leaves as it is: what it does is held against what the changed ones do."""

    target: Target
    zone: str
    volume_id: str
    application: str


@dataclass(frozen=True, kw_only=True)
class ChangePlan:
    """A plan. `digest` covers all of it but itself."""

    id: str
    format: int
    run: str
    made: datetime
    expires: datetime
    rules: ChangeRules
    lines: tuple[PlannedLine, ...]
    waves: tuple[Wave, ...]
    left_out: Mapping[str, str]  # why, by volume of the run
    controls: tuple[ControlVolume, ...]
    scope: Mapping[str, Any]
    digest: str = ""

    @property
    def usd_month_saved(self) -> float:
        return sum(line.usd_month_saved for line in self.lines)

    @cached_property
    def classes(self) -> dict[str, tuple[Wave, ...]]:
        """The waves of each class in their order."""
        names = dict.fromkeys(wave.change_class for wave in self.waves)
        return {name: tuple(wave for wave in self.waves if wave.change_class == name) for name in names}

    @cached_property
    def class_rows(self) -> dict[str, str]:
        """The ledger's row of each class."""
        return {name: f"class-{number:02}" for number, name in enumerate(self.classes, start=1)}

    @property
    def late_back(self) -> tuple[PlannedLine, ...]:
        """The lines without a way back in a day. An owner accepts them."""
        return tuple(line for line in self.lines if not has_way_back_in_a_day(line, self.rules))


def slots_of(line: PlannedLine, rules: ChangeRules) -> tuple[SlotRule, ...]:
    """The rules that modifications of a line's volume keep to: its cloud's, and the owner's if there is one."""
    return (CHANGE_CLOUDS[line.target.provider].slots, *filter(None, [rules.slots]))


def has_way_back_in_a_day(line: PlannedLine, rules: ChangeRules) -> bool:
    """True if the change and its way back fit into a day: by the slots, and by the time that each takes."""
    by_slots = min(rule.most * _HOURS_A_DAY / rule.hours for rule in slots_of(line, rules))
    by_time = _HOURS_A_DAY / line.optimizing_h if line.optimizing_h > 0 else by_slots
    return min(by_slots, by_time) >= 2


def hours_until_back(line: PlannedLine, rules: ChangeRules) -> float:
    """The hours from a change's request until its way back can be asked for, as far as documents say."""
    return max([line.optimizing_h, *(rule.hours for rule in slots_of(line, rules) if rule.most == 1)])
