"""The ledger: a line for each fact of a plan, kept for ever. What a plan has come to is made from it alone.

A row is a subject: the plan, a class, or a line of the plan. Its facts are numbered, and each is one object of the
store, which is never written over: of two writers of the same number the second is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import FactStore
from plimsoll_change.plan import ChangePlan
from plimsoll_change.watch import ChangeVerdict

PLAN_ROW: Final = "plan"


class RowTaken(PlimsollError):
    """Another process wrote into the same row meanwhile. The row is read again."""


class Leg(StrEnum):
    """The way to the target, and the way back from it."""

    FORTH = "forth"
    BACK = "back"


class FactKind(StrEnum):
    """The kinds of facts."""

    # of the plan, and of a class
    APPROVED = "approved"
    STOPPED = "stopped"
    PAUSED = "paused"
    RESUMED = "resumed"
    SAID = "said"  # a person's word to the service, whose code says what; the fact that follows is written too
    OPENED = "opened"  # a wave
    JUDGED = "judged"  # a wave
    # of a line
    HANDED = "handed"  # to the owner
    INTENDED = "intended"
    UNSENT = "unsent"  # an intent that no modification came of
    WAITS = "waits"  # for a slot, a quota, the state or the cloud
    REQUESTED = "requested"
    MODIFYING = "modifying"
    OPTIMIZING = "optimizing"
    COMPLETED = "completed"
    FAILED = "failed"
    DROPPED = "dropped"
    VERDICT = "verdict"
    WATCHED = "watched"  # the watch is over
    TAKEN_BACK = "taken-back"  # the way back begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that happened. `by` is a person, or empty for this program."""

    kind: FactKind
    at: datetime
    leg: Leg = Leg.FORTH
    code: str = ""
    text: str = ""
    by: str = ""
    source: str = ""  # the file of a person's word
    spec: VolumeSpec | None = None  # the target of an intent
    started: datetime | None = None  # of a modification: the latest before an intent, or the one that was made
    until: datetime | None = None  # the earliest time of another attempt
    wave: int = 0
    digest: str = ""
    accepts_late_back: bool = False
    verdict: ChangeVerdict | None = None
    named: tuple[str, ...] = ()  # the lines that a group's verdict names


_FACT: Final = TypeAdapter(Fact)


def find_latest(facts: Sequence[Fact], *kinds: FactKind) -> Fact | None:
    """The latest fact of some kinds; None if there is none."""
    return next((fact for fact in reversed(facts) if fact.kind in kinds), None)


def find_unresumed(facts: Sequence[Fact], kind: FactKind) -> Fact | None:
    """The latest fact of a kind; None if there is none, or somebody let what it ended go on since."""
    fact = find_latest(facts, kind, FactKind.RESUMED)
    return fact if fact is not None and fact.kind is kind else None


def find_starts(facts: Sequence[Fact]) -> list[datetime]:
    """The starts of the modifications that a line asked for."""
    return [fact.started for fact in facts if fact.kind is FactKind.REQUESTED and fact.started is not None]


@dataclass(slots=True, kw_only=True)
class ChangeLedger:
    """The ledger of a plan: facts by row, as last read."""

    store: FactStore
    plan: ChangePlan
    rows: dict[str, tuple[Fact, ...]] = field(default_factory=dict, init=False)

    def read(self, row: str = "") -> Mapping[str, tuple[Fact, ...]]:
        """The facts of every row, those that others wrote meanwhile included; of one row alone they are read.

        Raises BadInput for a damaged one.
        """
        for key in self.store.keys(f"{self._prefix}{row}/" if row else self._prefix):
            name, number = key.removeprefix(self._prefix).removesuffix(".json").rsplit("/", 1)
            if int(number) == len(self.facts(name)) + 1:  # a fact that is there does not change
                self.rows[name] = (*self.facts(name), self._load(key))
        return self.rows

    def facts(self, row: str) -> tuple[Fact, ...]:
        return self.rows.get(row, ())

    def add(self, row: str, fact: Fact) -> None:
        """Writes the next fact of a row. Raises RowTaken if another process wrote it first."""
        facts = self.facts(row)
        key, content = f"{self._prefix}{row}/{len(facts) + 1:06}.json", _FACT.dump_json(fact, exclude_defaults=True)
        if not self.store.put_new(key, content) and self.store.get(key) != content:
            raise RowTaken(f"{row} of the plan {self.plan.id} was written by another process: read it again.")
        self.rows[row] = (*facts, fact)

    def add_in_turn(self, row: str, fact: Fact) -> None:
        """Adds a fact to a row that another process may be writing: a person's word is not lost."""
        while True:
            try:
                return self.add(row, fact)
            except RowTaken:
                self.read()

    def keep(self, row: str, facts: Sequence[Fact]) -> None:
        """The row has these facts: those that it lacks are added. Raises RowTaken if another process added others."""
        for fact in facts[len(self.facts(row)) :]:
            self.add(row, fact)

    @property
    def _prefix(self) -> str:
        return f"{self.plan.id}/ledger/"

    def _load(self, key: str) -> Fact:
        try:
            return _FACT.validate_json(self.store.get(key) or b"")
        except ValidationError as error:
            raise BadInput(f"the fact {key} of the ledger is damaged: restore it from a copy of the store.") from error
