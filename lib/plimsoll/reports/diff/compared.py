"""The difference of two runs: what is new, gone, changed and done, and what has been saved since."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.data.columns import literal
from plimsoll.reports.data.database import Database, opened, schema_of
from plimsoll.reports.diff import sql
from plimsoll.reports.diff.sql import READ, Group
from plimsoll.reports.diff.why import why
from plimsoll.reports.stored import UNANSWERED, read_run

_ENDED: Final = frozenset({"complete", "partial"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The volumes of a group, and their cost in each run, USD a month."""

    volumes: int
    usd_before: float
    usd_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One of the two runs."""

    id: str
    now: datetime
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of a volume, and why that is known; `before` and `after` are what each run has of it."""

    account: str
    region: str
    volume_id: str
    name: str | None
    group: Group
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    usd_saved: float | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two runs compared. `usd_saved`: what the done volumes cost before less what they cost now, USD a month, without
    the `unpriced` ones of them; `usd_open`: what can still be saved by what is open; `repriced`: the volumes that cost
    another sum for the same configuration, and how much more in all; `policy`: the keys that differ, with both values;
    `failed_places`: those that only the second run could not read, with the reason.
    """

    before: Run
    after: Run
    totals: Mapping[Group, Total]
    usd_saved: float
    unpriced: int
    usd_open: float
    repriced: tuple[int, float]
    policy: Mapping[str, tuple[Any, Any]]
    failed_places: Mapping[str, str]
    _database: Database

    def listed(self, group: Group, most: int | None = None) -> Iterator[Difference]:
        """The volumes of a group, those first that are about the most money."""
        for (text,) in self._database.rows(sql.listed(group, most)):
            yield _difference(json.loads(text))


@contextmanager
def compared(before: Path, after: Path) -> Iterator[Diff]:
    """Two runs compared; BadInput where a folder holds no run."""
    runs = read_run(before), read_run(after)
    with opened(before, after) as database:
        schemas = [schema_of(number, 2) for number in range(2)]
        for schema, folder, run in zip(schemas, (before, after), runs, strict=True):
            _note_places(database, schema, _read_places(folder, run))
        database.run(sql.differences(*schemas))
        found = {Group(row[0]): row[1:] for row in database.rows(sql.totals())}
        count, usd_more = next(database.rows(sql.repriced()))
        yield Diff(
            before=_run(before, runs[0]),
            after=_run(after, runs[1]),
            totals={
                group: Total(volumes=found[group][0], usd_before=found[group][1], usd_after=found[group][2])
                for group in Group
                if group in found
            },
            usd_saved=found[Group.DONE][3] if Group.DONE in found else 0.0,
            unpriced=found[Group.DONE][4] if Group.DONE in found else 0,
            usd_open=found[Group.OPEN][5] if Group.OPEN in found else 0.0,
            repriced=(count, usd_more),
            policy=_changed(runs[0].get("policy", {}), runs[1].get("policy", {})),
            failed_places=_newly_failed(*runs),
            _database=database,
        )


def _read_places(folder: Path, run: Mapping[str, Any]) -> list[str]:
    """The places of which a run names every volume, so that one that it does not name was not there.

    None of a run that has not ended; and none of one that left volumes out before runs named these.
    """
    if run["status"] not in _ENDED or (run["volumes"]["skipped"] and not (folder / UNANSWERED).exists()):
        return []
    return [place for place in run["prices"] if place not in run["failures"]["targets"]]


def _note_places(database: Database, schema: str, places: list[str]) -> None:
    listed = ", ".join(literal(place) for place in places)
    database.run(f"create table {schema}.{READ} as select unnest([{listed}]::varchar[]) as place")


def _run(folder: Path, run: Mapping[str, Any]) -> Run:
    try:
        now = datetime.fromisoformat(run["now"]).astimezone(UTC)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{folder} does not say when it was run ({error}): compare other runs.") from error
    return Run(id=str(run["id"]), now=now, status=str(run["status"]))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = dict.fromkeys((*before, *after))
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def _newly_failed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    known = before["failures"]["targets"]
    return {place: reason for place, reason in after["failures"]["targets"].items() if place not in known}


def _difference(found: Mapping[str, Any]) -> Difference:
    group = Group(found["what"])
    return Difference(
        account=found["account"],
        region=found["region"],
        volume_id=found["volume_id"],
        name=found["name"],
        group=group,
        before=found["one"] if found["was"] == "answered" else None,
        after=found["other"] if found["is_now"] == "answered" else None,
        usd_saved=found["usd_saved"],
        why=why(group, found),
    )
