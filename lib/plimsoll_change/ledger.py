"""The ledger: a line for each fact of a plan, kept for ever. What a plan has come to is made from it alone.

A row is a subject: the plan, a class, or a line of the plan. Its facts are numbered, and each is one object of the
store, which is never written over: of two writers of the same number the second is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from plimsoll.model.errors import BadInput, PlimsollError
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import FactStore
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
    attempt: int = 0  # of a line's intents on a leg, from 1
    spec: VolumeSpec | None = None  # the target of an intent
    started: datetime | None = None  # of a modification: the latest before an intent, or the one that was made
    until: datetime | None = None  # the earliest time of another attempt
    wave: int = 0
    digest: str = ""
    accepts_late_back: bool = False
    verdict: ChangeVerdict | None = None
    named: tuple[str, ...] = ()  # the lines that a group's verdict names


@cache
def _facts() -> TypeAdapter[Any]:
    return TypeAdapter(Fact)


@dataclass(slots=True, kw_only=True)
class ChangeLedger:
    """The ledger of a plan: facts by row, as last read."""

    store: FactStore
    plan_id: str
    rows: dict[str, tuple[Fact, ...]] = field(default_factory=dict, init=False)

    def read(self) -> Mapping[str, tuple[Fact, ...]]:
        """The facts of every row, those that others wrote meanwhile included. Raises BadInput for a damaged one."""
        return self._read(self._prefix)

    def read_row(self, row: str) -> tuple[Fact, ...]:
        """The facts of a row, those that others wrote meanwhile included."""
        return self._read(f"{self._prefix}{row}/").get(row, ())

    def _read(self, prefix: str) -> Mapping[str, tuple[Fact, ...]]:
        for key in self.store.keys(prefix):
            row, number = key.removeprefix(self._prefix).removesuffix(".json").rsplit("/", 1)
            facts = self.rows.get(row, ())
            if int(number) == len(facts) + 1:  # a fact that is there does not change
                self.rows[row] = (*facts, self._load(key))
        return self.rows

    def facts(self, row: str) -> tuple[Fact, ...]:
        return self.rows.get(row, ())

    def add(self, row: str, fact: Fact) -> None:
        """Writes the next fact of a row. Raises RowTaken if another process wrote it first."""
        facts = self.facts(row)
        key, content = f"{self._prefix}{row}/{len(facts) + 1:06}.json", _facts().dump_json(fact, exclude_defaults=True)
        if not self.store.put_new(key, content) and self.store.get(key) != content:
            raise RowTaken(f"{row} of the plan {self.plan_id} was written by another process: read it again.")
        self.rows[row] = (*facts, fact)

    @property
    def _prefix(self) -> str:
        return f"{self.plan_id}/ledger/"

    def _load(self, key: str) -> Fact:
        try:
            fact: Fact = _facts().validate_json(self.store.get(key) or b"")
        except ValidationError as error:
            raise BadInput(f"the fact {key} of the ledger is damaged: restore it from a copy of the store.") from error
        return fact
