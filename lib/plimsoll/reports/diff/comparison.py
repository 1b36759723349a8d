"""The difference of two runs: what is new, gone, changed and done, and what has been saved since."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from plimsoll.decide.history import How
from plimsoll.model.kinds import COSTS, KINDS, CountsAs
from plimsoll.reports.data.column_types import literal
from plimsoll.reports.data.database import Database, open_runs
from plimsoll.reports.diff import sql
from plimsoll.reports.diff.sql import READ, DiffGroup
from plimsoll.reports.record import SpecRecord, WaitRecord
from plimsoll.reports.run_files import UNANSWERED
from plimsoll.reports.run_reader import read_run
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.wording import spec_text, wait_text

_ENDED: Final = frozenset({"complete", "partial"})

_FIGURES: Final = (
    ("hosts", "attached to", ""),
    ("demand.censored", "demand stood at a ceiling", ""),
    ("demand.throttled_minutes", "throttled", "minutes"),
    ("demand.host_bound_minutes", "at the host's ceiling", "minutes"),
    ("demand.peak_iops", "peak", "IOPS"),
    ("demand.peak_throughput_mib_s", "peak", "MiB/s"),
    ("evidence.grade", "evidence", ""),
    ("monthly_usd_now", "price of the present configuration", "USD a month"),
    ("monthly_usd_then", "price of the offer", "USD a month"),
)
"""The figures that a decision rests on, in the order in which it asks for them."""

_OBSERVED: Final = ("demand.hours_observed", "observed", "hours")
_NOTICEABLE: Final = 0.01
"""Demand is never the same twice: a figure that moved by less than this share moved no answer as long as others did."""


class Total(NamedTuple):
    """The volumes of a group, and their cost in each run, USD a month; None where that is not known of any of them."""

    volumes: int
    usd_before: float | None
    usd_after: float | None


class Money(NamedTuple):
    """Volumes, and USD a month that they are about."""

    volumes: int
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A volume between two runs, with the reason for its group; `before` and `after` are each run's answer."""

    provider: str
    account: str
    region: str
    volume_id: str
    name: str | None
    group: DiffGroup
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
    `open_costs`: what open volumes can save, would cost more, and cost for nothing, by kind. `repriced`: the
    volumes that cost another sum for the same configuration, and how much more in all; `policy`: the keys that differ,
    with both values; `rules`: the versions of the rule; `failed_places`: those that only the second run could not
    read, with the reason; `unread`: why the second run cannot tell of a volume of an account and region.
    """

    before: RunRecord
    after: RunRecord
    totals: Mapping[DiffGroup, Total]
    known: Total
    saved: Money
    upgraded: Money
    altered: Money
    open_saving: Money
    open_upgrades: Money
    open_costs: Mapping[str, Money]
    unpriced: int
    mixed: int
    repriced: Money
    policy: Mapping[str, tuple[Any, Any]]
    rules: tuple[int, int]
    failed_places: Mapping[str, str]
    unread: Callable[[str, str], str]
    _database: Database

    def list_volumes(self, group: DiffGroup, most: int | None = None) -> Iterator[Difference]:
        """The volumes of a group, those first that are about the most money."""
        for (text,) in self._database.rows(sql.group_rows(group, most)):
            yield _difference(json.loads(text), self.unread)


@contextmanager
def compare_runs(before: Path, after: Path) -> Iterator[Diff]:
    """Two runs compared; BadInput where a folder holds no run."""
    runs = read_run(before), read_run(after)
    with open_runs(before, after) as database:
        for schema, folder, run in zip(database.schemas, (before, after), runs, strict=True):
            places = ", ".join(map(literal, _read_places(folder, run)))
            database.run(f"create table {schema}.{READ} as select unnest([{places}]::varchar[]) as place")
        with database.function(sql.BECAME, sql.judge_answers):
            database.run(sql.differences(*database.schemas))
        totals = {DiffGroup(group): Total(*figures) for group, *figures in database.rows(sql.totals())}
        sums = {name: Money(*figures) for name, *figures in database.rows(sql.money_sums())}
        was, now = (run.policy for run in runs)
        failed = [run.failures.targets for run in runs]
        costs = {kind.name: sums.pop(kind.name) for kind in COSTS}
        unpriced, mixed = sums.pop("unpriced").volumes, sums.pop("mixed").volumes
        yield Diff(
            before=runs[0],
            after=runs[1],
            totals={group: totals[group] for group in DiffGroup if group in totals},
            known=Total(*next(database.rows(sql.known_costs()))),
            unpriced=unpriced,
            mixed=mixed,
            open_costs=costs,
            **sums,
            rules=(runs[0].rule, runs[1].rule),
            policy={key: (was.get(key), now.get(key)) for key in {**was, **now} if was.get(key) != now.get(key)},
            failed_places={place: reason for place, reason in failed[1].items() if place not in failed[0]},
            unread=partial(_unread, runs[1]),
            _database=database,
        )


def _read_places(folder: Path, run: RunRecord) -> list[str]:
    """The places that a run read whole. A volume of these that it does not name was not there.

    None of a run that has not ended; and none of one that left volumes out before runs named these.
    """
    if run.status not in _ENDED or (run.volumes.skipped and not (folder / UNANSWERED).exists()):
        return []
    return [place for place in run.prices if place not in run.failures.targets]


def _difference(row: Mapping[str, Any], unread: Callable[[str, str], str]) -> Difference:
    group = DiffGroup(row["what"])
    return Difference(
        provider=row["provider"],
        account=row["account"],
        region=row["region"],
        volume_id=row["volume_id"],
        name=row["name"],
        group=group,
        before=_answer(row["one"]) if row["was"] == "answered" else None,
        after=_answer(row["other"]) if row["is_now"] == "answered" else None,
        usd_saved=row["usd_saved"],
        why=unread(row["account"], row["region"]) if group is DiffGroup.NOT_READ else _reason_of(group, row),
    )


def _answer(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run's answer on a volume without the weighed offers."""
    return {key: value for key, value in fields.items() if key not in {"weighed", "provider"}}


