"""Decisions: what people said of a volume's recommendation, each with who and when, and what of it holds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Final

MOST_REASON: Final = 100
"""How much of a reason stands in the sentence that says why a volume is left out, in characters."""


class DecisionKind(StrEnum):
    """The kinds of decision that people take."""

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
    """What holds of all that was said: the snooze, the word that it is done, and the exclusion, each the last said.

    `included` is what lifted the last exclusion, where none holds.
    """

    snoozed: Decision | None = None
    done: Decision | None = None
    excluded: Decision | None = None
    included: Decision | None = None

    def silent(self, now: datetime) -> bool:
        """Whether nobody is to be told as of that time: the snooze lasts, the word that it is done came after the run
        was begun, or the volume is excluded, which a run may hear of when it has answered."""
        snoozed = self.snoozed is not None and self.snoozed.until is not None and now.date() < self.snoozed.until
        return snoozed or self.excluded is not None or (self.done is not None and now < self.done.at)

    def speaks(self, since: datetime, now: datetime) -> bool:
        """Whether silence has ended between two times: the snooze ran out, the word that it is done is there to be
        checked, or the exclusion was lifted."""
        until = None if self.snoozed is None else self.snoozed.until
        over = until is not None and since.date() < until <= now.date()
        return over or any(word is not None and since < word.at <= now for word in (self.done, self.included))

    def after(self, done_on: date | None) -> "Holding":
        """What holds of a volume whose change was last seen carried out on that day: it ends a snooze said before."""
        if done_on is None or self.snoozed is None or self.snoozed.at.date() >= done_on:
            return self
        return replace(self, snoozed=None)

    @property
    def left_out(self) -> str | None:
        """Why no audit answers of the volume, in a few words that stay the same; None where one does."""
        if self.excluded is None:
            return None
        reason = " ".join(self.excluded.reason.split())[:MOST_REASON].rstrip()
        return f"excluded by {self.excluded.by}" + (f": {reason}" if reason else "")


def holding(decisions: Iterable[Decision]) -> Holding:
    """What holds; a later word takes the place of an earlier one of its kind, and `done` ends a snooze.

    Including what nobody excluded says nothing.
    """
    found = Holding()
    for decision in sorted(decisions, key=lambda one: (one.at, one.id)):
        match decision.kind:
            case DecisionKind.SNOOZE:
                found = replace(found, snoozed=decision)
            case DecisionKind.DONE:
                found = replace(found, snoozed=None, done=decision)
            case DecisionKind.EXCLUDE:
                found = replace(found, excluded=decision, included=None)
            case DecisionKind.INCLUDE if found.excluded is not None:
                found = replace(found, excluded=None, included=decision)
            case DecisionKind.INCLUDE | DecisionKind.VALIDATE:
                pass
    return found
