"""Totals: what a run's volumes add up to. Every report reads these, and parts of a run merge into the whole.

Money is held in whole cents a month, so that neither the split of a run nor the order of its parts changes a sum.

Volumes that are paid for nothing, of each kind by owner and the year in which they were made: few rows for many.

The fleet's risk: how many volumes are expected to throttle and what the next level of safety costs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple, assert_type

from pydantic import TypeAdapter, model_validator

from plimsoll.model.kinds import CHANGES, COSTS, STATE_KINDS, CountsAs, names_counted_as
from plimsoll.outcomes import Answered, FailedVolume, InScope, Notice, Outcome, Planned, Priced, Skipped, VolumesSeen
from plimsoll.ports import FailedTarget
from plimsoll.reading.cost import Plan
from plimsoll.reports.answers import answered_record
from plimsoll.reports.promises import peaks_in
from plimsoll.reports.record import OwnerRecord, RecommendationRecord, StateRecord, cents_of, to_cents
from plimsoll.reports.run_record import CostGroup, PartSummary, PartUsd, RunRecord, RunRisk, SaferLevel, StateSum
from plimsoll.reports.steps import Step, step_of
from plimsoll.reports.templates import Key, TemplateGroup, changes_of, groups_of
from plimsoll.reports.wording import count_of, owner_text, usd
from plimsoll.risk.learn import Lessons
from plimsoll.risk.watch import PromiseTally

COSTS_WHY: Final = (
    "Only an owner knows whether a volume is needed. Take a snapshot before a volume is deleted: nothing else brings "
    "its data back."
)
MOST_ROWS: Final = 12
"""Rows that are shown; run.json has all."""

CostGroups = dict[str, dict[str, dict[str, list[int]]]]
"""Volumes and their cents a month, by kind, owner and the year in which they were made."""


class CostTable(NamedTuple):
    """A kind that is paid for nothing: each row has an owner, a year, volumes and money."""

    kind: str
    title: str
    rows: list[tuple[str, str, str, str]]


def counted_owner(owner: OwnerRecord) -> OwnerRecord:
    """The owner for which a volume counts: of a Kubernetes claim its namespace."""
    if owner.kind == "kubernetes" and owner.name:
        return owner.model_copy(update={"name": owner.name.partition("/")[0]})
    return owner


def add_cost(groups: CostGroups, record: RecommendationRecord) -> None:
    """Counts a record of a kind that is a cost."""
    if record.kind.money is not CountsAs.COST:
        return
    year = record.created[:4] if record.created else ""
    _add(groups, record.action, owner_text(counted_owner(record.owner)), year, [1, cents_of(record)["now_cents"]])


def merge_costs(groups: CostGroups, other: CostGroups) -> None:
    """Adds the groups of another part of a run."""
    for kind, owners in other.items():
        for owner, years in owners.items():
            for year, counted in years.items():
                _add(groups, kind, owner, year, counted)


def _add(groups: CostGroups, kind: str, owner: str, year: str, counted: list[int]) -> None:
    """Adds volumes and cents to a group of costs, by kind, owner and year."""
    years = groups.setdefault(kind, {}).setdefault(owner, {})
    volumes, cents = years.get(year, [0, 0])
    years[year] = [volumes + counted[0], cents + counted[1]]


def costs_summary(groups: CostGroups) -> dict[str, list[dict[str, Any]]]:
    """The groups of each kind for run.json, those that cost most first; `made` is null where that is not known."""
    return {kind.name: _summary(groups.get(kind.name, {})) for kind in COSTS}


def _summary(owners: Mapping[str, Mapping[str, list[int]]]) -> list[dict[str, Any]]:
    rows = [
        {"owner": owner, "made": int(year) if year else None, "volumes": volumes, "monthly_usd": cents / 100}
        for owner, years in owners.items()
        for year, (volumes, cents) in years.items()
    ]
    return sorted(rows, key=lambda row: (-row["monthly_usd"], -row["volumes"], row["owner"], row["made"] or 0))


def cost_tables(run: RunRecord) -> Iterator[CostTable]:
    """The tables of a run's costs: a table for each kind that it has."""
    for kind in COSTS:
        rows = list(_rows(run.cost_groups(kind.name)))
        if rows:
            yield CostTable(kind=kind.name, title=f"{kind.words.capitalize()}, by owner and year", rows=rows)


