"""The tally of a run: what was seen, answered, skipped and failed, and the money, so that the totals reconcile."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from heapq import nlargest
from typing import Any

from pydantic import TypeAdapter

from plimsoll.domain.plan import Plan
from plimsoll.outcomes import Answered, FailedVolume, Notice, Outcome, Planned, Priced, Seen, Skipped
from plimsoll.ports import FailedTarget
from plimsoll.reports.money import Money, money_of
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.recorded import record_of

_Failures = Mapping[str, Mapping[str, list[str]]]
_Prices = Mapping[str, dict[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudSum:
    """The volumes of one cloud that have a recommendation, and their money."""

    volumes: int = 0
    money: Money = field(default_factory=Money)

    def __add__(self, other: "CloudSum") -> "CloudSum":
        return CloudSum(volumes=self.volumes + other.volumes, money=self.money + other.money)

    @property
    def summary(self) -> dict[str, Any]:
        """The sum for run.json."""
        return {"volumes": self.volumes, "monthly_usd": {"now": self.money.usd_now, "saved": self.money.usd_saved}}


@dataclass(slots=True)
class Tally:
    """Counts and sums over a run's outcomes; it grows with the targets and the failures, not with the fleet.

    Tallies of parts of a run add up to that of the whole, whichever way it was parted and in whatever order they come.
    `plans` are what reading each cloud's metrics is expected to take, since each has its own query_cost.
    """

    seen: int = 0
    plans: dict[str, Plan] = field(default_factory=dict)
    actions: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failed_volumes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    failed_targets: dict[str, str] = field(default_factory=dict)
    notices: dict[str, list[str]] = field(default_factory=dict)
    prices: dict[str, dict[str, str | None]] = field(default_factory=dict)
    money: Money = field(default_factory=Money)
    clouds: dict[str, CloudSum] = field(default_factory=dict)

    def __add__(self, other: "Tally") -> "Tally":
        """Both together, lists in order; a target that both tell of has the reason or price that sorts first."""
        return Tally(
            seen=self.seen + other.seen,
            plans=_plans(self.plans, other.plans),
            actions=_counts(self.actions, other.actions),
            skipped=_counts(self.skipped, other.skipped),
            failed_volumes=_failures(self.failed_volumes, other.failed_volumes),
            failed_targets=_first(self.failed_targets, other.failed_targets),
            notices=_texts(self.notices, other.notices),
            prices=_prices(self.prices, other.prices),
            money=self.money + other.money,
            clouds=_clouds(self.clouds, other.clouds),
        )

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> "Tally":
        """What some outcomes add up to."""
        tally = cls()
        for outcome in outcomes:
            tally.take(outcome)
        return tally

    @classmethod
    def parsed(cls, plain: Mapping[str, Any]) -> "Tally":
        """The tally that `plain` gave; pydantic's ValidationError where these are other values."""
        return _adapter().validate_python(dict(plain))

    @property
    def plain(self) -> dict[str, Any]:
        """The tally in plain values, as JSON holds them."""
        return dict(_adapter().dump_python(self, mode="json"))

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
                self.plans = _plans(self.plans, {outcome.target.provider: outcome.plan})
            case Priced():
                as_of = outcome.as_of.isoformat() if outcome.as_of else None
                self.prices[str(outcome.target)] = {"source": outcome.source, "as_of": as_of}
            case Skipped():
                self.skipped[outcome.kind or outcome.reason] += 1
            case FailedVolume():
                reasons = self.failed_volumes.setdefault(str(outcome.target), {})
                reasons.setdefault(outcome.reason, []).append(outcome.volume_id)
            case FailedTarget():
                self.failed_targets[outcome.name] = str(outcome.error)
            case Notice():
                texts = self.notices.setdefault(str(outcome.target), [])
                texts += [outcome.text] if outcome.text not in texts else []
            case Answered():
                record = record_of(outcome.recommendation, outcome.change, provider=outcome.target.provider)
                self.count(record)
                return record
        return None

    def count(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        self.actions[record.action] += 1
        money = money_of(record)
        self.money += money
        self.clouds = _clouds(self.clouds, {record.provider: CloudSum(volumes=1, money=money)})

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
                "now": self.money.usd_now,
                "saved": self.money.usd_saved,
                "saved_drop_in": self.money.usd_saved_drop_in,
                "saved_on_proof": self.money.usd_saved_on_proof,
                "saved_but_blocked": self.money.usd_blocked,
                "detached": self.money.usd_detached,
                "more_for_upgrades": self.money.usd_upgrades,
            },
            "failures": {
                "targets": self.failed_targets,
                "volumes": {target: dict(reasons) for target, reasons in self.failed_volumes.items()},
            },
            "notices": self.notices,
            "prices": self.prices,
            "clouds": {cloud: found.summary for cloud, found in self.clouds.items()},
        }


def best_savings(records: Iterable[RecommendationRecord], count: int) -> list[RecommendationRecord]:
    """The recommendations that save the most, largest first; it keeps no more than `count` of them."""
    saving = (record for record in records if record.monthly_usd_saved > 0)
    return nlargest(count, saving, key=lambda record: (record.monthly_usd_saved, record.volume_id))


@cache
def _adapter() -> TypeAdapter[Tally]:
    return TypeAdapter(Tally)


def _counts(one: Mapping[str, int], other: Mapping[str, int]) -> Counter[str]:
    return Counter({key: one.get(key, 0) + other.get(key, 0) for key in sorted({*one, *other})})


def _plans(one: Mapping[str, Plan], other: Mapping[str, Plan]) -> dict[str, Plan]:
    return {cloud: one.get(cloud, Plan()) + other.get(cloud, Plan()) for cloud in sorted({*one, *other})}


def _clouds(one: Mapping[str, CloudSum], other: Mapping[str, CloudSum]) -> dict[str, CloudSum]:
    return {cloud: one.get(cloud, CloudSum()) + other.get(cloud, CloudSum()) for cloud in sorted({*one, *other})}


def _lists(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {key: sorted([*one.get(key, ()), *other.get(key, ())]) for key in sorted({*one, *other})}


def _texts(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The sentences of each place once: parts of a target say the same of it."""
    return {key: sorted({*one.get(key, ()), *other.get(key, ())}) for key in sorted({*one, *other})}


def _failures(one: _Failures, other: _Failures) -> dict[str, dict[str, list[str]]]:
    return {key: _lists(one.get(key, {}), other.get(key, {})) for key in sorted({*one, *other})}


def _first(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    return {key: min(there[key] for there in (one, other) if key in there) for key in sorted({*one, *other})}


def _prices(one: _Prices, other: _Prices) -> dict[str, dict[str, str | None]]:
    return {
        key: min((there[key] for there in (one, other) if key in there), key=_price_order)
        for key in sorted({*one, *other})
    }


def _price_order(price: Mapping[str, str | None]) -> tuple[str, str]:
    return price["source"] or "", price["as_of"] or ""
