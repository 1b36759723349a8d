"""Learning from a run's own records: the headroom that its volumes' past would have needed, and what is said of it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from plimsoll.domain.ceiling import Need
from plimsoll.domain.policy import Policy
from plimsoll.domain.risk.histories import PastPeaks
from plimsoll.domain.risk.lessons import Lessons
from plimsoll.domain.risk.table import LearnedTable
from plimsoll.reports.record import RecommendationRecord
from plimsoll.reports.run_record import RunRecord
from plimsoll.reports.wording import count_of

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


def _is_better_founded(before: LearnedTable, table: LearnedTable) -> bool:
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


def learned_words(run: RunRecord) -> str:
    """The base of the next run's promises; empty if this run learned nothing and had nothing to learn from."""
    learning = run.learning
    if learning is None:
        return ""
    volumes, rests_on = count_of(learning.volumes, "volume"), learning.rests_on
    if rests_on is None:
        return f"The past of {volumes} is too little to learn headroom from: promises still rest on public fleets."
    if rests_on.on != run.now[:10] or rests_on.volumes != learning.volumes:
        learned = count_of(rests_on.volumes, "volume")
        return (
            f"This run could learn headroom from {volumes}. Promises still rest on the {learned} of {rests_on.on} "
            f"({rests_on.of})."
        )
    return f"Headroom was learned from {volumes} of your own, and promises rest on it from the next run on."
