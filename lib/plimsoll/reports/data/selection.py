"""A selection: the volumes of a run that a report is about, where it is not about all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.data.column_types import literal
from plimsoll.reports.data.database import Database
from plimsoll.reports.data.views import KEYS
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_reader import ambiguous

SELECTED: Final = "selected"
"""The table of the selected volumes, by account, region and volume id."""

_HELD: Final = "held"
"""The table of the volumes for which the condition holds, likewise."""

_FULL_NAME: Final = " || '/' || ".join(KEYS)


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

    Volumes are named by their ids, or as account/region/id. BadInput for a condition that is none, for a volume without
    a recommendation, for an id that several volumes have, and where nothing is left.
    """
    if where is None and not volumes:
        return None
    condition = "true" if where is None else database.condition(where)
    for volume in volumes:
        _check(database, volume)
    # The condition is asked by itself, so that nothing in it has a say in which volumes were named.
    database.run(f"create temp table {_HELD} as select {', '.join(KEYS)} from recommendations where ({condition})")
    named = " or ".join(map(_named, volumes)) or "true"
    database.run(f"create temp table {SELECTED} as from {_HELD} where {named}")
    keys = frozenset((account, region, volume_id) for account, region, volume_id in database.rows(f"from {SELECTED}"))
    told = " and ".join([*([", ".join(volumes)] if volumes else []), *([where] if where is not None else [])])
    if not keys:
        raise BadInput(f"no volume of this run answers to {told}: `plimsoll query RUN` lists what can be asked for.")
    return Selection(keys=keys, told=told)


def _named(volume: str) -> str:
    return f"{literal(volume)} in (volume_id, {_FULL_NAME})"


def _check(database: Database, volume: str) -> None:
    named = _named(volume)
    found = [name for (name,) in database.rows(f"select {_FULL_NAME} from recommendations where {named} order by 1")]
    if len(found) > 1:
        raise ambiguous(volume, found)
    if found:
        return
    failed = next(database.rows(f"select outcome, reason from failures where {named}"), None)
    if failed is not None:
        raise BadInput(f"{volume} has no recommendation in this run: {failed[0]}, {failed[1]}")
    raise BadInput(f"{volume} is not in this run: look for it with another run, or explain it from its cloud.")
