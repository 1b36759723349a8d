"""Promises of a run: what became of earlier ones, and what its records teach for the next.

Promises in a run: what its records say of those that earlier runs made.

Learning from a run's own records: the headroom that its volumes' past would have needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from plimsoll.decide.history import Review, Stay, Throttling, review_promises
from plimsoll.files import write_lines
from plimsoll.learned_table import kept_table, table_text
from plimsoll.model.ceiling import Need
from plimsoll.model.kinds import CHANGES, SILENT, CountsAs
from plimsoll.model.policy import Policy
from plimsoll.reports.record import DemandProfileRecord, RecommendationRecord
from plimsoll.reports.run_reader import Matched
from plimsoll.risk.histories import PastPeaks
from plimsoll.risk.learn import LearnedTable, Lessons
from plimsoll.risk.watch import Promise, Promised, PromiseTally

FEW: Final = 0.8
"""A table of fewer volumes than this share does not take the place of a recent one: its audit was of less."""

TABLE_KEPT_DAYS: Final = 90
"""An older table goes, whatever it rests on: a fleet changes."""

_PLACES: Final = {
    "profiles": "profiles",
    "role_arns": "roles",
    "units": "units",
    "accounts": "accounts",
    "projects": "projects",
    "folders": "folders",
    "google_organizations": "organizations",
    "regions": "regions",
}
_NAMED: Final = 3


def peaks_in(record: RecommendationRecord) -> PastPeaks | None:
    """The past peaks in a volume's record; None where there are none."""
    peaks = None if record.memory is None else record.memory.peaks
    if peaks is None:
        return None
    pairs = zip(peaks.iops, peaks.throughput_mib_s, strict=True)
    return PastPeaks(
        days=peaks.days,
        busiest=tuple(
            None
            if iops is None or rates is None
            else tuple(
                Need(iops=iops_of_day, throughput_mib_s=mib_s_of_day)
                for iops_of_day, mib_s_of_day in zip(iops, rates, strict=True)
            )
            for iops, rates in pairs
        ),
        free=Need(iops=peaks.free_iops, throughput_mib_s=peaks.free_throughput_mib_s),
        ceiling=Need(iops=peaks.ceiling_iops, throughput_mib_s=peaks.ceiling_throughput_mib_s),
    )


def lessons_of(records: Iterable[RecommendationRecord]) -> Lessons:
    """The lessons of a run's records: what their past peaks teach about headroom."""
    lessons = Lessons()
    for record in records:
        lessons.add(peaks_in(record))
    return lessons


def own_table(
    lessons: Lessons, now: datetime, policy: Policy, scope: Mapping[str, Any], before: LearnedTable | None
) -> LearnedTable | None:
    """The table of a run's own volumes, or the one of `before` where that is better founded; None where there is
    neither one whose history is enough to promise the risk that the policy asks for.

    A run of few volumes, such as of one region, says less of a fleet than an earlier one of many. An old table goes.
    """
    table = lessons.table(now.date().isoformat(), scope_words(scope))
    bands = () if table is None else table.bands
    if table is None or all(band.learned.factor(policy.risk_pct) is None for band in bands):
        return before
    return before if before is not None and _is_better_founded(before, table) else table


def keep_lessons(
    records: Iterable[RecommendationRecord], now: datetime, policy: Policy, scope: Mapping[str, Any], place: Path | None
) -> dict[str, Any]:
    """Keeps the table of what a run's own volumes showed, if that is enough; returns run.json's words about it."""
    lessons = lessons_of(records)
    table = own_table(lessons, now, policy, scope, kept_table(place))
    if table is not None and place is not None:
        write_lines([table_text(table)], place, "utf-8")
    return learning_in_run(lessons, table)


def _is_better_founded(before: LearnedTable, table: LearnedTable) -> bool:
    """True if an earlier table is still recent and rests on far more volumes than a new one."""
    age = date.fromisoformat(table.source.on) - date.fromisoformat(before.source.on)
    is_recent = before.days == table.days and timedelta(0) <= age <= timedelta(days=TABLE_KEPT_DAYS)
    return is_recent and table.source.volumes < FEW * before.source.volumes


