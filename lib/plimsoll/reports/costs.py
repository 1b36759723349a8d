"""Volumes that are paid for nothing, of each kind by owner and the year in which they were made: few rows for many."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from plimsoll.domain.kinds import COSTS, CountsAs
from plimsoll.reports.record import RecommendationRecord, cents_of
from plimsoll.reports.run_record import CostGroup, RunRecord
from plimsoll.reports.wording import count_of, owner_text, usd

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


def add_cost(groups: CostGroups, record: RecommendationRecord) -> None:
    """Counts a record of a kind that is a cost. A Kubernetes claim counts for its namespace."""
    if record.kind.money is not CountsAs.COST:
        return
    owner = record.owner
    if owner.kind == "kubernetes" and owner.name:
        owner = owner.model_copy(update={"name": owner.name.partition("/")[0]})
    year = record.created[:4] if record.created else ""
    _add(groups, record.action, owner_text(owner), year, [1, cents_of(record)["now_cents"]])


def merge_costs(groups: CostGroups, other: CostGroups) -> None:
    """Adds the groups of another part of a run."""
    for kind, owners in other.items():
        for owner, years in owners.items():
            for year, counted in years.items():
                _add(groups, kind, owner, year, counted)


def _add(groups: CostGroups, kind: str, owner: str, year: str, counted: list[int]) -> None:
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
