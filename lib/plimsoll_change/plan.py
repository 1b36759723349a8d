"""Plans: what will be done to which volumes, in which waves, with the way back of each. A plan never changes.

plan -> approved by its digest -> applied until it expires;  altered, expired or approved by nobody: it does nothing
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Target
from plimsoll_change.rules import ChangeRules
from plimsoll_change.waves import Wave, WaveMember

PLAN_FORMAT: Final = 1
OPTIMIZING_H_A_TIB: Final = 6.0
"""The hours for which EC2 moves a full TiB (Amazon EBS User Guide, "Modify a volume", read 2026-11-20)."""

_HOURS_A_DAY: Final = 24.0
_GIB_A_TIB: Final = 1024


class ChangedBy(StrEnum):
    """Who changes a volume: this program by the cloud's API, or its owner by the tool that would undo that."""

    API = "api"
    OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLine:
    """One volume of a plan: its figures now and then, what it risks, and its way back."""

    id: str  # in the plan, as line-0007
    provider: str
    account: str
    region: str
    zone: str
    volume_id: str
    name: str
    now: VolumeSpec
    then: VolumeSpec
    back: VolumeSpec  # as now; a size never shrinks
    owner_kind: str
    owner_name: str
    hosts: tuple[str, ...]
    changed_by: ChangedBy
    forth_text: str  # the exact call, or the patch for the owner's tool
    back_text: str
    change_class: str
    application: str
    unit: str  # the stripe set or pool that was decided as one; empty for a volume alone
    fails_with: tuple[str, ...]
    step: str
    usd_month_now: float
    usd_month_then: float
    promised_pct: float | None  # the risk; None if nothing is promised
    usd_at_risk: float
    budget_minutes: float  # stopped minutes of the watch
    losses: tuple[str, ...]
    quiet_hours: tuple[int, ...]  # of the day, UTC; empty if the demand says nothing
    has_work: bool
    is_critical: bool

    @property
    def target(self) -> Target:
        return Target(account=self.account, region=self.region, provider=self.provider)

    @property
    def usd_month_saved(self) -> float:
        return self.usd_month_now - self.usd_month_then

    @property
    def optimizing_h(self) -> float:
        """The hours until the change is whole, at most as documented: there is no way back before."""
        return OPTIMIZING_H_A_TIB * self.then.size_gib / _GIB_A_TIB

    @property
    def label(self) -> str:
        return f"{self.volume_id} {self.name}".strip()

    def as_member(self) -> WaveMember:
        """The line as waves are drawn of it."""
        return WaveMember(
            id=self.id,
            change_class=self.change_class,
            zone=self.zone,
            application=self.application,
            unit=self.unit,
            fails_with=frozenset(self.fails_with),
            usd_at_risk=self.usd_at_risk,
            is_proved=not self.losses and self.step == "safe",
            has_work=self.has_work,
            is_critical=self.is_critical,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A volume of the run that a plan leaves out, and why."""

    volume_id: str
    reason: str


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
    seed: str
    rules: ChangeRules
    lines: tuple[PlannedLine, ...]
    waves: tuple[Wave, ...]
    left_out: tuple[LeftOut, ...]
    controls: tuple[ControlVolume, ...]
    scope: Mapping[str, Any]
    digest: str = ""

    @cached_property
    def lines_by_id(self) -> dict[str, PlannedLine]:
        return {line.id: line for line in self.lines}

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


def has_way_back_in_a_day(line: PlannedLine, rules: ChangeRules) -> bool:
    """True if the change and its way back fit into a day: by the slots, and by the time that each takes."""
    by_slots = rules.slots.most * _HOURS_A_DAY / rules.slots.hours
    by_time = _HOURS_A_DAY / line.optimizing_h if line.optimizing_h > 0 else by_slots
    return min(by_slots, by_time) >= 2


def hours_until_back(line: PlannedLine, rules: ChangeRules) -> float:
    """The hours from a change's request until its way back can be asked for, as far as documents say."""
    only_one = rules.slots.hours if rules.slots.most == 1 else 0.0
    return max(line.optimizing_h, only_one)


def digest_of(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a plan's plain values, in whichever order and layout a file has them."""
    plain = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Somebody's word for a plan, by its digest."""

    by: str
    at: datetime
    digest: str
    accepts_late_back: bool = False


def find_refusal(plan: ChangePlan, approvals: Iterable[Approval], now: datetime) -> str | None:
    """The sentence that says why a plan does nothing; None if it may be applied."""
    words = [word for word in approvals if word.digest == plan.digest]
    people = {word.by for word in words if not plan.rules.approvers or word.by in plan.rules.approvers}
    limit = plan.rules.two_people_above_usd_month
    needed = 2 if limit is not None and plan.usd_month_saved > limit else 1
    if now >= plan.expires:
        return f"the plan {plan.id} expired on {plan.expires:%Y-%m-%d %H:%M} UTC: make a new one of a new run."
    if not people:
        return f"the plan {plan.id} is approved by nobody: plimsoll change show {plan.id}, then change approve."
    if len(people) < needed:
        return (
            f"the plan {plan.id} saves ${plan.usd_month_saved:,.0f} a month, and above ${limit:,.0f} two people "
            f"approve: {', '.join(sorted(people))} did, another is needed."
        )
    if plan.late_back and not any(word.accepts_late_back for word in words):
        return (
            f"{len(plan.late_back)} volumes of the plan {plan.id} have no way back within a day: an owner accepts "
            "that with change approve --accept-late-back."
        )
    return None


def check_approver(plan: ChangePlan, by: str) -> str | None:
    """The sentence that says why somebody cannot approve a plan; None if they can."""
    if not by.strip():
        return "an approval needs a name: give --by."
    if plan.rules.approvers and by not in plan.rules.approvers:
        return f"{by} approves no changes: the plan's rules name {', '.join(plan.rules.approvers)}."
    return None
