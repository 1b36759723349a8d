"""Detached volumes by owner and by the year in which they were made: few rows for many volumes."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from plimsoll.domain.actions import DETACHED
from plimsoll.reports.record import RecommendationRecord, cents_of
from plimsoll.reports.wording import count_of, owner_text, usd

TITLE: Final = "Attached to nothing, by owner and year"
WHY: Final = (
    "Only an owner knows whether a volume is needed. Take a snapshot before a volume is deleted: nothing else brings "
    "its data back."
)
SHOWN: Final = 12
"""Rows that are shown; run.json has all."""

Groups = dict[str, dict[str, list[int]]]
"""Volumes and their cents a month, by owner and the year in which they were made."""


def add_detached(groups: Groups, record: RecommendationRecord) -> None:
    """Counts a record where its volume is detached. A Kubernetes claim counts for its namespace."""
    if record.action != DETACHED:
        return
    owner = record.owner
    if owner.kind == "kubernetes" and owner.name:
        owner = owner.model_copy(update={"name": owner.name.partition("/")[0]})
    year = record.created[:4] if record.created else ""
    _add(groups, owner_text(owner), year, [1, cents_of(record).get("detached_cents", 0)])


def merge_detached(groups: Groups, other: Groups) -> None:
    """Adds the groups of another part of a run."""
    for owner, years in other.items():
        for year, counted in years.items():
            _add(groups, owner, year, counted)


def _add(groups: Groups, owner: str, year: str, counted: list[int]) -> None:
    volumes, cents = groups.setdefault(owner, {}).get(year, [0, 0])
    groups[owner][year] = [volumes + counted[0], cents + counted[1]]


def detached_summary(groups: Groups) -> list[dict[str, Any]]:
    """The groups for run.json, those that cost most first; `made` is null where that is not known."""
    rows = [
        {"owner": owner, "made": int(year) if year else None, "volumes": volumes, "monthly_usd": cents / 100}
        for owner, years in groups.items()
        for year, (volumes, cents) in years.items()
    ]
    return sorted(rows, key=lambda row: (-row["monthly_usd"], -row["volumes"], row["owner"], row["made"] or 0))


def detached_rows(run: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The rows of a run's table: owner, year, volumes and money. The last one sums up those that are not shown."""
    rows = run.get("detached", ())
    for row in rows[:SHOWN]:
        made = f"made in {row['made']}" if row["made"] else "made at a time not known"
        yield row["owner"], made, count_of(row["volumes"], "volume"), f"{usd(row['monthly_usd'])} a month"
    left = rows[SHOWN:]
    if left:
        volumes, money = sum(row["volumes"] for row in left), sum(row["monthly_usd"] for row in left)
        yield f"{count_of(len(left), 'more group')}", "", count_of(volumes, "volume"), f"{usd(money)} a month"
