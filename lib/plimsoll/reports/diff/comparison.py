"""The difference of two runs: what is new, gone, changed and done, and what has been saved since."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from plimsoll.domain.errors import BadInput
from plimsoll.reports.data.column_types import literal
from plimsoll.reports.data.database import Database, opened, schema_of
from plimsoll.reports.diff import sql
from plimsoll.reports.diff.reasons import unread, why
from plimsoll.reports.diff.sql import READ, Group
from plimsoll.reports.run_reader import UNANSWERED, read_run

_ENDED: Final = frozenset({"complete", "partial"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The volumes of a group, and their cost in each run, USD a month; None where that is not known of any of them."""

    volumes: int
    usd_before: float | None
    usd_after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Volumes, and USD a month that they are about."""

    volumes: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One of the two runs."""

    id: str
    now: datetime
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What became of a volume, and why that is known; `before` and `after` are what each run has of it."""

    provider: str
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
    """Two runs compared; money is USD a month.

    `known`: the volumes whose cost is known in both. `saved`: by the done volumes, without the `unpriced` ones, at the
    first run's prices unless it has none (`mixed` volumes). `upgraded`: done upgrades, and what these cost more.
    `altered`: as `saved`, of those that were changed to something else. `open_saving`, `open_upgrades` and
    `open_detached`: what open volumes can save, would cost more, and cost though attached to nothing. `repriced`: the
    volumes that cost another sum for the same configuration, and how much more in all; `policy`: the keys that differ,
    with both values; `failed_places`: those that only the second run could not read, with the reason; `unread`: why the
    second run cannot tell of a volume of an account and region.
    """

    before: Run
    after: Run
    totals: Mapping[Group, Total]
    known: Total
    saved: Money
    upgraded: Money
    altered: Money
    open_saving: Money
    open_upgrades: Money
    open_detached: Money
    unpriced: int
    mixed: int
    repriced: tuple[int, float]
    policy: Mapping[str, tuple[Any, Any]]
    failed_places: Mapping[str, str]
    unread: Callable[[str, str], str]
    _database: Database

    def listed(self, group: Group, most: int | None = None) -> Iterator[Difference]:
        """The volumes of a group, those first that are about the most money."""
        for (text,) in self._database.rows(sql.listed(group, most)):
            yield _difference(json.loads(text), self.unread)


@contextmanager
def compared(before: Path, after: Path) -> Iterator[Diff]:
    """Two runs compared; BadInput where a folder holds no run."""
    runs = read_run(before), read_run(after)
    with opened(before, after) as database:
        schemas = [schema_of(number, 2) for number in range(2)]
        for schema, folder, run in zip(schemas, (before, after), runs, strict=True):
            _note_places(database, schema, _read_places(folder, run))
        with database.function(sql.BECAME, sql.judge):
            database.run(sql.differences(*schemas))
        found = {Group(row[0]): row[1:] for row in database.rows(sql.totals())}
        count, usd_more = next(database.rows(sql.repriced()))
        told = [Money(volumes=volumes, usd=usd) for volumes, usd in database.rows(sql.money())]
        saved, upgraded, altered, open_saving, open_upgrades, open_detached, unpriced, mixed = told
        volumes, usd_before, usd_after = next(database.rows(sql.known()))
        yield Diff(
            before=_run(before, runs[0]),
            after=_run(after, runs[1]),
            totals={
                group: Total(volumes=found[group][0], usd_before=found[group][1], usd_after=found[group][2])
                for group in Group
                if group in found
            },
            known=Total(volumes=volumes, usd_before=usd_before, usd_after=usd_after),
            saved=saved,
            upgraded=upgraded,
            altered=altered,
            open_saving=open_saving,
            open_upgrades=open_upgrades,
            open_detached=open_detached,
            unpriced=unpriced.volumes,
            mixed=mixed.volumes,
            repriced=(count, usd_more),
            policy=_changed(runs[0].get("policy", {}), runs[1].get("policy", {})),
            failed_places=_newly_failed(*runs),
            unread=partial(unread, runs[1]),
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


def _difference(found: Mapping[str, Any], unread: Callable[[str, str], str]) -> Difference:
    group = Group(found["what"])
    return Difference(
        provider=found["provider"],
        account=found["account"],
        region=found["region"],
        volume_id=found["volume_id"],
        name=found["name"],
        group=group,
        before=_answer(found["one"]) if found["was"] == "answered" else None,
        after=_answer(found["other"]) if found["is_now"] == "answered" else None,
        usd_saved=found["usd_saved"],
        why=unread(found["account"], found["region"]) if group is Group.NOT_READ else why(group, found),
    )


def _answer(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a run has of a volume, without the offers that it weighed."""
    return {key: value for key, value in found.items() if key not in {"weighed", "provider"}}