def _rows(groups: list[CostGroup]) -> Iterator[tuple[str, str, str, str]]:
    """The rows of a kind. The last one sums up the groups that are not shown."""
    for group in groups[:MOST_ROWS]:
        made = f"made in {group.made}" if group.made else "made at a time not known"
        yield group.owner, made, count_of(group.volumes, "volume"), f"{usd(group.monthly_usd)} a month"
    left = groups[MOST_ROWS:]
    if left:
        volumes, money = sum(group.volumes for group in left), sum(group.monthly_usd for group in left)
        yield f"{count_of(len(left), 'more group')}", "", count_of(volumes, "volume"), f"{usd(money)} a month"


def sum_states(records: Iterable[StateRecord]) -> list[StateSum]:
    """The sums of states, in the order of their table."""
    groups: dict[str, list[StateRecord]] = {}
    for record in records:
        groups.setdefault(record.state, []).append(record)
    money = ("monthly_usd", "monthly_usd_saved_least", "monthly_usd_saved_most")
    return [
        StateSum(
            state=name,
            things=sum(len(record.ids) for record in groups[name]),
            unpriced=_count_unknown(groups[name], "monthly_usd"),
            unsaved=_count_unknown(groups[name], "monthly_usd_saved_most"),
            **{key: round(sum(getattr(record, key) or 0.0 for record in groups[name]), 2) for key in money},
        )
        for name in sorted(groups, key=lambda name: STATE_KINDS[name].rank)
    ]


def _count_unknown(records: Iterable[StateRecord], key: str) -> int:
    return sum(len(record.ids) for record in records if getattr(record, key) is None)


DIMENSIONS: Final[Mapping[str, Callable[[RecommendationRecord], str]]] = {
    "cloud": lambda record: record.provider,
    "account": lambda record: record.account,
    "region": lambda record: record.region,
    "owner": lambda record: owner_text(record.owner),
    "type": lambda record: record.current.type,
    "step": step_of,
}
"""What totals can be broken down by, each with a volume's value."""

_ALWAYS: Final = ("cloud", "step")
"""What totals are broken down by unless something else is asked for: what run.json has."""

_SUMS: Final = (
    *("seen", "unpriced", "blocked", "now_cents", "saved_cents", "saved_drop_in_cents", "blocked_cents"),
    *(
        "upgrades_cents",
        "waiting_cents",
        "too_risky_cents",
        "new",
        "by_rule",
        "snoozed",
        "done",
        "done_now",
        "done_saved_cents",
    ),
)
_Price = dict[str, str | None]