def _reason_of(group: DiffGroup, row: Mapping[str, Any]) -> str:
    """Why a volume is in its group, as far as the two runs tell; empty where the group says it all."""
    before, after = row["one"] or {}, row["other"] or {}
    reasons: Mapping[DiffGroup, Callable[[], Any]] = {
        DiffGroup.DONE: lambda: _done_words(row["how"], before),
        DiffGroup.CHANGED: lambda: _differing(before, after),
        DiffGroup.ALTERED: lambda: _wanted_words(before),
        DiffGroup.FAILED: lambda: after["reason"],
        DiffGroup.LEFT_OUT: lambda: after["reason"],
        DiffGroup.WAITING: lambda: wait_text(WaitRecord.model_validate(after["wait"])),
        DiffGroup.FIRST_READ: lambda: ": ".join(filter(None, (f"{row['was']} before", before.get("reason")))),
        DiffGroup.UNANSWERED: lambda: after.get("reason") or before.get("reason") or "",
    }
    return str(reasons[group]()) if group in reasons else ""


def _unread(run: RunRecord, account: str, region: str) -> str:
    """Why a run cannot say whether a volume of an account and region is there: the failure that it knows of."""
    failed = run.failures.targets
    place = f"{account}/{region}"
    if place in failed:
        return str(failed[place])
    if run.status in {"interrupted", "running"}:
        return "the second run has not ended"
    of_account = [f"{name}: {reason}" for name, reason in failed.items() if account in name]
    others = [f"{name}: {reason}" for name, reason in failed.items() if "/" not in name]
    for failure in of_account or others:
        return failure
    return "the second run does not name every volume of its account and region"


def _done_words(how: str | None, before: Mapping[str, Any]) -> str:
    if how == How.DROP_IN:
        return "with the same limits"
    return f"nearly: {_wanted_words(before)}" if how == How.NEARLY else ""


def _wanted_words(before: Mapping[str, Any]) -> str:
    target = before["target"]
    if target is None or target == before["current"]:
        return "nothing was recommended"
    return f"recommended was {spec_text(SpecRecord.model_validate(target))}"


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The words for the first noticeable difference of two answers, else for any; "" without one."""
    if before["wait"] is not None:
        return f"waited until {before['wait']['until']}"
    waited = any(KINDS[side["action"]].money is CountsAs.UNKNOWN for side in (before, after))
    figures = (_OBSERVED, *_FIGURES) if waited else _FIGURES
    compared = [(label, unit, _value_at(before, path), _value_at(after, path)) for path, label, unit in figures]
    differing = [figure for figure in compared if figure[2] != figure[3]]
    for label, unit, was, now in [figure for figure in differing if _noticeable(figure[2], figure[3])] or differing:
        return f"{label} {_text(was)}, now {_text(now)} {unit}".rstrip()
    return "no figure of the volume differs: the policy, the limits or the measurements do"


def _value_at(answer: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path of an answer; None if a part of the way is missing."""
    value: Any = answer
    for part in path.split("."):
        value = None if value is None else value.get(part)
    return value


def _noticeable(was: Any, now: Any) -> bool:
    """True if two figures differ by more than rounding, or are no figures."""
    if isinstance(was, int | float) and isinstance(now, int | float) and not isinstance(was, bool):
        return abs(was - now) > _NOTICEABLE * max(abs(was), abs(now))
    return True


def _text(value: Any) -> str:
    match value:
        case None:
            return "not known"
        case bool():
            return "yes" if value else "no"
        case float() | int():
            return f"{value:,.10g}"
        case list():
            return ", ".join(map(str, value)) or "nothing"
        case _:
            return str(value)
