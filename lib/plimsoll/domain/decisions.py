"""Decisions: what people said of a volume's recommendation, each with who and when, and what of it holds."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class DecisionKind(StrEnum):
    """What was said."""

    SNOOZE = "snooze"
    DONE = "done"
    EXCLUDE = "exclude"
    INCLUDE = "include"
    VALIDATE = "validate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One thing that somebody said of a volume; `id` is one request's own, `until` the first day after a snooze.

    `by` says who in a form that lasts, such as slack:T024BE7LD/U061F7AUR.
    """

    id: str
    account: str
    region: str
    volume_id: str
    kind: DecisionKind
    by: str
    at: datetime
    reason: str = ""
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What holds of all that was said: the snooze, the word that it is done, and the exclusion, each the last said."""

    snoozed: Decision | None = None
    done: Decision | None = None
    excluded: Decision | None = None


def holding(decisions: Iterable[Decision]) -> Holding:
    """What holds; a later word takes the place of an earlier one of its kind, and `done` ends a snooze."""
    found = Holding()
    for decision in sorted(decisions, key=lambda one: one.at):
        match decision.kind:
            case DecisionKind.SNOOZE:
                found = Holding(snoozed=decision, done=found.done, excluded=found.excluded)
            case DecisionKind.DONE:
                found = Holding(snoozed=None, done=decision, excluded=found.excluded)
            case DecisionKind.EXCLUDE:
                found = Holding(snoozed=found.snoozed, done=found.done, excluded=decision)
            case DecisionKind.INCLUDE:
                found = Holding(snoozed=found.snoozed, done=found.done, excluded=None)
            case DecisionKind.VALIDATE:
                pass
    return found