@dataclass(slots=True)
class FleetRisk:
    """Reductions, and relief that lowers a limit, that keep less than the volumes can do today, added to in place.

    - `promised` are the reductions with a promise. At most the sum of `risks_pct` (in percent of a volume each)
      throttles for longer than `minutes` in `days`.
    - `safer` are those of them with a next level, which costs `safer_cents` a month more. With it that sum is
      `safer_pct`.
    - `unpromised` are the reductions of which nothing is promised.
    """

    promised: int = 0
    unpromised: int = 0
    safer: int = 0
    risks_pct: float = 0.0
    safer_pct: float = 0.0
    safer_cents: int = 0
    minutes: float = 0.0
    days: float = 0.0

    def add(self, record: RecommendationRecord) -> None:
        """Counts a recommendation."""
        risk = record.risk
        if record.action not in CHANGES or (record.kind.money is CountsAs.MORE and not record.cuts):
            return
        if risk is None:
            self.unpromised += record.monthly_usd_saved > record.monthly_usd_saved_drop_in
            return
        self.minutes, self.days = max(self.minutes, risk.minutes), max(self.days, risk.days)
        if risk.promised_pct is None:
            self.unpromised += 1
            return
        self.promised += 1
        self.risks_pct += risk.promised_pct
        self.safer_pct += risk.promised_pct if risk.safer is None else risk.safer.promised_pct
        if risk.safer is not None:
            self.safer += 1
            if record.monthly_usd_then is not None:
                self.safer_cents += max(0, to_cents(risk.safer.monthly_usd) - to_cents(record.monthly_usd_then))

    def merge(self, other: "FleetRisk") -> None:
        """Adds other volumes."""
        for name in ("promised", "unpromised", "safer", "risks_pct", "safer_pct", "safer_cents"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.minutes, self.days = max(self.minutes, other.minutes), max(self.days, other.days)

    @property
    def run_risk(self) -> RunRisk | None:
        """The same for run.json; None where nothing is reduced."""
        if not self.promised + self.unpromised:
            return None
        safer = SaferLevel(
            volumes=self.safer, expected=round(self.safer_pct / 100, 2), more_usd_month=self.safer_cents / 100
        )
        return RunRisk(
            promised=self.promised,
            unpromised=self.unpromised,
            expected=round(self.risks_pct / 100, 2),
            minutes=self.minutes,
            days=self.days,
            safer=safer if self.safer else None,
        )


@dataclass(slots=True)
class RunTotals:
    """Counts and sums over some volumes, added to in place.

    Their memory grows with targets, failures and the values of `by`, not with the volumes. `by` holds the parts by
    dimension and value; a dimension that is not in it is not broken down. `plans` are what reading each cloud's metrics
    is expected to take, each at its cloud's own query cost. `new` to `done_saved_cents` come from the history, and
    stay 0 where none is kept, and so does what became of earlier `promises`. `unpriced` and `blocked` count volumes.
    `risk` is what doing all of it risks, and `lessons` what the whole of a run teaches of headroom, added at its end.
    `templates` are the groups of what templates made, which are whole only where all volumes are added. `costs` are
    the volumes that are paid for nothing, of each kind by owner and year.
    """

    seen: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    cost_cents: Counter[str] = field(default_factory=Counter)
    unpriced: int = 0
    blocked: int = 0
    now_cents: int = 0
    saved_cents: int = 0
    saved_drop_in_cents: int = 0
    blocked_cents: int = 0
    upgrades_cents: int = 0
    waiting_cents: int = 0
    too_risky_cents: int = 0
    new: int = 0
    by_rule: int = 0
    snoozed: int = 0
    done: int = 0
    done_now: int = 0
    done_saved_cents: int = 0
    promises: PromiseTally = field(default_factory=PromiseTally)
    risk: FleetRisk = field(default_factory=FleetRisk)
    lessons: Lessons = field(default_factory=Lessons)
    by: dict[str, dict[str, "RunTotals"]] = field(default_factory=lambda: {dimension: {} for dimension in _ALWAYS})
    plans: dict[str, Plan] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    failed_volumes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    failed_targets: dict[str, str] = field(default_factory=dict)
    notices: dict[str, list[str]] = field(default_factory=dict)
    prices: dict[str, _Price] = field(default_factory=dict)
    templates: dict[str, TemplateGroup] = field(default_factory=dict)
    costs: CostGroups = field(default_factory=dict)

    @classmethod
    def add_up(cls, added: Iterable[RecommendationRecord | Outcome], by: Iterable[str] = _ALWAYS) -> "RunTotals":
        """The totals of records and outcomes, broken down by those dimensions."""
        totals = cls(by={dimension: {} for dimension in by})
        for counted in added:
            totals.add(counted)
        return totals

    @classmethod
    def parse(cls, plain: Mapping[str, Any]) -> "RunTotals":
        """The totals that `plain` gave; pydantic's ValidationError where these are other values."""
        return _adapter().validate_python(dict(plain))

    @model_validator(mode="before")
    @classmethod
    def _rename_old_keys(cls, plain: Any) -> Any:
        """Plain totals in today's keys: earlier versions had a cost's sums as `NAME_cents` and `NAME`."""
        names = {kind.name: f"{kind.name}_cents" for kind in COSTS}
        if not isinstance(plain, Mapping) or plain.keys().isdisjoint({*names, *names.values()}):
            return plain
        cents = {name: plain[key] for name, key in names.items() if plain.get(key)}
        groups = {name: plain[name] for name in names if plain.get(name)}
        today = {key: value for key, value in plain.items() if key not in {*names, *names.values()}}
        return {**today, "cost_cents": cents, "costs": groups}

    @property
    def plain(self) -> dict[str, Any]:
        """The totals in plain values, as JSON holds them."""
        return dict(_adapter().dump_python(self._sort_lists(), mode="json"))

    @property
    def answered_count(self) -> int:
        """Volumes with a recommendation."""
        return self.actions.total()

    @property
    def failed_count(self) -> int:
        """Volumes that could not be answered."""
        return sum(len(ids) for reasons in self.failed_volumes.values() for ids in reasons.values())

    @property
    def is_reconciled(self) -> bool:
        """True if every volume seen ended in exactly one answer, exclusion or named failure."""
        return self.seen == self.answered_count + self.skipped.total() + self.failed_count

    @property
    def is_partial(self) -> bool:
        """True if something could not be read."""
        return bool(self.failed_targets or self.failed_volumes)

    @property
    def usd_now(self) -> float:
        return self.now_cents / 100

    @property
    def usd_saved(self) -> float:
        """The possible saving, USD a month."""
        return self.saved_cents / 100

    @property
    def usd_saved_drop_in(self) -> float:
        """The saving of same-limits replacements alone, USD a month."""
        return self.saved_drop_in_cents / 100

    @property
    def usd_saved_on_proof(self) -> float:
        """The part of the saving that rests on the measured demand, USD a month."""
        return (self.saved_cents - self.saved_drop_in_cents) / 100

    @property
    def usd_blocked(self) -> float:
        """The part of the saving that is blocked today, USD a month."""
        return self.blocked_cents / 100

    @property
    def usd_upgrades(self) -> float:
        """The further cost of throttled volumes' upgrades, USD a month; not taken off the saving."""
        return self.upgrades_cents / 100

    @property
    def usd_waiting(self) -> float:
        """The possible saving on volumes that cannot be judged yet, USD a month; no part of the saving."""
        return self.waiting_cents / 100

    @property
    def usd_too_risky(self) -> float:
        """The further saving of reductions above the policy's risk, USD a month; no part of the saving."""
        return self.too_risky_cents / 100

    def volumes_counted_as(self, money: CountsAs) -> int:
        """The volumes whose answers count as that."""
        return sum(self.actions[name] for name in names_counted_as(money))

    def usd_cost(self, kind: str) -> float:
        """The USD a month that are paid for the volumes of a kind; no part of the saving."""
        return self.cost_cents[kind] / 100

    def add(self, counted: RecommendationRecord | Outcome) -> None:
        """Counts a recommendation's record, or any outcome of an audit."""
        match counted:
            case RecommendationRecord():
                self._count(counted, cents_of(counted))
                self._group(groups_of(counted))
                add_cost(self.costs, counted)
            case Answered():
                self.add(answered_record(counted))
            case VolumesSeen():
                self.seen += counted.volumes
            case Planned():
                self._plan(counted.target.provider, counted.plan)
            case Priced():
                as_of = counted.as_of.isoformat() if counted.as_of else None
                self._price(str(counted.target), {"source": counted.source, "as_of": as_of})
            case Notice():
                self._note(str(counted.target), [counted.text])
            case Skipped():
                self.skipped[counted.kind or counted.reason] += 1
            case FailedVolume():
                reasons = self.failed_volumes.setdefault(str(counted.target), {})
                reasons.setdefault(counted.reason, []).append(counted.volume_id)
            case FailedTarget():
                self._fail(counted.name, str(counted.error))
            case _:  # what is in scope is counted as it is seen
                assert_type(counted, InScope)

    def note(self, place: str, texts: Iterable[str]) -> None:
        """Adds what people should know of a place."""
        noted = list(texts)
        if noted:
            self._note(place, noted)

    def learn(self, record: RecommendationRecord) -> RecommendationRecord:
        """The record, which has taught what its past shows of headroom."""
        self.lessons.add(peaks_in(record))
        return record

    def merge(self, other: "RunTotals") -> None:
        """Adds another part of the same run; its size alone decides how long that takes."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.promises.merge(other.promises)
        self.risk.merge(other.risk)
        self.lessons.merge(other.lessons)
        self.actions.update(other.actions)
        self.cost_cents.update(other.cost_cents)
        self.skipped.update(other.skipped)
        for dimension, groups in other.by.items():
            self.by.setdefault(dimension, {})
            for value, part in groups.items():
                self._part(dimension, value).merge(part)
        for cloud, plan in other.plans.items():
            self._plan(cloud, plan)
        for place, reasons in other.failed_volumes.items():
            for reason, ids in reasons.items():
                self.failed_volumes.setdefault(place, {}).setdefault(reason, []).extend(ids)
        for name, reason in other.failed_targets.items():
            self._fail(name, reason)
        for place, texts in other.notices.items():
            self._note(place, texts)
        for place, price in other.prices.items():
            self._price(place, price)
        self._group(other.templates)
        merge_costs(self.costs, other.costs)

    def summary(self) -> dict[str, Any]:
        """The totals for run.json."""
        self._sort_lists()
        steps, templates, risk = self.by.get("step", {}), changes_of(self.templates), self.risk.run_risk
        return {
            "volumes": {
                "seen": self.seen,
                "answered": self.answered_count,
                "unpriced": self.unpriced,
                "skipped": _sort_keys(self.skipped),
                "failed": self.failed_count,
                "reconciled": self.is_reconciled,
            },
            "actions": _sort_keys(self.actions),
            "monthly_usd": {
                "now": self.usd_now,
                "saved": self.usd_saved,
                "saved_drop_in": self.usd_saved_drop_in,
                "saved_on_proof": self.usd_saved_on_proof,
                "saved_but_blocked": self.usd_blocked,
                **{kind.name: self.usd_cost(kind.name) for kind in COSTS},
                "more_for_upgrades": self.usd_upgrades,
                "waiting": self.usd_waiting,
                "too_risky": self.usd_too_risky,
                "saved_by_templates": round(sum(change["monthly_usd_saved_beyond_volumes"] for change in templates), 2),
            },
            "risk": risk.plain if risk else None,
            "failures": {
                "targets": _sort_keys(self.failed_targets),
                "volumes": {target: _sort_keys(reasons) for target, reasons in sorted(self.failed_volumes.items())},
            },
            "notices": _sort_keys(self.notices),
            "prices": _sort_keys(self.prices),
            "clouds": {cloud: part.cloud_summary() for cloud, part in sorted(self.by.get("cloud", {}).items())},
            "templates": templates,
            **costs_summary(self.costs),
            "steps": {step: steps[step].step_summary().plain for step in Step if step in steps},
        }

    def cloud_summary(self) -> dict[str, Any]:
        """One cloud's totals for run.json."""
        return {"volumes": self.answered_count, "monthly_usd": {"now": self.usd_now, "saved": self.usd_saved}}

    def step_summary(self) -> PartSummary:
        """One step's totals for run.json."""
        money = PartUsd(
            now=self.usd_now,
            saved=self.usd_saved,
            saved_drop_in=self.usd_saved_drop_in,
            more_for_upgrades=self.usd_upgrades,
            waiting=self.usd_waiting,
            too_risky=self.usd_too_risky,
        )
        return PartSummary(volumes=self.answered_count, monthly_usd=money)

    def history(self) -> dict[str, Any]:
        """The outcomes of earlier recommendations, for run.json and events."""
        return {
            "new": self.new,
            "by_rule": self.by_rule,
            "snoozed": self.snoozed,
            "done": self.done,
            "done_now": self.done_now,
            "saved_usd_month_since": self.done_saved_cents / 100,
        }

    def _count(self, record: RecommendationRecord, cents: Mapping[str, int]) -> None:
        """Counts a record into these totals: its action, risk, blockers and money."""
        self.actions[record.action] += 1
        if record.kind.money is CountsAs.COST:
            self.cost_cents[record.action] += cents["now_cents"]
        self.unpriced += record.monthly_usd_now is None
        self.blocked += bool(record.blockers)
        self.risk.add(record)
        for name, amount in cents.items():
            setattr(self, name, getattr(self, name) + amount)
        for dimension in self.by:
            self._part(dimension, DIMENSIONS[dimension](record))._count(record, cents)

    def _part(self, dimension: str, value: str) -> "RunTotals":
        """The totals of one value of a dimension, made when first asked for."""
        groups = self.by[dimension]
        if value not in groups:
            groups[value] = RunTotals(by={})
        return groups[value]

    def _group(self, added: Mapping[Key, TemplateGroup]) -> None:
        for key, group in added.items():
            self.templates.setdefault(key, TemplateGroup()).merge(group)

    def _plan(self, cloud: str, plan: Plan) -> None:
        self.plans[cloud] = self.plans.get(cloud, Plan()) + plan

    def _fail(self, name: str, reason: str) -> None:
        """Of two parts that name a target, the reason that sorts first stays, whichever comes first."""
        self.failed_targets[name] = min(reason, self.failed_targets.get(name, reason))

    def _price(self, place: str, price: _Price) -> None:
        self.prices[place] = min(
            price, self.prices.get(place, price), key=lambda source: (source["source"] or "", source["as_of"] or "")
        )

    def _note(self, place: str, texts: Iterable[str]) -> None:
        """Parts of a target note the same of it: each text is kept once."""
        known = self.notices.setdefault(place, [])
        known += [text for text in dict.fromkeys(texts) if text not in known]

    def _sort_lists(self) -> "RunTotals":
        """The same totals with sorted lists, so that merging in another order reads alike."""
        for texts in self.notices.values():
            texts.sort()
        for reasons in self.failed_volumes.values():
            for ids in reasons.values():
                ids.sort()
        return self


def _sort_keys(figures: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(figures.items()))


@cache
def _adapter() -> TypeAdapter[RunTotals]:
    return TypeAdapter(RunTotals)
