"""The service's ports in memory: the reference for claims, history, events and executions, and what tests look into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from plimsoll.clouds.aws.service import NOT_DEPLOYED
from plimsoll.decide.history import HistoryEntry
from plimsoll.model.errors import BadInput
from plimsoll.model.people import Decision
from plimsoll.ports import Target


@dataclass(slots=True, kw_only=True)
class MemoryClaims:
    """Claims by key: the holder, and until when."""

    held: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def claim(self, key: str, holder: str, until: datetime, now: datetime) -> bool:
        """Takes a key for a holder until that time; False where another has it."""
        if self.holder(key, now) not in (None, holder):
            return False
        self.held[key] = (holder, until)
        return True

    def release(self, key: str, holder: str) -> None:
        """Gives a key up; another's stays."""
        if key in self.held and self.held[key][0] == holder:
            del self.held[key]

    def holder(self, key: str, now: datetime) -> str | None:
        """Who has a key now, None where nobody has."""
        holder, until = self.held.get(key, (None, now))
        return holder if now < until else None


@dataclass(slots=True, kw_only=True)
class MemoryHistory:
    """Entries, and what people decided by the ids of their requests, by account, region and volume id."""

    kept: dict[tuple[str, str, str], HistoryEntry] = field(default_factory=dict)
    decided: dict[tuple[str, str, str], dict[str, Decision]] = field(default_factory=dict)

    def entries(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, HistoryEntry]:
        """The entries of those volumes that have one, by volume id."""
        keys = {volume_id: (target.account, target.region, volume_id) for volume_id in volume_ids}
        return {volume_id: self.kept[key] for volume_id, key in keys.items() if key in self.kept}

    def write(self, entries: Sequence[HistoryEntry]) -> None:
        """Keeps entries in the place of earlier ones; of several of one volume, the last."""
        self.kept.update(((entry.account, entry.region, entry.volume_id), entry) for entry in entries)

    def decisions(self, target: Target, volume_ids: Sequence[str]) -> Mapping[str, Sequence[Decision]]:
        """What people decided of those volumes, of whichever anybody did, by volume id."""
        keys = {volume_id: (target.account, target.region, volume_id) for volume_id in volume_ids}
        return {volume_id: [*self.decided[key].values()] for volume_id, key in keys.items() if key in self.decided}

    def decide(self, decision: Decision) -> bool:
        """Adds what somebody decided; False where the same request was added before."""
        there = self.decided.setdefault((decision.account, decision.region, decision.volume_id), {})
        if decision.id in there:
            return False
        there[decision.id] = decision
        return True


@dataclass(slots=True, kw_only=True)
class MemoryEvents:
    """Events in the order in which they were sent."""

    sent: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def send(self, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Keeps them."""
        self.sent.extend(events)


@dataclass(slots=True, kw_only=True)
class MemoryExecutions:
    """What runs, by ARN, and since when, all of one state machine; a name is what follows the last colon. Beside them,
    what was begun by kind and name, with what it was given; `kinds` are deployed."""

    running: dict[str, datetime] = field(default_factory=dict)
    kinds: Sequence[str] = ("audit", "validation", "probe")
    begun: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    def older(self, execution: str, started: datetime) -> str | None:
        """The name of the oldest that was begun before this one; of two begun at once, the first by name."""
        own = (self.running.get(execution, started), execution)
        began, oldest = min(((began, arn) for arn, began in self.running.items()), default=own)
        return oldest.rsplit(":", 1)[-1] if (began, oldest) < own else None

    def begin(self, kind: Literal["audit", "validation", "probe"], name: str, inputs: Mapping[str, Any]) -> bool:
        """Notes a run of that name; False where one was begun before. BadInput where the kind is not deployed."""
        if kind not in self.kinds:
            raise BadInput(NOT_DEPLOYED[kind])
        if (kind, name) in self.begun:
            return False
        self.begun[kind, name] = dict(inputs)
        return True