def scope_words(scope: Mapping[str, Any]) -> str:
    """The scope of a run, as its table says where it was learned."""
    named = ["the organization"] if scope.get("organization") else []
    named += [f"{words} {_some(scope[key])}" for key, words in _PLACES.items() if scope.get(key)]
    return f"audits of {'; '.join(named) if named else 'all that the default credentials reach'}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(str, names[:_NAMED]))
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED:,} more"


def learning_in_run(lessons: Lessons, table: LearnedTable | None) -> dict[str, Any]:
    """The part of run.json on learning and the kept `table`; empty if no volume's past was read."""
    if not lessons.volumes:
        return {}
    bands = () if table is None else table.bands
    promised = [pct for band in bands for pct, factor in band.learned.factors.items() if factor is not None]
    return {
        "learning": {
            "volumes": lessons.volumes,
            "days": lessons.days,
            "least_promised_pct": min(promised, default=None),
            "rests_on": None
            if table is None
            else {"volumes": table.source.volumes, "on": table.source.on, "of": "; ".join(table.source.fleets)},
        }
    }


def review_of(record: RecommendationRecord, profile: DemandProfileRecord | None, now: datetime) -> Review:
    """A run's review of a volume as of `now`. Nothing certain is known of one that could not be judged."""
    is_judged = record.kind.money is not CountsAs.UNKNOWN
    return Review(
        at_s=int(now.timestamp()),
        spec=record.current.spec,
        offered=_offered_promise(record, now),
        silent=record.action in SILENT,
        stays=list(_stays(record)),
        throttling=_throttling(profile) if profile is not None and is_judged else None,
    )


def check_promises(matches: Iterable[Matched], promised: dict[str, Promised], now: datetime) -> PromiseTally:
    """The tally of a run's volumes, by what earlier runs promised of them.

    `promised` has these promises by volume id. Afterwards it has what is promised after this run in their place.
    """
    tally = PromiseTally()
    for record, profile in matches:
        after = review_promises(promised.pop(record.volume_id, None), review_of(record, profile, now))
        if after is not None:
            promised[record.volume_id] = after
            tally.add(after.watch)
    return tally


def promises_in_run(tally: PromiseTally) -> dict[str, Any]:
    """The part of run.json on promises; empty if no changed volume was seen again."""
    if not tally.volumes:
        return {}
    return {
        "promises": {
            "changed": tally.volumes,
            "throttled": tally.throttled,
            "expected": round(tally.expected_throttled, 2),
            "chance_pct": round(tally.chance_pct, 4),
            "broken": tally.is_broken,
            "observed_pct": round(min(100.0, 100 * tally.observed_s / max(1, tally.promised_s)), 1),
        }
    }


def _offered_promise(record: RecommendationRecord, now: datetime) -> Promise | None:
    """The promise that a recommendation makes; None where it makes none."""
    risk, target = record.risk, record.target
    if risk is None or risk.promised_pct is None or target is None or record.action not in CHANGES:
        return None
    return Promise(
        before=record.current.spec,
        target=target.spec,
        promised_pct=risk.promised_pct,
        minutes=risk.minutes,
        days=risk.days,
        made_s=int(now.timestamp()),
    )


def _stays(record: RecommendationRecord) -> Iterator[Stay]:
    """Yields the spans in which a record's volume had one known spec."""
    for epoch in record.epochs:
        if epoch.spec is not None:
            yield Stay(start_s=_seconds(epoch.start), end_s=_seconds(epoch.end), spec=epoch.spec.spec)


def _seconds(written: str) -> int:
    return int(datetime.fromisoformat(written).timestamp())


def _throttling(profile: DemandProfileRecord) -> Throttling:
    lengths_s = np.array(profile.length_s, dtype=np.int64)
    return Throttling(
        starts_s=profile.start_s + np.cumsum(lengths_s) - lengths_s,
        lengths_s=lengths_s,
        minutes=np.array(profile.throttled_minutes),
        observed=np.array([rate is not None for rate in profile.iops], dtype=np.bool_),
    )
