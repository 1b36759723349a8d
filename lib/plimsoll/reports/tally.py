"""The tally of a run: what was seen, answered, skipped and failed, and the money, so that the totals reconcile."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

from plimsoll.domain.plan import Plan
from plimsoll.outcomes import Answered, FailedVolume, Notice, Outcome, Planned, Priced, Seen, Skipped
from plimsoll.ports import FailedTarget
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.recorded import record_of


@dataclass(slots=True)
class Tally:
    """Counts and sums over a run's outcomes; it grows with the targets and the failures, not with the fleet."""

    seen: int = 0
    plan: Plan = field(default_factory=Plan)
    actions: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failed_volumes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    failed_targets: dict[str, str] = field(default_factory=dict)
    notices: dict[str, list[str]] = field(default_factory=dict)
    prices: dict[str, dict[str, str | None]] = field(default_factory=dict)
    usd_now: float = 0.0
    usd_saved: float = 0.0
    usd_saved_at_parity: float = 0.0
    usd_blocked: float = 0.0
    usd_detached: float = 0.0
    usd_upgrades: float = 0.0

    @property
    def answered(self) -> int:
        """Volumes with a recommendation."""
        return sum(self.actions.values())

    @property
    def failed(self) -> int:
        """Volumes that could not be answered."""
        return sum(len(ids) for reasons in self.failed_volumes.values() for ids in reasons.values())

    @property
    def reconciled(self) -> bool:
        """Whether every volume seen ended in exactly one answer, exclusion or named failure."""
        return self.seen == self.answered + sum(self.skipped.values()) + self.failed

    @property
    def partial(self) -> bool:
        """Whether something could not be read."""
        return bool(self.failed_targets or self.failed_volumes)

    def take(self, outcome: Outcome) -> RecommendationRecord | None:
        """Counts an outcome; gives the record of an answered volume."""
        match outcome:
            case Seen():
                self.seen += outcome.volumes
            case Planned():
                self.plan += outcome.plan
            case Priced():
                as_of = outcome.as_of.isoformat() if outcome.as_of else None
                self.prices[str(outcome.target)] = {"source": outcome.source, "as_of": as_of}
            case Skipped():
                self.skipped[outcome.reason] += 1
            case FailedVolume():
                reasons = self.failed_volumes.setdefault(str(outcome.target), {})
                reasons.setdefault(outcome.reason, []).append(outcome.volume_id)
            case FailedTarget():
                self.failed_targets[outcome.name] = str(outcome.error)
            case Notice():
                self.notices.setdefault(str(outcome.target), []).append(outcome.text)
            case Answered():
                record = record_of(outcome.recommendation, outcome.change)
                self.count(record)
                return record
        return None

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        now, saved = record.monthly_usd_now or 0.0, record.monthly_usd_saved
        self.actions[record.action] += 1
        self.usd_now += now
        if record.action == "detached":
            self.usd_detached += now
        elif record.action == "upgrade" and saved < 0:
            self.usd_upgrades += -saved
        else:
            self.usd_saved += saved
            self.usd_saved_at_parity += record.monthly_usd_saved_at_parity
            self.usd_blocked += saved if record.blockers else 0.0

    def summary(self) -> dict[str, Any]:
        """The tally for run.json."""
        return {
            "volumes": {
                "seen": self.seen,
                "answered": self.answered,
                "skipped": dict(self.skipped),
                "failed": self.failed,
                "reconciled": self.reconciled,
            },
            "actions": dict(self.actions),
            "monthly_usd": {
                "now": round(self.usd_now, 2),
                "saved": round(self.usd_saved, 2),
                "saved_at_parity": round(self.usd_saved_at_parity, 2),
                "saved_on_proof": round(self.usd_saved - self.usd_saved_at_parity, 2),
                "saved_but_blocked": round(self.usd_blocked, 2),
                "detached": round(self.usd_detached, 2),
                "more_for_upgrades": round(self.usd_upgrades, 2),
            },
            "failures": {
                "targets": self.failed_targets,
                "volumes": {target: dict(reasons) for target, reasons in self.failed_volumes.items()},
            },
            "notices": self.notices,
            "prices": self.prices,
        }


def best_savings(records: Iterable[RecommendationRecord], count: int) -> list[RecommendationRecord]:
    """The recommendations that save the most, largest first; it keeps no more than `count` of them."""
    saving = (record for record in records if record.monthly_usd_saved > 0)
    return nlargest(count, saving, key=lambda record: (record.monthly_usd_saved, record.volume_id))
