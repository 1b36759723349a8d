"""A selection: the volumes of a run that a report is about, where it is not about all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.data.columns import literal
from plimsoll.reports.data.database import Database
from plimsoll.reports.data.views import KEYS
from plimsoll.reports.record import RecommendationRecord

SELECTED: Final = "selected"
"""The table of the selected volumes, by account, region and volume id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Some volumes of a run, and which they are in words."""

    keys: frozenset[tuple[str, str, str]]
    told: str

    def has(self, record: RecommendationRecord) -> bool:
        """Whether a recommendation is of one of them."""
        return (record.account, record.region, record.volume_id) in self.keys


def select(database: Database, where: str | None, volumes: Sequence[str]) -> Selection | None:
    """The volumes that a condition over the view `recommendations` holds for, of those named; None where all are meant.

    BadInput for a condition that is none, for a volume without a recommendation, and where nothing is left.
    """
    conditions = [f"volume_id in ({', '.join(map(literal, volumes))})"] if volumes else []
    if where is not None:
        database.statement(f"select ({where}\n) from recommendations")  # a condition, and no more than one
        conditions.append(where)
    if not conditions:
        return None
    for volume_id in volumes:
        _check(database, volume_id)
    query = f"select {', '.join(KEYS)} from recommendations where " + " and ".join(f"({one}\n)" for one in conditions)
    database.run(f"create temp table {SELECTED} as {database.statement(query)}")
    keys = frozenset((account, region, volume_id) for account, region, volume_id in database.rows(f"from {SELECTED}"))
    told = " and ".join([*([", ".join(volumes)] if volumes else []), *([where] if where is not None else [])])
    if not keys:
        raise BadInput(f"no volume of this run answers to {told}: `plimsoll query RUN` lists what can be asked for.")
    return Selection(keys=keys, told=told)


def _check(database: Database, volume_id: str) -> None:
    named = f"volume_id = {literal(volume_id)}"
    if next(database.rows(f"select 1 from recommendations where {named}"), None) is not None:
        return
    failed = next(database.rows(f"select outcome, reason from failures where {named}"), None)
    if failed is not None:
        raise BadInput(f"{volume_id} has no recommendation in this run: {failed[0]}, {failed[1]}")
    raise BadInput(f"{volume_id} is not in this run: look for it with another run, or explain it from its cloud.")
