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
    """The decisions on one volume that hold, each the last of its kind: snooze, done, exclusion. None if none holds.

    `included` lifted the last exclusion; None while one holds, or if there was none.
    """

    snoozed: Decision | None = None
    done: Decision | None = None
    excluded: Decision | None = None
    included: Decision | None = None

    def is_silent(self, now: datetime) -> bool:
        """True if people are not to be told of the volume at `now`.

        A snooze lasts, the volume is excluded, or it was marked as done after `now`: the run was begun before that.
        """
        snoozed = self.snoozed is not None and self.snoozed.until is not None and now.date() < self.snoozed.until
        return snoozed or self.excluded is not None or (self.done is not None and now < self.done.at)

    def has_silence_ended(self, since: datetime, now: datetime) -> bool:
        """True if silence ended after `since` and no later than `now`.

        A snooze ran out, a word that the change is done came and is to be checked, or an exclusion was lifted.
        """
        until = None if self.snoozed is None else self.snoozed.until
        over = until is not None and since.date() < until <= now.date()
        return over or any(word is not None and since < word.at <= now for word in (self.done, self.included))

    def end_snooze(self, done_on: date | None) -> "Holding":
        """The decisions that still hold once the change was last seen carried out on `done_on`.

        A snooze of an earlier day ends. All hold if `done_on` is None.
        """
        if done_on is None or self.snoozed is None or self.snoozed.at.date() >= done_on:
            return self
        return replace(self, snoozed=None)

    @property
    def exclusion_text(self) -> str | None:
        """Why no audit answers of the volume, in a few words that stay the same; None where one does."""
        if self.excluded is None:
            return None
        reason = " ".join(self.excluded.reason.split())[:MOST_REASON].rstrip()
        return f"excluded by {self.excluded.by}" + (f": {reason}" if reason else "")


def find_holding(decisions: Iterable[Decision]) -> Holding:
    """The decisions on one volume that hold, from all of them in any order.

    A later one takes the place of an earlier one of its kind, and `done` ends a snooze. An inclusion counts only after
    an exclusion. Without any decision nothing holds.
    """
    holding = Holding()
    for decision in sorted(decisions, key=lambda decision: (decision.at, decision.id)):
        match decision.kind:
            case DecisionKind.SNOOZE:
                holding = replace(holding, snoozed=decision)
            case DecisionKind.DONE:
                holding = replace(holding, snoozed=None, done=decision)
            case DecisionKind.EXCLUDE:
                holding = replace(holding, excluded=decision, included=None)
            case DecisionKind.INCLUDE if holding.excluded is not None:
                holding = replace(holding, excluded=None, included=decision)
            case DecisionKind.INCLUDE | DecisionKind.VALIDATE:
                pass
    return holding
